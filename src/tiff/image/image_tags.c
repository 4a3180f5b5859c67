/* SPDX-License-Identifier: Apache-2.0
 * The tags of an image and of its mask. */
#include <stdlib.h>
#include <string.h>

#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

enum { FIRST_CAPACITY = 40, LERC_VERSION = 4, SUBFILE_REDUCED = 1, SUBFILE_MASK = 4 };

/* ---------------------------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------------------------ */

void *tz_tag_list_alloc(tz_tag_list *tags, size_t count, size_t size)
{
    if (tags->result != TZ_OK)
        return NULL;
    void *memory = tz_arena_array(tags->arena, count, size);
    if (!memory)
        tags->result = tz_fail_nomem(tags->ctx, (uint64_t)count * size);
    return memory;
}

int tz_tag_value_compare(const void *a, const void *b)
{
    return ((const tz_tag_value *)a)->tag - ((const tz_tag_value *)b)->tag;
}

void tz_tag_list_add(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                     const void *data)
{
    if (tags->count == tags->capacity) {
        const uint32_t capacity = tags->capacity ? 2 * tags->capacity : FIRST_CAPACITY;
        tz_tag_value *list = tz_tag_list_alloc(tags, capacity, sizeof *list);
        if (!list)
            return;
        if (tags->count > 0)
            memcpy(list, tags->list, tags->count * sizeof *list);
        tags->list = list;
        tags->capacity = capacity;
    }
    if (tags->result == TZ_OK)
        tags->list[tags->count++] = (tz_tag_value){tag, type, count, data};
}

/* The same SHORT for every sample. */
static void add_repeated_short_tag(tz_tag_list *tags, uint16_t tag, uint32_t count, uint16_t value)
{
    uint16_t *values = tz_tag_list_alloc(tags, count, sizeof *values);
    if (!values)
        return;
    for (uint32_t i = 0; i < count; i++)
        values[i] = value;
    tz_tag_list_add(tags, tag, TZ_TYPE_SHORT, count, values);
}

static void add_short_tag(tz_tag_list *tags, uint16_t tag, uint16_t value)
{
    add_repeated_short_tag(tags, tag, 1, value);
}

/* A SHORT where it is enough. */
static void add_number_tag(tz_tag_list *tags, uint16_t tag, uint32_t value)
{
    if (value <= UINT16_MAX) {
        add_short_tag(tags, tag, (uint16_t)value);
        return;
    }
    uint32_t *number = tz_tag_list_alloc(tags, 1, sizeof *number);
    if (!number)
        return;
    *number = value;
    tz_tag_list_add(tags, tag, TZ_TYPE_LONG, 1, number);
}

static void add_long_tag(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                         const uint32_t *values, size_t size)
{
    void *copy = tz_tag_list_alloc(tags, size, 1);
    if (!copy)
        return;
    tz_tag_list_add(tags, tag, type, count, memcpy(copy, values, size));
}

/* ---------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------ */

/* What image and mask have in common: their size and tiles. */
static void add_grid_tags(tz_tag_list *tags, const tz_image *image)
{
    add_number_tag(tags, TZ_TAG_IMAGE_WIDTH, image->spec.width);
    add_number_tag(tags, TZ_TAG_IMAGE_LENGTH, image->spec.height);
    if (image->options.strips) {
        add_number_tag(tags, TZ_TAG_ROWS_PER_STRIP, image->tile_height);
        return;
    }
    add_number_tag(tags, TZ_TAG_TILE_WIDTH, image->tile_width);
    add_number_tag(tags, TZ_TAG_TILE_LENGTH, image->tile_height);
}

static void add_sample_tags(tz_tag_list *tags, const tz_image *image)
{
    const tz_image_spec *spec = &image->spec;
    add_repeated_short_tag(tags, TZ_TAG_BITS_PER_SAMPLE, spec->bands, spec->bits_per_sample);
    add_short_tag(tags, TZ_TAG_PHOTOMETRIC, image->photometric);
    add_short_tag(tags, TZ_TAG_SAMPLES_PER_PIXEL, (uint16_t)spec->bands);
    add_short_tag(tags, TZ_TAG_PLANAR, image->planar);
    add_repeated_short_tag(tags, TZ_TAG_SAMPLE_FORMAT, spec->bands, image->sample_format);
    if (spec->orientation != 1)
        add_short_tag(tags, TZ_TAG_ORIENTATION, spec->orientation);
    if (spec->color_map)
        tz_tag_list_add(tags, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, 3 * (uint64_t)spec->color_map_size,
                        spec->color_map);
    if (spec->extra_sample_count > 0)
        tz_tag_list_add(tags, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_SHORT, spec->extra_sample_count,
                        spec->extra_samples);
}

