/* SPDX-License-Identifier: Apache-2.0
 * Creation options as changes of the specification of an image.
 *
 * tz_creation_apply_spec goes through it in this order: sample type and bits, alpha, colours with
 * the extra samples after them, then metadata and tags that the profile keeps. Colours come after
 * alpha because a mask that replaces the alpha band changes the number of bands. Choices that
 * nobody asked for are those of GDAL's drivers: JPEG in a COG stores three bands as YCbCr and alpha
 * as a mask. */
#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"
#include "write/creation/creation.h"

/* ---- samples ---- */

static tz_result set_signed(const tz_creation_job *job)
{
    if (tz_creation_number(job->co, CO_PIXELTYPE) == 0)
        return TZ_OK;
    if (job->spec->dtype != TZ_DTYPE_UINT8 && job->spec->dtype != TZ_DTYPE_INT8)
        return TZ_FAIL_ARG(job->ctx, "PIXELTYPE=SIGNEDBYTE is for uint8, not %s",
                           tz_dtype_name(job->spec->dtype));
    job->spec->dtype = TZ_DTYPE_INT8; /* the same bits, read as another number */
    return TZ_OK;
}

static tz_result set_bits(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_dtype dtype = job->spec->dtype;
    uint16_t bits = (uint16_t)tz_creation_number(co, CO_NBITS);
    if (!co->given[CO_NBITS])
        return TZ_OK;
    if (bits == 8 * tz_dtype_size(dtype)) {
        job->spec->bits_per_sample = 0;
    } else if (dtype <= TZ_DTYPE_INT64) {
        job->spec->bits_per_sample = bits;
    } else if (dtype == TZ_DTYPE_FLOAT32 && bits == 16) {
        job->spec->dtype = TZ_DTYPE_FLOAT16;
        job->spec->bits_per_sample = 0;
    } else {
        return TZ_FAIL_ARG(job->ctx, "NBITS=%u is not for %s", (unsigned)bits,
                           tz_dtype_name(dtype));
    }
    return TZ_OK;
}

/* ---- colours ---- */

/* Returns the number of bands of the photometric interpretation; others are extra. */
static uint32_t color_bands(const tz_image_spec *spec)
{
    return tz_photometric_channels((uint16_t)tz_photometric_number(tz_spec_photometric(spec)));
}

/* Bands that were extra samples and still are keep their meaning. */
static tz_result set_extra_samples(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_image_spec *spec = job->spec;
    uint32_t colors = color_bands(spec);
    uint32_t count = spec->bands > colors ? spec->bands - colors : 0;
    uint16_t *extra = tz_arena_array(job->arena, (size_t)count + 1, sizeof *extra);
    if (!extra)
        return tz_fail_nomem(job->ctx, (count + 1) * sizeof *extra);
    for (uint32_t i = 0; i < count && i < spec->extra_sample_count; i++)
        extra[count - 1 - i] = spec->extra_samples[spec->extra_sample_count - 1 - i];
    if (co->given[CO_ALPHA])
        extra[0] = (uint16_t)tz_creation_number(co, CO_ALPHA);
    spec->extra_samples = count > 0 ? extra : NULL;
    spec->extra_sample_count = count;
    return TZ_OK;
}

static bool is_jpeg_cog(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    return job->cog && co->value[CO_COMPRESS] == TZ_COMPRESSION_JPEG &&
           co->value[CO_INTERLEAVE] == TZ_INTERLEAVE_PIXEL;
}

