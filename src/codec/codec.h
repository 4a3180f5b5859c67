/* SPDX-License-Identifier: Apache-2.0
 * Codecs: one tile's compressed bytes to one tile's samples. A codec knows nothing of TIFF
 * directories or files; it gets a description of what must come out and never writes more than
 * that.
 *
 * One file is one `const tz_decoder tz_codec_NAME`; codec.c lists them. Whole tiles only: the size
 * of the output is always known before. */
#ifndef TZ_CODEC_CODEC_H
#define TZ_CODEC_CODEC_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* What a tile holds. Rows are packed samples, each row padded to a whole byte. With a reduction
 * less comes out than is stored: see tz_tile_columns and tz_tile_rows. */
typedef struct tz_tile_format {
    uint32_t width;         /* pixels in a row */
    uint32_t height;        /* rows; the last strip of an image may have fewer than the others */
    uint16_t samples;       /* in every pixel of this tile: 1 when bands are stored apart */
    uint16_t bits;          /* of one sample */
    uint16_t sample_format; /* 1 unsigned, 2 signed, 3 float, 5 complex int, 6 complex float */
    uint16_t compression;   /* TIFF's number: some codecs serve several */
    uint16_t photometric;
    uint16_t subsampling[2];   /* YCbCr */
    uint16_t fill_order;       /* 2: the lowest bit of a byte comes first */
    uint16_t lerc_compression; /* 0 none, 1 deflate, 2 zstd */
    uint32_t fax_options;      /* T4Options or T6Options */
    bool big_endian;           /* byte order of the file, for codecs that care */
    const uint8_t *tables;     /* JPEGTables, or headers of old-style JPEG; NULL: none */
    size_t tables_size;
    uint32_t strip_height; /* rows of the strips before, where the last one has fewer; 0 else. Some
                              writers compress that many rows all the same */
    uint32_t image_rows; /* rows of a tile at the lower edge that the image has, where that is fewer
                            than height; 0 else. Some writers store just those */
    bool alpha;          /* the last sample is unassociated alpha: LERC may store it as its mask */
    uint8_t decode_reduction; /* one pixel is wanted for 2^reduction of them in each direction; for
                          codecs with TZ_DECODER_REDUCTION, else 0 */
} tz_tile_format;

/* How long a side of size pixels is when it is reduced; what is left at its end is one pixel. */
static inline uint32_t tz_reduced_size(uint32_t size, unsigned reduction)
{
    return (uint32_t)(((uint64_t)size + (UINT64_C(1) << reduction) - 1) >> reduction);
}

/* Pixels of a row that come out, and rows. */
static inline uint32_t tz_tile_columns(const tz_tile_format *format)
{
    return tz_reduced_size(format->width, format->decode_reduction);
}
static inline uint32_t tz_tile_rows(const tz_tile_format *format)
{
    return tz_reduced_size(format->height, format->decode_reduction);
}

/* Bytes of one row; formats are checked against max_tile_bytes before a codec sees them. */
static inline size_t tz_tile_row_bytes(const tz_tile_format *format)
{
    return (size_t)(((uint64_t)tz_tile_columns(format) * format->samples * format->bits + 7) / 8);
}

/* Bytes of the tile when its rows are packed. */
static inline size_t tz_tile_bytes(const tz_tile_format *format)
{
    return tz_tile_row_bytes(format) * tz_tile_rows(format);
}

/* On whose behalf a codec runs. Errors: return tz_codec_fail(call, "text ..."), which is
 * TZ_ERR_FORMAT with TZ_CAUSE_CODEC at the tile's location. Limits: tz_check_limit(call->ctx, ...,
 * call->location, ...). Bearable oddities: tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
 * call->location, ...). */
typedef struct tz_codec_call {
    const tz_context *ctx;
    tz_location location;
} tz_codec_call;
tz_result tz_codec_fail(const tz_codec_call *call, const char *format, ...) TZ_PRINTF(2, 3);

/* The same with two sizes in bytes: what the tile needs, and what there is. */
tz_result tz_codec_fail_size(const tz_codec_call *call, uint64_t expected, uint64_t found,
                             const char *format, ...) TZ_PRINTF(4, 5);

/* The tile is complete after used of in_size bytes: a warning when some are left. */
tz_result tz_codec_check_end(const tz_codec_call *call, size_t used, size_t in_size);

/* Behind the input there are this many readable bytes (of any content), and behind the last row of
 * the output this many writable ones when the stride is that of packed rows: inner loops may load
 * and store in wide steps. */
#define TZ_CODEC_SLACK 64

/* For blocks of memory that hold several inputs or outputs: the place of the next part, at a
 * multiple of 64 and with slack behind it; *used grows by it. */
