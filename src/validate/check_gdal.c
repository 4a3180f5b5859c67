/* SPDX-License-Identifier: Apache-2.0
 * Checks of the layout that GDAL's COG driver writes and that GDAL's validation and rio-cogeo ask
 * for: tiles, overviews, the order of directories and data, and the ghost area.
 *
 * Rows with a TZ_COG_ bit also make up the quick look of tz_file_get_cog_problems, which has no
 * directories: they use tz_info and the first tile of each level only. Numbers are GDAL's: 512
 * pixels, above which it wants tiles and overviews, and the 16 KiB that it reads first. */
#include "base/minmax.h"
#include "codec/codec.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { MAX_UNTILED_SIDE = 512, SPANS_AT_ONCE = 256, MAX_SPANS = 65536, FIRST_READ_SIZE = 16384 };

/* True for levels that are to be tiled; smaller ones are one tile in any case. */
static bool is_large_level(const tz_level *level)
{
    return level->width > MAX_UNTILED_SIDE || level->height > MAX_UNTILED_SIDE;
}

/* ---- directories ---- */

/* GDAL prefers NAME.ovr to overviews in the file. One that does not open is as bad. */
static tz_result check_external_overviews(tz_checker *checker)
{
    const tz_file *file = checker->file;
    if (checker->sidecar_error) {
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, checker->sidecar_error);
        return TZ_OK;
    }
    if (!(file->sidecars & TZ_SIDECAR_OVR))
        return tz_checker_skip(checker, "the file was opened without its sidecars");
    for (unsigned i = 0; i < file->container_count; i++)
        if (file->containers[i].sidecar == TZ_SIDECAR_OVR)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, tz_no_location(),
                           "there is a file with external overviews, which readers take instead");
    return TZ_OK;
}

static tz_result check_gdal_tiled(tz_checker *checker)
{
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_IMAGES, &at)) {
        const tz_level *shape = &at.layer.shape;
        if (is_large_level(shape) && !shape->tiled)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT, tz_at_layer(&at),
                           "%u x %u pixels are stored in strips", shape->width, shape->height);
    }
    return TZ_OK;
}

/* Some codecs of this library are not in GDAL, or only in some builds of it. */
static tz_result check_gdal_codec(tz_checker *checker)
{
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL, &at)) {
        const uint16_t codec = at.layer.shape.compression;
        const char *readers = tz_compression_readers(codec);
        tz_location location = tz_at_tag(TZ_TAG_COMPRESSION, at.layer.shape.ifd_offset);
        location.level = (int32_t)at.level;
        location.mask = at.layer.is_mask;
        location.found = codec;
        if (readers)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_UNSUPPORTED, location,
                           "%s: %s", tz_compression_name(codec), readers);
    }
    return TZ_OK;
}

/* A warning, not a failure, as in GDAL: the file can be read, only slowly at small scales. */
static tz_result check_has_overviews(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (is_large_level(&checker->file->levels[0]) && info->level_count == 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META,
                       tz_at_offset(checker->file->levels[0].ifd_offset),
                       "%u x %u pixels without overviews", info->width, info->height);
    return TZ_OK;
}

/* An odd ghost area is followed by a byte of padding. */
static tz_result check_ifd_first(tz_checker *checker)
{
    const uint64_t front = tz_checker_front_size(checker);
    const uint64_t expected = front + front % 2;
    const uint64_t found = tz_checker_level(checker, 0)->ifd_offset;
    if (found > expected)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_at_offset(found), expected, found),
                       "the directory of the image is not at the front of the file");
    return TZ_OK;
}

/* Tile tables do not count: they are read when tiles are. */
static tz_result check_header_size(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (!checker->file->ghost.ifds_before_data)
        return tz_checker_skip(checker, "the ghost area does not promise directories in front");
    if (info->directory_end > FIRST_READ_SIZE)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_no_location(), FIRST_READ_SIZE, info->directory_end),
                       "directories and their values take more than one read");
    return TZ_OK;
}

/* GDAL notes in the ghost area when it has changed a COG in place: tiles that grew are at the end
 * of the file, and the promises do not hold any more. */
