/* SPDX-License-Identifier: Apache-2.0
 * Reads of tiles in JPEG 2000 at lower resolutions of their own: windows of what the whole image
 * then is, beside others of the same tiles, in memory that is planned; and never where it was not
 * asked for, or would mix what is valid with what is not. That the whole is right is for
 * tests/cli/test_reduction.py and unit/codec/test_codec_jp2_reduction.c. */
#include <stdlib.h>
#include <string.h>

#include "support/plain_read.h"
#include "support/raster_variants.h"

enum { WIDTH = 205, HEIGHT = 167, SIDE = 64 };

static uint32_t smaller(uint32_t size, unsigned times)
{
    return (size + (1u << times) - 1) >> times;
}

/* ---- files ---- */

typedef struct picture {
    tz_memory memory;
    tz_file *file;
    tz_dtype dtype;
    uint32_t bands;
} picture;

static picture open_raster(raster *r, tz_write_options options)
{
    picture p = {.dtype = r->spec.dtype, .bands = r->spec.bands};
    tz_error err;
    p.memory = raster_write(r, &options, NULL, NULL);
    raster_free(r);
    if (tz_open_memory(&p.file, p.memory.data, p.memory.size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return p;
}

static tz_write_options tiles_of(uint32_t side)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_JPEG2000);
    options.tile_width = options.tile_height = side;
    return options;
}

static picture make(tz_dtype dtype, uint32_t bands)
{
    raster r = raster_make(dtype, bands, WIDTH, HEIGHT, false);
    return open_raster(&r, tiles_of(SIDE));
}

static void drop(picture *p)
{
    tz_close(p->file);
    tz_memory_free(&p->memory);
}

/* ---- reads ---- */

static tz_read_options reducing(void)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.reduced_tiles = true;
    return how;
}

static plain_item item_of(const picture *p, tz_window window, uint32_t width, uint32_t height)
{
    const size_t size = (size_t)width * height * p->bands * tz_dtype_size(p->dtype);
    plain_item item = {
        .file = p->file,
        .window = window,
        .into = {.dtype = p->dtype, .bands = p->bands, .width = width, .height = height}};
    item.into.data = malloc(size);
    memset(item.into.data, 0x5A, size);
    return item;
}

static void read_item(plain_item *item, const tz_read_options *how, plain_report *report)
{
    tz_error err;
    if (plain_read(item, how, report, &err) != TZ_OK)
        fail_msg("%s", err.message);
}

static uint8_t *whole_of(const picture *p, unsigned times)
{
    const tz_read_options how = reducing();
    plain_item item = item_of(p, (tz_window){0}, smaller(WIDTH, times), smaller(HEIGHT, times));
    read_item(&item, &how, NULL);
    return item.into.data;
}

static const uint8_t *sample_at(const picture *p, const uint8_t *whole, unsigned times,
                                uint32_t band, uint32_t row, uint32_t column)
{
    const size_t width = smaller(WIDTH, times), height = smaller(HEIGHT, times);
    return whole + ((band * height + row) * width + column) * tz_dtype_size(p->dtype);
}

/* The item has the pixels of the whole from there on. */
static void check_part(const picture *p, const plain_item *item, const uint8_t *whole,
                       unsigned times, uint32_t column, uint32_t row)
{
    const tz_buffer *b = &item->into;
    const size_t size = tz_dtype_size(p->dtype);
    for (uint32_t band = 0; band < p->bands; band++)
        for (uint32_t y = 0; y < b->height; y++)
            assert_memory_equal((const uint8_t *)b->data +
                                    ((size_t)band * b->height + y) * b->width * size,
                                sample_at(p, whole, times, band, row + y, column), b->width * size);
}

/* ---- windows ---- */

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

