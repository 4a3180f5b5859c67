/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture: which bands, which colours, which pixels are transparent.
 *
 * picture_choose_bands runs before the read and picks the bands; picture_paint gets the pixels of
 * all of them and sends rows of 1 to 4 channels to a sink, a PNG or the terminal. A painter holds
 * the decisions for the whole picture: the range of values of each band, its colour model, and
 * whether anything is transparent, which adds the alpha channel. 8-bit samples go through a table
 * of 256 bytes for each band. */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "color_table.h"
#include "png.h"
#include "problem.h"
#include "sample.h"
#include "stretch_pixels.h"
#include "terminal.h"
#include "text.h"

#define MIN_IS_WHITE 0
#define MAX_BANDS    (PICTURE_COLORS + 1) /* of a picture: CMYK and alpha */
#define FULL_BYTE    255

bool picture_apply(stretch_mode *mode, int id)
{
    stretch_mode asked = id == PICTURE_STRETCH ? STRETCH_ON : STRETCH_OFF;
    if (*mode != STRETCH_AUTO && *mode != asked)
        return term_usage("--stretch and --no-stretch do not go together", NULL, "") == EXIT_OK;
    *mode = asked;
    return true;
}

/* Bands ---------------------------------------------------------------------------------------- */

static tz_color color_of(const request *r, uint32_t band)
{
    const tz_band *info = tz_file_get_band(r->file, band);
    return info != NULL ? info->color : TZ_COLOR_UNDEFINED;
}

/* Returns the first band of a colour, or UINT32_MAX. Colours are among the first bands. */
static uint32_t find_color(const request *r, tz_color color)
{
    uint32_t max = r->info->bands < 16 ? r->info->bands : 16;
    for (uint32_t i = 0; i < max; i++) {
        if (color_of(r, i) == color)
            return i;
    }
    return UINT32_MAX;
}

/* Colours that make a picture together. */
static const tz_color models[][4] = {
    {TZ_COLOR_RED, TZ_COLOR_GREEN, TZ_COLOR_BLUE, TZ_COLOR_UNDEFINED},
    {TZ_COLOR_Y, TZ_COLOR_CB, TZ_COLOR_CR, TZ_COLOR_UNDEFINED},
    {TZ_COLOR_CYAN, TZ_COLOR_MAGENTA, TZ_COLOR_YELLOW, TZ_COLOR_BLACK},
};

/* Finds the bands of a model. Returns their number; 0 if one is missing. */
static uint32_t find_model(const request *r, const tz_color model[4], uint32_t *bands)
{
    uint32_t count = 0;
    for (; count < 4 && model[count] != TZ_COLOR_UNDEFINED; count++) {
        bands[count] = find_color(r, model[count]);
        if (bands[count] == UINT32_MAX)
            return 0;
    }
    return count;
}

static tz_result choose_by_color(request *r, tz_error *err)
{
    uint32_t *bands = malloc(MAX_BANDS * sizeof *bands);
    if (bands == NULL)
        return problem_nomem(err, "the list of bands");
    r->bands = bands;
    for (size_t i = 0; i < sizeof models / sizeof models[0] && r->band_count == 0; i++)
        r->band_count = find_model(r, models[i], bands);
    if (r->band_count == 0) {
        bands[0] = 0;
        r->band_count = 1;
    }
    uint32_t alpha = find_color(r, TZ_COLOR_ALPHA);
    if (alpha != UINT32_MAX && alpha != bands[0])
        bands[r->band_count++] = alpha;
    return TZ_OK;
}

static bool request_ends_in_alpha(const request *r)
{
    return r->band_count > 1 && color_of(r, r->bands[r->band_count - 1]) == TZ_COLOR_ALPHA;
}

static bool is_cmyk(const request *r, uint32_t colors)
{
    return colors == 4 && color_of(r, r->bands[0]) == TZ_COLOR_CYAN &&
           color_of(r, r->bands[3]) == TZ_COLOR_BLACK;
}

bool picture_has_palette(const request *r)
{
    return r->info->color_map != NULL && r->bands[0] == 0 && !r->how.scaled;
}

/* Entries of a colour map are names, not amounts: only methods that pick one of them make sense. */
static tz_result check_resampling(const request *r, tz_error *err)
{
    if (r->how.resampling <= TZ_RESAMPLING_NEAREST || r->how.resampling == TZ_RESAMPLING_MODE ||
        !picture_has_palette(r))
        return TZ_OK;
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        "by %s numbers in a colour map become no colour; use --resampling nearest "
                        "or mode",
                        tz_resampling_name(r->how.resampling));
}

