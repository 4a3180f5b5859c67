/* SPDX-License-Identifier: Apache-2.0
 * Uses everything that an open file offers, and checks what must hold whatever the file's bytes
 * are. Shared by fuzz_open.c and tests/hostile/test_mutation.c, each of which defines touch_fail.
 * CRS calls are left out: they would test PROJ. */
#ifndef TZ_FUZZ_TOUCH_H
#define TZ_FUZZ_TOUCH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "terrazzo/terrazzo.h"

/* Called for each broken promise. */
static void touch_fail(const char *what, const char *message);

/* Work that a hostile file could ask for is bounded here, not in the library. */
#define TOUCH_TAG_BYTES (1u << 20) /* tag data read of one file */
#define TOUCH_TAGS      256u       /* tags read of one directory */
#define TOUCH_TILES     8192u      /* largest table read whole */

/* Sums what it is given: every byte that the library hands out is read once. */
static uint64_t touch_sum;

static void touch_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t sum = touch_sum;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    touch_sum = sum;
}

static void touch_text(const char *text)
{
    if (text != NULL)
        touch_bytes(text, strlen(text));
}

static void touch_check(bool holds, const char *what)
{
    if (!holds)
        touch_fail(what, "");
}

/* An error says what happened, in one line without control characters. */
static void touch_error(tz_result result, const tz_error *err)
{
    if (result == TZ_OK)
        return;
    if (result == TZ_ERR_INTERNAL || err->cause == TZ_CAUSE_INTERNAL)
        touch_fail("internal error", err->message);
    if (err->result != result || err->cause == TZ_CAUSE_NONE)
        touch_fail("error fields are not filled in", err->message);
    if (memchr(err->message, '\0', sizeof err->message) == NULL || err->message[0] == '\0')
        touch_fail("no message", "");
    for (const char *c = err->message; *c != '\0'; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            touch_fail("control character in a message", err->message);
    touch_text(tz_result_name(err->result));
    touch_text(tz_cause_name(err->cause));
    touch_text(err->limit);
}

/* One tag's data: must be delivered when it lies in the file. Returns the bytes read. */
static uint64_t touch_tag(const tz_file *file, const tz_tag *tag, uint64_t budget)
{
    touch_text(tz_tag_name(tag->tag));
    touch_text(tz_tag_type_name(tag->type));
    if (tag->size > budget)
        return 0;
    unsigned char *data = malloc(tag->size > 0 ? (size_t)tag->size : 1);
    if (data == NULL)
        return 0;
    tz_error err;
    tz_result result = tz_tag_read(data, (size_t)tag->size, file, tag, &err);
    touch_error(result, &err);
    if (result == TZ_OK)
        touch_bytes(data, (size_t)tag->size);
    if (tag->size > 0) {
        result = tz_tag_read(data, (size_t)tag->size - 1, file, tag, &err);
        touch_check(result == TZ_ERR_ARG, "tz_tag_read took too small a buffer");
        touch_error(result, &err);
    }
    free(data);
    return tag->size;
}

static void touch_directory(const tz_file *file, uint64_t ifd_offset, uint64_t *budget)
{
    tz_tag tag = TZ_TAG_INIT;
    tz_error err;
    tz_result result = TZ_OK;
    for (uint32_t i = 0; i < TOUCH_TAGS && result == TZ_OK; i++) {
        result = tz_file_get_tag(&tag, file, ifd_offset, i, &err);
        touch_error(result, &err);
        if (result == TZ_OK)
            *budget -= touch_tag(file, &tag, *budget);
    }
    result = tz_file_get_tag(&tag, file, ifd_offset, UINT32_MAX, &err);
    touch_check(result != TZ_OK, "a tag past the end of its directory");
    touch_error(result, &err);
}

static void touch_tiles(const tz_file *file, uint32_t level, bool mask, const tz_level *shape)
{
    const uint64_t count = shape->tile_count;
    const uint64_t tiles[] = {0, count / 2, count - 1, count, UINT64_MAX};
    const uint64_t file_size = tz_file_get_info(file)->file_size;
    tz_error err;
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        tz_tile_span span = {0, 0};
        tz_result result = tz_file_get_tile_spans(&span, file, level, mask, tiles[i], 1, &err);
        touch_error(result, &err);
        touch_check(result != TZ_OK || tiles[i] < count,
                    "tz_file_get_tile_spans past the last tile");
        result = tz_file_locate_tile(&span, file, level, mask, tiles[i], &err);
        touch_error(result, &err);
        if (result != TZ_OK)
            continue;
        touch_check(tiles[i] < count, "tz_file_locate_tile past the last tile");
        touch_check((span.offset == 0) == (span.size == 0), "half a span");
        bool inside = span.offset <= file_size && span.size <= file_size - span.offset;
        touch_check(inside || shape->sidecar != 0, "a span outside the file");
    }
    if (count > TOUCH_TILES)
        return;
    uint64_t bytes = 0, sparse = 0;
    tz_result result = tz_level_stored_size(&bytes, &sparse, file, level, mask, NULL, &err);
    touch_error(result, &err);
    touch_check(result != TZ_OK || sparse <= count, "more sparse tiles than tiles");
    result = tz_level_check_end(file, level, mask, &err);
    touch_error(result, &err);
    touch_check(result == TZ_OK || result == TZ_ERR_FORMAT, "the end of a level");
}