/* Windows of whole pixels, or up to an edge of the image. */
static void windows_are_parts_of_the_whole(void **state)
{
    (void)state;
    static const tz_dtype types[] = {TZ_DTYPE_UINT8, TZ_DTYPE_UINT16, TZ_DTYPE_INT16};
    uint32_t random = 7;
    for (unsigned i = 0; i < 90; i++) {
        const unsigned times = i % 3 + 1, unit = 1u << times;
        picture p = make(types[i / 3 % 3], i / 9 % 2 ? 3 : 1);
        uint8_t *whole = whole_of(&p, times);
        const uint32_t x = random_below(&random, smaller(WIDTH, times));
        const uint32_t y = random_below(&random, smaller(HEIGHT, times));
        const uint32_t width = 1 + random_below(&random, smaller(WIDTH, times) - x);
        const uint32_t height = 1 + random_below(&random, smaller(HEIGHT, times) - y);
        const uint32_t right = (x + width) * unit, bottom = (y + height) * unit;
        const tz_window window = {x * unit, y * unit, (right < WIDTH ? right : WIDTH) - x * unit,
                                  (bottom < HEIGHT ? bottom : HEIGHT) - y * unit};
        const tz_read_options how = reducing();
        plain_outcome outcome = {0};
        plain_report report;
        plain_item item = item_of(&p, window, width, height);
        item.outcome = &outcome;
        read_item(&item, &how, &report);
        check_part(&p, &item, whole, times, x, y);
        assert_int_equal(outcome.reduction, times);
        assert_false(outcome.resampled);
        assert_memory_equal(&outcome.window, &window, sizeof window);
        assert_int_equal(report.tiles_reduced, report.tiles);
        free(item.into.data);
        free(whole);
        drop(&p);
    }
}

/* A new pixel for each that is asked for, whatever else the same tiles are wanted for. */
static void items_of_one_batch(void **state)
{
    (void)state;
    enum { ITEMS = 6 };
    static const uint32_t sizes[ITEMS][2] = {
        {WIDTH, HEIGHT}, {(WIDTH + 1) / 2, (HEIGHT + 1) / 2}, {(WIDTH + 3) / 4, (HEIGHT + 3) / 4},
        {61, 50},        {(WIDTH + 1) / 2, (HEIGHT + 1) / 2}, {30, 20}};
    picture p = make(TZ_DTYPE_UINT16, 3);
    tz_read_options how = reducing();
    plain_item items[ITEMS];
    plain_report report, one;
    tz_error err;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = item_of(&p, (tz_window){0}, sizes[i][0], sizes[i][1]);
    assert_int_equal(plain_read_batch(items, ITEMS, &how, &report, &err), TZ_OK);
    for (size_t i = 0; i < ITEMS; i++) {
        plain_item alone = item_of(&p, (tz_window){0}, sizes[i][0], sizes[i][1]);
        read_item(&alone, &how, &one);
        assert_memory_equal(items[i].into.data, alone.into.data,
                            (size_t)sizes[i][0] * sizes[i][1] * 6);
        assert_int_equal(one.tiles_reduced, i == 0 ? 0 : one.tiles);
        free(alone.into.data);
        free(items[i].into.data);
    }
    assert_true(report.tiles_shared >= 12); /* of the two that are alike */
    drop(&p);
}

/* ---- layouts ---- */

/* Also of tiles at the edges, which have all that they should have. */
static void check_quiet(const picture *p, unsigned times)
{
    const tz_read_options how = reducing();
    plain_report report;
    plain_item item = item_of(p, (tz_window){0}, smaller(WIDTH, times), smaller(HEIGHT, times));
    read_item(&item, &how, &report);
    assert_int_equal(report.warning_count, 0);
    free(item.into.data);
}

