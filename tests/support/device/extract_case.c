/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/extract_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/device/test_device.h"

static uint32_t seed = 4711;

uint32_t extract_below(uint32_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % count;
}

/* ---- a random case ---- */

static uint16_t format_of(tz_dtype dtype)
{
    return dtype >= TZ_DTYPE_COMPLEX_FLOAT16 ? 6
           : dtype >= TZ_DTYPE_COMPLEX_INT16 ? 5
           : dtype >= TZ_DTYPE_FLOAT16       ? 3
           : dtype % 2 == 0                  ? 2
                                             : 1;
}

static bool is_float(tz_dtype dtype)
{
    return dtype >= TZ_DTYPE_FLOAT16 && dtype <= TZ_DTYPE_FLOAT64;
}

static void choose_row(tz_row_format *row)
{
    row->dtype = (tz_dtype)(1 + extract_below(16));
    row->bits = (uint16_t)(8 * tz_dtype_size(row->dtype));
    row->sample_format = format_of(row->dtype);
    row->swap = extract_below(2);
    row->predictor = 1;
    if (row->dtype <= TZ_DTYPE_INT32 && extract_below(3) == 0)
        row->bits = (uint16_t)(row->bits - extract_below(row->bits > 16 ? 15 : row->bits / 2));
    else if (is_float(row->dtype) && extract_below(2))
        row->predictor = 3;
    else if (row->bits <= 64 && extract_below(2))
        row->predictor = 2;
    if (row->bits < 8 && extract_below(3) == 0)
        row->bits = 1;
}

static tz_nodata choose_nodata(tz_dtype dtype)
{
    const uint32_t kind = extract_below(6);
    if (kind == 0)
        return (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    if (kind == 1)
        return (tz_nodata){.kind = TZ_NODATA_KIND_INT,
                           .value = {.i = (int64_t)extract_below(400) - 200}};
    if (kind == 2)
        return (tz_nodata){.kind = TZ_NODATA_KIND_UINT,
                           .value = {.u = UINT64_MAX >> extract_below(2)}};
    if (kind == 3 && is_float(dtype))
        return (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    static const double values[] = {0.0, 7.0, 9007199254740992.0};
    return (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = values[extract_below(3)]}};
}

static void choose_mask(extract_case *c)
{
    tz_extract_batch *b = &c->batch;
    c->bands = c->planes = 1;
    b->is_mask = true;
    b->row = (tz_row_format){.dtype = TZ_DTYPE_UINT8,
                             .bits = extract_below(2) ? 1 : 8,
                             .sample_format = 1,
                             .samples = 1,
                             .predictor = 1,
                             .width = b->row.width};
    b->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = 1}}; /* is not looked at */
    b->nan_to_nodata = b->wants_stats = false;
    b->discard_bits = NULL;
}

static void choose_treatment(tz_extract_batch *b, uint8_t *bits)
{
    const tz_dtype dtype = b->row.dtype;
    b->nodata = choose_nodata(dtype);
    b->wants_stats = extract_below(2);
    b->nan_to_nodata = is_float(dtype) && b->nodata.kind == TZ_NODATA_KIND_FLOAT &&
                       !isnan(b->nodata.value.f) && extract_below(2);
    if (dtype <= TZ_DTYPE_FLOAT64 && extract_below(3) == 0)
        b->discard_bits = bits;
    for (uint32_t i = 0; i < MOST_BANDS; i++)
        bits[i] = (uint8_t)extract_below((uint32_t)(8 * tz_dtype_size(dtype)));
}

