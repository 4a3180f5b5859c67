/* SPDX-License-Identifier: Apache-2.0
 * Codecs: one tile's compressed bytes to its samples, and back. A codec knows nothing of TIFF
 * directories or files: it gets a description of the tile, and never writes more than that says.
 * Whole tiles only, so the size of the output is always known before.
 *
 * A codec is one file, codec_NAME.c, with a `const tz_decoder tz_decoder_NAME`, and if it can
 * write, a `const tz_encoder tz_encoder_NAME`; and one row of the table in codec_table.c. To add
 * one, write both, list the file in src/CMakeLists.txt (or in terrazzo_codecs, if it needs a
 * library) and test it. */
#ifndef TZ_CODEC_CODEC_H
#define TZ_CODEC_CODEC_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"
#include "base/tiff_values.h"

/* Values of tag Compression that have no name in the public header, because they are only read or
 * are second numbers of a codec. */
enum {
    TZ_COMPRESSION_CCITT_RLE = 2,
    TZ_COMPRESSION_FAX3 = 3,
    TZ_COMPRESSION_FAX4 = 4,
    TZ_COMPRESSION_OLD_JPEG = 6,
    TZ_COMPRESSION_OLD_DEFLATE = 32946,
    TZ_COMPRESSION_APERIO_YCBCR = 33003, /* JPEG 2000 */
    TZ_COMPRESSION_APERIO_RGB = 33005,   /* JPEG 2000 */
    TZ_COMPRESSION_DNG_JXL = 52546
};

/* ---------------------------------------------------------------------------------------------
 * Tiles
 * ------------------------------------------------------------------------------------------ */

/* The content of a tile. Rows are packed samples, each row padded to a whole byte. With a reduction
 * a decoder makes fewer pixels than are stored: see tz_tile_columns and tz_tile_rows. */
typedef struct tz_tile_format {
    uint32_t width;            /* pixels */
    uint32_t height;           /* rows; the last strip of an image may have fewer than the others */
    uint16_t samples;          /* in a pixel of this tile: 1 when bands are stored apart */
    uint16_t bits;             /* of one sample */
    uint16_t sample_format;    /* TZ_SAMPLE_FORMAT_... */
    uint16_t compression;      /* TIFF's number: some codecs have several */
    uint16_t photometric;      /* TIFF's number */
    uint16_t subsampling[2];   /* of YCbCr */
    uint16_t fill_order;       /* 2: the lowest bit of a byte comes first */
    uint16_t lerc_compression; /* 0 none, 1 deflate, 2 zstd */
    uint32_t fax_options;      /* T4Options or T6Options */
    bool big_endian;           /* byte order of the file, for codecs that care */
    const uint8_t *tables;     /* JPEGTables, or headers of old-style JPEG; NULL: none */
    size_t tables_size;
    /* Rows of the strips before, if the last one has fewer; 0 otherwise. Some writers compress that
     * many rows in the last strip too. */
    uint32_t strip_height;
    /* Rows of a tile at the lower edge that lie in the image, if they are fewer than height; 0
     * otherwise. Some writers store only those. */
    uint32_t image_rows;
    bool alpha; /* the last sample is unassociated alpha: LERC may store it as its mask */
    /* One pixel is wanted for 2^decode_reduction of them in each direction. 0 for decoders without
     * TZ_DECODER_REDUCTION. */
    uint8_t decode_reduction;
} tz_tile_format;

/* A tile of 256 by 256 becomes one pixel. */
#define TZ_MAX_DECODE_REDUCTION 8

/* Pixels of a reduced side; a remainder at its end makes one pixel. */
static inline uint32_t tz_reduced_size(uint32_t size, unsigned reduction)
{
    return (uint32_t)(((uint64_t)size + (UINT64_C(1) << reduction) - 1) >> reduction);
}

/* Pixels in a row of the decoded tile, and its rows. */
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

/* Readable bytes (of any content) after the input of a decoder or encoder, and writable bytes after
 * the last row of a decoder's output when its rows are packed: inner loops load and store in wide
 * steps. */
#define TZ_CODEC_SLACK 64

/* Returns the offset of the next input or output in a block of memory that holds several: a
 * multiple of 64, with slack after it. *used is the size of the block so far. */