static void strips_planes_and_single_tiles(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        raster r = raster_make(TZ_DTYPE_INT16, 3, WIDTH, HEIGHT, false);
        tz_write_options options = tiles_of(kind == 3 ? 256 : SIDE);
        options.strips = kind < 2;
        options.tile_width = kind < 2 ? 0 : options.tile_width;
        options.tile_height = kind == 0 ? 16 : kind == 1 ? HEIGHT : options.tile_height;
        options.interleave = kind == 2 ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
        picture p = open_raster(&r, options);
        const tz_read_options how = reducing();
        for (unsigned times = 1; times <= 4; times++) {
            uint8_t *whole = whole_of(&p, times);
            plain_outcome outcome = {0};
            const uint32_t x = 3, y = 2, width = 5, height = 6, unit = 1u << times;
            plain_item item = item_of(
                &p, (tz_window){x * unit, y * unit, width * unit, height * unit}, width, height);
            item.outcome = &outcome;
            read_item(&item, &how, NULL);
            assert_int_equal(outcome.reduction, times);
            check_quiet(&p, times);
            check_part(&p, &item, whole, times, x, y);
            free(item.into.data);
            free(whole);
        }
        drop(&p);
    }
}

/* Strips of 10 rows can be halved once, and no more. */
static void as_often_as_tiles_can_be_halved(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 200, 160, false);
    tz_write_options options = tiles_of(SIDE);
    options.strips = true;
    options.tile_width = 0;
    options.tile_height = 10;
    picture p = open_raster(&r, options);
    tz_read_options how = reducing();
    plain_outcome outcome = {0};
    plain_item item = item_of(&p, (tz_window){0}, 50, 40);
    item.outcome = &outcome;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    read_item(&item, &how, NULL);
    assert_int_equal(outcome.reduction, 1);
    assert_true(outcome.resampled);
    free(item.into.data);
    drop(&p);
}

/* The overview that fits, and of that a lower resolution. */
static void overviews_first(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, WIDTH, HEIGHT, false);
    tz_write_options options = tiles_of(SIDE);
    options.cog = true;
    picture p = open_raster(&r, options);
    const tz_info *info = tz_file_get_info(p.file);
    const uint32_t last = info->level_count - 1;
    const tz_level *level = tz_file_get_level(p.file, last);
    tz_read_options how = reducing();
    plain_outcome outcome = {0};
    assert_true(last > 0);
    plain_item item =
        item_of(&p, (tz_window){0}, smaller(level->width, 2), smaller(level->height, 2));
    plain_item same = item;
    item.level = TZ_LEVEL_AUTO;
    item.outcome = &outcome;
    read_item(&item, &how, NULL);
    assert_int_equal(outcome.level, last);
    assert_int_equal(outcome.reduction, 2);
    assert_false(outcome.resampled);
    same.level = last;
    same.into.data = malloc((size_t)item.into.width * item.into.height);
    read_item(&same, &how, NULL);
    assert_memory_equal(same.into.data, item.into.data, (size_t)item.into.width * item.into.height);
    free(same.into.data);
    free(item.into.data);
    drop(&p);
}

static void turned_images(void **state)
{
    (void)state;
    for (unsigned orientation = 1; orientation <= 4; orientation++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 1, WIDTH, HEIGHT, false);
        r.spec.orientation = (uint16_t)orientation;
        picture p = open_raster(&r, tiles_of(SIDE));
        uint8_t *whole = whole_of(&p, 2);
        tz_read_options how = reducing();
        const uint32_t width = smaller(WIDTH, 2), height = smaller(HEIGHT, 2);
        how.oriented = true;
        plain_item item = item_of(&p, (tz_window){0}, width, height);
        read_item(&item, &how, NULL);
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                const uint32_t row = orientation > 2 ? height - 1 - y : y;
                const uint32_t column = orientation == 2 || orientation == 3 ? width - 1 - x : x;
                assert_int_equal(((uint8_t *)item.into.data)[y * width + x],
                                 whole[row * width + column]);
            }
        free(item.into.data);
        free(whole);
        drop(&p);
    }
}

