/* SPDX-License-Identifier: Apache-2.0
 * LERC tiles: what liblerc and our decoder make of them, NaN, errors within their bound, and what
 * the encoder does not take. The linker puts two functions in front of the libraries':
 * --wrap=libdeflate_alloc_compressor --wrap=ZSTD_createCCtx. */
#include <Lerc_c_api.h>
#include <libdeflate.h>
#include <zstd.h>

#include "codec/lerc.h"
#include "support/codec/encode_codestream.h"

typedef struct sample_type {
    uint16_t bits;
    uint16_t format;
} sample_type;

static const sample_type types[TZ_LERC_TYPES] = {{8, 2},  {8, 1},  {16, 2}, {16, 1},
                                                 {32, 2}, {32, 1}, {32, 3}, {64, 3}};

static tz_tile_format make_format(uint32_t type, uint32_t width, uint32_t height, uint16_t samples)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = samples,
                            .bits = types[type].bits,
                            .sample_format = types[type].format,
                            .compression = 34887,
                            .photometric = 1};
}

static double value_at(const uint8_t *pixels, uint32_t type, size_t index)
{
    return tz_lerc_load(pixels + index * tz_lerc_type_size(type), type);
}

/* Slopes with a little noise; floats are not whole numbers. */
static uint8_t *make_pixels(const tz_tile_format *format, uint32_t type)
{
    const size_t count = (size_t)format->width * format->height * format->samples;
    const size_t size = tz_lerc_type_size(type);
    uint8_t *pixels = run_alloc(count * size);
    uint8_t *noise = encode_noise(count);
    for (size_t i = 0; i < count; i++) {
        const double slope = (double)(i / format->samples % format->width) / 3 + noise[i] % 8;
        tz_lerc_store(pixels + i * size, type, size == 1 ? slope : slope * 100.37 - 300);
    }
    free(noise);
    return pixels;
}

/* ---------------------------------------------------------------------------------------------
 * liblerc
 * ------------------------------------------------------------------------------------------ */

/* The blobs within a tile, in a buffer that the caller frees. */
static encoded unwrapped(const encode_run *run, const encoded *tile)
{
    const size_t room = tz_tile_bytes(&run->format) * 2 + 65536;
    encoded blob = {run_alloc(room), 0};
    if (run->format.lerc_compression == TZ_LERC_WITH_DEFLATE) {
        struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
        assert_int_equal(libdeflate_zlib_decompress(inflater, tile->data, tile->size, blob.data,
                                                    room, &blob.size),
                         LIBDEFLATE_SUCCESS);
        libdeflate_free_decompressor(inflater);
    } else if (run->format.lerc_compression == TZ_LERC_WITH_ZSTD) {
        blob.size = ZSTD_decompress(blob.data, room, tile->data, tile->size);
        assert_false(ZSTD_isError(blob.size));
    } else {
        memcpy(blob.data, tile->data, tile->size);
        blob.size = tile->size;
    }
    return blob;
}

/* liblerc reads the same values from it, and leaves out what is NaN. */
static void check_against_liblerc(const encode_run *run, uint32_t rows, const encoded *tile,
                                  const uint8_t *pixels)
{
    const tz_tile_format *format = &run->format;
    const uint32_t type = tz_lerc_type_of(format->bits, format->sample_format);
    const size_t count = (size_t)format->width * rows, size = tz_lerc_type_size(type);
    encoded blob = unwrapped(run, tile);
    unsigned int info[11] = {0};
    assert_int_equal(lerc_getBlobInfo(blob.data, (unsigned int)blob.size, info, NULL, 11, 0), 0);
    assert_int_equal(info[0], 4); /* version */
    assert_int_equal(info[1], type);
    assert_int_equal(info[2] * info[5], format->samples);
    assert_int_equal(info[7], blob.size);
    const unsigned int depth = info[2], bands = info[5], masks = info[8];
    uint8_t *values = run_alloc(count * format->samples * size);
    uint8_t *valid = run_alloc(count * (masks + 1));
    assert_int_equal(lerc_decode(blob.data, (unsigned int)blob.size, (int)masks, valid, (int)depth,
                                 (int)format->width, (int)rows, (int)bands, type, values),
                     0);
    for (size_t i = 0; i < count * format->samples; i++) {
        const size_t pixel = i / format->samples, sample = i % format->samples;
        const size_t at = depth > 1 || bands == 1 ? i : sample * count + pixel;
        const size_t mask_at = masks > 1 ? sample * count + pixel : pixel;
        if (masks > 0 && !valid[mask_at])
            assert_true(isnan(value_at(pixels, type, i)));
        else
            assert_true(value_at(values, type, at) == value_at(pixels, type, i));
    }
    free(valid);
    free(values);
    free(blob.data);
}

