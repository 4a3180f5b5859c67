/* SPDX-License-Identifier: Apache-2.0
 * The pixels of a TIFF that become those of the image, in the order of the steps: a window, bands,
 * a size, a type and a scale, nodata, and the mask or the alpha band. Each step decides what is
 * read and changes the description of the image, c->base, by the library's rules. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "convert_plan.h"
#include "problem.h"
#include "progress.h"

#define ARG_ERROR TZ_ERR_ARG, TZ_CAUSE_ARG

/* Window and bands ----------------------------------------------------------------------------- */

static tz_result choose_window(conversion *c, tz_error *err)
{
    const window_settings *where = &c->settings->edit.where;
    const tz_info *info = c->info;
    tz_window *w = &c->from.window;
    *w = (tz_window){.width = info->width, .height = info->height};
    if (where->has_bbox)
        return window_of_bbox(w, &c->clipped, where, c->file, 0, false,
                              c->settings->common.open.strict, err);
    if (where->has_window)
        *w = where->window;
    if (w->column < 0 || w->row < 0 || w->column + w->width > info->width ||
        w->row + w->height > info->height)
        return window_refuse(w, info->width, info->height, "", err);
    return TZ_OK;
}

/* Returns the first alpha band of the file; UINT32_MAX: none. */
static uint32_t find_alpha(const tz_file *file)
{
    const tz_band *band;
    for (uint32_t i = 0; (band = tz_file_get_band(file, i)) != NULL; i++) {
        if (band->color == TZ_COLOR_ALPHA)
            return i;
    }
    return UINT32_MAX;
}

/* The band that becomes the mask is not one of the image, if it is alpha. */
static void leave_out(source_pixels *from, uint32_t band)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < from->band_count; i++) {
        if (from->bands[i] != band)
            from->bands[kept++] = from->bands[i];
    }
    from->band_count = kept;
}

static tz_result choose_mask_band(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    const uint32_t band = edit->mask == EDIT_MASK_BAND ? edit->mask_band : find_alpha(c->file);
    if (edit->mask == EDIT_MASK_ALPHA && band == UINT32_MAX)
        return problem_make(err, ARG_ERROR, "--mask-from alpha: the image has no alpha band");
    if (band >= c->info->bands)
        return problem_make(err, ARG_ERROR,
                            "--mask-from: there is no band %" PRIu32 "; the file has %" PRIu32,
                            band + 1, c->info->bands);
    c->mask_of = MASK_OF_BAND;
    c->mask_band = band;
    if (edit->mask == EDIT_MASK_ALPHA)
        leave_out(&c->from, band);
    if (c->from.band_count == 0)
        return problem_make(err, ARG_ERROR, "--mask-from alpha: no other band is left");
    return TZ_OK;
}

static tz_result choose_bands(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    source_pixels *from = &c->from;
    char *list;
    if (!edit_band_list(edit, &list))
        return problem_nomem(err, "the list of bands");
    tz_result result = band_list_read(list, c->file, &from->bands, &from->band_count, err);
    from->all_bands = list == NULL && edit->mask != EDIT_MASK_ALPHA;
    free(list);
    c->mask_of = c->base->mask ? MASK_OF_FILE : MASK_OF_NOTHING;
    if (result == TZ_OK && (edit->mask == EDIT_MASK_ALPHA || edit->mask == EDIT_MASK_BAND))
        result = choose_mask_band(c, err);
    if (result == TZ_OK && !from->all_bands)
        result = tz_image_spec_select_bands(c->base, from->bands, from->band_count, err);
    return result;
}

/* Size ----------------------------------------------------------------------------------------- */

/* Rounds as GDAL does, to one pixel at least. */
static tz_result pixels_of_length(double length, double resolution, uint32_t *out, tz_error *err)
{
    const double count = floor(fabs(length) / resolution + 0.5);
    if (!(count <= (double)UINT32_MAX))
        return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            "--res: the image would have more than 4294967295 rows or columns");
    *out = count < 1 ? 1 : (uint32_t)count;
    return TZ_OK;
}

