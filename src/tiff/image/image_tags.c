/* SPDX-License-Identifier: Apache-2.0
 * The tags of an image and of its mask, and the tags that a caller adds.
 *
 * Single numbers are written by the tag table: tz_image_build_tags fills a tz_ifd_numbers for the
 * kind of directory, and every row with WRITE becomes a tag unless the number is the one to omit.
 * Arrays (colours, YCbCr, codec parameters, georeferencing, metadata, nodata) have functions. The
 * caller's tags come last, and the list is sorted. Tile tables are added by ifd_emit.c, when the
 * tiles are written. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

enum {
    FIRST_CAPACITY = 40,
    LERC_VERSION = 4,
    MAX_GENERATED_TAGS = 32 /* a directory has at most this many tags beside the caller's */
};

/* ---- lists ---- */

void *tz_tag_list_alloc(tz_tag_list *tags, size_t count, size_t size)
{
    if (tags->result != TZ_OK)
        return NULL;
    void *memory = tz_arena_array(tags->arena, count, size);
    if (!memory)
        tags->result = tz_fail_nomem(tags->ctx, (uint64_t)count * size);
    return memory;
}

/* The list doubles in the arena, which does not take back the old one; the first capacity is enough
 * for nearly all directories. */
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
        tags->list[tags->count++] = (tz_tag_value){.struct_size = sizeof(tz_tag_value),
                                                   .tag = tag,
                                                   .type = type,
                                                   .count = count,
                                                   .data = data};
}

static int compare_tag_numbers(const void *a, const void *b)
{
    const tz_tag_value *x = a;
    const tz_tag_value *y = b;
    return (int)x->tag - (int)y->tag;
}

/* Adds the tags of the table that are numbers. */
static void add_number_tags(tz_tag_list *tags, const tz_ifd_numbers *numbers)
{
    size_t row_count;
    const tz_tag_row *rows = tz_tag_rows(&row_count);
    for (const tz_tag_row *row = rows; row < rows + row_count; row++) {
        uint32_t value;
        memcpy(&value, (const char *)numbers + row->number, sizeof value);
        if (row->write == TZ_WRITE_NONE || value == row->omit)
            continue;
        if (row->write == TZ_WRITE_LONG ||
            (row->write == TZ_WRITE_SHORT_OR_LONG && value > UINT16_MAX)) {
            tz_tag_list_add_copy(tags, row->tag, TZ_TYPE_LONG, 1, &value);
            continue;
        }
        const uint32_t count = row->write == TZ_WRITE_SHORT_PER_SAMPLE ? numbers->samples : 1;
        uint16_t *values = tz_tag_list_alloc(tags, count, sizeof *values);
        if (!values)
            return;
        for (uint32_t i = 0; i < count; i++)
            values[i] = (uint16_t)value;
        tz_tag_list_add(tags, row->tag, TZ_TYPE_SHORT, count, values);
    }
}

void tz_tag_list_add_copy(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                          const void *values)
{
    const size_t size = (size_t)count * tz_type_size(type);
    void *copy = tz_tag_list_alloc(tags, size, 1);
    if (copy)
        tz_tag_list_add(tags, tag, type, count, memcpy(copy, values, size));
}

/* ---- tags of a directory ---- */

/* Adds the tags of an image or overview that are not single numbers. Metadata is written with the
 * image only, and holds for its overviews too. */
