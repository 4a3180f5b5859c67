/* SPDX-License-Identifier: Apache-2.0
 * The description of the image to write: that of the source, changed by creation options.
 *
 * conversion_set_spec goes through it in this order: sample type and bits, alpha, colours with the
 * extra samples after them, then metadata and tags that the profile keeps. Colours come after alpha
 * because a mask that replaces the alpha band changes the number of bands. Choices that nobody
 * asked for are those of GDAL's drivers: JPEG in a COG stores three bands as YCbCr and alpha as a
 * mask. */
#include <stdlib.h>
#include <string.h>

#include "conversion.h"
#include "problem.h"

/* Samples -------------------------------------------------------------------------------------- */

static tz_result set_signed(conversion *c, tz_error *err)
{
    if (creation_number(&c->settings->creation, CO_PIXELTYPE) == 0)
        return TZ_OK;
    if (c->spec.dtype != TZ_DTYPE_UINT8 && c->spec.dtype != TZ_DTYPE_INT8)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "PIXELTYPE=SIGNEDBYTE is for uint8, not %s",
                            tz_dtype_name(c->spec.dtype));
    c->spec.dtype = TZ_DTYPE_INT8; /* the same bits, read as another number */
    return TZ_OK;
}

static tz_result set_bits(conversion *c, tz_error *err)
{
    const creation *co = &c->settings->creation;
    tz_dtype dtype = c->spec.dtype;
    uint16_t bits = (uint16_t)creation_number(co, CO_NBITS);
    if (!co->given[CO_NBITS])
        return TZ_OK;
    if (bits == 8 * tz_dtype_size(dtype)) {
        c->spec.bits_per_sample = 0;
    } else if (dtype <= TZ_DTYPE_INT64) {
        c->spec.bits_per_sample = bits;
    } else if (dtype == TZ_DTYPE_FLOAT32 && bits == 16) {
        c->spec.dtype = TZ_DTYPE_FLOAT16;
        c->read_as = TZ_DTYPE_FLOAT16;
        c->spec.bits_per_sample = 0;
    } else {
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG, "NBITS=%u is not for %s", (unsigned)bits,
                            tz_dtype_name(dtype));
    }
    return TZ_OK;
}

/* Colours -------------------------------------------------------------------------------------- */

/* Returns the number of bands of the photometric interpretation; others are extra. */
static uint32_t color_bands(const tz_image_spec *spec)
{
    bool picture = spec->dtype == TZ_DTYPE_UINT8 && (spec->bands == 3 || spec->bands == 4);
    switch (spec->photometric) {
    case TZ_PHOTOMETRIC_AUTO:
        return picture ? 3 : 1;
    case TZ_PHOTOMETRIC_RGB:
    case TZ_PHOTOMETRIC_YCBCR:
    case TZ_PHOTOMETRIC_CIELAB:
    case TZ_PHOTOMETRIC_ICCLAB:
    case TZ_PHOTOMETRIC_ITULAB:
        return 3;
    case TZ_PHOTOMETRIC_CMYK:
        return 4;
    default:
        return 1;
    }
}

/* Bands that were extra samples and still are keep their meaning. */
static tz_result set_extra_samples(conversion *c, tz_error *err)
{
    const creation *co = &c->settings->creation;
    tz_image_spec *spec = &c->spec;
    uint32_t colors = color_bands(spec);
    uint32_t count = spec->bands > colors ? spec->bands - colors : 0;
    c->extra_samples = calloc((size_t)count + 1, sizeof *c->extra_samples);
    if (c->extra_samples == NULL)
        return problem_nomem(err, "the meaning of bands");
    for (uint32_t i = 0; i < count && i < spec->extra_sample_count; i++)
        c->extra_samples[count - 1 - i] = spec->extra_samples[spec->extra_sample_count - 1 - i];
    if (co->given[CO_ALPHA])
        c->extra_samples[0] = (uint16_t)creation_number(co, CO_ALPHA);
    spec->extra_samples = count > 0 ? c->extra_samples : NULL;
    spec->extra_sample_count = count;
    return TZ_OK;
}

static bool is_jpeg_cog(const conversion *c)
{
    const creation *co = &c->settings->creation;
    return c->settings->cog && co->value[CO_COMPRESS] == TZ_COMPRESSION_JPEG &&
           co->value[CO_INTERLEAVE] == TZ_INTERLEAVE_PIXEL;
}

