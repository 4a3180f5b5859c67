/* SPDX-License-Identifier: Apache-2.0
 * JPEG: tiles made by libjpeg itself, then broken byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jpeglib.h>

#include "support/codec_run.h"

/* ---------------------------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------------------------ */

typedef struct stream {
    uint8_t *data;
    unsigned long size;
    uint8_t *tables; /* when they are apart */
    unsigned long tables_size;
} stream;

typedef struct recipe {
    unsigned width, height, components;
    J_COLOR_SPACE from, stored;
    int h, v; /* sampling of the first component; (1) */
    bool progressive;
    bool apart; /* tables in a stream of their own */
    bool adobe;
    bool scans_apart; /* one scan for each component */
    unsigned restart;
} recipe;

static void set_up(struct jpeg_compress_struct *c, const recipe *r)
{
    c->image_width = r->width;
    c->image_height = r->height;
    c->input_components = (int)r->components;
    c->in_color_space = r->from;
    jpeg_set_defaults(c);
    jpeg_set_colorspace(c, r->stored);
    jpeg_set_quality(c, 85, TRUE);
    for (int i = 0; i < c->num_components; i++)
        c->comp_info[i].h_samp_factor = c->comp_info[i].v_samp_factor = 1;
    c->comp_info[0].h_samp_factor = r->h > 0 ? r->h : 1;
    c->comp_info[0].v_samp_factor = r->v > 0 ? r->v : 1;
    c->write_JFIF_header = FALSE;
    c->write_Adobe_marker = r->adobe;
    c->restart_interval = r->restart;
    if (r->progressive)
        jpeg_simple_progression(c);
}

static stream encode(const recipe *r, const uint8_t *pixels)
{
    stream s = {0};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[4];
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    set_up(&c, r);
    if (r->scans_apart) {
        for (int i = 0; i < c.num_components; i++)
            scans[i] = (jpeg_scan_info){1, {i, 0, 0, 0}, 0, 63, 0, 0};
        c.scan_info = scans;
        c.num_scans = c.num_components;
    }
    if (r->apart) {
        jpeg_mem_dest(&c, &s.tables, &s.tables_size);
        jpeg_write_tables(&c);
    }
    jpeg_mem_dest(&c, &s.data, &s.size);
    jpeg_start_compress(&c, !r->apart);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)(pixels + (size_t)c.next_scanline * r->width * r->components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return s;
}

static void free_stream(stream *s)
{
    free(s->data);
    free(s->tables);
}

static tz_tile_format format_of(const recipe *r, const stream *s)
{
    tz_tile_format format = {.width = r->width,
                             .height = r->height,
                             .samples = (uint16_t)r->components,
                             .bits = 8,
                             .sample_format = 1,
                             .compression = 7,
                             .photometric = r->components == 1 ? 1 : 2,
                             .subsampling = {2, 2}};
    if (r->stored == JCS_YCbCr)
        format.photometric = 6;
    if (r->components == 4)
        format.photometric = 5;
    if (r->h > 0) {
        format.subsampling[0] = (uint16_t)r->h;
        format.subsampling[1] = (uint16_t)r->v;
    } else {
        format.subsampling[0] = format.subsampling[1] = 1;
    }
    format.tables = s->tables;
    format.tables_size = s->tables_size;
    return format;
}

/* What libjpeg makes of it by itself, with the colours forced as TIFF needs them. */
static uint8_t *reference(const recipe *r, const stream *s)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    memset(&d, 0, sizeof d);
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    if (s->tables) {
        jpeg_mem_src(&d, s->tables, s->tables_size);
        assert_int_equal(jpeg_read_header(&d, FALSE), JPEG_HEADER_TABLES_ONLY);
    }
    jpeg_mem_src(&d, s->data, s->size);
    jpeg_read_header(&d, TRUE);
    bool ycbcr = r->stored == JCS_YCbCr;
    d.jpeg_color_space = ycbcr ? JCS_YCbCr : JCS_UNKNOWN;
    d.out_color_space = ycbcr ? JCS_RGB : JCS_UNKNOWN;
    jpeg_start_decompress(&d);
    size_t row_size = (size_t)r->width * r->components;
    uint8_t *pixels = run_alloc(row_size * r->height);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = pixels + d.output_scanline * row_size;
        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
    return pixels;
}

