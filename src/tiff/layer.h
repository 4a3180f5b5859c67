/* SPDX-License-Identifier: Apache-2.0
 * From a directory to a grid of tiles: types, sizes, and whether the tile tables can be used. */
#ifndef TZ_TIFF_LAYER_H
#define TZ_TIFF_LAYER_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"

/* What it takes, beside its tz_level, to find the tiles of a level or mask. */
typedef struct tz_level_tables {
    tz_tag_ref offsets;
    tz_tag_ref sizes; /* may have fewer values than offsets, or none: the layout gives the others */
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

/* One grid of tiles. */
typedef struct tz_layer {
    tz_level shape;
    tz_level_tables tables;
    bool is_mask;
} tz_layer;

/* TZ_DTYPE_NONE when there is no type for it. */
tz_dtype tz_dtype_of(uint16_t sample_format, uint16_t bits);

/* NewSubfileType, or what the older SubfileType says in its terms. */
uint32_t tz_ifd_subfile_type(const tz_ifd *ifd);

/* Defects are warnings that leave out->shape.readable false. */
tz_result tz_layer_from_ifd(tz_layer *out, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx);

/* Whether tiles can be found at all. Where not, a warning of opening says why. */
bool tz_layer_has_tables(const tz_layer *layer);

/* Bytes of tile number tile, decoded; TZ_NONE when that does not fit 64 bits. The last strip of a
 * plane holds only the rows that are left. */
uint64_t tz_layer_tile_bytes(const tz_layer *layer, uint64_t tile);

#endif
