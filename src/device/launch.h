/* SPDX-License-Identifier: Apache-2.0
 * Shared by all files that launch kernels: arguments as data, the choice between the two forms of a
 * kernel, and the checks that offsets lie within device memory. Kernels trust every offset, so that
 * each launch checks all of them on the host first. */
#ifndef TZ_DEVICE_LAUNCH_H
#define TZ_DEVICE_LAUNCH_H

#include "base/mem.h"
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

/* The initialiser of a tz_launch with an array of arguments. */
#define TZ_LAUNCH_OF(number, count, list)                                                          \
    {                                                                                              \
        .kernel = (number), .work_groups = (count), .arguments = (list),                           \
        .argument_count = sizeof(list) / sizeof((list)[0])                                         \
    }

static inline bool tz_memory_holds(const tz_device_memory *memory, uint64_t offset, uint64_t size)
{
    return offset <= memory->size && size <= memory->size - offset;
}

/* An array of count elements of size bytes, at a multiple of alignment. */
static inline bool tz_memory_holds_array(const tz_device_memory *memory, uint64_t offset,
                                         uint64_t count, uint64_t size, uint64_t alignment)
{
    return offset % alignment == 0 && tz_memory_holds(memory, offset, tz_mul_capped(count, size));
}

/* The location of errors in entry number `tile` of a batch. */
static inline tz_location tz_location_of_tile(uint64_t offset, uint64_t tile)
{
    tz_location location = tz_at_offset(offset);
    location.tile = (int64_t)tile;
    return location;
}

/* Many kernels exist in two forms. On a GPU the work-items of a group share one tile or row. On a
 * CPU device they would run one after the other, with a switch at each barrier: there one work-item
 * does all of it. */
static inline bool tz_device_is_cpu(const tz_device *device)
{
    return tz_device_get_info(device)->type == TZ_DEVICE_CPU;
}
static inline uint32_t tz_kernel_for(const tz_device *device, uint32_t work_item,
                                     uint32_t work_group)
{
    return tz_device_is_cpu(device) ? work_item : work_group;
}
/* Work-items that share one row. */
static inline uint32_t tz_row_items_for(const tz_device *device)
{
    return tz_device_is_cpu(device) ? 1u : TZ_WORK_GROUP_ITEMS;
}

/* Words of size bytes with strides on three axes, and at least one word on each. */
typedef struct tz_strided {
    int64_t first; /* offset in bytes of the word at 0, 0, 0 */
    uint32_t counts[3];
    int64_t strides[3];
    uint64_t size;
} tz_strided;
bool tz_memory_holds_words(const tz_device_memory *memory, const tz_strided *words);

/* True if all samples of a buffer lie within its device memory. The strides are resolved; a buffer
 * without samples is within. */
bool tz_buffer_is_within(const tz_buffer *buffer);

#endif
