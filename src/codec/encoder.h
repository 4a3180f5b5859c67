/* SPDX-License-Identifier: Apache-2.0
 * Encoders: one tile's samples to one tile's compressed bytes, the other direction of codec.h. What
 * comes out is a function of the tile, the format and the choices alone: never of the thread, the
 * processor, the time or the tiles before.
 *
 * One file is one `const tz_encoder tz_encoder_NAME`; encoder.c lists them. */
#ifndef TZ_CODEC_ENCODER_H
#define TZ_CODEC_ENCODER_H

#include "codec/codec.h"

/* What the user chose; see tz_write_options. Defaults are filled in by tz_encoder_check. */
typedef struct tz_encode_options {
    int32_t level;
    uint32_t quality;
    bool lossless;
    double distance;
    double alpha_distance; /* below 0: lossless */
    double max_error;
    tz_jpeg_tables jpeg_tables; /* never TZ_JPEG_TABLES_DEFAULT */
    tz_nodata nodata;           /* that LERC keeps exactly, of the samples' type */
} tz_encode_options;

enum {
    TZ_ENCODER_NATIVE_ENDIAN = 1, /* samples go in in the machine's byte order, not in the file's */
    TZ_ENCODER_NO_PREDICTOR = 2,  /* predictors do not apply */
    TZ_ENCODER_COPY = 4,          /* what comes out is what goes in */
    TZ_ENCODER_FROM_RGB = 8,      /* takes RGB for photometric YCbCr */
    TZ_ENCODER_VALUES_ONLY = 16 /* floating-point samples keep their values, but not all their bits:
                              signs of zero and kinds of NaN may change */
};

typedef struct tz_encoder {
    const char *name;             /* "deflate" */
    const char *library;          /* what does the work */
    const uint16_t *compressions; /* TIFF numbers it makes, closed by 0 */
    unsigned flags;
    size_t state_size; /* scratch of one thread, zeroed by the caller; 0: none */
    /* Fill in the defaults of *choice and check it; NULL, or why it cannot be ("Deflate levels are
     * 1 to 12"). May be NULL: any choice will do. */
    const char *(*resolve_options)(const tz_tile_format *format, tz_encode_options *options);
    /* NULL when such tiles can be encoded, or why not ("WebP takes 3 or 4 bands of uint8"). */
    const char *(*unsupported_reason)(const tz_tile_format *format,
                                      const tz_encode_options *options);
    /* Whether decoding gives other samples than were encoded; NULL: never. */
    bool (*lossy)(const tz_tile_format *format, const tz_encode_options *options);
    /* No tile takes more bytes than this. */
    size_t (*bound)(const tz_tile_format *format, const tz_encode_options *options);
    /* What init and encode may allocate for one thread, at most; NULL: nothing. */
    uint64_t (*memory)(const tz_tile_format *format, const tz_encode_options *options);
    tz_result (*init)(void *state, const tz_tile_format *format, const tz_encode_options *options,
                      const tz_context *ctx); /* may be NULL */
    void (*deinit)(void *state);              /* may be NULL; zeroed state is fine */
    /* in: format->height packed rows, with TZ_CODEC_SLACK readable bytes behind; it may be used up.
     * out: room for bound() bytes. The last strip may have fewer rows than init was told, nothing
     * else differs. Errors by tz_codec_fail, which name the tile. */
    tz_result (*encode)(void *state, const tz_tile_format *format, const tz_encode_options *options,
                        uint8_t *in, uint8_t *out, size_t *out_size, const tz_codec_call *call);
    /* What all tiles share (JPEGTables), at most bound() bytes; *out_size 0: nothing. May be NULL.
     */
    tz_result (*tables)(const tz_tile_format *format, const tz_encode_options *options,
                        uint8_t *out, size_t *out_size, const tz_context *ctx);
} tz_encoder;

/* The encoder for a TIFF compression number. TZ_ERR_UNSUPPORTED names it when it was left out of
 * the build, is only read (CCITT), or is unknown. */
tz_result tz_encoder_find(uint16_t compression, const tz_context *ctx, const tz_encoder **out);

/* choose, then refuse: TZ_ERR_ARG for a choice that cannot be, TZ_ERR_UNSUPPORTED for a format. */
tz_result tz_encoder_check(const tz_encoder *encoder, const tz_tile_format *format,
                           tz_encode_options *options, const tz_context *ctx);

/* All encoders of this build, closed by NULL. */
extern const tz_encoder *const tz_encoders[];

/* One file each. Those that need a library are only there when it is. */
extern const tz_encoder tz_encoder_none;
extern const tz_encoder tz_encoder_packbits;
extern const tz_encoder tz_encoder_lzw;
extern const tz_encoder tz_encoder_deflate;
extern const tz_encoder tz_encoder_zstd;
extern const tz_encoder tz_encoder_lzma;
extern const tz_encoder tz_encoder_lz4;
extern const tz_encoder tz_encoder_jpeg;
extern const tz_encoder tz_encoder_webp;
extern const tz_encoder tz_encoder_lerc;
extern const tz_encoder tz_encoder_jp2;
extern const tz_encoder tz_encoder_jxl;

#endif