static bool spec_ends_in_alpha(const tz_image_spec *spec)
{
    if (spec->extra_sample_count > 0)
        return spec->extra_samples[spec->extra_sample_count - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    return spec->bands == 4 && color_bands(spec) == 3; /* as the writer takes it */
}

uint32_t conversion_alpha(const conversion *c)
{
    const tz_info *info = c->info;
    uint32_t extra = info != NULL ? info->extra_sample_count : 0;
    bool in_file = extra > 0 && info->bands > 1 &&
                   info->extra_samples[extra - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    if (info != NULL)
        return in_file ? info->bands - 1 : UINT32_MAX;
    return c->spec.bands > 1 && spec_ends_in_alpha(&c->spec) ? c->spec.bands - 1 : UINT32_MAX;
}

/* As GDAL's COG driver does: JPEG would blur the edge of the alpha band. */
static void turn_alpha_into_mask(conversion *c)
{
    tz_image_spec *spec = &c->spec;
    if (!is_jpeg_cog(c) || (spec->bands != 2 && spec->bands != 4) || !spec_ends_in_alpha(spec))
        return;
    spec->bands--;
    spec->mask = true;
    if (spec->extra_sample_count > 0)
        spec->extra_sample_count--;
    if (spec->extra_sample_count == 0)
        spec->extra_samples = NULL;
}

/* As GDAL's COG driver does, three bands in JPEG become YCbCr with subsampled colour. */
static bool becomes_ycbcr(const conversion *c)
{
    const tz_image_spec *spec = &c->spec;
    bool grey = spec->photometric == TZ_PHOTOMETRIC_AUTO ||
                spec->photometric == TZ_PHOTOMETRIC_MIN_IS_BLACK;
    return is_jpeg_cog(c) && spec->bands == 3 && spec->dtype == TZ_DTYPE_UINT8 &&
           (grey || spec->photometric == TZ_PHOTOMETRIC_RGB ||
            spec->photometric == TZ_PHOTOMETRIC_YCBCR);
}

/* JPEG and old-style JPEG deliver YCbCr as RGB. */
static bool is_rgb_when_read(uint16_t compression)
{
    enum { OLD_JPEG = 6 }; /* read only, so that the library has no name for it */
    return compression == TZ_COMPRESSION_JPEG || compression == OLD_JPEG;
}

static tz_result set_colors(conversion *c, tz_error *err)
{
    const creation *co = &c->settings->creation;
    tz_image_spec *spec = &c->spec;
    bool ycbcr = spec->photometric == TZ_PHOTOMETRIC_YCBCR;
    if (becomes_ycbcr(c)) {
        spec->photometric = TZ_PHOTOMETRIC_YCBCR;
        return set_extra_samples(c, err);
    }
    if (co->given[CO_PHOTOMETRIC])
        spec->photometric = (tz_photometric)creation_number(co, CO_PHOTOMETRIC);
    else if (ycbcr && is_rgb_when_read(tz_file_get_level(c->file, 0)->compression))
        spec->photometric = TZ_PHOTOMETRIC_RGB; /* as it is delivered */
    else if (ycbcr)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "YCbCr can be written in JPEG only; PHOTOMETRIC=MINISBLACK takes its "
                            "bands as they are");
    if (spec->photometric != TZ_PHOTOMETRIC_PALETTE && co->given[CO_PHOTOMETRIC]) {
        spec->color_map = NULL;
        spec->color_map_size = 0;
    }
    if (co->given[CO_PHOTOMETRIC] || co->given[CO_ALPHA])
        return set_extra_samples(c, err);
    return TZ_OK;
}

/* Metadata ------------------------------------------------------------------------------------- */

/* Returns true if statistics of the source would not hold for the result. */
static bool outdates_statistics(const conversion *c)
{
    const creation *co = &c->settings->creation;
    return co->value[CO_STATISTICS] != STATISTICS_AUTO || conversion_masks_by_alpha(c) ||
           co->given[CO_DISCARD_LSB] || co->given[CO_NBITS] || co->value[CO_PIXELTYPE] != 0 ||
           co->value[CO_MAX_Z_ERROR] != 0;
}

static bool wants_domain(const creation *co, const char *domain)
{
    for (uint32_t i = 0; i < co->domain_count; i++) {
        if (strcmp(co->domains[i], domain) == 0)
            return true;
    }
    return co->domain_count == 0 && co->value[CO_COPY_SRC_MDD] != 0;
}

static bool is_statistics(const tz_metadata_item *item)
{
    static const char start[] = "STATISTICS_";
    return strncmp(item->name, start, sizeof start - 1) == 0;
}

static bool keeps_item(const conversion *c, const tz_metadata_item *item)
{
    const creation *co = &c->settings->creation;
    if (item->band >= 0 && (uint32_t)item->band >= c->spec.bands)
        return false;
    if (strcmp(item->role, "colorinterp") == 0)
        return !co->given[CO_PHOTOMETRIC] && !co->given[CO_ALPHA];
    if (item->role[0] != '\0') /* a property of the band itself, such as its unit */
        return true;
    if (is_statistics(item) && outdates_statistics(c))
        return false;
    return wants_domain(co, item->domain);
}

static tz_result set_metadata(conversion *c, tz_error *err)
{
    const creation *co = &c->settings->creation;
    tz_image_spec *spec = &c->spec;
    uint32_t kept = 0;
    c->metadata = malloc(((size_t)spec->metadata_count + 1) * sizeof *c->metadata);
    if (c->metadata == NULL)
        return problem_nomem(err, "the metadata");
    for (uint32_t i = 0; i < spec->metadata_count; i++) {
        if (keeps_item(c, &spec->metadata[i]))
            c->metadata[kept++] = spec->metadata[i];
        else if (is_statistics(&spec->metadata[i]))
            c->new_statistics = co->value[CO_STATISTICS] == STATISTICS_AUTO && c->settings->cog;
    }
    spec->metadata = c->metadata;
    spec->metadata_count = kept;
    return TZ_OK;
}

/* Descriptive tags of TIFF 6.0, part 1 (baseline). */
static bool is_baseline(uint16_t tag)
{
    static const uint16_t known[] = {263, 264, 265, 270, 271, 272, 280, 281, 282,
                                     283, 290, 291, 296, 305, 306, 315, 316, 33432};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i] == tag)
            return true;
    }
    return false;
}

