/* SPDX-License-Identifier: Apache-2.0
 * Writes by nvCOMP where something is wrong: what it does not take or fails with is encoded by the
 * CPU, and reported; what it needs is within what the write may take of the device; and every call
 * may fail. */
#include <dlfcn.h>

#include "fakes/nvidia/nvcomp_fake.h"
#include "support/device/nvcomp_write.h"

static nvcomp_fake_control *control_of(const char *library)
{
    void *address = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), "nvcomp_fake");
    nvcomp_fake_function get = NULL;
    assert_non_null(address);
    memcpy(&get, &address, sizeof get);
    return get();
}

/* ---- what it fails with ---- */

static void fail_at(const char *function, uint64_t nth, int32_t code)
{
    control->fail_function = function;
    control->fail_nth = nth;
    control->fail_code = code;
}

/* The CPU encodes the tile; 4.x has no statuses, and says it by a size of 0. */
static void wrong_chunks(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 48, 16, false);
    for (size_t i = 0; i < RELEASES * CODECS; i++) {
        const char *library = libraries[i / CODECS];
        tz_device *device = open_device(library);
        const tz_write_options options = options_of(codecs[i % CODECS], device);
        *control_of(library) = (nvcomp_fake_control){.fail_chunk = 2, .fail_status = 19};
        SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
        assert_int_equal(control_of(library)->fail_chunk, 0);
        assert_int_equal(report->device->library_calls, 1);
        assert_int_equal(report->device->tiles_redone, 1);
        assert_int_equal(report->device->tiles, 2);
        close_it(device);
    }
    raster_free(&r);
}

/* Errors that the library does not notice are found by verifying. */
static void wrong_bytes(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 48, 16, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    for (size_t k = 0; k < CODECS; k++) {
        const tz_write_options options = options_of(codecs[k], device);
        tz_memory out = {0};
        tz_error err;
        *control_of(NVCOMP_FAKE_6) = (nvcomp_fake_control){.fail_chunk = 2};
        assert_int_not_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_OK);
        assert_null(out.data);
    }
    close_it(device);
    raster_free(&r);
}

/* All tiles come down as they are, and the CPU encodes them: unless that is an error. */
static void batches_that_it_does_not_take(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        uint64_t nth;
    } cases[] = {{"nvcompBatchedDeflateCompressAsync", 1},
                 {"nvcompBatchedDeflateCompressGetTempSize", 3}};
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 48, 16, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
    options.codec.effort = 6;
    for (size_t i = 0; i < 2; i++) {
        fail_at(cases[i].function, cases[i].nth, 11);
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory mine = raster_write(&r, &options, NULL, &report);
        assert_string_equal(report->device->library, "");
        assert_non_null(strstr(report->device->library_reason, "NotSupported (11)"));
        assert_int_equal(report->device->tiles_redone, 3);
        options.device = NULL;
        tz_memory cpu = raster_write(&r, &options, NULL, NULL);
        raster_check_same(&mine, &cpu, "by the CPU");
        tz_memory_free(&mine);
        options.device = device;
        options.strict_device = true;
        tz_error err;
        fail_at(cases[i].function, cases[i].nth, 11);
        assert_int_equal(raster_try(&r, &options, NULL, &mine, NULL, &err), TZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "NotSupported (11)"));
        options.strict_device = false;
        SCOPED_WRITE_REPORT next = write_right(&r, &options, NULL);
        check_use(next, names[2]);
    }
    close_it(device);
    raster_free(&r);
}

/* Without it, or without an answer of it: the own encoder, or the CPU. */
static void nothing_to_use(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 48, 16, false);
    tz_device *device = open_device("");
    tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
    SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
    assert_string_equal(report->device->id, "cuda:0");
    assert_non_null(strstr(report->device->library_reason, "there is no library"));
    options.codec.effort = 6;
    clear_write_report(&report);
    report = write_right(&r, &options, NULL);
    assert_string_equal(report->device->id, "");
    assert_non_null(strstr(report->device->reason, "deflate at level 6: there is no library"));
    options.strict_device = true;
    tz_memory out = {0};
    tz_error err;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_UNSUPPORTED);
    close_it(device);
    device = open_device(NVCOMP_FAKE_6);
    options = options_of(TZ_COMPRESSION_ZSTD, device);
    static const char *const questions[] = {"nvcompBatchedZstdCompressGetRequiredAlignments",
                                            "nvcompBatchedZstdCompressGetMaxOutputChunkSize",
                                            "nvcompBatchedZstdCompressGetTempSize"};
    for (size_t i = 0; i < 3; i++) {
        fail_at(questions[i], 1, 10);
        clear_write_report(&report);
        report = write_right(&r, &options, NULL);
        assert_string_equal(report->device->id, "");
        clear_write_report(&report);
        report = write_right(&r, &options, NULL);
        assert_string_equal(report->device->library, names[2]);
    }
    close_it(device);
    raster_free(&r);
}

/* A tile of LZ4 is one block, and that has 4 MiB at most. */
static void tiles_that_are_too_large(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 20, 20, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    tz_write_options options = options_of(TZ_COMPRESSION_LZ4, device);
    options.tile_width = options.tile_height = 2064;
    SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
    assert_string_equal(report->device->id, "");
    assert_non_null(strstr(report->device->reason, "a block of LZ4 at most 4194304"));
    close_it(device);
    raster_free(&r);
}

/* ---- memory ---- */

