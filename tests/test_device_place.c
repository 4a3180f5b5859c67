/* SPDX-License-Identifier: Apache-2.0
 * Rows of tiles to pixels on a real OpenCL device: every sample becomes what tz_row_prepare and
 * tz_row_place make of it, whatever the formats, types, strides and values; so do the kernels as
 * plain C. One launch undoes and one places, however many there are. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/device_state.h"
#include "device/kernel_list.h"
#include "device/place.h"
#include "device/place_kernels.h"
#include "double/pocl.h"
#include "support/check.h"
#include "support/row_forms.h"
#include "tiff/layout.h"

enum { UNCHANGED = 0x5A };

static uint32_t below(uint32_t count)
{
    return (uint32_t)random_below(count);
}

/* ---- a piece: rows of a tile, and a rectangle of their samples ---- */

typedef struct piece {
    tz_row_format row;
    tz_placement how;
    bool is_copy;  /* of all samples of a pixel, whatever they are */
    uint32_t rows; /* of the tile */
    uint32_t top, failed, flags;
    tz_place_entry entry;
    uint8_t *prepared; /* the tile's rows as samples, one behind the other */
} piece;

typedef struct job {
    piece *pieces;
    uint32_t count;
    tz_place_entry *entries;
    tz_undo_entry *undo;
    tz_place_format *formats;
    uint64_t undo_count;
    uint64_t formats_at, table_at, undo_at, statuses_at, slab_size;
    uint64_t raster_size, mask_size;
    uint8_t *slab, *raster, *mask; /* as uploaded; raster and mask then as expected */
} job;

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
enum { TYPES = TZ_DTYPE_COMPLEX_FLOAT64 };

static tz_row_format row_of(uint16_t sample_format, uint16_t bits, uint16_t predictor)
{
    const tz_row_format row = {.dtype = tz_dtype_of(sample_format, bits),
                               .bits = bits,
                               .sample_format = sample_format,
                               .samples = (uint16_t)(1 + below(4)),
                               .predictor = predictor,
                               .swap = below(2),
                               .width = 1 + below(67)};
    assert_null(tz_row_unsupported(&row));
    return row;
}

static tz_row_format whole_row(tz_dtype dtype)
{
    const uint16_t *how = whole[dtype];
    uint16_t predictor = 1;
    if (below(2) && how[1] <= 64)
        predictor = how[0] == 3 && below(2) ? 3 : 2;
    return row_of(how[0], how[1], predictor);
}

static tz_row_format any_row(void)
{
    const uint32_t kind = below(8);
    if (kind < 5)
        return whole_row((tz_dtype)(1 + below(TYPES)));
    if (kind == 5)
        return row_of(3, 24, below(2) ? 3 : 1);
    const uint16_t sign = (uint16_t)below(2);
    uint16_t bits = (uint16_t)(1 + sign + below(31u - sign));
    if (bits == 8 || bits == 16)
        bits++;
    return row_of((uint16_t)(1 + sign), bits, 1);
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
    const uint8_t *top = tops[below(sizeof tops / sizeof tops[0])];
    uint8_t *part = sample + below(parts) * bytes;
    memset(part, fills[below(5)], bytes);
    for (uint32_t i = 0; i < 2 && i < bytes; i++)
        part[row->swap ? i : bytes - 1 - i] = top[i];
}

static void fill_rows(const piece *p, uint8_t *rows)
{
    const size_t size = tz_row_bytes(&p->row);
    const bool small = below(3) == 0; /* small numbers fit into all types */
    for (size_t i = 0; i < size * p->rows; i++)
        rows[i] = (uint8_t)(small ? below(3) : random_bits());
    if (!tz_row_has_words(&p->row) || p->row.predictor != 1 || small)
        return;
    const size_t count = size * p->rows / (p->row.bits / 8u);
    for (size_t i = 0; i < count; i++) {
        if (below(3) == 0)
            put_special(&p->row, rows + i * (p->row.bits / 8u));
    }
}

