/* SPDX-License-Identifier: Apache-2.0
 * Destinations of a device's pixels: buffers that do not fit are refused before anything is read,
 * host and device buffers share tiles of one read, tiles that the device cannot decode are the
 * CPU's, or an error where that is wanted, and memory has limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/device/test_device.h"
#include "support/device/timeline.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/sized.h"
#include "support/tile_file.h"

enum { ACROSS = 5, DOWN = 4, WIDTH = ACROSS * TILE, HEIGHT = DOWN * TILE, PIXELS = WIDTH * HEIGHT };

static plain_item item_of(const tz_file *file)
{
    return (plain_item){.file = file,
                        .into = {.dtype = TZ_DTYPE_UINT8,
                                 .bands = tz_file_get_info(file)->bands,
                                 .height = HEIGHT,
                                 .width = WIDTH}};
}

static tz_device_memory *memory_of(tz_device *device, size_t size)
{
    tz_device_memory *memory = NULL;
    tz_error err;
    uint8_t *poison = malloc(size);
    memset(poison, 0xA5, size);
    assert_int_equal(tz_device_memory_alloc(&memory, device, size, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 0, poison, size, &err), TZ_OK);
    free(poison);
    return memory;
}

static void check_pixels(const tile_stream *stream, const uint8_t *pixels, size_t first_bad,
                         size_t bad_count)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint32_t row = i / WIDTH, column = i % WIDTH;
        const size_t tile = row / TILE * ACROSS + column / TILE;
        const bool bad = tile >= first_bad && tile < first_bad + bad_count;
        assert_int_equal(pixels[i], bad ? 0 : tf_pixel(stream, 0, row % TILE, column % TILE));
    }
}

/* ---- arguments ---- */