/* Where the n-th marker of this kind is (its FF); the stream's size when there is none. */
static size_t find_marker(const stream *s, uint8_t marker, unsigned n)
{
    for (size_t i = 0; i + 1 < s->size; i++)
        if (s->data[i] == 0xFF && s->data[i + 1] == marker && n-- == 0)
            return i;
    return s->size;
}

static void insert(stream *s, size_t at, const void *bytes, size_t size)
{
    uint8_t *grown = run_alloc(s->size + size);
    memcpy(grown, s->data, at);
    memcpy(grown + at, bytes, size);
    memcpy(grown + at + size, s->data + at, s->size - at);
    free(s->data);
    s->data = grown;
    s->size += size;
}

static void cut(stream *s, size_t at, size_t size)
{
    memmove(s->data + at, s->data + at + size, s->size - at - size);
    s->size -= size;
}

enum { SOF0 = 0xC0, DHT = 0xC4, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB };

/* A picture, its stream, and the codec open for it. */
typedef struct fixture {
    codec_run run;
    recipe recipe;
    uint8_t *pixels;
    stream s;
    tz_tile_format format;
} fixture;

static void begin(fixture *f, recipe r)
{
    f->recipe = r;
    f->pixels = run_picture(r.width, r.height, r.components);
    f->s = encode(&r, f->pixels);
    f->format = format_of(&r, &f->s);
    run_open(&f->run, &tz_codec_jpeg);
}

static void end(fixture *f)
{
    run_close(&f->run);
    free_stream(&f->s);
    free(f->pixels);
}

static void check_round_trip(recipe r)
{
    fixture f;
    begin(&f, r);
    uint8_t *expected = reference(&r, &f.s);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_memory_equal(out, expected, (size_t)r.width * r.height * r.components);
    bench_silent(&f.run.bench);
    free(out);
    free(expected);
    end(&f);
}

#define GREY  .components = 1, .from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE
#define RGB   .components = 3, .from = JCS_RGB, .stored = JCS_RGB
#define YCBCR .components = 3, .from = JCS_RGB, .stored = JCS_YCbCr
#define CMYK  .components = 4, .from = JCS_CMYK, .stored = JCS_CMYK

/* ---------------------------------------------------------------------------------------------
 * Tiles that are in order
 * ------------------------------------------------------------------------------------------ */

static void every_colour_model_gives_libjpegs_pixels(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 32, .height = 24, GREY});
    check_round_trip((recipe){.width = 32, .height = 24, RGB});
    check_round_trip((recipe){.width = 32, .height = 24, YCBCR});
    check_round_trip((recipe){.width = 32, .height = 24, CMYK});
}

static void every_subsampling_gives_libjpegs_pixels(void **state)
{
    (void)state;
    static const int factors[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        check_round_trip(
            (recipe){.width = 50, .height = 35, YCBCR, .h = factors[i][0], .v = factors[i][1]});
}

static void odd_sizes_give_libjpegs_pixels(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {15, 17}, {17, 1}, {1, 33}, {129, 3}, {64, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_round_trip((recipe){.width = sizes[i][0], .height = sizes[i][1], GREY});
        check_round_trip(
            (recipe){.width = sizes[i][0], .height = sizes[i][1], YCBCR, .h = 2, .v = 2});
    }
}

static void progressive_and_separate_scans_are_read(void **state)
{
    (void)state;
    check_round_trip(
        (recipe){.width = 70, .height = 50, YCBCR, .h = 2, .v = 2, .progressive = true});
    check_round_trip((recipe){.width = 70, .height = 50, GREY, .progressive = true});
    check_round_trip((recipe){.width = 70, .height = 50, RGB, .scans_apart = true});
}

static void tables_apart_are_used(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 40, .height = 40, YCBCR, .h = 2, .v = 2, .apart = true});
    check_round_trip((recipe){.width = 40, .height = 40, GREY, .apart = true});
}

