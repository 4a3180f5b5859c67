/* SPDX-License-Identifier: Apache-2.0
 * The calls of reading as programs make them: structs of other versions, reports and what they own,
 * and tiles that may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/read_report.h"
#include "support/alloc_hook.h"
#include "support/known_image.h"

enum { WIDTH = 50, HEIGHT = 41, BANDS = 3, TILES = 8, SAMPLES = WIDTH * HEIGHT * BANDS };

static uint16_t pixels[SAMPLES];
static uint8_t valid[SAMPLES];

static tz_buffer buffer_of(void *data, tz_dtype dtype)
{
    tz_buffer b = TZ_BUFFER_INIT;
    b.data = data;
    b.dtype = dtype;
    b.bands = BANDS;
    b.height = HEIGHT;
    b.width = WIDTH;
    return b;
}

static tz_item item_of(const tz_file *file, const tz_buffer *into)
{
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.into = into;
    return item;
}

static void check_samples(void)
{
    for (uint32_t k = 0; k < SAMPLES; k++)
        assert_int_equal(pixels[k],
                         pixel(k / (WIDTH * HEIGHT), k % (WIDTH * HEIGHT) / WIDTH, k % WIDTH, 16));
}

/* ---- structs of other versions ---- */

static void init_functions_make_what_the_macros_make(void **state)
{
    (void)state;
    const tz_item item = TZ_ITEM_INIT;
    const tz_buffer buffer = TZ_BUFFER_INIT;
    tz_item made;
    tz_buffer made_buffer;
    memset(&made, 0xA5, sizeof made);
    memset(&made_buffer, 0xA5, sizeof made_buffer);
    tz_item_init(&made, sizeof made);
    tz_buffer_init(&made_buffer, sizeof made_buffer);
    assert_int_equal(made.struct_size, sizeof item);
    assert_int_equal(made_buffer.struct_size, sizeof buffer);
    assert_memory_equal(&made, &item, sizeof item);
    assert_memory_equal(&made_buffer, &buffer, sizeof buffer);
}

/* Two items with the given distance, the second of which reads the first band only. */
static tz_result read_two(const tz_file *file, size_t size, uint8_t beyond, size_t second_size)
{
    static const uint32_t first = 0;
    uint8_t memory[2 * 256];
    tz_read_report *report = NULL;
    tz_error err;
    const tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    tz_buffer one = into;
    static uint16_t band[WIDTH * HEIGHT];
    one.data = band;
    one.bands = 1;
    tz_item items[2] = {item_of(file, &into), item_of(file, &one)};
    items[1].bands = &first;
    items[1].band_count = 1;
    items[0].struct_size = size;
    items[1].struct_size = second_size;
    memset(memory, 0, sizeof memory);
    for (size_t i = 0; i < 2; i++) {
        memcpy(memory + i * size, &items[i], size < sizeof *items ? size : sizeof *items);
        if (size > sizeof *items)
            memory[(i + 1) * size - 1] = beyond;
    }
    memset(pixels, 0, sizeof pixels);
    const tz_result result =
        tz_read_batch((const tz_item *)(const void *)memory, 2, NULL, &report, &err);
    if (result != TZ_OK) {
        assert_null(report);
        assert_true(err.cause == TZ_CAUSE_ARG && strstr(err.message, "items"));
        return result;
    }
    assert_int_equal(report->item_count, 2);
    assert_memory_equal(band, pixels, sizeof band);
    tz_read_report_free(report);
    check_samples();
    return result;
}

static void items_of_other_versions_are_walked_by_their_size(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    const size_t own = sizeof(tz_item);
    assert_int_equal(read_two(i.file, own, 0, own), TZ_OK);
    assert_int_equal(read_two(i.file, own + 24, 0, own + 24), TZ_OK);
    assert_int_equal(read_two(i.file, own + 24, 1, own + 24), TZ_ERR_ARG);
    /* one without a mask, as if that had come later */
    assert_int_equal(
        read_two(i.file, offsetof(tz_item, into_mask), 0, offsetof(tz_item, into_mask)), TZ_OK);
    assert_int_equal(read_two(i.file, own, 0, own + 8), TZ_ERR_ARG);
    assert_int_equal(read_two(i.file, 0, 0, 0), TZ_ERR_ARG);
    close_image(&i);
}

