/* SPDX-License-Identifier: Apache-2.0
 * LERC: blobs made by liblerc, compared with what liblerc makes of them, then broken with their
 * checksums put right again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <Lerc_c_api.h>
#include <cmocka.h>
#include <libdeflate.h>
#include <zstd.h>

#include "codec/lerc.h"
#include "support/codec_run.h"

/* ---------------------------------------------------------------------------------------------
 * Blobs
 * ------------------------------------------------------------------------------------------ */

typedef enum pattern { SMOOTH, NOISY, CONSTANT, FEW_VALUES, WIDE, PATTERNS } pattern;

typedef struct recipe {
    uint32_t type;
    int version;
    int depth, bands;
    int width, height;
    double max_error;
    pattern pattern;
    int mask; /* 0: none, 1: one, 2: one for each band, 3: nothing is valid */
} recipe;

typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

static uint32_t seed = 1;

static uint32_t any_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static double value_of(const recipe *r, int x, int y, int k)
{
    switch (r->pattern) {
    case SMOOTH:
        return x * 0.5 + y * 0.75 + k;
    case NOISY:
        return any_number() % 97 + (r->type >= TZ_LERC_FLOAT ? any_number() % 1000 / 1000.0 : 0);
    case CONSTANT:
        return 42;
    case FEW_VALUES:
        return (x / 5 + y / 3 + k) % 3 * 31;
    default: /* the whole range of the type */
        switch (r->type) {
        case TZ_LERC_INT8:
            return (int)(any_number() % 256) - 128;
        case TZ_LERC_UINT8:
            return any_number() % 256;
        case TZ_LERC_INT16:
            return (int)(any_number() % 65536) - 32768;
        case TZ_LERC_UINT16:
            return any_number() % 65536;
        case TZ_LERC_INT32:
            return (int32_t)(any_number() << 8);
        case TZ_LERC_UINT32:
            return any_number() << 8;
        default:
            return ldexp(any_number(), (int)(any_number() % 60) - 30) * (x & 1 ? -1 : 1);
        }
    }
}

static uint8_t *make_values(const recipe *r)
{
    size_t size = tz_lerc_type_size(r->type), at = 0;
    uint8_t *values = run_alloc((size_t)(r->width * r->height * r->depth * r->bands) * size);
    for (int b = 0; b < r->bands; b++)
        for (int y = 0; y < r->height; y++)
            for (int x = 0; x < r->width; x++)
                for (int d = 0; d < r->depth; d++, at += size)
                    tz_lerc_store(values + at, r->type, value_of(r, x, y, b + d));
    return values;
}

static uint8_t *make_mask(const recipe *r)
{
    int pixels = r->width * r->height;
    uint8_t *mask = run_alloc((size_t)(pixels * r->bands));
    for (int i = 0; i < pixels * r->bands; i++) {
        int x = i % pixels % r->width, y = i % pixels / r->width;
        int shift = r->mask == 2 ? i / pixels : 0;
        mask[i] = r->mask == 3 ? 0 : r->mask == 0 || ((x + shift) / 4 + y / 3) % 3 != 0;
    }
    return mask;
}

static int mask_count(const recipe *r)
{
    return r->mask == 0 ? 0 : r->mask == 2 ? r->bands : 1;
}

static blob encode(const recipe *r)
{
    uint8_t *values = make_values(r), *mask = make_mask(r);
    unsigned capacity = (unsigned)(r->width * r->height * r->depth * r->bands) * 16 + 4096,
             size = 0;
    blob b = {run_alloc(capacity), 0};
    lerc_status status = lerc_encodeForVersion(
        values, r->version, r->type, r->depth, r->width, r->height, r->bands, mask_count(r),
        r->mask ? mask : NULL, r->max_error, b.data, capacity, &size);
    if (status != 0)
        print_error("liblerc: type %u version %d depth %d: %u\n", r->type, r->version, r->depth,
                    status);
    assert_int_equal(status, 0);
    b.size = size;
    free(values);
    free(mask);
    return b;
}

