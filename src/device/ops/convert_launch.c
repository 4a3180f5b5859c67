/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/convert_launch.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/convert_kernels.h"

_Static_assert(sizeof(tz_convert_entry) == TZ_CONVERT_ENTRY_BYTES &&
                   offsetof(tz_convert_entry, first) == TZ_CONVERT_ENTRY_FIRST &&
                   offsetof(tz_convert_entry, flags) == TZ_CONVERT_ENTRY_FLAGS &&
                   offsetof(tz_convert_entry, into_column) == TZ_CONVERT_ENTRY_INTO_COLUMN &&
                   offsetof(tz_convert_entry, mask) == TZ_CONVERT_ENTRY_MASK &&
                   offsetof(tz_convert_entry, status) == TZ_CONVERT_ENTRY_STATUS,
               "kernels read the entries as they are");
_Static_assert(TZ_CONVERT_INTO == TZ_CONVERT_ENTRY_HAS_INTO &&
                   TZ_CONVERT_MASK == TZ_CONVERT_ENTRY_HAS_MASK &&
                   TZ_CONVERT_INVALID == TZ_CONVERT_ENTRY_IS_INVALID &&
                   TZ_NONE == TZ_CONVERT_ENTRY_NO_STATUS,
               "kernels read the flags as they are");

static tz_result fail_convert(const tz_convert_batch *batch, tz_location location, const char *text,
                              tz_error *err)
{
    return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

/* Bytes of a row up to the end of this sample. */
static uint64_t bytes_up_to(const tz_convert_format *format, uint64_t index)
{
    const uint64_t *words = format->words;
    const uint64_t bits = words[TZ_RULE_BITS];
    if (words[TZ_RULE_FORM] == TZ_SAMPLE_PLANES)
        return tz_add_capped(tz_mul_capped(bits / 8 - 1, words[TZ_RULE_COUNT]), index + 1);
    return tz_ceil_div(tz_mul_capped(index + 1, bits), 8);
}

/* The byte behind the last one that is read. */
static uint64_t read_end(const tz_convert_entry *entry, const tz_convert_format *format)
{
    const uint64_t last = entry->first + (uint64_t)(entry->columns - 1) * entry->step;
    const uint64_t row = tz_mul_capped(entry->rows - 1, entry->from_row);
    return tz_add_capped(tz_add_capped(entry->from, row), bytes_up_to(format, last));
}

static bool written_within(const tz_device_memory *memory, const tz_convert_entry *entry,
                           int64_t first, int64_t row, int64_t column, uint64_t size)
{
    const tz_strided pixels = {.first = first,
                               .counts = {1, entry->rows, entry->columns},
                               .strides = {0, row, column},
                               .size = size};
    return tz_memory_holds_words(memory, &pixels);
}

static uint64_t pixel_bytes(const tz_convert_format *format)
{
    const uint64_t *words = format->words;
    if (words[TZ_RULE_COPY])
        return words[TZ_RULE_COPY];
    return words[TZ_RULE_TO_COMPONENTS] * tz_component_bytes((uint32_t)words[TZ_RULE_TO]);
}

static tz_result check_targets(const tz_convert_batch *batch, const tz_convert_entry *entry,
                               uint64_t pixel, tz_location location, tz_error *err)
{
    if ((entry->flags & TZ_CONVERT_INTO) &&
        (!batch->into || !written_within(batch->into, entry, entry->into, entry->into_row,
                                         entry->into_column, pixel)))
        return fail_convert(batch, location, "the pixels are not within the raster", err);
    if ((entry->flags & TZ_CONVERT_MASK) &&
        (!batch->mask ||
         !written_within(batch->mask, entry, entry->mask, entry->mask_row, entry->mask_column, 1)))
        return fail_convert(batch, location, "the pixels are not within the mask", err);
    return TZ_OK;
}

static tz_result check_convert_entry(const tz_convert_batch *batch, uint64_t index, tz_error *err)
{
    const tz_convert_entry *entry = &batch->entries[index];
    tz_location location = tz_at_offset(entry->from);
    location.tile = (int64_t)index;
    if (entry->format >= batch->format_count)
        return fail_convert(batch, tz_expecting(location, batch->format_count, entry->format),
                            "there is no such format", err);
    if (entry->status != TZ_NONE &&
        (entry->status % 4 != 0 || !tz_memory_holds(batch->slab, entry->status, 4)))
        return fail_convert(batch, location, "the status is not within the slab", err);
    if (entry->rows == 0 || entry->columns == 0)
        return TZ_OK;
    const tz_convert_format *format = &batch->format_table[entry->format];
    const uint64_t pixel = pixel_bytes(format);
    const uint64_t all = tz_mul_capped(tz_mul_capped(entry->rows, entry->columns), pixel);
    if (all > UINT32_MAX)
        return fail_convert(batch, tz_expecting(location, UINT32_MAX, all),
                            "the rectangle is too large for a group", err);
    const uint64_t end = read_end(entry, format);
    if (end > batch->slab->size)
        return fail_convert(batch, tz_expecting(location, batch->slab->size, end),
                            "the rows are not within the slab", err);
    return check_targets(batch, entry, pixel, location, err);
}

static tz_result check_convert_batch(const tz_convert_batch *batch, tz_error *err)
{
    const uint64_t formats = tz_mul_capped(batch->format_count, sizeof *batch->format_table);
    const uint64_t entries = tz_mul_capped(batch->count, sizeof *batch->entries);
    if (batch->formats % 8 != 0 || !tz_memory_holds(batch->slab, batch->formats, formats))
        return fail_convert(batch, tz_at_offset(batch->formats),
                            "the formats are not within the slab", err);
    if (batch->table % 8 != 0 || !tz_memory_holds(batch->slab, batch->table, entries))
        return fail_convert(batch, tz_at_offset(batch->table), "the table is not within the slab",
                            err);
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_convert_entry(batch, i, err));
    return TZ_OK;
}

tz_result tz_convert_launch(const tz_convert_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(check_convert_batch(batch, err));
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab),
                                     TZ_MEMORY(batch->into ? batch->into : batch->slab),
                                     TZ_MEMORY(batch->mask ? batch->mask : batch->slab),
                                     TZ_U64(batch->formats), TZ_U64(batch->table)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_CONVERT, batch->count, arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}
