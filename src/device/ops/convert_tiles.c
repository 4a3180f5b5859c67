/* SPDX-License-Identifier: Apache-2.0
 * From decoded rows to pixels of a raster, on a device: the predictor is reverted, then samples are
 * unpacked, swapped, cast, scaled, compared with nodata and stored.
 *
 * All tiles of a batch take one launch for each of the two steps, although they may differ in
 * format: tiles of several files and levels meet in one batch. The format of the samples is
 * therefore data, sixteen words that tz_convert_format_make derives from a tz_row_format and a
 * tz_conversion, and each entry of the table says by number which format it has. An entry is a
 * rectangle of one band for one work-group.
 *
 * All work-items of a group share one format, so that they take the same branches. */
#include "device/ops/convert_tiles.h"

#include <string.h>

#include "codec/codec.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/convert_kernels.h"
#include "pixel/row_ops.h"

_Static_assert(sizeof(tz_unpredict_entry) == TZ_UNPREDICT_ENTRY_BYTES &&
                   offsetof(tz_unpredict_entry, row_bytes) == TZ_UNPREDICT_ROW_BYTES &&
                   offsetof(tz_unpredict_entry, stride) == TZ_UNPREDICT_STRIDE &&
                   offsetof(tz_unpredict_entry, predictor) == TZ_UNPREDICT_PREDICTOR &&
                   offsetof(tz_unpredict_entry, swap) == TZ_UNPREDICT_SWAP,
               "kernels read the entries as they are");
_Static_assert(TZ_UNPREDICT_MAX_ROWS == TZ_WORK_GROUP_ITEMS, "a work-item for each row");
_Static_assert(sizeof(tz_convert_format) == 8 * TZ_RULE_WORDS, "kernels read formats as they are");
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
                   TZ_NO_VALUE == TZ_CONVERT_ENTRY_NO_STATUS,
               "kernels read the flags as they are");

/* ---- predictors ---- */

/* Predictor 2 adds samples, which are swapped before and stay so; predictor 3 adds bytes, which
 * have no order. */
bool tz_unpredict_entry_of(const tz_row_format *row, tz_unpredict_entry *entry)
{
    if (row->predictor != TZ_PREDICTOR_HORIZONTAL && row->predictor != TZ_PREDICTOR_FLOAT)
        return false;
    *entry = (tz_unpredict_entry){.row_bytes = (uint32_t)tz_row_bytes(row),
                                  .count = row->width * row->samples,
                                  .stride = row->samples,
                                  .width = (uint8_t)(row->bits / 8),
                                  .predictor = (uint8_t)row->predictor,
                                  .swap = row->predictor == TZ_PREDICTOR_HORIZONTAL && row->swap};
    return true;
}

/* Predictor 2 (TIFF 6.0, section 14) has samples of 1, 2, 4 or 8 bytes; predictor 3 (Adobe's TIFF
 * Technical Note 3) has floats of 2, 3, 4 or 8. */
static tz_result check_unpredict_entry(const tz_unpredict_batch *batch, uint64_t index,
                                       tz_error *err)
{
    const tz_unpredict_entry *entry = &batch->entries[index];
    const tz_location location = tz_location_of_tile(entry->offset, index);
    const bool is_known_width =
        entry->width == 2 || entry->width == 4 || entry->width == 8 ||
        (entry->predictor == TZ_PREDICTOR_HORIZONTAL ? entry->width == 1 : entry->width == 3);
    if ((entry->predictor != TZ_PREDICTOR_HORIZONTAL && entry->predictor != TZ_PREDICTOR_FLOAT) ||
        !is_known_width || entry->stride == 0 || entry->rows > TZ_UNPREDICT_MAX_ROWS ||
        (uint64_t)entry->count * entry->width > entry->row_bytes)
        return tz_refuse(batch->slab, location, "no predictor has rows of such a shape", err);
    const uint64_t size = (uint64_t)entry->rows * entry->row_bytes;
    return tz_check_range(batch->slab, location, entry->offset, size,
                          "the rows are not within the slab", err);
}

tz_result tz_unpredict_launch(const tz_unpredict_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(tz_check_array(batch->slab, batch->table, batch->count, sizeof *batch->entries, 8,
                          "the table is not within the slab", err));
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_unpredict_entry(batch, i, err));
    return TZ_LAUNCH(batch->slab->device, queue, TZ_KERNEL_UNPREDICT, batch->count, err,
                     TZ_MEMORY(batch->slab), TZ_U64(batch->table));
}

/* ---- formats ---- */

/* A complex sample has two components of one type. */
typedef struct component_type {
    uint8_t type;
    uint8_t count;
} component_type;

