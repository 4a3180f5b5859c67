/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/convert_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/row_ops_compare.h"
#include "tiff/layer.h"

enum { UNCHANGED = 0x5A };

uint32_t convert_below(uint32_t count)
{
    return (uint32_t)random_below(count);
}

/* sample format and bits of all types */
static const uint16_t whole[][2] = {
    [TZ_DTYPE_UINT8] = {1, 8},
    [TZ_DTYPE_INT8] = {2, 8},
    [TZ_DTYPE_UINT16] = {1, 16},
    [TZ_DTYPE_INT16] = {2, 16},
    [TZ_DTYPE_UINT32] = {1, 32},
    [TZ_DTYPE_INT32] = {2, 32},
    [TZ_DTYPE_UINT64] = {1, 64},
    [TZ_DTYPE_INT64] = {2, 64},
    [TZ_DTYPE_FLOAT16] = {3, 16},
    [TZ_DTYPE_FLOAT32] = {3, 32},
    [TZ_DTYPE_FLOAT64] = {3, 64},
    [TZ_DTYPE_COMPLEX_INT16] = {5, 32},
    [TZ_DTYPE_COMPLEX_INT32] = {5, 64},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {6, 32},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {6, 64},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {6, 128},
};

tz_row_format convert_row_of(uint16_t sample_format, uint16_t bits, uint16_t predictor)
{
    const tz_row_format row = {.dtype = tz_dtype_of(sample_format, bits),
                               .bits = bits,
                               .sample_format = sample_format,
                               .samples = (uint16_t)(1 + convert_below(4)),
                               .predictor = predictor,
                               .swap = convert_below(2),
                               .width = 1 + convert_below(67)};
    assert_null(tz_row_unsupported(&row));
    return row;
}

tz_row_format convert_whole_row(tz_dtype dtype)
{
    const uint16_t *how = whole[dtype];
    uint16_t predictor = 1;
    if (convert_below(2) && how[1] <= 64)
        predictor = how[0] == 3 && convert_below(2) ? 3 : 2;
    return convert_row_of(how[0], how[1], predictor);
}

tz_row_format convert_any_row(void)
{
    const uint32_t kind = convert_below(8);
    if (kind < 5)
        return convert_whole_row((tz_dtype)(1 + convert_below(PLACE_TYPES)));
    if (kind == 5)
        return convert_row_of(3, 24, convert_below(2) ? 3 : 1);
    const uint16_t sign = (uint16_t)convert_below(2);
    uint16_t bits = (uint16_t)(1 + sign + convert_below(31u - sign));
    if (bits == 8 || bits == 16)
        bits++;
    return convert_row_of((uint16_t)(1 + sign), bits, 1);
}

/* ---- values ---- */

/* Bytes of samples that are not like others: NaN of many kinds, infinities, extremes, zeros. */
static void put_special(const tz_row_format *row, uint8_t *sample)
{
    static const uint8_t tops[][2] = {{0x7f, 0x80}, {0xff, 0xc0}, {0x7f, 0xf0}, {0xff, 0xf8},
                                      {0x7c, 0x00}, {0xfe, 0x00}, {0x80, 0x00}, {0x00, 0x00},
                                      {0xff, 0xff}, {0x7f, 0xff}, {0x47, 0x80}, {0x43, 0xe0}};
    static const uint8_t fills[] = {0, 0, 1, 0x80, 0xff};
    const uint32_t parts = row->sample_format >= 5 ? 2 : 1;
    const uint32_t bytes = row->bits / 8u / parts;
    const uint8_t *top = tops[convert_below(sizeof tops / sizeof tops[0])];
    uint8_t *part = sample + convert_below(parts) * bytes;
    memset(part, fills[convert_below(5)], bytes);
    for (uint32_t i = 0; i < 2 && i < bytes; i++)
        part[row->swap ? i : bytes - 1 - i] = top[i];
}

static void fill_rows(const convert_region *p, uint8_t *rows)
{
    const size_t size = tz_row_bytes(&p->row);
    const bool small = convert_below(3) == 0; /* small numbers fit into all types */
    for (size_t i = 0; i < size * p->rows; i++)
        rows[i] = (uint8_t)(small ? convert_below(3) : random_bits());
    if (!tz_row_has_words(&p->row) || p->row.predictor != 1 || small)
        return;
    const size_t count = size * p->rows / (p->row.bits / 8u);
    for (size_t i = 0; i < count; i++) {
        if (convert_below(3) == 0)
            put_special(&p->row, rows + i * (p->row.bits / 8u));
    }
}