static void beyond_the_edges_is_the_fill_value(void **state)
{
    (void)state;
    enum { W = 70, H = 60 };
    picture p = make(TZ_DTYPE_UINT8, 1);
    uint8_t *whole = whole_of(&p, 2);
    tz_read_options how = reducing();
    how.boundless = true;
    how.has_fill = true, how.fill = 99;
    plain_item item = item_of(&p, (tz_window){-12, -20, 4 * W, 4 * H}, W, H);
    read_item(&item, &how, NULL);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const bool inside = x >= 3 && y >= 5 && x - 3 < (int)smaller(WIDTH, 2) &&
                                y - 5 < (int)smaller(HEIGHT, 2);
            assert_int_equal(((uint8_t *)item.into.data)[y * W + x],
                             inside ? whole[(y - 5) * (int)smaller(WIDTH, 2) + x - 3] : 99);
        }
    free(item.into.data);
    free(whole);
    drop(&p);
}

/* A chessboard of the least and the most that samples can be. */
static picture make_steps(tz_dtype dtype, uint32_t bands)
{
    const bool is_signed = dtype == TZ_DTYPE_INT16;
    const size_t size = tz_dtype_size(dtype);
    raster r = raster_make(dtype, bands, WIDTH, HEIGHT, false);
    r.spec.photometric = bands == 3 ? TZ_PHOTOMETRIC_RGB : TZ_PHOTOMETRIC_MIN_IS_BLACK;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * bands; i++) {
        const bool is_white = (i % WIDTH / 9 + i / WIDTH / 7) % 2;
        const uint16_t value = (uint16_t)((is_white ? 0xFFFF : 0) ^ (is_signed ? 0x8000 : 0));
        memcpy((uint8_t *)r.pixels.data + i * size, &value, size);
    }
    return open_raster(&r, tiles_of(SIDE));
}

/* Low-pass filters overshoot at steps, beyond the range of samples: all decoders clamp, also after
 * the transform of colours. On a device, this compares it with the CPU. */
static void steps_from_the_least_to_the_most(void **state)
{
    (void)state;
    static const tz_dtype types[] = {TZ_DTYPE_UINT8, TZ_DTYPE_UINT16, TZ_DTYPE_INT16};
    for (unsigned i = 0; i < 3 * 3 * 2; i++) {
        const unsigned times = i / 2 % 3 + 1;
        picture p = make_steps(types[i / 6], i % 2 ? 3 : 1);
        uint8_t *whole = whole_of(&p, times);
        size_t extremes = 0;
        for (size_t k = 0; i == 0 && k < (size_t)smaller(WIDTH, 1) * smaller(HEIGHT, 1); k++)
            extremes += whole[k] == 0 || whole[k] == 255;
        assert_true(i > 0 || extremes > 1000);
        free(whole);
        drop(&p);
    }
}

/* ---- cost ---- */

static void plans_count_what_is_decoded(void **state)
{
    (void)state;
    picture p = make(TZ_DTYPE_UINT16, 3);
    tz_read_options how = reducing();
    plain_item item = item_of(&p, (tz_window){0}, smaller(WIDTH, 3), smaller(HEIGHT, 3));
    plain_report reduced, plain, read;
    tz_error err;
    how.threads = 1;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    assert_int_equal(plain_plan_read(&reduced, &item, 1, &how, &err), TZ_OK);
    read_item(&item, &how, &read);
    how.reduced_tiles = false;
    assert_int_equal(plain_plan_read(&plain, &item, 1, &how, &err), TZ_OK);
    assert_int_equal(reduced.tiles, plain.tiles);
    assert_int_equal(reduced.tiles_reduced, 12);
    assert_int_equal(read.tiles_reduced, 12);
    assert_int_equal(plain.tiles_reduced, 0);
    assert_int_equal(reduced.bytes_compressed, plain.bytes_compressed);
    assert_int_equal(reduced.largest_tile, 8 * 8 * 6);
    assert_int_equal(plain.largest_tile, SIDE * SIDE * 6);
    assert_int_equal(reduced.bytes_decoded, 12 * 8 * 8 * 6);
    assert_true(reduced.peak_host_bytes < plain.peak_host_bytes);
    free(item.into.data);
    drop(&p);
}

