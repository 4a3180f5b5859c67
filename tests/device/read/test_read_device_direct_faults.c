/* SPDX-License-Identifier: Apache-2.0
 * Files that cuFile reads into memory of the device, where it does not: what did not come is read
 * through memory of the host, when no read is under way any more; what is not there, or would copy
 * through the host itself, is not used; and every call may fail. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/nvidia/cufile.h"
#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/device/direct_case.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

/* Six reads, in batches of four, or by threads. */
static direct_image make_apart(tz_compression compression)
{
    tz_write_options as = direct_tiles(compression);
    as.alignment = 16384;
    return direct_make("file", 3, 2, &as);
}

static void open_anew(bool batches)
{
    direct_control->no_batches = !batches;
    direct_control->most_batch = 4;
    direct_open(CUFILE_FAKE, "");
}

/* ---- what did not come ---- */

/* Whatever came of a file, and to whatever memory: the pixels are right, and all is counted. */
static void check_missing(const direct_image *image, bool to_device, uint64_t missing,
                          const char *reason)
{
    const uint64_t tile = 64 * 64;
    const plain_report report = direct_check(image, &(direct_read){.to_device = to_device});
    assert_string_equal(report.device.id, "cuda:0");
    assert_int_equal(report.device.direct_reads, image->tiles);
    assert_int_equal(report.device.bounced_bytes, missing * tile);
    assert_true(report.device.direct_bytes >= (image->tiles - missing) * tile);
    assert_int_equal(report.device.tiles_redone, 0);
    if (!strstr(report.device.direct_reason, reason))
        fail_msg("%s", report.device.direct_reason);
}

static void short_reads(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    for (unsigned i = 0; i < 4; i++) {
        open_anew(i / 2);
        direct_control->short_read = 2048;
        const plain_report report = direct_check(&image, &(direct_read){.to_device = i % 2});
        assert_true(report.device.bounced_bytes > 0);
        assert_string_equal(report.device.direct_reason,
                            "a file was not read to the end that was asked for");
        direct_control->short_read = 0;
        check_missing(&image, i % 2, 0, "");
    }
    direct_drop(&image);
}

static void entries_of_batches_that_fail(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    open_anew(true);
    for (uint64_t n = 1; n <= image.tiles; n++) {
        direct_control->fail_entry = n;
        check_missing(&image, n % 2, 1, "a read of a batch");
    }
    direct_control->fail_entry = 0;
    check_missing(&image, true, 0, "");
    direct_drop(&image);
}

/* A batch that is not made, or not submitted, is missing as a whole: of two, the first has four. */
static void batches_that_fail(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuFileBatchIOSetUp", "cuFileBatchIOSubmit"};
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    open_anew(true);
    for (unsigned i = 0; i < 8; i++) {
        direct_fail(functions[i % 2], i / 2 % 2 + 1, 5011);
        check_missing(&image, i / 4, i / 2 % 2 ? 2 : 4, functions[i % 2]);
    }
    check_missing(&image, true, 0, "");
    direct_drop(&image);
}

static void reads_of_threads_that_fail(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    open_anew(false);
    for (uint64_t n = 1; n <= image.tiles; n++) {
        direct_fail("cuFileRead", n, n % 2 ? 5 : 5011); /* EIO, or an error of its own */
        check_missing(&image, n % 2, 1, "cuFileRead");
    }
    check_missing(&image, false, 0, "");
    direct_drop(&image);
}

/* If nothing came, the next wave does not try. */
static void nothing_came(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    open_anew(false);
    direct_fail("cuFileRead", 1, 5);
    direct_cuda->fail_more = 1000;
    const plain_report report =
        direct_check(&image, &(direct_read){.device_bytes = 60000, .threads = 1});
    assert_true(report.device.waves > 1);
    assert_int_equal(report.device.direct_bytes, 0);
    assert_int_equal(report.device.bounced_bytes, image.tiles * 64 * 64);
    assert_true(report.device.direct_reads < image.tiles);
    direct_drop(&image);
}

