/* SPDX-License-Identifier: Apache-2.0
 * Reads of codestreams, with the fakes of nvJPEG2000 and nvJPEG at once, where every call fails in
 * turn: pixels into memory of the host are right whatever fails, and what became of the read is
 * reported; nothing is left behind, and the next read is as any other. */
#include <string.h>

#include "device/device.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/alloc_hook.h"
#include "support/device/codestream_case.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

static codestreams_fake_control *of_jpeg;

enum { IMAGES = 3 };
typedef struct batch {
    codestream_image images[IMAGES];
    codestream_image *list[IMAGES];
} batch;

/* JPEG 2000 without loss, and JPEG of one band and of three. */
static void make(batch *b)
{
    static const uint32_t bands[IMAGES] = {3, 1, 3};
    for (size_t i = 0; i < IMAGES; i++) {
        tz_write_options options =
            raster_small_tiles(i == 0 ? TZ_COMPRESSION_JPEG2000 : TZ_COMPRESSION_JPEG);
        b->images[i] = codestream_write(TZ_DTYPE_UINT8, bands[i], &options, (tz_window){0});
        b->list[i] = &b->images[i];
    }
}

static void drop(batch *b)
{
    for (size_t i = 0; i < IMAGES; i++)
        codestream_free(&b->images[i]);
}

static tz_result open_with(tz_device **out, const char *nvjpeg, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", "");
    library_set(&how, "cufile", "");
    library_set(&how, "nvjpeg2k", NVJPEG2K_FAKE);
    library_set(&how, "nvjpeg", nvjpeg);
    return tz_device_open(out, "cuda:0", &how, err);
}

static tz_read_options lossy_on(tz_device *device)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    how.allow_vendor_codecs = how.allow_inexact = true;
    return how;
}

/* The device is opened before anything fails. Of memory of the device, the caller's is. */
static tz_result read_once(batch *b, bool strict, uint64_t nth, plain_report *report, tz_error *err)
{
    tz_device *device = NULL;
    codestream_cuda->fail_nth = 0;
    assert_int_equal(open_with(&device, NVJPEG_FAKE, err), TZ_OK);
    tz_read_options how = lossy_on(device);
    how.strict_device = strict;
    codestream_cuda->calls = 0;
    codestream_cuda->fail_nth = nth;
    const tz_result result = codestream_try(b->list, IMAGES, &how, false, report, err);
    codestream_cuda->fail_nth = 0;
    for (size_t i = 0; result == TZ_OK && i < IMAGES; i++)
        codestream_check(&b->images[i]);
    codestream_close(device);
    return result;
}

static void nothing_is_left(void)
{
    assert_int_equal(codestream_cuda->live, 0);
    assert_int_equal(codestream_library->live, 0);
    assert_int_equal(of_jpeg->live, 0);
    assert_string_equal(codestream_library->misuse, "");
    assert_string_equal(of_jpeg->misuse, "");
}

static void both_libraries_decode(batch *b)
{
    plain_report report;
    tz_error err;
    cuda_fake_reset(codestream_cuda);
    assert_int_equal(read_once(b, true, 0, &report, &err), TZ_OK);
    assert_int_equal(report.device.tiles, report.tiles);
    assert_int_equal(report.device.library_calls, 2);
    assert_string_equal(report.device.library_reason, "");
}

/* Codes of CUDA, one of them sticky, and statuses of the libraries: no memory, and that the device
 * is at fault. */
static void each_call_fails_in_turn(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 700, 5, 6};
    batch b;
    uint64_t by_cpu = 0, in_part = 0, refused = 0;
    make(&b);
    both_libraries_decode(&b);
    const uint64_t made = codestream_cuda->calls;
    assert_true(made > 60);
    for (uint64_t n = 1; n <= made; n++) {
        for (unsigned strict = 0; strict < 2; strict++) {
            plain_report report;
            tz_error err = {.message = ""};
            cuda_fake_reset(codestream_cuda);
            codestream_cuda->fail_code = codes[n % 4];
            const tz_result result = read_once(&b, strict, n, &report, &err);
            nothing_is_left();
            if (result != TZ_OK && !strict)
                fail_msg("call %u, %d: %s", (unsigned)n, (int)codes[n % 4], err.message);
            assert_true(result == TZ_OK || err.message[0] != '\0');
            refused += result != TZ_OK;
            if (strict)
                continue;
            assert_true(report.device.id[0] != '\0' || report.device.reason[0] != '\0');
            assert_true(report.device.tiles == report.tiles || report.device.reason[0] != '\0' ||
                        report.device.library_reason[0] != '\0');
            by_cpu += report.device.id[0] == '\0';
            in_part += report.device.library_reason[0] != '\0';
        }
    }
    assert_true(by_cpu > 10 && in_part > 10 && refused > 20);
    both_libraries_decode(&b);
    drop(&b);
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    batch b;
    bool done = false;
    uint64_t refused = 0;
    tz_device *device = NULL;
    tz_error err;
    make(&b);
    assert_int_equal(open_with(&device, NVJPEG_FAKE, &err), TZ_OK);
    const tz_read_options how = lossy_on(device);
    for (uint64_t n = 1; !done; n++) {
        plain_report report;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = codestream_try(b.list, IMAGES, &how, false, &report, &err);
        done = alloc_hook_stats().failures == 0;
        alloc_hook_remove();
        assert_true(result == TZ_OK || result == TZ_ERR_NOMEM);
        refused += result == TZ_ERR_NOMEM;
    }
    assert_true(refused > 10);
    codestream_close(device);
    both_libraries_decode(&b);
    drop(&b);
}

/* A library that is not allowed to decode has no part in the plan. */
static void what_is_not_allowed_takes_nothing(void **state)
{
    (void)state;
    static const char *const libraries[] = {"", NVJPEG_FAKE};
    uint64_t memory[2];
    batch b;
    make(&b);
    for (size_t i = 0; i < 2; i++) {
        tz_device *device = NULL;
        plain_report report;
        tz_error err;
        assert_int_equal(open_with(&device, libraries[i], &err), TZ_OK);
        tz_read_options how = lossy_on(device);
        how.allow_vendor_codecs = how.allow_inexact = false;
        assert_int_equal(codestream_try(b.list, IMAGES, &how, false, &report, &err), TZ_OK);
        assert_int_equal(report.device.library_calls, 1); /* of JPEG 2000 */
        assert_non_null(strstr(report.device.library_reason, i ? "allow_inexact" : "nvJPEG: "));
        memory[i] = report.device.memory;
        codestream_close(device);
    }
    assert_int_equal(memory[1], memory[0]);
    drop(&b);
}

int main(void)
{
    codestream_load();
    of_jpeg = codestreams_fake_load(NVJPEG_FAKE);
    const struct CMUnitTest tests[] = {
        CODESTREAM_TEST(each_call_fails_in_turn),
        CODESTREAM_TEST(each_allocation_fails_in_turn),
        CODESTREAM_TEST(what_is_not_allowed_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
