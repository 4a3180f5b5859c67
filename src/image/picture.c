/* SPDX-License-Identifier: Apache-2.0
 * Pixels as rows of a picture: which bands are which colours, and which pixels are transparent.
 *
 * tz_picture_init reads the options; tz_picture_prepare looks at the samples, for ranges and for
 * transparency, which adds the alpha channel; tz_picture_paint then makes row by row. A row passes
 * through three steps: each band becomes bytes (those of 8 bits by a table, others by their
 * range), the bytes become colours by the model, and a background goes under them. */
#include "image/picture.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "image/stretch.h"
#include "pixel/pixel.h"

#define FULL_BYTE 255

static tz_result fail_image_arg(const tz_context *ctx, uint64_t expected, uint64_t found,
                                const char *text)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), expected, found),
                   "%s", text);
}

/* ---------------------------------------------------------------------------------------------
 * Buffers
 * ------------------------------------------------------------------------------------------ */

/* The only place that knows where the memory of a buffer is. */
tz_result tz_picture_copy_buffer(tz_pixel_buffer *out, const tz_buffer *given, const char *argument,
                                 const tz_context *ctx)
{
    tz_buffer whole = TZ_BUFFER_INIT;
    if (!given)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s is NULL", argument);
    TZ_TRY(tz_copy_struct(&whole, sizeof whole, given, argument, "TZ_BUFFER_INIT", ctx));
    if (whole.memory != TZ_MEMORY_KIND_HOST)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is in device memory; pictures are made in host memory", argument);
    *out = tz_pixel_buffer_of_shape(&whole);
    out->data = whole.data ? (uint8_t *)whole.data + whole.offset : NULL;
    if (tz_dtype_size(out->dtype) == 0 || out->dtype >= TZ_DTYPE_COMPLEX_INT16)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is of type %s; a picture is made of real numbers", argument,
                       tz_dtype_name(out->dtype));
    if (out->width == 0 || out->height == 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s is empty", argument);
    if (!tz_pixel_buffer_set_strides(out))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s is larger than memory",
                       argument);
    return TZ_OK;
}

static tz_result copy_mask(tz_picture *p, const tz_buffer *mask, const tz_context *ctx)
{
    if (!mask)
        return TZ_OK;
    TZ_TRY(tz_picture_copy_buffer(&p->mask, mask, "mask", ctx));
    if (!p->mask.data)
        return fail_image_arg(ctx, TZ_NO_VALUE, TZ_NO_VALUE, "the mask has no memory");
    if (p->mask.dtype != TZ_DTYPE_UINT8)
        return fail_image_arg(ctx, TZ_DTYPE_UINT8, (uint64_t)p->mask.dtype,
                              "the mask of a picture is not of type uint8");
    if (p->mask.width != p->pixels.width || p->mask.height != p->pixels.height)
        return fail_image_arg(ctx, p->pixels.width, p->mask.width,
                              "the mask has another size than the picture");
    if (p->mask.bands != 1 && p->mask.bands != p->pixels.bands)
        return fail_image_arg(ctx, p->pixels.bands, p->mask.bands,
                              "the mask has neither one band nor those of the picture");
    return TZ_OK;
}

static const uint8_t *mask_row(const tz_picture *p, uint32_t band, uint32_t y)
{
    return tz_buffer_at(&p->mask, p->mask.bands == 1 ? 0 : band, y, 0);
}

/* ---------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------ */

/* Files store 8-bit colours in 16 bits in three ways, and GDAL distinguishes them so. */
void tz_color_map_to_rgb(uint8_t *rgb, const uint16_t *color_map, uint32_t size)
{
    const size_t count = size;
    unsigned divisor = 1;
    bool multiples = true;
    for (size_t i = 0; i < 3 * count; i++) {
        multiples = multiples && color_map[i] % 256 == 0;
        if (color_map[i] > 255)
            divisor = 257;
    }
    if (multiples)
        divisor = 256;
    for (size_t i = 0; i < count; i++)
        for (size_t part = 0; part < 3; part++)
            rgb[3 * i + part] = (uint8_t)(color_map[part * count + i] / divisor);
}

