/* SPDX-License-Identifier: Apache-2.0
 * Questions to an open file: its info and layers, colour, description and scale of a band, items of
 * metadata, and any tag of any directory as the file has it. */
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "codec/codec.h"
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/tags.h"

const tz_info *tz_file_get_info(const tz_file *file)
{
    return &file->info;
}

tz_context tz_file_context(const tz_file *file, tz_error *err)
{
    return (tz_context){.name = file->info.name,
                        .limits = &file->limits,
                        .err = err,
                        .strict = file->strict,
                        .ifd = -1};
}

tz_result tz_file_layer(const tz_file *file, uint32_t level, const tz_context *ctx, tz_layer *out)
{
    const tz_info *info = &file->info;
    const uint32_t index = level & ~TZ_MASK_OF(0u);
    const bool mask = index != level;
    if (index >= info->level_count || (mask && !info->levels[index].has_mask))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), info->level_count, index),
                       "there is no %s %u", mask ? "mask of level" : "level", index);
    *out = (tz_layer){.shape = mask ? info->masks[index] : info->levels[index],
                      .tables = mask ? file->mask_tables[index] : file->level_tables[index],
                      .is_mask = mask};
    return TZ_OK;
}

/* ---- bands ---- */

/* Colours of the first bands by photometric interpretation; others have undefined colours. */
typedef struct photometric_colors {
    uint16_t photometric;
    uint8_t count;
    tz_color colors[4];
} photometric_colors;

static const photometric_colors color_rows[] = {
    {TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE, 1, {TZ_COLOR_GRAY}},
    {TZ_PHOTOMETRIC_MIN_IS_BLACK, 1, {TZ_COLOR_GRAY}},
    {TZ_PHOTOMETRIC_RGB, 3, {TZ_COLOR_RED, TZ_COLOR_GREEN, TZ_COLOR_BLUE}},
    {TZ_PHOTOMETRIC_PALETTE, 1, {TZ_COLOR_PALETTE}},
    {TZ_PHOTOMETRIC_CMYK, 4, {TZ_COLOR_CYAN, TZ_COLOR_MAGENTA, TZ_COLOR_YELLOW, TZ_COLOR_BLACK}},
    {TZ_PHOTOMETRIC_YCBCR, 3, {TZ_COLOR_Y, TZ_COLOR_CB, TZ_COLOR_CR}},
};

uint16_t tz_delivered_photometric(const tz_info *info)
{
    const uint16_t compression = info->levels[0].compression;
    const bool jpeg = compression == TZ_COMPRESSION_JPEG || compression == TZ_COMPRESSION_OLD_JPEG;
    return jpeg && info->photometric == TZ_PHOTOMETRIC_YCBCR ? TZ_PHOTOMETRIC_RGB
                                                             : info->photometric;
}

/* Colours come from the interpretation, then from ExtraSamples. */
static tz_color band_color(const tz_info *info, uint32_t band)
{
    const uint16_t photometric = tz_delivered_photometric(info);
    uint32_t channels = 0;
    for (size_t i = 0; i < sizeof color_rows / sizeof color_rows[0]; i++) {
        if (color_rows[i].photometric != photometric)
            continue;
        channels = color_rows[i].count;
        if (band < channels)
            return color_rows[i].colors[band];
    }
    /* Extra samples are the last bands, for any photometric interpretation. */
    const uint32_t first_extra =
        info->bands > info->extra_sample_count ? info->bands - info->extra_sample_count : 0;
    if (band >= first_extra && band - first_extra < info->extra_sample_count) {
        const uint16_t kind = info->extra_samples[band - first_extra];
        if (kind == TZ_EXTRA_ASSOCIATED_ALPHA || kind == TZ_EXTRA_UNASSOCIATED_ALPHA)
            return TZ_COLOR_ALPHA;
    }
    return TZ_COLOR_UNDEFINED;
}

/* Reads a number of a band that GDAL stores as an item with a role. */
static bool band_number(const tz_file *file, const char *role, uint32_t band, double *out)
{
    const char *text = tz_metadata_find_role(&file->metadata, role, (int32_t)band);
    return text && tz_parse_double(text, out, NULL);
}

tz_result tz_band_info(const tz_file *file, uint32_t band, tz_band *out, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    if (band >= file->info.bands)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), file->info.bands, band),
                       "there is no band %u; bands are counted from 0", band);
    *out = (tz_band){.scale = 1.0, .color = band_color(&file->info, band)};
    out->description = tz_metadata_find_role(&file->metadata, "description", (int32_t)band);
    out->unit = tz_metadata_find_role(&file->metadata, "unittype", (int32_t)band);
    out->color_text = tz_metadata_find_role(&file->metadata, "colorinterp", (int32_t)band);
    out->has_scale = band_number(file, "scale", band, &out->scale);
    out->has_offset = band_number(file, "offset", band, &out->offset);
    return TZ_OK;
}

bool tz_metadata_get(const tz_file *file, uint32_t index, tz_metadata_item *out)
{
    return tz_metadata_get_item(&file->metadata, index, out);
}

/* ---- tags as the file has them ---- */

tz_result tz_tag_get(tz_tag *out, const tz_file *file, uint64_t ifd_offset, uint32_t index,
                     tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    tz_ifd_entry entry;
    TZ_TRY(tz_ifd_read_entry(&reader, ifd_offset, index, &ctx, &entry));
    *out = (tz_tag){.tag = entry.tag,
                    .type = entry.type,
                    .count = entry.count,
                    .size = entry.size,
                    .offset = entry.offset};
    return tz_source_check(file->containers[0].source, &ctx);
}

/* RATIONALs stay two LONGs each: words are converted to the machine's byte order, not values. The
 * tag may be the caller's own, so that its extent is checked again. */
tz_result tz_tag_read(void *dst, size_t size, const tz_file *file, const tz_tag *tag, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    const tz_location location = tz_at_tag(tag->tag, tag->offset);
    const unsigned word = tz_type_word_size(tag->type);
    if (tag->size > size)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(location, tag->size, size),
                       "the buffer is too small for the tag");
    if (!tz_inside(&file->containers[0], tag->offset, tag->size))
        return TZ_FAIL_TRUNCATED(&ctx, tz_expecting(location, tag->size, TZ_NO_VALUE),
                                 "the tag's data reaches past the end of the file");
    if (tag->size == 0)
        return TZ_OK;
    if (word == 0) /* not a tag of tz_tag_get */
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, location, "the tag's type is unknown");
    TZ_TRY(tz_reader_read(&reader, tag->offset, (size_t)tag->size, dst, &ctx));
    tz_to_host_order(dst, tag->size / word, word, file->containers[0].big_endian);
    return tz_source_check(file->containers[0].source, &ctx);
}