/* The largest size of a stream depends on its tile. */
static void large_streams_of_small_tiles(void **state)
{
    (void)state;
    enum { LARGE = 1024 };
    raster r = raster_make(TZ_DTYPE_UINT16, 1, LARGE, LARGE, false);
    uint32_t random = 1;
    for (size_t i = 0; i < (size_t)LARGE * LARGE; i++) {
        random ^= random << 13; /* noise, which rows of the other kind are not */
        random ^= random >> 17;
        random ^= random << 5;
        ((uint16_t *)r.pixels.data)[i] = (uint16_t)random;
    }
    picture p = open_raster(&r, tiles_of(LARGE));
    const tz_read_options how = reducing();
    plain_item item = item_of(&p, (tz_window){0}, LARGE / 8, LARGE / 8);
    read_item(&item, &how, NULL);
    free(item.into.data);
    drop(&p);
}

/* A tile that cannot be read is a note, and 0. */
static void broken_tiles_are_noted(void **state)
{
    (void)state;
    enum { TILES = 12 };
    picture p = make(TZ_DTYPE_UINT8, 1);
    uint8_t *whole = whole_of(&p, 3);
    tz_tile_span span;
    tz_tile_status statuses[TILES];
    plain_outcome outcome = {.tiles = statuses, .tile_room = TILES};
    tz_read_options how = reducing();
    tz_error err;
    assert_int_equal(tz_file_get_tile_spans(&span, p.file, 0, false, 5, 1, &err), TZ_OK);
    memset((uint8_t *)p.memory.data + span.offset, 0, 40);
    plain_item item = item_of(&p, (tz_window){0}, smaller(WIDTH, 3), smaller(HEIGHT, 3));
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.tile, 5);
    item.outcome = &outcome;
    read_item(&item, &how, NULL);
    assert_int_equal(outcome.tiles_failed, 1);
    for (uint32_t y = 0; y < item.into.height; y++)
        for (uint32_t x = 0; x < item.into.width; x++)
            assert_int_equal(((uint8_t *)item.into.data)[y * item.into.width + x],
                             x / 8 == 1 && y / 8 == 1 ? 0 : whole[y * item.into.width + x]);
    free(item.into.data);
    free(whole);
    drop(&p);
}

/* ---- what is not reduced ---- */

static void check_not_reduced(raster *r, tz_write_options options, tz_read_options how,
                              uint32_t width, uint32_t height)
{
    picture p = open_raster(r, options);
    plain_item expected = item_of(&p, (tz_window){0}, width, height);
    plain_item found = item_of(&p, (tz_window){0}, width, height);
    plain_outcome outcome = {0};
    plain_report report;
    tz_read_options plain = how;
    found.outcome = &outcome;
    plain.reduced_tiles = false;
    read_item(&expected, &plain, NULL);
    read_item(&found, &how, &report);
    assert_int_equal(outcome.reduction, 0);
    assert_int_equal(report.tiles_reduced, 0);
    assert_memory_equal(found.into.data, expected.into.data,
                        (size_t)width * height * p.bands * tz_dtype_size(p.dtype));
    free(found.into.data);
    free(expected.into.data);
    drop(&p);
}

