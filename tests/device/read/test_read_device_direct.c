/* SPDX-License-Identifier: Apache-2.0
 * Files that cuFile reads straight into memory of the device, on the fakes: pixels are those of
 * the CPU, the number of calls does not depend on that of tiles, and all reads are submitted
 * before the first is waited for. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/device/direct_case.h"
#include "support/device/timeline.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

/* ---- pixels ---- */

static const tz_compression compressions[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW,
                                              TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_ZSTD};
enum { COMPRESSIONS = sizeof compressions / sizeof compressions[0] };

static void all_went_straight(const plain_report *report)
{
    assert_string_equal(report->device.direct_reason, "");
    assert_true(report->device.direct_reads > 0);
    assert_int_equal(report->device.bounced_bytes, 0);
    assert_int_equal(direct_control->reads, report->device.direct_reads);
    assert_int_equal(direct_control->bytes, report->device.direct_bytes);
    direct_control->reads = 0;
    direct_control->bytes = 0;
}

static void pixels_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COMPRESSIONS; i++) {
        tz_write_options how = direct_tiles(compressions[i / 2]);
        if (i % 2 != 0) {
            how.tile_width = 0;
            how.strips = true;
        }
        direct_image image = direct_make("file", 2, 2, &how);
        direct_control->no_batches = i % 4 == 1;
        direct_open(CUFILE_FAKE, "");
        plain_report report = direct_check(&image, &(direct_read){.to_device = i % 2 == 0});
        all_went_straight(&report);
        assert_int_equal(report.device.tiles_redone, 0);
        report = direct_check(&image,
                              &(direct_read){.to_device = i % 2 != 0, .window = {60, 1, 67, 126}});
        assert_string_equal(report.device.id, "cuda:0");
        direct_control->reads = direct_control->bytes = 0;
        direct_drop(&image);
    }
}

static void overviews(void **state)
{
    (void)state;
    tz_write_options how = direct_tiles(TZ_COMPRESSION_NONE);
    how.cog = true;
    direct_image image = direct_make("file", 4, 2, &how);
    for (uint32_t level = 0; level < 2; level++) {
        const plain_report report = direct_check(&image, &(direct_read){.level = level});
        all_went_straight(&report);
    }
    direct_drop(&image);
}

/* Tiles that are too far apart to be read together: a read for each, of its own pages. */
static void tiles_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tz_write_options how = direct_tiles(compressions[2 * i]);
        how.alignment = 16384;
        direct_image image = direct_make("file", 3, 2, &how);
        const plain_report report = direct_check(&image, &(direct_read){.to_device = i});
        assert_int_equal(report.device.direct_reads, 6);
        assert_true(report.device.direct_bytes < (uint64_t)6 * 3 * 4096);
        all_went_straight(&report);
        direct_drop(&image);
    }
}

/* Small ones are not worth a read of their own, and go up with the tables. */
static void small_reads(void **state)
{
    (void)state;
    tz_write_options how = direct_tiles(TZ_COMPRESSION_NONE);
    how.tile_width = how.tile_height = 32;
    how.alignment = 16384;
    direct_image image = direct_make("file", 1, 1, &how);
    const plain_report report = direct_check(&image, &(direct_read){0});
    assert_int_equal(report.device.direct_reads, 0);
    assert_int_equal(report.device.bounced_bytes, 4 * 32 * 32);
    assert_string_equal(report.device.direct_reason, "some reads are too small for it");
    direct_drop(&image);
}

/* ---- several files ---- */

enum { FILES = 3 };

static void one_batch_of_files_and_memory(void **state)
{
    (void)state;
    direct_image images[FILES];
    const tile_stream *stream = &tile_streams[STREAM_NONE];
    tb *built = tf_new(TB_CLASSIC, stream, 8, 8, NULL);
    tz_file *in_memory = tf_open(built);
    plain_item items[FILES + 1];
    uint8_t *expected[FILES + 1], *found[FILES + 1];
    plain_report report;
    tz_error err;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    for (size_t i = 0; i <= FILES; i++) {
        const tz_write_options as = direct_tiles(compressions[i]);
        const char *const names[] = {"a", "b", "c"};
        uint32_t width = 8 * TILE, height = 8 * TILE;
        if (i < FILES) {
            images[i] = direct_make(names[i], 2, 1, &as);
            width = images[i].width;
            height = images[i].height;
        }
        expected[i] = malloc((size_t)width * height);
        found[i] = malloc((size_t)width * height);
        items[i] = (plain_item){.file = i < FILES ? images[i].file : in_memory,
                                .into = {.data = expected[i],
                                         .dtype = TZ_DTYPE_UINT8,
                                         .bands = 1,
                                         .width = width,
                                         .height = height}};
    }
    assert_int_equal(plain_read_batch(items, FILES + 1, &how, NULL, &err), TZ_OK);
    for (size_t i = 0; i <= FILES; i++)
        items[i].into.data = found[i];
    how.device = direct_device;
    direct_cuda->keep_steps = true;
    assert_int_equal(plain_read_batch(items, FILES + 1, &how, &report, &err), TZ_OK);
    for (size_t i = 0; i <= FILES; i++) {
        assert_memory_equal(found[i], expected[i],
                            (size_t)items[i].into.width * items[i].into.height);
        free(expected[i]);
        free(found[i]);
    }
    assert_int_equal(direct_steps("cuFileHandleRegister"), FILES);
    assert_int_equal(direct_steps("cuFileBufRegister"), 1);
    assert_int_equal(direct_steps("cuFileBatchIOSubmit"), 1);
    assert_int_equal(report.device.uploads, 1);
    assert_int_equal(report.device.bounced_bytes, 8 * 8 * stream->size);
    assert_string_equal(report.device.direct_reason, "not all files are local");
    for (size_t i = 0; i < FILES; i++)
        direct_drop(&images[i]);
    tz_close(in_memory);
    tb_free(built);
}

