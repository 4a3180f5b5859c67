/* SPDX-License-Identifier: Apache-2.0
 * The calls of a read with a device, in order: the number of calls does not depend on that of
 * tiles, all bytes are asked for before the first are waited for, and the next wave is on its way
 * before the one before it is waited for. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/ops/decode.h"
#include "support/device/test_device.h"
#include "support/device/timeline.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

/* ---- a source that is slow to answer ---- */

typedef struct event {
    bool is_wait;
    size_t steps; /* of the device before it */
} event;

enum { MOST_EVENTS = 4096 };
static event events[MOST_EVENTS];
static size_t event_count;
static bool is_recording;

typedef struct slow_source {
    tz_source base;
    const uint8_t *data;
    uint64_t tiles; /* where they begin: reads of tables are not recorded */
} slow_source;

static void record(bool is_wait, const tz_source *source, const tz_request *request)
{
    event e = {.is_wait = is_wait};
    if (!is_recording || event_count == MOST_EVENTS ||
        request->ranges[0].offset < ((const slow_source *)source)->tiles)
        return;
    e.steps = timeline.count;
    events[event_count++] = e;
}

/* Nothing is delivered before it is waited for: who looks sooner finds other bytes. */
static tz_result slow_submit(tz_source *source, tz_request *request, tz_error *err)
{
    (void)err;
    record(false, source, request);
    for (size_t i = 0; i < request->count; i++)
        memset(request->ranges[i].dst, 0xEE, request->ranges[i].size);
    return TZ_OK;
}

static tz_result slow_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)err;
    record(true, source, request);
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        memcpy(range->dst, ((const slow_source *)source)->data + range->offset, range->size);
    }
    return TZ_OK;
}

static void slow_close(tz_source *source)
{
    free(source);
}

static tz_file *open_slow(const tb *b, const tile_stream *stream)
{
    const uint64_t tiles = b->size - b->ifds[0].tile_count * stream->size;
    slow_source *source = malloc(sizeof *source);
    tz_file *file = NULL;
    tz_error err;
    *source = (slow_source){{.struct_size = sizeof(tz_source),
                             .size = b->size,
                             .submit = slow_submit,
                             .wait = slow_wait,
                             .close = slow_close},
                            b->data,
                            tiles};
    const tz_result result = tz_open_source(&file, &source->base, "slow", NULL, &err);
    assert_int_equal(result, TZ_OK);
    return file;
}

/* ---- reading ---- */

typedef struct costs {
    tz_device_counts counts;
    plain_report report;
} costs;

static plain_item item_of(const tz_file *file, uint8_t *pixels)
{
    const tz_info *info = tz_file_get_info(file);
    return (plain_item){.file = file,
                        .into = {.data = pixels,
                                 .dtype = TZ_DTYPE_UINT8,
                                 .bands = info->bands,
                                 .height = info->height,
                                 .width = info->width}};
}

static size_t pixel_count(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    return (size_t)info->width * info->height * info->bands;
}

