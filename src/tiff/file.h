/* SPDX-License-Identifier: Apache-2.0
 * An open file: what the public handle holds. Immutable after opening. */
#ifndef TZ_TIFF_FILE_H
#define TZ_TIFF_FILE_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "tiff/container.h"
#include "tiff/gdal/metadata.h"
#include "tiff/geo/geo.h"
#include "tiff/ifd.h"
#include "tiff/layer.h"
#include "tiff/table_cache.h"

#define TZ_MAX_CONTAINERS 3 /* the file, .ovr, .msk */
#define TZ_MAX_SIDECARS   4 /* .ovr, .msk, .aux.xml, a world file */

struct tz_file {
    tz_info info;
    tz_limits limits;
    tz_container containers[TZ_MAX_CONTAINERS];
    unsigned container_count;
    tz_arena arena;                /* everything info points to, as far as not below */
    tz_level_tables *level_tables; /* beside info.levels */
    tz_level_tables *mask_tables;  /* beside info.masks; NULL: none */
    tz_page *pages;
    tz_geo_tags geo_tags;         /* what info.geo was made of */
    uint32_t sidecars;            /* TZ_SIDECAR_ bits: which were looked for */
    tz_sidecar_use *sidecar_uses; /* of info.sidecars; TZ_MAX_SIDECARS, or NULL: none */
    bool strict;                  /* warnings are errors, of tiles too */
    tz_metadata metadata;
    tz_warnings warnings;
    uint32_t own_warnings; /* of these: about the image, not about .aux.xml or a world file */
    uint64_t loaded;       /* bytes of tag data taken from the file */
    tz_table_cache *cache; /* of this handle; the one part that changes after opening */
};

/* The layer that a public level number names (TZ_MASK_OF included); TZ_ERR_ARG when there is none.
 */
tz_result tz_file_layer(const tz_file *file, uint32_t level, const tz_context *ctx, tz_layer *out);

/* A context for calls on an open file. */
tz_context tz_file_context(const tz_file *file, tz_error *err);

/* file_info.c: the photometric interpretation of pixels as they are delivered: YCbCr in JPEG
 * becomes RGB, old-style or not. */
uint16_t tz_delivered_photometric(const tz_info *info);

/* tile_table.c: tz_tile_spans for a layer at hand, without a look whether the file has changed. */
tz_result tz_layer_spans(const tz_file *file, uint32_t level, const tz_layer *layer, uint64_t first,
                         size_t count, tz_tile_span *out, tz_error *err);

/* The checks of tz_tile_locate on a span of the table. A size that cannot be right may come from a
 * leader, or with a warning from the layout. warnings may be NULL. */
tz_result tz_tile_check_span(const tz_file *file, uint32_t level, const tz_layer *layer,
                             uint64_t tile, tz_tile_span *span, tz_warnings *warnings,
                             tz_error *err);

/* load_tags.c: fill the parts of info that come from the base directory's other tags. */
tz_result tz_file_load_tags(tz_file *file, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx);

/* ghost.c: the area between header and first directory. */
tz_result tz_ghost_read(tz_ghost *out, tz_reader *reader, const tz_context *ctx);

#endif
