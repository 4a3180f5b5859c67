/* SPDX-License-Identifier: Apache-2.0
 * Sources with caller_thread: every call of a source comes on the thread that called the library,
 * whatever is read and however it ends, while several threads decode. A source that is called on
 * another thread ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bound_io.h"
#include "support/check.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/tile_file.h"

enum { WIDTH = 333, HEIGHT = 250, TILE_SIDE = 32, THREADS = 4 };

typedef struct image {
    raster raster;
    tz_memory bytes;
} image;

static image make_image(tz_compression compression, uint32_t bands, bool mask, bool cog)
{
    image i = {.raster = raster_make(TZ_DTYPE_UINT16, bands, WIDTH, HEIGHT, mask)};
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = compression;
    options.tile_width = options.tile_height = TILE_SIDE;
    options.cog = cog;
    options.sparse = true;
    options.threads = 1;
    i.bytes = raster_write(&i.raster, &options, NULL, NULL);
    return i;
}

static void free_image(image *i)
{
    raster_free(&i->raster);
    tz_memory_free(&i->bytes);
}

/* A read of a window into buffers of this size; free both. */
typedef struct target {
    plain_item item;
    plain_outcome outcome;
    uint8_t *pixels;
    uint8_t *mask;
    size_t size;
} target;

static void make_target(target *t, const tz_file *file, uint32_t bands, uint32_t width,
                        uint32_t height, bool mask)
{
    const size_t count = (size_t)width * height * bands;
    *t = (target){.size = count * 2, .pixels = malloc(count * 2), .mask = malloc(count)};
    assert_non_null(t->pixels);
    assert_non_null(t->mask);
    memset(t->pixels, 0xA5, t->size);
    memset(t->mask, 0xA5, count);
    t->item = (plain_item){.file = file,
                           .into = {.data = t->pixels,
                                    .dtype = TZ_DTYPE_UINT16,
                                    .bands = bands,
                                    .height = height,
                                    .width = width}};
    if (mask)
        t->item.mask = (tz_buffer){.struct_size = sizeof(tz_buffer),
                                   .data = t->mask,
                                   .dtype = TZ_DTYPE_UINT8,
                                   .bands = bands,
                                   .height = height,
                                   .width = width};
}

static void free_target(target *t)
{
    free(t->pixels);
    free(t->mask);
}

static bool is_same(const target *a, const target *b, bool mask)
{
    return memcmp(a->pixels, b->pixels, a->size) == 0 &&
           (!mask || memcmp(a->mask, b->mask, a->size / 2) == 0);
}

static void check_ended(const bound_source *s)
{
    assert_int_equal(s->in_flight, 0);
    assert_int_equal(s->submits, s->waits);
}

static tz_read_options four_threads(void)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = THREADS;
    return how;
}

/* ---- reads that succeed ---- */

/* The file through a bound source and from memory, by the same read. */
static void compare_reads(const image *i, uint32_t width, uint32_t height, bool mask,
                          tz_resampling resampling, uint64_t merge_span, bool deferred)
{
    tz_read_options how = four_threads();
    plain_report report, expected_report;
    tz_error err;
    tz_file *plain = NULL;
    target expected, got;
    how.resampling = resampling;
    assert_int_equal(tz_open_memory(&plain, i->bytes.data, i->bytes.size, NULL, &err), TZ_OK);
    bound_source *s = bound_source_new(i->bytes.data, i->bytes.size);
    s->base.merge_span = merge_span;
    s->deferred = deferred;
    tz_file *file = bound_open(s, true);
    make_target(&expected, plain, i->raster.spec.bands, width, height, mask);
    make_target(&got, file, i->raster.spec.bands, width, height, mask);
    assert_int_equal(plain_read(&expected.item, &how, &expected_report, &err), TZ_OK);
    assert_int_equal(plain_read(&got.item, &how, &report, &err), TZ_OK);
    assert_true(is_same(&expected, &got, mask));
    assert_int_equal(report.tiles, expected_report.tiles);
    assert_int_equal(report.tiles_sparse, expected_report.tiles_sparse);
    assert_int_equal(report.tiles_direct, expected_report.tiles_direct);
    assert_int_equal(report.tiles_decoded, expected_report.tiles_decoded);
    assert_int_equal(report.tiles_copied, expected_report.tiles_copied);
    assert_int_equal(report.threads, expected_report.threads);
    check_ended(s);
    free_target(&expected);
    free_target(&got);
    tz_close(plain);
    tz_close(file);
}