static inline size_t tz_codec_buffer_offset(size_t *used, size_t size)
{
    const size_t at = (*used + 63) / 64 * 64;
    *used = at + size + TZ_CODEC_SLACK;
    return at;
}

/* Turns the bits of every byte, for FillOrder 2. The caller does so with a tile's compressed bytes
 * before it calls decode, unless the decoder has TZ_DECODER_ANY_FILL_ORDER. */
void tz_codec_reverse_bits(uint8_t *bytes, size_t size);

/* A bound, by a wide margin, of the bytes in which encoders store such a tile: one that claims to
 * be larger need not be read. The second takes the bytes of the decoded tile. */
uint64_t tz_codec_max_input(const tz_tile_format *format);
uint64_t tz_codec_max_stored(uint64_t tile_bytes);

/* ---------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------ */

/* The tile that a codec works on, for errors and limits. */
typedef struct tz_codec_call {
    const tz_context *ctx;
    tz_location location;
} tz_codec_call;

/* Fails with TZ_ERR_FORMAT and TZ_CAUSE_CODEC at the tile's location. */
tz_result tz_codec_fail(const tz_codec_call *call, const char *format, ...) TZ_PRINTF(2, 3);

/* The same with two sizes in bytes: those that the tile needs, and those found. */
tz_result tz_codec_fail_size(const tz_codec_call *call, uint64_t expected, uint64_t found,
                             const char *format, ...) TZ_PRINTF(4, 5);

/* Fails with TZ_ERR_UNSUPPORTED: the stream is valid, but this library does not decode such. */
tz_result tz_codec_fail_unsupported(const tz_codec_call *call, const char *format, ...)
    TZ_PRINTF(2, 3);

/* Warns of an oddity after which the pixels are still right; see tz_warn. */
tz_result tz_codec_warn(const tz_codec_call *call, const char *format, ...) TZ_PRINTF(2, 3);

/* Fails with TZ_ERR_LIMIT if a codec would need more than max_codec_bytes for one call. Checked
 * before the memory is asked for, because the size comes from a file. */
tz_result tz_codec_check_memory(const tz_codec_call *call, uint64_t bytes, const char *what);

/* Memory that a state keeps from tile to tile, and that only grows. Zeroed to begin with. */
typedef struct tz_codec_buffer {
    uint8_t *data;
    size_t capacity;
} tz_codec_buffer;

/* Makes the buffer at least size bytes large; its content is lost if it grows. `what` names
 * the memory for tz_codec_check_memory; NULL: no limit, since no file chose the size. */
tz_result tz_codec_reserve(tz_codec_buffer *buffer, uint64_t size, const char *what,
                           const tz_codec_call *call);
void tz_codec_buffer_deinit(tz_codec_buffer *buffer); /* accepts zeroed state */

/* Warns if the tile is complete after fewer than in_size bytes. */
tz_result tz_codec_check_end(const tz_codec_call *call, size_t used, size_t in_size);

/* ---------------------------------------------------------------------------------------------
 * Decoders
 * ------------------------------------------------------------------------------------------ */

enum {
    TZ_DECODER_NATIVE_ENDIAN = 1,   /* makes samples in the machine's byte order, not the file's */
    TZ_DECODER_ANY_STRIDE = 2,      /* rows may be apart; nothing between them is touched */
    TZ_DECODER_NO_PREDICTOR = 4,    /* predictors do not apply: ignored with a warning */
    TZ_DECODER_TO_RGB = 8,          /* turns YCbCr (photometric 6) into RGB */
    TZ_DECODER_ANY_FILL_ORDER = 16, /* takes the bytes as they are stored, whatever FillOrder */
    TZ_DECODER_NO_OVERRUN = 32,     /* writes nothing after the last row, packed or not */
    TZ_DECODER_MEMORY_BOUND = 64,   /* waits for memory rather than for itself */
    TZ_DECODER_REDUCTION = 128      /* takes reductions up to TZ_MAX_DECODE_REDUCTION */
};