static void prepare(convert_region *p, const uint8_t *rows)
{
    const size_t size = tz_row_bytes(&p->row), made = tz_row_prepared_bytes(&p->row);
    uint8_t *row = malloc(size + TZ_ROW_SLACK);
    uint8_t *scratch = malloc(tz_row_scratch_bytes(&p->row) + 1);
    p->prepared = malloc(made * p->rows + TZ_ROW_SLACK);
    for (uint32_t y = 0; y < p->rows; y++) {
        uint8_t *out = p->prepared + y * made;
        memcpy(row, rows + y * size, size);
        const uint8_t *got = tz_row_prepare(&p->row, row, p->row.width, out, scratch);
        if (got != out)
            memcpy(out, got, made);
    }
    free(row);
    free(scratch);
}

/* A value that some sample has, or none has, as a number of any kind. */
static tz_nodata any_nodata(const convert_region *p)
{
    const tz_conversion to_f64 = {.from = p->row.dtype, .to = TZ_DTYPE_FLOAT64};
    const tz_conversion to_i64 = {.from = p->row.dtype, .to = TZ_DTYPE_INT64};
    const tz_conversion to_u64 = {.from = p->row.dtype, .to = TZ_DTYPE_UINT64};
    const size_t size = tz_dtype_size(p->row.dtype);
    const uint8_t *sample =
        p->prepared + size * convert_below(p->rows * p->row.width * p->row.samples);
    tz_nodata nodata = {.kind = (tz_nodata_kind)convert_below(4)};
    uint8_t value[8] = {0};
    if (nodata.kind == TZ_NODATA_KIND_INT)
        tz_row_convert(&to_i64, sample, 1, value, 1, 1, NULL, 0);
    else if (nodata.kind == TZ_NODATA_KIND_UINT)
        tz_row_convert(&to_u64, sample, 1, value, 1, 1, NULL, 0);
    else
        tz_row_convert(&to_f64, sample, 1, value, 1, 1, NULL, 0);
    memcpy(&nodata.value, value, sizeof value);
    if (convert_below(8) == 0)
        nodata.value.i = -1;
    return nodata;
}

static void choose_steps(convert_region *p)
{
    static const double numbers[] = {1, -0.5, 1e-3, 3e300, 0};
    const tz_nodata nan = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    const bool to_real = p->how.to >= TZ_DTYPE_FLOAT16 && p->how.to <= TZ_DTYPE_FLOAT64;
    p->how.scaled = convert_below(3) == 0;
    p->how.scale = numbers[convert_below(4)];
    p->how.offset = numbers[convert_below(5)];
    p->how.nodata = any_nodata(p);
    p->how.replacement = to_real && convert_below(2) ? nan : (tz_nodata){TZ_NODATA_KIND_NONE};
    p->flags = convert_below(8);
}

/* ---- offsets ---- */

static uint64_t pixel_size(const convert_region *p)
{
    return tz_dtype_size(p->how.to) * (p->is_copy ? p->row.samples : 1u);
}

/* Room for the pixels at the end of *size: in rows or columns, forwards or backwards, with gaps. */
static int64_t take_room(const convert_region *p, uint64_t pixel, uint64_t *size, int64_t *row,
                         int64_t *column)
{
    const uint32_t gap = convert_below(2) ? 0 : convert_below(9);
    const uint64_t rows = p->entry.rows, columns = p->entry.columns;
    const bool turned = convert_below(4) == 0;
    const uint64_t short_step = pixel + gap;
    const uint64_t long_step = short_step * (turned ? rows : columns) + convert_below(9);
    int64_t first = (int64_t)(*size + convert_below(17));
    *row = (int64_t)(turned ? short_step : long_step);
    *column = (int64_t)(turned ? long_step : short_step);
    *size = (uint64_t)first + long_step * (turned ? columns : rows) + short_step;
    if (convert_below(4) == 0) {
        first += *row * (int64_t)(rows - 1);
        *row = -*row;
    }
    if (convert_below(4) == 0) {
        first += *column * (int64_t)(columns - 1);
        *column = -*column;
    }
    return first;
}