static void buffers_of_other_versions_are_taken(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    struct {
        tz_buffer buffer;
        uint64_t later;
    } longer = {.buffer = buffer_of(pixels, TZ_DTYPE_UINT16)};
    tz_error err;
    tz_item item = item_of(i.file, &longer.buffer);
    longer.buffer.struct_size = sizeof longer;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_OK);
    check_samples();
    longer.later = 1;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    longer.later = 0;
    longer.buffer.band_stride = INT64_MAX; /* without strides it is packed */
    longer.buffer.struct_size = offsetof(tz_buffer, band_stride);
    memset(pixels, 0, sizeof pixels);
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_OK);
    check_samples();
    longer.buffer.struct_size = 0;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "TZ_BUFFER_INIT"));
    const tz_buffer none = TZ_BUFFER_INIT;
    const tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    item = item_of(i.file, &into);
    item.into_mask = &none; /* a buffer without memory is not a missing one */
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    item.into_mask = NULL;
    item.into = NULL;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    close_image(&i);
}

static void offsets_count_in_host_memory_too(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    tz_error err;
    tz_buffer into = buffer_of((uint8_t *)pixels - 4096, TZ_DTYPE_UINT16);
    const tz_item item = item_of(i.file, &into);
    into.offset = 4096;
    memset(pixels, 0, sizeof pixels);
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_OK);
    check_samples();
    into.memory = (tz_memory_kind)4;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    for (into.memory = TZ_MEMORY_KIND_CUDA; into.memory <= TZ_MEMORY_KIND_OPENCL; into.memory++) {
        assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
        assert_non_null(strstr(err.message, "options->device"));
    }
    close_image(&i);
}

/* ---- reports ---- */

static void reports_say_what_was_read(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    const tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    const tz_item item = item_of(i.file, &into);
    for (int dry = 0; dry < 2; dry++) {
        tz_read_report *report = NULL;
        tz_error err;
        assert_int_equal(dry ? tz_plan_read(&report, &item, 1, NULL, &err)
                             : tz_read(&item, NULL, &report, &err),
                         TZ_OK);
        const tz_item_report *read = tz_read_report_get_item(report, 0);
        assert_true(report->tiles == TILES && report->tiles_copied == TILES);
        assert_true(report->peak_host_bytes > 0 && report->threads > 0);
        assert_string_equal(report->device->id, "");
        assert_true(report->warning_count == 0 && report->item_count == 1);
        assert_null(tz_read_report_get_warning(report, 0));
        assert_true(read->level == 0 && !read->mask && !read->resampled && read->reduction == 0);
        assert_true(read->window.width == WIDTH && read->window.height == HEIGHT);
        assert_true(read->tile_count == TILES && read->tiles_failed == 0);
        assert_null(tz_read_report_get_item(report, 1));
        assert_null(tz_read_report_get_tile(report, 0, 0)); /* only with salvage */
        assert_null(tz_read_report_get_tile(report, 1, 0));
        tz_read_report_free(report);
    }
    tz_read_report_free(NULL);
    close_image(&i);
}

