/* SPDX-License-Identifier: Apache-2.0
 * Thousands of random reads, compared sample by sample with a plain reading of the rules: windows
 * inside and beyond the image, bands in any order and again, levels, strides of any sign, order and
 * padding, casts, nodata and masks, several items of several files at once. The reference knows
 * nothing of tiles: it asks a function what a pixel is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/plain_read.h"
#include "support/reference.h"
#include "support/tile_file.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % limit);
}

/* ---- images ---- */

typedef struct layout {
    tb_spec spec;
    unsigned format;
    tz_dtype dtype;
    const char *nodata;   /* NULL: none */
    uint16_t orientation; /* 0: no tag */
    bool scaled;          /* bands have a scale and an offset */
} layout;

#define SIZED .width = 53, .height = 41
/* clang-format off */
static const layout layouts[] = {
    {{SIZED, .tile_width = 16, .tile_height = 32, .bits = 8, .samples = 3}, TB_CLASSIC, TZ_DTYPE_UINT8, NULL, 0, false},
    {{SIZED, .rows_per_strip = 7, .bits = 16, .sample_format = 2, .samples = 2, .planar = 2}, TB_BIG_ENDIAN, TZ_DTYPE_INT16, "-3", 1, true},
    {{SIZED, .tile_width = 32, .tile_height = 16, .bits = 16, .compression = 32773, .samples = 4}, TB_BIGTIFF, TZ_DTYPE_UINT16, "5", 2, false},
    {{SIZED, .tile_width = 16, .tile_height = 16, .bits = 32, .sample_format = 3, .compression = 32773, .planar = 2, .samples = 3}, TB_BIG_ENDIAN | TB_BIGTIFF, TZ_DTYPE_FLOAT32, "nan", 3, true},
    {{SIZED, .rows_per_strip = 41, .bits = 64, .sample_format = 3}, TB_CLASSIC, TZ_DTYPE_FLOAT64, "2.5", 4, false},
    {{SIZED, .tile_width = 64, .tile_height = 64, .bits = 64, .sample_format = 2, .compression = 32773}, TB_BIG_ENDIAN, TZ_DTYPE_INT64, "-9223372036854775808", 5, true},
    {{SIZED, .rows_per_strip = 1, .bits = 32, .samples = 5}, TB_BIGTIFF, TZ_DTYPE_UINT32, "0", 6, false},
    {{SIZED, .rows_per_strip = 9, .bits = 8, .sample_format = 2, .compression = 32773, .samples = 3}, TB_CLASSIC, TZ_DTYPE_INT8, NULL, 7, true},
    {{SIZED, .tile_width = 16, .tile_height = 16, .bits = 64, .samples = 2, .planar = 2}, TB_CLASSIC, TZ_DTYPE_UINT64, "18446744073709551615", 8, false},
};
/* clang-format on */
enum { LAYOUTS = sizeof layouts / sizeof layouts[0], LEVELS = 2 };

/* The bits of a sample: small values, values of all sizes, and the ends of the range. */
static uint64_t sample_bits(const layout *l, uint32_t level, uint32_t band, uint32_t row,
                            uint32_t column)
{
    uint64_t hash = (((uint64_t)level * 7 + band) * 1009 + row) * 1013 + column + 1;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xBF58476D1CE4E5B9);
    hash ^= hash >> 32;
    const unsigned kind = (unsigned)(hash % 8);
    const unsigned bits = l->spec.bits;
    const int64_t small = (int64_t)(hash >> 8 & 15) - 8;
    if (ref_is_float(l->dtype)) {
        double value = kind < 2   ? (double)small / 2
                       : kind < 6 ? ldexp((double)(int64_t)hash, (int)(hash & 63) - 75)
                                  : (double)(int32_t)(hash >> 16);
        if (kind == 7)
            value = hash & 1 ? (double)NAN : hash & 2 ? HUGE_VAL : -HUGE_VAL;
        uint64_t out = 0;
        const float narrow = (float)value;
        if (bits == 32)
            memcpy(&out, &narrow, sizeof narrow);
        else
            memcpy(&out, &value, sizeof value);
        return out;
    }
    const uint64_t ends[] = {0, UINT64_MAX, UINT64_C(1) << (bits - 1),
                             (UINT64_C(1) << (bits - 1)) - 1};
    const uint64_t value = kind < 3   ? (uint64_t)small
                           : kind < 7 ? hash >> (hash & 31)
                                      : ends[hash >> 40 & 3];
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* ---- writing them ---- */