/* Strides of rows that begin anywhere, run either way, and have gaps. */
void extract_case_strides(extract_case *c)
{
    tz_extract_batch *b = &c->batch;
    const int64_t size = (int64_t)tz_dtype_size(b->row.dtype);
    const bool by_band = extract_below(2);
    const int64_t gap = extract_below(3) ? 0 : (int64_t)extract_below(9);
    const int64_t pixel = by_band ? size + gap : size * (int64_t)c->bands + gap;
    const int64_t row = pixel * (int64_t)c->width + (int64_t)extract_below(9);
    b->column_stride = extract_below(4) ? pixel : -pixel;
    b->row_stride = extract_below(4) ? row : -row;
    b->band_stride = by_band ? row * (int64_t)c->height : size;
    if (by_band && extract_below(4) == 0)
        b->band_stride = -b->band_stride;
    c->rows_size = (uint64_t)(row * (int64_t)c->height) * (by_band ? c->bands : 1) + 16;
    b->mask_column_stride = extract_below(2) ? 1 : -3;
    b->mask_row_stride = (int64_t)c->width * (extract_below(2) ? 3 : -3);
    c->mask_size = (uint64_t)c->width * 3 * c->height;
}

/* From the first byte of memory to the sample that strides start at. */
static int64_t start_of(const int64_t *strides, const uint32_t *counts, unsigned axes)
{
    int64_t start = 0;
    for (unsigned i = 0; i < axes; i++)
        start += strides[i] < 0 ? -strides[i] * (int64_t)(counts[i] - 1) : 0;
    return start;
}

static void place_tiles(extract_case *c)
{
    tz_extract_batch *b = &c->batch;
    const int64_t strides[] = {b->band_stride, b->row_stride, b->column_stride};
    const uint32_t counts[] = {c->bands, c->height, c->width};
    const int64_t mask_strides[] = {b->mask_row_stride, b->mask_column_stride};
    const int64_t first = start_of(strides, counts, 3);
    const int64_t valid = start_of(mask_strides, counts + 1, 2);
    const uint64_t bytes = tz_row_bytes(&b->row) * b->height;
    uint64_t at = b->scratch + tz_extract_scratch_bytes(b);
    for (uint64_t i = b->count; i-- > 0;) { /* at odd offsets, last one first */
        const int64_t x = (int64_t)(i % c->across * b->row.width);
        const int64_t y = (int64_t)(i / c->across % c->down * b->height);
        const uint32_t plane = (uint32_t)(i / c->across / c->down);
        const uint32_t wide = c->width - (uint32_t)x, high = c->height - (uint32_t)y;
        at += extract_below(6);
        c->tiles[i] = (tz_extract_tile){
            .from = first + plane * b->band_stride + y * b->row_stride + x * b->column_stride,
            .valid = valid + y * b->mask_row_stride + x * b->mask_column_stride,
            .to = at,
            .width = wide < b->row.width ? wide : b->row.width,
            .height = high < b->height ? high : b->height,
            .plane = plane,
            .checked = extract_below(2)};
        at += bytes;
    }
}

static uint64_t round_up(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

void extract_case_lay_out(extract_case *c)
{
    tz_extract_batch *b = &c->batch;
    c->across = (c->width + b->row.width - 1) / b->row.width;
    c->down = (c->height + b->height - 1) / b->height;
    b->count = (uint64_t)c->across * c->down * c->planes;
    b->table = 8 * extract_below(3);
    b->results = b->table + b->count * sizeof(tz_extract_tile);
    b->stats = b->results + b->count * sizeof(tz_extract_result);
    b->discard = b->stats + b->count * b->row.samples * sizeof(tz_stats);
    b->scratch = round_up(b->discard + MOST_BANDS);
    b->discard_count = c->bands;
    c->slab_size = b->scratch + tz_extract_scratch_bytes(b) +
                   b->count * (tz_row_bytes(&b->row) * b->height + 6);
    c->tiles = calloc(b->count, sizeof *c->tiles);
    b->tiles = c->tiles;
    place_tiles(c);
}

void extract_case_random(extract_case *c)
{
    tz_extract_batch *b = &c->batch;
    *c = (extract_case){.width = 1 + extract_below(67),
                        .height = 1 + extract_below(67),
                        .bands = 1 + extract_below(MOST_BANDS)};
    c->planes = extract_below(2) ? c->bands : 1;
    choose_row(&b->row);
    b->row.samples = (uint16_t)(c->bands / c->planes);
    b->row.width = extract_below(2) ? 16 + 16 * extract_below(3) : 1 + extract_below(67);
    b->height = extract_below(2) ? 16 + 16 * extract_below(3) : 1 + extract_below(67);
    b->crop_height = extract_below(3) == 0;
    b->wants_empty = extract_below(2);
    choose_treatment(b, c->bits);
    if (extract_below(6) == 0)
        choose_mask(c);
    extract_case_strides(c);
    extract_case_lay_out(c);
}

/* ---- samples ---- */

static void put_number(const extract_case *c, uint8_t *at, double value)
{
    const tz_nodata number = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = value}};
    tz_row_fill(c->batch.row.dtype, &number, at, 16, 1);
}

