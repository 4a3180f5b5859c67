/* SPDX-License-Identifier: Apache-2.0
 * Opens a conversion: describes the source, a TIFF or raw samples, turns settings into the
 * description of the image and the options of the write, and opens the device. Nothing is written
 * or decoded yet. Raw input is checked for its size before any memory is allocated for its shape.
 * */
#include "conversion.h"
#include "request.h"
#include "sidecars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "raw_rows.h"

/* Describes raw input by its shape and the options of georeferencing. */
static tz_result describe_raw(conversion *c, tz_error *err)
{
    const raw_settings *raw = &c->settings->raw;
    tz_result result = raw_source_open(&c->raw, c->settings, err);
    if (result != TZ_OK)
        return result;
    c->spec.width = c->raw.sides[AXIS_COLUMN];
    c->spec.height = c->raw.sides[AXIS_ROW];
    c->spec.bands = c->raw.sides[AXIS_BAND];
    c->spec.dtype = c->raw.dtype;
    c->spec.nodata = raw->nodata;
    c->spec.nodata_text = raw->nodata_text;
    c->geo = (tz_geo){.struct_size = sizeof c->geo,
                      .has_transform = raw->has_transform,
                      .epsg = raw->epsg,
                      .epsg_vertical = raw->epsg_vertical,
                      .key_minor = raw->epsg_vertical != 0, /* as its keys will be */
                      .has_crs = raw->epsg != 0,
                      .coordinate_epoch = NAN};
    memcpy(c->geo.transform, raw->transform, sizeof c->geo.transform);
    if (raw->has_transform || raw->epsg != 0)
        c->spec.geo = &c->geo;
    return TZ_OK;
}

/* Describes a TIFF: the specification that would write the same image again. */
static tz_result describe_file(conversion *c, tz_error *err)
{
    const convert_settings *s = c->settings;
    tz_result result = tz_open(&c->file, s->input, &s->common.open, err);
    if (result != TZ_OK)
        return result;
    c->info = tz_file_get_info(c->file);
    sidecars_note(s->input, c->file, s->common.open.sidecars);
    pages_note_left_out(s->input, c->file);
    result = tz_image_spec_from_file(&c->base, c->file, err);
    if (result == TZ_OK)
        c->spec = *c->base;
    return result;
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

tz_result conversion_open(conversion *c, const convert_settings *settings, tz_error *err)
{
    tz_result result = TZ_OK;
    *c = (conversion){
        .settings = settings, .spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT};
    c->options.log = settings->common.open.log;
    if (convert_is_raw(settings))
        result = describe_raw(c, err);
    else
        result = describe_file(c, err);
    c->read_as = c->spec.dtype;
    c->source_bands = c->spec.bands;
    if (result == TZ_OK)
        result = conversion_set_spec(c, err);
    if (result == TZ_OK && convert_is_raw(settings))
        result = raw_rows_check(c, err);
    if (result == TZ_OK)
        result = conversion_set_options(c, err);
    if (result == TZ_OK) {
        conversion_mask_nodata(c);
        result = open_conversion_device(c, err);
    }
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

bool conversion_masks_by_alpha(const conversion *c)
{
    return c->source_bands > c->spec.bands;
}

uint64_t conversion_bytes(const conversion *c)
{
    return (uint64_t)c->spec.width * c->spec.height * c->spec.bands * tz_dtype_size(c->spec.dtype);
}

const double *conversion_transform(const conversion *c)
{
    const tz_geo *geo = c->info != NULL ? c->info->geo : &c->geo;
    return geo->has_transform ? geo->transform : NULL;
}