static void add_image_tags(tz_tag_list *tags, const tz_image *image, tz_ifd_kind kind,
                           const tz_statistics *statistics, const tz_bytes *jpeg_tables)
{
    /* Without ReferenceBlackWhite, the standard makes readers expect the range of video. */
    static const uint32_t full_range[] = {0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1};
    const tz_image_spec *spec = &image->spec;
    const uint32_t lerc[] = {LERC_VERSION, image->options.codec.lerc_compression};
    if (spec->color_map)
        tz_tag_list_add(tags, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, 3 * (uint64_t)spec->color_map_size,
                        spec->color_map);
    if (spec->extra_sample_count > 0)
        tz_tag_list_add(tags, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_SHORT, spec->extra_sample_count,
                        spec->extra_samples);
    if (image->photometric == TZ_PHOTOMETRIC_YCBCR) {
        tz_tag_list_add_copy(tags, TZ_TAG_YCBCR_SUBSAMPLING, TZ_TYPE_SHORT, 2, image->subsampling);
        tz_tag_list_add(tags, TZ_TAG_REFERENCE_BLACK_WHITE, TZ_TYPE_RATIONAL, 6, full_range);
    }
    if (image->options.codec.compression == TZ_COMPRESSION_LERC)
        tz_tag_list_add_copy(tags, TZ_TAG_LERC_PARAMETERS, TZ_TYPE_LONG, 2, lerc);
    if (jpeg_tables && jpeg_tables->size > 0)
        tz_tag_list_add_copy(tags, TZ_TAG_JPEG_TABLES, TZ_TYPE_UNDEFINED, jpeg_tables->size,
                             jpeg_tables->data);
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

/* The numbers begin as those of a mask: one bit and one sample, with its own codec. An image or
 * overview then replaces them. */
tz_result tz_image_build_tags(tz_image_tags *out, const tz_image *image, tz_ifd_kind kind,
                              const tz_statistics *statistics, const tz_bytes *jpeg_tables,
                              tz_arena *arena, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    const bool mask = kind == TZ_IFD_MASK || kind == TZ_IFD_OVERVIEW_MASK;
    const bool overview = kind == TZ_IFD_OVERVIEW || kind == TZ_IFD_OVERVIEW_MASK;
    const bool strips = image->options.strips;
    tz_tag_list tags = {.arena = arena, .ctx = ctx};
    tz_ifd_numbers numbers = {.subfile_type = (overview ? TZ_SUBFILE_REDUCED : 0u) |
                                              (mask ? TZ_SUBFILE_MASK : 0u),
                              .width = spec->width,
                              .height = spec->height,
                              .bits = 1,
                              .compression = image->mask_format.compression,
                              .photometric = TZ_PHOTOMETRIC_MASK,
                              .samples = 1,
                              .planar = TZ_PLANAR_CONTIG,
                              .orientation = 1,
                              .predictor = TZ_PREDICTOR_NONE,
                              .rows_per_strip = strips ? image->tile_height : 0,
                              .tile_width = strips ? 0 : image->tile_width,
                              .tile_height = strips ? 0 : image->tile_height};
    if (!mask) {
        numbers.bits = spec->bits_per_sample;
        numbers.compression = (uint16_t)image->options.codec.compression;
        numbers.photometric = image->photometric;
        numbers.samples = spec->bands;
        numbers.planar = image->planar;
        numbers.sample_format = image->sample_format;
        numbers.orientation = spec->orientation;
        numbers.predictor = image->options.codec.predictor;
    }
    add_number_tags(&tags, &numbers);
    if (!mask)
        add_image_tags(&tags, image, kind, statistics, jpeg_tables);
    if (tags.result != TZ_OK)
        return tags.result;
    qsort(tags.list, tags.count, sizeof *tags.list, compare_tag_numbers);
    *out = (tz_image_tags){.list = tags.list, .count = tags.count};
    return TZ_OK;
}

/* ---- tags of the caller ---- */

/* Tags that the writer makes itself and tags that point into a file are not the caller's. */
static tz_result check_extra_tag(const tz_tag_value *tag, const tz_context *ctx)
{
    const tz_tag_row *row = tz_tag_find(tag->tag);
    uint64_t bytes;
    if (row && row->role == TZ_TAG_ROLE_GENERATED)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag,
                               "it follows from the specification or the options, and cannot be "
                               "given as a tag");
    if (row && row->role == TZ_TAG_ROLE_POINTER)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag,
                               "it points into a file, and cannot be given as a tag");
    if (tz_type_size(tag->type) == 0 || tag->type == TZ_TYPE_IFD || tag->type == TZ_TYPE_IFD8)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "type %u is not one of values (1 to 12, 16, 17)",
                               tag->type);
    if (tag->count == 0 || !tag->data)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "it has no values");
    if (!tz_mul(tag->count, tz_type_size(tag->type), &bytes))
        bytes = TZ_NO_VALUE;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_tag_bytes), tz_at_tag(tag->tag, TZ_NO_VALUE),
                          bytes, "bytes in one tag"));
    if (bytes > UINT32_MAX)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "a tag of 4 GiB and more");
    if (tag->type == TZ_TYPE_ASCII && ((const char *)tag->data)[tag->count - 1] != '\0')
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "its text must end in a NUL, which is counted");
    return TZ_OK;
}

/* The limit counts the generated tags too, since readers count all entries of a directory. */
tz_result tz_image_resolve_extra_tags(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    void *copy;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_ifd_entries), tz_no_location(),
                          (uint64_t)spec->tag_count + MAX_GENERATED_TAGS, "tags"));
    tz_tag_value *tags = NULL;
    if (spec->tag_count > 0) {
        tags = tz_arena_array(&image->arena, spec->tag_count, sizeof *tags);
        if (!tags)
            return tz_fail_nomem(ctx, spec->tag_count * sizeof *tags);
        TZ_TRY(tz_copy_elements(tags, sizeof *tags, spec->tags, spec->tag_count, "spec->tags",
                                "TZ_TAG_VALUE_INIT", ctx));
        qsort(tags, spec->tag_count, sizeof *tags, compare_tag_numbers);
    }
    spec->tags = tags;
    for (uint32_t i = 0; i < spec->tag_count; i++) {
        if (i > 0 && tags[i].tag == tags[i - 1].tag)
            return TZ_FAIL_ARG_TAG(ctx, tags[i].tag, "it is given more than once");
        TZ_TRY(check_extra_tag(&tags[i], ctx));
        TZ_TRY(tz_image_copy_array(image, tags[i].data, tags[i].count, tz_type_size(tags[i].type),
                                   "the data of a tag", ctx, &copy));
        tags[i].data = copy;
    }
    return TZ_OK;
}
