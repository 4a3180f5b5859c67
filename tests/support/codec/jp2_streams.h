/* SPDX-License-Identifier: Apache-2.0
 * Tiles in JPEG 2000, made by OpenJPEG itself, and where their markers are. */
#ifndef TESTS_SUPPORT_CODEC_JP2_STREAMS_H
#define TESTS_SUPPORT_CODEC_JP2_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openjpeg.h>

#include "support/codec/codec_run.h"

typedef struct recipe {
    unsigned width, height, components;
    unsigned bits; /* (8) */
    bool is_signed;
    bool lossy;
    bool boxes;      /* a JP2 file */
    unsigned dx, dy; /* of all components but the first; (1) */
    int tile;        /* (one tile) */
    int layers;      /* (1) */
    int precinct;    /* (one) */
    int resolutions; /* (4) */
    bool transform;  /* RGB to YCbCr within the stream */
    unsigned left;   /* where the image begins on the stream's grid, across and down */
} recipe;

typedef struct stream {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t position;
} stream;

static inline OPJ_SIZE_T write_bytes(void *bytes, OPJ_SIZE_T size, void *user)
{
    stream *s = user;
    while (s->position + size > s->capacity) {
        s->capacity = s->capacity * 2 + 4096;
        s->data = realloc(s->data, s->capacity);
        if (!s->data)
            abort();
    }
    memcpy(s->data + s->position, bytes, size);
    s->position += size;
    s->size = s->position > s->size ? s->position : s->size;
    return size;
}

static inline OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *user)
{
    static const uint8_t zero = 0;
    for (OPJ_OFF_T i = 0; i < count; i++)
        write_bytes((void *)(uintptr_t)&zero, 1, user);
    return count;
}

static inline OPJ_BOOL seek_bytes(OPJ_OFF_T position, void *user)
{
    ((stream *)user)->position = (size_t)position;
    return OPJ_TRUE;
}

static inline int32_t sample_of(const recipe *r, unsigned component, unsigned x, unsigned y)
{
    int32_t range = 1 << (r->bits ? r->bits : 8);
    int32_t value = (int32_t)(x * 5 + y * 3 + component * 40 + (x * y) % 7) * (range / 256);
    value %= range;
    return r->is_signed ? value - range / 2 : value;
}