tz_result picture_choose_bands(request *r, tz_error *err)
{
    const char *asked = r->settings->bands;
    tz_result result = asked == NULL
                           ? choose_by_color(r, err)
                           : band_list_read(asked, r->info->bands, &r->bands, &r->band_count, err);
    if (result == TZ_OK)
        result = check_resampling(r, err);
    if (result != TZ_OK)
        return result;
    uint32_t colors = r->band_count - request_ends_in_alpha(r);
    if (colors == 1 || colors == 3 || is_cmyk(r, colors))
        return TZ_OK;
    return problem_make(
        err, TZ_ERR_ARG, TZ_CAUSE_ARG,
        "a picture shows one band or three, and alpha after them; choose with --bands");
}

/* Colours -------------------------------------------------------------------------------------- */

/* The conversion of samples to bytes of a row. */
typedef struct painter {
    const tz_buffer *pixels;
    const tz_buffer *mask;
    const request *r;
    unsigned colors; /* bands of colour: 1, 3, or 4 of CMYK */
    bool has_alpha;  /* a band of alpha after them */
    bool premultiplied;
    bool palette;
    color_table table; /* of a palette */
    bool cmyk;
    bool ycbcr;
    bool inverted;
    bool may_be_nan;
    const void *planes[MAX_BANDS];
    const unsigned char *masks[MAX_BANDS];
    stretch range[MAX_BANDS];
    picture_stretch *done;
    unsigned char bytes[MAX_BANDS][256]; /* by sample of 8 bits */
    bool transparent;                    /* the picture has an alpha channel */
    unsigned channels;
} painter;

static const void *plane_of(const tz_buffer *buffer, unsigned band)
{
    size_t plane = (size_t)buffer->height * buffer->width * tz_dtype_size(buffer->dtype);
    return (const char *)buffer->data + band * plane;
}

static double value_at(const painter *p, unsigned band, size_t index)
{
    return sample_real(p->pixels->dtype, p->planes[band], index);
}

/* Returns a sample as 0 to 255. */
static unsigned char byte_at(const painter *p, unsigned band, size_t index)
{
    if (p->pixels->dtype == TZ_DTYPE_UINT8)
        return p->bytes[band][((const unsigned char *)p->planes[band])[index]];
    return stretch_apply(&p->range[band], value_at(p, band, index));
}

/* A pixel is visible if all of its colours are valid. */
static bool is_valid(const painter *p, size_t index)
{
    for (unsigned band = 0; band < p->colors; band++) {
        if (p->masks[band][index] == 0 || (p->may_be_nan && isnan(value_at(p, band, index))))
            return false;
    }
    return true;
}

static unsigned char alpha_at(const painter *p, size_t index)
{
    unsigned char alpha = p->has_alpha ? byte_at(p, p->colors, index) : 255;
    /* without a mask of its own the file's mask is made from alpha, and alpha is finer */
    if (p->has_alpha && !tz_file_get_level(p->r->file, 0)->has_mask &&
        p->r->info->nodata.kind == TZ_NODATA_NONE)
        return alpha;
    return is_valid(p, index) ? alpha : 0;
}

static void paint_palette(const painter *p, size_t index, unsigned char *to)
{
    double value = value_at(p, 0, index);
    if (value >= 0 && value < p->table.size)
        color_table_get(&p->table, (uint32_t)value, to);
    else
        memset(to, 0, 3); /* an index without a colour */
}

static unsigned char paint_color(const painter *p, unsigned band, size_t index, unsigned char alpha)
{
    unsigned char color = byte_at(p, band, index);
    if (p->inverted)
        color = (unsigned char)(255 - color);
    if (!p->premultiplied || alpha == 0)
        return color;
    unsigned whole = (color * 255u + alpha / 2u) / alpha;
    return (unsigned char)(whole < 255 ? whole : 255);
}

/* Without a colour profile: each ink, and black, absorbs its share of the light. */
static void paint_cmyk(const painter *p, size_t index, unsigned char alpha, unsigned char *to)
{
    unsigned black = paint_color(p, 3, index, alpha);
    for (unsigned band = 0; band < 3; band++) {
        unsigned ink = paint_color(p, band, index, alpha);
        to[band] = (unsigned char)(((255 - ink) * (255 - black) + 127) / 255);
    }
}

static unsigned char to_byte(double value)
{
    return (unsigned char)(value <= 0 ? 0 : value >= 255 ? 255 : value + 0.5);
}

/* By the coefficients of ITU-R BT.601 over the full range, the default of TIFF and the rule of
 * JPEG.
 */
