/* SPDX-License-Identifier: Apache-2.0
 * LERC blobs made by liblerc, for the tests of the codec: whole, and opened up to be broken with
 * their checksums put right again. */
#ifndef TESTS_SUPPORT_CODEC_LERC_BLOBS_H
#define TESTS_SUPPORT_CODEC_LERC_BLOBS_H

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
#include "support/codec/codec_run.h"

/* ---------------------------------------------------------------------------------------------
 * Blobs
 * ------------------------------------------------------------------------------------------ */

typedef enum pattern {
    SMOOTH,
    NOISY,
    CONSTANT,
    FEW_VALUES,
    WIDE,
    PATTERNS,
    SKEWED,
    EACH_CONSTANT,
    OF_WIDTH
} pattern;

typedef struct recipe {
    uint32_t type;
    int version;
    int depth, bands;
    int width, height;
    double max_error;
    pattern pattern;
    int bits; /* of values, for OF_WIDTH */
    int mask; /* 0: none, 1: one, 2: one for each band, 3: nothing is valid */
} recipe;

typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

static uint32_t seed = 1;

static inline uint32_t any_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static inline double value_of(const recipe *r, int x, int y, int k)
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
    case SKEWED: { /* each number half as often as the one before */
        uint32_t bits = any_number() | 1u << 20;
        int value = 0;
        while (!(bits >> value & 1))
            value++;
        return value * 9 % 101;
    }
    case EACH_CONSTANT:
        return 7 * k;
    case OF_WIDTH: {
        uint32_t low = any_number();
        return (low ^ any_number() << 14) & ((UINT32_C(1) << r->bits) - 1);
    }
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

static inline uint8_t *make_values(const recipe *r)
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

static inline uint8_t *make_mask(const recipe *r)
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

static inline int mask_count(const recipe *r)
{
    return r->mask == 0 ? 0 : r->mask == 2 ? r->bands : 1;
}

static inline blob encode(const recipe *r)
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

static inline tz_tile_format format_of(const recipe *r)
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

/* Decodes by liblerc alone, pixel by pixel, with masked values as TIFF readers set them. */
static inline uint8_t *reference(const recipe *r, const blob *b)
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

static inline void check_against_liblerc(const recipe *r)
{
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
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

static inline uint32_t get(const blob *b, size_t at)
{
    return (uint32_t)b->data[at] | (uint32_t)b->data[at + 1] << 8 |
           (uint32_t)b->data[at + 2] << 16 | (uint32_t)b->data[at + 3] << 24;
}

static inline void put(blob *b, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        b->data[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* Make the checksum that of the bytes, so that only what they say can be found wrong. */
static inline void fix_checksum(blob *b)
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

static inline blob deflated(const blob *b)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    size_t capacity = libdeflate_zlib_compress_bound(compressor, b->size);
    blob packed = {run_alloc(capacity), 0};
    packed.size = libdeflate_zlib_compress(compressor, b->data, b->size, packed.data, capacity);
    libdeflate_free_compressor(compressor);
    return packed;
}

static inline blob zstd_packed(const blob *b)
{
    size_t capacity = ZSTD_compressBound(b->size);
    blob packed = {run_alloc(capacity), 0};
    packed.size = ZSTD_compress(packed.data, capacity, b->data, b->size, 3);
    return packed;
}

typedef struct fixture {
    codec_run run;
    blob b;
    tz_tile_format format;
} fixture;

static inline void begin(fixture *f, const recipe *r)
{
    f->b = encode(r);
    f->format = format_of(r);
    run_open(&f->run, &tz_decoder_lerc);
}

static inline void end(fixture *f)
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

#endif