static void refuse(const plain_item *item, tz_device *device, const char *text)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = device;
    timeline_start(test_device);
    assert_int_equal(plain_read(item, &how, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(plain_plan_read(NULL, item, 1, &how, NULL), TZ_ERR_ARG);
    timeline_stop(test_device);
    assert_int_equal(timeline.count, 0);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
}

static void buffers_lie_within_their_memory(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    tz_device *other = test_device_open(NULL);
    tz_device_memory *memory = memory_of(test_device, PIXELS + 10);
    tz_device_memory *foreign = memory_of(other, PIXELS);
    const plain_item none = item_of(file);
    plain_item item = none;
    refuse(&item, test_device, "no memory");
    plain_on_device(&item.into, memory);
    refuse(&item, NULL, "no device is to read");
    plain_on_device(&item.into, foreign);
    refuse(&item, test_device, "another device");
    plain_on_device(&item.into, memory);
    item.into.offset = 11;
    refuse(&item, test_device, "past the end");
    item.into.offset = UINT64_MAX;
    refuse(&item, test_device, "past the end");
    item.into.offset = 10 + WIDTH * (HEIGHT - 1) - 1;
    item.into.column_stride = 1;
    item.into.row_stride = -WIDTH;
    item.into.band_stride = PIXELS;
    item.into.offset = WIDTH * (HEIGHT - 1) - 1;
    refuse(&item, test_device, "before its memory");
    item.into.offset++;
    item.into.row_stride = INT64_MIN;
    refuse(&item, test_device, "before its memory");
    item.into.row_stride = INT64_MAX;
    refuse(&item, test_device, "past the end");
    item = none;
    plain_on_device(&item.into, memory);
    item.mask = item.into;
    item.mask.offset = 11;
    refuse(&item, test_device, "past the end");
    item.mask.offset = 0;
    plain_on_device(&item.mask, foreign);
    refuse(&item, test_device, "another device");
    tz_device_memory_free(memory);
    tz_device_memory_free(foreign);
    tz_device_close(other);
    tz_close(file);
    tb_free(b);
}

/* ---- strides, and items of all kinds in one read ---- */

/* One file read whole into the host, upside down into the device, with gaps, and a part of it. */
static void host_and_device_share_tiles(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW, STREAM_LZMA};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const tile_stream *stream = &tile_streams[streams[i]];
        if (!tf_available(stream))
            continue;
        tb *b = tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
        tz_file *file = tf_open(b);
        static uint8_t plain[PIXELS], mask[PIXELS], turned[2 * PIXELS], part[30 * 20];
        tz_device_memory *memory = memory_of(test_device, sizeof turned);
        tz_device_memory *second = memory_of(test_device, sizeof part);
        plain_item items[3] = {item_of(file), item_of(file), item_of(file)};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_report report;
        tz_error err;
        items[0].into.data = plain;
        plain_on_device(&items[1].into, memory);
        items[1].into.offset = 2 * WIDTH * (HEIGHT - 1);
        items[1].into.row_stride = -2 * WIDTH;
        items[1].into.column_stride = 2;
        items[1].into.band_stride = 1;
        items[1].mask = item_of(file).into;
        items[1].mask.data = mask;
        plain_on_device(&items[2].into, second);
        items[2].into.width = 30;
        items[2].into.height = 20;
        items[2].window = (tz_window){11, 13, 30, 20};
        how.device = test_device;
        assert_int_equal(plain_read_batch(items, 3, &how, &report, &err), TZ_OK);
        assert_int_equal(report.tiles, ACROSS * DOWN);
        assert_int_equal(report.device.tiles, stream->compression == 5 ? ACROSS * DOWN : 0);
        assert_int_equal(report.device.tiles_on_cpu,
                         stream->compression == 34925 ? ACROSS * DOWN : 0);
        assert_int_equal(tz_device_copy_out(turned, memory, 0, sizeof turned, &err), TZ_OK);
        assert_int_equal(tz_device_copy_out(part, second, 0, sizeof part, &err), TZ_OK);
        check_pixels(stream, plain, 0, 0);
        for (uint32_t k = 0; k < PIXELS; k++) {
            const uint32_t row = k / WIDTH, column = k % WIDTH;
            const uint8_t *at = turned + 2 * WIDTH * (HEIGHT - 1 - row) + 2 * column;
            assert_int_equal(at[0], plain[k]);
            assert_int_equal(at[1], 0xA5);
            assert_int_equal(mask[k], 255);
        }
        for (uint32_t k = 0; k < sizeof part; k++)
            assert_int_equal(part[k], plain[(13 + k / 30) * WIDTH + 11 + k % 30]);
        tz_device_memory_free(memory);
        tz_device_memory_free(second);
        tz_close(file);
        tb_free(b);
    }
}

/* ---- tiles that the device cannot do ---- */

typedef struct bad_read {
    tz_result result;
    tz_error err;
    plain_report report;
    plain_outcome outcome;
    uint8_t pixels[PIXELS], mask[PIXELS];
} bad_read;

static void read_bad(bad_read *r, const tb *b, bool to_device, bool strict, bool with_list)
{
    static tz_tile_status list[ACROSS * DOWN];
    tz_file *file = tf_open(b);
    plain_item item = item_of(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    tz_device_memory *memory = memory_of(test_device, 2 * PIXELS);
    memset(r, 0, sizeof *r);
    r->outcome = (plain_outcome){.tiles = with_list ? list : NULL, .tile_room = ACROSS * DOWN};
    item.outcome = &r->outcome;
    item.mask = item.into;
    item.into.data = r->pixels;
    item.mask.data = r->mask;
    if (to_device) {
        plain_on_device(&item.into, memory);
        plain_on_device(&item.mask, memory);
        item.mask.offset = PIXELS;
    }
    how.device = test_device;
    how.strict_device = strict;
    r->result = plain_read(&item, &how, &r->report, &r->err);
    if (to_device) {
        assert_int_equal(tz_device_copy_out(r->pixels, memory, 0, PIXELS, &err), TZ_OK);
        assert_int_equal(tz_device_copy_out(r->mask, memory, PIXELS, PIXELS, &err), TZ_OK);
    }
    tz_device_memory_free(memory);
    tz_close(file);
}

static void check_mask(const bad_read *r, size_t bad)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        const size_t tile = i / WIDTH / TILE * ACROSS + i % WIDTH / TILE;
        assert_int_equal(r->mask[i], tile == bad ? 0 : 255);
    }
}