/* Without black and white, the standard has readers take YCbCr for the range of video. */
static void add_ycbcr_tags(tz_tag_list *tags, const tz_image *image)
{
    static const uint32_t full_range[] = {0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1};
    uint16_t *factors = tz_tag_list_alloc(tags, 2, sizeof *factors);
    if (!factors)
        return;
    memcpy(factors, image->subsampling, 2 * sizeof *factors);
    tz_tag_list_add(tags, TZ_TAG_YCBCR_SUBSAMPLING, TZ_TYPE_SHORT, 2, factors);
    add_long_tag(tags, TZ_TAG_REFERENCE_BLACK_WHITE, TZ_TYPE_RATIONAL, 6, full_range,
                 sizeof full_range);
}

static void add_codec_tags(tz_tag_list *tags, const tz_image *image, const tz_bytes *jpeg_tables)
{
    const tz_write_options *options = &image->options;
    const uint32_t lerc[] = {LERC_VERSION, options->lerc_compression};
    add_short_tag(tags, TZ_TAG_COMPRESSION, (uint16_t)options->compression);
    if (options->predictor != 1)
        add_short_tag(tags, TZ_TAG_PREDICTOR, options->predictor);
    if (image->photometric == TZ_PHOTOMETRIC_YCBCR)
        add_ycbcr_tags(tags, image);
    if (options->compression == TZ_COMPRESSION_LERC)
        add_long_tag(tags, TZ_TAG_LERC_PARAMETERS, TZ_TYPE_LONG, 2, lerc, sizeof lerc);
    if (!jpeg_tables || jpeg_tables->size == 0)
        return;
    void *copy = tz_tag_list_alloc(tags, jpeg_tables->size, 1);
    if (copy)
        tz_tag_list_add(tags, TZ_TAG_JPEG_TABLES, TZ_TYPE_UNDEFINED, jpeg_tables->size,
                        memcpy(copy, jpeg_tables->data, jpeg_tables->size));
}

static void add_image_tags(tz_tag_list *tags, const tz_image *image, tz_ifd_kind kind,
                           const tz_statistics *statistics, const tz_bytes *jpeg_tables)
{
    const tz_image_spec *spec = &image->spec;
    add_sample_tags(tags, image);
    add_codec_tags(tags, image, jpeg_tables);
    tz_image_add_geo_tags(tags, spec->geo);
    if (kind == TZ_IFD_IMAGE)
        tz_image_add_metadata_tag(tags, image, statistics);
    if (spec->nodata_text)
        tz_tag_list_add(tags, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, strlen(spec->nodata_text) + 1,
                        spec->nodata_text);
    for (uint32_t i = 0; i < spec->tag_count; i++)
        tz_tag_list_add(tags, spec->tags[i].tag, spec->tags[i].type, spec->tags[i].count,
                        spec->tags[i].data);
}

/* NewSubfileType; 0 need not be said. */
static void add_subfile_type_tag(tz_tag_list *tags, tz_ifd_kind kind)
{
    static const uint32_t subfiles[] = {[TZ_IFD_MASK] = SUBFILE_MASK,
                                        [TZ_IFD_OVERVIEW] = SUBFILE_REDUCED,
                                        [TZ_IFD_OVERVIEW_MASK] = SUBFILE_REDUCED | SUBFILE_MASK};
    if (subfiles[kind] != 0)
        add_long_tag(tags, TZ_TAG_NEW_SUBFILE_TYPE, TZ_TYPE_LONG, 1, &subfiles[kind],
                     sizeof subfiles[kind]);
}

static void add_mask_tags(tz_tag_list *tags, const tz_image *image)
{
    add_short_tag(tags, TZ_TAG_BITS_PER_SAMPLE, 1);
    add_short_tag(tags, TZ_TAG_COMPRESSION, image->mask_format.compression);
    add_short_tag(tags, TZ_TAG_PHOTOMETRIC, TZ_PHOTOMETRIC_MASK);
    add_short_tag(tags, TZ_TAG_SAMPLES_PER_PIXEL, 1);
    add_short_tag(tags, TZ_TAG_PLANAR, 1);
}

tz_result tz_image_build_tags(tz_image_tags *out, const tz_image *image, tz_ifd_kind kind,
                              const tz_statistics *statistics, const tz_bytes *jpeg_tables,
                              tz_arena *arena, const tz_context *ctx)
{
    tz_tag_list tags = {.arena = arena, .ctx = ctx};
    add_subfile_type_tag(&tags, kind);
    add_grid_tags(&tags, image);
    if (kind == TZ_IFD_MASK || kind == TZ_IFD_OVERVIEW_MASK)
        add_mask_tags(&tags, image);
    else
        add_image_tags(&tags, image, kind, statistics, jpeg_tables);
    if (tags.result != TZ_OK)
        return tags.result;
    qsort(tags.list, tags.count, sizeof *tags.list, tz_tag_value_compare);
    *out = (tz_image_tags){.list = tags.list, .count = tags.count};
    return TZ_OK;
}