static void prepare(piece *p, const uint8_t *rows)
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
static tz_nodata any_nodata(const piece *p)
{
    const tz_placement to_f64 = {.from = p->row.dtype, .to = TZ_DTYPE_FLOAT64};
    const tz_placement to_i64 = {.from = p->row.dtype, .to = TZ_DTYPE_INT64};
    const tz_placement to_u64 = {.from = p->row.dtype, .to = TZ_DTYPE_UINT64};
    const size_t size = tz_dtype_size(p->row.dtype);
    const uint8_t *sample = p->prepared + size * below(p->rows * p->row.width * p->row.samples);
    tz_nodata nodata = {.kind = (tz_nodata_kind)below(4)};
    uint8_t value[8] = {0};
    if (nodata.kind == TZ_NODATA_INT)
        tz_row_place(&to_i64, sample, 1, value, 1, 1, NULL, 0);
    else if (nodata.kind == TZ_NODATA_UINT)
        tz_row_place(&to_u64, sample, 1, value, 1, 1, NULL, 0);
    else
        tz_row_place(&to_f64, sample, 1, value, 1, 1, NULL, 0);
    memcpy(&nodata.value, value, sizeof value);
    if (below(8) == 0)
        nodata.value.i = -1;
    return nodata;
}

static void choose_steps(piece *p)
{
    static const double numbers[] = {1, -0.5, 1e-3, 3e300, 0};
    const bool to_real = p->how.to >= TZ_DTYPE_FLOAT16 && p->how.to != TZ_DTYPE_COMPLEX_INT16 &&
                         p->how.to != TZ_DTYPE_COMPLEX_INT32;
    p->how.scaled = below(3) == 0;
    p->how.scale = numbers[below(4)];
    p->how.offset = numbers[below(5)];
    p->how.nodata = any_nodata(p);
    p->how.nodata_to_nan = to_real && below(2);
    p->flags = 1 + below(7);
    if (p->flags == TZ_PLACE_INVALID)
        p->flags |= TZ_PLACE_MASK;
}

/* ---- places ---- */

static uint64_t pixel_size(const piece *p)
{
    return tz_dtype_size(p->how.to) * (p->is_copy ? p->row.samples : 1u);
}

/* Room for the pixels at the end of *size: in rows or columns, forwards or backwards, with gaps. */
static int64_t take_room(const piece *p, uint64_t pixel, uint64_t *size, int64_t *row,
                         int64_t *column)
{
    const uint32_t gap = below(2) ? 0 : below(9);
    const uint64_t rows = p->entry.rows, columns = p->entry.columns;
    const bool turned = below(4) == 0;
    const uint64_t short_step = pixel + gap;
    const uint64_t long_step = short_step * (turned ? rows : columns) + below(9);
    int64_t first = (int64_t)(*size + below(17));
    *row = (int64_t)(turned ? short_step : long_step);
    *column = (int64_t)(turned ? long_step : short_step);
    *size = (uint64_t)first + long_step * (turned ? columns : rows) + short_step;
    if (below(4) == 0) {
        first += *row * (int64_t)(rows - 1);
        *row = -*row;
    }
    if (below(4) == 0) {
        first += *column * (int64_t)(columns - 1);
        *column = -*column;
    }
    return first;
}

static void choose_rectangle(piece *p)
{
    tz_place_entry *entry = &p->entry;
    p->top = below(p->rows);
    entry->rows = 1 + below(p->rows - p->top);
    entry->from_row = tz_row_bytes(&p->row);
    const uint32_t column = below(p->row.width);
    entry->columns = 1 + below(p->row.width - column);
    if (p->is_copy) {
        entry->first = column;
        entry->step = 1;
    } else {
        entry->first = column * p->row.samples + below(p->row.samples);
        entry->step = p->row.samples;
    }
    if (below(8) == 0) { /* one sample for all */
        entry->step = 0;
        entry->from_row = 0;
        entry->rows = 1 + below(67);
        entry->columns = 1 + below(67);
    } else if (below(8) == 0 && !p->is_copy) { /* every other pixel */
        entry->step *= 2;
        entry->columns = (entry->columns + 1) / 2;
    }
}

