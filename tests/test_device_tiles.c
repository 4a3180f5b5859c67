/* SPDX-License-Identifier: Apache-2.0
 * Tiles on a real OpenCL device: predictor 2 and placement give the bytes that a plain loop gives,
 * for all widths and samples, tiles that stick out on every side, and with the number of calls that
 * one tile takes. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/tiles.h"
#include "double/pocl.h"
#include "support/check.h"

#define ROUNDS 60

static uint32_t seed = 12345;

static uint32_t below(uint32_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % count;
}

/* ---- a random case ---- */

typedef struct layout {
    uint32_t tile_width, tile_height, samples, sample_bytes;
    uint32_t width, height;  /* of the raster */
    uint32_t skip_x, skip_y; /* the raster begins within its first tile */
    uint32_t across, down;
    bool predictor, swap;
    uint64_t raster_offset, row_bytes, table, slab_size, raster_size, count;
} layout;

static uint64_t pixel_bytes(const layout *c)
{
    return (uint64_t)c->samples * c->sample_bytes;
}

static uint64_t tile_size(const layout *c)
{
    return (uint64_t)c->tile_width * c->tile_height * pixel_bytes(c);
}

static layout random_layout(void)
{
    layout c = {.tile_width = 1 + below(67),
                .tile_height = 1 + below(67),
                .samples = 1 + below(4),
                .sample_bytes = 1u << below(4),
                .width = 1 + below(67),
                .height = 1 + below(67),
                .predictor = below(4) != 0,
                .swap = below(2)};
    c.skip_x = below(c.tile_width);
    c.skip_y = below(c.tile_height);
    c.across = (c.skip_x + c.width + c.tile_width - 1) / c.tile_width;
    c.down = (c.skip_y + c.height + c.tile_height - 1) / c.tile_height;
    c.count = (uint64_t)c.across * c.down;
    c.row_bytes = c.width * pixel_bytes(&c) + below(9);
    c.raster_offset = below(17);
    c.raster_size = c.raster_offset + c.row_bytes * c.height + below(9);
    c.table = below(9);
    c.slab_size = c.table + c.count * (sizeof(tz_tile_entry) + tile_size(&c) + 5);
    return c;
}

/* Tiles at odd places in the slab, last one first. */
static void make_tiles(const layout *c, tz_tile_entry *tiles, uint8_t *slab)
{
    uint64_t at = c->table + c->count * sizeof *tiles;
    for (uint64_t i = 0; i < c->slab_size; i++)
        slab[i] = (uint8_t)below(256);
    for (uint64_t i = c->count; i-- > 0;) {
        at += below(6);
        tiles[i] = (tz_tile_entry){.offset = at,
                                   .x = (int64_t)(i % c->across * c->tile_width) - c->skip_x,
                                   .y = (int64_t)(i / c->across * c->tile_height) - c->skip_y};
        at += tile_size(c);
    }
    memcpy(slab + c->table, tiles, c->count * sizeof *tiles);
}

/* ---- what should come out: one sample after the other, without any code of the library ---- */

static uint64_t load(const uint8_t *at, uint32_t bytes, bool swap)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[swap ? bytes - 1 - i : i] << 8 * i;
    return value;
}

static void undo_tile(const layout *c, uint8_t *tile)
{
    const uint64_t row = c->tile_width * pixel_bytes(c);
    for (uint64_t y = 0; y < c->tile_height; y++) {
        for (uint64_t i = 0; i < (uint64_t)c->tile_width * c->samples; i++) {
            uint8_t *at = tile + y * row + i * c->sample_bytes;
            uint64_t value = load(at, c->sample_bytes, c->swap);
            if (i >= c->samples)
                value += load(at - pixel_bytes(c), c->sample_bytes, false);
            for (uint32_t b = 0; b < c->sample_bytes; b++)
                at[b] = (uint8_t)(value >> 8 * b);
        }
    }
}

static void expect(const layout *c, const tz_tile_entry *tiles, uint8_t *slab, uint8_t *raster)
{
    for (uint64_t i = 0; c->predictor && i < c->count; i++)
        undo_tile(c, slab + tiles[i].offset);
    for (uint64_t y = 0; y < c->height; y++) {
        for (uint64_t x = 0; x < c->width; x++) {
            const uint64_t in_x = x + c->skip_x, in_y = y + c->skip_y;
            const uint64_t tile = in_y / c->tile_height * c->across + in_x / c->tile_width;
            const uint64_t pixel = in_y % c->tile_height * c->tile_width + in_x % c->tile_width;
            memcpy(raster + c->raster_offset + y * c->row_bytes + x * pixel_bytes(c),
                   slab + tiles[tile].offset + pixel * pixel_bytes(c), pixel_bytes(c));
        }
    }
}

/* ---- what the device makes of it ---- */