/* One tile is broken: only that one fails, by the codec's own word. */
static void a_bad_tile_is_the_only_one(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_LZW, STREAM_DEFLATE, STREAM_PACKBITS, STREAM_LZ4,
                                  STREAM_ZSTD};
    static const uint8_t junk[] = {0x13, 0xFF, 0x00, 0x77, 0x31, 0x08};
    static bad_read r;
    for (size_t i = 0; i < 4 * sizeof streams / sizeof streams[0]; i++) {
        const tile_stream *stream = &tile_streams[streams[i / 4]];
        const bool to_device = i % 2 != 0, strict = i % 4 / 2 != 0;
        if (!tf_available(stream))
            continue;
        tb *b = tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
        tf_put(b, 7, junk, sizeof junk);
        read_bad(&r, b, to_device, strict, false);
        assert_int_equal(r.result, TZ_ERR_FORMAT);
        assert_int_equal(r.err.cause, TZ_CAUSE_CODEC);
        assert_int_equal(r.err.tile, 7);
        read_bad(&r, b, to_device, strict, true);
        assert_int_equal(r.result, TZ_OK);
        assert_int_equal(r.outcome.tiles_failed, 1);
        assert_int_equal(r.outcome.tiles[7].cause, TZ_CAUSE_CODEC);
        assert_int_equal(r.report.tiles_failed, 1);
        assert_int_equal(r.report.device.tiles, ACROSS * DOWN - 1);
        assert_int_equal(r.report.device.tiles_redone, 1);
        check_pixels(stream, r.pixels, 7, 1);
        check_mask(&r, 7);
        tb_free(b);
    }
}

/* Decoded in vain by the device and then by the CPU; other pixels stay. */
static void a_bad_tile_has_the_fill(void **state)
{
    (void)state;
    static const uint8_t junk[] = {0x13, 0xFF, 0x00, 0x77, 0x31, 0x08};
    static uint8_t expected[PIXELS], found[PIXELS];
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tf_put(b, 7, junk, sizeof junk);
    tz_file *file = tf_open(b);
    tz_device_memory *memory = memory_of(test_device, sizeof found);
    plain_item item = item_of(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    item.into.data = expected;
    how.salvage = true;
    how.has_fill = true, how.fill = 77;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    assert_int_equal(expected[7 / ACROSS * TILE * WIDTH + 7 % ACROSS * TILE], 77);
    how.device = test_device;
    item.into.data = found;
    for (int to_device = 0; to_device < 2; to_device++) {
        memset(found, 0, sizeof found);
        if (to_device)
            plain_on_device(&item.into, memory);
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        assert_int_equal(report.device.tiles_redone, 1);
        assert_int_equal(report.tiles_failed, 1);
        if (to_device)
            assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
        assert_memory_equal(found, expected, sizeof found);
    }
    tz_device_memory_free(memory);
    tz_close(file);
    tb_free(b);
}

/* Bytes after a tile: a warning, which is the CPU's to give; a device that must do all refuses.
 */
static void an_odd_tile_is_done_once_more(void **state)
{
    (void)state;
    const tile_stream *stream = &tile_streams[STREAM_LZW];
    static bad_read r;
    for (unsigned to_device = 0; to_device < 2; to_device++) {
        tb *b = tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
        uint8_t bytes[1000] = {0};
        memcpy(bytes, stream->data, stream->size);
        tf_put(b, 3, bytes, stream->size + 5);
        tf_put(b, 17, bytes, stream->size + 7);
        read_bad(&r, b, to_device, false, false);
        assert_int_equal(r.result, TZ_OK);
        assert_int_equal(r.report.warning_count, 1);
        assert_int_equal(r.report.warnings[0].count, 2);
        assert_int_equal(r.report.warnings[0].tile, 3);
        assert_int_equal(r.report.device.tiles_redone, 2);
        assert_int_equal(r.report.device.tiles, ACROSS * DOWN - 2);
        check_pixels(stream, r.pixels, 0, 0);
        check_mask(&r, SIZE_MAX);
        read_bad(&r, b, to_device, true, false);
        assert_int_equal(r.result, TZ_ERR_DEVICE);
        assert_int_equal(r.err.tile, 3);
        read_bad(&r, b, to_device, false, false); /* the device itself is fine */
        assert_int_equal(r.result, TZ_OK);
        tb_free(b);
    }
}

static void what_a_device_lacks_is_an_error_where_that_is_wanted(void **state)
{
    (void)state;
    static bad_read r;
    for (unsigned to_device = 0; to_device < 2; to_device++) {
        tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_JPEG], ACROSS, DOWN, NULL);
        read_bad(&r, b, to_device, true, false);
        assert_int_equal(r.result, TZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(r.err.message, "JPEG"));
        assert_non_null(strstr(r.err.message, tz_device_get_info(test_device)->id));
        read_bad(&r, b, to_device, false, false);
        assert_int_equal(r.result, TZ_OK);
        check_pixels(&tile_streams[STREAM_JPEG], r.pixels, 0, 0);
        tb_free(b);
    }
}

