/* SPDX-License-Identifier: Apache-2.0
 * Reading what the buffer asks for rather than what is stored: turned images, alpha as a mask,
 * colours of clumps, tiles that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/codec.h"
#include "support/known_image.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

/* ---- orientation ---- */

/* Returns the position of a stored pixel in the upright image, by the TIFF specification's
 * definition of the 0th row and the 0th column. */
static void upright(unsigned orientation, uint32_t width, uint32_t height, uint32_t row,
                    uint32_t column, uint32_t *out_row, uint32_t *out_column)
{
    const uint32_t last_row = height - 1;
    const uint32_t last_column = width - 1;
    switch (orientation) {
    case 2: /* top, right */
        *out_row = row;
        *out_column = last_column - column;
        break;
    case 3: /* bottom, right */
        *out_row = last_row - row;
        *out_column = last_column - column;
        break;
    case 4: /* bottom, left */
        *out_row = last_row - row;
        *out_column = column;
        break;
    case 5: /* left, top */
        *out_row = column;
        *out_column = row;
        break;
    case 6: /* right, top */
        *out_row = column;
        *out_column = last_row - row;
        break;
    case 7: /* right, bottom */
        *out_row = last_column - column;
        *out_column = last_row - row;
        break;
    case 8: /* left, bottom */
        *out_row = last_column - column;
        *out_column = row;
        break;
    default:
        *out_row = row;
        *out_column = column;
        break;
    }
}

static void check_orientation(unsigned orientation, const tz_window *window)
{
    enum { W = 50, H = 41 };
    const bool swaps = orientation >= 5;
    const uint32_t width = swaps ? H : W;
    const uint32_t height = swaps ? W : H;
    const tz_window all = {0, 0, width, height};
    const tz_window *part = window ? window : &all;
    tb *b = make_image(TB_CLASSIC, tiled);
    TB_SHORTS(b, 0, 274, orientation);
    image i = open_built(b);
    uint16_t *pixels = malloc((size_t)part->width * part->height * 3 * 2);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.oriented = true;
    const plain_item item = {.file = i.file,
                             .window = window ? *window : (tz_window){0},
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT16,
                                      .bands = 3,
                                      .height = part->height,
                                      .width = part->width}};
    memset(pixels, 0xA5, (size_t)part->width * part->height * 3 * 2);
    read_ok(&item, &how, NULL);
    for (uint32_t row = 0; row < H; row++) {
        for (uint32_t column = 0; column < W; column++) {
            uint32_t y, x;
            upright(orientation, W, H, row, column, &y, &x);
            if (y < part->row || x < part->column || y >= part->row + part->height ||
                x >= part->column + part->width)
                continue;
            const size_t at = (size_t)(y - part->row) * part->width + (size_t)(x - part->column);
            for (uint32_t band = 0; band < 3; band++)
                assert_int_equal(pixels[band * (size_t)part->width * part->height + at],
                                 pixel(band, row, column, 16));
        }
    }
    free(pixels);
    close_image(&i);
}

static void turned_images_are_read_upright(void **state)
{
    (void)state;
    const tz_window part = {3, 7, 21, 13};
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        check_orientation(orientation, NULL);
        check_orientation(orientation, &part);
    }
}

static void rows_are_as_stored_unless_asked_otherwise(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, tiled);
    TB_SHORTS(b, 0, 274, 3);
    image i = open_built(b);
    uint16_t first[3];
    const plain_item item = {
        .file = i.file,
        .window = {0, 0, 1, 1},
        .into = {.data = first, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 1, .width = 1}};
    read_ok(&item, NULL, NULL);
    assert_int_equal(first[1], pixel(1, 0, 0, 16));
    close_image(&i);
}

/* ---- alpha ---- */