static void paint_ycbcr(const painter *p, size_t index, unsigned char alpha, unsigned char *to)
{
    double y = paint_color(p, 0, index, alpha);
    double blue = paint_color(p, 1, index, alpha) - 128.0;
    double red = paint_color(p, 2, index, alpha) - 128.0;
    to[0] = to_byte(y + 1.402 * red);
    to[1] = to_byte(y - 0.344136 * blue - 0.714136 * red);
    to[2] = to_byte(y + 1.772 * blue);
}

static void paint_pixel(const painter *p, size_t index, unsigned char *to)
{
    unsigned char alpha = p->transparent ? alpha_at(p, index) : 255;
    unsigned colors = p->channels - p->transparent;
    if (p->transparent)
        to[colors] = alpha;
    if (alpha == 0)
        memset(to, 0, colors); /* an invisible pixel has no colour */
    else if (p->palette)
        paint_palette(p, index, to);
    else if (p->cmyk)
        paint_cmyk(p, index, alpha, to);
    else if (p->ycbcr)
        paint_ycbcr(p, index, alpha, to);
    else
        for (unsigned band = 0; band < colors; band++)
            to[band] = paint_color(p, band, index, alpha);
}

/* Preparation ---------------------------------------------------------------------------------- */

static bool is_anything_transparent(const painter *p)
{
    size_t count = (size_t)p->pixels->height * p->pixels->width;
    bool masked = false;
    for (unsigned band = 0; band < p->colors; band++)
        masked = masked || memchr(p->masks[band], 0, count) != NULL;
    if (!masked && !p->may_be_nan && !p->has_alpha)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (alpha_at(p, i) < 255)
            return true;
    }
    return false;
}

/* Returns the largest sample: by the bits of unsigned integers, and 1 for other types. */
static double full_of(const request *r)
{
    unsigned bits = r->info->bits_per_sample;
    if (r->dtype == r->info->dtype && r->info->sample_format == TZ_SAMPLE_FORMAT_UINT && bits < 32)
        return (double)(((uint64_t)1 << bits) - 1);
    return r->dtype == TZ_DTYPE_UINT8 ? 255 : r->dtype == TZ_DTYPE_UINT16 ? 65535 : 1;
}

/* Sets black and white without a stretch. Few bits fill the range; wider types are clipped at 255,
 * but alpha never is. */
static void set_plain_ranges(painter *p)
{
    double full = full_of(p->r);
    for (unsigned band = 0; band < MAX_BANDS; band++) {
        bool cut = p->pixels->dtype != TZ_DTYPE_UINT8 && band < p->colors;
        p->range[band] = (stretch){0, cut ? FULL_BYTE : full};
    }
}

/* Returns true for classes and the like: one band of bytes, not asked for by --dtype, that uses
 * less than a quarter of the range. A single value is not stretched. */
static bool is_narrow(const painter *p, const stretch_pixels *few)
{
    size_t count = (size_t)few->pixels.height * few->pixels.width;
    if (p->colors != 1 || p->r->settings->dtype != TZ_DTYPE_NONE)
        return false;
    stretch extent = stretch_extent(few->pixels.dtype, few->pixels.data, few->mask.data, count);
    double width = extent.high - extent.low;
    return width > 0 && width < (full_of(p->r) + 1) / 4;
}

/* Returns true if pixels must be measured: to stretch them, or to find that there is no need. */
static bool may_stretch(const painter *p, stretch_mode mode)
{
    if (mode != STRETCH_AUTO)
        return mode == STRETCH_ON;
    return !p->palette && (p->pixels->dtype != TZ_DTYPE_UINT8 || p->colors == 1);
}

/* Sets black and white of each band: by the type, or by the pixels if they are stretched. */
static tz_result set_ranges(painter *p, stretch_mode mode, tz_error *err)
{
    stretch_pixels few = {0};
    set_plain_ranges(p);
    *p->done = (picture_stretch){0};
    if (!may_stretch(p, mode))
        return TZ_OK;
    tz_result result = stretch_pixels_get(&few, p->r, p->pixels, p->mask, err);
    if (result != TZ_OK)
        return result;
    if (mode == STRETCH_ON || p->pixels->dtype != TZ_DTYPE_UINT8 || is_narrow(p, &few)) {
        size_t count = (size_t)few.pixels.height * few.pixels.width;
        *p->done = (picture_stretch){.count = p->colors, .level = few.level};
        for (unsigned band = 0; band < p->colors; band++) {
            p->range[band] = stretch_measure(few.pixels.dtype, plane_of(&few.pixels, band),
                                             plane_of(&few.mask, band), count);
            p->done->range[band] = p->range[band];
        }
    }
    stretch_pixels_free(&few);
    return TZ_OK;
}