static tz_result check_not_edited(tz_checker *checker)
{
    if (!checker->file->ghost.present)
        return tz_checker_skip(checker, "the file has no ghost area");
    if (checker->file->ghost.edited)
        TZ_ADD_FINDING(
            checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META,
            tz_at_offset(checker->info->bigtiff ? 16 : 8),
            "the ghost area says that the file was edited after it was written as a COG");
    return TZ_OK;
}

/* Levels are sorted by size here, not as in the chain; overviews that are not smaller were left out
 * when the file was opened. */
static tz_result check_gdal_overview_sizes(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = tz_checker_level(checker, i);
        if (!level->sidecar && level->ifd < checker->file->levels[i - 1].ifd)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, tz_at_level(level, i),
                           "the chain has the overview before a larger one");
    }
    tz_checker_add_large_overviews(checker);
    return TZ_OK;
}

/* Compares offsets; check_gdal_overview_sizes compares positions in the chain, which may differ. */
static tz_result check_gdal_ifd_order(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = tz_checker_level(checker, i);
        const uint64_t before = checker->file->levels[i - 1].ifd_offset;
        if (!level->sidecar && level->ifd_offset < before)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(tz_at_level(level, i), before, level->ifd_offset),
                           "the directory lies before that of the next larger level");
    }
    return TZ_OK;
}

/* ---- data ---- */

/* Looks at MAX_SPANS tiles at most: the quick look asks this of any file, also of a sparse one. */
tz_result tz_first_tile_offset(tz_checker *checker, uint32_t level, uint64_t *offset)
{
    tz_tile_span spans[SPANS_AT_ONCE];
    tz_checked_layer at = {0};
    *offset = TZ_NO_VALUE;
    if (!tz_checker_layer(checker, 2 * level, &at) || at.layer.shape.sidecar ||
        !at.layer.shape.readable)
        return TZ_OK;
    const uint64_t tiles = at.layer.shape.tile_count;
    for (uint64_t first = 0; first < tiles && first < MAX_SPANS; first += SPANS_AT_ONCE) {
        const size_t some = (size_t)tz_min(tiles - first, SPANS_AT_ONCE);
        bool known = false;
        TZ_TRY(tz_checker_spans(checker, &at, first, some, spans, &known));
        for (size_t i = 0; known && i < some; i++) {
            if (spans[i].offset != 0) {
                *offset = spans[i].offset;
                return TZ_OK;
            }
        }
    }
    return TZ_OK;
}

/* Compares with the start of the last directory. Its values may lie after it, but readers that have
 * the directories have found all levels. */
static tz_result check_data_after_ifds(tz_checker *checker)
{
    uint64_t last = 0; /* offset of the last directory */
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at))
        last = tz_max(last, at.layer.shape.ifd_offset);
    for (uint32_t i = checker->info->level_count; i-- > 0;) {
        uint64_t offset = TZ_NO_VALUE;
        TZ_TRY(tz_first_tile_offset(checker, i, &offset));
        if (offset < last)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                           tz_expecting(tz_at_tile(i, false, 0, offset), last, offset),
                           "tile data lies before a directory");
    }
    return TZ_OK;
}

/* The first tile stands for its level. */
tz_result tz_check_level_data_order(tz_checker *checker)
{
    const tz_check_outcome weight = (tz_check_outcome)checker->row->argument;
    uint64_t previous = 0;
    for (uint32_t i = checker->info->level_count; i-- > 0;) {
        uint64_t offset = TZ_NO_VALUE;
        TZ_TRY(tz_first_tile_offset(checker, i, &offset));
        if (offset == TZ_NO_VALUE)
            continue;
        if (offset < previous)
            TZ_ADD_FINDING(checker, weight, TZ_CAUSE_LAYOUT,
                           tz_expecting(tz_at_tile(i, false, 0, offset), previous, offset),
                           "tile data lies before that of a smaller level");
        previous = offset;
    }
    return TZ_OK;
}

/* ---- the ghost area ---- */

/* The ghost area is text after the header, with promises that readers rely on; opening has checked
 * its form. Here are the promises that the directories contradict. */