static tz_tile_format format_of(const recipe *r)
{
    static const uint16_t formats[TZ_LERC_TYPES] = {2, 1, 2, 1, 2, 1, 3, 3};
    return (tz_tile_format){.width = (uint32_t)r->width,
                            .height = (uint32_t)r->height,
                            .samples = (uint16_t)(r->depth * r->bands),
                            .bits = (uint16_t)(tz_lerc_type_size(r->type) * 8),
                            .sample_format = formats[r->type],
                            .compression = 34887,
                            .photometric = 1};
}

/* What liblerc makes of it, pixel by pixel, with masked values as TIFF readers set them. */
static uint8_t *reference(const recipe *r, const blob *b)
{
    size_t size = tz_lerc_type_size(r->type), pixels = (size_t)(r->width * r->height);
    size_t samples = (size_t)(r->depth * r->bands);
    uint8_t *by_band = run_alloc(pixels * samples * size);
    uint8_t *mask = run_alloc(pixels * (size_t)r->bands);
    uint8_t *out = run_alloc(pixels * samples * size);
    memset(mask, 1, pixels * (size_t)r->bands);
    unsigned info[9];
    assert_int_equal(lerc_getBlobInfo(b->data, (unsigned)b->size, info, NULL, 9, 0), 0);
    int masks = (int)info[8];
    assert_int_equal(lerc_decode(b->data, (unsigned)b->size, masks, masks ? mask : NULL, r->depth,
                                 r->width, r->height, r->bands, r->type, by_band),
                     0);
    for (size_t i = 0; i < pixels * samples; i++) {
        size_t pixel = i / samples, s = i % samples, band = s / (size_t)r->depth;
        size_t from = (band * pixels + pixel) * (size_t)r->depth + s % (size_t)r->depth;
        memcpy(out + i * size, by_band + from * size, size);
        bool valid = masks == 0 || mask[masks > 1 ? band * pixels + pixel : pixel];
        if (!valid)
            tz_lerc_store(out + i * size, r->type, r->type >= TZ_LERC_FLOAT ? (double)NAN : 0);
    }
    free(by_band);
    free(mask);
    return out;
}

static void check_against_liblerc(const recipe *r)
{
    codec_run run;
    run_open(&run, &tz_codec_lerc);
    blob b = encode(r);
    tz_tile_format format = format_of(r);
    uint8_t *expected = reference(r, &b);
    uint8_t *out = run_decode(&run, &format, b.data, b.size);
    if (memcmp(out, expected, tz_tile_bytes(&format)) != 0)
        print_error("type %u version %d depth %d bands %d %d x %d error %g pattern %d mask %d\n",
                    r->type, r->version, r->depth, r->bands, r->width, r->height, r->max_error,
                    (int)r->pattern, r->mask);
    assert_memory_equal(out, expected, tz_tile_bytes(&format));
    bench_silent(&run.bench);
    free(out);
    free(expected);
    free(b.data);
    run_close(&run);
}

/* Header fields of a blob of version 4 or 5: where they are. */
enum {
    AT_VERSION = 6,
    AT_CHECKSUM = 10,
    AT_ROWS = 14,
    AT_COLUMNS = 18,
    AT_DEPTH = 22,
    AT_VALID = 26,
    AT_BLOCK = 30,
    AT_SIZE = 34,
    AT_TYPE = 38,
    AT_MASK = 66 /* bytes of the mask */
};

static uint32_t get(const blob *b, size_t at)
{
    return (uint32_t)b->data[at] | (uint32_t)b->data[at + 1] << 8 |
           (uint32_t)b->data[at + 2] << 16 | (uint32_t)b->data[at + 3] << 24;
}

