/* SPDX-License-Identifier: Apache-2.0
 * Shared by all files that launch kernels: arguments as data, the choice between the two forms of a
 * kernel, and the checks that offsets lie within device memory. Kernels trust every offset, so that
 * each launch checks all of them on the host first. */
#ifndef TZ_DEVICE_LAUNCH_H
#define TZ_DEVICE_LAUNCH_H

#include "base/mem.h"
#include "device/device.h"
#include "device/kernel_list.h"
#include "pixel/pixel.h"

#define TZ_MEMORY(m) ((tz_argument){.kind = TZ_ARGUMENT_MEMORY, .value.memory = (m)})
#define TZ_U32(v)    ((tz_argument){.kind = TZ_ARGUMENT_U32, .value.u32 = (v)})
#define TZ_U64(v)    ((tz_argument){.kind = TZ_ARGUMENT_U64, .value.u64 = (v)})

/* Launches a kernel with its arguments, which follow err: TZ_MEMORY, TZ_U32 and TZ_U64 in the order
 * of kernel_list.h. A work_groups of 0 launches nothing. */
#define TZ_LAUNCH(device, queue, number, count, err, ...)                                          \
    tz_device_launch(                                                                              \
        (device), (queue),                                                                         \
        &(const tz_launch){.kernel = (number),                                                     \
                           .work_groups = (count),                                                 \
                           .arguments = (const tz_argument[]){__VA_ARGS__},                        \
                           .argument_count =                                                       \
                               sizeof((const tz_argument[]){__VA_ARGS__}) / sizeof(tz_argument)},  \
        (err))

static inline bool tz_memory_holds(const tz_device_memory *memory, uint64_t offset, uint64_t size)
{
    return offset <= memory->size && size <= memory->size - offset;
}

/* Refuses a batch in this memory before anything is launched: TZ_ERR_ARG with the text. */
tz_result tz_refuse(const tz_device_memory *memory, tz_location location, const char *text,
                    tz_error *err);
/* Checks that the bytes lie within device memory. Otherwise TZ_ERR_ARG with the text, and with the
 * size of the memory and the end of the bytes as the expected and the found number. */
tz_result tz_check_range(const tz_device_memory *memory, tz_location location, uint64_t offset,
                         uint64_t size, const char *text, tz_error *err);
/* The same for an array of count elements of size bytes, which begins at a multiple of alignment.
 */
tz_result tz_check_array(const tz_device_memory *memory, uint64_t offset, uint64_t count,
                         uint64_t size, uint64_t alignment, const char *text, tz_error *err);

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
    return tz_device_get_info(device)->type == TZ_DEVICE_TYPE_CPU;
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
/* Sets the bytes that words occupy before the first one, because of negative strides, and from its
 * first byte on. Both are capped at UINT64_MAX. */
void tz_strided_extent(const tz_strided *words, uint64_t *before, uint64_t *after);
bool tz_memory_holds_words(const tz_device_memory *memory, const tz_strided *words);

/* True if all samples of a buffer lie within its device memory. The strides are resolved; a buffer
 * without samples is within. */
bool tz_buffer_is_within(const tz_pixel_buffer *buffer);

#endif
