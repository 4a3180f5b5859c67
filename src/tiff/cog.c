/* SPDX-License-Identifier: Apache-2.0
 * Is it a Cloud Optimized GeoTIFF? The quick look: directories and first tiles. */
#include <stddef.h>

#include "tiff/file.h"

enum { SMALL_ENOUGH = 512 };

typedef struct problem_text {
    uint32_t bit;
    const char *text;
} problem_text;

static const problem_text texts[] = {
    {TZ_COG_NOT_TILED, "a level of more than 512 pixels is stored in strips"},
    {TZ_COG_NO_OVERVIEWS, "larger than 512 pixels, but without overviews"},
    {TZ_COG_IFD_NOT_FIRST, "the first directory is not at the front of the file"},
    {TZ_COG_IFD_ORDER, "the directories are not in the order of their levels"},
    {TZ_COG_DATA_BEFORE_IFDS, "tile data comes before the end of the directories"},
    {TZ_COG_DATA_ORDER, "tile data is not in order from the smallest level to the largest"},
    {TZ_COG_EDITED, "the file was edited after it was written as a COG"},
    {TZ_COG_EXTERNAL_OVERVIEWS, "overviews are in another file"},
    {TZ_COG_NOT_GEOREFERENCED, "not georeferenced"},
};

const char *tz_cog_problem_text(uint32_t problem)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].bit == problem)
            return texts[i].text;
    }
    return "unknown";
}

static bool is_large(const tz_level *level)
{
    return level->width > SMALL_ENOUGH || level->height > SMALL_ENOUGH;
}

static uint32_t directory_problems(const tz_info *info)
{
    uint32_t problems = 0;
    const uint64_t front = (info->bigtiff ? 16u : 8u) + info->ghost.size;
    if (info->levels[0].ifd_offset > front + front % 2)
        problems |= TZ_COG_IFD_NOT_FIRST;
    if (is_large(&info->levels[0]) && info->level_count == 1)
        problems |= TZ_COG_NO_OVERVIEWS;
    if (info->ghost.edited)
        problems |= TZ_COG_EDITED;
    if (!info->geo.has_transform && info->geo.gcp_count == 0)
        problems |= TZ_COG_NOT_GEOREFERENCED;
    for (uint32_t i = 0; i < info->level_count; i++) {
        const tz_level *level = &info->levels[i];
        if (is_large(level) && !level->tiled)
            problems |= TZ_COG_NOT_TILED;
        if (level->sidecar)
            problems |= TZ_COG_EXTERNAL_OVERVIEWS;
        else if (i > 0 && level->ifd_offset < info->levels[i - 1].ifd_offset)
            problems |= TZ_COG_IFD_ORDER;
    }
    return problems;
}

/* Where a level's first tile that is not sparse lies; TZ_NONE when its first page has none. */
static tz_result first_data(const tz_file *file, uint32_t level, uint64_t *offset, tz_error *err)
{
    tz_tile_span spans[256];
    const uint64_t tiles = file->info.levels[level].tile_count;
    const size_t count = tiles < 256 ? (size_t)tiles : 256;
    *offset = TZ_NONE;
    TZ_TRY(tz_tile_spans(file, level, 0, count, spans, err));
    for (size_t i = 0; i < count && *offset == TZ_NONE; i++) {
        if (spans[i].offset != 0)
            *offset = spans[i].offset;
    }
    return TZ_OK;
}

/* From the smallest level to the largest, data must ascend, and start behind the directories. */
static tz_result data_problems(const tz_file *file, uint32_t *problems, tz_error *err)
{
    const tz_info *info = &file->info;
    uint64_t last_ifd = 0;
    uint64_t previous = 0;
    for (uint32_t i = 0; i < info->level_count; i++) {
        const tz_level *mask = info->levels[i].has_mask ? &info->masks[i] : NULL;
        if (!info->levels[i].sidecar && info->levels[i].ifd_offset > last_ifd)
            last_ifd = info->levels[i].ifd_offset;
        if (mask && !mask->sidecar && mask->ifd_offset > last_ifd)
            last_ifd = mask->ifd_offset;
    }
    for (uint32_t i = info->level_count; i-- > 0;) {
        uint64_t offset = TZ_NONE;
        if (info->levels[i].sidecar || !info->levels[i].readable)
            continue;
        TZ_TRY(first_data(file, i, &offset, err));
        if (offset == TZ_NONE)
            continue;
        if (offset < last_ifd)
            *problems |= TZ_COG_DATA_BEFORE_IFDS;
        if (offset < previous)
            *problems |= TZ_COG_DATA_ORDER;
        previous = offset;
    }
    return TZ_OK;
}

tz_result tz_cog_problems(const tz_file *file, uint32_t *problems, tz_error *err)
{
    uint32_t found = directory_problems(&file->info);
    TZ_TRY(data_problems(file, &found, err));
    *problems = found;
    return TZ_OK;
}
