/* SPDX-License-Identifier: Apache-2.0
 * OGC 21-026, Cloud Optimized GeoTIFF: its conformance classes format, keys, overviews, optimized
 * and http-range. Requirements fail, recommendations warn. Most checks look at the levels of
 * tz_info and at the directories that validate.c has read; only the first tile of each level is
 * located. The standard is taken by its letter, also if GDAL's driver does otherwise: check_gdal.c
 * has that view. */
#include "base/minmax.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { MAX_TILE_SIDE = 1024, MAX_REDUCTION = 10 };

static tz_location at_level_ifd(const tz_level *level, uint32_t number)
{
    tz_location location = tz_at_offset(level->ifd_offset);
    location.level = (int32_t)number;
    return location;
}

/* ---- format ---- */

static tz_result check_bigtiff(tz_checker *checker)
{
    const tz_info *info = checker->info;
    const bool large = info->file_size > UINT32_MAX;
    if (large && !info->bigtiff)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(2), UINT32_MAX, info->file_size),
                       "a file of more than 4 GiB must be a BigTIFF");
    if (!large && info->bigtiff)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(2), 42, 43),
                       "a file of less than 4 GiB should not be a BigTIFF");
    return TZ_OK;
}

static tz_result check_cog_tiled(tz_checker *checker)
{
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (tz_checker_layer(checker, i, &layer, &level) && !layer.shape.tiled)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_LAYOUT,
                           at_level_ifd(&layer.shape, level), "stored in strips");
    }
    return TZ_OK;
}

/* ---- keys ---- */

static tz_result require_image_tag(tz_checker *checker, uint16_t tag)
{
    checker->ctx.ifd = checker->info->levels[0].ifd;
    if (!tz_checked_ifd_find(&checker->directories[0], tag))
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_at_tag(tag, checker->info->levels[0].ifd_offset), "the tag is missing");
    return TZ_OK;
}

static tz_result check_basic_metadata(tz_checker *checker)
{
    return require_image_tag(checker, TZ_TAG_GEO_KEYS);
}

/* By the letter of the standard, a rotated image with a matrix cannot pass. */
static tz_result check_georeference(tz_checker *checker)
{
    TZ_TRY(require_image_tag(checker, TZ_TAG_TIEPOINTS));
    return require_image_tag(checker, TZ_TAG_PIXEL_SCALE);
}

static tz_result check_overviews_not_georeferenced(tz_checker *checker)
{
    static const uint16_t tags[] = {TZ_TAG_PIXEL_SCALE, TZ_TAG_TIEPOINTS, TZ_TAG_TRANSFORMATION,
                                    TZ_TAG_GEO_KEYS};
    for (uint32_t i = 2; i < tz_checker_layer_count(checker); i += 2) {
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, i, &layer, &level))
            continue;
        for (size_t k = 0; k < sizeof tags / sizeof tags[0]; k++) {
            const tz_ifd_entry *entry = tz_checked_ifd_find(&checker->directories[i], tags[k]);
            tz_location location = tz_at_tag(tags[k], entry ? entry->entry_offset : 0);
            location.level = (int32_t)level;
            if (entry)
                TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, location,
                               "an overview has georeferencing of its own");
        }
    }
    return TZ_OK;
}

/* ---- overviews ---- */

/* A mask may come between an image and its overviews, as the recommended order has it. */
static tz_result check_overview_chain(tz_checker *checker)
{
    const tz_info *info = checker->info;
    const tz_ifd_entry *sub = tz_checked_ifd_find(&checker->directories[0], TZ_TAG_SUB_IFDS);
    checker->ctx.ifd = info->levels[0].ifd;
    if (sub && info->level_count > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_IFD,
                       tz_at_tag(TZ_TAG_SUB_IFDS, sub->entry_offset),
                       "overviews are to follow in the chain of directories, not in SubIFDs");
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = &info->levels[i];
        const int32_t before = info->levels[i - 1].ifd;
        checker->ctx.ifd = level->ifd;
        if (level->sidecar)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_IFD, at_level_ifd(level, i),
                           "the overview is in another file");
        else if (level->ifd < before)
            TZ_ADD_FINDING(
                checker, TZ_CHECK_FAIL, TZ_CAUSE_IFD,
                tz_expecting(at_level_ifd(level, i), (uint64_t)before + 1, (uint64_t)level->ifd),
                "the chain has the overview before the next larger level");
    }
    return TZ_OK;
}