static tz_result keep_baseline(conversion *c, tz_error *err)
{
    tz_image_spec *spec = &c->spec;
    uint32_t kept = 0;
    c->tags = malloc(((size_t)spec->tag_count + 1) * sizeof *c->tags);
    if (c->tags == NULL)
        return problem_nomem(err, "the tags");
    for (uint32_t i = 0; i < spec->tag_count; i++) {
        if (is_baseline(spec->tags[i].tag))
            c->tags[kept++] = spec->tags[i];
    }
    spec->tags = c->tags;
    spec->tag_count = kept;
    spec->geo = NULL;
    return TZ_OK;
}

static tz_result set_profile(conversion *c, tz_error *err)
{
    int64_t profile = creation_number(&c->settings->creation, CO_PROFILE);
    tz_image_spec *spec = &c->spec;
    if (profile == PROFILE_GDAL)
        return set_metadata(c, err);
    spec->metadata = NULL;
    spec->metadata_count = 0;
    spec->nodata = (tz_nodata){.kind = TZ_NODATA_NONE};
    spec->nodata_text = NULL;
    if (profile == PROFILE_BASELINE)
        return keep_baseline(c, err);
    if (spec->geo != NULL) {
        c->geo = *spec->geo;
        c->geo.rpc = NULL;
        spec->geo = &c->geo;
    }
    return TZ_OK;
}

static tz_result check_geo(const conversion *c, tz_error *err)
{
    const creation *co = &c->settings->creation;
    const tz_geo *geo = c->spec.geo;
    int64_t version = creation_number(co, CO_GEOTIFF_VERSION);
    bool world_file = co->value[CO_TFW] != 0 || co->value[CO_WORLDFILE] != 0;
    if (world_file && conversion_transform(c) == NULL)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "a world file needs a transform, and the image has none");
    bool has_keys = geo != NULL && (geo->key_count > 0 || geo->epsg != 0);
    if (version >= 0 && has_keys && geo->key_minor != version)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "GEOTIFF_VERSION=1.%d: the keys of the source are of version 1.%u and "
                            "are written as they are",
                            (int)version, (unsigned)geo->key_minor);
    return TZ_OK;
}

/* Below this size, offsets in the output cannot overflow. */
static tz_result check_output_size(const conversion *c, tz_error *err)
{
    const tz_image_spec *spec = &c->spec;
    uint64_t max = (uint64_t)INT64_MAX / 2;
    if (spec->bands > 0 && spec->dtype != TZ_DTYPE_NONE &&
        (uint64_t)spec->width * spec->height > max / spec->bands / tz_dtype_size(spec->dtype))
        return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            "the result is larger than a file can be");
    return TZ_OK;
}

tz_result conversion_set_spec(conversion *c, tz_error *err)
{
    tz_result result = check_output_size(c, err);
    if (result == TZ_OK)
        result = set_signed(c, err);
    if (result == TZ_OK)
        result = set_bits(c, err);
    if (result == TZ_OK) {
        turn_alpha_into_mask(c);
        result = set_colors(c, err);
    }
    if (result == TZ_OK)
        result = set_profile(c, err);
    return result == TZ_OK ? check_geo(c, err) : result;
}