static void resampling_is_done_by_the_cpu(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    tz_device_memory *memory = memory_of(test_device, 40 * 30);
    static uint8_t expected[40 * 30], found[40 * 30];
    plain_item item = item_of(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    item.into.width = 40;
    item.into.height = 30;
    item.into.data = expected;
    how.resampling = TZ_RESAMPLING_CUBIC;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    plain_on_device(&item.into, memory);
    how.device = test_device;
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_int_equal(report.device.uploads, 1);
    assert_int_equal(report.device.downloads, 0);
    assert_non_null(strstr(report.device.reason, "resample"));
    assert_true(report.peak_host_bytes >= sizeof found);
    assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
    assert_memory_equal(found, expected, sizeof found);
    how.max_host_bytes = sizeof found;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_host_bytes");
    how.max_host_bytes = 0;
    how.strict_device = true;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_UNSUPPORTED);
    tz_device_memory_free(memory);
    tz_close(file);
    tb_free(b);
}

/* Windows beside the level, around it, and across its corners; also in little memory. */
static void what_is_outside_is_filled(void **state)
{
    (void)state;
    enum { SIDE = 300 };
    static const tz_window windows[] = {{1000, 1000, SIDE, SIDE},
                                        {-SIDE, 0, SIDE, SIDE},
                                        {-100, -100, SIDE, SIDE},
                                        {WIDTH - 5, HEIGHT - 3, SIDE, SIDE},
                                        {WIDTH - SIDE + 9, HEIGHT - SIDE + 1, SIDE, SIDE}};
    static uint8_t expected[2 * SIDE * SIDE], found[2 * SIDE * SIDE];
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    tz_device_memory *memory = memory_of(test_device, sizeof found);
    tz_error err;
    for (size_t i = 0; i < 2 * sizeof windows / sizeof windows[0]; i++) {
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_item item = item_of(file);
        plain_report report;
        item.window = windows[i / 2];
        item.into.width = item.into.height = SIDE;
        item.mask = item.into;
        item.into.data = expected;
        item.mask.data = expected + SIDE * SIDE;
        how.boundless = true;
        how.has_fill = true, how.fill = 77;
        assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
        plain_on_device(&item.into, memory);
        plain_on_device(&item.mask, memory);
        item.mask.offset = SIDE * SIDE;
        how.device = test_device;
        how.max_device_bytes = i % 2 ? 40000 : 0;
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        assert_true(report.device.peak > 0 && report.device.peak == report.device.memory);
        assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
        assert_memory_equal(found, expected, sizeof found);
    }
    tz_device_memory_free(memory);
    tz_close(file);
    tb_free(b);
}