static const component_type component_types[] = {
    [TZ_DTYPE_UINT8] = {TZ_COMPONENT_U8, 1},
    [TZ_DTYPE_INT8] = {TZ_COMPONENT_I8, 1},
    [TZ_DTYPE_UINT16] = {TZ_COMPONENT_U16, 1},
    [TZ_DTYPE_INT16] = {TZ_COMPONENT_I16, 1},
    [TZ_DTYPE_UINT32] = {TZ_COMPONENT_U32, 1},
    [TZ_DTYPE_INT32] = {TZ_COMPONENT_I32, 1},
    [TZ_DTYPE_UINT64] = {TZ_COMPONENT_U64, 1},
    [TZ_DTYPE_INT64] = {TZ_COMPONENT_I64, 1},
    [TZ_DTYPE_FLOAT16] = {TZ_COMPONENT_F16, 1},
    [TZ_DTYPE_FLOAT32] = {TZ_COMPONENT_F32, 1},
    [TZ_DTYPE_FLOAT64] = {TZ_COMPONENT_F64, 1},
    [TZ_DTYPE_COMPLEX_INT16] = {TZ_COMPONENT_I16, 2},
    [TZ_DTYPE_COMPLEX_INT32] = {TZ_COMPONENT_I32, 2},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {TZ_COMPONENT_F16, 2},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {TZ_COMPONENT_F32, 2},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {TZ_COMPONENT_F64, 2},
};

/* The samples as they are stored. Predictor 2 has swapped them already. A float of 24 bits is put
 * together from bytes, so that the byte order of the host counts too. */
static void set_stored_form(uint64_t *words, const tz_row_format *row)
{
    uint64_t form = TZ_SAMPLE_PACKED;
    bool swap = false;
    if (row->predictor == TZ_PREDICTOR_FLOAT) {
        form = TZ_SAMPLE_PLANES;
    } else if (tz_row_has_words(row)) {
        form = TZ_SAMPLE_WORDS;
        swap = row->swap && row->predictor != TZ_PREDICTOR_HORIZONTAL;
    } else if (row->bits == 24 && row->sample_format == TZ_SAMPLE_FORMAT_FLOAT) {
        form = TZ_SAMPLE_F24;
        swap = row->swap == tz_host_is_little_endian();
    }
    words[TZ_RULE_FORM] = form;
    words[TZ_RULE_BITS] = row->bits;
    words[TZ_RULE_SWAP] = swap;
    words[TZ_RULE_IS_SIGN] = row->sample_format == TZ_SAMPLE_FORMAT_INT;
    words[TZ_RULE_COMPONENT_TYPE] = component_types[row->dtype].type;
    words[TZ_RULE_COMPONENTS] = component_types[row->dtype].count;
    words[TZ_RULE_COUNT] = (uint64_t)row->width * row->samples;
}

static bool is_float_component(uint64_t type)
{
    return tz_component_kind((uint32_t)type) == TZ_WIDE_F64;
}

/* True if a step computes in double precision, which not every device has. Integers of all sizes
 * are cast and compared as integers. */
static bool needs_doubles(const uint64_t *words)
{
    const uint64_t steps = words[TZ_RULE_STEPS];
    const bool is_float = is_float_component(words[TZ_RULE_COMPONENT_TYPE]);
    if (steps & (TZ_STEP_SCALE | TZ_STEP_TO_NAN))
        return true;
    if ((steps & TZ_STEP_NODATA) && (is_float || words[TZ_RULE_NODATA_KIND] == TZ_WIDE_F64))
        return true;
    return !(steps & TZ_STEP_SAME) && (is_float || is_float_component(words[TZ_RULE_TO]));
}

/* Samples that are wanted as they are stored are copied as words, without being decoded: the common
 * case, and TZ_RULE_COPY. */
tz_convert_format tz_convert_format_make(const tz_row_format *row, const tz_conversion *how)
{
    tz_convert_format format = {{0}};
    uint64_t *words = format.words;
    uint64_t *steps = &words[TZ_RULE_STEPS];
    set_stored_form(words, row);
    words[TZ_RULE_TO] = component_types[how->to].type;
    words[TZ_RULE_TO_COMPONENTS] = component_types[how->to].count;
    if (how->scaled) {
        *steps |= TZ_STEP_SCALE;
        memcpy(&words[TZ_RULE_SCALE], &how->scale, sizeof words[0]);
        memcpy(&words[TZ_RULE_OFFSET], &how->offset, sizeof words[0]);
    }
    if (how->from == how->to && !how->scaled)
        *steps |= TZ_STEP_SAME;
    if (how->replacement.kind != TZ_NODATA_KIND_NONE)
        *steps |= TZ_STEP_TO_NAN;
    if (how->nodata.kind != TZ_NODATA_KIND_NONE) {
        uint32_t kind;
        *steps |= TZ_STEP_NODATA;
        words[TZ_RULE_NODATA] = tz_nodata_wide(&how->nodata, &kind);
        words[TZ_RULE_NODATA_KIND] = kind;
    }
    if (needs_doubles(words))
        *steps |= TZ_STEP_DOUBLES;
    if ((*steps & TZ_STEP_SAME) && !(*steps & TZ_STEP_TO_NAN) &&
        words[TZ_RULE_FORM] == TZ_SAMPLE_WORDS && !words[TZ_RULE_SWAP])
        words[TZ_RULE_COPY] = tz_dtype_size(how->to);
    return format;
}