static void touch_level(const tz_file *file, const tz_info *info, const tz_level *level,
                        uint32_t number, bool mask, uint64_t *budget)
{
    touch_check(level->width > 0 && level->height > 0, "a level without pixels");
    touch_check(level->tile_width > 0 && level->tile_height > 0, "tiles without pixels");
    const uint64_t across = ((uint64_t)level->width + level->tile_width - 1) / level->tile_width;
    const uint64_t down = ((uint64_t)level->height + level->tile_height - 1) / level->tile_height;
    touch_check(level->tiles_across == across && level->tiles_down == down, "tiles of the grid");
    /* Unreadable levels may claim more tiles than 64 bits count. */
    touch_check(!level->readable || level->tile_count >= across * down, "tile count");
    touch_check(level->ifd >= 0 && (level->sidecar != 0 || (uint32_t)level->ifd < info->ifd_count),
                "directory of a level");
    touch_text(tz_compression_name(level->compression));
    touch_text(tz_photometric_name(level->photometric));
    touch_tiles(file, number, mask, level);
    if (level->sidecar == 0)
        touch_directory(file, level->ifd_offset, budget);
}

static void touch_levels(const tz_file *file, const tz_info *info)
{
    uint64_t budget = TOUCH_TAG_BYTES;
    touch_check(info->level_count > 0, "no level");
    touch_check(tz_file_get_level(file, 0)->width == info->width &&
                    tz_file_get_level(file, 0)->height == info->height,
                "size of level 0");
    for (uint32_t i = 0; i < info->level_count; i++) {
        const tz_level *level = tz_file_get_level(file, i);
        touch_level(file, info, level, i, false, &budget);
        const tz_level *above = i > 0 ? tz_file_get_level(file, i - 1) : level;
        touch_check(level->width <= above->width && level->height <= above->height,
                    "levels do not shrink");
        const tz_level *mask = tz_file_get_mask(file, i);
        touch_check(level->has_mask == (mask != NULL), "has_mask");
        if (mask != NULL)
            touch_level(file, info, mask, i, true, &budget);
    }
    tz_tile_span span;
    tz_error err;
    tz_result result = tz_file_locate_tile(&span, file, info->level_count, false, 0, &err);
    touch_check(result == TZ_ERR_ARG, "a level that is not there");
    touch_check(tz_file_get_level(file, info->level_count) == NULL &&
                    tz_file_get_mask(file, info->level_count) == NULL,
                "a level past the end");
    touch_error(result, &err);
    if (info->exif_ifd != TZ_NO_VALUE)
        touch_directory(file, info->exif_ifd, &budget);
    if (info->gps_ifd != TZ_NO_VALUE)
        touch_directory(file, info->gps_ifd, &budget);
}