/* Nodata of a file whose bands have scales of their own, in the type of the buffer: as the CPU
 * fills it, wherever the buffers are. */
static void what_is_outside_is_nodata_of_each_band(void **state)
{
    (void)state;
    enum { SIDE = 50, BYTES = 2 * SIDE * SIDE * (int)sizeof(double) };
    static const tz_metadata_item items[] = {SIZED_ITEM("", "SCALE", "0.25", "scale", 0),
                                             SIZED_ITEM("", "OFFSET", "100", "offset", 1)};
    static uint8_t expected[BYTES], found[BYTES];
    raster r = raster_make(TZ_DTYPE_INT16, 2, 40, 36, false);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_INT, {.i = -9999}};
    r.spec.metadata = items;
    r.spec.metadata_count = 2;
    tz_write_options layout = TZ_WRITE_OPTIONS_INIT;
    layout.tile_width = layout.tile_height = 16;
    tz_memory bytes = raster_write(&r, &layout, NULL, NULL);
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&file, bytes.data, bytes.size, NULL, &err), TZ_OK);
    tz_device_memory *memory = memory_of(test_device, sizeof found);
    for (unsigned i = 0; i < 8; i++) {
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_item item = {.file = file,
                           .window = {-5, -6, SIDE, SIDE},
                           .into = {.data = expected,
                                    .dtype = TZ_DTYPE_FLOAT64,
                                    .bands = 2,
                                    .height = SIDE,
                                    .width = SIDE}};
        how.boundless = true;
        how.scaled = i & 1;
        how.nodata_to_nan = i & 2;
        how.has_fill = i & 4;
        assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
        double first[2];
        memcpy(&first[0], expected, sizeof first[0]);
        memcpy(&first[1], expected + BYTES / 2, sizeof first[1]);
        if (how.has_fill)
            assert_true(first[0] == 0 && first[1] == 0);
        else if (how.nodata_to_nan)
            assert_true(first[0] != first[0] && first[1] != first[1]);
        else if (!how.scaled || tz_build_feature("expat"))
            assert_true(first[0] == (how.scaled ? -9999 * 0.25 : -9999) &&
                        first[1] == (how.scaled ? -9899 : -9999));
        plain_on_device(&item.into, memory);
        how.device = test_device;
        assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
        assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
        assert_memory_equal(found, expected, sizeof found);
    }
    tz_device_memory_free(memory);
    tz_close(file);
    tz_memory_free(&bytes);
    raster_free(&r);
}

/* Kernels know NaN as a replacement, in floats; any other is the CPU's, with a reason or an error.
 */