/* Stores a sample of many kinds; in some cases almost all are nodata. */
static void put_sample(const extract_case *c, uint8_t *at, uint32_t kind)
{
    static const double numbers[] = {0.0, -0.0, 1.0, 6.5, 7.0, 100.25, 1e9, 1e300};
    const tz_row_format *row = &c->batch.row;
    const size_t size = tz_dtype_size(row->dtype);
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)extract_below(256);
    if (kind == 0 || (kind == 1 && extract_below(40) > 0))
        tz_row_fill(row->dtype, &c->batch.nodata, at, 16, 1);
    else if (kind == 1 && extract_below(2)) { /* beside nodata, also where both are one double */
        tz_row_fill(row->dtype, &c->batch.nodata, at, 16, 1);
        at[0] ^= 1;
    } else if (kind == 1 || (kind == 2 && extract_below(3) == 0))
        put_number(c, at, numbers[extract_below(8)]);
    else if (is_float(row->dtype) && extract_below(5) == 0)
        put_number(c, at, extract_below(3) ? (double)NAN : (double)INFINITY);
    else if (row->bits < 8 * size && (kind == 3 || extract_below(30) > 0))
        put_number(c, at, extract_below(1u << (row->bits - 1)));
    if (c->batch.is_mask && extract_below(2))
        at[0] = 0;
}

static void make_rows(extract_case *c)
{
    const tz_extract_batch *b = &c->batch;
    const int64_t strides[] = {b->band_stride, b->row_stride, b->column_stride};
    const uint32_t counts[] = {c->bands, c->height, c->width};
    const uint32_t kind = extract_below(5);
    uint8_t sample[16];
    uint8_t *first = c->rows + start_of(strides, counts, 3);
    for (uint32_t s = 0; s < c->bands; s++)
        for (uint32_t y = 0; y < c->height; y++)
            for (uint32_t x = 0; x < c->width; x++) {
                put_sample(c, sample, kind);
                memcpy(first + s * b->band_stride + y * b->row_stride + x * b->column_stride,
                       sample, tz_dtype_size(b->row.dtype));
            }
    for (uint64_t i = 0; i < c->mask_size; i++)
        c->mask[i] = (uint8_t)(extract_below(3) ? extract_below(256) : 0);
}

static void make_memory(extract_case *c)
{
    c->rows = calloc(c->rows_size, 1);
    c->mask = calloc(c->mask_size, 1);
    c->slab = malloc(c->slab_size);
    c->expected = malloc(c->slab_size);
    memset(c->slab, 0x5a, c->slab_size); /* what lies between stays as it is */
    memcpy(c->slab + c->batch.table, c->tiles, c->batch.count * sizeof *c->tiles);
    memcpy(c->slab + c->batch.discard, c->bits, c->bands);
    memcpy(c->expected, c->slab, c->slab_size);
    make_rows(c);
}

static void free_case(extract_case *c)
{
    free(c->rows);
    free(c->mask);
    free(c->slab);
    free(c->expected);
    free(c->tiles);
}

/* ---- what should come out: row by row, by what the CPU calls ---- */

