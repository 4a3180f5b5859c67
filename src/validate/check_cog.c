/* SPDX-License-Identifier: Apache-2.0
 * OGC 21-026, Cloud Optimized GeoTIFF: its conformance classes format, keys, overviews, optimized
 * and http-range. Requirements fail, recommendations warn.
 *
 * Most checks look at the levels of tz_info and at the directories that validate.c has read; only
 * the first tile of each level is located. The standard is taken by its letter, also if GDAL's
 * driver does otherwise: check_gdal.c has that view. */
#include "base/minmax.h"
#include "tiff/tags.h"
#include "validate/checker.h"

/* The standard has no numbers for "small" tiles and overviews that are "not much smaller": these
 * are a screen of pixels, and a tenth of a side. */
enum { MAX_TILE_SIDE = 1024, MAX_REDUCTION = 10 };

/* ---- format ---- */

/* 32-bit offsets end at 4 GiB. Some readers know classic TIFF only, so that a BigTIFF that could be
 * one is discouraged. The numbers 42 and 43 are the versions in the header. */
static tz_result check_bigtiff(tz_checker *checker)
{
    const tz_info *info = checker->info;
    const bool large = info->file_size > UINT32_MAX;
    if (large && !info->bigtiff)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(2), UINT32_MAX, info->file_size),
                       "a file of more than 4 GiB must be a BigTIFF");
    if (!large && info->bigtiff)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(2), 42, 43),
                       "a file of less than 4 GiB should not be a BigTIFF");
    return TZ_OK;
}

static tz_result check_cog_tiled(tz_checker *checker)
{
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL, &at))
        if (!at.layer.shape.tiled)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT, tz_at_layer(&at),
                           "stored in strips");
    return TZ_OK;
}

/* ---- keys ---- */

static void require_image_tag(tz_checker *checker, uint16_t tag)
{
    const tz_level *image = tz_checker_level(checker, 0);
    if (!tz_checked_ifd_find(&checker->directories[0], tag))
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_at_tag(tag, image->ifd_offset), "the tag is missing");
}

static tz_result check_basic_metadata(tz_checker *checker)
{
    require_image_tag(checker, TZ_TAG_GEO_KEYS);
    return TZ_OK;
}

/* By the letter of the standard, a rotated image with a matrix cannot pass. */
static tz_result check_georeference(tz_checker *checker)
{
    require_image_tag(checker, TZ_TAG_TIEPOINTS);
    require_image_tag(checker, TZ_TAG_PIXEL_SCALE);
    return TZ_OK;
}

/* The place of an overview follows from that of the image; tags of its own could contradict it. */
static tz_result check_overviews_not_georeferenced(tz_checker *checker)
{
    static const uint16_t tags[] = {TZ_TAG_PIXEL_SCALE, TZ_TAG_TIEPOINTS, TZ_TAG_TRANSFORMATION,
                                    TZ_TAG_GEO_KEYS};
    tz_checked_layer at = {.next = 2};
    while (tz_checker_next(checker, TZ_LAYER_IMAGES | TZ_LAYER_OWN, &at)) {
        for (size_t k = 0; k < sizeof tags / sizeof tags[0]; k++) {
            const tz_ifd_entry *entry = tz_checked_ifd_find(at.ifd, tags[k]);
            tz_location location = tz_at_tag(tags[k], entry ? entry->entry_offset : 0);
            location.level = (int32_t)at.level;
            if (entry)
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO, location,
                               "an overview has georeferencing of its own");
        }
    }
    return TZ_OK;
}

/* ---- overviews ---- */

/* A mask may come between an image and its overviews, as the recommended order has it. Readers that
 * follow the chain alone do not find SubIFDs. */
static tz_result check_overview_chain(tz_checker *checker)
{
    const tz_info *info = checker->info;
    const tz_ifd_entry *sub = tz_checked_ifd_find(&checker->directories[0], TZ_TAG_SUB_IFDS);
    (void)tz_checker_level(checker, 0);
    if (sub && info->level_count > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_IFD,
                       tz_at_tag(TZ_TAG_SUB_IFDS, sub->entry_offset),
                       "overviews are to follow in the chain of directories, not in SubIFDs");
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = tz_checker_level(checker, i);
        const int32_t before = checker->file->levels[i - 1].ifd;
        if (level->sidecar)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_IFD, tz_at_level(level, i),
                           "the overview is in another file");
        else if (level->ifd < before)
            TZ_ADD_FINDING(
                checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_IFD,
                tz_expecting(tz_at_level(level, i), (uint64_t)before + 1, (uint64_t)level->ifd),
                "the chain has the overview before the next larger level");
    }
    return TZ_OK;
}