static void reads_with_several_threads_fetch_on_the_callers(void **state)
{
    static const tz_compression compressions[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW,
                                                  TZ_COMPRESSION_PACKBITS};
    (void)state;
    for (size_t c = 0; c < sizeof compressions / sizeof compressions[0]; c++) {
        image i = make_image(compressions[c], 2, false, false);
        for (int deferred = 0; deferred < 2; deferred++) {
            compare_reads(&i, WIDTH, HEIGHT, false, TZ_RESAMPLING_NONE, 0, deferred);
            compare_reads(&i, WIDTH, HEIGHT, false, TZ_RESAMPLING_NONE, 2, deferred);
        }
        free_image(&i);
    }
}

static void masks_and_resampled_reads_do_too(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, true, true);
    compare_reads(&i, WIDTH, HEIGHT, true, TZ_RESAMPLING_NONE, 2, true);
    compare_reads(&i, 100, 77, true, TZ_RESAMPLING_BILINEAR, 2, true);
    compare_reads(&i, 100, 77, false, TZ_RESAMPLING_NEAREST, 0, false);
    free_image(&i);
}

/* A single row of a file of one column of pixels, and one tile: fewer tasks than threads. */
static void few_tiles_are_read_too(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, false, false);
    tz_read_options how = four_threads();
    tz_error err;
    bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
    s->base.merge_span = 2;
    tz_file *file = bound_open(s, true);
    for (uint32_t width = 1; width <= 5 * TILE_SIDE; width += TILE_SIDE) {
        target t;
        make_target(&t, file, 1, width, 1, false);
        t.item.window = (tz_window){0, 0, width, 1};
        assert_int_equal(plain_read(&t.item, &how, NULL, &err), TZ_OK);
        assert_memory_equal(t.pixels, i.raster.pixels.data, (size_t)width * 2);
        free_target(&t);
    }
    check_ended(s);
    tz_close(file);
    free_image(&i);
}

/* The calling thread has several requests under way at once. */
static void fetches_are_submitted_ahead(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, false, false);
    tz_read_options how = four_threads();
    tz_error err;
    bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
    target t;
    s->base.merge_span = 2;
    s->deferred = true;
    tz_file *file = bound_open(s, true);
    make_target(&t, file, 1, WIDTH, HEIGHT, false);
    assert_int_equal(plain_read(&t.item, &how, NULL, &err), TZ_OK);
    assert_true(s->max_in_flight >= THREADS);
    free_target(&t);
    tz_close(file);
    free_image(&i);
}

static void a_batch_may_have_files_of_both_kinds(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 2, false, false);
    tz_read_options how = four_threads();
    tz_error err;
    for (int order = 0; order < 2; order++) {
        bound_source *bound = bound_source_new(i.bytes.data, i.bytes.size);
        bound_source *any = bound_source_new(i.bytes.data, i.bytes.size);
        bound_source_count_prefetches(bound);
        bound_source_count_prefetches(any);
        bound->base.merge_span = any->base.merge_span = 2;
        bound->deferred = any->deferred = true;
        tz_file *files[2] = {bound_open(order ? any : bound, !order),
                             bound_open(order ? bound : any, order)};
        target t[2];
        plain_item items[2];
        for (int k = 0; k < 2; k++) {
            make_target(&t[k], files[k], 2, WIDTH, HEIGHT, false);
            items[k] = t[k].item;
        }
        assert_int_equal(plain_read_batch(items, 2, &how, NULL, &err), TZ_OK);
        assert_true(is_same(&t[0], &t[1], false));
        assert_memory_equal(t[0].pixels, i.raster.pixels.data, t[0].size);
        assert_true(bound->promised > 0);
        check_ended(bound);
        check_ended(any);
        for (int k = 0; k < 2; k++) {
            free_target(&t[k]);
            tz_close(files[k]);
        }
    }
    free_image(&i);
}

