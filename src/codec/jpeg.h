/* SPDX-License-Identifier: Apache-2.0
 * The parts of the JPEG codec that do without libjpeg's types: the headers of a stream, lossless
 * and old-style JPEG, Huffman codes made for a tile, and the options of the encoder. codec_jpeg.c
 * puts them together. */
#ifndef TZ_CODEC_JPEG_H
#define TZ_CODEC_JPEG_H

#include <string.h>

#include "codec/codec.h"

/* ---------------------------------------------------------------------------------------------
 * jpeg_markers.c: the headers of a stream, read before libjpeg sees it
 * ------------------------------------------------------------------------------------------ */

#define TZ_JPEG_MAX_COMPONENTS 4
#define TZ_JPEG_MAX_TABLES     4

/* The tables that a stream has: bit i stands for table i. */
typedef struct tz_jpeg_table_set {
    uint8_t quant;
    uint8_t dc;
    uint8_t ac;
    /* The codes of each DC table, inside the stream that defines it: 16 counts, then symbols. */
    const uint8_t *dc_codes[TZ_JPEG_MAX_TABLES];
} tz_jpeg_table_set;

typedef struct tz_jpeg_component {
    uint8_t id;
    uint8_t h; /* sampling factors, 1 to 4 */
    uint8_t v;
    uint8_t quant;
} tz_jpeg_component;

/* One scan of a lossless image. Its pointers are into the stream or JPEGTables. */
typedef struct tz_jpeg_lossless_scan {
    uint8_t count;                                /* components in the scan */
    uint8_t components[TZ_JPEG_MAX_COMPONENTS];   /* indices into tz_jpeg_info.components */
    const uint8_t *codes[TZ_JPEG_MAX_COMPONENTS]; /* 16 counts, then symbols */
    uint8_t predictor;                            /* 1 to 7 */
    uint8_t shift;                                /* the point transform */
    uint16_t restart_interval;                    /* units; 0: none */
    const uint8_t *data;                          /* entropy-coded bytes */
} tz_jpeg_lossless_scan;

typedef struct tz_jpeg_info {
    uint16_t width;
    uint16_t height;
    uint8_t precision;
    uint8_t component_count;
    tz_jpeg_component components[TZ_JPEG_MAX_COMPONENTS];
    bool progressive;
    bool lossless;           /* lossless_scans are set */
    bool many_scans;         /* libjpeg keeps all coefficients in memory */
    bool changes_tables;     /* has tables of its own */
    int16_t adobe_transform; /* 0 none, 1 YCbCr, 2 YCCK; -1: no Adobe marker */
    uint32_t scans;
    /* Each component is in one of them. */
    tz_jpeg_lossless_scan lossless_scans[TZ_JPEG_MAX_COMPONENTS];
} tz_jpeg_info;

/* Finds the tables of an abbreviated stream for table specification (tag JPEGTables). Anything but
 * tables and comments in it is an error. */
tz_result tz_jpeg_read_tables(tz_jpeg_table_set *out, const uint8_t *data, size_t size,
                              const tz_codec_call *call);

/* Reads the headers of a stream with an image, given the tables known before it. Makes sure that it
 * is a Huffman-coded baseline, extended, progressive or lossless image, that every scan finds the
 * tables it names, that all components are there, and that the number of scans is within
 * max_jpeg_scans. */
tz_result tz_jpeg_read_info(tz_jpeg_info *out, const uint8_t *data, size_t size,
                            tz_jpeg_table_set tables, const tz_codec_call *call);

/* Checks that the stream, which is not lossless, is one of such a tile (in codec_jpeg.c). */
tz_result tz_jpeg_check_tile(const tz_jpeg_info *info, const tz_tile_format *format,
                             const tz_codec_call *call);

/* Bytes of all coefficients of an image with many scans. */
uint64_t tz_jpeg_coefficient_bytes(const tz_jpeg_info *info);

/* ---------------------------------------------------------------------------------------------
 * Marker codes of JPEG streams (ITU-T T.81 table B.1): the byte after FF.
 * ------------------------------------------------------------------------------------------ */

