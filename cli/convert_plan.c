/* SPDX-License-Identifier: Apache-2.0
 * Opens a conversion: describes the source, a TIFF or raw samples, changes the description as the
 * options say (convert_pixels.c, edit.c), then by the creation options, and opens the device.
 * Nothing is written or decoded yet. Raw input is checked for its size before any memory is
 * allocated for its shape. */
#include "convert_plan.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "raw_rows.h"
#include "request.h"
#include "sidecars.h"

/* The source ----------------------------------------------------------------------------------- */

/* Describes raw input by its shape. */
static tz_result describe_raw(conversion *c, tz_error *err)
{
    const char *nodata = c->settings->edit.nodata;
    tz_result result = raw_source_open(&c->raw, c->settings, err);
    if (result == TZ_OK)
        result = tz_image_spec_create(&c->base, err);
    if (result != TZ_OK)
        return result;
    c->base->width = c->raw.sides[AXIS_COLUMN];
    c->base->height = c->raw.sides[AXIS_ROW];
    c->base->bands = c->raw.sides[AXIS_BAND];
    c->base->dtype = c->raw.dtype;
    c->from.dtype = c->raw.dtype;
    if (nodata != NULL && strcmp(nodata, "none") != 0)
        result = tz_image_spec_set_nodata(c->base, nodata, err);
    return result;
}

/* Describes a TIFF: the specification that would write the same image again, then the changes. */
static tz_result describe_file(conversion *c, int64_t page, tz_error *err)
{
    const convert_settings *s = c->settings;
    tz_open_options open = s->common.open;
    if (page >= 0)
        open.page = (uint32_t)page;
    tz_result result = tz_open(&c->file, s->input, &open, err);
    if (result != TZ_OK)
        return result;
    c->info = tz_file_get_info(c->file);
    if (page <= 0)
        sidecars_note(s->input, c->file, open.sidecars);
    if (page < 0)
        pages_note_left_out(s->input, c->file);
    result = tz_image_spec_from_file(&c->base, c->file, err);
    return result == TZ_OK ? conversion_edit_pixels(c, err) : result;
}

/* The image ------------------------------------------------------------------------------------ */

/* Returns true if the last band is alpha, as the writer takes it. */
static bool ends_in_alpha(const tz_image_spec *spec)
{
    if (spec->extra_sample_count > 0)
        return spec->extra_samples[spec->extra_sample_count - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    return spec->bands == 4 && spec->dtype == TZ_DTYPE_UINT8 &&
           spec->photometric == TZ_PHOTOMETRIC_AUTO;
}

/* Returns the alpha band of the image; UINT32_MAX: none. */
static uint32_t alpha_band(const conversion *c)
{
    return c->spec.bands > 1 && ends_in_alpha(&c->spec) ? c->spec.bands - 1 : UINT32_MAX;
}

/* Below this size, offsets in the output cannot overflow. */
static tz_result check_output_size(const conversion *c, tz_error *err)
{
    const tz_image_spec *spec = c->base;
    uint64_t max = (uint64_t)INT64_MAX / 2;
    if (spec->bands > 0 && spec->dtype != TZ_DTYPE_NONE &&
        (uint64_t)spec->width * spec->height > max / spec->bands / tz_dtype_size(spec->dtype))
        return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            "the result is larger than a file can be");
    return TZ_OK;
}

/* The creation options made a mask of the alpha band: it is no longer read, or made, as one. */
static void drop_alpha(conversion *c)
{
    const uint32_t alpha = c->spec.bands;
    if (c->adds_alpha) {
        c->adds_alpha = false;
        return;
    }
    c->mask_of = MASK_OF_BAND;
    if (c->file == NULL)
        return;
    c->mask_band = c->from.bands[alpha];
    c->from.band_count = alpha;
    c->from.all_bands = false;
}

/* Bytes that become signed are the same bits; another type is converted to when it is read. */
static tz_result apply_creation(conversion *c, tz_error *err)
{
    c->spec = *c->base;
    tz_result result =
        tz_creation_apply(c->settings->creation, &c->spec, &c->options, c->file, err);
    if (result != TZ_OK)
        return result;
    if (tz_dtype_size(c->spec.dtype) > 1)
        c->from.dtype = c->spec.dtype;
    if (c->spec.bands < c->base->bands)
        drop_alpha(c);
    return TZ_OK;
}

static tz_result set_write_options(conversion *c, tz_error *err)
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

/* The device encodes with the memory that reading leaves of --device-memory. */
static tz_result open_conversion_device(conversion *c, tz_error *err)
{
    const device_settings *asked = &c->settings->device;
    tz_result result = device_open(&c->device, asked, err);
    c->options.device = c->device;
    c->options.strict_device = asked->strict;
    c->options.allow_vendor_codecs = c->options.allow_inexact = c->settings->library_encoders;
    c->options.max_device_bytes = asked->memory - conversion_device_bytes_to_read(c);
    return result;
}

/* Nodata in lossy codecs -----------------------------------------------------------------------
 *
 * The nodata value would come back as other values near it, so that a mask replaces it. */

enum { TAG_GDAL_NODATA = 42113 };