static void choose_rectangle(convert_region *p)
{
    tz_convert_entry *entry = &p->entry;
    p->top = convert_below(p->rows);
    entry->rows = 1 + convert_below(p->rows - p->top);
    entry->from_row = tz_row_bytes(&p->row);
    const uint32_t column = convert_below(p->row.width);
    entry->columns = 1 + convert_below(p->row.width - column);
    if (p->is_copy) {
        entry->first = column;
        entry->step = 1;
    } else {
        entry->first = column * p->row.samples + convert_below(p->row.samples);
        entry->step = p->row.samples;
    }
    if (convert_below(8) == 0) { /* one sample for all */
        entry->step = 0;
        entry->from_row = 0;
        entry->rows = 1 + convert_below(67);
        entry->columns = 1 + convert_below(67);
    } else if (convert_below(8) == 0 && !p->is_copy) { /* every other pixel */
        entry->step *= 2;
        entry->columns = (entry->columns + 1) / 2;
    }
}

/* ---- what should come out ---- */

static void expect_row(convert_job *j, const convert_region *p, uint32_t y)
{
    const tz_convert_entry *e = &p->entry;
    const size_t size = tz_dtype_size(p->row.dtype) * (p->is_copy ? p->row.samples : 1u);
    const uint8_t *src = p->prepared +
                         tz_row_prepared_bytes(&p->row) * (p->top + (e->from_row ? y : 0)) +
                         e->first * size;
    uint8_t *dst = j->raster + e->into + y * e->into_row;
    uint8_t *mask = j->mask + e->mask + y * e->mask_row;
    if (!p->is_copy) {
        tz_row_convert(&p->how, src, (ptrdiff_t)(e->step * size),
                       e->flags & TZ_CONVERT_INTO ? dst : NULL, e->into_column, e->columns,
                       e->flags & TZ_CONVERT_MASK ? mask : NULL, e->mask_column);
    }
    for (uint32_t x = 0; x < e->columns; x++) {
        if (p->is_copy && (e->flags & TZ_CONVERT_INTO))
            memcpy(dst + x * e->into_column, src + x * e->step * size, size);
        if ((e->flags & TZ_CONVERT_MASK) && (p->is_copy || (e->flags & TZ_CONVERT_INVALID)))
            mask[x * e->mask_column] = e->flags & TZ_CONVERT_INVALID ? 0 : 255;
    }
}

static void expect(convert_job *j)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const convert_region *p = &j->pieces[i];
        for (uint32_t y = 0; y < p->entry.rows && !p->failed; y++)
            expect_row(j, p, y);
    }
}

/* ---- the whole ---- */

static uint64_t rounded(uint64_t at)
{
    return (at + 7) / 8 * 8;
}

static void lay_out(convert_job *j)
{
    uint64_t at = 8 * convert_below(3);
    j->undo_count = 0;
    for (uint32_t i = 0; i < j->count; i++)
        j->undo_count += (j->pieces[i].rows + TZ_UNPREDICT_MAX_ROWS - 1) / TZ_UNPREDICT_MAX_ROWS;
    j->formats_at = at;
    at += j->count * sizeof *j->formats;
    j->table_at = at;
    at += j->count * sizeof *j->entries;
    j->undo_at = at;
    at += j->undo_count * sizeof *j->undo;
    j->statuses_at = at;
    at += j->count * 4u;
    for (uint32_t i = 0; i < j->count; i++) {
        convert_region *p = &j->pieces[i];
        at += convert_below(2) ? rounded(at) - at : convert_below(17);
        p->entry.from = at;
        at += tz_row_bytes(&p->row) * p->rows;
    }
    j->slab_size = at;
    j->slab = malloc(at ? at : 1);
    memset(j->slab, 0xEE, at);
    j->formats = calloc(j->count + 1, sizeof *j->formats);
    j->entries = calloc(j->count + 1, sizeof *j->entries);
    j->undo = calloc(j->undo_count + 1, sizeof *j->undo);
}

static void add_undo(convert_job *j, const convert_region *p)
{
    tz_unpredict_entry entry;
    if (!tz_unpredict_entry_of(&p->row, &entry))
        return;
    for (uint32_t y = 0; y < p->rows; y += entry.rows) {
        entry.offset = p->entry.from + (uint64_t)y * entry.row_bytes;
        entry.rows = p->rows - y < TZ_UNPREDICT_MAX_ROWS ? p->rows - y : TZ_UNPREDICT_MAX_ROWS;
        j->undo[j->undo_count++] = entry;
    }
}

