/* SPDX-License-Identifier: Apache-2.0
 * LERC blobs (Lerc2, versions 1 to 6), decoded straight into the rows of a tile by codec_lerc.c,
 * whose encoder shares the types. All functions read within the blob and write within the target,
 * whatever the bytes are.
 *
 * A blob is one band, with one or more values per pixel ("depth"): header, mask of valid pixels,
 * range of each depth, values. Values are stored in one of four ways: raw, in small square blocks,
 * as Huffman codes (8-bit types), or as Huffman-coded byte planes (float types). */
#ifndef TZ_CODEC_LERC_H
#define TZ_CODEC_LERC_H

#include "codec/codec.h"
#include "codec/cursor.h"

#define TZ_LERC_MAX_BLOCK 32 /* pixels on a side */

enum {
    TZ_LERC_INT8,
    TZ_LERC_UINT8,
    TZ_LERC_INT16,
    TZ_LERC_UINT16,
    TZ_LERC_INT32,
    TZ_LERC_UINT32,
    TZ_LERC_FLOAT,
    TZ_LERC_DOUBLE,
    TZ_LERC_TYPES
};

/* The compression around the blobs of a tile: tag LercParameters. */
enum { TZ_LERC_PLAIN = 0, TZ_LERC_WITH_DEFLATE = 1, TZ_LERC_WITH_ZSTD = 2 };

typedef struct tz_lerc_header {
    uint32_t version;
    uint32_t checksum;
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    uint32_t valid; /* pixels */
    uint32_t block; /* pixels on a side */
    uint32_t size;  /* bytes of the blob */
    uint32_t type;
    bool has_nodata; /* values that mean "no data", on top of the mask */
    double max_error;
    double minimum;
    double maximum;
} tz_lerc_header;

/* The rows of the tile: value d of the pixel at x, y is at out + y * stride + x * step + d * its
 * size. */
typedef struct tz_lerc_target {
    uint8_t *out;
    size_t stride;
    size_t step;
} tz_lerc_target;

typedef struct tz_lerc_blob {
    tz_lerc_header header;
    tz_lerc_target target;
    const uint8_t *mask;   /* a bit per pixel, highest first; NULL: all are valid */
    const uint8_t *minima; /* of each depth, in the blob's type; NULL: those of the header */
    const uint8_t *maxima;
    tz_cursor data;     /* the values */
    const char *defect; /* set by the function that returned false */
} tz_lerc_blob;