/* All values come back within the error, NaN as NaN; the pixels that came back. */
static uint8_t *check_values(tz_tile_format format, tz_encode_options choice, uint32_t rows,
                             const uint8_t *pixels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_lerc, format, choice);
    encoded tile = encode_rows(&run, rows, pixels);
    uint8_t *back = encode_decoded(&run, rows, &tile);
    check_against_liblerc(&run, rows, &tile, back);
    const uint32_t type = tz_lerc_type_of(format.bits, format.sample_format);
    const bool lossy = tz_encoder_lerc.lossy(&format, &choice);
    for (size_t i = 0; i < (size_t)format.width * rows * format.samples; i++) {
        const double before = value_at(pixels, type, i), after = value_at(back, type, i);
        if (isnan(before))
            assert_true(isnan(after));
        else if (lossy)
            assert_true(fabs(before - after) <= choice.max_error * 1.0001);
        else
            assert_true(before == after);
    }
    free(tile.data);
    encode_close(&run);
    return back;
}

static void check_exact(tz_tile_format format, tz_encode_options choice, uint32_t rows,
                        const uint8_t *pixels)
{
    uint8_t *back = check_values(format, choice, rows, pixels);
    assert_memory_equal(back, pixels, tz_tile_row_bytes(&format) * rows);
    free(back);
}

/* ---------------------------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------------------------ */

static void every_type_and_size_comes_back(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 17}, {17, 1}, {1, 33}, {64, 64}, {100, 30}};
    static const uint16_t samples[] = {1, 2, 3, 4, 7};
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
                const tz_tile_format format =
                    make_format(type, sizes[i][0], sizes[i][1], samples[s]);
                uint8_t *pixels = make_pixels(&format, type);
                check_exact(format, (tz_encode_options){0}, format.height, pixels);
                check_exact(format, (tz_encode_options){.lossless = true},
                            format.height > 3 ? format.height - 3 : 1, pixels);
                free(pixels);
            }
        }
    }
}

static void errors_stay_within_their_bound(void **state)
{
    (void)state;
    static const double errors[] = {0.001, 0.4, 0.5, 0.999, 1, 2.5, 30};
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        const tz_tile_format format = make_format(type, 60, 40, 2);
        uint8_t *pixels = make_pixels(&format, type);
        for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
            const tz_encode_options choice = {.max_error = errors[i]};
            assert_true(tz_encoder_lerc.lossy(&format, &choice) ==
                        (errors[i] >= 1 || type >= TZ_LERC_FLOAT));
            free(check_values(format, choice, 40, pixels));
        }
        free(pixels);
    }
}

static void blobs_within_deflate_and_zstd_come_back(void **state)
{
    (void)state;
    static const int32_t levels[] = {0, 1, 9, 12, TZ_EFFORT_FAST};
    for (uint16_t wrapping = TZ_LERC_WITH_DEFLATE; wrapping <= TZ_LERC_WITH_ZSTD; wrapping++) {
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
            for (uint32_t type = TZ_LERC_UINT8; type < TZ_LERC_TYPES; type += 5) {
                tz_tile_format format = make_format(type, 64, 50, 3);
                format.lerc_compression = wrapping;
                uint8_t *pixels = make_pixels(&format, type);
                check_exact(format, (tz_encode_options){.level = levels[i]}, 50, pixels);
                check_exact(format, (tz_encode_options){.level = levels[i]}, 1, pixels);
                free(pixels);
            }
        }
    }
}

static void noise_stays_within_the_bound(void **state)
{
    (void)state;
    uint8_t *noise = encode_noise(64 * 64 * 3 * 8);
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        for (uint16_t wrapping = TZ_LERC_PLAIN; wrapping <= TZ_LERC_WITH_ZSTD; wrapping++) {
            for (uint32_t width = 1; width <= 64; width += 21) {
                tz_tile_format format = make_format(type, width, 64, 3);
                format.lerc_compression = wrapping;
                free(check_values(format, (tz_encode_options){0}, 64, noise));
                free(check_values(format, (tz_encode_options){0}, 1, noise));
            }
        }
    }
    free(noise);
}

/* ---------------------------------------------------------------------------------------------
 * NaN
 * ------------------------------------------------------------------------------------------ */

static void set_nan(uint8_t *pixels, uint32_t type, size_t index)
{
    tz_lerc_store(pixels + index * tz_lerc_type_size(type), type, NAN);
}