static tz_result check_cog_overview_sizes(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = &info->levels[i];
        const tz_level *before = &info->levels[i - 1];
        checker->ctx.ifd = level->ifd;
        const bool narrower = level->width < before->width || before->width == 1;
        const bool lower = level->height < before->height || before->height == 1;
        if (!narrower || !lower)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_META, at_level_ifd(level, i),
                           "%u x %u pixels are not less both ways than %u x %u", level->width,
                           level->height, before->width, before->height);
    }
    /* Overviews that were left out because of their size when the file was opened. */
    for (uint32_t i = 0; i < info->warning_count; i++)
        if (tz_is_large_overview(&info->warnings[i]))
            tz_checker_add_finding(checker, TZ_CHECK_FAIL, &info->warnings[i]);
    return TZ_OK;
}

/* The image, its mask, the overviews, their masks. */
static tz_result check_cog_ifd_order(tz_checker *checker)
{
    const uint32_t levels = checker->info->level_count;
    uint64_t before = 0;
    for (uint32_t i = 0; i < 2 * levels; i++) {
        const uint32_t number = i < 2 ? i : i < levels + 1 ? 2 * (i - 1) : 2 * (i - levels) + 1;
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, number, &layer, &level))
            continue;
        const uint64_t offset = layer.shape.ifd_offset;
        if (offset < before)
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
                           tz_expecting(at_level_ifd(&layer.shape, level), before, offset),
                           "the directory lies before one that should come first");
        before = offset;
    }
    return TZ_OK;
}

static uint64_t end_of_directories(const tz_checker *checker)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++)
        if (checker->directories[i].entries && checker->directories[i].end > end)
            end = checker->directories[i].end;
    return end;
}

static void check_table_position(tz_checker *checker, const tz_checked_ifd *directory, uint16_t tag,
                                 uint64_t first, uint64_t last, uint32_t level)
{
    const tz_ifd_entry *entry = tz_checked_ifd_find(directory, tag);
    if (!entry || (entry->offset >= directory->start && entry->offset < directory->end))
        return;
    tz_location location = tz_at_tag(tag, entry->offset);
    location.level = (int32_t)level;
    if (entry->offset < first)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, first, entry->offset),
                       "the table lies before the end of the directories");
    else if (entry->offset > last)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, last, entry->offset),
                       "the table lies after tile data");
}

static tz_result check_table_positions(tz_checker *checker)
{
    static const uint16_t tags[] = {TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS,
                                    TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    uint64_t first_tile = TZ_NONE;
    for (uint32_t i = 0; i < checker->info->level_count; i++) {
        uint64_t offset = TZ_NONE;
        TZ_TRY(tz_first_tile_offset(checker, i, &offset));
        first_tile = tz_min(first_tile, offset);
    }
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, i, &layer, &level))
            continue;
        for (size_t k = 0; k < sizeof tags / sizeof tags[0]; k++)
            check_table_position(checker, &checker->directories[i], tags[k],
                                 end_of_directories(checker), first_tile, level);
    }
    return TZ_OK;
}

static tz_result check_cog_data_order(tz_checker *checker)
{
    return tz_check_level_data_order(checker, TZ_CHECK_WARNING);
}

/* ---- optimized ---- */

static tz_result check_georeferenced(tz_checker *checker)
{
    const tz_geo *geo = &checker->info->geo;
    checker->ctx.ifd = checker->info->levels[0].ifd;
    if (!geo->has_transform && geo->gcp_count == 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_at_offset(checker->info->levels[0].ifd_offset), "the image has no place");
    return TZ_OK;
}

static bool is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static tz_result check_tile_size(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_layer(checker, i, &layer, &level) || !layer.shape.tiled)
            continue;
        const uint32_t width = layer.shape.tile_width;
        const uint32_t height = layer.shape.tile_height;
        if (width != height)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(at_level_ifd(&layer.shape, level), width, height),
                           "tiles of %u x %u are not square", width, height);
        else if (width > MAX_TILE_SIDE)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(at_level_ifd(&layer.shape, level), MAX_TILE_SIDE, width),
                           "tiles of %u x %u are larger than a screen", width, height);
        else if (!is_power_of_two(width))
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
                           at_level_ifd(&layer.shape, level),
                           "tiles of %u x %u: a power of two is recommended", width, height);
        else if (width != info->levels[0].tile_width)
            TZ_ADD_FINDING(
                checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
                tz_expecting(at_level_ifd(&layer.shape, level), info->levels[0].tile_width, width),
                "tiles of another size than the image's");
    }
    return TZ_OK;
}