static void put(blob *b, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        b->data[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* Make the checksum that of the bytes, so that only what they say can be found wrong. */
static void fix_checksum(blob *b)
{
    uint32_t sum1 = 0xffff, sum2 = 0xffff;
    uint32_t version = get(b, AT_VERSION);
    size_t end = get(b, version >= 4 ? AT_SIZE : AT_SIZE - 4);
    if (version < 3 || end > b->size || end < 14)
        return;
    size_t words = (end - 14) / 2;
    for (size_t i = 0; i < words; i++) {
        sum1 += (uint32_t)b->data[14 + 2 * i] << 8 | b->data[15 + 2 * i];
        sum2 += sum1;
        if (i % 359 == 358 || i + 1 == words) {
            sum1 = (sum1 & 0xffff) + (sum1 >> 16);
            sum2 = (sum2 & 0xffff) + (sum2 >> 16);
        }
    }
    if (end % 2) {
        sum1 += (uint32_t)b->data[end - 1] << 8;
        sum2 += sum1;
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    put(b, AT_CHECKSUM, sum2 << 16 | sum1);
}

/* ---------------------------------------------------------------------------------------------
 * Blobs that are in order
 * ------------------------------------------------------------------------------------------ */

/* Every type, version, pattern and kind of mask, lossless and not. */
static void the_pixels_are_liblercs(void **state)
{
    (void)state;
    unsigned count = 0;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 2; version <= 6; version++)
            for (int p = 0; p < PATTERNS; p++)
                for (int mask = 0; mask < 4; mask++)
                    for (int lossy = 0; lossy < 2; lossy++, count++) {
                        recipe r = {.type = type,
                                    .version = version,
                                    .depth = 1,
                                    .bands = 1,
                                    .width = 45,
                                    .height = 38,
                                    .pattern = (pattern)p,
                                    .mask = mask,
                                    .max_error = lossy                  ? 2
                                                 : type < TZ_LERC_FLOAT ? 0.5
                                                                        : 0};
                        check_against_liblerc(&r);
                    }
    assert_int_equal(count, 8 * 5 * PATTERNS * 4 * 2);
}

static void several_values_of_a_pixel_are_liblercs(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 4; version <= 6; version++)
            for (int p = 0; p < PATTERNS; p++)
                for (int mask = 0; mask < 2; mask++)
                    for (int depth = 2; depth <= 5; depth += 3) {
                        recipe r = {.type = type,
                                    .version = version,
                                    .depth = depth,
                                    .bands = 1,
                                    .width = 33,
                                    .height = 20,
                                    .pattern = (pattern)p,
                                    .mask = mask,
                                    .max_error = p == NOISY ? 0.01 : 0};
                        check_against_liblerc(&r);
                    }
}

static void one_blob_for_each_band_is_read(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 3; version <= 6; version++)
            for (int mask = 0; mask < 4; mask++) {
                recipe r = {.type = type,
                            .version = version,
                            .depth = 1,
                            .bands = 3,
                            .width = 30,
                            .height = 21,
                            .pattern = NOISY,
                            .mask = mask};
                check_against_liblerc(&r);
            }
}

static void every_size_is_liblercs(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 9}, {8, 8}, {15, 17}, {16, 16}, {129, 2}, {7, 200}};
    static const uint32_t types[] = {TZ_LERC_UINT8, TZ_LERC_INT16, TZ_LERC_FLOAT};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t t = 0; t < 3; t++)
            for (int version = 2; version <= 6; version += 2) {
                recipe r = {.type = types[t],
                            .version = version,
                            .depth = 1,
                            .bands = 1,
                            .width = sizes[i][0],
                            .height = sizes[i][1],
                            .pattern = NOISY};
                check_against_liblerc(&r);
            }
}