static void nan_comes_back(void **state)
{
    (void)state;
    for (uint32_t type = TZ_LERC_FLOAT; type < TZ_LERC_TYPES; type++) {
        for (uint16_t samples = 1; samples <= 3; samples++) {
            for (uint16_t pattern = 0; pattern < 4; pattern++) {
                tz_tile_format format = make_format(type, 33, 20, samples);
                format.lerc_compression = (uint16_t)(pattern % 3);
                uint8_t *pixels = make_pixels(&format, type);
                for (size_t i = 0; i < (size_t)33 * 20 * samples; i++)
                    if ((pattern == 0 && i / samples % 5 == 0) || /* whole pixels */
                        (pattern == 1 && i % 7 == 0) ||           /* samples of pixels */
                        (pattern == 2 && i == 17) ||              /* a single one */
                        pattern == 3)                             /* everything */
                        set_nan(pixels, type, i);
                check_exact(format, (tz_encode_options){0}, 20, pixels);
                check_exact(format, (tz_encode_options){0}, 7, pixels);
                free(check_values(format, (tz_encode_options){.max_error = 3}, 20, pixels));
                free(pixels);
            }
        }
    }
}

static tz_encode_options keeping(double max_error, double nodata)
{
    return (tz_encode_options){.max_error = max_error,
                               .nodata = {TZ_NODATA_KIND_FLOAT, {.f = nodata}}};
}

/* The least, the greatest and others between: what was nodata is, and nothing else. */
static void nodata_is_exact_within_any_error(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        for (unsigned pattern = 0; pattern < 12; pattern++) {
            static const double nodata[] = {0, 5, 11, 127};
            tz_tile_format format = make_format(type, 33, 20, (uint16_t)(1 + pattern % 3));
            const size_t count = (size_t)33 * 20 * format.samples;
            const size_t size = tz_lerc_type_size(type);
            format.lerc_compression = (uint16_t)(pattern % 3);
            uint8_t *pixels = make_pixels(&format, type);
            for (size_t i = 0; i < count; i += 5)
                tz_lerc_store(pixels + i * size, type, nodata[pattern % 4]);
            for (size_t i = 0; type >= TZ_LERC_FLOAT && pattern > 5 && i < count; i += 7)
                set_nan(pixels, type, i);
            uint8_t *back = check_values(format, keeping(3, nodata[pattern % 4]), 20, pixels);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(value_at(back, type, i) == nodata[pattern % 4],
                                 value_at(pixels, type, i) == nodata[pattern % 4]);
            free(back);
            free(pixels);
        }
    }
}

/* If nodata is the least value and stays exact, the tile is as small as without nodata. */
static void nodata_that_lasts_costs_nothing(void **state)
{
    (void)state;
    const tz_tile_format format = make_format(TZ_LERC_FLOAT, 64, 64, 1);
    uint8_t *pixels = make_pixels(&format, TZ_LERC_FLOAT);
    for (size_t i = 0; i < 64 * 20; i++)
        tz_lerc_store(pixels + i * 4, TZ_LERC_FLOAT, -9999);
    static const double errors[] = {30, 30, 0};
    size_t sizes[3];
    for (size_t i = 0; i < 3; i++) {
        encode_run run;
        encode_open(&run, &tz_encoder_lerc, format,
                    i == 0 ? (tz_encode_options){.max_error = 30} : keeping(errors[i], -9999));
        encoded tile = encode_rows(&run, 64, pixels);
        sizes[i] = tile.size;
        free(tile.data);
        encode_close(&run);
    }
    assert_int_equal(sizes[1], sizes[0]);
    assert_true(sizes[1] < sizes[2] / 2);
    free(pixels);
}