static tz_result size_by_resolution(const conversion *c, uint32_t *width, uint32_t *height,
                                    tz_error *err)
{
    const double *resolution = c->settings->edit.resolution;
    const tz_window *w = &c->from.window;
    const double *t = conversion_transform(c);
    if (t == NULL || t[2] != 0 || t[4] != 0)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_GEO, "--res: the image %s; use --size",
                            t == NULL ? "has no transform" : "is rotated or sheared");
    tz_result result = pixels_of_length(w->width * t[1], resolution[0], width, err);
    return result == TZ_OK ? pixels_of_length(w->height * t[5], resolution[1], height, err)
                           : result;
}

/* One side of --size may be 0: the library finds it. */
static tz_result size_in_proportion(const conversion *c, uint32_t *width, uint32_t *height,
                                    tz_error *err)
{
    static const uint32_t first_band = 0;
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_buffer into = TZ_BUFFER_INIT;
    tz_item item = TZ_ITEM_INIT;
    how.resampling = TZ_RESAMPLING_NEAREST;
    into.dtype = TZ_DTYPE_UINT8;
    into.width = c->settings->edit.width;
    into.height = c->settings->edit.height;
    item.file = c->file;
    item.window = c->from.window;
    item.bands = &first_band;
    item.band_count = 1;
    item.into = &into;
    tz_result result = tz_read_resolve(&shape, &item, &how, err);
    *width = shape.width;
    *height = shape.height;
    return result;
}

/* Pixels are exactly of the size that --res gives, although the image is rounded to whole ones. */
static tz_result set_pixel_size(conversion *c, tz_error *err)
{
    const double *resolution = c->settings->edit.resolution;
    double transform[6];
    memcpy(transform, conversion_transform(c), sizeof transform);
    transform[1] = copysign(resolution[0], transform[1]);
    transform[5] = copysign(resolution[1], transform[5]);
    return tz_image_spec_set_transform(c->base, transform, err);
}

static tz_result choose_size(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    const tz_window *w = &c->from.window;
    uint32_t width = w->width;
    uint32_t height = w->height;
    tz_result result = TZ_OK;
    if (edit->has_resolution)
        result = size_by_resolution(c, &width, &height, err);
    else if (edit->has_size)
        result = size_in_proportion(c, &width, &height, err);
    if (result != TZ_OK)
        return result;
    const bool resampled = width != w->width || height != w->height;
    if (resampled)
        c->from.resampling =
            edit->resampling != TZ_RESAMPLING_NONE ? edit->resampling : TZ_RESAMPLING_NEAREST;
    if (resampled || w->width != c->info->width || w->height != c->info->height)
        result = tz_image_spec_set_grid(c->base, w, width, height, err);
    return result == TZ_OK && edit->has_resolution ? set_pixel_size(c, err) : result;
}

/* Type and scale ------------------------------------------------------------------------------- */

/* Sets the range of an integer type; of others 0 to 1. */
static void range_of_type(tz_dtype dtype, double range[2])
{
    const bool is_signed = dtype == TZ_DTYPE_INT8 || dtype == TZ_DTYPE_INT16 ||
                           dtype == TZ_DTYPE_INT32 || dtype == TZ_DTYPE_INT64;
    const double count = ldexp(1, (int)(8 * tz_dtype_size(dtype)));
    range[0] = is_signed ? -count / 2 : 0;
    range[1] = dtype >= TZ_DTYPE_FLOAT16 ? 1 : range[0] + (count - 1);
}