enum {
    TZ_MARKER_TEM = 0x01,
    TZ_MARKER_SOF0 = 0xC0,
    TZ_MARKER_SOF2 = 0xC2,
    TZ_MARKER_SOF3 = 0xC3,
    TZ_MARKER_DHT = 0xC4,
    TZ_MARKER_JPG = 0xC8,
    TZ_MARKER_DAC = 0xCC,
    TZ_MARKER_SOF15 = 0xCF,
    TZ_MARKER_RST0 = 0xD0,
    TZ_MARKER_RST7 = 0xD7,
    TZ_MARKER_SOI = 0xD8,
    TZ_MARKER_EOI = 0xD9,
    TZ_MARKER_SOS = 0xDA,
    TZ_MARKER_DQT = 0xDB,
    TZ_MARKER_DNL = 0xDC,
    TZ_MARKER_DRI = 0xDD,
    TZ_MARKER_APP0 = 0xE0,
    TZ_MARKER_APP14 = 0xEE,
    TZ_MARKER_APP15 = 0xEF,
    TZ_MARKER_JPEG_LS = 0xF7,
    TZ_MARKER_COM = 0xFE
};

static inline bool tz_marker_is_frame(uint8_t marker)
{
    return (marker >= TZ_MARKER_SOF0 && marker <= TZ_MARKER_SOF15 && marker != TZ_MARKER_DHT &&
            marker != TZ_MARKER_JPG && marker != TZ_MARKER_DAC) ||
           marker == TZ_MARKER_JPEG_LS;
}

/* True if a byte of the word is FF, the beginning of a marker or of a stuffed byte. */
static inline bool tz_jpeg_has_ff_byte(uint32_t word)
{
    return ((~word - 0x01010101u) & word & 0x80808080u) != 0;
}

/* Appends bytes to a stream that is large enough; returns its new end. */
static inline uint8_t *tz_jpeg_append(uint8_t *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

static inline bool tz_marker_is_restart(uint8_t marker)
{
    return marker >= TZ_MARKER_RST0 && marker <= TZ_MARKER_RST7;
}

/* ---------------------------------------------------------------------------------------------
 * jpeg_lossless.c: frames of kind SOF3, samples of 2 to 16 bits, Huffman codes
 * ------------------------------------------------------------------------------------------ */

enum {
    TZ_LOSSLESS_FAST_BITS = 9,  /* codes up to this length are found by one look */
    TZ_LOSSLESS_MAX_LENGTH = 16 /* bits of the longest code */
};

/* A Huffman table, ready for decoding. */
typedef struct tz_lossless_codes {
    uint16_t fast[1 << TZ_LOSSLESS_FAST_BITS]; /* length << 8 | symbol; 0: a longer code, or none */
    /* For each length: the first value of 16 bits that no code up to this length begins, and the
     * difference between the index of a symbol and its code. */
    uint32_t limits[TZ_LOSSLESS_MAX_LENGTH + 1];
    int32_t first[TZ_LOSSLESS_MAX_LENGTH + 1];
    const uint8_t *symbols;
} tz_lossless_codes;

/* Scratch of one thread; zeroed by the caller. */
typedef struct tz_jpeg_lossless {
    tz_lossless_codes codes[TZ_JPEG_MAX_COMPONENTS]; /* of the components of a scan */
    tz_codec_buffer rows;                            /* of uint16_t: two of each component */
} tz_jpeg_lossless;

/* Decodes a stream that tz_jpeg_read_info found to be lossless, and that ends at end. Frame and
 * tile may differ in width, height and components as long as they have the same number of samples,
 * as DNG allows: samples are then taken in the order of rows. */
tz_result tz_jpeg_decode_lossless(tz_jpeg_lossless *state, const tz_jpeg_info *info,
                                  const tz_tile_format *format, const uint8_t *end, uint8_t *out,
                                  size_t stride, const tz_codec_call *call);

/* ---------------------------------------------------------------------------------------------
 * jpeg_old.c: old-style JPEG (compression 6), tiles of entropy-coded data without headers. The
 * caller passes these headers as the tables of the format: SOI, tables, a frame header and a scan
 * header. A frame of width or height 0 has the size of the tile.
 * ------------------------------------------------------------------------------------------ */

/* Joins headers and tile to one stream of *size bytes, in *stream. A tile may begin with headers of
 * its own, up to a whole stream: these count, but for a frame that is larger than the tile. Restart
 * markers are counted from the first one of the tile. */
tz_result tz_jpeg_old_join(tz_codec_buffer *stream, const tz_tile_format *format, const uint8_t *in,
                           size_t in_size, const tz_codec_call *call, size_t *size);

/* ---------------------------------------------------------------------------------------------
 * jpeg_recode.c: Huffman codes that are made for a tile. libjpeg can do so too, but keeps all
 * coefficients for it and goes through them twice. It is faster to let libjpeg use the standard
 * codes, and to replace the codes in its output.
 * ------------------------------------------------------------------------------------------ */

enum {
    TZ_JPEG_HUFFMAN_CODES = 4,    /* DC and AC of the first set, then of the second */
    TZ_JPEG_MAX_CODE_LENGTH = 16, /* bits */
    TZ_JPEG_QUICK_BITS = 10
};

/* A Huffman code as JPEG stores it: symbols in the order of their codes, by length. */
typedef struct tz_jpeg_huffman {
    uint8_t counts[TZ_JPEG_MAX_CODE_LENGTH + 1]; /* codes of each length; 0 has none */
    uint8_t symbols[256];
    unsigned symbol_count;
} tz_jpeg_huffman;

/* Makes the best code for symbols with these numbers of occurrences, at least one of them not 0, as
 * T.81 wants it: up to 16 bits, and none of all ones. Symbols that do not occur have no code. */
void tz_jpeg_huffman_build(tz_jpeg_huffman *out, const uint64_t occurrences[256]);

/* Tables to read one code. An entry is the symbol, the length of its code << 8, and << 16 that
 * length with the bits of the value that follow. */
typedef struct tz_jpeg_huffman_reader {
    uint32_t quick[1 << TZ_JPEG_QUICK_BITS]; /* 0: a longer code */
    /* For each length: the first code that is longer, and the difference between the index of a
     * symbol and its code. */
    uint32_t limits[TZ_JPEG_MAX_CODE_LENGTH + 1];
    uint32_t offsets[TZ_JPEG_MAX_CODE_LENGTH + 1];
    uint8_t symbols[256];
} tz_jpeg_huffman_reader;

void tz_jpeg_huffman_reader_init(tz_jpeg_huffman_reader *reader, const tz_jpeg_huffman *code);

/* The blocks of a scan, minimum coded unit by unit. */
typedef struct tz_jpeg_mcu_layout {
    uint64_t mcu_count;
    unsigned blocks[2]; /* of a unit: with the first set of codes, then with the second */
} tz_jpeg_mcu_layout;

enum {
    TZ_JPEG_RECODE_SLACK = 512, /* readable bytes after the stream */
    TZ_JPEG_BLOCK_TOKENS = 64   /* tokens of one block, at most */
};

/* Turns a baseline stream of one scan that was coded with the codes of the readers, but does not
 * contain them, into one with codes of its own. in is used up. Returns false if it is not such a
 * stream or out is too small. */
bool tz_jpeg_recode(const tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES],
                    const tz_jpeg_mcu_layout *layout, uint8_t *in, size_t in_size, uint32_t *tokens,
                    uint8_t *out, size_t capacity, size_t *out_size);