static void check_alpha(uint16_t planar, uint16_t kind, bool with_nodata)
{
    tb_spec spec = {.width = 20,
                    .height = 20,
                    .tile_width = 16,
                    .tile_height = 16,
                    .bits = 16,
                    .samples = 4,
                    .planar = planar,
                    .photometric = 2};
    tb *b = make_image(TB_BIG_ENDIAN, spec);
    TB_SHORTS(b, 0, 338, kind);
    if (with_nodata)
        tb_set_text(b, 0, 42113, "1026"); /* band 1, row 0, column 1 */
    image i = open_built(b);
    /* make alpha 0 in column 5 of row 2 */
    const uint64_t tile = planar == 2 ? 3 * 4 : 0;
    const size_t at = planar == 2 ? (2 * 16 + 5) * 2 : ((2 * 16 + 5) * 4 + 3) * 2;
    memset(b->data + b->ifds[0].tile_offsets[tile] + at, 0, 2);
    uint16_t pixels[3 * 400];
    uint8_t mask[3 * 400];
    const uint32_t bands[] = {2, 0, 1};
    const plain_item item = {
        .file = i.file,
        .bands = bands,
        .band_count = 3,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 20, .width = 20},
        .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = 20, .width = 20}};
    plain_report report;
    memset(mask, 0x33, sizeof mask);
    read_ok(&item, NULL, &report);
    for (uint32_t band = 0; band < 3; band++) {
        for (uint32_t k = 0; k < 400; k++) {
            const bool by_alpha = !with_nodata && k == 2 * 20 + 5;
            const bool by_nodata = with_nodata && pixels[band * 400 + k] == 1026;
            assert_int_equal(pixels[band * 400 + k], pixel(bands[band], k / 20, k % 20, 16));
            assert_int_equal(mask[band * 400 + k], by_alpha || by_nodata ? 0 : 255);
        }
    }
    if (planar == 1)
        assert_int_equal(report.tiles, 4); /* pixels and alpha come from the same tiles */
    close_image(&i);
}

static void alpha_is_a_mask_where_there_is_no_nodata(void **state)
{
    (void)state;
    for (uint16_t planar = 1; planar <= 2; planar++) {
        check_alpha(planar, 1, false);
        check_alpha(planar, 2, false);
        check_alpha(planar, 2, true);
    }
}

/* ---- clumps ---- */

static void check_clumps(uint16_t across, uint16_t down, uint32_t width, uint32_t height,
                         bool tiled_)
{
    const uint32_t tile_width = tiled_ ? 16 : width;
    const uint32_t tile_height = tiled_ ? 16 : height;
    const uint32_t clumps = (tile_width + across - 1) / across;
    const uint32_t rows = (tile_height + down - 1) / down;
    const uint32_t clump = across * down + 2u;
    tb_spec spec = {.width = width,
                    .height = height,
                    .tile_width = tiled_ ? 16 : 0,
                    .tile_height = tiled_ ? 16 : 0,
                    .rows_per_strip = height,
                    .samples = 3,
                    .photometric = 6,
                    .tile_bytes = clumps * rows * clump};
    tb *b = tb_new(TB_CLASSIC);
    tb_image(b, &spec);
    TB_SHORTS(b, 0, 530, across, down);
    b->ifds[0].spec.sparse = true; /* this test fills the tiles */
    tb_finish(b);
    for (uint64_t t = 0; t < b->ifds[0].tile_count; t++) {
        uint8_t *p = b->data + b->ifds[0].tile_offsets[t];
        for (uint32_t k = 0; k < spec.tile_bytes; k++)
            p[k] = (uint8_t)(t * 101 + k * 7);
    }
    image i = open_built(b);
    uint8_t *pixels = malloc((size_t)width * height * 3);
    const plain_item item = {.file = i.file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 3,
                                      .height = height,
                                      .width = width,
                                      .band_stride = 1,
                                      .row_stride = (int64_t)width * 3,
                                      .column_stride = 3}};
    read_ok(&item, NULL, NULL);
    const uint32_t tiles_across = (width + tile_width - 1) / tile_width;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t t = y / tile_height * tiles_across + x / tile_width;
            const uint8_t *p = b->data + b->ifds[0].tile_offsets[t];
            const uint32_t tx = x % tile_width;
            const uint32_t ty = y % tile_height;
            const uint8_t *c = p + (ty / down * clumps + tx / across) * clump;
            const uint8_t *found = pixels + ((size_t)y * width + x) * 3;
            assert_int_equal(found[0], c[ty % down * across + tx % across]);
            assert_int_equal(found[1], c[across * down]);
            assert_int_equal(found[2], c[across * down + 1]);
        }
    }
    free(pixels);
    close_image(&i);
}