static void reports_are_written_only_on_success(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    const tz_item item = item_of(i.file, &into);
    tz_read_report *report = (tz_read_report *)(void *)pixels;
    tz_read_report *empty = NULL;
    into.bands = 2;
    assert_int_equal(tz_read(&item, NULL, &report, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_plan_read(&report, &item, 1, NULL, NULL), TZ_ERR_ARG);
    assert_ptr_equal(report, pixels);
    assert_int_equal(tz_read_batch(NULL, 0, NULL, &empty, NULL), TZ_OK);
    assert_true(empty->item_count == 0 && empty->tiles == 0);
    assert_null(tz_read_report_get_item(empty, 0));
    tz_read_report_free(empty);
    close_image(&i);
}

static tz_read_report *read_whole(const tz_file *file)
{
    const tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    const tz_item item = item_of(file, &into);
    tz_read_report *report = NULL;
    tz_error err;
    if (tz_read(&item, NULL, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return report;
}

/* Bytes after its pixels, which is a warning. */
static image open_with_extra_bytes(uint64_t tile)
{
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_finish(b);
    tb_patch_tile(b, 0, tile, b->ifds[0].tile_offsets[tile], tb_tile_size(b, 0, tile) + 1);
    return open_built(b);
}

static void sums_add_numbers_and_merge_warnings(void **state)
{
    (void)state;
    tz_read_report *sum = NULL;
    tz_error err;
    uint64_t added = 0;
    assert_int_equal(tz_read_report_add(NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_read_report_add(&sum, NULL, NULL), TZ_ERR_ARG);
    for (uint64_t tile = 0; tile < 6; tile++) {
        image i = open_with_extra_bytes(tile);
        for (int again = 0; again < 2; again++) {
            tz_read_report *one = read_whole(i.file);
            assert_int_equal(one->warning_count, 1);
            assert_int_equal(tz_read_report_get_warning(one, 0)->tile, tile);
            assert_int_equal(tz_read_report_add(&sum, one, &err), TZ_OK);
            added++;
            assert_int_equal(sum->tiles, added * TILES);
            assert_int_equal(sum->bytes_read, added * one->bytes_read);
            assert_int_equal(sum->largest_tile, one->largest_tile);
            assert_true(sum->peak_host_bytes >= one->peak_host_bytes);
            assert_int_equal(sum->threads, one->threads);
            tz_read_report_free(one);
        }
        assert_int_equal(sum->warning_count, tile < 4 ? tile + 1 : 4);
        assert_int_equal(sum->warnings_dropped, tile < 4 ? 0 : 2 * (tile - 3));
        const tz_error *last = tz_read_report_get_warning(sum, sum->warning_count - 1);
        assert_int_equal(last->count, 2); /* equal messages are one */
        close_image(&i);
    }
    assert_true(sum->item_count == 0 && sum->device != NULL);
    assert_null(tz_read_report_get_item(sum, 0));
    assert_null(tz_read_report_get_tile(sum, 0, 0));
    tz_read_report_free(sum);
}

static void a_report_that_is_added_to_becomes_a_sum(void **state)
{
    (void)state;
    image i = open_with_extra_bytes(1);
    image k = open_with_extra_bytes(3);
    tz_read_report *sum = read_whole(i.file);
    tz_read_report *more = read_whole(k.file);
    tz_error err;
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    assert_int_equal(tz_read_report_add(&sum, more, &err), TZ_ERR_NOMEM);
    alloc_hook_remove();
    assert_true(sum->item_count == 1 && sum->tiles == TILES); /* as before */
    assert_int_equal(tz_read_report_add(&sum, more, &err), TZ_OK);
    assert_true(sum->item_count == 0 && sum->tiles == 2 * TILES && sum->warning_count == 2);
    assert_int_equal(tz_read_report_add(&sum, sum, &err), TZ_OK);
    assert_true(sum->tiles == 4 * TILES && sum->warning_count == 2);
    assert_int_equal(tz_read_report_get_warning(sum, 1)->count, 2);
    tz_read_report_free(sum);
    tz_read_report_free(more);
    close_image(&i);
    close_image(&k);
}

/* ---- masks ---- */

static image open_with_mask(bool damaged)
{
    tb_spec spec = tiled;
    spec.photometric = 2;
    tb *b = make_image(TB_CLASSIC, spec);
    const int mask = tb_image(b, &(tb_spec){.width = WIDTH,
                                            .height = HEIGHT,
                                            .tile_width = 16,
                                            .tile_height = 32,
                                            .bits = 1,
                                            .photometric = 4,
                                            .subfile = 4,
                                            .tile_bytes = 64});
    tb_finish(b);
    b->ifds[mask].spec.sparse = true; /* filled here */
    if (damaged) {
        tb_patch_tile(b, 0, 5, b->ifds[0].tile_offsets[5], 17);
        tb_patch_tile(b, mask, 3, b->ifds[mask].tile_offsets[3], 5);
    }
    for (uint64_t t = 0; t < b->ifds[mask].tile_count; t++)
        memset(b->data + tb_tile_at(b, mask, t), 0xFF, damaged && t == 3 ? 5 : 64);
    return open_built(b);
}

static void a_mask_has_samples_of_its_own(void **state)
{
    (void)state;
    image i = open_with_mask(false);
    tz_buffer into = buffer_of(valid, TZ_DTYPE_UINT8);
    tz_item item = item_of(i.file, &into);
    tz_read_report *report = NULL;
    tz_error err;
    into.bands = 1;
    item.mask = true;
    memset(valid, 0, sizeof valid);
    assert_int_equal(tz_read(&item, NULL, &report, &err), TZ_OK);
    for (uint32_t k = 0; k < WIDTH * HEIGHT; k++)
        assert_int_equal(valid[k], 1);
    assert_true(tz_read_report_get_item(report, 0)->mask);
    assert_int_equal(tz_read_report_get_item(report, 0)->level, 0);
    tz_read_report_free(report);
    item.level = 1;
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    item.level = TZ_LEVEL_AUTO; /* masks are read at their own level */
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    item.mask = false;
    item.level = UINT32_C(0x80000000);
    assert_int_equal(tz_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    close_image(&i);
}

/* ---- salvage ---- */

/* Reads image and mask, both with a bad tile, as they are or resampled. */
static tz_result salvage(tz_read_report **report, const tz_file *file, bool resampled, bool dry,
                         uint64_t max_host_bytes, tz_error *err)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    tz_buffer mask = buffer_of(valid, TZ_DTYPE_UINT8);
    tz_item item = item_of(file, &into);
    item.into_mask = &mask;
    how.salvage = true;
    how.threads = 1;
    how.max_host_bytes = max_host_bytes;
    if (resampled) {
        how.resampling = TZ_RESAMPLING_BILINEAR;
        into.width = mask.width = WIDTH / 2;
    }
    return dry ? tz_plan_read(report, &item, 1, &how, err) : tz_read(&item, &how, report, err);
}

static void statuses_are_those_of_pixels_then_of_the_mask(void **state)
{
    (void)state;
    image i = open_with_mask(true);
    for (int resampled = 0; resampled < 2; resampled++) {
        tz_read_report *report = NULL;
        tz_error err;
        if (salvage(&report, i.file, resampled, false, 0, &err) != TZ_OK)
            fail_msg("%s", err.message);
        assert_int_equal(report->tiles_failed, 2);
        const tz_item_report *read = tz_read_report_get_item(report, 0);
        assert_true(read->tile_count == 2 * TILES && read->tiles_failed == 2);
        assert_int_equal(read->resampled, resampled);
        for (uint64_t k = 0; k < 2 * TILES; k++) {
            const tz_tile_status *status = tz_read_report_get_tile(report, 0, k);
            const bool failed = k == 5 || k == TILES + 3;
            assert_true(status->tile == k % TILES && status->level == 0);
            assert_int_equal(status->mask, k >= TILES);
            assert_int_equal(status->result, failed ? TZ_ERR_FORMAT : TZ_OK);
            assert_int_equal(status->cause, failed ? TZ_CAUSE_CODEC : TZ_CAUSE_NONE);
        }
        assert_null(tz_read_report_get_tile(report, 0, 2 * TILES));
        tz_read_report_free(report);
        /* nobody has to ask for the statuses */
        assert_int_equal(salvage(NULL, i.file, resampled, false, 0, &err), TZ_OK);
        assert_int_equal(salvage(&report, i.file, resampled, true, 0, &err), TZ_OK);
        assert_int_equal(tz_read_report_get_item(report, 0)->tile_count, 2 * TILES);
        assert_int_equal(report->tiles_failed, 0); /* a plan reads no tiles */
        assert_null(tz_read_report_get_tile(report, 0, 0));
        tz_read_report_free(report);
    }
    close_image(&i);
}

/* A level of many tiles, none of which is in the file. */
static image open_many_tiles(void)
{
    const tb_spec spec = {
        .width = 16000, .height = 1600, .tile_width = 16, .tile_height = 16, .sparse = true};
    return open_image(TB_CLASSIC, spec);
}

static void statuses_count_in_the_memory_of_a_plan(void **state)
{
    (void)state;
    enum { MANY = 1000 * 100 };
    const uint64_t list = MANY * sizeof(tz_tile_status);
    image i = open_many_tiles();
    for (int resampled = 0; resampled < 2; resampled++) {
        uint8_t *data = malloc(16000 * 1600);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_buffer into = buffer_of(data, TZ_DTYPE_UINT8);
        const tz_item item = item_of(i.file, &into);
        tz_read_report *plain = NULL, *salvaged = NULL, *read = NULL;
        tz_error err;
        into.bands = 1;
        into.width = resampled ? 8000 : 16000;
        into.height = 1600;
        how.resampling = TZ_RESAMPLING_NEAREST;
        how.threads = 1;
        assert_int_equal(tz_plan_read(&plain, &item, 1, &how, &err), TZ_OK);
        how.salvage = true;
        assert_int_equal(tz_plan_read(&salvaged, &item, 1, &how, &err), TZ_OK);
        assert_true(salvaged->peak_host_bytes >= plain->peak_host_bytes + list);
        alloc_hook_install();
        assert_int_equal(tz_read(&item, &how, &read, &err), TZ_OK);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_true((uint64_t)stats.peak_bytes >= list);
        if (!resampled) /* resampling has lists of blocks beside the plan */
            assert_true((uint64_t)stats.peak_bytes <= salvaged->peak_host_bytes + (64 << 10));
        assert_int_equal(read->peak_host_bytes, salvaged->peak_host_bytes);
        how.max_host_bytes = list; /* the list alone */
        assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_ERR_LIMIT);
        assert_string_equal(err.limit, "max_host_bytes");
        how.salvage = false;
        assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_OK);
        tz_read_report_free(plain);
        tz_read_report_free(salvaged);
        tz_read_report_free(read);
        free(data);
    }
    close_image(&i);
}

static void every_allocation_of_a_report_fails_in_turn(void **state)
{
    (void)state;
    image i = open_with_mask(true);
    for (int resampled = 0; resampled < 2; resampled++) {
        for (uint64_t n = 1;; n++) {
            tz_read_report *report = NULL, *sum = NULL;
            tz_error err = {.result = TZ_OK};
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            tz_result result = salvage(&report, i.file, resampled, false, 0, &err);
            if (result == TZ_OK)
                result = tz_read_report_add(&sum, report, &err);
            tz_read_report_free(report);
            tz_read_report_free(sum);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_true(alloc_hook_kept_nothing(&stats));
            if (stats.failures == 0) {
                assert_int_equal(result, TZ_OK);
                assert_true(n > 8);
                break;
            }
            if (result != TZ_OK) { /* counting cores takes memory too, and can do without */
                assert_int_equal(result, TZ_ERR_NOMEM);
                assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
                assert_null(sum);
            }
        }
    }
    close_image(&i);
}

/* A read without a report allocates nothing for one. */
static void who_asks_for_no_report_pays_for_none(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    const tz_buffer into = buffer_of(pixels, TZ_DTYPE_UINT16);
    const tz_item item = item_of(i.file, &into);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    uint64_t counts[2];
    how.threads = 1;
    for (int with = 0; with < 2; with++) {
        tz_read_report *report = NULL;
        alloc_hook_install();
        assert_int_equal(tz_read(&item, &how, with ? &report : NULL, NULL), TZ_OK);
        tz_read_report_free(report);
        counts[with] = alloc_hook_stats().allocations;
        alloc_hook_remove();
    }
    assert_int_equal(counts[1], counts[0] + 2); /* the report, and its items */
    close_image(&i);
}

/* Threads end in any order: the warning of a mask and that of an image have the same level. */
static void the_first_warning_does_not_depend_on_the_order(void **state)
{
    (void)state;
    tz_error of_image = {.cause = TZ_CAUSE_CODEC, .tile = 3, .count = 1};
    tz_error of_mask = {.cause = TZ_CAUSE_CODEC, .tile = 3, .count = 2, .mask = 1};
    const char *format = "damaged";
    for (int order = 0; order < 2; order++) {
        tz_report_warnings merged = {0};
        const tz_warnings lists[] = {{.list = &of_image, .formats = &format, .count = 1},
                                     {.list = &of_mask, .formats = &format, .count = 1}};
        tz_report_warnings_merge(&merged, &lists[order]);
        tz_report_warnings_merge(&merged, &lists[1 - order]);
        assert_int_equal(merged.count, 1);
        assert_int_equal(merged.list[0].count, 3);
        assert_int_equal(merged.list[0].mask, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_functions_make_what_the_macros_make),
        cmocka_unit_test(items_of_other_versions_are_walked_by_their_size),
        cmocka_unit_test(buffers_of_other_versions_are_taken),
        cmocka_unit_test(offsets_count_in_host_memory_too),
        cmocka_unit_test(reports_say_what_was_read),
        cmocka_unit_test(reports_are_written_only_on_success),
        cmocka_unit_test(sums_add_numbers_and_merge_warnings),
        cmocka_unit_test(a_report_that_is_added_to_becomes_a_sum),
        cmocka_unit_test(a_mask_has_samples_of_its_own),
        cmocka_unit_test(statuses_are_those_of_pixels_then_of_the_mask),
        cmocka_unit_test(statuses_count_in_the_memory_of_a_plan),
        cmocka_unit_test(every_allocation_of_a_report_fails_in_turn),
        cmocka_unit_test(who_asks_for_no_report_pays_for_none),
        cmocka_unit_test(the_first_warning_does_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