/* ---------------------------------------------------------------------------------------------
 * jpeg_options.c: the tiles and options that the encoder takes, and their sizes
 * ------------------------------------------------------------------------------------------ */

/* Members of tz_encoder. */
const char *tz_jpeg_resolve_options(const tz_tile_format *format, tz_encode_options *options);
const char *tz_jpeg_unsupported_reason(const tz_tile_format *format,
                                       const tz_encode_options *options);
size_t tz_jpeg_bound(const tz_tile_format *format, const tz_encode_options *options);
uint64_t tz_jpeg_encoder_memory(const tz_tile_format *format, const tz_encode_options *options);

/* True if these tables go to tag JPEGTables. */
bool tz_jpeg_shares_quantization(const tz_encode_options *options);
bool tz_jpeg_shares_huffman(const tz_encode_options *options);

/* True if Huffman tables are made for each tile, by tz_jpeg_recode. libjpeg's standard tables, from
 * which it starts, are for 8 bits. */
bool tz_jpeg_recodes(const tz_tile_format *format, const tz_encode_options *options);

bool tz_jpeg_is_ycbcr(const tz_tile_format *format);

/* Samples of the first component for one of the others, across and down. */
unsigned tz_jpeg_factor_across(const tz_tile_format *format);
unsigned tz_jpeg_factor_down(const tz_tile_format *format);

/* Blocks of 8 x 8 samples, by the tables they use: chroma has the second set. */
tz_jpeg_mcu_layout tz_jpeg_mcu_layout_of(const tz_tile_format *format);
uint64_t tz_jpeg_block_count(const tz_tile_format *format);

#endif