/* Sets the scale and the offset of a band. A range of one value becomes the least one. */
static void set_band_scale(const conversion *c, uint32_t band, const double source[2])
{
    const edit_settings *edit = &c->settings->edit;
    double to[2];
    range_of_type(c->base->dtype, to);
    if (edit->scale == EDIT_SCALE_BOTH)
        memcpy(to, edit->range, sizeof to);
    const double scale = source[1] != source[0] ? (to[1] - to[0]) / (source[1] - source[0]) : 0;
    c->from.scales[band] = scale;
    c->from.offsets[band] = to[0] - source[0] * scale;
}

/* Units are those of the values before. */
static tz_result drop_units(tz_image_spec *spec, tz_error *err)
{
    tz_result result = TZ_OK;
    tz_metadata_item item = TZ_METADATA_ITEM_INIT;
    item.name = "UNITTYPE";
    item.role = "unittype";
    for (uint32_t i = 0; i < spec->bands && result == TZ_OK; i++) {
        item.band = (int32_t)i;
        result = tz_image_spec_set_metadata(spec, &item, err);
    }
    return result;
}

static tz_result choose_scale(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    source_pixels *from = &c->from;
    if (edit->scale == EDIT_SCALE_NONE)
        return TZ_OK;
    c->base->bits_per_sample = 0; /* the range of the type, and not that of fewer bits */
    from->scales = calloc(from->band_count, 2 * sizeof *from->scales);
    if (from->scales == NULL)
        return problem_nomem(err, "scales");
    from->offsets = from->scales + from->band_count;
    for (uint32_t i = 0; edit->scale != EDIT_SCALE_AUTO && i < from->band_count; i++)
        set_band_scale(c, i, edit->source_range);
    tz_result result = tz_image_spec_drop_statistics(c->base, err);
    return result == TZ_OK ? drop_units(c->base, err) : result;
}

static tz_result choose_dtype(conversion *c, tz_error *err)
{
    const tz_dtype dtype = c->settings->edit.dtype;
    const bool had_nodata = c->base->nodata.kind != TZ_NODATA_KIND_NONE;
    char nodata[64] = "";
    if (c->base->nodata_text != NULL)
        snprintf(nodata, sizeof nodata, "%s", c->base->nodata_text);
    if (dtype != TZ_DTYPE_NONE && dtype != c->base->dtype) {
        tz_result result = tz_image_spec_set_dtype(c->base, dtype, err);
        if (result != TZ_OK)
            return result;
    }
    if (had_nodata && c->base->nodata.kind == TZ_NODATA_KIND_NONE &&
        c->settings->edit.nodata == NULL) {
        (void)problem_make(&c->note, TZ_ERR_ARG, TZ_CAUSE_META,
                           "nodata %s is not a value of %s, and is left out", nodata,
                           tz_dtype_name(dtype));
        c->note_count = 1;
    }
    c->from.dtype = c->base->dtype;
    return TZ_OK;
}

/* Nodata --------------------------------------------------------------------------------------- */

/* The library fills tiles with a double. */
static bool is_exact_double(const tz_nodata *nodata)
{
    const int64_t most = (int64_t)1 << 53;
    return nodata->kind == TZ_NODATA_KIND_INT
               ? nodata->value.i >= -most && nodata->value.i <= most
               : nodata->kind != TZ_NODATA_KIND_UINT || nodata->value.u <= (uint64_t)most;
}

