/* SPDX-License-Identifier: Apache-2.0
 * The log of a call: its lines, on the thread that made the call, and none after it. And progress
 * of the calls that have nothing else to report. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/bound_io.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/scratch.h"
#include "support/tile_file.h"
#include "tiff/tags.h"

/* ---- lines ---- */

typedef struct lines {
    pthread_t owner;
    unsigned counts[3]; /* by level */
    char last[3][512];
} lines;

static void collect(void *user, tz_log_level level, const char *text)
{
    lines *l = user;
    bound_check_thread(l->owner, "the log");
    assert_true((unsigned)level < 3);
    for (const char *c = text; *c; c++)
        assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    assert_true(strlen(text) > 0 && strlen(text) < sizeof l->last[0]);
    l->counts[level]++;
    strcpy(l->last[level], text);
}

static tz_log log_to(lines *l)
{
    *l = (lines){.owner = pthread_self()};
    return (tz_log){collect, l};
}

static void a_line_is_one_line(void **state)
{
    lines l;
    const tz_log log = log_to(&l);
    char text[2000];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tz_log_line(&log, TZ_LOG_LEVEL_INFO, "%s", text);
    assert_int_equal(strlen(l.last[TZ_LOG_LEVEL_INFO]), 511);
    tz_log_line(&log, TZ_LOG_LEVEL_INFO, "a\nb\x1b[0m\xff");
    assert_string_equal(l.last[TZ_LOG_LEVEL_INFO], "a?b?[0m?");
    tz_log_line(NULL, TZ_LOG_LEVEL_INFO, "nobody");
    tz_log_line(&(tz_log){NULL, NULL}, TZ_LOG_LEVEL_INFO, "nobody");
    assert_int_equal(l.counts[TZ_LOG_LEVEL_INFO], 2);
    assert_string_equal(tz_log_level_name(TZ_LOG_LEVEL_DEBUG), "debug");
    assert_string_equal(tz_log_level_name(TZ_LOG_LEVEL_INFO), "info");
    assert_string_equal(tz_log_level_name(TZ_LOG_LEVEL_WARNING), "warning");
    assert_string_equal(tz_log_level_name((tz_log_level)7), "unknown");
}

/* ---- calls ---- */

static raster original;
static tz_memory bytes;

static void write_original(const tz_log *log, const tz_write_options *given)
{
    tz_write_options options = *given;
    tz_error err;
    tz_writer *writer = NULL;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.tile_width = options.tile_height = 16;
    options.threads = 3;
    options.log = *log;
    assert_int_equal(tz_create_memory(&writer, &bytes, &original.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &original, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
}

static int begin(void **state)
{
    const tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    const tz_log none = {NULL, NULL};
    original = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    write_original(&none, &options);
    return scratch_begin(state);
}

static int end(void **state)
{
    raster_free(&original);
    tz_memory_free(&bytes);
    return scratch_end(state);
}

static void opening_is_logged(void **state)
{
    lines l;
    tz_open_options how = TZ_OPEN_OPTIONS_INIT;
    tz_file *file = NULL;
    tz_error err;
    (void)state;
    how.log = log_to(&l);
    bound_source *s = bound_source_new(bytes.data, bytes.size);
    s->base.caller_thread = true;
    assert_int_equal(tz_open_source(&file, &s->base, "here", &how, &err), TZ_OK);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_DEBUG], 1);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_WARNING], 0);
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_DEBUG], "here: "));
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_DEBUG], "\"v1\"")); /* its identity */
    tz_close(file);
}

/* Each warning once, as it is recorded, whatever its number. */
static void warnings_of_opening_are_logged(void **state)
{
    lines l;
    tz_open_options how = TZ_OPEN_OPTIONS_INIT;
    tz_file *file = NULL;
    tz_error err;
    (void)state;
    tb *b = tb_new(0);
    tb_image(b, &(tb_spec){.width = 20, .height = 20});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "not a number");
    tb_finish(b);
    how.log = log_to(&l);
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &how, &err), TZ_OK);
    const tz_info *info = tz_file_get_info(file);
    assert_true(info->warning_count > 0);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_WARNING], info->warning_count);
    assert_string_equal(l.last[TZ_LOG_LEVEL_WARNING],
                        tz_file_get_warning(file, info->warning_count - 1)->message);
    tz_close(file);
    tb_free(b);
}

/* Warnings of workers come with the end of the call. */
static void reads_are_logged(void **state)
{
    static uint8_t pixels[4 * TILE * TILE];
    static const uint8_t zeros[TILE * TILE];
    static const tile_stream stream = {
        .compression = 1, .bands = 1, .data = zeros, .size = sizeof zeros};
    lines l;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    (void)state;
    tb *b = tf_new(0, &stream, 2, 2, NULL);
    for (uint64_t i = 0; i < 4; i++) {
        uint8_t longer[TILE * TILE + 3] = {0};
        tf_put(b, i, longer, sizeof longer); /* with bytes after its pixels */
    }
    tz_file *file = tf_open(b);
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = 2 * TILE,
                                      .width = 2 * TILE}};
    how.threads = 4;
    how.log = log_to(&l);
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_true(report.warning_count > 0);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_DEBUG], 1);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_WARNING], report.warning_count);
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_DEBUG], "read 4 tiles"));
    how.log = log_to(&l);
    assert_int_equal(plain_plan_read(&report, &item, 1, &how, &err), TZ_OK);
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_DEBUG], "planned 4 tiles"));
    tz_close(file);
    tb_free(b);
}