static void put_sample(uint8_t *p, uint64_t bits, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++)
        p[big_endian ? size - 1 - i : i] = (uint8_t)(bits >> 8 * i);
}

static void put_tile(tb *b, int ifd, uint64_t tile, uint8_t *data, size_t size)
{
    const uint64_t at = b->size;
    if (b->ifds[ifd].spec.compression == 32773) {
        uint8_t *packed = malloc(size + size / 64 + 2);
        size_t used = 0;
        for (size_t i = 0; i < size;) {
            const size_t count = size - i < 128 ? size - i : 128;
            packed[used++] = (uint8_t)(count - 1);
            memcpy(packed + used, data + i, count);
            used += count;
            i += count;
        }
        tb_patch_bytes(b, at, packed, used);
        tb_patch_tile(b, ifd, tile, at, used);
        free(packed);
    } else {
        tb_patch_bytes(b, at, data, size);
        tb_patch_tile(b, ifd, tile, at, size);
    }
}

static void write_tile(tb *b, const layout *l, int ifd, uint64_t tile)
{
    const tb_spec *s = &b->ifds[ifd].spec;
    const uint32_t tile_width = s->tile_width ? s->tile_width : s->width;
    const uint32_t tile_height = s->tile_width ? s->tile_height : s->rows_per_strip;
    const uint32_t across = (s->width + tile_width - 1) / tile_width;
    const uint32_t down = (s->height + tile_height - 1) / tile_height;
    const uint32_t inside = s->planar == 2 ? 1 : s->samples;
    const uint32_t plane = (uint32_t)(tile / across / down);
    const uint32_t x0 = (uint32_t)(tile % across) * tile_width;
    const uint32_t y0 = (uint32_t)(tile / across % down) * tile_height;
    const uint32_t rows =
        !s->tile_width && s->height - y0 < tile_height ? s->height - y0 : tile_height;
    const size_t bytes = s->bits / 8u;
    uint8_t *data = malloc((size_t)tile_width * rows * inside * bytes);
    uint8_t *p = data;
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t i = 0; i < tile_width * inside; i++, p += bytes) {
            const uint32_t band = s->planar == 2 ? plane : i % inside;
            put_sample(p, sample_bits(l, (uint32_t)ifd, band, y0 + y, x0 + i / inside), bytes,
                       b->big_endian);
        }
    }
    put_tile(b, ifd, tile, data, (size_t)(p - data));
    free(data);
}

/* Scale (band + 1) / 8 and offset band - 1.25. */
static void set_scales(tb *b, int ifd, unsigned bands)
{
    char text[2048] = "<GDALMetadata>";
    for (unsigned i = 0; i < bands; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "<Item name=\"SCALE\" sample=\"%u\" role=\"scale\">%.3f</Item>"
                 "<Item name=\"OFFSET\" sample=\"%u\" role=\"offset\">%.2f</Item>",
                 i, (i + 1) / 8.0, i, i - 1.25);
    }
    strcat(text, "</GDALMetadata>");
    tb_set_text(b, ifd, TZ_TAG_GDAL_METADATA, text);
}

static tb *write_image(const layout *l)
{
    tb *b = tb_new(l->format);
    tb_spec spec = l->spec;
    spec.samples = spec.samples ? spec.samples : 1;
    spec.planar = spec.planar ? spec.planar : 1;
    spec.size_type = TZ_TYPE_LONG;
    for (int level = 0; level < LEVELS; level++) {
        const int ifd = tb_image(b, &spec);
        b->ifds[ifd].spec = spec;
        if (l->nodata)
            tb_set_text(b, ifd, TZ_TAG_GDAL_NODATA, l->nodata);
        if (l->scaled)
            set_scales(b, ifd, spec.samples);
        if (l->orientation)
            TB_SHORTS(b, ifd, TZ_TAG_ORIENTATION, l->orientation);
        spec.width = (spec.width + 1) / 2;
        spec.height = (spec.height + 1) / 2;
        spec.rows_per_strip = spec.rows_per_strip > spec.height ? spec.height : spec.rows_per_strip;
        spec.subfile = 1;
    }
    tb_finish(b);
    for (int ifd = 0; ifd < LEVELS; ifd++) {
        for (uint64_t tile = 0; tile < b->ifds[ifd].tile_count; tile++)
            write_tile(b, l, ifd, tile);
    }
    return b;
}

/* ---- the reference ---- */