/* FillOrder 2 turns no bits: libtiff's streams are the same with either. */
static void the_fill_order_does_not_apply(void **state)
{
    (void)state;
    assert_true(tz_codec_jpeg.flags & TZ_CODEC_ANY_FILL);
    fixture f;
    begin(&f, (recipe){.width = 40, .height = 24, YCBCR, .apart = true});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.fill_order = 2;
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
    free(out);
    free(expected);
    end(&f);
}

static void restart_intervals_are_read(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 64, .height = 64, YCBCR, .h = 2, .v = 2, .restart = 3});
}

/* One state, tiles with tables of their own in between: none may leave anything behind. */
static void tables_of_one_tile_do_not_reach_the_next(void **state)
{
    (void)state;
    fixture apart, whole;
    begin(&apart, (recipe){.width = 40, .height = 40, YCBCR, .apart = true});
    begin(&whole, (recipe){.width = 40, .height = 40, YCBCR, .progressive = true});
    whole.format.tables = apart.format.tables; /* progressive tables differ from the shared ones */
    whole.format.tables_size = apart.format.tables_size;
    uint8_t *expected = reference(&apart.recipe, &apart.s);
    uint8_t *expected_whole = reference(&whole.recipe, &whole.s);
    for (int i = 0; i < 3; i++) {
        uint8_t *out = run_decode(&apart.run, &apart.format, apart.s.data, apart.s.size);
        assert_memory_equal(out, expected, 40 * 40 * 3);
        free(out);
        out = run_decode(&apart.run, &whole.format, whole.s.data, whole.s.size);
        assert_memory_equal(out, expected_whole, 40 * 40 * 3);
        free(out);
    }
    tz_tile_format bare = apart.format;
    bare.tables = NULL;
    bare.tables_size = 0;
    run_refuses_saying(&apart.run, &bare, apart.s.data, apart.s.size, REFUSED_CODEC, "missing");
    free(expected);
    free(expected_whole);
    end(&apart);
    end(&whole);
}

static void other_tables_at_the_same_address_are_noticed(void **state)
{
    (void)state;
    fixture one, two;
    begin(&one, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    begin(&two, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    for (size_t i = 0; i < 64; i++) /* coarser quantization */
        two.s.tables[find_marker(&(stream){two.s.tables, two.s.tables_size, NULL, 0}, DQT, 0) + 5 +
                     i] = 99;
    uint8_t *tables = run_alloc(one.s.tables_size);
    uint8_t *expected_one = reference(&one.recipe, &one.s);
    uint8_t *expected_two = reference(&two.recipe, &two.s);
    one.format.tables = tables;
    for (int i = 0; i < 4; i++) {
        const fixture *now = i % 2 ? &two : &one;
        memcpy(tables, now->s.tables, one.s.tables_size);
        uint8_t *out = run_decode(&one.run, &one.format, now->s.data, now->s.size);
        assert_memory_equal(out, i % 2 ? expected_two : expected_one, 16 * 16);
        free(out);
    }
    assert_memory_not_equal(expected_one, expected_two, 16 * 16);
    free(tables);
    free(expected_one);
    free(expected_two);
    end(&one);
    end(&two);
}

static void a_grey_stream_may_have_any_sampling_factors(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 33, .height = 20, GREY, .h = 2, .v = 2});
}

static void a_missing_end_of_image_is_no_loss(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, RGB});
    uint8_t *expected = reference(&f.recipe, &f.s);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size - 2);
    assert_memory_equal(out, expected, 32 * 24 * 3);
    free(out);
    free(expected);
    end(&f);
}