typedef struct tz_decoder {
    unsigned flags;
    size_t state_size;       /* scratch of one thread, zeroed by the caller; 0: none */
    size_t max_extra_memory; /* bytes a thread may allocate in addition, for any tile */
    tz_result (*init)(void *state, const tz_context *ctx); /* may be NULL */
    void (*deinit)(void *state);                           /* may be NULL; zeroed state is fine */
    /* Writes exactly tz_tile_rows(format) rows of tz_tile_row_bytes(format), stride bytes apart, or
     * fails; the content of out is undefined after a failure. */
    tz_result (*decode)(void *state, const tz_tile_format *format, const uint8_t *in,
                        size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call);
} tz_decoder;

/* Zeroes the pixels of a tile that a smaller stream does not have: those after the first row_bytes
 * of each of its rows, and the rows after them. */
void tz_codec_clear_rest(const tz_tile_format *format, size_t row_bytes, size_t rows, uint8_t *out,
                         size_t stride);

/* Decodes a tile, by decoder->decode; readers call this. Some writers store the last strip with as
 * many rows as the others, and some leave out the rows of the lowest tiles that are not part of the
 * image. If decoding fails and format->strip_height or image_rows allow it, the tile is decoded
 * again with that many rows, with a warning. Rows of a tile that were not stored are 0. */
tz_result tz_decode_tile(const tz_decoder *decoder, void *state, const tz_tile_format *format,
                         const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                         const tz_codec_call *call);

/* ---------------------------------------------------------------------------------------------
 * Encoders. Their output is a function of the tile, the format and the options alone: never of the
 * thread, the processor, the time or the tiles before.
 * ------------------------------------------------------------------------------------------ */

/* The user's choices; see tz_codec_options. Defaults are filled in by tz_encoder_check. */
typedef struct tz_encode_options {
    int32_t level;
    uint32_t quality;
    bool lossless;
    double distance;
    double alpha_distance; /* below 0: lossless */
    double max_error;
    tz_jpeg_tables jpeg_tables; /* never TZ_JPEG_TABLES_DEFAULT */
    tz_nodata nodata;           /* of the samples' type; LERC keeps it exactly */
    uint8_t webp_method;        /* how hard libwebp tries: 1 to 6; 0: its default */
} tz_encode_options;

enum {
    TZ_ENCODER_NATIVE_ENDIAN = 1, /* takes samples in the machine's byte order, not the file's */
    TZ_ENCODER_NO_PREDICTOR = 2,  /* predictors do not apply */
    TZ_ENCODER_COPY = 4,          /* the output is the input */
    TZ_ENCODER_FROM_RGB = 8,      /* takes RGB for photometric YCbCr */
    /* Floating-point samples keep their values, but not all their bits: signs of zero and kinds of
     * NaN may change. */
    TZ_ENCODER_VALUES_ONLY = 16
};

typedef struct tz_encoder {
    unsigned flags;
    size_t state_size; /* scratch of one thread, zeroed by the caller; 0: none */
    /* Fills in the defaults of *options and checks it. Returns NULL, or the error ("Deflate levels
     * are 1 to 12"). NULL: any options will do. */
    const char *(*resolve_options)(const tz_tile_format *format, tz_encode_options *options);
    /* Returns NULL if such tiles can be encoded, or why not ("WebP takes 3 or 4 bands of uint8").
     */
    const char *(*unsupported_reason)(const tz_tile_format *format,
                                      const tz_encode_options *options);
    /* Says if decoding gives other samples than were encoded; NULL: never. */
    bool (*lossy)(const tz_tile_format *format, const tz_encode_options *options);
    /* Returns the most bytes that a tile takes. */
    size_t (*bound)(const tz_tile_format *format, const tz_encode_options *options);
    /* Returns the most bytes that init and encode allocate for one thread; NULL: none. */
    uint64_t (*memory)(const tz_tile_format *format, const tz_encode_options *options);
    tz_result (*init)(void *state, const tz_tile_format *format, const tz_encode_options *options,
                      const tz_context *ctx); /* may be NULL */
    void (*deinit)(void *state);              /* may be NULL; zeroed state is fine */
    /* in: format->height packed rows and slack; it may be used up. out: bound() bytes. The last
     * strip may have fewer rows than the format that init got; nothing else differs. */
    tz_result (*encode)(void *state, const tz_tile_format *format, const tz_encode_options *options,
                        uint8_t *in, uint8_t *out, size_t *out_size, const tz_codec_call *call);
    /* Makes the tables that all tiles share (JPEGTables), at most bound() bytes; *out_size 0: none.
     * May be NULL. */
    tz_result (*tables)(const tz_tile_format *format, const tz_encode_options *options,
                        uint8_t *out, size_t *out_size, const tz_context *ctx);
} tz_encoder;