/* Sets colours and alpha from the model and the number of bands. */
static tz_result set_model(tz_picture *p, const tz_context *ctx)
{
    static const uint32_t colors[] = {[TZ_IMAGE_MODEL_GREY] = 1,
                                      [TZ_IMAGE_MODEL_INVERTED] = 1,
                                      [TZ_IMAGE_MODEL_RGB] = 3,
                                      [TZ_IMAGE_MODEL_YCBCR] = 3,
                                      [TZ_IMAGE_MODEL_CMYK] = 4};
    const tz_image_options *options = p->options;
    const uint32_t bands = p->pixels.bands;
    tz_image_model model = options->model;
    if (model == TZ_IMAGE_MODEL_AUTO)
        model = bands <= 2 ? TZ_IMAGE_MODEL_GREY : TZ_IMAGE_MODEL_RGB;
    p->colors = colors[model];
    if (bands != p->colors && bands != p->colors + 1)
        return fail_image_arg(ctx, p->colors, bands,
                              "a picture has the bands of its colours, and one of alpha at most");
    const bool stretched = options->stretch == TZ_CHOICE_YES;
    p->has_alpha = bands > p->colors;
    p->palette = options->color_map && p->colors == 1 && !stretched;
    p->cmyk = model == TZ_IMAGE_MODEL_CMYK;
    p->ycbcr = model == TZ_IMAGE_MODEL_YCBCR && !stretched;
    p->inverted = model == TZ_IMAGE_MODEL_INVERTED;
    p->may_be_nan = p->pixels.dtype >= TZ_DTYPE_FLOAT16;
    if (options->range_count != 0 && options->range_count != p->colors)
        return fail_image_arg(ctx, p->colors, options->range_count,
                              "a picture has a range for each of its colours, or none");
    return TZ_OK;
}