static void a_tile_like_the_last_needs_no_allocation(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 256, .height = 256, YCBCR, .h = 2, .v = 2, .apart = true});
    assert_int_equal(run_allocations(&f.run, &f.format, f.s.data, f.s.size), 0);
    end(&f);
    begin(&f, (recipe){.width = 256, .height = 256, YCBCR, .h = 2, .v = 2, .progressive = true});
    assert_int_equal(run_allocations(&f.run, &f.format, f.s.data, f.s.size), 0);
    end(&f);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 100,
                       .height = 100,
                       YCBCR,
                       .h = 2,
                       .v = 2,
                       .progressive = true,
                       .apart = false});
    run_without_memory(&tz_codec_jpeg, &f.format, f.s.data, f.s.size);
    end(&f);
    begin(&f, (recipe){.width = 30, .height = 30, GREY, .apart = true});
    run_without_memory(&tz_codec_jpeg, &f.format, f.s.data, f.s.size);
    end(&f);
}

static void a_deinitialised_zeroed_state_is_fine(void **state)
{
    (void)state;
    void *zeroed = calloc(1, tz_codec_jpeg.state_size);
    tz_codec_jpeg.deinit(zeroed);
    tz_codec_jpeg.deinit(zeroed);
    free(zeroed);
}

/* ---------------------------------------------------------------------------------------------
 * Case 49: JPEGTables
 * ------------------------------------------------------------------------------------------ */

static void case_49_tables_of_0_1_2_bytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    for (size_t size = 0; size < 4; size++) {
        uint8_t *exact = run_alloc(size);
        memcpy(exact, f.s.tables, size);
        f.format.tables = exact;
        f.format.tables_size = size;
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        free(exact);
    }
    end(&f);
}

static void case_49_tables_without_start(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    f.s.tables[1] = 0xD9;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "SOI");
    end(&f);
}

static void case_49_tables_with_an_image(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    f.format.tables = f.s.data;
    f.format.tables_size = f.s.size;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    size_t frame = find_marker(&f.s, SOF0, 0);
    stream scan = {run_alloc(f.s.size), f.s.size, NULL, 0};
    memcpy(scan.data, f.s.data, f.s.size);
    cut(&scan, frame, 2u + scan.data[frame + 3]);
    f.format.tables = scan.data; /* SOS without SOF */
    f.format.tables_size = scan.size;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    free(scan.data);
    end(&f);
}

static void case_49_tables_of_100_megabytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    size_t size = 100u << 20;
    uint8_t *large = calloc(1, size);
    assert_non_null(large);
    memcpy(large, f.s.tables, f.s.tables_size);
    f.format.tables = large;
    f.format.tables_size = size;
    alloc_hook_install();
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    assert_true(alloc_hook_stats().peak_bytes < 1 << 20);
    alloc_hook_remove();
    free(large);
    end(&f);
}

static void case_49_good_tables_after_bad_ones(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    uint8_t *expected = reference(&f.recipe, &f.s);
    tz_tile_format bad = f.format;
    bad.tables_size -= 30;
    for (int i = 0; i < 3; i++) {
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, 256);
        free(out);
        run_refuses(&f.run, &bad, f.s.data, f.s.size, REFUSED_CODEC);
    }
    free(expected);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 50: size of the frame
 * ------------------------------------------------------------------------------------------ */

static void set_size(fixture *f, unsigned width, unsigned height)
{
    size_t frame = find_marker(&f->s, SOF0, 0);
    f->s.data[frame + 5] = (uint8_t)(height >> 8);
    f->s.data[frame + 6] = (uint8_t)height;
    f->s.data[frame + 7] = (uint8_t)(width >> 8);
    f->s.data[frame + 8] = (uint8_t)width;
}

static void case_50_frames_larger_than_the_tile(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{65535, 65535}, {33, 24}, {32, 25}, {65535, 1}};
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        set_size(&f, sizes[i][0], sizes[i][1]);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        assert_int_equal(alloc_hook_stats().peak_bytes, 0);
        alloc_hook_remove();
    }
    set_size(&f, 0, 24);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    set_size(&f, 32, 0);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

/* The rest of the tile is 0, whatever the buffer held. */
static void check_smaller(recipe r, uint32_t width, uint32_t height)
{
    fixture f;
    begin(&f, r);
    uint8_t *expected = reference(&r, &f.s);
    f.format.width = width;
    f.format.height = height;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "the rest is 0");
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < r.components; c++) {
                bool inside = x < r.width && y < r.height;
                assert_int_equal(out[(y * width + x) * r.components + c],
                                 inside ? expected[(y * r.width + x) * r.components + c] : 0);
            }
    free(out);
    free(expected);
    end(&f);
}