/* The member lossy of codecs that are lossy unless the options say otherwise. */
bool tz_encoder_is_lossy(const tz_tile_format *format, const tz_encode_options *options);

/* Resolves the options, then checks the format: TZ_ERR_ARG for options that cannot be,
 * TZ_ERR_UNSUPPORTED for a format. */
tz_result tz_encoder_check(const tz_encoder *encoder, const tz_tile_format *format,
                           tz_encode_options *options, const tz_context *ctx);

/* ---------------------------------------------------------------------------------------------
 * The table: one row for each codec, also for those that this build lacks
 * ------------------------------------------------------------------------------------------ */

/* Members of tz_codec_options that a codec uses; the others are ignored with a warning. */
enum {
    TZ_OPTION_LEVEL = 1,
    TZ_OPTION_INNER_LEVEL = 2, /* lerc_compression, and with it level */
    TZ_OPTION_QUALITY = 4,
    TZ_OPTION_LOSSY_QUALITY = 8, /* quality, unless it is lossless */
    TZ_OPTION_LOSSLESS = 16,     /* lossless may be TZ_CHOICE_NO */
    TZ_OPTION_DISTANCE = 32,     /* distance and alpha_distance */
    TZ_OPTION_MAX_ERROR = 64,
    TZ_OPTION_JPEG_TABLES = 128,
    TZ_OPTION_PREDICTOR = 256 /* libtiff, and so everybody, knows predictors with this codec */
};

/* One row. Of its infos the first is the codec that new files get; the others are further names
 * that its decoder reads, and the list ends with one that has no name. */
typedef struct tz_codec {
    const char *name;            /* "deflate" */
    const char *feature;         /* of tz_build_feature; NULL: none */
    const char *readers;         /* programs that read it, if GDAL cannot; NULL otherwise */
    tz_codec_info infos[4];      /* of tz_codec_get */
    unsigned options;            /* TZ_OPTION_..., with the first number */
    bool is_lossless_by_default; /* with the first number */
    const tz_decoder *decoder;   /* NULL: not in this build */
    const tz_encoder *encoder;   /* NULL: not in this build, or read only */
} tz_codec;

enum { TZ_CODEC_COUNT = 13 };
extern const tz_codec tz_codecs[TZ_CODEC_COUNT];

/* Returns the row of a TIFF compression number; NULL: terrazzo has no codec for it. */
const tz_codec *tz_codec_find(uint16_t compression);

/* Returns a text on the programs that read a codec, if GDAL and libtiff cannot; NULL: they read it
 * in builds with its library, or it is unknown. */
const char *tz_compression_readers(uint16_t compression);

/* Find the decoder or the encoder for a TIFF compression number. TZ_ERR_UNSUPPORTED names it if it
 * was left out of the build ("JPEG XL (50002) needs libjxl, which this build does not have"), is
 * only read (CCITT), or is unknown. */
tz_result tz_decoder_find(uint16_t compression, const tz_context *ctx, const tz_decoder **out);
tz_result tz_encoder_find(uint16_t compression, const tz_context *ctx, const tz_encoder **out);

/* One file each. Those that need a library exist only in builds that have it. */
extern const tz_decoder tz_decoder_none, tz_decoder_packbits, tz_decoder_lzw, tz_decoder_ccitt,
    tz_decoder_deflate, tz_decoder_zstd, tz_decoder_lzma, tz_decoder_lz4, tz_decoder_lerc,
    tz_decoder_jpeg, tz_decoder_webp, tz_decoder_jp2, tz_decoder_jxl;
extern const tz_encoder tz_encoder_none, tz_encoder_packbits, tz_encoder_lzw, tz_encoder_deflate,
    tz_encoder_zstd, tz_encoder_lzma, tz_encoder_lz4, tz_encoder_lerc, tz_encoder_jpeg,
    tz_encoder_webp, tz_encoder_jp2, tz_encoder_jxl;

#endif