static long double value_of(const layout *l, uint64_t bits)
{
    if (l->dtype == TZ_DTYPE_FLOAT32) {
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (l->dtype == TZ_DTYPE_FLOAT64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (!ref_is_signed(l->dtype))
        return bits;
    const unsigned shift = 64u - l->spec.bits;
    return (int64_t)(bits << shift) >> shift;
}

static bool is_nodata(const layout *l, uint64_t bits)
{
    if (!l->nodata)
        return false;
    const long double value = value_of(l, bits);
    if (strcmp(l->nodata, "nan") == 0)
        return isnan(value);
    return value == strtold(l->nodata, NULL);
}

/* ---- buffers ---- */

/* Memory of a buffer with strides of any order, padding and sign; what is not a sample of it must
 * stay as it was. */
typedef struct room {
    uint8_t *memory;
    uint8_t *touched; /* 1 for every byte that belongs to a sample */
    size_t size;
} room;

enum { POISON = 0xC7 };

static room make_room(tz_buffer *buffer)
{
    const uint32_t counts[] = {buffer->bands, buffer->height, buffer->width};
    int64_t strides[3];
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint8_t *order = orders[below(6)];
    const bool packed = below(4) == 0; /* strides left out */
    size_t extent = tz_dtype_size(buffer->dtype);
    for (int i = 2; i >= 0; i--) { /* the innermost first */
        const unsigned axis = packed ? (unsigned)i : order[i];
        const size_t padding = packed ? 0 : below(3) == 0 ? below(9) : 0;
        strides[axis] = (int64_t)(extent + padding);
        extent = (extent + padding) * counts[axis];
    }
    room r = {malloc(extent), calloc(1, extent), extent};
    assert_non_null(r.memory);
    assert_non_null(r.touched);
    memset(r.memory, POISON, extent);
    uint8_t *first = r.memory;
    for (int i = 0; i < 3 && !packed; i++) {
        if (below(3) == 0) {
            first += strides[i] * (counts[i] - 1);
            strides[i] = -strides[i];
        }
    }
    buffer->data = first;
    if (!packed) {
        buffer->band_stride = strides[0];
        buffer->row_stride = strides[1];
        buffer->column_stride = strides[2];
    }
    return r;
}

static const uint8_t *sample_in(const tz_buffer *b, room *r, uint32_t band, uint32_t row,
                                uint32_t column)
{
    const int64_t size = (int64_t)tz_dtype_size(b->dtype);
    const bool packed = !b->band_stride && !b->row_stride && !b->column_stride;
    const int64_t at =
        packed ? (((int64_t)band * b->height + row) * b->width + column) * size
               : (int64_t)band * b->band_stride + row * b->row_stride + column * b->column_stride;
    const uint8_t *p = (const uint8_t *)b->data + at;
    memset(r->touched + (p - r->memory), 1, (size_t)size);
    return p;
}

static void check_rest(room *r)
{
    for (size_t i = 0; i < r->size; i++)
        assert_true(r->touched[i] || r->memory[i] == POISON);
    free(r->memory);
    free(r->touched);
}

/* ---- one random item ---- */

typedef struct request {
    const layout *l;
    unsigned turn;          /* orientation that counts */
    uint32_t width, height; /* of the level, upright */
    plain_item item;
    uint32_t bands[6];
    room pixels, mask;
} request;

static const tz_dtype targets[] = {TZ_DTYPE_UINT8,   TZ_DTYPE_INT8,    TZ_DTYPE_UINT16,
                                   TZ_DTYPE_INT16,   TZ_DTYPE_UINT32,  TZ_DTYPE_INT32,
                                   TZ_DTYPE_UINT64,  TZ_DTYPE_INT64,   TZ_DTYPE_FLOAT16,
                                   TZ_DTYPE_FLOAT32, TZ_DTYPE_FLOAT64, TZ_DTYPE_COMPLEX_FLOAT32};

static int64_t random_start(uint32_t size, bool boundless)
{
    return boundless ? (int64_t)below(2 * size) - size / 2 : below(size);
}

static void make_request(request *q, const layout *l, const tz_file *file,
                         const tz_read_options *how)
{
    const bool boundless = how->boundless;
    const tz_info *info = tz_file_get_info(file);
    *q = (request){.l = l, .item = {.file = file, .level = below(LEVELS)}};
    const tz_level *level = tz_file_get_level(file, q->item.level);
    q->turn = how->oriented && l->orientation ? l->orientation : 1;
    q->width = q->turn > 4 ? level->height : level->width;
    q->height = q->turn > 4 ? level->width : level->height;
    tz_window w = {.column = random_start(q->width, boundless),
                   .row = random_start(q->height, boundless)};
    w.width = 1 + below(boundless ? 60 : q->width - (uint32_t)w.column);
    w.height = 1 + below(boundless ? 50 : q->height - (uint32_t)w.row);
    if (below(8) == 0)
        w = (tz_window){0, 0, q->width, q->height};
    q->item.window = w;
    uint32_t count = info->bands;
    if (below(3) > 0) {
        count = 1 + below(6);
        for (uint32_t i = 0; i < count; i++)
            q->bands[i] = below(info->bands);
        q->item.bands = q->bands;
        q->item.band_count = count;
    }
    const tz_dtype dtype =
        below(2) ? info->dtype : targets[below(sizeof targets / sizeof targets[0])];
    q->item.into = (tz_buffer){.struct_size = sizeof(tz_buffer),
                               .dtype = dtype,
                               .bands = count,
                               .height = w.height,
                               .width = w.width};
    q->pixels = make_room(&q->item.into);
    if (below(2)) {
        q->item.mask = q->item.into;
        q->item.mask.dtype = TZ_DTYPE_UINT8;
        q->item.mask.band_stride = q->item.mask.row_stride = q->item.mask.column_stride = 0;
        q->mask = make_room(&q->item.mask);
    }
}

/* The stored pixel that an upright one is, by the words of TIFF 6.0: which sides of the image the
 * first row and the first column are. */
static uint64_t upright_bits(const request *q, uint32_t band, uint32_t x, uint32_t y)
{
    const bool first_row_is_last = q->turn == 3 || q->turn == 4 || q->turn == 6 || q->turn == 7;
    const bool first_column_is_last = q->turn == 2 || q->turn == 3 || q->turn == 7 || q->turn == 8;
    const uint32_t across = q->turn > 4 ? y : x, down = q->turn > 4 ? x : y;
    const uint32_t width = q->turn > 4 ? q->height : q->width;
    const uint32_t height = q->turn > 4 ? q->width : q->height;
    return sample_bits(q->l, q->item.level, band, first_row_is_last ? height - 1 - down : down,
                       first_column_is_last ? width - 1 - across : across);
}

/* Returns the value that the library delivers for a stored one. */
static long double delivered(const request *q, const tz_read_options *how, uint32_t band,
                             long double value, bool valid)
{
    const tz_dtype to = q->item.into.dtype;
    const volatile double product = (double)value * ((band + 1) / 8.0);
    if (!valid && how->nodata_to_nan && ref_is_float(to))
        return (long double)NAN;
    if (!valid && how->nodata_as.kind != TZ_NODATA_KIND_NONE)
        return ref_cast((long double)how->nodata_as.value.i, false, to);
    return how->scaled && q->l->scaled && tz_build_feature("expat")
               ? ref_cast(product + (band - 1.25), true, to)
               : ref_cast(value, ref_is_float(q->l->dtype), to);
}

/* Outside, pixels are what those inside become that are nodata. */
static long double outside(const request *q, const tz_read_options *how, uint32_t band)
{
    if (how->has_fill)
        return ref_cast((long double)how->fill, true, q->item.into.dtype);
    if (!q->l->nodata)
        return 0;
    const long double nodata =
        strcmp(q->l->nodata, "nan") == 0 ? (long double)NAN : strtold(q->l->nodata, NULL);
    return delivered(q, how, band, ref_cast(nodata, ref_is_float(q->l->dtype), q->l->dtype), false);
}

static void check_sample(request *q, const tz_read_options *how, uint32_t i, uint32_t row,
                         uint32_t column)
{
    const plain_item *item = &q->item;
    const int64_t x = item->window.column + column, y = item->window.row + row;
    const bool inside = x >= 0 && y >= 0 && x < q->width && y < q->height;
    const uint32_t band = item->bands ? item->bands[i] : i;
    const tz_dtype to = item->into.dtype;
    bool valid = false;
    long double wanted = outside(q, how, band);
    if (inside) {
        const uint64_t bits = upright_bits(q, band, (uint32_t)x, (uint32_t)y);
        valid = !is_nodata(q->l, bits);
        wanted = delivered(q, how, band, value_of(q->l, bits), valid);
    }
    const uint8_t *p = sample_in(&item->into, &q->pixels, i, row, column);
    const long double found = ref_load(p, to);
    if (!ref_same(found, wanted))
        fail_msg("%s to %s, level %u, band %u, row %lld, column %lld: %.20Lg, not %.20Lg",
                 tz_dtype_name(q->l->dtype), tz_dtype_name(to), item->level, band, (long long)y,
                 (long long)x, found, wanted);
    if (to == TZ_DTYPE_COMPLEX_FLOAT32)
        assert_true(ref_load(p + 4, TZ_DTYPE_FLOAT32) == 0);
    if (item->mask.data)
        assert_int_equal(*sample_in(&item->mask, &q->mask, i, row, column), valid ? 255 : 0);
}

static void check_request(request *q, const tz_read_options *how)
{
    const tz_buffer *into = &q->item.into;
    for (uint32_t band = 0; band < into->bands; band++) {
        for (uint32_t row = 0; row < into->height; row++) {
            for (uint32_t column = 0; column < into->width; column++)
                check_sample(q, how, band, row, column);
        }
    }
    check_rest(&q->pixels);
    if (q->item.mask.data)
        check_rest(&q->mask);
}

/* ---- the tests ---- */

static struct {
    tb *b;
    tz_file *file;
} opened[LAYOUTS];

static int open_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        opened[i].b = write_image(&layouts[i]);
        opened[i].file = tf_open(opened[i].b);
        const tz_info *info = tz_file_get_info(opened[i].file);
        assert_int_equal(info->dtype, layouts[i].dtype);
        assert_int_equal(info->level_count, LEVELS);
        assert_true(!layouts[i].nodata == (info->nodata.kind == TZ_NODATA_KIND_NONE));
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        tz_close(opened[i].file);
        tb_free(opened[i].b);
    }
    return 0;
}