/* The error is that of a read without a device. */
static void a_file_that_ends_too_soon(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        direct_image image = make_apart(TZ_COMPRESSION_NONE);
        uint8_t *pixels[2];
        tz_error errors[2];
        open_anew(i / 2);
        assert_int_equal(truncate(image.path, (off_t)(image.size - 8192)), 0);
        for (size_t k = 0; k < 2; k++) {
            const direct_read how = {.to_device = i % 2};
            assert_int_not_equal(
                direct_pixels(&image, &how, k ? direct_device : NULL, &pixels[k], NULL, &errors[k]),
                TZ_OK);
            free(pixels[k]);
        }
        assert_int_equal(errors[1].result, errors[0].result);
        assert_int_equal(errors[1].tile, errors[0].tile);
        assert_string_equal(errors[1].message, errors[0].message);
        direct_drop(&image);
    }
}

/* Nobody knows whether they are under way: the device counts as failed, and the batch stays. */
static void reads_that_nobody_knows_of(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    open_anew(true);
    direct_cuda->keep_steps = true;
    direct_fail("cuFileBatchIOGetStatus", 1, 5011);
    direct_cuda->fail_more = 1;
    const plain_report report = direct_check(&image, &(direct_read){0});
    assert_string_equal(report.device.id, "");
    assert_non_null(strstr(report.device.reason, "may still be under way"));
    assert_int_equal(direct_steps("cuFileBatchIOSubmit"), 2);
    assert_int_equal(direct_steps("cuFileBatchIOCancel"), 1);
    assert_int_equal(direct_steps("cuFileBatchIODestroy"), 1);
    assert_int_equal(direct_control->batches, 1);
    direct_close();
    assert_int_equal(direct_control->opens, 1);
    *direct_control = (cufile_fake_control){CUFILE_FAKE_DEFAULTS};
    direct_drop(&image);
}

/* ---- what is not used ---- */

static void check_unused(const direct_image *image, const char *reason)
{
    const plain_report report = direct_check(image, &(direct_read){.to_device = true});
    assert_string_equal(report.device.id, "cuda:0");
    assert_int_equal(report.device.direct_reads, 0);
    assert_int_equal(report.device.direct_bytes, 0);
    if (!strstr(report.device.direct_reason, reason))
        fail_msg("%s", report.device.direct_reason);
}

static void not_there(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    direct_open("/nowhere/libcufile.so.0", "");
    check_unused(&image, "cuFile is not there: ");
    direct_open("", "");
    check_unused(&image, "it is not to be used");
    direct_drop(&image);
}

/* That its driver opens proves nothing. */
static void it_would_copy_through_the_host(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    direct_control->direct = false;
    check_unused(&image, "is the module nvidia-fs loaded?");
    direct_control->compat = direct_control->keeps_compat = true; /* so its driver opens */
    direct_open(CUFILE_FAKE, "");
    check_unused(&image, "would copy through host memory: no file system");
    assert_int_equal(direct_control->reads, 0);
    direct_drop(&image);
}

/* Another library of the process has opened it before. */
static void compatibility_that_stays_on(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    direct_control->keeps_compat = true;
    direct_open(CUFILE_FAKE, "");
    check_unused(&image, "compatibility mode cannot be switched off");
    assert_int_equal(direct_control->reads, 0);
    direct_drop(&image);
}

/* Direct or not is a matter of each file: one on a file system that cuFile does not know goes
 * through the host, and the next one does not. */
static void a_file_system_that_is_not_read_directly(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    struct stat is;
    assert_int_equal(stat(image.path, &is), 0);
    direct_control->unsupported = is.st_ino;
    check_unused(&image, "cuFileHandleRegister: IO_NOT_SUPPORTED (5008)");
    assert_int_equal(direct_control->reads, 0);
    direct_control->unsupported = 0;
    const plain_report report = direct_check(&image, &(direct_read){0});
    assert_int_equal(report.device.direct_reads, image.tiles);
    assert_string_equal(report.device.direct_reason, "");
    direct_drop(&image);
}