/* 8-bit alpha as the mask of a blob with one value less. */
static void a_mask_can_stand_for_alpha(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_UINT8,
                .version = 4,
                .depth = 3,
                .bands = 1,
                .width = 20,
                .height = 12,
                .pattern = NOISY,
                .mask = 1,
                .max_error = 0.5};
    codec_run run;
    run_open(&run, &tz_codec_lerc);
    blob b = encode(&r);
    uint8_t *expected = reference(&r, &b), *mask = make_mask(&r);
    tz_tile_format format = format_of(&r);
    format.samples = 4;
    run_refuses_saying(&run, &format, b.data, b.size, REFUSED_CODEC, "values of a pixel");
    format.alpha = true;
    uint8_t *out = run_decode(&run, &format, b.data, b.size);
    for (size_t i = 0; i < 20 * 12; i++) {
        assert_memory_equal(out + 4 * i, expected + 3 * i, 3);
        assert_int_equal(out[4 * i + 3], mask[i] ? 255 : 0);
    }
    free(out);
    free(b.data);
    r.mask = 0; /* all valid: all opaque */
    b = encode(&r);
    out = run_decode(&run, &format, b.data, b.size);
    for (size_t i = 0; i < 20 * 12; i++)
        assert_int_equal(out[4 * i + 3], 255);
    free(out);
    free(b.data);
    free(mask);
    free(expected);
    run_close(&run);
}

static blob deflated(const blob *b)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    size_t capacity = libdeflate_zlib_compress_bound(compressor, b->size);
    blob packed = {run_alloc(capacity), 0};
    packed.size = libdeflate_zlib_compress(compressor, b->data, b->size, packed.data, capacity);
    libdeflate_free_compressor(compressor);
    return packed;
}

static blob zstd_packed(const blob *b)
{
    size_t capacity = ZSTD_compressBound(b->size);
    blob packed = {run_alloc(capacity), 0};
    packed.size = ZSTD_compress(packed.data, capacity, b->data, b->size, 3);
    return packed;
}

static void deflate_and_zstd_around_it_are_undone(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 4,
                .depth = 1,
                .bands = 1,
                .width = 64,
                .height = 64,
                .pattern = NOISY,
                .mask = 1};
    codec_run run;
    run_open(&run, &tz_codec_lerc);
    blob b = encode(&r), packed[2] = {deflated(&b), zstd_packed(&b)};
    tz_tile_format format = format_of(&r);
    uint8_t *expected = reference(&r, &b);
    for (int i = 0; i < 2; i++) {
        format.lerc_compression = (uint16_t)(i + 1);
        uint8_t *out = run_decode(&run, &format, packed[i].data, packed[i].size);
        assert_memory_equal(out, expected, tz_tile_bytes(&format));
        free(out);
        run_refuses(&run, &format, b.data, b.size, REFUSED_CODEC);
        for (size_t size = 0; size < packed[i].size; size += 31)
            run_refuses(&run, &format, packed[i].data, size, REFUSED_CODEC);
        assert_int_equal(run_allocations(&run, &format, packed[i].data, packed[i].size), 0);
        free(packed[i].data);
    }
    bench_silent(&run.bench);
    free(expected);
    free(b.data);
    run_close(&run);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 6,
                .depth = 1,
                .bands = 1,
                .width = 64,
                .height = 64,
                .pattern = SMOOTH,
                .mask = 1};
    blob b = encode(&r), packed = zstd_packed(&b);
    tz_tile_format format = format_of(&r);
    format.lerc_compression = 2;
    run_without_memory(&tz_codec_lerc, &format, packed.data, packed.size);
    free(packed.data);
    free(b.data);
}

