/* SPDX-License-Identifier: Apache-2.0
 * Facts that page and JSON of info share: stored sizes, corners, and walks over tags and tiles.
 * Stored sizes need the tables of a level, so they are counted when first asked for, and kept. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "info.h"
#include "text.h"

#define SPANS_AT_ONCE 256

bool info_is_cog(const info_file *f)
{
    return f->cog_known && (f->cog_problems & ~TZ_COG_PROBLEM_REMARKS) == 0;
}

/* Levels --------------------------------------------------------------------------------------- */

const char *info_codec(const tz_level *level, char *buffer)
{
    static const char *const lerc[] = {"LERC", "LERC_DEFLATE", "LERC_ZSTD"};
    if (level->compression == TZ_COMPRESSION_LERC && level->lerc_compression < 3)
        return lerc[level->lerc_compression];
    const char *name = tz_compression_name(level->compression);
    if (name != NULL)
        return name;
    snprintf(buffer, TEXT_NUMBER, "unknown (%u)", (unsigned)level->compression);
    return buffer;
}

double info_raw_size(const tz_level *level)
{
    return (double)level->width * level->height * level->samples * level->bits_per_sample / 8;
}

const tz_level *info_level(const info_file *f, uint32_t level, bool mask)
{
    return mask ? tz_file_get_mask(f->file, level) : tz_file_get_level(f->file, level);
}

static void count_stored(info_file *f, uint32_t level, bool mask, struct info_stored *out)
{
    tz_error err;
    const tz_level *l = info_level(f, level, mask);
    out->asked = true;
    if (l == NULL || !l->readable)
        return;
    out->known =
        tz_level_stored_size(&out->bytes, &out->sparse, f->file, level, mask, NULL, &err) == TZ_OK;
    if (!out->known)
        info_problem(f, &err, false);
}

bool info_stored_size(info_file *f, uint32_t level, bool mask, uint64_t *bytes, uint64_t *sparse)
{
    struct info_stored further = {0};
    struct info_stored *stored = level < INFO_KEPT_LEVELS ? &f->stored[level][mask] : &further;
    if (!stored->asked)
        count_stored(f, level, mask, stored);
    *bytes = stored->bytes;
    *sparse = stored->sparse;
    return stored->known;
}

bool info_by_band(const info_file *f, uint32_t level, bool mask)
{
    const tz_level *l = info_level(f, level, mask);
    return l != NULL && l->tile_count > (uint64_t)l->tiles_across * l->tiles_down;
}

/* Corners -------------------------------------------------------------------------------------- */

static void locate_corner(const info_file *f, info_corner *corner, double column, double row)
{
    const tz_geo *geo = f->info->geo;
    tz_error err;
    corner->x = column;
    corner->y = row;
    if (geo->has_transform)
        tz_pixel_to_coordinate(&corner->x, &corner->y, geo->transform, column, row);
    if (f->crs == NULL || !geo->has_transform ||
        tz_crs_to_lonlat(&corner->lon, &corner->lat, f->crs, corner->x, corner->y, &err) != TZ_OK)
        return;
    /* a grid may reach half a pixel beyond a pole; larger numbers are not degrees */
    corner->has_lonlat = fabs(corner->lat) <= 180 && fabs(corner->lon) <= 720;
}

void info_corners(const info_file *f, info_corner corners[INFO_CORNERS])
{
    static const struct {
        const char *key;
        const char *name;
        double column, row; /* as parts of width and height */
    } places[INFO_CORNERS] = {{"upperLeft", "upper left", 0, 0},
                              {"lowerLeft", "lower left", 0, 1},
                              {"lowerRight", "lower right", 1, 1},
                              {"upperRight", "upper right", 1, 0},
                              {"center", "centre", 0.5, 0.5}};
    for (size_t i = 0; i < INFO_CORNERS; i++) {
        corners[i] = (info_corner){.key = places[i].key, .name = places[i].name};
        locate_corner(f, &corners[i], places[i].column * f->info->width,
                      places[i].row * f->info->height);
    }
}

/* Tags ----------------------------------------------------------------------------------------- */

void info_each_tag(info_file *f, uint64_t ifd_offset,
                   bool (*row)(void *user, info_file *f, const tz_tag *tag), void *user)
{
    for (uint32_t i = 0;; i++) {
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        tz_result result = tz_file_get_tag(&tag, f->file, ifd_offset, i, &err);
        if (result == TZ_ERR_ARG) /* past the end */
            return;
        if (result != TZ_OK) {
            info_problem(f, &err, true);
            return;
        }
        if (!row(user, f, &tag))
            return;
    }
}

/* Tiles ---------------------------------------------------------------------------------------- */

static info_tile describe_tile(const tz_level *l, uint32_t level, bool mask, uint64_t tile,
                               const tz_tile_span *span)
{
    uint64_t plane = (uint64_t)l->tiles_across * l->tiles_down;
    uint64_t in_plane = tile % plane;
    return (info_tile){.level = level,
                       .mask = mask,
                       .tile = tile,
                       .row = (uint32_t)(in_plane / l->tiles_across),
                       .column = (uint32_t)(in_plane % l->tiles_across),
                       .band = (uint32_t)(tile / plane),
                       .span = *span};
}

/* Returns false to stop. A table that cannot be read is a problem of this level alone. */
static bool each_of_level(info_file *f, uint32_t level, bool mask,
                          bool (*row)(void *user, const info_tile *tile), void *user)
{
    static tz_tile_span spans[SPANS_AT_ONCE];
    const tz_level *l = info_level(f, level, mask);
    tz_error err;
    if (l == NULL || !l->readable)
        return true;
    for (uint64_t first = 0; first < l->tile_count; first += SPANS_AT_ONCE) {
        uint64_t left = l->tile_count - first;
        size_t count = left < SPANS_AT_ONCE ? (size_t)left : SPANS_AT_ONCE;
        if (tz_file_get_tile_spans(spans, f->file, level, mask, first, count, &err) != TZ_OK) {
            info_problem(f, &err, true);
            return true;
        }
        for (size_t i = 0; i < count; i++) {
            info_tile tile = describe_tile(l, level, mask, first + i, &spans[i]);
            if (!row(user, &tile))
                return false;
        }
    }
    return true;
}

void info_each_tile(info_file *f, bool (*row)(void *user, const info_tile *tile), void *user)
{
    for (uint32_t i = 0; i < f->info->level_count; i++) {
        if (!each_of_level(f, i, false, row, user) || !each_of_level(f, i, true, row, user))
            return;
    }
}

/* Embedded documents --------------------------------------------------------------------------- */

const info_embedded info_embedded_kinds[INFO_EMBEDDED] = {{34675, "icc_profile", "ICC profile"},
                                                          {700, "xmp", "XMP"},
                                                          {33723, "iptc", "IPTC"},
                                                          {34377, "photoshop", "Photoshop"}};