static void nodata_is_replaced_by_the_cpu_unless_by_nan(void **state)
{
    (void)state;
    enum { SIDE = 36, BYTES = 2 * SIDE * SIDE * (int)sizeof(float) };
    static const struct {
        tz_nodata as;
        tz_dtype dtype;
        bool by_device;
    } cases[] = {{{TZ_NODATA_KIND_INT, {.i = 7}}, TZ_DTYPE_FLOAT32, false},
                 {{TZ_NODATA_KIND_FLOAT, {.f = 0.5}}, TZ_DTYPE_FLOAT32, false},
                 {{TZ_NODATA_KIND_FLOAT, {.f = (double)NAN}}, TZ_DTYPE_INT16, false},
                 {{TZ_NODATA_KIND_FLOAT, {.f = (double)NAN}}, TZ_DTYPE_FLOAT32, true}};
    static uint8_t expected[BYTES], found[BYTES];
    raster r = raster_make(TZ_DTYPE_INT16, 2, SIDE, SIDE, false);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_INT, {.i = 0}};
    for (uint32_t k = 0; k < 2 * SIDE * SIDE; k += 3)
        ((int16_t *)r.pixels.data)[k] = 0;
    tz_write_options layout = TZ_WRITE_OPTIONS_INIT;
    layout.tile_width = layout.tile_height = 16;
    tz_memory bytes = raster_write(&r, &layout, NULL, NULL);
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&file, bytes.data, bytes.size, NULL, &err), TZ_OK);
    tz_device_memory *memory = memory_of(test_device, sizeof found);
    for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
        const bool by_device = cases[c / 2].by_device;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_item item = {.file = file,
                           .into = {.data = expected,
                                    .dtype = cases[c / 2].dtype,
                                    .bands = 2,
                                    .height = SIDE,
                                    .width = SIDE}};
        plain_report report;
        memset(expected, 0xA5, sizeof expected);
        memset(found, 0xA5, sizeof found);
        how.nodata_as = cases[c / 2].as;
        assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
        item.into.data = found;
        how.device = test_device;
        if (c % 2)
            plain_on_device(&item.into, memory);
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        assert_int_equal(report.device.launches > 0, by_device);
        assert_int_equal(strstr(report.device.reason, "replace nodata") == NULL, by_device);
        if (c % 2)
            assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
        assert_memory_equal(found, expected, 2 * SIDE * SIDE * tz_dtype_size(cases[c / 2].dtype));
        how.strict_device = true;
        assert_int_equal(plain_read(&item, &how, NULL, &err),
                         by_device ? TZ_OK : TZ_ERR_UNSUPPORTED);
        if (!by_device)
            assert_non_null(strstr(err.message, "replace nodata"));
    }
    tz_device_memory_free(memory);
    tz_close(file);
    tz_memory_free(&bytes);
    raster_free(&r);
}

/* ---- limits ---- */

/* From a single byte on: an error that names the limit, and then, with ever more, the pixels. */
static void memory_has_limits(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    static uint8_t pixels[PIXELS];
    plain_item item = item_of(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    uint64_t waves = 0;
    bool has_failed = false;
    item.into.data = pixels;
    how.device = test_device;
    for (how.max_device_bytes = 1; how.max_device_bytes < 1 << 20;
         how.max_device_bytes += 1 + how.max_device_bytes / 3) {
        const tz_result result = plain_read(&item, &how, &report, &err);
        if (result != TZ_OK) {
            assert_int_equal(result, TZ_ERR_LIMIT);
            assert_string_equal(err.limit, "max_device_bytes");
            assert_int_equal(err.expected, how.max_device_bytes);
            assert_true(err.found > how.max_device_bytes);
            assert_int_equal(waves, 0); /* what fitted once fits with more */
            has_failed = true;
            continue;
        }
        assert_true(report.device.peak <= how.max_device_bytes);
        waves = report.device.waves;
        check_pixels(&tile_streams[STREAM_LZW], pixels, 0, 0);
        memset(pixels, 0, sizeof pixels);
    }
    assert_true(has_failed);
    assert_int_equal(waves, 1);
    how.max_device_bytes = 0;
    how.max_host_bytes = 1000;
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_host_bytes");
    tz_close(file);
    tb_free(b);
}

/* More tiles than a plan lists at once: lists are made again between waves. */
static void many_tiles(void **state)
{
    (void)state;
    enum { COLUMNS = 7, ROWS = 40000 };
    tb *b = tb_new(TB_CLASSIC);
    tb_image(b, &(tb_spec){
                    .width = COLUMNS, .height = ROWS, .rows_per_strip = 1, .tile_bytes = COLUMNS});
    tb_finish(b);
    for (uint64_t i = 0; i < COLUMNS * ROWS; i++)
        b->data[b->size - 1 - i] = (uint8_t)(i * 7 + i / 1000);
    tz_file *file = tf_open(b);
    static uint8_t expected[COLUMNS * ROWS], found[COLUMNS * ROWS];
    tz_device_memory *memory = memory_of(test_device, sizeof found);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    plain_item item = {.file = file,
                       .into = {.data = expected,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = ROWS,
                                .width = COLUMNS}};
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    how.device = test_device;
    for (unsigned i = 0; i < 2; i++) {
        item.into.data = found;
        if (i)
            plain_on_device(&item.into, memory);
        memset(found, 0, sizeof found);
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        if (i)
            assert_int_equal(tz_device_copy_out(found, memory, 0, sizeof found, &err), TZ_OK);
        assert_memory_equal(found, expected, sizeof found);
        assert_int_equal(report.waves, 3);
        assert_int_equal(report.tiles, ROWS);
        assert_int_equal(report.device.waves, 3);
    }
    tz_device_memory_free(memory);
    tz_close(file);
    tb_free(b);
}

/* The plan's host memory is the memory that is taken, lists and pinned memory together. */
static void memory_of_the_host_is_planned(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], 30, 30, NULL);
    tz_file *file = tf_open(b);
    static uint8_t pixels[30 * 30 * TILE * TILE];
    plain_item item = {.file = file,
                       .into = {.data = pixels,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = 30 * TILE,
                                .width = 30 * TILE}};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    tz_device_options keeps_nothing = TZ_DEVICE_OPTIONS_INIT;
    keeps_nothing.max_pinned_bytes = 1;
    tz_device *device = test_device_open(&keeps_nothing);
    how.device = device;
    for (how.max_host_bytes = (uint64_t)1 << 19; how.max_host_bytes < (uint64_t)1 << 31;
         how.max_host_bytes *= 4) {
        uint64_t pinned = 0;
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK); /* programs are kept */
        timeline_start(device);
        alloc_hook_install();
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        timeline_stop(device);
        const timeline_step *steps = timeline.steps;
        const size_t count = timeline.count;
        for (size_t i = 0; i < count; i++)
            pinned += steps[i].call == TZ_CALL_ALLOC_PINNED ? steps[i].bytes : 0;
        assert_true(pinned > 0);
        assert_true(report.peak_host_bytes <= how.max_host_bytes);
        /* items, views and the device's own notes are small */
        assert_true(pinned + (uint64_t)stats.peak_bytes <= report.peak_host_bytes + 16384);
    }
    tz_device_close(device);
    tz_close(file);
    tb_free(b);
}