/* ---- calls ---- */

typedef struct calls {
    size_t opens, files, buffers, batches, submits, uploads, downloads, syncs, memories;
} calls;

static calls calls_of(uint32_t across, uint32_t down)
{
    const tz_write_options as = direct_tiles(TZ_COMPRESSION_NONE);
    direct_image image = direct_make("file", across, down, &as);
    const tz_info *info = tz_file_get_info(image.file);
    uint8_t *pixels;
    plain_report plan, report;
    tz_error err;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = direct_device;
    assert_int_equal(direct_pixels(&image, &(direct_read){0}, direct_device, &pixels, NULL, &err),
                     TZ_OK); /* what is made once */
    const plain_item item = {.file = image.file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .width = info->width,
                                      .height = info->height}};
    assert_int_equal(plain_plan_read(&plan, &item, 1, &how, &err), TZ_OK);
    cuda_fake_reset(direct_cuda);
    direct_cuda->keep_steps = true;
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    const calls c = {direct_steps("cuFileDriverOpen"),     direct_steps("cuFileHandleRegister"),
                     direct_steps("cuFileBufRegister"),    direct_steps("cuFileBatchIOSetUp"),
                     direct_steps("cuFileBatchIOSubmit"),  direct_steps("cuMemcpyHtoDAsync_v2"),
                     direct_steps("cuMemcpyDtoHAsync_v2"), direct_steps("cuStreamSynchronize"),
                     direct_steps("cuMemAlloc_v2")};
    direct_cuda->keep_steps = false;
    assert_string_equal(report.device.direct_reason, "");
    assert_int_equal(report.device.direct_reads, plan.device.direct_reads);
    assert_int_equal(report.device.direct_bytes, plan.device.direct_bytes);
    assert_int_equal(report.device.memory, plan.device.memory);
    assert_int_equal(report.device.peak, plan.device.memory);
    assert_int_equal(report.device.upload_bytes, plan.device.upload_bytes);
    /* no more than the tables */
    assert_true(report.device.upload_bytes < image.tiles * 64 * 64);
    free(pixels);
    direct_drop(&image);
    return c;
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    const calls one = calls_of(1, 1);
    const calls ten = calls_of(5, 2);
    const calls many = calls_of(40, 25);
    assert_int_equal(one.opens, 0); /* once for the device */
    assert_int_equal(one.files, 1);
    assert_int_equal(one.buffers, 1);
    assert_int_equal(one.submits, 1);
    assert_int_equal(one.uploads, 1);
    assert_int_equal(one.downloads, 1);
    assert_int_equal(one.syncs, 1);
    assert_int_equal(one.memories, 1);
    assert_memory_equal(&ten, &one, sizeof one);
    assert_memory_equal(&many, &one, sizeof one);
}

/* Without tiles of files, cuFile is not even loaded. */
static void nothing_to_read(void **state)
{
    (void)state;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = direct_device;
    direct_cuda->keep_steps = true;
    assert_int_equal(plain_read_batch(NULL, 0, &how, &report, &err), TZ_OK);
    tb *built = tf_new(TB_CLASSIC, &tile_streams[STREAM_NONE], 2, 2, NULL);
    direct_image in_memory = {.file = tf_open(built)};
    report = direct_check(&in_memory, &(direct_read){0});
    assert_string_equal(report.device.direct_reason, "no tile for the device is in a local file");
    assert_int_equal(direct_steps("cuFileDriverOpen"), 0);
    tz_close(in_memory.file);
    tb_free(built);
}

/* ---- order ---- */

/* Groups of no more than cuFile takes: all are on their way before any is asked for, and what is
 * put into queues comes after the last. */