tz_convert_format tz_convert_format_copy(uint32_t width)
{
    tz_convert_format format = {{0}};
    format.words[TZ_RULE_BITS] = 8 * (uint64_t)width;
    format.words[TZ_RULE_STEPS] = TZ_STEP_SAME;
    format.words[TZ_RULE_COPY] = width;
    return format;
}

bool tz_device_converts(const tz_device *device, const tz_convert_format *format)
{
    return tz_device_get_info(device)->fp64 || !(format->words[TZ_RULE_STEPS] & TZ_STEP_DOUBLES);
}

/* ---- pixels ---- */

/* The end of the bytes that an entry reads. The last sample of a row in planes (predictor 3) ends
 * in the last plane. */
static uint64_t read_end(const tz_convert_entry *entry, const tz_convert_format *format)
{
    const uint64_t *words = format->words;
    const uint64_t bits = words[TZ_RULE_BITS];
    const uint64_t last = entry->first + (uint64_t)(entry->columns - 1) * entry->step;
    const uint64_t row =
        tz_add_capped(entry->from, tz_mul_capped(entry->rows - 1, entry->from_row));
    if (words[TZ_RULE_FORM] == TZ_SAMPLE_PLANES)
        return tz_add_capped(
            row, tz_add_capped(tz_mul_capped(bits / 8 - 1, words[TZ_RULE_COUNT]), last + 1));
    return tz_add_capped(row, tz_ceil_div(tz_mul_capped(last + 1, bits), 8));
}

/* True if all pixels of an entry lie within the memory of the raster, or of the mask. */
static bool written_within(const tz_device_memory *memory, const tz_convert_entry *entry,
                           int64_t first, int64_t row, int64_t column, uint64_t size)
{
    const tz_strided pixels = {.first = first,
                               .counts = {1, entry->rows, entry->columns},
                               .strides = {0, row, column},
                               .size = size};
    return memory && tz_memory_holds_words(memory, &pixels);
}

/* A work-group reads the format and the status of its entry even if it has no pixels. */
static tz_result check_convert_entry(const tz_convert_batch *batch, uint64_t index, tz_error *err)
{
    const tz_convert_entry *entry = &batch->entries[index];
    const tz_location location = tz_location_of_tile(entry->from, index);
    if (entry->format >= batch->format_count)
        return tz_refuse(batch->slab, tz_expecting(location, batch->format_count, entry->format),
                         "there is no such format", err);
    if (entry->status != TZ_NO_VALUE &&
        (entry->status % 4 != 0 || !tz_memory_holds(batch->slab, entry->status, 4)))
        return tz_refuse(batch->slab, location, "the status is not within the slab", err);
    if (entry->rows == 0 || entry->columns == 0)
        return TZ_OK;
    const tz_convert_format *format = &batch->format_table[entry->format];
    const uint64_t *words = format->words;
    const uint64_t pixel =
        words[TZ_RULE_COPY]
            ? words[TZ_RULE_COPY]
            : words[TZ_RULE_TO_COMPONENTS] * tz_component_bytes((uint32_t)words[TZ_RULE_TO]);
    const uint64_t all = tz_mul_capped(tz_mul_capped(entry->rows, entry->columns), pixel);
    if (all > UINT32_MAX)
        return tz_refuse(batch->slab, tz_expecting(location, UINT32_MAX, all),
                         "the rectangle is too large for a work-group", err);
    const uint64_t end = read_end(entry, format);
    if (end > batch->slab->size)
        return tz_refuse(batch->slab, tz_expecting(location, batch->slab->size, end),
                         "the rows are not within the slab", err);
    if ((entry->flags & TZ_CONVERT_INTO) &&
        !written_within(batch->into, entry, entry->into, entry->into_row, entry->into_column,
                        pixel))
        return tz_refuse(batch->slab, location, "the pixels are not within the raster", err);
    if ((entry->flags & TZ_CONVERT_MASK) &&
        !written_within(batch->mask, entry, entry->mask, entry->mask_row, entry->mask_column, 1))
        return tz_refuse(batch->slab, location, "the pixels are not within the mask", err);
    return TZ_OK;
}

tz_result tz_convert_launch(const tz_convert_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(tz_check_array(batch->slab, batch->formats, batch->format_count,
                          sizeof *batch->format_table, 8, "the formats are not within the slab",
                          err));
    TZ_TRY(tz_check_array(batch->slab, batch->table, batch->count, sizeof *batch->entries, 8,
                          "the table is not within the slab", err));
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_convert_entry(batch, i, err));
    /* A kernel has memory for every argument, also for those that no entry uses. */
    return TZ_LAUNCH(batch->slab->device, queue, TZ_KERNEL_CONVERT, batch->count, err,
                     TZ_MEMORY(batch->slab), TZ_MEMORY(batch->into ? batch->into : batch->slab),
                     TZ_MEMORY(batch->mask ? batch->mask : batch->slab), TZ_U64(batch->formats),
                     TZ_U64(batch->table));
}