static void clumps_of_colours_become_pixels(void **state)
{
    (void)state;
    static const uint16_t steps[][2] = {{2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}, {1, 2}};
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        check_clumps(steps[k][0], steps[k][1], 19, 21, false);
        check_clumps(steps[k][0], steps[k][1], 1, 1, false);
        check_clumps(steps[k][0], steps[k][1], 40, 23, true);
    }
}

/* ---- tiles that fail ---- */

enum { TILES = 8, PIXELS = 50 * 41 }; /* of the image "tiled" */

typedef struct read_of_tiles {
    uint16_t pixels[3 * PIXELS];
    uint8_t mask[3 * PIXELS];
    tz_tile_status list[TILES];
    plain_outcome outcome;
    plain_item item;
} read_of_tiles;

static read_of_tiles *new_read(const tz_file *file)
{
    read_of_tiles *r = calloc(1, sizeof *r);
    r->outcome = (plain_outcome){.tiles = r->list, .tile_room = TILES};
    r->item = (plain_item){
        .file = file,
        .into =
            {.data = r->pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 41, .width = 50},
        .mask = {.data = r->mask, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = 41, .width = 50},
        .outcome = &r->outcome};
    return r;
}

/* Every pixel is the stored one and valid, or of a failed tile, nodata and masked. */
static void check_pixels(const read_of_tiles *r, uint16_t nodata)
{
    for (uint32_t k = 0; k < 3 * PIXELS; k++) {
        const uint32_t row = k % PIXELS / 50;
        const uint32_t column = k % 50;
        const tz_tile_status *status = &r->list[row / 32 * 4 + column / 16];
        const bool failed = status->result != TZ_OK;
        assert_int_equal(r->pixels[k], failed ? nodata : pixel(k / PIXELS, row, column, 16));
        assert_int_equal(r->mask[k], failed ? 0 : 255);
    }
}

