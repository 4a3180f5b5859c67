/* SPDX-License-Identifier: Apache-2.0
 * Writes TIFF bytes, also broken ones, from a short description.
 *
 *     tb *b = tb_new(TB_BIG_ENDIAN | TB_BIGTIFF);
 *     int image = tb_image(b, &(tb_spec){ .width = 100, .height = 80 });
 *     TB_SET(b, image, 258, TZ_TYPE_SHORT, 16);           describe ...
 *     tb_finish(b);                                       ... lay out ...
 *     tb_patch_next(b, image, 3);                         ... and break single fields
 *     tz_open_memory(&file, b->data, b->size, ...);
 *     tb_free(b);
 *
 * The order of the bytes is that of a COG: header, ghost area, each directory with the data of its
 * tags, all tile tables, then tiles from the last directory's to the first's. b->data has exactly
 * b->size bytes on the heap, so that address sanitizers see every over-read. A mistake in the use
 * of the builder ends the program with a message. */
#ifndef TESTS_SUPPORT_TIFF_BUILDER_H
#define TESTS_SUPPORT_TIFF_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tiff/tags.h"

/* Bits of a format; every number below TB_FORMATS is one. */
#define TB_CLASSIC    0u
#define TB_BIG_ENDIAN 1u
#define TB_BIGTIFF    2u
#define TB_FORMATS    4u
const char *tb_format_name(unsigned format);

#define TB_AUTO UINT64_MAX /* let the builder choose */

/* One directory entry. Change its members before tb_finish for what no function offers. */
typedef struct tb_entry {
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint8_t *bytes; /* data in the file's byte order */
    size_t size;
    uint64_t at;       /* where the data goes when it is not inline; TB_AUTO */
    uint64_t value;    /* what to write in the value field instead of data or offset; TB_AUTO */
    int *links;        /* directories whose offsets are the data; NULL: none */
    uint8_t table;     /* 1 tile offsets, 2 tile sizes: filled by tb_finish */
    uint64_t entry_at; /* known after tb_finish, like data_at */
    uint64_t data_at;  /* of inline data too */
} tb_entry;

/* An image in a few words; what is 0 gets the value in brackets. */
typedef struct tb_spec {
    uint32_t width, height;           /* (64) */
    uint32_t tile_width, tile_height; /* (0: strips) */
    uint32_t rows_per_strip;          /* (the height) */
    uint16_t bits;                    /* (8) */
    uint16_t sample_format;           /* (1) */
    uint16_t samples;                 /* (1) */
    uint16_t planar;                  /* (1) */
    uint16_t photometric;             /* (1) */
    uint16_t compression;             /* (1) */
    uint16_t predictor;               /* (tag left out) */
    uint32_t subfile;                 /* (tag left out) */
    uint16_t offset_type, size_type;  /* of the tables (LONG; LONG8 in BigTIFF for offsets) */
    uint32_t tile_bytes;              /* stored per tile (16) */
    bool sparse;                      /* no tile has bytes */
} tb_spec;

typedef struct tb_ifd {
    tb_entry *entries;
    size_t count;
    size_t capacity;
    tb_spec spec;
    uint64_t at;          /* where it goes; TB_AUTO */
    uint64_t gap;         /* unused bytes before it */
    uint64_t entry_count; /* what to write as the number of entries; TB_AUTO */
    bool chained;         /* part of the main chain */
    int next;             /* the directory after it; -1 none, TB_NEXT_IN_CHAIN by order */
    bool unsorted;        /* keep entries in the order they were added */
    uint64_t tile_count;
    uint64_t *tile_offsets;
    uint64_t *tile_sizes;
    uint64_t offset; /* known after tb_finish */
} tb_ifd;
#define TB_NEXT_IN_CHAIN (-2)

typedef struct tb {
    unsigned format;
    bool big_endian;
    bool bigtiff;
    tb_ifd *ifds;
    int ifd_count;
    int ifd_capacity;
    uint64_t ifds_in_file; /* with those of tb_repeat */
    uint8_t *ghost;
    size_t ghost_size;
    bool leaders;      /* every tile gets the leader and trailer that a ghost area promises */
    bool data_first;   /* tiles before the directories */
    bool data_forward; /* tiles from the first directory's to the last's */
    bool finished;
    uint8_t *data;
    size_t size;
    size_t room;
} tb;

tb *tb_new(unsigned format);
/* Bytes that are not a TIFF, or are one already; the format is only a name. */
tb *tb_raw(unsigned format, const void *bytes, size_t size);
tb *tb_copy(const tb *finished); /* the bytes alone */
void tb_free(tb *b);

/* Directories. Each returns its index. */
int tb_ifd_new(tb *b);                               /* in the chain, without entries */
int tb_image(tb *b, const tb_spec *spec);            /* in the chain; a complete valid image */
int tb_gray(tb *b, uint32_t width, uint32_t height); /* 8-bit, one strip */
int tb_tiled(tb *b, uint32_t width, uint32_t height, uint32_t tile);
int tb_overview(tb *b, int of, uint32_t width, uint32_t height); /* like it, reduced */
int tb_mask(tb *b, int of); /* transparency mask of the same size and tiling */
/* Take directories out of the chain and name them in tag of ifd: TZ_TAG_SUB_IFDS, EXIF, ... */
void tb_link(tb *b, int ifd, uint16_t tag, uint16_t type, const int *targets, size_t count);
void tb_sub(tb *b, int ifd, int target); /* one SubIFD */

