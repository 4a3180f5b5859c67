/* SPDX-License-Identifier: Apache-2.0
 * From a directory to a grid of tiles: types, sizes, and tile tables that can be used or not. */
#ifndef TZ_TIFF_LAYER_H
#define TZ_TIFF_LAYER_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"

/* The facts, beside its tz_level, that finding and decoding the tiles of a level or mask needs. */
typedef struct tz_level_tables {
    tz_tag_ref offsets;
    tz_tag_ref
        sizes; /* may have fewer values than offsets, or none: the layout implies the others */
    tz_tag_ref jpeg_tables;
    tz_old_jpeg old_jpeg;
    uint32_t fax_options;
    tz_dtype dtype;
    uint16_t planar;
    uint16_t sample_format;
    uint16_t fill_order;
    uint16_t subsampling[2];
    uint8_t container; /* index into tz_file.containers */
} tz_level_tables;

/* One grid of tiles: the image itself, an overview, or the mask of either. The public half is in
 * tz_info, the other half beside it in the handle. */
typedef struct tz_layer {
    tz_level shape;
    tz_level_tables tables;
    bool is_mask;
} tz_layer;

/* Returns the type of samples; TZ_DTYPE_NONE if there is none for them. */
tz_dtype tz_dtype_of(uint16_t sample_format, uint16_t bits);

/* Returns NewSubfileType, or the older SubfileType in its terms. */
uint32_t tz_ifd_subfile_type(const tz_ifd *ifd);

/* Fills *out. Defects are warnings that leave out->shape.readable false. */
tz_result tz_layer_from_ifd(tz_layer *out, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx);

/* True if tiles can be found at all. If not, a warning of opening says why. */
bool tz_layer_has_tables(const tz_layer *layer);

/* Returns the decoded bytes of a tile; TZ_NO_VALUE if they do not fit 64 bits. The last strip of a
 * plane holds only the rows that are left. */
uint64_t tz_layer_tile_bytes(const tz_layer *layer, uint64_t tile);

/* old_jpeg.c: finds the stream of JPEGInterchangeFormat; size 0: the tag is absent, or, with a
 * warning, points outside the file. Without a usable length (has_size) it ends with the file. */
tz_result tz_old_jpeg_extent(const tz_old_jpeg *old, tz_reader *reader, const tz_context *ctx,
                             tz_tile_span *out, bool *has_size);

#endif