static void bad_tiles_are_noted_in_the_outcome(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_set_text(b, 0, 42113, "65535");
    tb_finish(b);
    tb_patch_tile(b, 0, 2, b->size - 1, 3072);              /* leaves the file */
    tb_patch_tile(b, 0, 5, b->ifds[0].tile_offsets[5], 17); /* too few bytes */
    image i = open_built(b);
    read_of_tiles *r = new_read(i.file);
    plain_report report;
    read_ok(&r->item, NULL, &report);
    assert_int_equal(r->outcome.tile_count, TILES);
    assert_int_equal(r->outcome.tiles_failed, 2);
    assert_int_equal(report.tiles_failed, 2);
    assert_int_equal(report.tiles_copied, TILES - 2);
    for (uint32_t k = 0; k < TILES; k++) {
        assert_int_equal(r->list[k].tile, k);
        assert_int_equal(r->list[k].level, 0);
        assert_int_equal(r->list[k].result, k == 2 || k == 5 ? TZ_ERR_FORMAT : TZ_OK);
    }
    assert_int_equal(r->list[2].cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(r->list[5].cause, TZ_CAUSE_CODEC);
    check_pixels(r, 65535);
    free(r);
    close_image(&i);
}

/* The file's own mask says that all is valid; a tile that failed is not. */
static void bad_tiles_are_masked_whatever_the_mask_says(void **state)
{
    (void)state;
    for (int with_alpha = 0; with_alpha < 2; with_alpha++) {
        tb_spec spec = tiled;
        spec.samples = with_alpha ? 4 : 3;
        spec.planar = with_alpha ? 2 : 1;
        spec.photometric = 2;
        tb *b = make_image(TB_CLASSIC, spec);
        int mask = -1;
        if (with_alpha)
            TB_SHORTS(b, 0, 338, 2);
        else
            mask = tb_image(b, &(tb_spec){.width = 50,
                                          .height = 41,
                                          .tile_width = 16,
                                          .tile_height = 32,
                                          .bits = 1,
                                          .photometric = 4,
                                          .subfile = 4,
                                          .tile_bytes = 64});
        tb_finish(b);
        tb_patch_tile(b, 0, 5, b->ifds[0].tile_offsets[5], 17); /* of the first band when planar */
        if (mask >= 0)
            b->ifds[mask].spec.sparse = true; /* filled here */
        image i = open_built(b);
        for (uint64_t t = 0; mask >= 0 && t < b->ifds[mask].tile_count; t++)
            memset(b->data + tb_tile_at(b, mask, t), 0xFF, tb_tile_size(b, mask, t));
        read_of_tiles *r = new_read(i.file);
        tz_tile_status list[40];
        const uint32_t bands[] = {0, 1, 2};
        r->item.bands = bands;
        r->item.band_count = 3;
        r->outcome = (plain_outcome){.tiles = list, .tile_room = 40};
        read_ok(&r->item, NULL, NULL);
        assert_int_equal(r->outcome.tiles_failed, 1);
        assert_int_equal(list[5].result, TZ_ERR_FORMAT);
        for (uint32_t k = 0; k < 3 * PIXELS; k++) {
            const uint32_t row = k % PIXELS / 50;
            const uint32_t column = k % 50;
            const bool failed = row / 32 == 1 && column / 16 == 1;
            assert_int_equal(r->mask[k], failed ? 0 : 255);
        }
        free(r);
        close_image(&i);
    }
}

static void without_salvage_a_bad_tile_is_an_error(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_finish(b);
    tb_patch_tile(b, 0, 5, b->ifds[0].tile_offsets[5], 17);
    image i = open_built(b);
    read_of_tiles *r = new_read(i.file);
    r->outcome.tiles = NULL;
    tz_error err;
    assert_int_equal(plain_read(&r->item, NULL, NULL, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.tile, 5);
    assert_int_equal(err.cause, TZ_CAUSE_CODEC);
    free(r);
    close_image(&i);
}

static void tiles_that_cannot_be_decoded_are_noted(void **state)
{
    (void)state;
    tb_spec spec = tiled;
    spec.compression = 5;
    image i = open_image(TB_CLASSIC, spec); /* its bytes are not LZW */
    read_of_tiles *r = new_read(i.file);
    plain_report report;
    read_ok(&r->item, NULL, &report);
    assert_true(r->outcome.tiles_failed > 0);
    assert_int_equal(report.tiles_failed + report.tiles_decoded, TILES);
    for (uint32_t k = 0; k < TILES; k++) {
        if (r->list[k].result != TZ_OK)
            assert_int_equal(r->list[k].cause, TZ_CAUSE_CODEC);
    }
    free(r);
    close_image(&i);
}

static void the_plan_says_which_tiles_an_item_has(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    read_of_tiles *r = new_read(i.file);
    r->outcome = (plain_outcome){0};
    tz_error err;
    assert_int_equal(plain_plan_read(NULL, &r->item, 1, NULL, &err), TZ_OK);
    assert_int_equal(r->outcome.tile_count, TILES);
    assert_int_equal(r->outcome.level, 0);
    assert_false(r->outcome.resampled);
    assert_int_equal(r->outcome.window.width, 50);
    free(r);
    close_image(&i);
}

/* ---- reads ---- */

static void neighbours_in_the_file_are_read_together(void **state)
{
    (void)state;
    tb_spec spec = {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .bits = 8};
    image i = open_image(TB_CLASSIC, spec);
    uint8_t *pixels = malloc(640 * 640);
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 640, .width = 640}};
    plain_report report;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = 2;
    read_ok(&item, &how, &report);
    assert_int_equal(report.tiles, 1600);
    assert_true(report.requests <= 32);
    assert_int_equal(report.bytes_compressed, 640 * 640);
    assert_true(report.bytes_read >= report.bytes_compressed);
    for (uint32_t k = 0; k < 640 * 640; k++)
        assert_int_equal(pixels[k], pixel(0, k / 640, k % 640, 8));
    free(pixels);
    close_image(&i);
}

/* Only the columns of a wide strip that the window covers are read. */
static void narrow_windows_read_narrow_parts(void **state)
{
    (void)state;
    tb_spec spec = {.width = 40000, .height = 20, .rows_per_strip = 20, .bits = 16};
    image i = open_image(TB_BIG_ENDIAN, spec);
    uint16_t pixels[9 * 7];
    const plain_item item = {
        .file = i.file,
        .window = {31234, 3, 7, 9},
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 9, .width = 7}};
    plain_report report;
    read_ok(&item, NULL, &report);
    assert_int_equal(report.tiles, 1);
    assert_int_equal(report.bytes_compressed, 9 * 7 * 2);
    for (uint32_t k = 0; k < 63; k++)
        assert_int_equal(pixels[k], pixel(0, 3 + k / 7, 31234 + k % 7, 16));
    close_image(&i);
}