/* Calls that read tables, tags or all tiles. */
static void other_calls_come_on_the_callers_thread_too(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, true, true);
    tz_error err;
    bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
    tz_file *file = bound_open(s, true);
    tz_validate_options how = TZ_VALIDATE_OPTIONS_INIT;
    tz_validation *validation = NULL;
    tz_tile_span spans[4];
    uint64_t bytes, sparse;
    uint32_t problems;
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, 4, &err), TZ_OK);
    assert_int_equal(tz_file_locate_tile(spans, file, 0, false, 3, &err), TZ_OK);
    assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, &err), TZ_OK);
    assert_int_equal(tz_level_check_end(file, 0, false, &err), TZ_OK);
    assert_int_equal(tz_file_get_cog_problems(&problems, file, &err), TZ_OK);
    how.full = true;
    how.threads = THREADS;
    assert_int_equal(tz_validate_file(&validation, file, &how, &err), TZ_OK);
    assert_true(validation->valid);
    assert_true(validation->tiles_decoded > 0);
    tz_validation_free(validation);
    check_ended(s);
    tz_close(file);
    free_image(&i);
}

/* ---- reads that do not ---- */

/* The error names the first tile in question, as a read by one thread does. */
static void the_first_failure_is_the_error(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, false, false);
    tz_read_options how = four_threads();
    for (int deferred = 0; deferred < 2; deferred++) {
        bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
        tz_tile_span bad, last;
        tz_error err;
        target t;
        s->base.merge_span = 2;
        s->deferred = deferred;
        tz_file *file = bound_open(s, true);
        assert_int_equal(tz_file_locate_tile(&bad, file, 0, false, 20, &err), TZ_OK);
        assert_int_equal(tz_file_locate_tile(&last, file, 0, false, 60, &err), TZ_OK);
        s->bad_from = bad.offset;
        s->bad_to = last.offset;
        s->bad_in_wait = deferred;
        make_target(&t, file, 1, WIDTH, HEIGHT, false);
        assert_int_equal(plain_read(&t.item, &how, NULL, &err), TZ_ERR_IO);
        assert_int_equal(err.cause, TZ_CAUSE_REMOTE);
        assert_int_equal(err.offset, bad.offset);
        check_ended(s);
        free_target(&t);
        tz_close(file);
    }
    free_image(&i);
}

/* With a list for tiles, those of a fetch that fails are read one by one, on the same thread. */
static void failed_tiles_are_noted(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, false, false);
    tz_read_options how = four_threads();
    for (int deferred = 0; deferred < 2; deferred++) {
        bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
        tz_tile_status tiles[128];
        tz_tile_span bad;
        tz_error err;
        target t;
        s->deferred = deferred;
        tz_file *file = bound_open(s, true);
        assert_int_equal(tz_file_locate_tile(&bad, file, 0, false, 20, &err), TZ_OK);
        s->bad_from = bad.offset;
        s->bad_to = bad.offset + 1;
        s->bad_in_wait = deferred;
        make_target(&t, file, 1, WIDTH, HEIGHT, false);
        t.outcome = (plain_outcome){.tiles = tiles, .tile_room = 128};
        t.item.outcome = &t.outcome;
        assert_int_equal(plain_read(&t.item, &how, NULL, &err), TZ_OK);
        assert_int_equal(t.outcome.tiles_failed, 1);
        for (uint64_t k = 0; k < t.outcome.tile_count; k++)
            assert_int_equal(tiles[k].result, tiles[k].tile == 20 ? TZ_ERR_IO : TZ_OK);
        const uint32_t across = (WIDTH + TILE_SIDE - 1) / TILE_SIDE;
        for (uint32_t row = 0; row < HEIGHT; row++) {
            for (uint32_t column = 0; column < WIDTH; column++) {
                const size_t at = (size_t)row * WIDTH + column;
                uint16_t sample, stored;
                memcpy(&sample, t.pixels + at * 2, 2);
                memcpy(&stored, (uint8_t *)i.raster.pixels.data + at * 2, 2);
                if (row / TILE_SIDE * across + column / TILE_SIDE == 20)
                    stored = 0;
                assert_int_equal(sample, stored);
            }
        }
        check_ended(s);
        free_target(&t);
        tz_close(file);
    }
    free_image(&i);
}

