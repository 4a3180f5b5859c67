/* SPDX-License-Identifier: Apache-2.0
 * JPEG streams made by libjpeg, for the tests of the codec: whole, and opened up to be broken. */
#ifndef TESTS_SUPPORT_CODEC_JPEG_STREAMS_H
#define TESTS_SUPPORT_CODEC_JPEG_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jpeglib.h>

#include "codec/jpeg_memory.h"
#include "support/codec/codec_run.h"

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

static inline void set_up(struct jpeg_compress_struct *c, const recipe *r)
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

static inline stream encode(const recipe *r, const uint8_t *pixels)
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

static inline void free_stream(stream *s)
{
    free(s->data);
    free(s->tables);
}

static inline tz_tile_format format_of(const recipe *r, const stream *s)
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

/* Decodes by libjpeg alone, with the colours forced as TIFF needs them. */
static inline uint8_t *reference(const recipe *r, const stream *s)
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

/* Returns the offset of the n-th marker of this kind (its FF); the stream's size if there is none.
 */
static inline size_t find_marker(const stream *s, uint8_t marker, unsigned n)
{
    for (size_t i = 0; i + 1 < s->size; i++)
        if (s->data[i] == 0xFF && s->data[i + 1] == marker && n-- == 0)
            return i;
    return s->size;
}

static inline void insert(stream *s, size_t at, const void *bytes, size_t size)
{
    uint8_t *grown = run_alloc(s->size + size);
    memcpy(grown, s->data, at);
    memcpy(grown + at, bytes, size);
    memcpy(grown + at + size, s->data + at, s->size - at);
    free(s->data);
    s->data = grown;
    s->size += size;
}

static inline void cut(stream *s, size_t at, size_t size)
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

static inline void begin(fixture *f, recipe r)
{
    f->recipe = r;
    f->pixels = run_picture(r.width, r.height, r.components);
    f->s = encode(&r, f->pixels);
    f->format = format_of(&r, &f->s);
    run_open(&f->run, &tz_decoder_jpeg);
}

static inline void end(fixture *f)
{
    run_close(&f->run);
    free_stream(&f->s);
    free(f->pixels);
}

static inline void check_round_trip(recipe r)
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

#endif