static void a_tile_like_the_last_needs_no_allocation(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        recipe r = {.type = type,
                    .version = 6,
                    .depth = 1,
                    .bands = 1,
                    .width = 64,
                    .height = 64,
                    .pattern = SMOOTH,
                    .mask = 1};
        codec_run run;
        run_open(&run, &tz_codec_lerc);
        blob b = encode(&r);
        tz_tile_format format = format_of(&r);
        assert_int_equal(run_allocations(&run, &format, b.data, b.size), 0);
        free(b.data);
        run_close(&run);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Case 55
 * ------------------------------------------------------------------------------------------ */

typedef struct fixture {
    codec_run run;
    blob b;
    tz_tile_format format;
} fixture;

static void begin(fixture *f, const recipe *r)
{
    f->b = encode(r);
    f->format = format_of(r);
    run_open(&f->run, &tz_codec_lerc);
}

static void end(fixture *f)
{
    free(f->b.data);
    run_close(&f->run);
}

static const recipe plain = {.type = TZ_LERC_FLOAT,
                             .version = 4,
                             .depth = 1,
                             .bands = 1,
                             .width = 40,
                             .height = 24,
                             .pattern = NOISY};

static void case_55_rows_columns_values_and_type(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } changes[] = {{AT_ROWS, 23},          {AT_ROWS, 25},          {AT_ROWS, 0},
                   {AT_ROWS, UINT32_MAX},  {AT_COLUMNS, 41},       {AT_COLUMNS, 0x80000000},
                   {AT_DEPTH, 2},          {AT_DEPTH, 0},          {AT_DEPTH, 0x80000000},
                   {AT_DEPTH, UINT32_MAX}, {AT_TYPE, 5},           {AT_TYPE, 7},
                   {AT_TYPE, 8},           {AT_TYPE, UINT32_MAX},  {AT_VALID, 961},
                   {AT_VALID, 959},        {AT_VALID, UINT32_MAX}, {AT_BLOCK, 0},
                   {AT_BLOCK, 33},         {AT_BLOCK, UINT32_MAX}, {AT_MASK, 1},
                   {AT_MASK, UINT32_MAX},  {AT_SIZE, 0},           {AT_SIZE, 13},
                   {AT_SIZE, 60},          {AT_SIZE, 100}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fixture f;
        recipe r = plain;
        r.max_error = 0.01; /* blocks, not raw */
        begin(&f, &r);
        put(&f.b, changes[i].at, changes[i].value);
        fix_checksum(&f.b);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
        assert_true(alloc_hook_stats().peak_bytes < 4096);
        alloc_hook_remove();
        end(&f);
    }
}

static void case_55_a_blob_larger_than_the_data(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    for (size_t size = 0; size < f.b.size; size++)
        run_refuses(&f.run, &f.format, f.b.data, size, REFUSED_CODEC);
    put(&f.b, AT_SIZE, (uint32_t)f.b.size + 1);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "cut off");
    put(&f.b, AT_SIZE, UINT32_MAX);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "cut off");
    end(&f);
}

static void case_55_wrong_checksums(void **state)
{
    (void)state;
    for (int version = 3; version <= 6; version++) {
        fixture f;
        recipe r = plain;
        r.version = version;
        begin(&f, &r);
        f.b.data[f.b.size - 1] ^= 1;
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "checksum");
        fix_checksum(&f.b);
        uint8_t *out = run_decode(&f.run, &f.format, f.b.data, f.b.size);
        free(out);
        end(&f);
    }
}

static void case_55_versions(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    put(&f.b, AT_VERSION, 7);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED, "2.7");
    put(&f.b, AT_VERSION, 0);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    put(&f.b, AT_VERSION, UINT32_MAX);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    memcpy(f.b.data, "CntZImage ", 10);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED, "version 1");
    memcpy(f.b.data, "garbage...", 10);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
}

/* 94 bytes that stand for 64 MiB: right for a tile of that size, and for no other. */
static void case_55_constant_bombs(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 4,
                .depth = 1,
                .bands = 1,
                .width = 4096,
                .height = 4096,
                .pattern = CONSTANT};
    fixture f;
    begin(&f, &r);
    assert_true(f.b.size < 100);
    f.format.width = f.format.height = 256;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "4096 x 4096");
    end(&f);
}