static void touch_geo(const tz_geo *geo)
{
    if (geo->has_transform)
        for (int i = 0; i < 6; i++)
            touch_check(isfinite(geo->transform[i]) != 0, "a transform that is not finite");
    touch_bytes(geo->gcps, geo->gcp_count * sizeof *geo->gcps);
    if (geo->rpc != NULL)
        touch_bytes(geo->rpc, 92 * sizeof *geo->rpc);
    touch_text(geo->citation);
    for (uint32_t i = 0; i < geo->key_count; i++) {
        const tz_geo_key *key = &geo->keys[i];
        touch_check(i == 0 || key->id > key[-1].id, "keys do not ascend");
        touch_text(tz_geo_key_name(key->id));
        if (key->type == 2)
            touch_bytes(key->value.text, key->count);
        else if (key->type == 12)
            touch_bytes(key->value.doubles, key->count * sizeof(double));
        else if (key->type == 3)
            touch_bytes(key->value.shorts, key->count * sizeof(uint16_t));
        else
            touch_fail("type of a key", "");
    }
}

static void touch_metadata(const tz_file *file, const tz_info *info)
{
    for (uint32_t i = 0; i < info->metadata_count; i++) {
        const tz_metadata_item *item = tz_file_get_metadata(file, i);
        touch_check(item != NULL, "an item is missing");
        touch_text(item->domain);
        touch_text(item->name);
        touch_text(item->value);
        touch_text(item->role);
        touch_check(item->band >= -1, "band of an item");
    }
    touch_check(tz_file_get_metadata(file, info->metadata_count) == NULL, "an item past the end");
    for (uint32_t i = 0; i < info->bands; i++) {
        const tz_band *band = tz_file_get_band(file, i);
        touch_check(band != NULL, "a band is missing");
        touch_text(band->description);
        touch_text(band->unit);
        touch_text(band->color_text);
        touch_text(tz_color_name(band->color));
    }
    touch_check(tz_file_get_band(file, info->bands) == NULL, "a band past the end");
}

static void touch_validation(const tz_file *file)
{
    tz_validation *validation = NULL;
    tz_error err;
    const tz_result result = tz_validate_file(&validation, file, NULL, &err);
    touch_error(result, &err);
    for (uint32_t i = 0; result == TZ_OK && i < validation->check_count; i++) {
        const tz_check *check = tz_validation_get_check(validation, i);
        for (uint32_t k = 0; k < check->finding_count; k++)
            touch_text(check->findings[k].message);
    }
    tz_validation_free(validation);
}

static void touch_everything(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    touch_text(info->name);
    touch_text(info->nodata_text);
    touch_text(tz_dtype_name(info->dtype));
    touch_check(info->width > 0 && info->height > 0 && info->bands > 0, "an empty image");
    touch_check(info->page < info->page_count, "page");
    touch_check(info->directory_end <= info->file_size, "directory_end past the end of the file");
    touch_check(info->planar == TZ_PLANAR_CONTIG || info->planar == TZ_PLANAR_SEPARATE, "planar");
    touch_check(!tz_file_get_level(file, 0)->readable || info->dtype != TZ_DTYPE_NONE,
                "readable without a type");
    touch_check(info->nodata.kind == TZ_NODATA_KIND_NONE || info->nodata_text != NULL,
                "nodata without text");
    for (uint32_t i = 0; i < info->page_count; i++)
        touch_bytes(tz_file_get_page(file, i), sizeof(tz_page));
    touch_check(tz_file_get_page(file, info->page_count) == NULL, "a page past the end");
    touch_bytes(info->extra_samples, info->extra_sample_count * sizeof *info->extra_samples);
    if (info->color_map != NULL)
        touch_bytes(info->color_map, (size_t)info->color_map_size * 3 * sizeof *info->color_map);
    for (uint32_t i = 0; i < info->warning_count; i++) {
        touch_check(tz_file_get_warning(file, i)->result != TZ_OK, "a warning without a result");
        touch_check(tz_file_get_warning(file, i)->count > 0, "a warning that did not happen");
        touch_error(tz_file_get_warning(file, i)->result, tz_file_get_warning(file, i));
    }
    touch_levels(file, info);
    touch_geo(info->geo);
    touch_metadata(file, info);
    uint32_t problems = 0;
    tz_error err;
    touch_error(tz_file_get_cog_problems(&problems, file, &err), &err);
    for (uint32_t bit = 1; bit != 0; bit <<= 1)
        touch_text(tz_cog_problem_text(problems & bit));
    touch_validation(file);
}

#endif