/* Values that are not numbers to count with, but no NaN either. */
static void infinities_and_extremes_come_back(void **state)
{
    (void)state;
    static const double extremes[] = {INFINITY, -INFINITY, 3e38, -3e38, 1e-40};
    for (uint32_t type = TZ_LERC_FLOAT; type < TZ_LERC_TYPES; type++) {
        const tz_tile_format format = make_format(type, 40, 40, 1);
        for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
            uint8_t *pixels = make_pixels(&format, type);
            tz_lerc_store(pixels + 100 * tz_lerc_type_size(type), type, extremes[i]);
            check_exact(format, (tz_encode_options){0}, 40, pixels);
            free(pixels);
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * Refusals
 * ------------------------------------------------------------------------------------------ */

static void what_lerc_does_not_take_is_named(void **state)
{
    (void)state;
    const tz_encode_options choice = {0};
    const tz_encoder *lerc = &tz_encoder_lerc;
    tz_tile_format format = make_format(TZ_LERC_UINT16, 64, 64, 1);
    format.bits = 64;
    encode_refuses(lerc, format, choice, TZ_ERR_UNSUPPORTED, "8, 16 and 32 bits");
    format = make_format(TZ_LERC_FLOAT, 64, 64, 1);
    format.bits = 16;
    encode_refuses(lerc, format, choice, TZ_ERR_UNSUPPORTED, "float32 and float64");
    format = make_format(TZ_LERC_UINT8, 64, 64, 3);
    format.photometric = 6;
    encode_refuses(lerc, format, choice, TZ_ERR_UNSUPPORTED, "not YCbCr");
    format = make_format(TZ_LERC_UINT16, 64, 64, 3);
    format.big_endian = true;
    encode_refuses(lerc, format, choice, TZ_ERR_UNSUPPORTED, "little-endian");
    format = make_format(TZ_LERC_UINT8, 64, 64, 3);
    format.lerc_compression = 3;
    encode_refuses(lerc, format, choice, TZ_ERR_UNSUPPORTED, "Deflate (1) or ZSTD (2)");
    encode_refuses(lerc, make_format(TZ_LERC_DOUBLE, 32768, 16384, 1), choice, TZ_ERR_UNSUPPORTED,
                   "2 GB");
}

static void choices_that_cannot_be_are_named(void **state)
{
    (void)state;
    const tz_encoder *lerc = &tz_encoder_lerc;
    tz_tile_format format = make_format(TZ_LERC_FLOAT, 64, 64, 1);
    static const double errors[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++)
        encode_refuses(lerc, format, (tz_encode_options){.max_error = errors[i]}, TZ_ERR_ARG,
                       "0 or more");
    encode_refuses(lerc, format, ((tz_encode_options){.max_error = 1, .lossless = true}),
                   TZ_ERR_ARG, "lossless only with");
    format.lerc_compression = TZ_LERC_WITH_DEFLATE;
    encode_refuses(lerc, format, (tz_encode_options){.level = 13}, TZ_ERR_ARG, "are 1 to 12");
    format.lerc_compression = TZ_LERC_WITH_ZSTD;
    encode_refuses(lerc, format, (tz_encode_options){.level = 23}, TZ_ERR_ARG, "are 1 to 22");
    encode_refuses(lerc, format, (tz_encode_options){.level = -2}, TZ_ERR_ARG, "are 1 to 22");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (uint16_t wrapping = TZ_LERC_PLAIN; wrapping <= TZ_LERC_WITH_ZSTD; wrapping++) {
        tz_tile_format format = make_format(TZ_LERC_FLOAT, 64, 64, 3);
        format.lerc_compression = wrapping;
        uint8_t *pixels = make_pixels(&format, TZ_LERC_FLOAT);
        set_nan(pixels, TZ_LERC_FLOAT, 1000);
        encode_without_memory(&tz_encoder_lerc, format, (tz_encode_options){0}, pixels);
        encode_without_memory(&tz_encoder_lerc, format, keeping(3, 7), pixels);
        free(pixels);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Contexts of libraries
 * ------------------------------------------------------------------------------------------ */

static bool no_memory;

/* Shared libraries that use libdeflate or libzstd themselves must find them too. */
#define SEEN_BY_ALL __attribute__((visibility("default")))

struct libdeflate_compressor *__real_libdeflate_alloc_compressor(int level);
SEEN_BY_ALL struct libdeflate_compressor *__wrap_libdeflate_alloc_compressor(int level);
ZSTD_CCtx *__real_ZSTD_createCCtx(void);
SEEN_BY_ALL ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);

struct libdeflate_compressor *__wrap_libdeflate_alloc_compressor(int level)
{
    return no_memory ? NULL : __real_libdeflate_alloc_compressor(level);
}

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
    return no_memory ? NULL : __real_ZSTD_createCCtx();
}

static void libraries_may_have_no_memory(void **state)
{
    (void)state;
    for (uint16_t wrapping = TZ_LERC_WITH_DEFLATE; wrapping <= TZ_LERC_WITH_ZSTD; wrapping++) {
        encode_run run = {.encoder = &tz_encoder_lerc,
                          .format = make_format(TZ_LERC_FLOAT, 64, 64, 1)};
        bench_init(&run.bench);
        run.format.lerc_compression = wrapping;
        assert_int_equal(tz_encoder_check(run.encoder, &run.format, &run.choice, &run.bench.ctx),
                         TZ_OK);
        no_memory = true;
        assert_int_equal(encode_start(&run), TZ_ERR_NOMEM);
        no_memory = false;
        assert_int_equal(run.bench.err.cause, TZ_CAUSE_NOMEM);
        encode_stop(&run);
        bench_deinit(&run.bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_size_comes_back),
        cmocka_unit_test(errors_stay_within_their_bound),
        cmocka_unit_test(blobs_within_deflate_and_zstd_come_back),
        cmocka_unit_test(noise_stays_within_the_bound),
        cmocka_unit_test(nan_comes_back),
        cmocka_unit_test(nodata_is_exact_within_any_error),
        cmocka_unit_test(nodata_that_lasts_costs_nothing),
        cmocka_unit_test(infinities_and_extremes_come_back),
        cmocka_unit_test(what_lerc_does_not_take_is_named),
        cmocka_unit_test(choices_that_cannot_be_are_named),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(libraries_may_have_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