/* A side of one pixel cannot get smaller. Overviews that were left out because of their size when
 * the file was opened are not among the levels. */
static tz_result check_cog_overview_sizes(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = tz_checker_level(checker, i);
        const tz_level *before = &checker->file->levels[i - 1];
        const bool narrower = level->width < before->width || before->width == 1;
        const bool lower = level->height < before->height || before->height == 1;
        if (!narrower || !lower)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, tz_at_level(level, i),
                           "%u x %u pixels are not less both ways than %u x %u", level->width,
                           level->height, before->width, before->height);
    }
    tz_checker_add_large_overviews(checker);
    return TZ_OK;
}

/* The order is: the image, its mask, the overviews, their masks. Layers are numbered level by
 * level, each with its mask, so that position i has another number. */
static tz_result check_cog_ifd_order(tz_checker *checker)
{
    const uint32_t levels = checker->info->level_count;
    uint64_t before = 0;
    for (uint32_t i = 0; i < 2 * levels; i++) {
        const uint32_t number = i < 2 ? i : i < levels + 1 ? 2 * (i - 1) : 2 * (i - levels) + 1;
        tz_checked_layer at = {0};
        if (!tz_checker_layer(checker, number, &at) || at.layer.shape.sidecar)
            continue;
        const uint64_t offset = at.layer.shape.ifd_offset;
        if (offset < before)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                           tz_expecting(tz_at_layer(&at), before, offset),
                           "the directory lies before one that should come first");
        before = offset;
    }
    return TZ_OK;
}

/* Warns about a tile table outside of its directory that lies before `first` or after `last`. */
static void check_table_position(tz_checker *checker, const tz_checked_layer *at, uint16_t tag,
                                 uint64_t first, uint64_t last)
{
    const tz_ifd_entry *entry = tz_checked_ifd_find(at->ifd, tag);
    if (!entry || tz_checked_ifd_holds(at->ifd, entry))
        return;
    tz_location location = tz_at_tag(tag, entry->offset);
    location.level = (int32_t)at->level;
    location.mask = at->layer.is_mask;
    if (entry->offset < first)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, first, entry->offset),
                       "the table lies before the end of the directories");
    else if (entry->offset > last)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, last, entry->offset),
                       "the table lies after tile data");
}

/* A reader fetches the front of the file once: directories first, then tables, then tiles. */
static tz_result check_table_positions(tz_checker *checker)
{
    static const uint16_t tags[] = {TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS,
                                    TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    uint64_t first_tile = TZ_NO_VALUE;
    uint64_t directory_end = 0;
    tz_checked_layer at = {0};
    for (uint32_t i = 0; i < checker->info->level_count; i++) {
        uint64_t offset = TZ_NO_VALUE;
        TZ_TRY(tz_first_tile_offset(checker, i, &offset));
        first_tile = tz_min(first_tile, offset);
    }
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++)
        directory_end = tz_max(directory_end, checker->directories[i].end);
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at))
        for (size_t k = 0; k < sizeof tags / sizeof tags[0]; k++)
            check_table_position(checker, &at, tags[k], directory_end, first_tile);
    return TZ_OK;
}

/* ---- optimized ---- */

/* Any transformation counts here, also a matrix or control points: check_georeference is stricter.
 */
static tz_result check_georeferenced(tz_checker *checker)
{
    const tz_geo *geo = &checker->file->geo;
    const tz_level *image = tz_checker_level(checker, 0);
    if (!geo->has_transform && geo->gcp_count == 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_at_offset(image->ifd_offset), "the image has no place");
    return TZ_OK;
}

