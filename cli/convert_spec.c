/* SPDX-License-Identifier: Apache-2.0
 * The description of the image to write, and how: those of the source, changed by creation options
 * and by options of the command. */
#include "conversion.h"
#include "problem.h"

/* Returns true if a fourth band of raw samples is alpha, as the writer takes it. */
static bool raw_ends_in_alpha(const tz_image_spec *spec)
{
    if (spec->extra_sample_count > 0)
        return spec->extra_samples[spec->extra_sample_count - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    return spec->bands == 4 && spec->dtype == TZ_DTYPE_UINT8 &&
           spec->photometric == TZ_PHOTOMETRIC_AUTO;
}

uint32_t conversion_alpha(const conversion *c)
{
    const tz_info *info = c->info;
    uint32_t extra = info != NULL ? info->extra_sample_count : 0;
    bool in_file = extra > 0 && info->bands > 1 &&
                   info->extra_samples[extra - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    if (info != NULL)
        return in_file ? info->bands - 1 : UINT32_MAX;
    return c->spec.bands > 1 && raw_ends_in_alpha(&c->spec) ? c->spec.bands - 1 : UINT32_MAX;
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

/* Bytes that become signed are the same bits; another type is converted to when it is read. */
tz_result conversion_set_spec(conversion *c, tz_error *err)
{
    tz_result result = check_output_size(c, err);
    if (result == TZ_OK)
        result = tz_creation_apply(c->settings->creation, &c->spec, &c->options, c->file, err);
    if (result == TZ_OK && tz_dtype_size(c->spec.dtype) > 1)
        c->read_as = c->spec.dtype;
    return result;
}

tz_result conversion_set_options(conversion *c, tz_error *err)
{
    const convert_settings *s = c->settings;
    tz_write_options *o = &c->options;
    if (s->nan_to_nodata && c->spec.nodata.kind == TZ_NODATA_KIND_NONE)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "--nan-to-nodata: the image has no nodata value");
    o->spool_directory = s->spool;
    o->nan_to_nodata = s->nan_to_nodata;
    if (s->has_threads)
        o->threads = s->threads;
    o->limits = s->common.open.limits;
    o->exclusive = !s->overwrite;
    o->no_sync = s->no_sync;
    o->verify = s->verify;
    o->statistics = s->statistics;
    return TZ_OK;
}