/* Steps may be given; they are chosen otherwise. */
static void finish_piece(convert_job *j, uint32_t i, bool choose)
{
    convert_region *p = &j->pieces[i];
    uint8_t *rows = j->slab + p->entry.from;
    fill_rows(p, rows);
    prepare(p, rows);
    if (choose)
        choose_steps(p);
    choose_rectangle(p);
    add_undo(j, p);
    p->entry.from += p->top * (uint64_t)tz_row_bytes(&p->row);
    p->entry.into =
        take_room(p, pixel_size(p), &j->raster_size, &p->entry.into_row, &p->entry.into_column);
    p->entry.mask = take_room(p, 1, &j->mask_size, &p->entry.mask_row, &p->entry.mask_column);
    p->entry.flags = p->flags;
    p->entry.format = i;
    p->failed = convert_below(8) == 0;
    p->entry.status = p->failed || convert_below(2) ? j->statuses_at + 4u * i : TZ_NO_VALUE;
    memcpy(j->slab + j->statuses_at + 4u * i, &(uint32_t){p->failed ? 0x100 + convert_below(3) : 0},
           4);
    j->formats[i] = p->is_copy ? tz_convert_format_copy((uint32_t)pixel_size(p))
                               : tz_convert_format_make(&p->row, &p->how);
    if (j->device && !tz_device_converts(j->device, &j->formats[i]))
        p->entry.flags = 0;
    j->entries[i] = p->entry;
}

void convert_job_finish(convert_job *j, bool choose)
{
    lay_out(j);
    j->undo_count = 0;
    j->raster_size = j->mask_size = 1;
    for (uint32_t i = 0; i < j->count; i++)
        finish_piece(j, i, choose);
    memcpy(j->slab + j->formats_at, j->formats, j->count * sizeof *j->formats);
    memcpy(j->slab + j->table_at, j->entries, j->count * sizeof *j->entries);
    memcpy(j->slab + j->undo_at, j->undo, j->undo_count * sizeof *j->undo);
    j->raster = malloc(j->raster_size);
    j->mask = malloc(j->mask_size);
    memset(j->raster, UNCHANGED, j->raster_size);
    memset(j->mask, UNCHANGED, j->mask_size);
    expect(j);
}

void convert_job_free(convert_job *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        free(j->pieces[i].prepared);
    free(j->pieces);
    free(j->formats);
    free(j->entries);
    free(j->undo);
    free(j->slab);
    free(j->raster);
    free(j->mask);
}

/* ---- what comes out ---- */

/* Prints the row range that differs. */
static void compare_pieces(const convert_job *j, const uint8_t *raster, const uint8_t *mask)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const convert_region *p = &j->pieces[i];
        const tz_convert_entry *e = &p->entry;
        for (uint32_t y = 0; y < e->rows; y++) {
            for (uint32_t x = 0; x < e->columns; x++) {
                const int64_t at = e->into + y * e->into_row + x * e->into_column;
                const int64_t flag = e->mask + y * e->mask_row + x * e->mask_column;
                if (memcmp(raster + at, j->raster + at, pixel_size(p)) == 0 &&
                    mask[flag] == j->mask[flag])
                    continue;
                print_message("piece %u (%ux%u) pixel %u,%u: bits %u format %u predictor %u swap "
                              "%d, %d to %d, scaled %d, nodata %d to NaN %d, flags %u, copy %d\n",
                              i, e->columns, e->rows, x, y, p->row.bits, p->row.sample_format,
                              p->row.predictor, p->row.swap, p->row.dtype, p->how.to, p->how.scaled,
                              p->how.nodata.kind, p->how.replacement.kind, e->flags, p->is_copy);
                return;
            }
        }
    }
}

void convert_job_compare(const convert_job *j, convert_runner *run)
{
    uint8_t *raster = malloc(j->raster_size);
    uint8_t *mask = malloc(j->mask_size);
    memset(raster, UNCHANGED, j->raster_size);
    memset(mask, UNCHANGED, j->mask_size);
    run(j, raster, mask);
    compare_pieces(j, raster, mask);
    assert_memory_equal(raster, j->raster, j->raster_size);
    assert_memory_equal(mask, j->mask, j->mask_size);
    free(raster);
    free(mask);
}

convert_job convert_job_new(uint32_t count)
{
    convert_job j = {.pieces = calloc(count + 1, sizeof *j.pieces), .count = count};
    return j;
}