/* ---- the whole ---- */

static uint64_t rounded(uint64_t at)
{
    return (at + 7) / 8 * 8;
}

static void lay_out(job *j)
{
    uint64_t at = 8 * below(3);
    j->undo_count = 0;
    for (uint32_t i = 0; i < j->count; i++)
        j->undo_count += (j->pieces[i].rows + TZ_UNDO_ROWS - 1) / TZ_UNDO_ROWS;
    j->formats_at = at;
    at += j->count * sizeof *j->formats;
    j->table_at = at;
    at += j->count * sizeof *j->entries;
    j->undo_at = at;
    at += j->undo_count * sizeof *j->undo;
    j->statuses_at = at;
    at += j->count * 4u;
    for (uint32_t i = 0; i < j->count; i++) {
        piece *p = &j->pieces[i];
        at += below(2) ? rounded(at) - at : below(17);
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

static void add_undo(job *j, const piece *p)
{
    tz_undo_entry entry;
    if (!tz_undo_of(&p->row, &entry))
        return;
    for (uint32_t y = 0; y < p->rows; y += entry.rows) {
        entry.offset = p->entry.from + (uint64_t)y * entry.row_bytes;
        entry.rows = p->rows - y < TZ_UNDO_ROWS ? p->rows - y : TZ_UNDO_ROWS;
        j->undo[j->undo_count++] = entry;
    }
}

/* Steps may be given; they are chosen otherwise. */
static void finish_piece(job *j, uint32_t i, bool choose)
{
    piece *p = &j->pieces[i];
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
    p->failed = below(8) == 0;
    p->entry.status = p->failed || below(2) ? j->statuses_at + 4u * i : TZ_NONE;
    memcpy(j->slab + j->statuses_at + 4u * i, &(uint32_t){p->failed ? 0x100 + below(3) : 0}, 4);
    j->formats[i] = p->is_copy ? tz_place_format_copy((uint32_t)pixel_size(p))
                               : tz_place_format_make(&p->row, &p->how);
    j->entries[i] = p->entry;
}

static void finish(job *j, bool choose)
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
}

static void free_job(job *j)
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

/* ---- what should come out ---- */

static void expect_row(job *j, const piece *p, uint32_t y)
{
    const tz_place_entry *e = &p->entry;
    const size_t size = tz_dtype_size(p->row.dtype) * (p->is_copy ? p->row.samples : 1u);
    const uint8_t *src = p->prepared +
                         tz_row_prepared_bytes(&p->row) * (p->top + (e->from_row ? y : 0)) +
                         e->first * size;
    uint8_t *dst = j->raster + e->into + y * e->into_row;
    uint8_t *mask = j->mask + e->mask + y * e->mask_row;
    if (!p->is_copy) {
        tz_row_place(&p->how, src, (ptrdiff_t)(e->step * size),
                     e->flags & TZ_PLACE_INTO ? dst : NULL, e->into_column, e->columns,
                     e->flags & TZ_PLACE_MASK ? mask : NULL, e->mask_column);
    }
    for (uint32_t x = 0; x < e->columns; x++) {
        if (p->is_copy && (e->flags & TZ_PLACE_INTO))
            memcpy(dst + x * e->into_column, src + x * e->step * size, size);
        if ((e->flags & TZ_PLACE_MASK) && (p->is_copy || (e->flags & TZ_PLACE_INVALID)))
            mask[x * e->mask_column] = e->flags & TZ_PLACE_INVALID ? 0 : 255;
    }
}

static void expect(job *j)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const piece *p = &j->pieces[i];
        for (uint32_t y = 0; y < p->entry.rows && !p->failed; y++)
            expect_row(j, p, y);
    }
}

/* ---- what comes out ---- */

static tz_device_memory *send(const uint8_t *bytes, uint64_t size)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_alloc(pocl_device, size, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, memory, 0, bytes, size, &err), TZ_OK);
    return memory;
}