static void case_50_frames_smaller_than_the_tile_leave_zeros(void **state)
{
    (void)state;
    check_smaller((recipe){.width = 1, .height = 1, GREY}, 64, 64);
    check_smaller((recipe){.width = 64, .height = 32, YCBCR, .h = 2, .v = 2}, 64, 64);
    check_smaller((recipe){.width = 32, .height = 64, RGB}, 64, 64);
    check_smaller((recipe){.width = 17, .height = 9, CMYK}, 64, 64);
}

static void case_50_no_frame(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    cut(&f.s, frame, 2u + f.s.data[frame + 3]);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    static const uint8_t nothing[] = {0xFF, 0xD8, 0xFF, 0xD9};
    run_refuses_saying(&f.run, &f.format, nothing, sizeof nothing, REFUSED_CODEC, "no frame");
    run_refuses(&f.run, &f.format, nothing, 0, REFUSED_CODEC);
    end(&f);
}

static void case_50_two_frames(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    uint8_t copy[32];
    size_t size = 2u + f.s.data[frame + 3];
    memcpy(copy, f.s.data + frame, size);
    insert(&f.s, frame, copy, size);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "two frame");
    end(&f);
}

static void a_last_strip_may_hold_the_rows_of_a_full_one(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 40, .height = 16, YCBCR, .h = 2, .v = 2});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.height = 5;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.strip_height = 15;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.strip_height = 16;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "last strip");
    assert_memory_equal(out, expected, 40 * 5 * 3);
    free(out);
    f.format.width = 39;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    free(expected);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 51: components, precision, sampling, colour
 * ------------------------------------------------------------------------------------------ */

static void case_51_components_that_are_not_the_samples(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 16, .height = 16, GREY},
        {.width = 16, .height = 16, CMYK},
        {.width = 16, .height = 16, .components = 2, .from = JCS_UNKNOWN, .stored = JCS_UNKNOWN}};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        begin(&f, recipes[i]);
        f.format.samples = 3;
        f.format.photometric = i % 2 ? 2 : 6;
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "components");
        end(&f);
    }
}

static void case_51_precision_that_is_not_the_tiles(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t frame = find_marker(&f.s, SOF0, 0);
    f.s.data[frame + 4] = 12;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.s.data[frame + 4] = 16;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.s.data[frame + 4] = 8;
    f.format.bits = 16;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.s.data[frame + 4] = 12;
    f.format.bits = 12;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED, "libjpeg-turbo");
    end(&f);
}

static void case_51_impossible_sampling(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x44, 0x01, 0x10, 0x00, 0x51, 0x15, 0xFF, 0x43};
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    for (size_t i = 0; i < sizeof factors; i++) {
        f.s.data[frame + 11] = factors[i];
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    end(&f);
}

static void case_51_rgb_may_not_be_subsampled(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .h = 2, .v = 2});
    f.format.photometric = 2;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "subsampled");
    end(&f);
}

static void the_stream_knows_its_subsampling_better_than_the_tag(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .h = 2, .v = 1});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.subsampling[1] = 2;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "YCbCrSubSampling");
    assert_memory_equal(out, expected, 32 * 32 * 3);
    free(out);
    free(expected);
    end(&f);
}

static void case_51_an_adobe_marker_does_not_decide_about_colour(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, RGB, .adobe = true}); /* transform 0 */
    uint8_t *rgb = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    bench_silent(&f.run.bench);
    f.format.photometric = 6;
    f.format.subsampling[0] = f.format.subsampling[1] = 1;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "Adobe");
    assert_memory_not_equal(out, rgb, 32 * 32 * 3);
    free(out);
    free(rgb);
    end(&f);
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .adobe = true}); /* transform 1 */
    f.format.photometric = 2;
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "Adobe"));
    end(&f);
}