static void all_are_submitted_before_the_first_wait(void **state)
{
    (void)state;
    tz_write_options as = direct_tiles(TZ_COMPRESSION_NONE);
    as.alignment = 16384;
    direct_image image = direct_make("file", 5, 2, &as);
    direct_control->most_batch = 3;
    direct_cuda->keep_steps = true;
    const plain_report report = direct_check(&image, &(direct_read){0});
    assert_int_equal(report.device.direct_reads, 10);
    assert_int_equal(direct_steps("cuFileBatchIOSubmit"), 4);
    assert_true(direct_last("cuFileBatchIOSubmit") < direct_first("cuFileBatchIOGetStatus"));
    assert_true(direct_last("cuFileBatchIOGetStatus") < direct_first("cuMemcpyHtoDAsync_v2"));
    assert_true(direct_last("cuFileBatchIODestroy") < direct_first("cuLaunchKernel"));
    assert_true(direct_last("cuMemcpyDtoHAsync_v2") < direct_first("cuFileBufDeregister"));
    assert_true(direct_first("cuFileBufDeregister") < direct_first("cuFileHandleDeregister"));
    direct_drop(&image);
}

static size_t step_of(tz_device_call call, size_t nth)
{
    const timeline_step *steps = timeline.steps;
    const size_t count = timeline.count;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].call == call && nth-- == 0)
            return i;
    }
    return SIZE_MAX;
}

/* The next wave is read while the device works on the one before. */
static void waves_overlap(void **state)
{
    (void)state;
    const tz_write_options as = direct_tiles(TZ_COMPRESSION_NONE);
    direct_image image = direct_make("file", 8, 4, &as);
    timeline_start(direct_device);
    const plain_report report =
        direct_check(&image, &(direct_read){.device_bytes = 120000, .threads = 1});
    timeline_stop(direct_device);
    const size_t waves = (size_t)report.device.waves;
    assert_true(waves >= 4);
    assert_int_equal(report.device.uploads, waves);
    assert_true(report.device.peak <= 120000);
    for (size_t i = 0; i < waves; i++) {
        assert_true(step_of(TZ_CALL_BEGIN_READS, i) < step_of(TZ_CALL_END_READS, i));
        assert_true(step_of(TZ_CALL_END_READS, i) < step_of(TZ_CALL_UPLOAD, i));
        if (i > 0)
            assert_true(step_of(TZ_CALL_BEGIN_READS, i) < step_of(TZ_CALL_SYNC, i - 1));
        if (i > 1) /* its slot is idle by then */
            assert_true(step_of(TZ_CALL_SYNC, i - 2) < step_of(TZ_CALL_BEGIN_READS, i));
    }
    assert_int_equal(step_of(TZ_CALL_SHARE, 2), SIZE_MAX);
    direct_drop(&image);
}

/* ---- threads ---- */

typedef struct reader {
    const direct_image *image;
    bool good;
} reader;

static void *read_often(void *user)
{
    reader *r = user;
    r->good = true;
    for (int i = 0; i < 3 && r->good; i++) {
        const direct_read how = {.device_bytes = i % 2 ? 60000 : 0, .threads = 1};
        uint8_t *pixels;
        plain_report report;
        tz_error err;
        r->good = direct_pixels(r->image, &how, direct_device, &pixels, &report, &err) == TZ_OK &&
                  report.device.direct_reads > 0 && !report.device.direct_reason[0];
        free(pixels);
    }
    return NULL;
}

/* Threads read the same file, with cuFile's batches and with threads that read. */
static void threads_share_a_device(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    tz_write_options as = direct_tiles(TZ_COMPRESSION_NONE);
    as.alignment = 16384;
    direct_image image = direct_make("file", 2, 2, &as);
    for (unsigned batches = 0; batches < 2; batches++) {
        pthread_t threads[THREADS];
        reader readers[THREADS];
        direct_control->no_batches = !batches;
        direct_open(CUFILE_FAKE, "");
        for (size_t i = 0; i < THREADS; i++) {
            readers[i] = (reader){.image = &image};
            assert_int_equal(pthread_create(&threads[i], NULL, read_often, &readers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_true(readers[i].good);
        }
    }
    direct_drop(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(pixels_are_those_of_the_cpu),
        DIRECT(overviews),
        DIRECT(tiles_apart),
        DIRECT(small_reads),
        DIRECT(one_batch_of_files_and_memory),
        DIRECT(calls_do_not_depend_on_tiles),
        DIRECT(nothing_to_read),
        DIRECT(all_are_submitted_before_the_first_wait),
        DIRECT(waves_overlap),
        DIRECT(threads_share_a_device),
    };
    return cmocka_run_group_tests(tests, direct_begin_all, direct_end_all);
}