/* Sizes are rounded up or down; a side of one pixel cannot get smaller. */
static bool is_half(uint32_t size, uint32_t before)
{
    return size == before / 2 || size == before / 2 + before % 2 || (size == 1 && before == 1);
}

static tz_result check_overview_factors(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (info->level_count == 1)
        return tz_checker_skip(checker, "the image has no overviews");
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = &info->levels[i];
        const tz_level *before = &info->levels[i - 1];
        checker->ctx.ifd = level->ifd;
        if ((uint64_t)level->width * MAX_REDUCTION < before->width ||
            (uint64_t)level->height * MAX_REDUCTION < before->height)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_META, at_level_ifd(level, i),
                           "%u x %u is less than a tenth of %u x %u", level->width, level->height,
                           before->width, before->height);
        else if (!is_half(level->width, before->width) || !is_half(level->height, before->height))
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_META, at_level_ifd(level, i),
                           "%u x %u is not half of %u x %u, as is recommended", level->width,
                           level->height, before->width, before->height);
    }
    return TZ_OK;
}

static tz_result check_last_level(tz_checker *checker)
{
    const uint32_t last = checker->info->level_count - 1;
    const tz_level *level = &checker->info->levels[last];
    checker->ctx.ifd = level->ifd;
    if (level->tiles_across > 1 && level->tiles_down > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_META, at_level_ifd(level, last),
                       "the smallest level still has %u x %u tiles", level->tiles_across,
                       level->tiles_down);
    return TZ_OK;
}

/* ---- http-range ---- */

static tz_result skip_http_range(tz_checker *checker)
{
    return tz_checker_skip(checker, "it is asked of a server, and this is a file");
}

/* clang-format off */
static const tz_check_row cog_rows[] = {
    {"cog.bigtiff", "format", "a file of more than 4 GiB is a BigTIFF, a smaller one is not",
     check_bigtiff, 0, false, false},
    {"cog.tiled", "format", "all levels and masks are tiled",
     check_cog_tiled, 0, false, false},
    {"cog.basic-metadata", "keys", "the image has a GeoKey directory",
     check_basic_metadata, 0, false, false},
    {"cog.georeference", "keys", "the image has a tiepoint and a pixel scale",
     check_georeference, 0, false, false},
    {"cog.point-of-origin", "keys", "overviews have no georeferencing of their own",
     check_overviews_not_georeferenced, 0, false, false},
    {"cog.overview-chain", "overviews", "overviews follow their image in the chain of directories",
     check_overview_chain, 0, false, false},
    {"cog.overview-sizes", "overviews", "each level is smaller than the one before it",
     check_cog_overview_sizes, 0, false, false},
    {"cog.ifd-order", "overviews", "directories: image, mask, overviews, masks of overviews",
     check_cog_ifd_order, 0, false, false},
    {"cog.tables", "overviews", "tile tables lie after the directories and before the tiles",
     check_table_positions, 0, false, false},
    {"cog.data-order", "overviews", "data of the smallest level comes first, of the image last",
     check_cog_data_order, 0, false, false},
    {"cog.geotiff", "optimized", "the image is georeferenced",
     check_georeferenced, TZ_COG_NOT_GEOREFERENCED, false, false},
    {"cog.tile-size", "optimized", "tiles are square, small, of one size and a power of two",
     check_tile_size, 0, false, false},
    {"cog.reduction", "optimized", "each level is half, and not less than a tenth, of the one before",
     check_overview_factors, 0, false, false},
    {"cog.last-level", "optimized", "the smallest level is one tile across or down",
     check_last_level, 0, false, false},
    {"cog.http-range", "http-range", "the server answers requests for ranges of bytes",
     skip_http_range, 0, false, false},
};
/* clang-format on */
const tz_check_list tz_cog_checks = {cog_rows, sizeof cog_rows / sizeof cog_rows[0]};