/* Tiles that workers cannot decode: the first is the error. */
static void damaged_tiles_fail_as_ever(void **state)
{
    (void)state;
    image i = make_image(TZ_COMPRESSION_LZW, 1, false, false);
    tz_read_options how = four_threads();
    tz_error err;
    bound_source *s = bound_source_new(i.bytes.data, i.bytes.size);
    target t;
    s->base.merge_span = 2;
    tz_file *file = bound_open(s, true);
    for (uint64_t tile = 7; tile < 50; tile += 6) {
        tz_tile_span span;
        assert_int_equal(tz_file_locate_tile(&span, file, 0, false, tile, &err), TZ_OK);
        memset((uint8_t *)i.bytes.data + span.offset, 0xFF, (size_t)span.size);
    }
    make_target(&t, file, 1, WIDTH, HEIGHT, false);
    assert_int_equal(plain_read(&t.item, &how, NULL, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_CODEC);
    assert_int_equal(err.tile, 7);
    check_ended(s);
    free_target(&t);
    tz_close(file);
    free_image(&i);
}

/* A line of the log, and the thread that has to get it. */
typedef struct logged {
    pthread_t owner;
    unsigned warnings;
    char text[512];
} logged;

static void note_line(void *user, tz_log_level level, const char *text)
{
    logged *l = user;
    bound_check_thread(l->owner, "the log");
    assert_int_equal(level, TZ_LOG_LEVEL_WARNING); /* nothing was read that could be reported */
    l->warnings++;
    snprintf(l->text, sizeof l->text, "%s", text);
}

/* All tiles have bytes after their pixels, which is a warning of whoever decodes them; the last one
 * is cut off. Nobody gets a report, so that the log is the only place for warnings. */
static void warnings_of_a_read_that_fails_are_logged(void **state)
{
    static uint8_t pixels[16 * TILE * TILE];
    static const uint8_t longer[TILE * TILE + 3];
    static const tile_stream stream = {
        .compression = 1, .bands = 1, .data = longer, .size = TILE * TILE};
    (void)state;
    tb *b = tf_new(0, &stream, 4, 4, NULL);
    for (uint64_t i = 0; i < 15; i++)
        tf_put(b, i, longer, sizeof longer);
    tf_put(b, 15, longer, 5);
    for (int i = 0; i < 4; i++) {
        const bool bound = i % 2;
        const uint32_t side = i < 2 ? 4 * TILE : 2 * TILE; /* half of it: resampled */
        tz_read_options how = four_threads();
        tz_error err;
        logged l = {.owner = pthread_self()};
        bound_source *s = bound_source_new(b->data, b->size);
        s->base.merge_span = 2;
        tz_file *file = bound_open(s, bound);
        const plain_item item = {.file = file,
                                 .into = {.data = pixels,
                                          .dtype = TZ_DTYPE_UINT8,
                                          .bands = 1,
                                          .height = side,
                                          .width = side}};
        how.resampling = TZ_RESAMPLING_AVERAGE;
        how.log = (tz_log){note_line, &l};
        assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_FORMAT);
        assert_int_equal(err.tile, 15);
        assert_int_equal(l.warnings, 1); /* a kind, whatever the number of tiles */
        assert_non_null(strstr(l.text, "tile"));
        check_ended(s);
        tz_close(file);
    }
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_with_several_threads_fetch_on_the_callers),
        cmocka_unit_test(masks_and_resampled_reads_do_too),
        cmocka_unit_test(few_tiles_are_read_too),
        cmocka_unit_test(fetches_are_submitted_ahead),
        cmocka_unit_test(a_batch_may_have_files_of_both_kinds),
        cmocka_unit_test(other_calls_come_on_the_callers_thread_too),
        cmocka_unit_test(the_first_failure_is_the_error),
        cmocka_unit_test(failed_tiles_are_noted),
        cmocka_unit_test(damaged_tiles_fail_as_ever),
        cmocka_unit_test(warnings_of_a_read_that_fails_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