static bool spec_ends_in_alpha(const tz_image_spec *spec)
{
    if (spec->extra_sample_count > 0)
        return spec->extra_samples[spec->extra_sample_count - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    return spec->bands == 4 && color_bands(spec) == 3; /* as the writer takes it */
}

/* As GDAL's COG driver does: JPEG would blur the edge of the alpha band. Returns true if the image
 * had such a band. */
static bool turn_alpha_into_mask(const tz_creation_job *job)
{
    tz_image_spec *spec = job->spec;
    if (!is_jpeg_cog(job) || (spec->bands != 2 && spec->bands != 4) || !spec_ends_in_alpha(spec))
        return false;
    spec->bands--;
    spec->mask = true;
    if (spec->extra_sample_count > 0)
        spec->extra_sample_count--;
    if (spec->extra_sample_count == 0)
        spec->extra_samples = NULL;
    return true;
}

/* As GDAL's COG driver does, three bands in JPEG become YCbCr with subsampled colour. */
static bool becomes_ycbcr(const tz_creation_job *job)
{
    const tz_image_spec *spec = job->spec;
    bool grey = spec->photometric == TZ_PHOTOMETRIC_AUTO ||
                spec->photometric == TZ_PHOTOMETRIC_MIN_IS_BLACK;
    return is_jpeg_cog(job) && spec->bands == 3 && spec->dtype == TZ_DTYPE_UINT8 &&
           (grey || spec->photometric == TZ_PHOTOMETRIC_RGB ||
            spec->photometric == TZ_PHOTOMETRIC_YCBCR);
}

/* JPEG and old-style JPEG deliver YCbCr as RGB. */
static bool is_rgb_when_read(const tz_file *source)
{
    const uint16_t compression = tz_file_get_level(source, 0)->compression;
    return compression == TZ_COMPRESSION_JPEG || compression == TZ_COMPRESSION_OLD_JPEG;
}

/* YCbCr that is not of a file stays as the caller has said it. */
static tz_result set_colors(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_image_spec *spec = job->spec;
    const bool ycbcr = job->source && spec->photometric == TZ_PHOTOMETRIC_YCBCR;
    if (becomes_ycbcr(job)) {
        spec->photometric = TZ_PHOTOMETRIC_YCBCR;
        return set_extra_samples(job);
    }
    if (co->given[CO_PHOTOMETRIC])
        spec->photometric = (tz_photometric)tz_creation_number(co, CO_PHOTOMETRIC);
    else if (ycbcr && is_rgb_when_read(job->source))
        spec->photometric = TZ_PHOTOMETRIC_RGB; /* as it is delivered */
    else if (ycbcr)
        return tz_fail(job->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "YCbCr can be written in JPEG only; PHOTOMETRIC=MINISBLACK takes its "
                       "bands as they are");
    if (spec->photometric != TZ_PHOTOMETRIC_PALETTE && co->given[CO_PHOTOMETRIC]) {
        spec->color_map = NULL;
        spec->color_map_size = 0;
    }
    if (co->given[CO_PHOTOMETRIC] || co->given[CO_ALPHA])
        return set_extra_samples(job);
    return TZ_OK;
}

/* ---- metadata ---- */

/* Returns true if statistics of the source would not hold for the result. */
static bool outdates_statistics(const tz_creation_job *job, bool masks_by_alpha)
{
    const tz_creation_values *co = job->co;
    return co->value[CO_STATISTICS] != STATISTICS_AUTO || masks_by_alpha ||
           co->given[CO_DISCARD_LSB] || co->given[CO_NBITS] || co->value[CO_PIXELTYPE] != 0 ||
           co->value[CO_MAX_Z_ERROR] != 0;
}

static bool wants_domain(const tz_creation_values *co, const char *domain)
{
    for (uint32_t i = 0; i < co->domain_count; i++) {
        if (strcmp(co->domains[i], domain) == 0)
            return true;
    }
    return co->domain_count == 0 && co->value[CO_COPY_SRC_MDD] != 0;
}

static bool keeps_item(const tz_creation_job *job, const tz_metadata_item *item, bool by_alpha)
{
    const tz_creation_values *co = job->co;
    if (item->band >= 0 && (uint32_t)item->band >= job->spec->bands)
        return false;
    if (item->role && strcmp(item->role, "colorinterp") == 0)
        return !co->given[CO_PHOTOMETRIC] && !co->given[CO_ALPHA];
    if (item->role && item->role[0] != '\0') /* a property of the band itself, such as its unit */
        return true;
    if (tz_item_is_statistics(item) && outdates_statistics(job, by_alpha))
        return false;
    return wants_domain(co, item->domain ? item->domain : "");
}

/* Statistics that no longer hold are computed again, where that is the driver's default. */
static tz_result set_metadata(const tz_creation_job *job, bool by_alpha)
{
    tz_image_spec *spec = job->spec;
    uint32_t kept = 0;
    tz_metadata_item *items = tz_arena_array(job->arena, spec->metadata_count, sizeof *items);
    if (!items && spec->metadata_count > 0)
        return tz_fail_nomem(job->ctx, spec->metadata_count * sizeof *items);
    TZ_TRY(tz_copy_elements(items, sizeof *items, spec->metadata, spec->metadata_count,
                            "spec->metadata", "TZ_METADATA_ITEM_INIT", job->ctx));
    for (uint32_t i = 0; i < spec->metadata_count; i++) {
        if (keeps_item(job, &items[i], by_alpha))
            items[kept++] = items[i];
        else if (tz_item_is_statistics(&items[i]) && job->cog &&
                 job->co->value[CO_STATISTICS] == STATISTICS_AUTO)
            job->options->statistics_items = true;
    }
    spec->metadata = items;
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

static tz_result keep_baseline(const tz_creation_job *job)
{
    tz_image_spec *spec = job->spec;
    uint32_t kept = 0;
    tz_tag_value *tags = tz_arena_array(job->arena, spec->tag_count, sizeof *tags);
    if (!tags && spec->tag_count > 0)
        return tz_fail_nomem(job->ctx, spec->tag_count * sizeof *tags);
    TZ_TRY(tz_copy_elements(tags, sizeof *tags, spec->tags, spec->tag_count, "spec->tags",
                            "TZ_TAG_VALUE_INIT", job->ctx));
    for (uint32_t i = 0; i < spec->tag_count; i++) {
        if (is_baseline(tags[i].tag))
            tags[kept++] = tags[i];
    }
    spec->tags = tags;
    spec->tag_count = kept;
    spec->geo = NULL;
    return TZ_OK;
}

/* geo is that of the specification, or NULL. */
static tz_result set_profile(const tz_creation_job *job, tz_geo *geo, bool by_alpha)
{
    int64_t profile = tz_creation_number(job->co, CO_PROFILE);
    tz_image_spec *spec = job->spec;
    if (profile == PROFILE_GDAL)
        return set_metadata(job, by_alpha);
    spec->metadata = NULL;
    spec->metadata_count = 0;
    spec->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    spec->nodata_text = NULL;
    if (profile == PROFILE_BASELINE)
        return keep_baseline(job);
    if (geo)
        geo->rpc = NULL;
    return TZ_OK;
}

/* Keys that the writer makes of EPSG codes are of version 1.1 if one of them is vertical. */
static uint16_t geotiff_version(const tz_geo *geo)
{
    return geo->key_count > 0 ? geo->key_minor : geo->epsg_vertical != 0;
}

static tz_result check_geo(const tz_creation_job *job, bool has_transform)
{
    const tz_creation_values *co = job->co;
    const tz_geo *geo = job->spec->geo;
    const int64_t version = tz_creation_number(co, CO_GEOTIFF_VERSION);
    const bool world_file = co->value[CO_TFW] != 0 || co->value[CO_WORLDFILE] != 0;
    if (world_file && !has_transform)
        return TZ_FAIL_ARG(job->ctx, "a world file needs a transform, and the image has none");
    const bool has_keys = geo && (geo->key_count > 0 || geo->epsg != 0);
    if (version >= 0 && has_keys && geotiff_version(geo) != version)
        return TZ_FAIL_ARG(job->ctx,
                           "GEOTIFF_VERSION=1.%d: the keys of the source are of version 1.%u and "
                           "are written as they are",
                           (int)version, (unsigned)geotiff_version(geo));
    return TZ_OK;
}

/* ---- all options ---- */

tz_result tz_creation_apply_spec(const tz_creation_job *job)
{
    tz_geo *geo = NULL;
    if (job->spec->geo)
        TZ_TRY(tz_copy_geo(job->arena, job->spec->geo, job->ctx, &geo));
    job->spec->geo = geo;
    const bool has_transform = geo && geo->has_transform;
    job->options->statistics_items = job->co->value[CO_STATISTICS] == STATISTICS_YES;
    TZ_TRY(set_signed(job));
    TZ_TRY(set_bits(job));
    const bool by_alpha = turn_alpha_into_mask(job);
    TZ_TRY(set_colors(job));
    TZ_TRY(set_profile(job, geo, by_alpha));
    return check_geo(job, has_transform);
}