static void run_rounds(unsigned rounds, unsigned most_items, bool boundless)
{
    for (unsigned round = 0; round < rounds; round++) {
        request requests[8];
        plain_item items[8];
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_error err;
        const size_t count = 1 + below(most_items);
        const size_t favourite = below(LAYOUTS); /* so that items share tiles */
        how.boundless = boundless;
        how.fill = (double)below(2000) / 4 - 100;
        how.has_fill = below(2);
        how.nodata_to_nan = below(2);
        if (!how.nodata_to_nan && below(2))
            how.nodata_as = (tz_nodata){TZ_NODATA_KIND_INT, {.i = (int64_t)below(70000) - 300}};
        how.oriented = below(3) == 0;
        how.scaled = below(2);
        how.threads = 1 + below(3);
        for (size_t i = 0; i < count; i++) {
            const size_t which = below(2) ? favourite : below(LAYOUTS);
            make_request(&requests[i], &layouts[which], opened[which].file, &how);
            items[i] = requests[i].item;
        }
        if (plain_read_batch(items, count, &how, NULL, &err) != TZ_OK)
            fail_msg("round %u: %s", round, err.message);
        for (size_t i = 0; i < count; i++)
            check_request(&requests[i], &how);
    }
}

static void random_items_one_by_one(void **state)
{
    (void)state;
    seed = 1;
    run_rounds(1500, 1, false);
}