static void run_on_device(const job *j, uint8_t *raster, uint8_t *mask)
{
    tz_error err;
    tz_device_memory *slab = send(j->slab, j->slab_size);
    tz_device_memory *into = send(raster, j->raster_size);
    tz_device_memory *flags = send(mask, j->mask_size);
    const tz_undo_batch undo = {
        .slab = slab, .entries = j->undo, .table = j->undo_at, .count = j->undo_count};
    const tz_place_batch place = {.slab = slab,
                                  .formats = j->formats_at,
                                  .format_count = j->count,
                                  .format_table = j->formats,
                                  .entries = j->entries,
                                  .table = j->table_at,
                                  .count = j->count,
                                  .into = into,
                                  .mask = flags};
    assert_int_equal(tz_undo_launch(&undo, 0, &err), TZ_OK);
    assert_int_equal(tz_place_launch(&place, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, raster, into, 0, j->raster_size, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, mask, flags, 0, j->mask_size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(pocl_device, 0, &err), TZ_OK);
    tz_device_free(slab);
    tz_device_free(into);
    tz_device_free(flags);
}

static void run_in_c(const job *j, uint8_t *raster, uint8_t *mask)
{
    uint8_t *slab = malloc(j->slab_size);
    memcpy(slab, j->slab, j->slab_size);
    for (uint64_t group = 0; group < j->undo_count; group++) {
        for (uint32_t item = 0; item < TZ_GROUP_ITEMS; item++)
            tz_undo_item(slab, j->undo_at, group, item);
    }
    for (uint64_t group = 0; group < j->count; group++) {
        for (uint32_t item = 0; item < TZ_GROUP_ITEMS; item++)
            tz_place_item(slab, raster, mask, j->formats_at, j->table_at, group, item,
                          TZ_GROUP_ITEMS);
    }
    free(slab);
}

/* Says which piece it was. */
static void compare_pieces(const job *j, const uint8_t *raster, const uint8_t *mask)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const piece *p = &j->pieces[i];
        const tz_place_entry *e = &p->entry;
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
                              p->how.nodata.kind, p->how.nodata_to_nan, e->flags, p->is_copy);
                return;
            }
        }
    }
}

static void compare(const job *j, void (*run)(const job *, uint8_t *, uint8_t *))
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

static void run_both(job *j)
{
    expect(j);
    compare(j, run_in_c);
    compare(j, run_on_device);
    free_job(j);
}

static job new_job(uint32_t count)
{
    job j = {.pieces = calloc(count + 1, sizeof *j.pieces), .count = count};
    return j;
}

/* ---- tests ---- */

static void all_pairs_of_types(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        job j = new_job(TYPES * TYPES);
        for (uint32_t i = 0; i < j.count; i++) {
            piece *p = &j.pieces[i];
            p->row = whole_row((tz_dtype)(1 + i % TYPES));
            p->how.from = p->row.dtype;
            p->how.to = (tz_dtype)(1 + i / TYPES);
            p->rows = 1 + below(9);
        }
        finish(&j, true);
        run_both(&j);
    }
}

static void any_rows_to_any_type(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        job j = new_job(1 + below(67));
        for (uint32_t i = 0; i < j.count; i++) {
            piece *p = &j.pieces[i];
            p->row = any_row();
            p->how.from = p->row.dtype;
            p->how.to = below(2) ? p->row.dtype : (tz_dtype)(1 + below(TYPES));
            p->rows = 1 + below(i == 0 ? 150 : 20);
        }
        finish(&j, true);
        run_both(&j);
    }
}

/* Bytes of pixels of any width, in every alignment. */
static void copies(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        job j = new_job(1 + below(67));
        for (uint32_t i = 0; i < j.count; i++) {
            piece *p = &j.pieces[i];
            p->is_copy = true;
            p->row = row_of(1, (uint16_t)(8u << below(4)), 1);
            p->row.swap = false;
            p->how.from = p->how.to = p->row.dtype;
            p->rows = 1 + below(67);
            p->flags = below(2) ? TZ_PLACE_INTO : 1 + below(3);
        }
        finish(&j, false);
        run_both(&j);
    }
}