static tz_result choose_nodata(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    const tz_nodata *old = &c->info->nodata;
    const tz_nodata *new = &c->base->nodata;
    if (edit->nodata != NULL) {
        const bool none = strcmp(edit->nodata, "none") == 0;
        tz_result result = tz_image_spec_set_nodata(c->base, none ? NULL : edit->nodata, err);
        if (result != TZ_OK)
            return result;
    }
    if (edit->replace_nodata && old->kind == TZ_NODATA_KIND_NONE)
        return problem_make(err, ARG_ERROR, "--replace-nodata: the file declares no nodata");
    /* nodata is not scaled: if the type does not have the value, it becomes the nearest one */
    if (edit->replace_nodata || edit->scale != EDIT_SCALE_NONE)
        c->from.nodata_as = new->kind != TZ_NODATA_KIND_NONE ? *new : *old;
    c->from.salvage = edit->salvage;
    /* Without a fill, lost pixels become what nodata does, exactly. */
    if (edit->salvage && (old->kind == TZ_NODATA_KIND_NONE ||
                          (edit->nodata != NULL && c->from.nodata_as.kind == TZ_NODATA_KIND_NONE)))
        c->from.fill = *new;
    if (!is_exact_double(&c->from.fill))
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "--salvage: tiles cannot be filled with nodata beyond 2^53 that the "
                            "file does not declare");
    return edit->replace_nodata || edit->salvage ? tz_image_spec_drop_statistics(c->base, err)
                                                 : TZ_OK;
}

/* Mask and alpha ------------------------------------------------------------------------------- */

/* Other values may become that of nodata, which may not even be one of the new type. */
bool conversion_has_source_nodata(const conversion *c)
{
    const edit_settings *edit = &c->settings->edit;
    const bool stays = edit->nodata == NULL || (strcmp(edit->nodata, "none") != 0 &&
                                                c->from.nodata_as.kind != TZ_NODATA_KIND_NONE);
    return c->file != NULL && c->info->nodata.kind != TZ_NODATA_KIND_NONE && stays &&
           tz_file_get_mask(c->file, 0) == NULL &&
           (edit->scale != EDIT_SCALE_NONE || edit->replace_nodata ||
            c->base->dtype != c->info->dtype);
}

static tz_result mask_by_nodata(conversion *c, tz_error *err)
{
    tz_image_spec *spec = c->base;
    c->by_source = conversion_has_source_nodata(c);
    if (!c->by_source && !nodata_mask_make(&c->by_nodata, &spec->nodata, spec->dtype))
        return problem_make(err, ARG_ERROR, "--mask-from nodata: %s",
                            spec->nodata.kind == TZ_NODATA_KIND_NONE
                                ? "the image has no nodata value"
                                : "the image is of complex numbers");
    c->mask_of = MASK_OF_NOTHING;
    spec->mask = true;
    return tz_image_spec_set_nodata(spec, NULL, err);
}

/* Adds a band to the description. */
static tz_result add_alpha(conversion *c, tz_error *err)
{
    tz_image_spec *spec = c->base;
    const uint32_t count = spec->extra_samples != NULL ? spec->extra_sample_count : 0;
    for (uint32_t i = 0; i < c->from.band_count; i++) {
        if (tz_file_get_band(c->file, c->from.bands[i])->color == TZ_COLOR_ALPHA)
            return problem_make(err, ARG_ERROR, "--add-alpha: band %" PRIu32 " is alpha already",
                                i + 1);
    }
    if (spec->dtype != TZ_DTYPE_UINT8 && spec->dtype != TZ_DTYPE_UINT16)
        return problem_make(err, ARG_ERROR, "--add-alpha is for uint8 and uint16, not for %s",
                            tz_dtype_name(spec->dtype));
    c->extra_samples = calloc((size_t)count + 1, sizeof *c->extra_samples);
    if (c->extra_samples == NULL)
        return problem_nomem(err, "samples");
    if (count > 0)
        memcpy(c->extra_samples, spec->extra_samples, count * sizeof *c->extra_samples);
    c->extra_samples[count] = TZ_EXTRA_SAMPLE_ALPHA;
    spec->extra_samples = c->extra_samples;
    spec->extra_sample_count = count + 1;
    spec->bands++;
    spec->bits_per_sample = 0; /* alpha is the greatest value of the type */
    spec->mask = false;
    c->adds_alpha = true;
    c->by_source = c->mask_of == MASK_OF_NOTHING && conversion_has_source_nodata(c);
    if (c->mask_of == MASK_OF_NOTHING && !c->by_source)
        (void)nodata_mask_make(&c->by_nodata, &spec->nodata, spec->dtype);
    return TZ_OK;
}