/* Deflate or zstd may not bring out more than such a tile can need. */
static void case_55_bombs_of_deflate_and_zstd(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    blob zeros = {calloc(1, 50u << 20), 50u << 20};
    assert_non_null(zeros.data);
    blob packed[2] = {deflated(&zeros), zstd_packed(&zeros)};
    for (int i = 0; i < 2; i++) {
        f.format.lerc_compression = (uint16_t)(i + 1);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, packed[i].data, packed[i].size, REFUSED_CODEC);
        assert_true(alloc_hook_stats().peak_bytes < 65536);
        alloc_hook_remove();
        free(packed[i].data);
    }
    free(zeros.data);
    end(&f);
}

static void case_55_bands(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.bands = 2;
    begin(&f, &r);
    f.format.samples = 1;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "more bands");
    f.format.samples = 3;
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
    r.bands = 1;
    r.depth = 2;
    begin(&f, &r);
    f.format.samples = 3;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "values of a pixel");
    f.format.samples = 1;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "values of a pixel");
    end(&f);
}

static void case_55_additional_compression_9(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    for (unsigned i = 3; i < 70000; i += 7333) {
        f.format.lerc_compression = (uint16_t)i;
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "additional");
    }
    end(&f);
}

static void case_55_masks(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.mask = 1;
    begin(&f, &r);
    uint32_t stored = get(&f.b, AT_MASK);
    assert_true(stored > 4);
    static const uint32_t sizes[] = {0, 1, 2, UINT32_MAX, 0x7fffffff};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put(&f.b, AT_MASK, sizes[i]);
        fix_checksum(&f.b);
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "mask");
    }
    put(&f.b, AT_MASK, stored);
    f.b.data[AT_MASK + 4] ^= 0x40; /* a run that is too long or too short */
    fix_checksum(&f.b);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
}

/* The first of several bands has no mask before it, even when an earlier tile had one. */
static void case_55_a_mask_that_was_never_there(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.mask = 1;
    begin(&f, &r);
    uint8_t *out = run_decode(&f.run, &f.format, f.b.data, f.b.size);
    free(out);
    uint32_t stored = get(&f.b, AT_MASK);
    memmove(f.b.data + AT_MASK + 4, f.b.data + AT_MASK + 4 + stored,
            f.b.size - AT_MASK - 4 - stored);
    f.b.size -= stored;
    put(&f.b, AT_MASK, 0);
    put(&f.b, AT_SIZE, (uint32_t)f.b.size);
    fix_checksum(&f.b);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "mask");
    end(&f);
}

static void values_that_mean_no_data_within_a_pixel_are_refused(void **state)
{
    (void)state;
    recipe r = plain;
    r.depth = 2;
    codec_run run;
    run_open(&run, &tz_codec_lerc);
    uint8_t *values = make_values(&r);
    unsigned char uses = 1;
    double nodata = -9999;
    tz_lerc_store(values, r.type, nodata);
    blob b = {run_alloc(1 << 20), 0};
    unsigned size = 0;
    assert_int_equal(lerc_encode_4D(values, r.type, 2, r.width, r.height, 1, 0, NULL, 0, b.data,
                                    1 << 20, &size, &uses, &nodata),
                     0);
    tz_tile_format format = format_of(&r);
    run_refuses_saying(&run, &format, b.data, size, REFUSED_UNSUPPORTED, "no data");
    free(values);
    free(b.data);
    run_close(&run);
}

static void tiles_that_lerc_cannot_hold(void **state)
{
    (void)state;
    static const uint16_t kinds[][2] = {{16, 3}, {64, 1}, {64, 2}, {12, 1}, {32, 5}, {64, 6}};
    fixture f;
    begin(&f, &plain);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        f.format.bits = kinds[i][0];
        f.format.sample_format = kinds[i][1];
        run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED);
    }
    end(&f);
}

