/* SPDX-License-Identifier: Apache-2.0
 * An open file: the contents of the public handle. Immutable after opening, except the cache. */
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
#include "tiff/tile_table.h"

#define TZ_MAX_CONTAINERS 3 /* the file, .ovr, .msk */
#define TZ_MAX_SIDECARS   4 /* .ovr, .msk, .aux.xml, a world file */

/* A level as tz_item and tz_tile_status name it: with this bit, the mask of it. */
#define TZ_MASK_LEVEL(level) ((level) | 0x80000000u)
static inline bool tz_level_is_mask(uint32_t level)
{
    return (level & TZ_MASK_LEVEL(0u)) != 0;
}
static inline uint32_t tz_level_index(uint32_t level)
{
    return level & ~TZ_MASK_LEVEL(0u);
}

/* A band that the metadata describes. */
typedef struct tz_described_band {
    uint32_t number;
    tz_band band;
} tz_described_band;

/* A container is opened when its file is found, and closed with the handle. Level numbers of the
 * public interface are indices into levels and masks. */
struct tz_file {
    tz_info info;
    tz_geo geo;
    tz_ghost ghost;
    tz_limits limits;
    tz_container containers[TZ_MAX_CONTAINERS];
    unsigned container_count;
    tz_arena arena; /* holds everything that info points to, except other members */
    tz_level *levels;
    tz_level *masks;               /* of each level, width 0 if it has none; NULL: no level has */
    tz_level_tables *level_tables; /* of levels */
    tz_level_tables *mask_tables;  /* of masks */
    tz_page *pages;
    tz_geo_tags geo_tags;         /* source of geo */
    uint32_t sidecars;            /* TZ_SIDECAR_ bits of those that were looked for */
    tz_sidecar_use *sidecar_uses; /* TZ_MAX_SIDECARS elements; NULL: none */
    bool strict;                  /* warnings are errors, of tiles too */
    tz_metadata metadata;
    tz_metadata_item *items;  /* of metadata */
    tz_described_band *bands; /* by number */
    uint32_t described_bands;
    tz_warnings warnings;
    uint32_t own_warnings; /* the first of warnings: not about .aux.xml or a world file */
    uint64_t loaded;       /* bytes of tag data and of .aux.xml that the handle holds */
    tz_table_cache *cache;
};

/* Finds the layer of a level, or of its mask; TZ_ERR_ARG if there is none. */
tz_result tz_file_layer(const tz_file *file, uint32_t level, bool mask, const tz_context *ctx,
                        tz_layer *out);

/* Writes the transform of a level, or of a mask, of this size: pixels are larger than those of
 * level 0 by the ratio of the sizes. false: the file has none. */
bool tz_size_get_transform(double transform[6], const tz_file *file, uint32_t width,
                           uint32_t height);

/* Returns a context for calls on an open file. */
tz_context tz_file_context(const tz_file *file, tz_error *err);

/* Returns the photometric interpretation of pixels as they are delivered: YCbCr in JPEG, old-style
 * or not, becomes RGB. */
uint16_t tz_delivered_photometric(const tz_file *file);

/* Returns the colour of a band: that of the interpretation, then that of ExtraSamples. */
tz_color tz_band_color(uint16_t photometric, uint32_t bands, const uint16_t *extra_samples,
                       uint32_t extra_sample_count, uint32_t band);

/* file_info.c: makes the items and bands that the getters return, once all metadata is read. */
tz_result tz_file_describe(tz_file *file, const tz_context *ctx);

/* load_tags.c: fills the parts of info that come from the descriptive tags of the directory. Their
 * defects are warnings. */
tz_result tz_file_load_tags(tz_file *file, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx);

/* load_tags.c: counts bytes against the limit of a handle. *granted is false, with a warning, if
 * they exceed it. */
tz_result tz_file_reserve(tz_file *file, tz_location location, uint64_t size, const tz_context *ctx,
                          bool *granted);

/* old_jpeg.c: assembles the headers of old-style JPEG streams. *out has size bytes and slack of
 * arena: see codec/jpeg_old.h. ctx->ifd is that of the layer. */
tz_result tz_old_jpeg_headers(const tz_file *file, uint32_t level, const tz_layer *layer,
                              size_t slack, tz_arena *arena, const tz_context *ctx,
                              const uint8_t **out, size_t *size);

#endif