static void random_items_beyond_the_image(void **state)
{
    (void)state;
    seed = 2;
    run_rounds(1000, 1, true);
}

static void random_batches(void **state)
{
    (void)state;
    seed = 3;
    run_rounds(300, 8, false);
    run_rounds(200, 8, true);
}

/* The same seed gives the same items: with any number of threads the pixels are the same too. */
static void a_batch_is_the_same_with_any_number_of_threads(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        uint8_t *first = NULL;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            request q;
            tz_read_options how = TZ_READ_OPTIONS_INIT;
            seed = 1000 + round;
            const size_t which = below(LAYOUTS);
            make_request(&q, &layouts[which], opened[which].file, &how);
            how.threads = threads;
            assert_int_equal(plain_read(&q.item, &how, NULL, NULL), TZ_OK);
            if (threads == 1) {
                first = malloc(q.pixels.size);
                memcpy(first, q.pixels.memory, q.pixels.size);
            }
            assert_memory_equal(first, q.pixels.memory, q.pixels.size);
            free(q.pixels.memory);
            free(q.pixels.touched);
            free(q.mask.memory);
            free(q.mask.touched);
        }
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(random_items_one_by_one),
        CASE(random_items_beyond_the_image),
        CASE(random_batches),
        CASE(a_batch_is_the_same_with_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