static void case_51_ycbcr_with_four_components(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, CMYK});
    f.format.photometric = 6;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 52: scans and kinds of JPEG
 * ------------------------------------------------------------------------------------------ */

static void case_52_80000_scans(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .progressive = true});
    static const uint8_t scan[] = {0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0x00, 0x00};
    uint8_t *many = run_alloc(sizeof scan * 80000);
    for (size_t i = 0; i < 80000; i++)
        memcpy(many + i * sizeof scan, scan, sizeof scan);
    insert(&f.s, f.s.size - 2, many, sizeof scan * 80000);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_jpeg_scans");
    assert_string_equal(f.run.bench.err.limit, "max_jpeg_scans");
    free(many);
    end(&f);
}

static void case_52_scans_up_to_the_limit_are_read(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR, .progressive = true});
    unsigned scans = 0;
    while (find_marker(&f.s, SOS, scans) < f.s.size)
        scans++;
    f.run.bench.limits.max_jpeg_scans = scans;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    f.run.bench.limits.max_jpeg_scans = scans - 1;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT);
    end(&f);
}

static void case_52_coefficients_beyond_the_memory_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 512, .height = 512, YCBCR, .progressive = true});
    f.run.bench.limits.max_codec_bytes = 512 * 512 * 3 * 2 - 1;
    alloc_hook_install();
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    assert_int_equal(alloc_hook_stats().peak_bytes, 0);
    alloc_hook_remove();
    f.run.bench.limits.max_codec_bytes = 512 * 512 * 3 * 2 + (1 << 20);
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    end(&f);
}

static void libjpeg_itself_is_held_to_the_memory_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 4096, .height = 16, YCBCR, .h = 2, .v = 2});
    f.run.bench.limits.max_codec_bytes = 65536;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    f.run.bench.limits.max_codec_bytes = 1 << 22;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    end(&f);
}

static void case_52_kinds_that_are_named_and_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t marker;
        const char *name;
    } kinds[] = {{0xC3, "lossless"},     {0xC5, "hierarchical"}, {0xC6, "hierarchical"},
                 {0xC7, "hierarchical"}, {0xC9, "arithmetic"},   {0xCA, "arithmetic"},
                 {0xCB, "arithmetic"},   {0xCD, "arithmetic"},   {0xCE, "arithmetic"},
                 {0xCF, "arithmetic"},   {0xF7, "JPEG-LS"}};
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t frame = find_marker(&f.s, SOF0, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        f.s.data[frame + 1] = kinds[i].marker;
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED,
                           kinds[i].name);
    }
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 53: tables
 * ------------------------------------------------------------------------------------------ */

static void case_53_table_numbers_that_are_not_there(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t scan = find_marker(&f.s, SOS, 0);
    for (unsigned id = 1; id < 16; id++) {
        f.s.data[scan + 6] = (uint8_t)(id << 4);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        f.s.data[scan + 6] = (uint8_t)id;
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    end(&f);
}

static void case_53_missing_tables(void **state)
{
    (void)state;
    static const uint8_t markers[] = {DQT, DHT};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        begin(&f, (recipe){.width = 16, .height = 16, GREY});
        size_t at;
        while ((at = find_marker(&f.s, markers[i], 0)) < f.s.size)
            cut(&f.s, at, 2u + (size_t)(f.s.data[at + 2] << 8 | f.s.data[at + 3]));
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "missing");
        end(&f);
    }
}

static void case_53_a_component_without_a_scan(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, RGB, .scans_apart = true});
    size_t last = find_marker(&f.s, SOS, 2);
    run_refuses_saying(&f.run, &f.format, f.s.data, last, REFUSED_CODEC, "without a scan");
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------------------------ */

static void missing_data_is_an_error_not_grey_pixels(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, YCBCR, .h = 2, .v = 2});
    size_t start = find_marker(&f.s, SOS, 0) + 14;
    for (size_t size = start; size < f.s.size - 4; size += 97)
        run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    free(out);
    end(&f);
}