/* LERC does not count as lossy: the library keeps nodata exact whatever the largest error. */
static bool is_lossy_codec(tz_compression codec, tz_choice lossless)
{
    switch (codec) {
    case TZ_COMPRESSION_JPEG:
        return true;
    case TZ_COMPRESSION_WEBP:
        return lossless != TZ_CHOICE_YES;
    case TZ_COMPRESSION_JPEG2000:
    case TZ_COMPRESSION_JXL:
        return lossless == TZ_CHOICE_NO;
    default:
        return false;
    }
}

/* Returns the codec of a level that changes pixels; TZ_COMPRESSION_DEFAULT: none does. */
static tz_compression lossy_codec(const tz_write_options *o)
{
    const tz_codec_options *image = &o->codec;
    const tz_codec_options *smaller = &o->overview_codec;
    bool other = smaller->compression != TZ_COMPRESSION_DEFAULT &&
                 smaller->compression != image->compression;
    tz_compression overviews = other ? smaller->compression : image->compression;
    tz_choice lossless = smaller->lossless != TZ_CHOICE_AUTO ? smaller->lossless
                         : other                             ? TZ_CHOICE_AUTO
                                                             : image->lossless;
    if (is_lossy_codec(image->compression, image->lossless))
        return image->compression;
    return o->cog && o->overview_count >= 0 && is_lossy_codec(overviews, lossless)
               ? overviews
               : TZ_COMPRESSION_DEFAULT;
}

/* Returns the end of the note: what takes the place of nodata. */
static const char *instead_of_nodata(const conversion *c)
{
    if (c->adds_alpha)
        return " and is left out; alpha says the same (--keep-nodata keeps nodata)";
    return c->mask_of == MASK_OF_FILE
               ? " and is left out; the mask of the source stays (--keep-nodata keeps nodata)"
               : ": a mask is written in its place (--keep-nodata keeps it)";
}

static void mask_nodata(conversion *c)
{
    tz_image_spec *spec = &c->spec;
    tz_compression codec = lossy_codec(&c->options);
    nodata_mask found;
    if (c->settings->keep_nodata || codec == TZ_COMPRESSION_DEFAULT ||
        spec->dtype >= TZ_DTYPE_FLOAT16 || !nodata_mask_make(&found, &spec->nodata, spec->dtype))
        return;
    (void)problem_make(&c->note, TZ_ERR_ARG, TZ_CAUSE_META, "nodata %s would not last in %s%s",
                       spec->nodata_text != NULL ? spec->nodata_text : "",
                       tz_compression_name((uint16_t)codec), instead_of_nodata(c));
    c->note.tag = TAG_GDAL_NODATA;
    c->note_count = 1;
    if (!c->adds_alpha && c->mask_of != MASK_OF_FILE) {
        c->by_source = conversion_has_source_nodata(c);
        c->by_nodata = found;
        c->by_nodata.used = !c->by_source;
    }
    spec->mask = !c->adds_alpha;
    spec->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    spec->nodata_text = NULL;
}

/* Opening ---------------------------------------------------------------------------------------
 */

static tz_result open_steps(conversion *c, int64_t page, tz_error *err)
{
    const bool raw = convert_is_raw(c->settings);
    tz_result result = raw ? describe_raw(c, err) : describe_file(c, page, err);
    if (result == TZ_OK)
        result = edit_describe(c->base, &c->settings->edit, err);
    if (result == TZ_OK)
        result = check_output_size(c, err);
    if (result == TZ_OK)
        result = apply_creation(c, err);
    if (result == TZ_OK && raw)
        result = raw_rows_check(c, err);
    if (result == TZ_OK)
        result = set_write_options(c, err);
    if (result != TZ_OK)
        return result;
    mask_nodata(c);
    c->by_nodata.alpha = alpha_band(c);
    return open_conversion_device(c, err);
}

tz_result conversion_open(conversion *c, const convert_settings *settings, const char *output,
                          int64_t page, tz_error *err)
{
    *c = (conversion){.settings = settings,
                      .output = output,
                      .spec = TZ_IMAGE_SPEC_INIT,
                      .options = TZ_WRITE_OPTIONS_INIT};
    c->options.log = settings->common.open.log;
    tz_result result = open_steps(c, page, err);
    const uint64_t memory = settings->memory > 0 ? settings->memory : REQUEST_DEFAULT_MEMORY;
    c->bounded = settings->memory > 0 && !device_has_memory(c->device);
    if (result == TZ_OK)
        c->memory = memory_divide(memory, c->options.threads, device_has_memory(c->device));
    if (result != TZ_OK)
        conversion_close(c);
    return result;
}

void conversion_close(conversion *c)
{
    tz_image_spec_free(c->base);
    free(c->extra_samples);
    free(c->from.bands);
    free(c->from.scales);
    tz_close(c->file);
    raw_source_close(&c->raw);
    tz_device_close(c->device);
    *c = (conversion){0};
}

uint64_t conversion_device_bytes_to_read(const conversion *c)
{
    const uint64_t memory = c->settings->device.memory;
    return c->file != NULL ? memory / CONVERSION_READING_PART : 0;
}

uint64_t conversion_bytes(const conversion *c)
{
    return (uint64_t)c->spec.width * c->spec.height * c->spec.bands * tz_dtype_size(c->spec.dtype);
}

const double *conversion_transform(const conversion *c)
{
    const tz_geo *geo = c->base->geo;
    return geo != NULL && geo->has_transform ? geo->transform : NULL;
}