static void launches_do_not_grow(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 7, 64, 1000};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        tz_device_counts wave;
        job j = new_job(counts[n]);
        for (uint32_t i = 0; i < j.count; i++) {
            piece *p = &j.pieces[i];
            p->row = row_of(1, 16, 2);
            p->how.from = p->how.to = p->row.dtype;
            p->rows = 1 + below(3);
            p->flags = TZ_PLACE_INTO;
        }
        finish(&j, false);
        if (j.slab_size == 0)
            j.slab_size = 1;
        expect(&j);
        tz_device_begin_wave(pocl_device);
        compare(&j, run_on_device);
        tz_device_get_counts(pocl_device, NULL, &wave);
        assert_int_equal(wave.launches, counts[n] ? 2 : 0);
        assert_int_equal(wave.uploads, 3);
        assert_int_equal(wave.downloads, 2);
        assert_int_equal(wave.syncs, 1);
        free_job(&j);
    }
}

static void without_doubles(void **state)
{
    (void)state;
    const tz_row_format bytes = row_of(1, 8, 1), reals = row_of(3, 32, 3);
    tz_placement how = {.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_INT16};
    tz_device device = {.info.limits.fp64 = true};
    tz_place_format format = tz_place_format_make(&bytes, &how);
    assert_true(tz_device_places(&device, &format));
    device.info.limits.fp64 = false;
    assert_true(tz_device_places(&device, &format));
    how.nodata = (tz_nodata){.kind = TZ_NODATA_INT, .value.i = 3};
    format = tz_place_format_make(&bytes, &how);
    assert_true(tz_device_places(&device, &format));
    how.nodata.kind = TZ_NODATA_FLOAT;
    format = tz_place_format_make(&bytes, &how);
    assert_false(tz_device_places(&device, &format));
    how = (tz_placement){.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_FLOAT32};
    format = tz_place_format_make(&bytes, &how);
    assert_false(tz_device_places(&device, &format));
    how.from = TZ_DTYPE_FLOAT32;
    format = tz_place_format_make(&reals, &how);
    assert_true(tz_device_places(&device, &format));
    how.scaled = true;
    format = tz_place_format_make(&reals, &how);
    assert_false(tz_device_places(&device, &format));
    format = tz_place_format_copy(12);
    assert_true(tz_device_places(&device, &format));
}

/* ---- what a kernel would have to trust ---- */

static void refuse_undo(tz_device_memory *slab, tz_undo_entry entry, const char *text)
{
    tz_error err;
    const tz_undo_batch batch = {.slab = slab, .entries = &entry, .count = 1};
    const tz_result result = tz_undo_launch(&batch, 0, &err);
    assert_int_equal(result, text ? TZ_ERR_ARG : TZ_OK);
    if (text)
        assert_non_null(strstr(err.message, text));
}

