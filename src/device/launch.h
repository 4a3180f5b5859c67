/* SPDX-License-Identifier: Apache-2.0
 * What all files have in common that launch kernels: arguments as data, and whether places lie
 * within memory. */
#ifndef TZ_DEVICE_LAUNCH_H
#define TZ_DEVICE_LAUNCH_H

#include "device/device.h"
#include "device/kernel_list.h"

#define TZ_MEMORY(m)                                                                               \
    {                                                                                              \
        .kind = TZ_ARGUMENT_MEMORY, .value.memory = (m)                                            \
    }
#define TZ_U32(v)                                                                                  \
    {                                                                                              \
        .kind = TZ_ARGUMENT_U32, .value.u32 = (v)                                                  \
    }
#define TZ_U64(v)                                                                                  \
    {                                                                                              \
        .kind = TZ_ARGUMENT_U64, .value.u64 = (v)                                                  \
    }

/* A tz_launch of an array of arguments. */
#define TZ_LAUNCH_OF(number, count, list)                                                          \
    {                                                                                              \
        .kernel = (number), .work_groups = (count), .arguments = (list),                           \
        .argument_count = sizeof(list) / sizeof((list)[0])                                         \
    }

static inline bool tz_memory_holds(const tz_device_memory *memory, uint64_t offset, uint64_t size)
{
    return offset <= memory->size && size <= memory->size - offset;
}

/* Words of size bytes with strides on three axes, and at least one word on each. */
typedef struct tz_strided {
    int64_t first; /* byte in memory of the word at 0, 0, 0 */
    uint32_t counts[3];
    int64_t strides[3];
    uint64_t size;
} tz_strided;
bool tz_memory_holds_words(const tz_device_memory *memory, const tz_strided *words);

/* Whether all samples of a buffer with resolved strides lie within its device memory; one without
 * samples does. */
bool tz_buffer_is_within(const tz_buffer *buffer);

#endif
