/* SPDX-License-Identifier: Apache-2.0 */
#include "device/launch.h"

/* Negative strides lead to words before the first one, positive strides to words after it. The sum
 * of all steps of one sign is the farthest distance on that side. */
bool tz_memory_holds_words(const tz_device_memory *memory, const tz_strided *words)
{
    uint64_t before = 0;
    uint64_t after = words->size;
    for (unsigned axis = 0; axis < 3; axis++) {
        const int64_t stride = words->strides[axis];
        const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        uint64_t *side = stride < 0 ? &before : &after;
        *side = tz_add_capped(*side, tz_mul_capped(words->counts[axis] - 1, step));
    }
    return words->first >= 0 && before <= (uint64_t)words->first &&
           tz_memory_holds(memory, (uint64_t)words->first, after);
}

bool tz_buffer_is_within(const tz_buffer *buffer)
{
    const tz_strided words = {
        .first = (int64_t)buffer->offset,
        .counts = {buffer->bands, buffer->height, buffer->width},
        .strides = {buffer->band_stride, buffer->row_stride, buffer->column_stride},
        .size = tz_dtype_size(buffer->dtype)};
    if (buffer->bands == 0 || buffer->height == 0 || buffer->width == 0)
        return true;
    return buffer->offset <= INT64_MAX && tz_memory_holds_words(buffer->memory, &words);
}
