/* SPDX-License-Identifier: Apache-2.0
 * Tags that a caller adds: all but those that the writer makes, and those that point into a file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

/* MAX_GENERATED_TAGS: a directory has no more tags than these beside the caller's. */
enum { MAX_GENERATED_TAGS = 32, TAG_GLOBAL_IFD = 400, TAG_INTEROPERABILITY_IFD = 40965 };

/* clang-format off */
/* Made from the specification or the options, or about compressions that are not written. */
static const uint16_t generated_tags[] = {
    TZ_TAG_NEW_SUBFILE_TYPE, TZ_TAG_SUBFILE_TYPE, TZ_TAG_IMAGE_WIDTH, TZ_TAG_IMAGE_LENGTH,
    TZ_TAG_BITS_PER_SAMPLE, TZ_TAG_COMPRESSION, TZ_TAG_PHOTOMETRIC, TZ_TAG_FILL_ORDER,
    TZ_TAG_ORIENTATION, TZ_TAG_SAMPLES_PER_PIXEL, TZ_TAG_ROWS_PER_STRIP, TZ_TAG_PLANAR,
    TZ_TAG_T4_OPTIONS, TZ_TAG_T6_OPTIONS, TZ_TAG_PREDICTOR, TZ_TAG_COLOR_MAP, TZ_TAG_TILE_WIDTH,
    TZ_TAG_TILE_LENGTH, 326, 327, 328, TZ_TAG_EXTRA_SAMPLES, TZ_TAG_SAMPLE_FORMAT, 346,
    TZ_TAG_JPEG_TABLES, 512, 515, 517, 518, 529, TZ_TAG_YCBCR_SUBSAMPLING, 531,
    TZ_TAG_REFERENCE_BLACK_WHITE, 32995, 32996, 32997, 32998, TZ_TAG_PIXEL_SCALE, 33920,
    TZ_TAG_TIEPOINTS, TZ_TAG_TRANSFORMATION, TZ_TAG_GEO_KEYS, TZ_TAG_GEO_DOUBLES, TZ_TAG_GEO_ASCII,
    TZ_TAG_GDAL_METADATA, TZ_TAG_GDAL_NODATA, TZ_TAG_LERC_PARAMETERS, TZ_TAG_RPC,
};

static const uint16_t pointer_tags[] = {
    TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS, 288, 289, TZ_TAG_TILE_OFFSETS,
    TZ_TAG_TILE_BYTE_COUNTS, TZ_TAG_SUB_IFDS, TAG_GLOBAL_IFD, 513, 514, 519, 520, 521,
    TZ_TAG_EXIF_IFD, TZ_TAG_GPS_IFD, TAG_INTEROPERABILITY_IFD,
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool list_contains_tag(const uint16_t *list, size_t count, uint16_t tag)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == tag)
            return true;
    return false;
}

bool tz_tag_is_generated(uint16_t tag)
{
    return list_contains_tag(generated_tags, COUNT(generated_tags), tag);
}

bool tz_tag_is_pointer(uint16_t tag)
{
    return list_contains_tag(pointer_tags, COUNT(pointer_tags), tag);
}

static bool is_value_type(uint16_t type)
{
    return tz_type_size(type) > 0 && type != TZ_TYPE_IFD && type != TZ_TYPE_IFD8;
}

static tz_result check_extra_tag_values(const tz_tag_value *tag, const tz_context *ctx)
{
    uint64_t bytes;
    if (!is_value_type(tag->type))
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "type %u is not one of values (1 to 12, 16, 17)",
                               tag->type);
    if (tag->count == 0 || !tag->data)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "it has no values");
    if (!tz_mul(tag->count, tz_type_size(tag->type), &bytes))
        bytes = TZ_NONE;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_tag_bytes), tz_at_tag(tag->tag, TZ_NONE),
                          bytes, "bytes in one tag"));
    if (bytes > UINT32_MAX)
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "a tag of 4 GiB and more");
    if (tag->type == TZ_TYPE_ASCII && ((const char *)tag->data)[tag->count - 1] != '\0')
        return TZ_FAIL_ARG_TAG(ctx, tag->tag, "its text must end in a NUL, which is counted");
    return TZ_OK;
}

static tz_result check_extra_tag(const tz_tag_value *tag, const tz_context *ctx)
{
    if (tz_tag_is_generated(tag->tag))
        return TZ_FAIL_ARG_TAG(ctx, tag->tag,
                               "it follows from the specification or the options, and cannot be "
                               "given as a tag");
    if (tz_tag_is_pointer(tag->tag))
        return TZ_FAIL_ARG_TAG(ctx, tag->tag,
                               "it points into a file, and cannot be given as a tag");
    return check_extra_tag_values(tag, ctx);
}

tz_result tz_image_resolve_extra_tags(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    void *copy;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_ifd_entries), tz_no_location(),
                          (uint64_t)spec->tag_count + MAX_GENERATED_TAGS, "tags"));
    TZ_TRY(tz_image_copy_array(image, spec->tags, spec->tag_count, sizeof *spec->tags, "spec->tags",
                               ctx, &copy));
    tz_tag_value *tags = copy;
    spec->tags = tags;
    if (tags)
        qsort(tags, spec->tag_count, sizeof *tags, tz_tag_value_compare);
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