static tz_result choose_mask(conversion *c, tz_error *err)
{
    const edit_settings *edit = &c->settings->edit;
    if (edit->add_alpha)
        return add_alpha(c, err);
    if (edit->mask == EDIT_MASK_NODATA)
        return mask_by_nodata(c, err);
    if (edit->mask == EDIT_MASK_NONE)
        c->mask_of = MASK_OF_NOTHING;
    c->base->mask = c->mask_of != MASK_OF_NOTHING;
    return TZ_OK;
}

tz_result conversion_edit_pixels(conversion *c, tz_error *err)
{
    tz_result result = choose_window(c, err);
    if (result == TZ_OK)
        result = choose_bands(c, err);
    if (result == TZ_OK)
        result = choose_size(c, err);
    if (result == TZ_OK)
        result = choose_dtype(c, err);
    if (result == TZ_OK)
        result = choose_scale(c, err);
    if (result == TZ_OK)
        result = choose_nodata(c, err);
    return result == TZ_OK ? choose_mask(c, err) : result;
}

/* The range of bands ---------------------------------------------------------------------------
 *
 * --scale auto needs the least and the greatest value of each band before the first row is written:
 * the pixels are read twice, some rows at a time. */

typedef struct band_ranges {
    double (*of)[2];  /* of each band; the first greater than the second: no value yet */
    double *values;   /* of some rows, band after band */
    uint8_t *valid;   /* the mask of these rows; NULL: the file has none */
    uint32_t rows;    /* at most */
    uint64_t bytes;   /* of them */
    uint64_t reading; /* bytes for reading them */
} band_ranges;

/* The items of some rows, and their buffers; they must not move. */
typedef struct range_items {
    tz_item items[2];
    size_t count;
    tz_buffer into;
    tz_buffer valid;
} range_items;

static void make_range_items(range_items *out, const conversion *c, const band_ranges *r,
                             uint32_t row, uint32_t rows)
{
    const source_pixels *from = &c->from;
    tz_item *items = out->items;
    *out = (range_items){{TZ_ITEM_INIT, TZ_ITEM_INIT}, 1, TZ_BUFFER_INIT, TZ_BUFFER_INIT};
    out->into.data = r->values;
    out->into.dtype = TZ_DTYPE_FLOAT64;
    out->into.bands = from->band_count;
    out->into.height = out->valid.height = rows;
    out->into.width = out->valid.width = from->window.width;
    items[0].file = c->file;
    items[0].window = from->window;
    items[0].window.row += row;
    items[0].window.height = rows;
    items[1] = items[0];
    items[0].bands = from->bands;
    items[0].band_count = from->band_count;
    items[0].into = &out->into;
    if (r->valid == NULL)
        return;
    out->count = 2;
    out->valid.data = r->valid;
    out->valid.dtype = TZ_DTYPE_UINT8;
    out->valid.bands = 1;
    items[1].mask = true;
    items[1].into = &out->valid;
}

/* Nodata and lost pixels are read as NaN. */
static tz_read_options range_options(const conversion *c)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = c->options.threads;
    how.nodata_to_nan = true;
    how.salvage = c->from.salvage;
    how.has_fill = c->from.salvage;
    how.fill = NAN;
    how.progress = progress_watch();
    return how;
}

static void add_values(double range[2], const double *values, const uint8_t *valid, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || (valid != NULL && valid[i] == 0))
            continue;
        if (values[i] < range[0])
            range[0] = values[i];
        if (values[i] > range[1])
            range[1] = values[i];
    }
}