static void a_lost_restart_marker_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, GREY, .restart = 8});
    size_t restart = find_marker(&f.s, 0xD1, 0);
    assert_true(restart < f.s.size);
    cut(&f.s, restart, 2);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void bytes_between_markers_are_a_warning(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    insert(&f.s, find_marker(&f.s, SOF0, 0), "abc", 3);
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "extraneous"));
    end(&f);
}

static void every_header_cut_short_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR});
    size_t start = find_marker(&f.s, SOS, 0) + 14;
    for (size_t size = 0; size < start; size++)
        run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
    end(&f);
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 40, .height = 40, YCBCR, .h = 2, .v = 2},
        {.width = 40, .height = 40, YCBCR, .h = 2, .v = 1, .progressive = true},
        {.width = 40, .height = 40, GREY, .restart = 2},
        {.width = 40, .height = 40, CMYK, .scans_apart = true}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i]);
        uint8_t *expected = reference(&f.recipe, &f.s);
        run_damaged(&f.run, &f.format, f.s.data, f.s.size, 3000);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, 40u * 40 * recipes[i].components);
        free(out);
        free(expected);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_model_gives_libjpegs_pixels),
        cmocka_unit_test(every_subsampling_gives_libjpegs_pixels),
        cmocka_unit_test(odd_sizes_give_libjpegs_pixels),
        cmocka_unit_test(progressive_and_separate_scans_are_read),
        cmocka_unit_test(tables_apart_are_used),
        cmocka_unit_test(the_fill_order_does_not_apply),
        cmocka_unit_test(restart_intervals_are_read),
        cmocka_unit_test(tables_of_one_tile_do_not_reach_the_next),
        cmocka_unit_test(other_tables_at_the_same_address_are_noticed),
        cmocka_unit_test(a_grey_stream_may_have_any_sampling_factors),
        cmocka_unit_test(a_missing_end_of_image_is_no_loss),
        cmocka_unit_test(a_tile_like_the_last_needs_no_allocation),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_deinitialised_zeroed_state_is_fine),
        cmocka_unit_test(case_49_tables_of_0_1_2_bytes),
        cmocka_unit_test(case_49_tables_without_start),
        cmocka_unit_test(case_49_tables_with_an_image),
        cmocka_unit_test(case_49_tables_of_100_megabytes),
        cmocka_unit_test(case_49_good_tables_after_bad_ones),
        cmocka_unit_test(case_50_frames_larger_than_the_tile),
        cmocka_unit_test(case_50_frames_smaller_than_the_tile_leave_zeros),
        cmocka_unit_test(case_50_no_frame),
        cmocka_unit_test(case_50_two_frames),
        cmocka_unit_test(a_last_strip_may_hold_the_rows_of_a_full_one),
        cmocka_unit_test(case_51_components_that_are_not_the_samples),
        cmocka_unit_test(case_51_precision_that_is_not_the_tiles),
        cmocka_unit_test(case_51_impossible_sampling),
        cmocka_unit_test(case_51_rgb_may_not_be_subsampled),
        cmocka_unit_test(the_stream_knows_its_subsampling_better_than_the_tag),
        cmocka_unit_test(case_51_an_adobe_marker_does_not_decide_about_colour),
        cmocka_unit_test(case_51_ycbcr_with_four_components),
        cmocka_unit_test(case_52_80000_scans),
        cmocka_unit_test(case_52_scans_up_to_the_limit_are_read),
        cmocka_unit_test(case_52_coefficients_beyond_the_memory_limit),
        cmocka_unit_test(libjpeg_itself_is_held_to_the_memory_limit),
        cmocka_unit_test(case_52_kinds_that_are_named_and_refused),
        cmocka_unit_test(case_53_table_numbers_that_are_not_there),
        cmocka_unit_test(case_53_missing_tables),
        cmocka_unit_test(case_53_a_component_without_a_scan),
        cmocka_unit_test(missing_data_is_an_error_not_grey_pixels),
        cmocka_unit_test(a_lost_restart_marker_is_an_error),
        cmocka_unit_test(bytes_between_markers_are_a_warning),
        cmocka_unit_test(every_header_cut_short_is_an_error),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