/* Fills the tables for samples of 8 bits. */
static void set_bytes(painter *p)
{
    for (unsigned band = 0; band < MAX_BANDS; band++) {
        for (unsigned value = 0; value < 256; value++)
            p->bytes[band][value] = stretch_apply(&p->range[band], value);
    }
}

/* Decides all that is the same for every pixel. Ranges come before transparency, which depends on
 * the mask and not on colours; premultiplied alpha is undone only if nothing is stretched. */
static tz_result prepare_painter(painter *p, stretch_mode mode, tz_error *err)
{
    const request *r = p->r;
    const tz_info *info = r->info;
    p->may_be_nan = r->dtype >= TZ_DTYPE_FLOAT16;
    for (unsigned band = 0; band < r->band_count; band++) {
        p->planes[band] = plane_of(p->pixels, band);
        p->masks[band] = plane_of(p->mask, band);
    }
    p->has_alpha = request_ends_in_alpha(r);
    p->colors = r->band_count - p->has_alpha;
    p->palette = picture_has_palette(r) && p->colors == 1 && mode != STRETCH_ON;
    p->table = color_table_of(info);
    p->cmyk = is_cmyk(r, p->colors);
    p->ycbcr = p->colors == 3 && color_of(r, r->bands[0]) == TZ_COLOR_Y &&
               color_of(r, r->bands[2]) == TZ_COLOR_CR && mode != STRETCH_ON;
    p->inverted = info->photometric == MIN_IS_WHITE && p->colors == 1;
    tz_result result = set_ranges(p, mode, err);
    if (result != TZ_OK)
        return result;
    set_bytes(p);
    uint32_t extra = info->extra_sample_count;
    p->premultiplied = p->has_alpha && extra > 0 && p->done->count == 0 &&
                       info->extra_samples[extra - 1] == TZ_EXTRA_SAMPLE_PREMULTIPLIED;
    p->transparent = is_anything_transparent(p) || p->has_alpha;
    p->channels = (p->palette || p->cmyk ? 3 : p->colors) + p->transparent;
    return TZ_OK;
}

tz_result picture_paint(const picture_sink *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, stretch_mode mode, picture_stretch *done,
                        tz_error *err)
{
    painter p = {.pixels = pixels, .mask = mask, .r = r, .done = done};
    tz_result result = prepare_painter(&p, mode, err);
    if (result != TZ_OK)
        return result;
    unsigned char *row = malloc((size_t)pixels->width * p.channels);
    result = row != NULL ? to->start(to->user, pixels->width, pixels->height, p.channels, err)
                         : problem_nomem(err, "a row");
    for (size_t y = 0; y < pixels->height && result == TZ_OK; y++) {
        for (size_t x = 0; x < pixels->width; x++)
            paint_pixel(&p, y * pixels->width + x, row + x * p.channels);
        result = to->row(to->user, row, err);
    }
    free(row);
    return result;
}

void picture_report_stretch(const request *r, const picture_stretch *done)
{
    char text[PICTURE_COLORS * 3 * TEXT_NUMBER] = "stretched";
    char low[TEXT_NUMBER];
    char high[TEXT_NUMBER];
    size_t size = strlen(text);
    if (done->count == 0)
        return;
    if (done->level > 0)
        size += (size_t)snprintf(text + size, sizeof text - size, ", by overview %u", done->level);
    for (uint32_t i = 0; i < done->count && size < sizeof text; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s band %u from %s to %s",
                                 i == 0 ? ":" : ",", r->bands[i] + 1,
                                 text_double(low, done->range[i].low),
                                 text_double(high, done->range[i].high));
    term_note(text);
}

/* PNG ------------------------------------------------------------------------------------------ */

typedef struct png_target {
    output *to;
    png_writer *png;
} png_target;

static tz_result start_png(void *user, uint32_t width, uint32_t height, unsigned channels,
                           tz_error *err)
{
    png_target *target = user;
    return png_open(&target->png, target->to, width, height, channels, err);
}

static tz_result put_png_row(void *user, const unsigned char *row, tz_error *err)
{
    return png_row(((png_target *)user)->png, row, err);
}

tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, stretch_mode mode, picture_stretch *done,
                        tz_error *err)
{
    png_target target = {.to = to};
    const picture_sink sink = {.start = start_png, .row = put_png_row, .user = &target};
    tz_result result = picture_paint(&sink, r, pixels, mask, mode, done, err);
    if (result == TZ_OK)
        result = png_finish(target.png, err);
    png_close(target.png);
    return result;
}