/* The hash as it was first written down. */
static uint64_t mix(uint64_t hash, const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t hash_row(uint64_t hash, const uint8_t *row, size_t size)
{
    uint64_t lanes[4] = {hash, ~hash, hash << 1, hash >> 1};
    uint8_t rest[32] = {0};
    for (; size >= sizeof rest; size -= sizeof rest, row += sizeof rest)
        for (size_t i = 0; i < 4; i++)
            lanes[i] = mix(lanes[i], row + i * 8);
    memcpy(rest, row, size);
    for (size_t i = 0; i < 4; i++)
        lanes[i] = mix(lanes[i], rest + i * 8);
    for (size_t i = 1; i < 4; i++)
        lanes[0] = mix(lanes[0], (const uint8_t *)&lanes[i]);
    return lanes[0] + size;
}

static void gather(const extract_case *c, const tz_extract_tile *tile, uint32_t y, uint8_t *out)
{
    const tz_extract_batch *b = &c->batch;
    const size_t size = tz_dtype_size(b->row.dtype);
    for (uint32_t x = 0; x < tile->width; x++)
        for (uint32_t s = 0; s < b->row.samples; s++, out += size)
            memcpy(out,
                   c->rows + tile->from + s * b->band_stride + y * b->row_stride +
                       x * b->column_stride,
                   size);
}

static void tally(const extract_case *c, const tz_extract_tile *tile, uint32_t y,
                  const uint8_t *row, tz_stats *tallies)
{
    const tz_extract_batch *b = &c->batch;
    const size_t size = tz_dtype_size(b->row.dtype);
    uint8_t *valid = malloc(tile->width);
    for (uint32_t x = 0; x < tile->width; x++)
        valid[x] = c->mask[tile->valid + y * b->mask_row_stride + x * b->mask_column_stride];
    for (uint32_t s = 0; s < b->row.samples; s++)
        tz_stats_row(&tallies[s], b->row.dtype, row + s * size, (ptrdiff_t)(size * b->row.samples),
                     tile->width, &b->nodata, b->mask ? valid : NULL);
    free(valid);
}

static void treat(const extract_case *c, const tz_extract_tile *tile, uint32_t y, uint8_t *row,
                  tz_extract_result *seen)
{
    const tz_extract_batch *b = &c->batch;
    static const tz_nodata zero = {.kind = TZ_NODATA_KIND_NONE};
    const size_t count = (size_t)tile->width * b->row.samples;
    for (size_t i = 0; b->is_mask && i < count; i++)
        row[i] = row[i] != 0;
    if (b->nan_to_nodata)
        tz_store_replace_nan(b->row.dtype, row, count, b->nodata.value.f);
    if (b->discard_bits)
        tz_store_discard_bits(b->row.dtype, row, tile->width, b->row.samples,
                              b->discard_bits + tile->plane, &b->nodata);
    if (seen->empty)
        seen->empty = tz_store_is_all(b->row.dtype, b->is_mask ? &zero : &b->nodata, row, count);
    if (tile->checked)
        seen->hash = hash_row(seen->hash, row, count * tz_dtype_size(b->row.dtype));
    const size_t misfit = tz_store_misfit(&b->row, row, count);
    if (misfit < count && seen->misfit == TZ_NO_VALUE)
        seen->misfit = y * count + misfit;
}

static void expect_tile(const extract_case *c, uint64_t index)
{
    const tz_extract_batch *b = &c->batch;
    const tz_extract_tile *tile = &c->tiles[index];
    const size_t pixel = tz_dtype_size(b->row.dtype) * b->row.samples;
    const size_t row_bytes = tz_row_bytes(&b->row);
    const uint32_t height = b->crop_height ? tile->height : b->height;
    const size_t room = b->row.width * pixel + TZ_ROW_SLACK;
    uint8_t *row = calloc(room, 1), *stored = calloc(room, 1), *scratch = calloc(room, 1);
    tz_stats tallies[MOST_BANDS] = {{0}};
    tz_extract_result seen = {.misfit = TZ_NO_VALUE, .empty = b->wants_empty};
    for (uint32_t y = 0; y < height; y++) {
        if (y < tile->height) {
            gather(c, tile, y, row);
            treat(c, tile, y, row, &seen);
            tally(c, tile, y, row, tallies);
            for (size_t i = tile->width * pixel; i < b->row.width * pixel; i++)
                row[i] = row[i - pixel];
            tz_store_row(&b->row, row, stored, scratch);
        }
        memcpy(c->expected + tile->to + y * row_bytes, stored, row_bytes);
    }
    memcpy(c->expected + b->results + index * sizeof seen, &seen, sizeof seen);
    if (b->wants_stats)
        memcpy(c->expected + b->stats + index * b->row.samples * sizeof tallies[0], tallies,
               b->row.samples * sizeof tallies[0]);
    free(row);
    free(stored);
    free(scratch);
}

/* ---- what the device makes of it ---- */

static void run(extract_case *c)
{
    tz_error err;
    tz_extract_batch *b = &c->batch;
    uint8_t *rows = malloc(c->rows_size);
    assert_int_equal(tz_device_memory_alloc(&b->rows, test_device, c->rows_size, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&b->slab, test_device, c->slab_size, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, b->rows, 0, c->rows, c->rows_size, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, b->slab, 0, c->slab, c->slab_size, &err), TZ_OK);
    if (b->mask)
        assert_int_equal(tz_device_upload(0, b->mask, 0, c->mask, c->mask_size, &err), TZ_OK);
    assert_true(tz_device_extracts(test_device, b));
    assert_int_equal(tz_extract_launch(b, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, c->slab, b->slab, 0, c->slab_size, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, rows, b->rows, 0, c->rows_size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    assert_memory_equal(rows, c->rows, c->rows_size);
    tz_device_memory_free(b->rows);
    tz_device_memory_free(b->slab);
    free(rows);
}

/* Zeros compare equal, whichever was met first; sums of infinities are NaN. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void compare_tallies(const extract_case *c)
{
    const tz_extract_batch *b = &c->batch;
    for (uint64_t i = 0; i < b->count * b->row.samples; i++) {
        tz_stats found, expected;
        memcpy(&found, c->slab + b->stats + i * sizeof found, sizeof found);
        memcpy(&expected, c->expected + b->stats + i * sizeof expected, sizeof expected);
        assert_int_equal(found.valid, expected.valid);
        assert_true(is_same(found.minimum, expected.minimum));
        assert_true(is_same(found.maximum, expected.maximum));
        assert_true(is_same(found.pivot, expected.pivot));
        assert_true(is_same(found.sum, expected.sum));
        assert_true(is_same(found.squares, expected.squares));
    }
    memcpy(c->slab + b->stats, c->expected + b->stats,
           b->count * b->row.samples * sizeof(tz_stats));
}

static void print_case(const extract_case *c)
{
    const tz_row_format *row = &c->batch.row;
    print_message("%s of %u bits, %u samples of %u, predictor %u, swap %d, %ux%u in %ux%u\n",
                  tz_dtype_name(row->dtype), row->bits, row->samples, c->bands, row->predictor,
                  row->swap, c->width, c->height, row->width, c->batch.height);
}

void extract_case_compare(extract_case *c)
{
    tz_error err;
    make_memory(c);
    if (c->batch.wants_stats && extract_below(2))
        assert_int_equal(tz_device_memory_alloc(&c->batch.mask, test_device, c->mask_size, &err),
                         TZ_OK);
    for (uint64_t i = 0; i < c->batch.count; i++)
        expect_tile(c, i);
    run(c);
    if (c->batch.wants_stats)
        compare_tallies(c);
    /* scratch is anything */
    memcpy(c->slab + c->batch.scratch, c->expected + c->batch.scratch,
           tz_extract_scratch_bytes(&c->batch));
    if (memcmp(c->slab, c->expected, c->slab_size) != 0)
        print_case(c);
    assert_memory_equal(c->slab, c->expected, c->slab_size);
    tz_device_memory_free(c->batch.mask);
    free_case(c);
}