static tz_result check_ghost_area(tz_checker *checker)
{
    const tz_ghost *ghost = &checker->file->ghost;
    TZ_TRY(tz_checker_add_open_warnings(checker));
    if (!ghost->present)
        return tz_checker_skip(checker, "the file has no ghost area");
    const tz_location location = tz_at_offset(checker->info->bigtiff ? 16 : 8);
    const bool planar = checker->info->planar == TZ_PLANAR_SEPARATE;
    if (ghost->interleave != 0 && !planar && checker->info->bands > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_META, location,
                       "the ghost area says that bands are stored apart, and they are not");
    if (ghost->mask_interleaved && !checker->file->levels[0].has_mask)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META, location,
                       "the ghost area says that there is a mask, and there is none");
    if (ghost->trailers && !ghost->leaders)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META, location,
                       "the ghost area promises trailers without leaders");
    return TZ_OK;
}

/* ---- the table ---- */

/* clang-format off */
static const tz_check_row gdal_rows[] = {
    {"gdal.external-overviews", NULL, "overviews are in the file itself",
     check_external_overviews, TZ_COG_PROBLEM_EXTERNAL_OVERVIEWS, 0, 0},
    {"gdal.tiled", NULL, "levels larger than 512 pixels are tiled",
     check_gdal_tiled, TZ_COG_PROBLEM_NOT_TILED, 0, 0},
    {"gdal.codec", NULL, "GDAL has the codec of the tiles",
     check_gdal_codec, 0, 0, 0},
    {"gdal.overviews", NULL, "an image larger than 512 pixels has overviews",
     check_has_overviews, TZ_COG_PROBLEM_NO_OVERVIEWS, 0, 0},
    {"gdal.overview-sizes", NULL, "each overview is smaller than the one before it",
     check_gdal_overview_sizes, 0, 0, 0},
    {"gdal.ifd-first", NULL, "the image's directory follows the header and the ghost area",
     check_ifd_first, TZ_COG_PROBLEM_IFD_NOT_FIRST, 0, 0},
    {"gdal.ifd-order", NULL, "directories lie in the order of their levels",
     check_gdal_ifd_order, TZ_COG_PROBLEM_IFD_ORDER, 0, 0},
    {"gdal.data-after-ifds", NULL, "tile data lies after all directories",
     check_data_after_ifds, TZ_COG_PROBLEM_DATA_BEFORE_IFDS, 0, 0},
    {"gdal.data-order", NULL, "data of the smallest level comes first, of the image last",
     tz_check_level_data_order, TZ_COG_PROBLEM_DATA_ORDER, 0, TZ_CHECK_OUTCOME_FAIL},
    {"gdal.edited", NULL, "the file was not edited after it was written as a COG",
     check_not_edited, TZ_COG_PROBLEM_EDITED, 0, 0},
    {"gdal.ghost", NULL, "the ghost area has its form, and what it says is so",
     check_ghost_area, 0, 0, 0},
    {"gdal.header-size", NULL, "directories fit into the first 16 KiB, which readers fetch first",
     check_header_size, 0, 0, 0},
    {"gdal.leader", NULL, "four bytes with its size stand before each tile",
     tz_check_leaders, 0, TZ_SCANS_TILES, 0},
    {"gdal.trailer", NULL, "the last four bytes of each tile are repeated after it",
     tz_check_trailers, 0, TZ_SCANS_TILES, 0},
    {"gdal.block-order", NULL, "tiles lie in the file in the order that the ghost area declares",
     tz_check_block_order, 0, TZ_SCANS_TILES, 0},
    {"gdal.mask-adjacent", NULL, "each tile of a mask follows its tile of the image",
     tz_check_masks_adjacent, 0, TZ_SCANS_TILES, 0},
    {"gdal.nodata", NULL, "tag GDAL_NODATA is a value that pixels can have",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"gdal.metadata", NULL, "tag GDAL_METADATA is the XML that it should be",
     tz_checker_add_open_warnings, 0, 0, 0},
};
/* clang-format on */
const tz_check_list tz_gdal_checks = {gdal_rows, sizeof gdal_rows / sizeof gdal_rows[0]};