/* Two tiles with the same bytes, in the other byte order: each is its own. */
static void tiles_may_share_bytes(void **state)
{
    (void)state;
    tb_spec spec = {.width = 32, .height = 16, .tile_width = 16, .tile_height = 16, .bits = 16};
    tb *b = make_image(TB_BIG_ENDIAN, spec);
    tb_finish(b);
    tb_patch_tile(b, 0, 1, b->ifds[0].tile_offsets[0], 512);
    image i = open_built(b);
    uint16_t pixels[16 * 32];
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 16, .width = 32}};
    read_ok(&item, NULL, NULL);
    for (uint32_t k = 0; k < 16 * 32; k++)
        assert_int_equal(pixels[k], pixel(0, k / 32, k % 16, 16));
    close_image(&i);
}

/* Codecs that can write rows do so in the buffer itself: next to other pixels, which they leave
 * alone, and up to its very end. */
static void check_straight(const tile_stream *stream, uint32_t across, bool is_direct)
{
    tb *b = tf_new(TB_CLASSIC, stream, across, 2, NULL);
    tz_file *file = tf_open(b);
    const uint32_t width = across * TILE;
    const size_t row = (size_t)width * stream->bands;
    const size_t pad = across > 1 ? 5 : 0;
    uint8_t *pixels = malloc(32 * (row + pad));
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = stream->bands,
                                      .height = 32,
                                      .width = width,
                                      .band_stride = 1,
                                      .row_stride = (int64_t)(row + pad),
                                      .column_stride = stream->bands}};
    plain_report report;
    memset(pixels, 0xA5, 32 * (row + pad));
    read_ok(&item, NULL, &report);
    assert_int_equal(report.tiles_direct, is_direct ? across * 2 : 0);
    plain_report planned;
    assert_int_equal(plain_plan_read(&planned, &item, 1, NULL, NULL), TZ_OK);
    assert_int_equal(planned.tiles_direct, report.tiles_direct);
    assert_int_equal(planned.tiles_decoded, report.tiles_decoded);
    assert_int_equal(planned.requests, report.requests);
    for (uint32_t y = 0; y < 32; y++) {
        for (size_t k = 0; k < row; k++) {
            const uint32_t x = (uint32_t)(k / stream->bands);
            assert_int_equal(pixels[y * (row + pad) + k],
                             tf_pixel(stream, (uint32_t)(k % stream->bands), y % TILE, x % TILE));
        }
        for (size_t k = row; k < row + pad; k++)
            assert_int_equal(pixels[y * (row + pad) + k], 0xA5);
    }
    free(pixels);
    tz_close(file);
    tb_free(b);
}

static void codecs_decode_straight_into_the_buffer(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        const tile_stream *stream = &tile_streams[i];
        const tz_context ctx = {.ifd = -1};
        const tz_decoder *codec = NULL;
        if (!tf_available(stream) || i == STREAM_NONE)
            continue;
        assert_int_equal(tz_decoder_find(stream->compression, &ctx, &codec), TZ_OK);
        check_straight(stream, 3, codec->flags & TZ_DECODER_ANY_STRIDE);
        check_straight(stream, 1, codec->flags & TZ_DECODER_NO_OVERRUN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_images_are_read_upright),
        cmocka_unit_test(rows_are_as_stored_unless_asked_otherwise),
        cmocka_unit_test(alpha_is_a_mask_where_there_is_no_nodata),
        cmocka_unit_test(clumps_of_colours_become_pixels),
        cmocka_unit_test(bad_tiles_are_noted_in_the_outcome),
        cmocka_unit_test(bad_tiles_are_masked_whatever_the_mask_says),
        cmocka_unit_test(without_salvage_a_bad_tile_is_an_error),
        cmocka_unit_test(tiles_that_cannot_be_decoded_are_noted),
        cmocka_unit_test(the_plan_says_which_tiles_an_item_has),
        cmocka_unit_test(neighbours_in_the_file_are_read_together),
        cmocka_unit_test(narrow_windows_read_narrow_parts),
        cmocka_unit_test(tiles_may_share_bytes),
        cmocka_unit_test(codecs_decode_straight_into_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