/* ---- files that the system has in memory ---- */

static uint64_t cached_up_to;

static int plain_open(const char *path, int flags)
{
    return open(path, flags);
}

static int plain_expect(int fd, int64_t offset, int64_t size)
{
    (void)fd, (void)offset, (void)size;
    return 0;
}

static long plain_pread(int fd, void *dst, size_t size, int64_t offset)
{
    return pread(fd, dst, size, (off_t)offset);
}

static long cached_pread(int fd, void *dst, size_t size, int64_t offset)
{
    errno = EAGAIN;
    return (uint64_t)offset + size <= cached_up_to ? pread(fd, dst, size, (off_t)offset) : -1;
}

static void cached_files_are_read_by_the_host(void **state)
{
    (void)state;
    static const tz_source_syscalls calls = {plain_open, fstat,        plain_pread,
                                             close,      plain_expect, cached_pread};
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    tz_source_set_syscalls(&calls);
    cached_up_to = UINT64_MAX;
    check_unused(&image, "in the page cache");
    assert_int_equal(direct_control->reads, 0);
    cached_up_to = image.size / 2;
    plain_report report = direct_check(&image, &(direct_read){0});
    assert_int_equal(report.device.direct_reads, image.tiles);
    cached_up_to = 0;
    report = direct_check(&image, &(direct_read){0});
    assert_int_equal(report.device.direct_reads, image.tiles);
    assert_string_equal(report.device.direct_reason, "");
    tz_source_set_syscalls(NULL);
    direct_drop(&image);
}

/* ---- its log ---- */

/* The fake complains of a log in the working directory; what the user says stays. */
static void its_log_is_kept_away(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    static const char *const names[] = {NULL, "/var/log/of-mine"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(names[i] ? setenv("CUFILE_LOGFILE_PATH", names[i], 1)
                                  : unsetenv("CUFILE_LOGFILE_PATH"),
                         0);
        direct_open(CUFILE_FAKE, "");
        const plain_report report = direct_check(&image, &(direct_read){0});
        assert_int_equal(report.device.direct_reads, image.tiles);
        assert_string_equal(getenv("CUFILE_LOGFILE_PATH"), names[i] ? names[i] : "/dev/null");
    }
    assert_int_equal(unsetenv("CUFILE_LOGFILE_PATH"), 0);
    direct_drop(&image);
}

/* Then it would hang: it is not called at all. */
static void no_list_of_modules(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    tz_cu_set_modules_path("/nowhere/modules");
    direct_cuda->keep_steps = true;
    check_unused(&image, "does not work where /nowhere/modules cannot be read");
    assert_int_equal(direct_steps("cuFileDriverOpen"), 0);
    assert_int_equal(direct_steps("cuFileDriverGetProperties"), 0);
    direct_drop(&image);
}

static void calls_at_the_beginning_that_fail(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        int32_t code;
    } cases[] = {{"cuFileDriverOpen", 5001},
                 {"cuFileDriverGetProperties", 5001},
                 {"cuFileHandleRegister", 5027},
                 {"cuFileBufRegister", 5011}};
    direct_image image = make_apart(TZ_COMPRESSION_DEFLATE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        direct_open(CUFILE_FAKE, "");
        direct_fail(cases[i].function, 1, cases[i].code);
        check_unused(&image, cases[i].function);
    }
    direct_drop(&image);
}

/* ---- every call ---- */

static tz_result whole_life(const direct_image *image, bool to_device, plain_report *report,
                            tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    uint8_t *expected, *found;
    const direct_read read = {.to_device = to_device};
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", "");
    library_set(&how, "cufile", CUFILE_FAKE);
    const uint64_t nth = direct_cuda->fail_nth;
    direct_cuda->fail_nth = 0;
    assert_int_equal(direct_pixels(image, &read, NULL, &expected, NULL, err), TZ_OK);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, err), TZ_OK);
    direct_cuda->calls = 0;
    direct_cuda->fail_nth = nth;
    const tz_result result = direct_pixels(image, &read, device, &found, report, err);
    direct_cuda->fail_nth = 0;
    if (result == TZ_OK)
        assert_memory_equal(found, expected, direct_pixel_count(image, &read));
    free(expected);
    free(found);
    tz_error closing;
    assert_int_equal(tz_device_close_checked(device, &closing), TZ_OK);
    return result;
}