static inline size_t tz_lerc_type_size(uint32_t type)
{
    static const uint8_t sizes[TZ_LERC_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[type];
}

/* Returns the type of such samples; TZ_LERC_TYPES if LERC has none. */
static inline uint32_t tz_lerc_type_of(uint16_t bits, uint16_t sample_format)
{
    static const uint16_t formats[TZ_LERC_TYPES] = {TZ_SAMPLE_FORMAT_INT,   TZ_SAMPLE_FORMAT_UINT,
                                                    TZ_SAMPLE_FORMAT_INT,   TZ_SAMPLE_FORMAT_UINT,
                                                    TZ_SAMPLE_FORMAT_INT,   TZ_SAMPLE_FORMAT_UINT,
                                                    TZ_SAMPLE_FORMAT_FLOAT, TZ_SAMPLE_FORMAT_FLOAT};
    uint32_t type = 0;
    while (type < TZ_LERC_TYPES &&
           (formats[type] != sample_format || tz_lerc_type_size(type) * 8 != bits))
        type++;
    return type;
}

static inline bool tz_lerc_is_valid(const tz_lerc_blob *blob, size_t pixel)
{
    return !blob->mask || blob->mask[pixel >> 3] & (0x80u >> (pixel & 7));
}

static inline bool tz_lerc_fail(tz_lerc_blob *blob, const char *defect)
{
    blob->defect = defect;
    return false;
}

/* Loads a value of any type. */
double tz_lerc_load(const uint8_t *data, uint32_t type);
/* Stores a value as this type, saturated, in the machine's byte order. */
void tz_lerc_store(uint8_t *out, uint32_t type, double value);
/* Copies values of a blob (little-endian) to values of the machine. */
void tz_lerc_copy(uint8_t *out, const uint8_t *data, size_t count, uint32_t type);

/* ---------------------------------------------------------------------------------------------
 * lerc_blob.c: header and mask
 * ------------------------------------------------------------------------------------------ */

/* Reads a header and moves the cursor past it. Returns false if the bytes are not a header of a
 * known version. */
bool tz_lerc_read_header(tz_lerc_header *out, tz_cursor *cursor);

/* Checks the checksum of a whole blob that starts at data; versions before 3 have none. */
bool tz_lerc_checksum_fits(const tz_lerc_header *header, const uint8_t *data);

/* Reads the mask to bits, (pixels + 7) / 8 bytes, or takes the mask of the band before that bits
 * still holds (has_previous). Sets blob->mask, also if no pixel is valid. */
bool tz_lerc_read_mask(tz_lerc_blob *blob, uint8_t *bits, bool has_previous);

/* ---------------------------------------------------------------------------------------------
 * lerc_blob.c: packed numbers
 * ------------------------------------------------------------------------------------------ */

/* Reads at most max whole numbers, each of the same number of bits (*width, below 32), perhaps by
 * way of a table. Returns false if there are more or if they are cut off. May read some bytes after
 * the cursor's end: the slack of an input. */
bool tz_lerc_unstuff(tz_cursor *cursor, uint32_t version, uint32_t *out, size_t max, size_t *count,
                     unsigned *width);

#define TZ_LERC_QUICK_BITS 12

typedef struct tz_lerc_code {
    uint32_t bits;
    uint8_t length;
    uint8_t symbol;
} tz_lerc_code;

/* The position in a list of codes. Loops keep a copy of their own, so that it stays in registers.
 */
typedef struct tz_lerc_bits {
    const uint8_t *words; /* not read yet: 32 bits each, the highest bit first */
    size_t word_count;
    uint64_t next; /* the next bits, at the top */
    int held;      /* number of them; negative: more were used than there are */
} tz_lerc_bits;

/* Huffman codes of bytes. */
typedef struct tz_lerc_huffman {
    uint16_t quick[1 << TZ_LERC_QUICK_BITS]; /* length << 8 | symbol; 0: a longer code, or none */
    tz_lerc_code longer[256];
    unsigned longer_count;
    tz_lerc_bits bits;
} tz_lerc_huffman;

/* Reads the table of codes, and sets bits to the codes after it. */
bool tz_lerc_huffman_read(tz_lerc_huffman *huffman, tz_cursor *cursor, uint32_t version);

/* Finds the code that the next bits begin with, if it is not in the quick table. Returns its
 * length << 8 | symbol; 0: none. */
uint32_t tz_lerc_huffman_search(const tz_lerc_huffman *huffman, uint64_t next);

/* Holds at least 32 bits, with zeros after the end. */
static inline void tz_lerc_bits_refill(tz_lerc_bits *bits)
{
    if (bits->held > 32 || bits->word_count == 0)
        return;
    bits->next |= (uint64_t)tz_load_le32(bits->words) << (32 - bits->held);
    bits->words += 4;
    bits->word_count--;
    bits->held += 32;
}

static inline void tz_lerc_bits_skip(tz_lerc_bits *bits, unsigned count)
{
    bits->next <<= count;
    bits->held -= (int)count;
}

/* Reads the next symbol; -1 if no code fits. */
static inline int tz_lerc_huffman_next(const tz_lerc_huffman *huffman, tz_lerc_bits *bits)
{
    tz_lerc_bits_refill(bits);
    uint32_t entry = huffman->quick[bits->next >> (64 - TZ_LERC_QUICK_BITS)];
    if (entry == 0)
        entry = tz_lerc_huffman_search(huffman, bits->next);
    if (entry == 0)
        return -1;
    tz_lerc_bits_skip(bits, entry >> 8);
    return bits->held < 0 ? -1 : (int)(entry & 255);
}

/* ---------------------------------------------------------------------------------------------
 * Values: lerc_values.c, and lerc_blocks.c for blocks
 * ------------------------------------------------------------------------------------------ */

bool tz_lerc_read_raw(tz_lerc_blob *blob);
bool tz_lerc_fill_constant(tz_lerc_blob *blob); /* all valid pixels are the minimum */
bool tz_lerc_read_huffman(tz_lerc_blob *blob, tz_lerc_huffman *huffman, bool differences);
bool tz_lerc_read_blocks(tz_lerc_blob *blob);
/* plane: a buffer for one byte of every value. */
bool tz_lerc_read_planes(tz_lerc_blob *blob, tz_lerc_huffman *huffman, uint8_t *plane);

#endif