/* Tags: replace the one that is there, or add it. Numbers are converted to the type; a rational
 * takes two. The entry is valid until the next change. */
tb_entry *tb_set(tb *b, int ifd, uint16_t tag, uint16_t type, const uint64_t *values, size_t count);
tb_entry *tb_set_doubles(tb *b, int ifd, uint16_t tag, uint16_t type, const double *values,
                         size_t count);
tb_entry *tb_set_text(tb *b, int ifd, uint16_t tag, const char *text); /* with its NUL */
tb_entry *tb_set_bytes(tb *b, int ifd, uint16_t tag, uint16_t type, uint64_t count,
                       const void *bytes, size_t size); /* already in the file's byte order */
/* No data: the value field is as given. */
tb_entry *tb_set_raw(tb *b, int ifd, uint16_t tag, uint16_t type, uint64_t count, uint64_t value);
tb_entry *tb_add_again(tb *b, int ifd, uint16_t tag, uint16_t type,
                       uint64_t value);          /* a duplicate */
tb_entry *tb_find(tb *b, int ifd, uint16_t tag); /* the first; must be there */
void tb_remove(tb *b, int ifd, uint16_t tag);    /* must be there */
#define TB_SET(b, ifd, tag, type, ...)                                                             \
    tb_set(b, ifd, tag, type, (const uint64_t[]){__VA_ARGS__},                                     \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define TB_SHORTS(b, ifd, tag, ...) TB_SET(b, ifd, tag, TZ_TYPE_SHORT, __VA_ARGS__)
#define TB_LONGS(b, ifd, tag, ...)  TB_SET(b, ifd, tag, TZ_TYPE_LONG, __VA_ARGS__)
#define TB_DOUBLES(b, ifd, tag, ...)                                                               \
    tb_set_doubles(b, ifd, tag, TZ_TYPE_DOUBLE, (const double[]){__VA_ARGS__},                     \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Georeferencing: keys for a projected CRS, a pixel scale and a tie point. */
void tb_georeference(tb *b, int ifd, uint16_t epsg);

/* A ghost area: the line with the size, then items. tb_ghost_raw writes bytes as they are. */
#define TB_GHOST_COG                                                                               \
    "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"                 \
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n "
void tb_ghost(tb *b, const char *items);
void tb_ghost_raw(tb *b, const void *bytes, size_t size);

/* Lay out and write. Once. */
void tb_finish(tb *b);

/* After tb_finish: where things are. */
uint64_t tb_ifd_at(const tb *b, int ifd);
uint64_t tb_next_at(const tb *b, int ifd); /* the field with the next directory's offset */
uint64_t tb_entry_at(const tb *b, int ifd, uint16_t tag);
uint64_t tb_type_at(const tb *b, int ifd, uint16_t tag);
uint64_t tb_count_at(const tb *b, int ifd, uint16_t tag);
uint64_t tb_value_at(const tb *b, int ifd, uint16_t tag); /* the value field of the entry */
uint64_t tb_data_at(const tb *b, int ifd, uint16_t tag);
uint64_t tb_tile_at(const tb *b, int ifd, uint64_t tile);
uint64_t tb_tile_size(const tb *b, int ifd, uint64_t tile);
uint64_t tb_header_size(const tb *b);

/* After tb_finish: change single fields, in the file's byte order. */
void tb_patch(tb *b, uint64_t offset, size_t size, uint64_t value);
void tb_patch_bytes(tb *b, uint64_t offset, const void *bytes, size_t size); /* grows the file */
void tb_patch_first(tb *b, uint64_t value); /* the header's offset of the first directory */
void tb_patch_next(tb *b, int ifd, uint64_t value);
void tb_patch_entry_count(tb *b, int ifd, uint64_t value);
void tb_patch_type(tb *b, int ifd, uint16_t tag, uint16_t value);
void tb_patch_count(tb *b, int ifd, uint16_t tag, uint64_t value);
void tb_patch_value(tb *b, int ifd, uint16_t tag, uint64_t value); /* the whole value field */
void tb_patch_item(tb *b, int ifd, uint16_t tag, uint64_t index, uint64_t value);
void tb_patch_tile(tb *b, int ifd, uint64_t tile, uint64_t offset, uint64_t size);
void tb_truncate(tb *b, size_t size);
void tb_extend(tb *b, size_t size); /* with zeros */
/* Append copies of a directory to the file, as a chain that follows it. They share its data. */
void tb_repeat(tb *b, int ifd, uint64_t times);
uint64_t tb_get(const tb *b, uint64_t offset, size_t size);

void tb_write_file(const tb *b, const char *path);

#endif
