/* SPDX-License-Identifier: Apache-2.0
 * Colour, description and scale of a band. */
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "codec/codec.h"
#include "tiff/file.h"
#include "tiff/tags.h"

typedef struct photometric_colors {
    uint16_t photometric;
    uint8_t count;
    tz_color colors[4];
} photometric_colors;

static const photometric_colors color_rows[] = {
    {0, 1, {TZ_COLOR_GRAY}},
    {1, 1, {TZ_COLOR_GRAY}},
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
    /* extra samples are the last bands, whatever the photometric interpretation accounts for */
    const uint32_t first_extra =
        info->bands > info->extra_sample_count ? info->bands - info->extra_sample_count : 0;
    if (band >= first_extra && band - first_extra < info->extra_sample_count) {
        const uint16_t kind = info->extra_samples[band - first_extra];
        if (kind == 1 || kind == 2)
            return TZ_COLOR_ALPHA;
    }
    return TZ_COLOR_UNDEFINED;
}

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