/* The same read planned, on the CPU, and with the device; the last one is counted. */
static costs read_file(const tz_file *file, bool to_device, uint64_t device_bytes)
{
    const size_t size = pixel_count(file);
    uint8_t *expected = calloc(1, size);
    uint8_t *found = calloc(1, size);
    plain_item item = item_of(file, expected);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_device_memory *memory = NULL;
    plain_report plan;
    tz_error err;
    costs out;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    how.device = test_device;
    how.max_device_bytes = device_bytes;
    item.into.data = found;
    if (to_device) {
        assert_int_equal(tz_device_memory_alloc(&memory, test_device, size, &err), TZ_OK);
        plain_on_device(&item.into, memory);
    }
    assert_int_equal(plain_plan_read(&plan, &item, 1, &how, &err), TZ_OK);
    tz_device_begin_wave(test_device);
    timeline_start(test_device);
    event_count = 0;
    is_recording = true;
    const tz_result result = plain_read(&item, &how, &out.report, &err);
    is_recording = false;
    timeline_stop(test_device);
    tz_device_get_counts(test_device, NULL, &out.counts);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    if (to_device)
        assert_int_equal(tz_device_copy_out(found, memory, 0, size, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_memory_equal(found, expected, size);
    const tz_device_use *use = &out.report.device;
    assert_string_equal(use->reason, plan.device.reason);
    assert_int_equal(use->memory, plan.device.memory);
    assert_int_equal(use->peak, use->memory);
    assert_int_equal(out.counts.bytes_peak - (to_device ? size : 0), use->memory);
    assert_int_equal(use->waves, plan.device.waves);
    assert_int_equal(use->tiles, plan.device.tiles);
    assert_int_equal(use->uploads, plan.device.uploads);
    assert_int_equal(use->upload_bytes, plan.device.upload_bytes);
    assert_int_equal(use->downloads, plan.device.downloads);
    assert_int_equal(use->download_bytes, plan.device.download_bytes);
    assert_int_equal(use->launches, plan.device.launches);
    assert_int_equal(use->syncs, plan.device.syncs);
    assert_int_equal(use->uploads, out.counts.uploads);
    assert_int_equal(use->upload_bytes, out.counts.upload_bytes);
    assert_int_equal(use->downloads, out.counts.downloads);
    assert_int_equal(use->download_bytes, out.counts.download_bytes);
    assert_int_equal(use->launches, out.counts.launches);
    assert_int_equal(use->syncs, out.counts.syncs);
    free(expected);
    free(found);
    return out;
}

static costs read_tiles(const tile_stream *stream, uint32_t across, uint32_t down,
                        void (*describe)(tb *b), bool to_device, uint64_t device_bytes)
{
    tb *b = tf_new(TB_CLASSIC, stream, across, down, describe);
    tz_file *file = open_slow(b, stream);
    const costs out = read_file(file, to_device, device_bytes);
    tz_close(file);
    tb_free(b);
    return out;
}

static void with_predictor(tb *b)
{
    TB_SHORTS(b, 0, TZ_TAG_PREDICTOR, 2);
}

static bool is_for_library(const tile_stream *stream)
{
    return test_device_nvcomp_decodes(stream->compression);
}

/* ---- tests ---- */

static void the_number_of_calls_does_not_depend_on_tiles(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE,     STREAM_LZW, STREAM_DEFLATE,
                                  STREAM_PACKBITS, STREAM_LZ4, STREAM_ZSTD};
    static const uint32_t sizes[][2] = {{1, 1}, {5, 2}, {40, 25}};
    for (size_t i = 0; i < 4 * sizeof streams / sizeof streams[0]; i++) {
        const tile_stream *stream = &tile_streams[streams[i / 4]];
        const bool to_device = i % 2 != 0;
        const bool predictor = i % 4 / 2 != 0 && stream->compression != 1;
        if (!tf_available(stream) || (test_device_is_slow() && to_device == predictor))
            continue;
        for (size_t k = 0; k < 3; k++) {
            const costs c = read_tiles(stream, sizes[k][0], sizes[k][1],
                                       predictor ? with_predictor : NULL, to_device, 0);
            const bool decodes = stream->compression != 1;
            assert_int_equal(c.counts.allocations, 1);
            assert_int_equal(c.counts.pinned, 1);
            assert_int_equal(c.counts.uploads, 1);
            assert_int_equal(c.counts.downloads, to_device && !decodes ? 0 : 1);
            const uint32_t of_decoding = tz_decode_launches(test_device, stream->compression);
            assert_int_equal(c.counts.launches, 1 + decodes * of_decoding + predictor);
            assert_true(of_decoding <= 4);
            assert_int_equal(c.counts.library_calls, is_for_library(stream));
            assert_int_equal(c.report.device.library_calls, is_for_library(stream));
            assert_int_equal(strncmp(c.report.device.library, "nvCOMP ", 7) == 0,
                             is_for_library(stream));
            assert_string_equal(c.report.device.library_reason, "");
            assert_int_equal(c.counts.syncs, 1);
            assert_int_equal(c.counts.events, 0);
            assert_int_equal(c.report.device.tiles, decodes ? sizes[k][0] * sizes[k][1] : 0);
            assert_string_equal(c.report.device.id, tz_device_get_info(test_device)->id);
            assert_int_equal(event_count, 2);
            assert_false(events[0].is_wait);
            assert_true(events[1].is_wait);
        }
    }
}

static size_t position_of(const timeline_step *steps, size_t count, tz_device_call call, size_t nth)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].call == call && nth-- == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Wave after wave: what the next takes is there before the last is waited for. */
static void waves_overlap(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW};
    for (size_t i = 0; i < 4; i++) {
        const costs c =
            read_tiles(&tile_streams[streams[i / 2]], 40, 40, NULL, i % 2 != 0, 1 << 17);
        const size_t waves = (size_t)c.report.device.waves;
        const timeline_step *steps = timeline.steps;
        const size_t count = timeline.count;
        assert_true(waves >= 4);
        assert_true(c.report.device.memory <= 1 << 17);
        assert_int_equal(c.counts.allocations, 2);
        assert_int_equal(c.counts.pinned, 2);
        assert_int_equal(c.counts.uploads, waves);
        assert_int_equal(c.counts.syncs, waves);
        assert_int_equal(event_count, 2 * waves);
        for (size_t wave = 0; wave + 1 < waves; wave++) {
            const size_t sync = position_of(steps, count, TZ_CALL_SYNC, wave);
            const size_t next = position_of(steps, count, TZ_CALL_UPLOAD, wave + 1);
            assert_true(next < sync);
            assert_true(events[2 * wave + 2].steps <= next);
            assert_int_equal(steps[next].queue, (wave + 1) % 2);
        }
    }
}