/* One defect of a level is reported, the worst one. */
static tz_result check_tile_size(tz_checker *checker)
{
    const uint32_t usual = checker->file->levels[0].tile_width;
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL, &at)) {
        const uint32_t width = at.layer.shape.tile_width;
        const uint32_t height = at.layer.shape.tile_height;
        const tz_location location = tz_at_layer(&at);
        if (!at.layer.shape.tiled)
            continue;
        if (width != height)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(location, width, height), "tiles of %u x %u are not square",
                           width, height);
        else if (width > MAX_TILE_SIDE)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(location, MAX_TILE_SIDE, width),
                           "tiles of %u x %u are larger than a screen", width, height);
        else if (width == 0 || (width & (width - 1)) != 0)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT, location,
                           "tiles of %u x %u: a power of two is recommended", width, height);
        else if (width != usual)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                           tz_expecting(location, usual, width),
                           "tiles of another size than the image's");
    }
    return TZ_OK;
}

/* Sizes are rounded up or down; a side of one pixel cannot get smaller. */
static bool is_half(uint32_t size, uint32_t before)
{
    return size == before / 2 || size == before / 2 + before % 2 || (size == 1 && before == 1);
}

/* A viewer that zooms out must not have to read much more than it shows. */
static tz_result check_overview_factors(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (info->level_count == 1)
        return tz_checker_skip(checker, "the image has no overviews");
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = tz_checker_level(checker, i);
        const tz_level *before = &checker->file->levels[i - 1];
        if ((uint64_t)level->width * MAX_REDUCTION < before->width ||
            (uint64_t)level->height * MAX_REDUCTION < before->height)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, tz_at_level(level, i),
                           "%u x %u is less than a tenth of %u x %u", level->width, level->height,
                           before->width, before->height);
        else if (!is_half(level->width, before->width) || !is_half(level->height, before->height))
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META, tz_at_level(level, i),
                           "%u x %u is not half of %u x %u, as is recommended", level->width,
                           level->height, before->width, before->height);
    }
    return TZ_OK;
}

/* A viewer shows the whole image from its smallest level: more than a row of tiles is too much. */
static tz_result check_last_level(tz_checker *checker)
{
    const uint32_t last = checker->info->level_count - 1;
    const tz_level *level = tz_checker_level(checker, last);
    if (level->tiles_across > 1 && level->tiles_down > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, tz_at_level(level, last),
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
     check_bigtiff, 0, 0, 0},
    {"cog.tiled", "format", "all levels and masks are tiled",
     check_cog_tiled, 0, 0, 0},
    {"cog.basic-metadata", "keys", "the image has a GeoKey directory",
     check_basic_metadata, 0, 0, 0},
    {"cog.georeference", "keys", "the image has a tiepoint and a pixel scale",
     check_georeference, 0, 0, 0},
    {"cog.point-of-origin", "keys", "overviews have no georeferencing of their own",
     check_overviews_not_georeferenced, 0, 0, 0},
    {"cog.overview-chain", "overviews", "overviews follow their image in the chain of directories",
     check_overview_chain, 0, 0, 0},
    {"cog.overview-sizes", "overviews", "each level is smaller than the one before it",
     check_cog_overview_sizes, 0, 0, 0},
    {"cog.ifd-order", "overviews", "directories: image, mask, overviews, masks of overviews",
     check_cog_ifd_order, 0, 0, 0},
    {"cog.tables", "overviews", "tile tables lie after the directories and before the tiles",
     check_table_positions, 0, 0, 0},
    {"cog.data-order", "overviews", "data of the smallest level comes first, of the image last",
     tz_check_level_data_order, 0, 0, TZ_CHECK_OUTCOME_WARNING},
    {"cog.geotiff", "optimized", "the image is georeferenced",
     check_georeferenced, TZ_COG_PROBLEM_NOT_GEOREFERENCED, 0, 0},
    {"cog.tile-size", "optimized", "tiles are square, small, of one size and a power of two",
     check_tile_size, 0, 0, 0},
    {"cog.reduction", "optimized", "each level is half, and not less than a tenth, of the one before",
     check_overview_factors, 0, 0, 0},
    {"cog.last-level", "optimized", "the smallest level is one tile across or down",
     check_last_level, 0, 0, 0},
    {"cog.http-range", "http-range", "the server answers requests for ranges of bytes",
     skip_http_range, 0, 0, 0},
};
/* clang-format on */
const tz_check_list tz_cog_checks = {cog_rows, sizeof cog_rows / sizeof cog_rows[0]};