/* A write that may hold so much; false: that is too little, or the CPU does it. */
static bool write_within(const raster *r, tz_write_options options, uint64_t bytes,
                         tz_write_report **report)
{
    tz_device_counts wave;
    tz_error err;
    tz_memory out = {0};
    options.max_device_bytes = bytes;
    tz_device_begin_wave(options.device);
    const tz_result result = raster_try(r, &options, NULL, &out, report, &err);
    tz_device_get_counts(options.device, NULL, &wave);
    assert_true(wave.bytes_peak <= bytes);
    if (result != TZ_OK) {
        assert_int_equal(result, TZ_ERR_LIMIT);
        assert_string_equal(err.limit, "max_device_bytes");
        return false;
    }
    raster_check(r, &out, NAN);
    tz_memory_free(&out);
    return (*report)->device->id[0] != '\0';
}

/* Its scratch, many times the data, is part of the plan; a batch may be one tile. */
static void memory_is_within_bounds(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 96, 48, false);
    tz_device *device = open_device(NVCOMP_FAKE_5);
    for (size_t k = 0; k < CODECS; k++) {
        tz_write_options options = options_of(codecs[k], device);
        SCOPED_WRITE_REPORT report = NULL;
        options.codec.effort = k == 0 ? 6 : 0;
        assert_true(write_within(&r, options, 64 << 20, &report));
        const uint64_t step = report->device->memory / 7;
        uint64_t waves = 1, bytes = report->device->memory;
        assert_int_equal(report->device->waves, waves);
        for (; write_within(&r, options, bytes, &report); bytes -= step) {
            check_use(report, names[1]);
            assert_true(report->device->memory <= bytes && report->device->waves >= waves);
            waves = report->device->waves;
        }
        assert_true(waves > 1);
    }
    /* what it wants for whatever it does is not for the write */
    SCOPED_WRITE_REPORT report = NULL;
    assert_false(write_within(&r, options_of(TZ_COMPRESSION_ZSTD, device), 500000, &report));
    assert_non_null(strstr(report->device->reason, "with its scratch, and 500000 are allowed"));
    close_it(device);
    raster_free(&r);
}

/* One tile and its scratch memory exceed the budget: no batch is small enough, and the CPU writes
 * the file as without the library. */
static void a_tile_is_too_large(void **state)
{
    (void)state;
    enum { WIDTH = 96, HEIGHT = 480, TILE_BYTES = WIDTH * HEIGHT };
    raster r = raster_make(TZ_DTYPE_UINT8, 1, WIDTH, HEIGHT, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
    options.codec.effort = 12;
    options.strips = true;
    options.tile_width = 0;
    options.tile_height = HEIGHT;
    SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
    assert_int_equal(report->device->tiles, 1);
    options.max_device_bytes = report->device->memory - 2 * TILE_BYTES;
    clear_write_report(&report);
    report = write_right(&r, &options, NULL);
    assert_string_equal(report->device->id, "");
    assert_non_null(strstr(report->device->reason, "nvCOMP 6.0.0 needs"));
    close_it(device);
    raster_free(&r);
}

/* ---- every call ---- */

static tz_result whole_life(const raster *r, tz_compression compression, tz_write_report **report,
                            tz_error *err)
{
    tz_device *device = NULL;
    tz_memory out = {0};
    TZ_TRY(open_with(&device, NVCOMP_FAKE_6, err));
    tz_write_options options = options_of(compression, device);
    options.codec.effort = compression == TZ_COMPRESSION_DEFLATE ? 6 : 0;
    const tz_result result = raster_try(r, &options, NULL, &out, report, err);
    assert_int_equal(out.data != NULL, result == TZ_OK);
    if (result == TZ_OK)
        raster_check(r, &out, NAN);
    tz_memory_free(&out);
    close_it(device);
    return result;
}

/* Codecs are tested one after the other: their calls are nearly the same. */
static void each_call_fails_in_turn(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 48, 16, false);
    SCOPED_WRITE_REPORT report = NULL;
    tz_error err;
    uint64_t errors = 0, fallbacks = 0;
    assert_int_equal(whole_life(&r, TZ_COMPRESSION_DEFLATE, &report, &err), TZ_OK);
    const uint64_t made = control->calls;
    for (uint64_t n = 1; n <= made; n++) {
        cuda_fake_reset(control);
        fail_at(NULL, n, n % 2 ? 1 : 700);
        err.message[0] = '\0';
        const tz_result result = whole_life(&r, codecs[n % CODECS], &report, &err);
        const bool is_fallback = result == TZ_OK && report->device->id[0] == '\0';
        assert_int_equal(control->live, 0);
        errors += result != TZ_OK;
        fallbacks += is_fallback;
        assert_true(result == TZ_OK || err.message[0] != '\0');
        assert_true(!is_fallback || report->device->reason[0] != '\0');
    }
    cuda_fake_reset(control);
    assert_true(errors > 20 && fallbacks > 1);
    assert_int_equal(whole_life(&r, TZ_COMPRESSION_DEFLATE, &report, &err), TZ_OK);
    check_use(report, names[2]);
    raster_free(&r);
}

int main(void)
{
    control = cuda_fake_load();
    const struct CMUnitTest tests[] = {
        NVCOMP(wrong_chunks),
        NVCOMP(wrong_bytes),
        NVCOMP(batches_that_it_does_not_take),
        NVCOMP(nothing_to_use),
        NVCOMP(tiles_that_are_too_large),
        NVCOMP(memory_is_within_bounds),
        NVCOMP(a_tile_is_too_large),
        NVCOMP(each_call_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