/* Waves use of what they may nearly all. */
static void memory_is_used(void **state)
{
    (void)state;
    const uint64_t bytes = 1 << 17;
    const costs c = read_tiles(&tile_streams[STREAM_LZW], 40, 40, NULL, false, bytes);
    assert_true(c.report.device.memory <= bytes);
    assert_true(c.report.device.memory >= bytes / 10 * 9);
}

static void all_sources_are_asked_before_any_is_waited_for(void **state)
{
    (void)state;
    enum { FILES = 5 };
    tb *built[FILES];
    tz_file *files[FILES];
    plain_item items[2 * FILES];
    static uint8_t pixels[2 * FILES][3 * 32 * 32];
    static uint8_t expected[2 * FILES][3 * 32 * 32];
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    static const int streams[FILES] = {STREAM_NONE, STREAM_LZW, STREAM_DEFLATE, STREAM_JPEG_RGB,
                                       STREAM_PACKBITS};
    for (size_t i = 0; i < FILES; i++) {
        built[i] = tf_new(TB_CLASSIC, &tile_streams[streams[i]], 2, 2, NULL);
        files[i] = open_slow(built[i], &tile_streams[streams[i]]);
        items[i] = item_of(files[i], expected[i]);
    }
    for (size_t i = 0; i < FILES; i++)
        items[FILES + i] = item_of(files[FILES - 1 - i], expected[FILES + i]);
    assert_int_equal(plain_read_batch(items, 2 * FILES, &how, NULL, &err), TZ_OK);
    for (size_t i = 0; i < 2 * FILES; i++)
        items[i].into.data = pixels[i];
    how.device = test_device;
    timeline_start(test_device);
    event_count = 0;
    is_recording = true;
    assert_int_equal(plain_read_batch(items, 2 * FILES, &how, NULL, &err), TZ_OK);
    is_recording = false;
    timeline_stop(test_device);
    assert_memory_equal(pixels, expected, sizeof pixels);
    assert_int_equal(event_count, 2 * FILES); /* one request each */
    for (size_t i = 0; i < event_count; i++)
        assert_int_equal(events[i].is_wait, i >= FILES);
    for (size_t i = 0; i < FILES; i++) {
        tz_close(files[i]);
        tb_free(built[i]);
    }
}

static void expect_no_call(const plain_item *items, size_t count, const char *reason)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = test_device;
    timeline_start(test_device);
    assert_int_equal(plain_read_batch(items, count, &how, &report, &err), TZ_OK);
    timeline_stop(test_device);
    assert_int_equal(timeline.count, 0);
    assert_string_equal(report.device.id, "");
    assert_non_null(strstr(report.device.reason, reason));
}

static void no_tiles_no_calls(void **state)
{
    (void)state;
    expect_no_call(NULL, 0, "nothing to decode");
    /* and where the device would decode none of them */
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_JPEG_RGB], 2, 2, NULL);
    tz_file *file = open_slow(b, &tile_streams[STREAM_JPEG_RGB]);
    static uint8_t pixels[3 * 32 * 32];
    const plain_item item = item_of(file, pixels);
    expect_no_call(&item, 1, "decodes no tile");
    tz_close(file);
    tb_free(b);
}

/* Tiles that are not there cost no read; for the host they cost no call either. */
static void sparse_tiles(void **state)
{
    (void)state;
    for (unsigned sparse = 1; sparse <= 2; sparse++) { /* all, or every second */
        for (unsigned to_device = 0; to_device < 2; to_device++) {
            tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], 10, 10, NULL);
            for (uint64_t tile = 0; tile < 100; tile += sparse)
                tb_patch_tile(b, 0, tile, 0, 0);
            tz_file *file = open_slow(b, &tile_streams[STREAM_LZW]);
            const costs c = read_file(file, to_device, 0);
            assert_int_equal(c.report.tiles_sparse, sparse == 1 ? 100 : 50);
            assert_int_equal(event_count, sparse == 1 ? 0 : 2);
            if (sparse == 1) {
                assert_int_equal(c.counts.uploads, to_device);
                assert_int_equal(c.counts.launches, to_device);
                assert_int_equal(c.counts.downloads, 0);
                assert_int_equal(c.counts.syncs, to_device);
            }
            tz_close(file);
            tb_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_calls_does_not_depend_on_tiles),
        cmocka_unit_test(waves_overlap),
        cmocka_unit_test(memory_is_used),
        cmocka_unit_test(all_sources_are_asked_before_any_is_waited_for),
        cmocka_unit_test(no_tiles_no_calls),
        cmocka_unit_test(sparse_tiles),
    };
    return cmocka_run_group_tests(tests, test_device_begin_keeping_nothing, test_device_end);
}