tz_result tz_picture_init(tz_picture *p, const tz_buffer *pixels, const tz_buffer *mask,
                          const tz_image_options *options, const tz_context *ctx)
{
    *p = (tz_picture){.options = options};
    TZ_TRY(tz_picture_copy_buffer(&p->pixels, pixels, "pixels", ctx));
    TZ_TRY(copy_mask(p, mask, ctx));
    TZ_TRY(set_model(p, ctx));
    p->flat = options->background != NULL;
    p->painted = (p->palette || p->colors >= 3 ? 3 : 1) + 1; /* the most, until it is prepared */
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------------------------------ */

/* Returns the largest sample: by the bits of unsigned integers, and 1 for other types. */
static double full_of(const tz_picture *p)
{
    if (p->options->bits != 0)
        return (double)(((uint64_t)1 << p->options->bits) - 1);
    return p->pixels.dtype == TZ_DTYPE_UINT8 ? 255 : p->pixels.dtype == TZ_DTYPE_UINT16 ? 65535 : 1;
}

static tz_stretch_band band_of(const tz_picture *p, uint32_t band)
{
    const bool masked = p->mask.data != NULL;
    return (tz_stretch_band){.dtype = p->pixels.dtype,
                             .height = p->pixels.height,
                             .width = p->pixels.width,
                             .samples = tz_buffer_at(&p->pixels, band, 0, 0),
                             .row_stride = p->pixels.row_stride,
                             .column_stride = p->pixels.column_stride,
                             .mask = masked ? mask_row(p, band, 0) : NULL,
                             .mask_row_stride = p->mask.row_stride,
                             .mask_column_stride = p->mask.column_stride};
}

/* Returns true for classes and the like: one band of bytes that uses less than a quarter of the
 * range. A single value is not stretched. */
static bool is_narrow(const tz_picture *p)
{
    const tz_stretch_band band = band_of(p, 0);
    const tz_image_range extent = tz_stretch_extent(&band);
    const double width = extent.high - extent.low;
    return width > 0 && width < (full_of(p) + 1) / 4;
}

static bool wants_stretch(const tz_picture *p)
{
    if (p->options->stretch != TZ_CHOICE_AUTO)
        return p->options->stretch == TZ_CHOICE_YES;
    if (p->palette)
        return false;
    return p->pixels.dtype != TZ_DTYPE_UINT8 || (p->colors == 1 && is_narrow(p));
}

tz_result tz_picture_measure(const tz_picture *p, tz_image_range *ranges, uint32_t *count,
                             const tz_context *ctx)
{
    tz_image_range found[TZ_IMAGE_MAX_COLORS];
    if (!wants_stretch(p)) {
        *count = 0;
        return TZ_OK;
    }
    for (uint32_t i = 0; i < p->colors; i++) {
        const tz_stretch_band band = band_of(p, i);
        TZ_TRY(tz_stretch_measure(&found[i], &band, ctx));
    }
    memcpy(ranges, found, p->colors * sizeof *found);
    *count = p->colors;
    return TZ_OK;
}

/* Sets black and white of each band, and the tables for samples of 8 bits. Without a stretch, few
 * bits fill the range; wider types are clipped at 255, but alpha never is. */
static tz_result set_ranges(tz_picture *p, uint32_t *stretched, const tz_context *ctx)
{
    const double full = full_of(p);
    for (uint32_t band = 0; band < TZ_PICTURE_MAX_BANDS; band++) {
        const bool clip = p->pixels.dtype != TZ_DTYPE_UINT8 && band < p->colors;
        p->ranges[band] = (tz_image_range){0, clip ? FULL_BYTE : full};
    }
    *stretched = p->options->range_count;
    if (*stretched > 0)
        memcpy(p->ranges, p->options->ranges, *stretched * sizeof *p->ranges);
    else
        TZ_TRY(tz_picture_measure(p, p->ranges, stretched, ctx));
    for (uint32_t band = 0; band < p->pixels.bands; band++) {
        for (unsigned value = 0; value < 256; value++)
            p->bytes[band][value] = tz_stretch_apply(p->ranges[band], value);
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Bands of a row
 * ------------------------------------------------------------------------------------------ */

static const double *read_values(const tz_picture *p, uint32_t band, uint32_t y)
{
    const tz_conversion to_double = {.from = p->pixels.dtype, .to = TZ_DTYPE_FLOAT64};
    tz_row_convert(&to_double, tz_buffer_at(&p->pixels, band, y, 0),
                   (ptrdiff_t)p->pixels.column_stride, (uint8_t *)p->values, sizeof *p->values,
                   p->pixels.width, NULL, 0);
    return p->values;
}

/* valid is a pointer of its own here and below: bytes might be those of the picture otherwise, and
 * the loops could not be vectorised. */
static void and_mask(const tz_picture *p, uint32_t band, uint32_t y)
{
    const uint8_t *flags = mask_row(p, band, y);
    const ptrdiff_t step = (ptrdiff_t)p->mask.column_stride;
    const uint32_t width = p->pixels.width;
    uint8_t *restrict valid = p->valid;
    if (step == 1)
        for (uint32_t x = 0; x < width; x++)
            valid[x] = flags[x] != 0 ? valid[x] : 0;
    else
        for (uint32_t x = 0; x < width; x++, flags += step)
            valid[x] = *flags != 0 ? valid[x] : 0;
}

static void and_numbers(const tz_picture *p, const double *values)
{
    const uint32_t width = p->pixels.width;
    uint8_t *restrict valid = p->valid;
    for (uint32_t x = 0; x < width; x++)
        valid[x] = values[x] == values[x] ? valid[x] : 0;
}

/* Makes bytes of a band. A palette needs its values instead, which stay in p->values. */
static void read_band(const tz_picture *p, uint32_t band, uint32_t y)
{
    uint8_t *to = p->planes[band];
    const uint32_t width = p->pixels.width;
    const bool is_color = band < p->colors;
    if (p->pixels.dtype == TZ_DTYPE_UINT8) {
        const uint8_t *from = tz_buffer_at(&p->pixels, band, y, 0);
        const uint8_t *bytes = p->bytes[band];
        const ptrdiff_t step = (ptrdiff_t)p->pixels.column_stride;
        for (uint32_t x = 0; x < width; x++, from += step)
            to[x] = bytes[*from];
        return;
    }
    const double *values = read_values(p, band, y);
    const tz_image_range range = p->ranges[band];
    if (is_color && p->may_be_nan && p->transparent)
        and_numbers(p, values);
    for (uint32_t x = 0; x < width; x++)
        to[x] = tz_stretch_apply(range, values[x]);
}

/* Reads all bands of a row, alpha first: a palette leaves the values of its band to the painter. */
static void read_row(const tz_picture *p, uint32_t y)
{
    if (p->transparent) {
        memset(p->valid, 255, p->pixels.width);
        for (uint32_t band = 0; p->mask.data && band < p->colors; band++)
            if (band == 0 || p->mask.bands > 1)
                and_mask(p, band, y);
    }
    if (p->has_alpha && p->transparent)
        read_band(p, p->colors, y);
    for (uint32_t band = 0; band < p->colors; band++) {
        if (!p->palette) {
            read_band(p, band, y);
            continue;
        }
        const double *values = read_values(p, band, y);
        if (p->may_be_nan && p->transparent)
            and_numbers(p, values);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Colours of a pixel
 * ------------------------------------------------------------------------------------------ */

static void paint_palette(const tz_picture *p, uint32_t x, uint8_t *to)
{
    const double value = p->values[x];
    if (value >= 0 && value < p->options->color_map_size)
        memcpy(to, p->map + 3 * (size_t)value, 3);
    else
        memset(to, 0, 3); /* an index without a colour */
}

static uint8_t color_at(const tz_picture *p, uint32_t band, uint32_t x, uint8_t alpha)
{
    const uint8_t color = p->planes[band][x];
    const uint8_t shown = p->inverted ? (uint8_t)(255 - color) : color;
    if (!p->premultiplied)
        return shown;
    const unsigned whole = (shown * 255u + alpha / 2u) / alpha;
    return (uint8_t)(whole < 255 ? whole : 255);
}

/* Without a colour profile: each ink, and black, absorbs its share of the light. */
static void paint_cmyk(const tz_picture *p, uint32_t x, uint8_t alpha, uint8_t *to)
{
    const unsigned black = color_at(p, 3, x, alpha);
    for (uint32_t band = 0; band < 3; band++) {
        const unsigned ink = color_at(p, band, x, alpha);
        to[band] = (uint8_t)(((255 - ink) * (255 - black) + 127) / 255);
    }
}

static uint8_t clip_to_byte(double value)
{
    return (uint8_t)(value <= 0 ? 0 : value >= 255 ? 255 : value + 0.5);
}

/* By the coefficients of ITU-R BT.601 over the full range, the default of TIFF and the rule of
 * JPEG. */
static void paint_ycbcr(const tz_picture *p, uint32_t x, uint8_t alpha, uint8_t *to)
{
    const double y = color_at(p, 0, x, alpha);
    const double blue = color_at(p, 1, x, alpha) - 128.0;
    const double red = color_at(p, 2, x, alpha) - 128.0;
    to[0] = clip_to_byte(y + 1.402 * red);
    to[1] = clip_to_byte(y - 0.344136 * blue - 0.714136 * red);
    to[2] = clip_to_byte(y + 1.772 * blue);
}

/* Paints the colours of a pixel; alpha is not 0. */
static void paint_colors(const tz_picture *p, uint32_t x, uint8_t alpha, uint8_t *to)
{
    if (p->palette)
        paint_palette(p, x, to);
    else if (p->cmyk)
        paint_cmyk(p, x, alpha, to);
    else if (p->ycbcr)
        paint_ycbcr(p, x, alpha, to);
    else
        for (uint32_t band = 0; band < p->colors; band++)
            to[band] = color_at(p, band, x, alpha);
}

/* ---------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------ */

/* Returns true if bytes of the bands are the row, but for their order. */
static bool is_plain(const tz_picture *p)
{
    return !p->palette && !p->cmyk && !p->ycbcr && !p->inverted && !p->transparent;
}

/* Joins the bands of a plain row. */
static void join_bands(const tz_picture *p, uint8_t *to)
{
    const uint32_t width = p->pixels.width;
    if (p->colors == 1) {
        memcpy(to, p->planes[0], width);
        return;
    }
    const uint8_t *const red = p->planes[0], *const green = p->planes[1],
                         *const blue = p->planes[2];
    for (uint32_t x = 0; x < width; x++, to += 3) {
        to[0] = red[x];
        to[1] = green[x];
        to[2] = blue[x];
    }
}

static void paint_row(const tz_picture *p, uint8_t *to)
{
    const uint32_t alpha_channel = p->painted - 1;
    if (is_plain(p)) {
        join_bands(p, to);
        return;
    }
    for (uint32_t x = 0; x < p->pixels.width; x++, to += p->painted) {
        uint8_t alpha = 255;
        if (p->transparent) {
            alpha = p->valid[x] & (p->has_alpha ? p->planes[p->colors][x] : 255);
            to[alpha_channel] = alpha;
        }
        if (alpha != 0)
            paint_colors(p, x, alpha, to);
        else
            memset(to, 0, alpha_channel); /* an invisible pixel has no colour */
    }
}

/* Puts the background under a row. A grey row stays grey if the background is. */
static void lay_over(const tz_picture *p, const uint8_t *from, uint8_t *to)
{
    const uint8_t *under = p->options->background;
    const bool from_grey = p->painted == 2;
    for (uint32_t x = 0; x < p->pixels.width; x++, from += p->painted, to += p->channels) {
        const unsigned alpha = from[p->painted - 1];
        for (uint32_t i = 0; i < p->channels; i++)
            to[i] =
                (uint8_t)((from[from_grey ? 0 : i] * alpha + under[i] * (255 - alpha) + 127) / 255);
    }
}

void tz_picture_paint(const tz_picture *p, uint32_t y, uint8_t *to)
{
    const bool over = p->flat && p->transparent;
    read_row(p, y);
    paint_row(p, over ? p->row : to);
    if (over)
        lay_over(p, p->row, to);
}

/* ---------------------------------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------------------------------ */

/* Returns true if a pixel is not opaque. */
static bool find_transparent(const tz_picture *p)
{
    const uint32_t width = p->pixels.width;
    if (!p->mask.data && !p->may_be_nan && !p->has_alpha)
        return false;
    for (uint32_t y = 0; y < p->pixels.height; y++) {
        memset(p->valid, 255, width);
        for (uint32_t band = 0; p->mask.data && band < p->colors; band++)
            if (band == 0 || p->mask.bands > 1)
                and_mask(p, band, y);
        for (uint32_t band = 0; p->may_be_nan && band < p->colors; band++)
            and_numbers(p, read_values(p, band, y));
        if (p->has_alpha) {
            read_band(p, p->colors, y);
            for (uint32_t x = 0; x < width; x++)
                p->valid[x] &= p->planes[p->colors][x];
        }
        for (uint32_t x = 0; x < width; x++)
            if (p->valid[x] != 255)
                return true;
    }
    return false;
}

/* A row of doubles, a byte for each band, and one for validity and each painted channel. */
static uint64_t row_bytes(const tz_picture *p)
{
    return (sizeof(double) + p->pixels.bands + 1 + 4) * (uint64_t)p->pixels.width;
}

uint64_t tz_picture_bytes(const tz_picture *p)
{
    return row_bytes(p) + (p->palette ? 3 * (uint64_t)p->options->color_map_size : 0);
}

static tz_result allocate_row(tz_picture *p, const tz_context *ctx)
{
    const size_t width = p->pixels.width;
    size_t size;
    if (tz_to_size(tz_picture_bytes(p), &size))
        p->memory = tz_alloc(size);
    if (!p->memory)
        return tz_fail_nomem(ctx, tz_picture_bytes(p));
    p->values = (double *)(void *)p->memory;
    p->valid = p->memory + width * sizeof(double);
    p->row = p->valid + width;
    for (uint32_t band = 0; band < p->pixels.bands; band++)
        p->planes[band] = p->row + width * (4 + (size_t)band);
    p->map = p->memory + row_bytes(p);
    if (p->palette)
        tz_color_map_to_rgb(p->map, p->options->color_map, p->options->color_map_size);
    return TZ_OK;
}

/* Ranges come before transparency, which depends on the mask and not on colours; premultiplied
 * alpha is undone only if nothing is stretched. A band of alpha makes a channel, opaque or not,
 * unless the format has none. */
tz_result tz_picture_prepare(tz_picture *p, const char *opaque_format, const tz_context *ctx)
{
    uint32_t stretched;
    const uint8_t *under = p->options->background;
    TZ_TRY(allocate_row(p, ctx));
    TZ_TRY(set_ranges(p, &stretched, ctx));
    p->premultiplied = p->has_alpha && p->options->premultiplied && stretched == 0;
    p->transparent = (p->has_alpha && !opaque_format && !p->flat) || find_transparent(p);
    if (p->transparent && opaque_format && !p->flat)
        return tz_fail(
            ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
            "%s has no alpha channel, and some pixels are transparent: give a background",
            opaque_format);
    const uint32_t colors = p->palette || p->colors >= 3 ? 3 : 1;
    p->painted = colors + p->transparent;
    p->channels = p->painted;
    if (p->flat && p->transparent)
        p->channels = colors == 1 && under[0] == under[1] && under[1] == under[2] ? 1 : 3;
    return TZ_OK;
}

void tz_picture_deinit(tz_picture *p)
{
    tz_free(p->memory);
    p->memory = NULL;
}