/* With codes of CUDA, sticky or not, and of cuFile. A read into memory of the host is right
 * whatever fails, and says what became of it. */
static void each_call_fails_in_turn(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 700, 5011};
    direct_image image = make_apart(TZ_COMPRESSION_DEFLATE);
    plain_report report;
    tz_error err;
    direct_close();
    for (unsigned batches = 0; batches < 2; batches++) {
        uint64_t by_cpu = 0, bounced = 0;
        direct_control->no_batches = !batches;
        cuda_fake_reset(direct_cuda);
        assert_int_equal(whole_life(&image, false, &report, &err), TZ_OK);
        const uint64_t made = direct_cuda->calls;
        assert_true(made > 20);
        for (uint64_t n = 1; n <= made; n++) {
            cuda_fake_reset(direct_cuda);
            direct_fail(NULL, n, codes[n % 3]);
            const tz_result result = whole_life(&image, false, &report, &err);
            if (result != TZ_OK)
                fail_msg("call %u: %s", (unsigned)n, err.message);
            assert_true(report.device.id[0] != '\0' || report.device.reason[0] != '\0');
            assert_true(report.device.bounced_bytes == 0 || report.device.direct_reason[0] != '\0');
            by_cpu += report.device.id[0] == '\0';
            bounced += report.device.direct_reason[0] != '\0';
            assert_int_equal(direct_cuda->live, 0);
            assert_int_equal(direct_control->files, 0);
            assert_int_equal(direct_control->buffers, 0);
            /* of one in a broken context nobody knows, see above */
            const bool unknown = strstr(report.device.reason, "may still be under way");
            assert_int_equal(direct_control->batches, unknown);
            assert_int_equal(direct_control->opens, unknown);
            direct_control->batches = direct_control->opens = 0;
        }
        assert_true(by_cpu > 5 && bounced > 3);
        cuda_fake_reset(direct_cuda);
        assert_int_equal(whole_life(&image, false, &report, &err), TZ_OK);
        assert_string_equal(report.device.direct_reason, "");
    }
    direct_drop(&image);
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    direct_image image = make_apart(TZ_COMPRESSION_NONE);
    for (unsigned batches = 0; batches < 2; batches++) {
        uint64_t refused = 0;
        bool done = false;
        open_anew(batches);
        for (uint64_t n = 1; !done; n++) {
            uint8_t *pixels;
            plain_report report;
            tz_error err;
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            const tz_result result =
                direct_pixels(&image, &(direct_read){0}, direct_device, &pixels, &report, &err);
            done = alloc_hook_stats().failures == 0;
            alloc_hook_remove();
            assert_true(result == TZ_OK || result == TZ_ERR_NOMEM);
            refused += result == TZ_ERR_NOMEM;
            free(pixels);
        }
        assert_true(refused > 10);
        check_missing(&image, false, 0, "");
    }
    direct_drop(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(short_reads),
        DIRECT(entries_of_batches_that_fail),
        DIRECT(batches_that_fail),
        DIRECT(reads_of_threads_that_fail),
        DIRECT(nothing_came),
        DIRECT(a_file_that_ends_too_soon),
        DIRECT(reads_that_nobody_knows_of),
        DIRECT(not_there),
        DIRECT(it_would_copy_through_the_host),
        DIRECT(compatibility_that_stays_on),
        DIRECT(a_file_system_that_is_not_read_directly),
        DIRECT(cached_files_are_read_by_the_host),
        DIRECT(its_log_is_kept_away),
        DIRECT(no_list_of_modules),
        DIRECT(calls_at_the_beginning_that_fail),
        DIRECT(each_call_fails_in_turn),
        DIRECT(each_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, direct_begin_all, direct_end_all);
}