static void what_is_not_reduced(void **state)
{
    (void)state;
    enum { NOT_ASKED, NODATA, MASK, ALPHA, OTHER_CODEC, MODE, ONE_AXIS, KINDS };
    for (unsigned kind = 0; kind < KINDS; kind++) {
        raster r = raster_make(TZ_DTYPE_UINT8, kind == ALPHA ? 4 : 1, WIDTH, HEIGHT, kind == MASK);
        tz_write_options options = tiles_of(SIDE);
        tz_read_options how = reducing();
        static const uint16_t alpha[] = {2};
        how.resampling = kind == MODE ? TZ_RESAMPLING_MODE : TZ_RESAMPLING_AVERAGE;
        how.reduced_tiles = kind != NOT_ASKED;
        if (kind == NODATA)
            r.spec.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value = {.u = 3}};
        if (kind == ALPHA) {
            r.spec.photometric = TZ_PHOTOMETRIC_RGB;
            r.spec.extra_samples = alpha;
            r.spec.extra_sample_count = 1;
        }
        if (kind == OTHER_CODEC)
            options.codec.compression = TZ_COMPRESSION_DEFLATE;
        check_not_reduced(&r, options, how, smaller(WIDTH, 2),
                          kind == ONE_AXIS ? HEIGHT : smaller(HEIGHT, 2));
    }
}

/* Another size is an error, but for one that the tiles have. */
static void without_resampling(void **state)
{
    (void)state;
    picture p = make(TZ_DTYPE_UINT8, 1);
    const tz_read_options how = reducing();
    plain_item item = item_of(&p, (tz_window){0}, smaller(WIDTH, 1), smaller(HEIGHT, 1));
    tz_error err;
    read_item(&item, &how, NULL);
    assert_int_equal(plain_read(&item, NULL, NULL, &err), TZ_ERR_ARG);
    item.into.width -= 1;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(err.expected, WIDTH);
    assert_int_equal(err.found, item.into.width);
    free(item.into.data);
    drop(&p);
}

/* ---- parts of a larger result ---- */

static void parts_of_a_result_are_those_of_the_whole(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height;
        tz_resampling method;
        uint32_t reduction;
    } cases[] = {{103, 84, TZ_RESAMPLING_NONE, 1},
                 {52, 42, TZ_RESAMPLING_NONE, 2},
                 {60, 50, TZ_RESAMPLING_AVERAGE, 1},
                 {40, 42, TZ_RESAMPLING_CUBIC, 2},
                 {33, 17, TZ_RESAMPLING_NEAREST, 2}};
    picture p = make(TZ_DTYPE_UINT8, 1);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const uint32_t width = cases[k].width, height = cases[k].height;
        tz_read_options how = reducing();
        how.resampling = cases[k].method;
        plain_item whole = item_of(&p, (tz_window){0}, width, height);
        read_item(&whole, &how, NULL);
        for (uint32_t column = 0, across; column < width; column += across) {
            across = 1 + (column * 7 + 11) % 23;
            across = across < width - column ? across : width - column;
            plain_outcome outcome = {0};
            plain_item part = item_of(&p, (tz_window){0}, across, height / 2);
            part.grid_width = width;
            part.grid_height = height;
            part.grid_column = column;
            part.grid_row = height / 3;
            part.outcome = &outcome;
            read_item(&part, &how, NULL);
            assert_int_equal(outcome.reduction, cases[k].reduction);
            for (uint32_t y = 0; y < height / 2; y++)
                assert_memory_equal(
                    (uint8_t *)part.into.data + (size_t)y * across,
                    (uint8_t *)whole.into.data + (size_t)(height / 3 + y) * width + column, across);
            free(part.into.data);
        }
        free(whole.into.data);
    }
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_result_are_those_of_the_whole),
        cmocka_unit_test(windows_are_parts_of_the_whole),
        cmocka_unit_test(items_of_one_batch),
        cmocka_unit_test(strips_planes_and_single_tiles),
        cmocka_unit_test(as_often_as_tiles_can_be_halved),
        cmocka_unit_test(overviews_first),
        cmocka_unit_test(turned_images),
        cmocka_unit_test(beyond_the_edges_is_the_fill_value),
        cmocka_unit_test(steps_from_the_least_to_the_most),
        cmocka_unit_test(plans_count_what_is_decoded),
        cmocka_unit_test(large_streams_of_small_tiles),
        cmocka_unit_test(broken_tiles_are_noted),
        cmocka_unit_test(what_is_not_reduced),
        cmocka_unit_test(without_resampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