static bool stop_at_once(void *user, uint64_t done, uint64_t total)
{
    uint64_t *last = user;
    assert_true(done >= *last && done <= total && total == ACROSS * DOWN);
    *last = done;
    return done < total / 2;
}

static void progress_can_cancel(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    static uint8_t pixels[PIXELS];
    uint64_t last = 0;
    plain_item item = item_of(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    item.into.data = pixels;
    how.device = test_device;
    do { /* so much that there are some waves */
        how.max_device_bytes += 1000;
    } while (plain_plan_read(&report, &item, 1, &how, &err) != TZ_OK);
    assert_true(report.device.waves >= 4);
    how.progress = (tz_progress){stop_at_once, &last};
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_CANCELLED);
    assert_true(last >= ACROSS * DOWN / 2 && last < ACROSS * DOWN);
    how.progress = (tz_progress){0};
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    check_pixels(&tile_streams[STREAM_LZW], pixels, 0, 0);
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_lie_within_their_memory),
        cmocka_unit_test(host_and_device_share_tiles),
        cmocka_unit_test(a_bad_tile_is_the_only_one),
        cmocka_unit_test(a_bad_tile_has_the_fill),
        cmocka_unit_test(an_odd_tile_is_done_once_more),
        cmocka_unit_test(what_a_device_lacks_is_an_error_where_that_is_wanted),
        cmocka_unit_test(resampling_is_done_by_the_cpu),
        cmocka_unit_test(what_is_outside_is_filled),
        cmocka_unit_test(what_is_outside_is_nodata_of_each_band),
        cmocka_unit_test(nodata_is_replaced_by_the_cpu_unless_by_nan),
        cmocka_unit_test(memory_has_limits),
        cmocka_unit_test(many_tiles),
        cmocka_unit_test(memory_of_the_host_is_planned),
        cmocka_unit_test(progress_can_cancel),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