static inline size_t tz_codec_buffer_offset(size_t *used, size_t size)
{
    const size_t at = (*used + 63) / 64 * 64;
    *used = at + size + TZ_CODEC_SLACK;
    return at;
}

enum {
    TZ_DECODER_NATIVE_ENDIAN =
        1, /* samples come out in the machine's byte order, not in the file's */
    TZ_DECODER_ANY_STRIDE =
        2, /* can write rows with any stride, and then touches nothing between them */
    TZ_DECODER_NO_PREDICTOR = 4, /* predictors do not apply: ignored with a warning */
    TZ_DECODER_TO_RGB = 8,       /* turns YCbCr (photometric 6) into RGB */
    TZ_DECODER_ANY_FILL_ORDER =
        16, /* takes the bytes as they are stored, whatever the fill order says */
    TZ_DECODER_NO_OVERRUN = 32,   /* writes nothing behind the last row, packed or not */
    TZ_DECODER_MEMORY_BOUND = 64, /* waits for memory rather than for itself */
    TZ_DECODER_REDUCTION = 128 /* streams hold smaller pictures of themselves: takes reductions of
                              up to TZ_MAX_DECODE_REDUCTION */
};

/* A tile of 256 by 256 becomes one pixel. */
#define TZ_MAX_DECODE_REDUCTION 8

typedef struct tz_decoder {
    const char *name;             /* "deflate" */
    const char *library;          /* what does the work: "libdeflate", or "terrazzo" */
    const uint16_t *compressions; /* TIFF numbers it serves, closed by 0 */
    unsigned flags;
    size_t state_size;       /* scratch of one thread, zeroed by the caller; 0: none */
    size_t max_extra_memory; /* what a thread may allocate in addition, whatever the tile */
    tz_result (*init)(void *state, const tz_context *ctx); /* may be NULL */
    void (*deinit)(void *state);                           /* may be NULL; zeroed state is fine */
    /* Exactly tz_tile_rows(format) rows of tz_tile_row_bytes(format) are written, stride bytes
     * apart, or it fails; what out holds after a failure is undefined. */
    tz_result (*decode)(void *state, const tz_tile_format *format, const uint8_t *in,
                        size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call);
} tz_decoder;

/* The codec for a TIFF compression number. TZ_ERR_UNSUPPORTED names it when it was left out of the
 * build
 * ("JPEG XL (50002) needs libjxl, which this build does not have") or is unknown. */
tz_result tz_decoder_find(uint16_t compression, const tz_context *ctx, const tz_decoder **out);

/* The error of tz_decoder_find; what is missing is a "decoder" or an "encoder". */
tz_result tz_codec_fail_missing(uint16_t compression, const char *what, const tz_context *ctx);

/* All codecs of this build, closed by NULL. */
extern const tz_decoder *const tz_decoders[];

/* Decodes a tile, by codec->decode; this is what readers call. Some writers store the last strip
 * with as many rows as the others, and some leave out the rows of the lowest tiles that are not
 * part of the image. When decoding fails and format->strip_height or image_rows allow it, it is
 * tried once more with that many rows, and what comes out is taken with a warning. Rows of a tile
 * that were not stored are 0. */
tz_result tz_decode_tile(const tz_decoder *codec, void *state, const tz_tile_format *format,
                         const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                         const tz_codec_call *call);

/* For FillOrder 2, with the lowest bit of a byte first: the caller turns the bits of the compressed
 * bytes of every tile before it calls decode, unless the codec has TZ_DECODER_ANY_FILL_ORDER. */
void tz_codec_reverse_bits(uint8_t *bytes, size_t size);

/* No encoder stores such a tile in more bytes, by a wide margin: a tile that claims to be larger
 * need not be read. The second takes the bytes of the decoded tile. */
uint64_t tz_codec_max_input(const tz_tile_format *format);
uint64_t tz_codec_max_stored(uint64_t tile_bytes);

/* One file each. Those that need a library are only there when it is. */
extern const tz_decoder tz_decoder_none;
extern const tz_decoder tz_decoder_packbits;
extern const tz_decoder tz_decoder_lzw;
extern const tz_decoder tz_decoder_ccitt;
extern const tz_decoder tz_decoder_deflate;
extern const tz_decoder tz_decoder_zstd;
extern const tz_decoder tz_decoder_lzma;
extern const tz_decoder tz_decoder_lz4;
extern const tz_decoder tz_decoder_jpeg;
extern const tz_decoder tz_decoder_webp;
extern const tz_decoder tz_decoder_lerc;
extern const tz_decoder tz_decoder_jp2;
extern const tz_decoder tz_decoder_jxl;

#endif