static void run(const layout *c, const tz_tile_entry *tiles, const uint8_t *slab, uint8_t *raster)
{
    tz_error err;
    tz_device_memory *in = NULL, *out = NULL;
    assert_int_equal(tz_device_alloc(pocl_device, c->slab_size, &in, &err), TZ_OK);
    assert_int_equal(tz_device_alloc(pocl_device, c->raster_size, &out, &err), TZ_OK);
    const tz_tile_batch batch = {.tiles = tiles,
                                 .count = c->count,
                                 .slab = in,
                                 .table = c->table,
                                 .width = c->tile_width,
                                 .height = c->tile_height,
                                 .samples = c->samples,
                                 .sample_bytes = c->sample_bytes};
    const tz_device_raster where = {.memory = out,
                                    .offset = c->raster_offset,
                                    .row_bytes = c->row_bytes,
                                    .width = c->width,
                                    .height = c->height};
    assert_int_equal(tz_device_upload(0, out, 0, raster, c->raster_size, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, in, 0, slab, c->slab_size, &err), TZ_OK);
    if (c->predictor)
        assert_int_equal(tz_tiles_undo_predictor2(&batch, c->swap, 0, &err), TZ_OK);
    assert_int_equal(tz_tiles_place(&batch, &where, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, raster, out, 0, c->raster_size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(pocl_device, 0, &err), TZ_OK);
    tz_device_free(in);
    tz_device_free(out);
}

static void compare(const layout *c)
{
    tz_tile_entry *tiles = calloc(c->count, sizeof *tiles);
    uint8_t *slab = malloc(c->slab_size);
    uint8_t *expected = malloc(c->raster_size);
    uint8_t *found = malloc(c->raster_size);
    make_tiles(c, tiles, slab);
    memset(expected, 0x5a, c->raster_size); /* what lies between rows stays as it is */
    memset(found, 0x5a, c->raster_size);
    run(c, tiles, slab, found);
    expect(c, tiles, slab, expected);
    assert_memory_equal(found, expected, c->raster_size);
    free(tiles);
    free(slab);
    free(expected);
    free(found);
}

static void test_random(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const layout c = random_layout();
        compare(&c);
    }
}

static void test_calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    tz_device_counts first = {0}, wave;
    for (uint32_t size = 1; size <= 64; size *= 8) {
        layout c = {.tile_width = 1, .tile_height = 1, .samples = 1, .sample_bytes = 2};
        c.width = c.height = c.across = c.down = size;
        c.predictor = true;
        c.count = (uint64_t)size * size;
        c.row_bytes = size * 2u;
        c.raster_size = c.row_bytes * size;
        c.slab_size = c.count * (sizeof(tz_tile_entry) + 2 + 5);
        tz_device_begin_wave(pocl_device);
        compare(&c);
        tz_device_get_counts(pocl_device, NULL, &wave);
        if (size == 1)
            first = wave;
        assert_int_equal(wave.allocations, first.allocations);
        assert_int_equal(wave.uploads, first.uploads);
        assert_int_equal(wave.downloads, 1);
        assert_int_equal(wave.launches, 2);
        assert_int_equal(wave.syncs, 1);
    }
}

/* ---- what a kernel would have to trust ---- */

static void refuse(const tz_tile_batch *batch, const char *text)
{
    tz_error err;
    assert_int_equal(tz_tiles_undo_predictor2(batch, false, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
}

static void test_wrong_places(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *slab = NULL;
    assert_int_equal(tz_device_alloc(pocl_device, 100, &slab, &err), TZ_OK);
    tz_tile_entry tile = {.offset = 24};
    const tz_tile_batch good = {.tiles = &tile,
                                .count = 1,
                                .slab = slab,
                                .width = 19,
                                .height = 4,
                                .samples = 1,
                                .sample_bytes = 1};
    assert_int_equal(tz_tiles_check(&good, &err), TZ_OK);
    tz_tile_batch batch = good;
    batch.sample_bytes = 3;
    refuse(&batch, "shape");
    batch = good;
    batch.table = 77;
    refuse(&batch, "table");
    batch = good;
    tile.offset = 25;
    refuse(&batch, "not within the slab");
    tile.offset = UINT64_MAX;
    refuse(&batch, "not within the slab");
    tile.offset = 24;
    tile.x = INT64_MIN;
    refuse(&batch, "too far");
    tile.x = 0;
    tz_device_raster raster = {.memory = slab, .width = 10, .height = 10, .row_bytes = 10};
    raster.offset = 1;
    assert_int_equal(tz_tiles_place(&batch, &raster, 0, &err), TZ_ERR_ARG);
    raster.offset = 0;
    raster.row_bytes = 9;
    assert_int_equal(tz_tiles_place(&batch, &raster, 0, &err), TZ_ERR_ARG);
    batch.count = 0; /* nothing to do is no error */
    assert_int_equal(tz_tiles_undo_predictor2(&batch, false, 0, &err), TZ_OK);
    tz_device_free(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_calls_do_not_depend_on_tiles),
        cmocka_unit_test(test_wrong_places),
    };
    return cmocka_run_group_tests(tests, pocl_begin, pocl_end);
}