/* Reads some rows, again with more memory if a tile needs it and --memory does not forbid it. */
static tz_result add_rows(const conversion *c, band_ranges *r, uint32_t row, tz_error *err)
{
    const uint32_t left = c->from.window.height - row;
    const uint32_t rows = left < r->rows ? left : r->rows;
    const size_t count = (size_t)rows * c->from.window.width;
    tz_read_options how = range_options(c);
    range_items made;
    tz_result result;
    make_range_items(&made, c, r, row, rows);
    do {
        how.max_host_bytes = r->reading;
        result = tz_read_batch(made.items, made.count, &how, NULL, err);
        if (result == TZ_OK || !memory_is_short(err))
            break;
        r->reading = memory_needed(err, how.max_host_bytes);
        if (c->bounded && r->reading + r->bytes > c->memory.work)
            return memory_refuse(&c->memory, r->reading + r->bytes, err);
    } while (r->reading > how.max_host_bytes);
    for (uint32_t i = 0; result == TZ_OK && i < c->from.band_count; i++)
        add_values(r->of[i], r->values + i * count, r->valid, count);
    return result;
}

/* Reads all rows, and sets the scales by what was found. */
static tz_result scale_by_values(conversion *c, band_ranges *r, tz_error *err)
{
    static const double nothing[2] = {0, 1}; /* of a band without a value */
    const source_pixels *from = &c->from;
    tz_result result = TZ_OK;
    for (uint32_t i = 0; i < from->band_count; i++) {
        r->of[i][0] = HUGE_VAL;
        r->of[i][1] = -HUGE_VAL;
    }
    for (uint64_t at = 0; result == TZ_OK && at < from->window.height; at += r->rows)
        result = add_rows(c, r, (uint32_t)at, err);
    for (uint32_t i = 0; result == TZ_OK && i < from->band_count; i++)
        set_band_scale(c, i, r->of[i][0] <= r->of[i][1] ? r->of[i] : nothing);
    return result;
}

/* Half of the memory is for reading, or what the first tiles need; half of the rest for values, or
 * one row of them. */
static void share_range_memory(const conversion *c, band_ranges *r, bool has_mask)
{
    static double nowhere; /* a plan needs a buffer, and stores nothing there */
    const uint64_t work = c->memory.work;
    const uint32_t height = c->from.window.height;
    const tz_read_options how = range_options(c);
    range_items made;
    r->values = &nowhere;
    r->valid = has_mask ? (uint8_t *)&nowhere : NULL;
    make_range_items(&made, c, r, 0, 1);
    const uint64_t needed = memory_to_read(made.items, made.count, &how);
    r->reading = needed > work / 2 ? needed : work / 2;
    const uint64_t most = r->reading < work ? (work - r->reading) / 2 / r->bytes : 0;
    r->rows = most < 1 ? 1 : most < height ? (uint32_t)most : height;
    r->bytes *= r->rows;
    r->valid = NULL;
}

tz_result conversion_find_scales(conversion *c, tz_error *err)
{
    const source_pixels *from = &c->from;
    if (c->settings->edit.scale != EDIT_SCALE_AUTO)
        return TZ_OK;
    const bool has_mask = c->mask_of == MASK_OF_FILE;
    const uint64_t row = from->window.width * (from->band_count * sizeof(double) + has_mask);
    band_ranges r = {.rows = 1, .bytes = row};
    share_range_memory(c, &r, has_mask);
    if (c->bounded && r.reading + r.bytes > c->memory.work)
        return memory_refuse(&c->memory, r.reading + r.bytes, err);
    r.of = malloc(from->band_count * sizeof *r.of);
    r.values = r.bytes <= SIZE_MAX ? malloc((size_t)r.bytes) : NULL;
    if (has_mask && r.values != NULL) /* after all values */
        r.valid = (uint8_t *)(r.values + (size_t)from->band_count * from->window.width * r.rows);
    tz_result result = r.of != NULL && r.values != NULL ? scale_by_values(c, &r, err)
                                                        : problem_nomem(err, "pixels");
    free(r.values);
    free(r.of);
    return result;
}