static void writes_are_logged(void **state)
{
    lines l;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    (void)state;
    const tz_log log = log_to(&l);
    options.codec.quality = 50; /* without effect on LZW: a warning */
    tz_memory_free(&bytes);
    write_original(&log, &options);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_DEBUG], 1);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_WARNING], 1);
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_DEBUG], "wrote 49 tiles"));
}

static void validations_are_logged(void **state)
{
    lines l;
    tz_validate_options how = TZ_VALIDATE_OPTIONS_INIT;
    tz_validation *validation = NULL;
    tz_error err;
    unsigned bad = 0;
    (void)state;
    scratch_write("a.tif", bytes.data, bytes.size);
    how.log = log_to(&l);
    how.full = true;
    assert_int_equal(tz_validate(&validation, scratch_path("a.tif"), &how, &err), TZ_OK);
    for (uint32_t i = 0; i < validation->check_count; i++)
        bad += tz_validation_get_check(validation, i)->outcome >= TZ_CHECK_OUTCOME_WARNING;
    assert_true(bad > 0); /* it is not a COG */
    assert_int_equal(l.counts[TZ_LOG_LEVEL_WARNING], bad);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_DEBUG], 2); /* of opening too */
    tz_validation_free(validation);
}

/* The CPU is always there; why others are not is said. */
static void devices_are_logged(void **state)
{
    lines l;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device_list *list = NULL;
    tz_device *device = NULL;
    tz_error err;
    (void)state;
    how.log = log_to(&l);
    how.libraries = "cuda=/nonexistent/library.so;opencl=/nonexistent/library.so";
    assert_int_equal(tz_device_list_create(&list, &how, &err), TZ_OK);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_INFO], 2);
    tz_device_list_free(list);
    how.log = log_to(&l);
    assert_int_equal(tz_device_open(&device, "auto", &how, &err), TZ_OK);
    assert_int_equal(l.counts[TZ_LOG_LEVEL_INFO], 1);
    assert_non_null(strstr(l.last[TZ_LOG_LEVEL_INFO], "cpu: "));
    tz_device_close(device);
}

/* ---- progress ---- */

typedef struct steps {
    uint64_t left; /* calls until it cancels */
    uint64_t calls;
    uint64_t total;
} steps;

static bool count_step(void *user, uint64_t done, uint64_t total)
{
    steps *s = user;
    assert_true(total == 0 || done <= total);
    s->calls++;
    s->total = total;
    return --s->left > 0;
}

/* Runs a call that is cancelled at its first step, its second and so on, until it ends. */
static void cancel_in_turn(tz_result (*call)(const tz_progress *progress, tz_error *err),
                           uint64_t total)
{
    tz_result result = TZ_ERR_CANCELLED;
    for (uint64_t n = 1; result == TZ_ERR_CANCELLED; n++) {
        steps s = {.left = n};
        const tz_progress progress = {count_step, &s};
        tz_error err;
        result = call(&progress, &err);
        assert_int_equal(result, s.left == 0 ? TZ_ERR_CANCELLED : TZ_OK);
        if (result != TZ_OK)
            assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
        assert_true(s.calls > 0);
        assert_int_equal(s.total, total);
    }
}

static tz_result sum_sizes(const tz_progress *progress, tz_error *err)
{
    uint64_t sum, sparse;
    tz_file *file = NULL;
    assert_int_equal(tz_open_memory(&file, bytes.data, bytes.size, NULL, err), TZ_OK);
    const tz_result result = tz_level_stored_size(&sum, &sparse, file, 0, false, progress, err);
    tz_close(file);
    return result;
}

static tz_result list_devices(const tz_progress *progress, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device_list *list = NULL;
    how.libraries = "cuda=/nonexistent/library.so;opencl=/nonexistent/library.so";
    how.progress = *progress;
    const tz_result result = tz_device_list_create(&list, &how, err);
    tz_device_list_free(list);
    return result;
}

static tz_result clean(const tz_progress *progress, tz_error *err)
{
    uint64_t removed;
    return tz_clean(&removed, scratch_folder(), 0, NULL, NULL, progress, err);
}

/* A plan of more tiles than one list holds. */
static tz_result plan_many(const tz_progress *progress, tz_error *err)
{
    enum { SIDE = 16 * 129 };
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tb *b = tb_new(0);
    tb_image(
        b, &(tb_spec){
               .width = SIDE, .height = SIDE, .tile_width = 16, .tile_height = 16, .sparse = true});
    tb_finish(b);
    tz_file *file = tf_open(b);
    uint8_t pixel;
    const plain_item item = {
        .file = file,
        .into = {
            .data = &pixel, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = SIDE, .width = SIDE}};
    how.progress = *progress;
    const tz_result result = plain_plan_read(&report, &item, 1, &how, err);
    tz_close(file);
    tb_free(b);
    return result;
}

static void long_calls_can_be_cancelled(void **state)
{
    (void)state;
    scratch_write("b", "b", 1);
    cancel_in_turn(sum_sizes, 49);
    cancel_in_turn(list_devices, 2);
    cancel_in_turn(clean, 0);
    cancel_in_turn(plan_many, 129 * 129);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_line),
        cmocka_unit_test(opening_is_logged),
        cmocka_unit_test(warnings_of_opening_are_logged),
        cmocka_unit_test(reads_are_logged),
        cmocka_unit_test(writes_are_logged),
        cmocka_unit_test(validations_are_logged),
        cmocka_unit_test(devices_are_logged),
        cmocka_unit_test(long_calls_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