static void wrong_rows(void **state)
{
    (void)state;
    tz_error err;
    uint8_t zeros[200] = {0};
    tz_device_memory *slab = send(zeros, sizeof zeros);
    const tz_undo_entry good = {.offset = 40,
                                .rows = 4,
                                .row_bytes = 40,
                                .count = 10,
                                .stride = 1,
                                .width = 4,
                                .predictor = 2};
    tz_undo_entry entry = good;
    refuse_undo(slab, entry, NULL);
    entry.offset = 41;
    refuse_undo(slab, entry, "not within the slab");
    entry.offset = UINT64_MAX;
    refuse_undo(slab, entry, "not within the slab");
    entry = good;
    entry.count = 11;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.width = 3;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.predictor = 1;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.stride = 0;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.rows = TZ_UNDO_ROWS + 1;
    entry.row_bytes = 0;
    entry.count = 0;
    refuse_undo(slab, entry, "such a shape");
    const tz_undo_batch far = {.slab = slab, .entries = &good, .table = 168, .count = 1};
    assert_int_equal(tz_undo_launch(&far, 0, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_sync(pocl_device, 0, &err), TZ_OK);
    tz_device_free(slab);
}

/* Ten by ten pixels of two bytes, from 224 bytes on, to a raster and a mask of just that size. */
static const tz_place_entry good_entry = {.from = 224,
                                          .from_row = 20,
                                          .step = 1,
                                          .rows = 10,
                                          .columns = 10,
                                          .flags = TZ_PLACE_INTO | TZ_PLACE_MASK,
                                          .into = 0,
                                          .into_row = 20,
                                          .into_column = 2,
                                          .mask_row = 10,
                                          .mask_column = 1,
                                          .status = TZ_NONE};

typedef struct trial {
    tz_device_memory *slab, *raster, *mask;
    tz_place_format format;
} trial;

static void refuse_place(const trial *t, tz_place_entry entry, const char *text)
{
    tz_error err;
    const tz_place_batch batch = {.slab = t->slab,
                                  .format_count = 1,
                                  .format_table = &t->format,
                                  .entries = &entry,
                                  .table = 128,
                                  .count = 1,
                                  .into = t->raster,
                                  .mask = t->mask};
    const tz_result result = tz_place_launch(&batch, 0, &err);
    assert_int_equal(result, text ? TZ_ERR_ARG : TZ_OK);
    if (text)
        assert_non_null(strstr(err.message, text));
}

static void wrong_targets(const trial *t)
{
    tz_place_entry entry = good_entry;
    entry.into = 1;
    refuse_place(t, entry, "not within the raster");
    entry.into = -1;
    refuse_place(t, entry, "not within the raster");
    entry = good_entry;
    entry.into_row = -20;
    refuse_place(t, entry, "not within the raster");
    entry.into_row = INT64_MAX;
    refuse_place(t, entry, "not within the raster");
    entry = good_entry;
    entry.into_column = INT64_MIN;
    refuse_place(t, entry, "not within the raster");
    entry.flags = TZ_PLACE_MASK;
    refuse_place(t, entry, NULL);
    entry = good_entry;
    entry.mask = 1;
    refuse_place(t, entry, "not within the mask");
    entry.flags = TZ_PLACE_INTO;
    refuse_place(t, entry, NULL);
    trial none = *t;
    none.mask = NULL;
    refuse_place(&none, good_entry, "not within the mask");
    none.raster = NULL;
    refuse_place(&none, good_entry, "not within the raster");
}

static void wrong_places(void **state)
{
    (void)state;
    tz_error err;
    uint8_t zeros[424] = {0};
    const tz_row_format words = {
        .dtype = TZ_DTYPE_UINT16, .bits = 16, .sample_format = 1, .samples = 1, .predictor = 1};
    const tz_placement how = {.from = TZ_DTYPE_UINT16, .to = TZ_DTYPE_UINT16};
    trial t = {send(zeros, 424), send(zeros, 200), send(zeros, 100),
               tz_place_format_make(&words, &how)};
    refuse_place(&t, good_entry, NULL);
    tz_place_entry entry = good_entry;
    entry.from = 225;
    refuse_place(&t, entry, "not within the slab");
    entry.from = UINT64_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.first = 1;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.step = UINT32_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.from_row = UINT64_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.format = 1;
    refuse_place(&t, entry, "no such format");
    entry = good_entry;
    entry.status = 424;
    refuse_place(&t, entry, "status");
    entry = good_entry;
    entry.rows = entry.columns = UINT32_MAX;
    refuse_place(&t, entry, "too large");
    entry.rows = 0; /* nothing is read */
    refuse_place(&t, entry, NULL);
    wrong_targets(&t);
    assert_int_equal(tz_device_sync(pocl_device, 0, &err), TZ_OK);
    tz_device_free(t.slab);
    tz_device_free(t.raster);
    tz_device_free(t.mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_types),
        cmocka_unit_test(any_rows_to_any_type),
        cmocka_unit_test(copies),
        cmocka_unit_test(launches_do_not_grow),
        cmocka_unit_test(without_doubles),
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(wrong_places),
    };
    return cmocka_run_group_tests(tests, pocl_begin, pocl_end);
}