static void bytes_behind_the_blob_are_a_warning(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    f.b.data[f.b.size] = 0;
    free(run_warns(&f.run, &f.format, f.b.data, f.b.size + 1, "after the end"));
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------------------------ */

/* Bytes behind the header changed, and the checksum with them. */
static unsigned decode_damaged(fixture *f, const blob *whole, unsigned rounds)
{
    unsigned decoded = 0;
    size_t row = tz_tile_row_bytes(&f->format);
    for (unsigned i = 0; i < rounds; i++) {
        uint8_t *outs[2];
        tz_result results[2];
        memcpy(f->b.data, whole->data, whole->size);
        for (unsigned k = 0; k <= i % 3; k++)
            f->b.data[42 + any_number() % (whole->size - 42)] ^= (uint8_t)(1 << any_number() % 8);
        fix_checksum(&f->b);
        for (int k = 0; k < 2; k++)
            results[k] = run_once(&f->run, &f->format, f->b.data, f->b.size, row,
                                  (uint8_t)(0x11 + k * 0xDD), &outs[k]);
        assert_int_equal(results[0], results[1]);
        if (results[0] == TZ_OK) {
            decoded++;
            assert_memory_equal(outs[0], outs[1], row * f->format.height);
        }
        free(outs[0]);
        free(outs[1]);
    }
    return decoded;
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.type = TZ_LERC_UINT8,
         .version = 4,
         .depth = 3,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5,
         .mask = 1},
        {.type = TZ_LERC_INT8,
         .version = 2,
         .depth = 1,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5},
        {.type = TZ_LERC_INT16,
         .version = 5,
         .depth = 2,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5},
        {.type = TZ_LERC_UINT16,
         .version = 3,
         .depth = 1,
         .bands = 1,
         .pattern = FEW_VALUES,
         .max_error = 0.5,
         .mask = 1},
        {.type = TZ_LERC_FLOAT,
         .version = 2,
         .depth = 1,
         .bands = 1,
         .pattern = NOISY,
         .max_error = 0.1,
         .mask = 1},
        {.type = TZ_LERC_FLOAT, .version = 6, .depth = 1, .bands = 1, .pattern = SMOOTH},
        {.type = TZ_LERC_DOUBLE, .version = 6, .depth = 2, .bands = 1, .pattern = SMOOTH},
        {.type = TZ_LERC_FLOAT, .version = 5, .depth = 1, .bands = 3, .pattern = NOISY, .mask = 2}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        recipe r = recipes[i];
        r.width = 40;
        r.height = 33;
        begin(&f, &r);
        blob whole = {run_alloc(f.b.size), f.b.size};
        memcpy(whole.data, f.b.data, f.b.size);
        uint8_t *expected = reference(&r, &whole);
        unsigned decoded = decode_damaged(&f, &whole, 3000);
        assert_true(decoded > 0);
        uint8_t *out = run_decode(&f.run, &f.format, whole.data, whole.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        free(out);
        free(expected);
        free(whole.data);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pixels_are_liblercs),
        cmocka_unit_test(several_values_of_a_pixel_are_liblercs),
        cmocka_unit_test(one_blob_for_each_band_is_read),
        cmocka_unit_test(every_size_is_liblercs),
        cmocka_unit_test(a_mask_can_stand_for_alpha),
        cmocka_unit_test(deflate_and_zstd_around_it_are_undone),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_tile_like_the_last_needs_no_allocation),
        cmocka_unit_test(case_55_rows_columns_values_and_type),
        cmocka_unit_test(case_55_a_blob_larger_than_the_data),
        cmocka_unit_test(case_55_wrong_checksums),
        cmocka_unit_test(case_55_versions),
        cmocka_unit_test(case_55_constant_bombs),
        cmocka_unit_test(case_55_bombs_of_deflate_and_zstd),
        cmocka_unit_test(case_55_bands),
        cmocka_unit_test(case_55_additional_compression_9),
        cmocka_unit_test(case_55_masks),
        cmocka_unit_test(case_55_a_mask_that_was_never_there),
        cmocka_unit_test(values_that_mean_no_data_within_a_pixel_are_refused),
        cmocka_unit_test(tiles_that_lerc_cannot_hold),
        cmocka_unit_test(bytes_behind_the_blob_are_a_warning),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