static inline opj_image_t *make_image(const recipe *r)
{
    opj_image_cmptparm_t parameters[8];
    memset(parameters, 0, sizeof parameters);
    for (unsigned i = 0; i < r->components; i++) {
        unsigned dx = i > 0 && r->dx ? r->dx : 1, dy = i > 0 && r->dy ? r->dy : 1;
        parameters[i] = (opj_image_cmptparm_t){.dx = dx,
                                               .dy = dy,
                                               .x0 = r->left,
                                               .y0 = r->left,
                                               .w = (r->width + dx - 1) / dx,
                                               .h = (r->height + dy - 1) / dy,
                                               .prec = r->bits ? r->bits : 8,
                                               .sgnd = r->is_signed};
    }
    opj_image_t *image = opj_image_create(r->components, parameters,
                                          r->components < 3 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
    assert_non_null(image);
    image->x0 = image->y0 = r->left;
    image->x1 = r->left + r->width;
    image->y1 = r->left + r->height;
    for (unsigned i = 0; i < r->components; i++)
        for (unsigned k = 0; k < parameters[i].w * parameters[i].h; k++)
            image->comps[i].data[k] = sample_of(r, i, k % parameters[i].w, k / parameters[i].w);
    return image;
}

static inline stream encode(const recipe *r)
{
    stream s = {0};
    opj_cparameters_t parameters;
    opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_numlayers = r->layers ? r->layers : 1;
    for (int i = 0; i < parameters.tcp_numlayers; i++)
        parameters.tcp_rates[i] = (float)(r->lossy ? 4 << (parameters.tcp_numlayers - 1 - i)
                                          : i + 1 == parameters.tcp_numlayers ? 0
                                                                              : 20);
    parameters.cp_disto_alloc = 1;
    parameters.irreversible = r->lossy;
    parameters.numresolution = r->resolutions ? r->resolutions : 4;
    parameters.tcp_mct = r->transform;
    if (r->tile) {
        parameters.tile_size_on = OPJ_TRUE;
        parameters.cp_tdx = parameters.cp_tdy = r->tile;
    }
    if (r->precinct) {
        parameters.csty |= 1;
        parameters.res_spec = 1;
        parameters.prcw_init[0] = parameters.prch_init[0] = r->precinct;
    }
    opj_image_t *image = make_image(r);
    opj_codec_t *codec = opj_create_compress(r->boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    assert_true(opj_setup_encoder(codec, &parameters, image));
    opj_stream_t *to = opj_stream_create(4096, OPJ_FALSE);
    opj_stream_set_user_data(to, &s, NULL);
    opj_stream_set_write_function(to, write_bytes);
    opj_stream_set_skip_function(to, skip_bytes);
    opj_stream_set_seek_function(to, seek_bytes);
    assert_true(opj_start_compress(codec, image, to));
    assert_true(opj_encode(codec, to));
    assert_true(opj_end_compress(codec, to));
    opj_stream_destroy(to);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    return s;
}

typedef struct fixture {
    codec_run run;
    recipe recipe;
    stream s;
    tz_tile_format format;
} fixture;

static inline void begin(fixture *f, recipe r)
{
    f->recipe = r;
    f->s = encode(&r);
    f->format = (tz_tile_format){.width = r.width,
                                 .height = r.height,
                                 .samples = (uint16_t)r.components,
                                 .bits = r.bits > 8 ? 16 : 8,
                                 .sample_format = r.is_signed ? 2 : 1,
                                 .compression = 34712,
                                 .photometric = r.components < 3 ? 1 : 2};
    run_open(&f->run, &tz_decoder_jp2);
}

static inline void end(fixture *f)
{
    free(f->s.data);
    run_close(&f->run);
}

static inline int32_t get_sample(const tz_tile_format *format, const uint8_t *out, unsigned c,
                                 unsigned x, unsigned y)
{
    size_t at = ((size_t)y * tz_tile_columns(format) + x) * format->samples + c;
    uint16_t half;
    if (format->bits == 8)
        return format->sample_format == 2 ? (int8_t)out[at] : out[at];
    memcpy(&half, out + 2 * at, 2);
    return format->sample_format == 2 ? (int16_t)half : half;
}

static inline void check_round_trip(recipe r)
{
    fixture f;
    begin(&f, r);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    for (unsigned y = 0; !r.lossy && y < r.height; y++)
        for (unsigned x = 0; x < r.width; x++)
            for (unsigned c = 0; c < r.components; c++)
                assert_int_equal(get_sample(&f.format, out, c, x, y), sample_of(&r, c, x, y));
    bench_silent(&f.run.bench);
    free(out);
    end(&f);
}

/* Returns the offset of a marker; the stream's size if there is none. */
static inline size_t find_marker(const stream *s, uint8_t marker)
{
    for (size_t i = 0; i + 1 < s->size; i++)
        if (s->data[i] == 0xFF && s->data[i + 1] == marker)
            return i;
    return s->size;
}

static inline void put32(stream *s, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        s->data[at + i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void put16(stream *s, size_t at, unsigned value)
{
    s->data[at] = (uint8_t)(value >> 8);
    s->data[at + 1] = (uint8_t)value;
}

/* From the FF of SIZ. */
enum {
    SIZ_WIDTH = 6,
    SIZ_HEIGHT = 10,
    SIZ_LEFT = 14,
    SIZ_TOP = 18,
    SIZ_TILE_WIDTH = 22,
    SIZ_TILE_HEIGHT = 26,
    SIZ_TILE_LEFT = 30,
    SIZ_COMPONENTS = 38,
    SIZ_DEPTH = 40
};
enum { SIZ = 0x51, COD = 0x52, SOT = 0x90 };

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

#endif
