/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture: which bands and colours, in the words of tz_image_options.
 *
 * picture_choose_bands runs before the read and picks the bands; picture_plan checks that the
 * library can write such a picture; picture_write and picture_render get the pixels of all bands.
 * The range of values is measured first, by an overview if the picture is large. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "parse.h"
#include "problem.h"
#include "progress.h"
#include "stretch_overview.h"
#include "terminal.h"
#include "text.h"

#define MIN_IS_WHITE 0
#define MAX_BANDS    (TZ_IMAGE_MAX_COLORS + 1) /* of a picture: CMYK and alpha */
/* The part of an encoder in the memory that memory.c reserves for the program. */
#define ENCODER_RESERVE ((uint64_t)3 << 20)

/* Options -------------------------------------------------------------------------------------- */

bool picture_has_option(int id)
{
    return id >= PICTURE_STRETCH && id <= PICTURE_BACKGROUND;
}

static bool set_background(picture_settings *s, const char *text)
{
    const char *at = text;
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        uint64_t value = 0;
        good = (i == 0 || parse_char(&at, ',')) && parse_uint(&at, 255, &value);
        s->background[i] = (unsigned char)value;
    }
    s->has_background = true;
    return (good && *at == '\0') ||
           value_wrong("--background needs red, green and blue from 0 to 255, not", text);
}

static bool set_quality(picture_settings *s, const char *text)
{
    static const char wrong[] = "--quality needs a number from 1 to 100, not";
    return value_number(&s->quality, 100, wrong, text) &&
           (s->quality > 0 || value_wrong(wrong, text));
}

bool picture_apply(picture_settings *s, int id, const char *value)
{
    if (id == PICTURE_BACKGROUND)
        return set_background(s, value);
    if (id == PICTURE_QUALITY)
        return set_quality(s, value);
    if (id == PICTURE_LOSSLESS) {
        s->lossless = true;
        return true;
    }
    tz_choice asked = id == PICTURE_STRETCH ? TZ_CHOICE_YES : TZ_CHOICE_NO;
    if (s->stretch != TZ_CHOICE_AUTO && s->stretch != asked)
        return term_usage("--stretch and --no-stretch do not go together", NULL, "") == EXIT_OK;
    s->stretch = asked;
    return true;
}

bool picture_check(const picture_settings *s, request_format format)
{
    const bool picture = request_is_picture(format);
    const char *problem = NULL;
    if (s->stretch != TZ_CHOICE_AUTO && !picture)
        problem = s->stretch == TZ_CHOICE_YES ? "--stretch is for pictures"
                                              : "--no-stretch is for pictures";
    else if (s->has_background && !picture)
        problem = "--background is for pictures";
    else if (s->quality != 0 && format != FORMAT_JPEG && format != FORMAT_WEBP)
        problem = "--quality is for JPEG and WebP";
    else if (s->lossless && format != FORMAT_WEBP)
        problem = "--lossless is for WebP";
    else if (s->lossless && s->quality != 0)
        problem = "--quality and --lossless do not go together";
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
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
                           : band_list_read(asked, r->file, &r->bands, &r->band_count, err);
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

static uint32_t colors_of(const request *r)
{
    return r->band_count - request_ends_in_alpha(r);
}

static tz_image_model model_of(const request *r)
{
    const uint32_t colors = colors_of(r);
    if (colors == 1)
        return r->info->photometric == MIN_IS_WHITE ? TZ_IMAGE_MODEL_INVERTED : TZ_IMAGE_MODEL_GREY;
    if (is_cmyk(r, colors))
        return TZ_IMAGE_MODEL_CMYK;
    return color_of(r, r->bands[0]) == TZ_COLOR_Y && color_of(r, r->bands[2]) == TZ_COLOR_CR
               ? TZ_IMAGE_MODEL_YCBCR
               : TZ_IMAGE_MODEL_RGB;
}

/* Bytes that --dtype asked for are not stretched unless that was asked for, too. */
static tz_image_options options_of(const request *r, const picture_settings *s)
{
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    const tz_info *info = r->info;
    const uint32_t extra = info->extra_sample_count;
    const bool is_cast = r->settings->dtype == TZ_DTYPE_UINT8;
    const bool has_bits = r->dtype == info->dtype && info->sample_format == TZ_SAMPLE_FORMAT_UINT &&
                          info->bits_per_sample < 32;
    options.format = r->format == FORMAT_JPEG   ? TZ_IMAGE_FORMAT_JPEG
                     : r->format == FORMAT_WEBP ? TZ_IMAGE_FORMAT_WEBP
                                                : TZ_IMAGE_FORMAT_PNG;
    options.model = model_of(r);
    options.premultiplied =
        extra > 0 && info->extra_samples[extra - 1] == TZ_EXTRA_SAMPLE_PREMULTIPLIED;
    options.lossless = s->lossless;
    options.quality = s->quality;
    options.stretch = s->stretch == TZ_CHOICE_AUTO && is_cast ? TZ_CHOICE_NO : s->stretch;
    options.bits = has_bits ? info->bits_per_sample : 0;
    if (picture_has_palette(r)) {
        options.color_map = info->color_map;
        options.color_map_size = info->color_map_size;
    }
    options.background = s->has_background ? s->background : NULL;
    options.progress = progress_watch();
    return options;
}

tz_result picture_plan(request *r, const picture_settings *s, tz_error *err)
{
    const tz_image_options options = options_of(r, s);
    const tz_buffer shape = {.struct_size = sizeof shape,
                             .dtype = r->dtype,
                             .bands = r->band_count,
                             .height = r->height,
                             .width = r->width};
    uint64_t bytes;
    tz_result result = tz_plan_image(&bytes, &shape, &options, err);
    if (result != TZ_OK || bytes <= ENCODER_RESERVE)
        return result;
    bytes -= ENCODER_RESERVE;
    r->memory.base += bytes;
    r->memory.work = r->memory.work > bytes ? r->memory.work - bytes : 0;
    return TZ_OK;
}

/* Returns true if pixels must be measured: to stretch them, or to find that there is no need. */
static bool may_stretch(const request *r, const tz_image_options *options)
{
    if (options->stretch != TZ_CHOICE_AUTO)
        return options->stretch == TZ_CHOICE_YES;
    return options->color_map == NULL && (r->dtype != TZ_DTYPE_UINT8 || colors_of(r) == 1);
}

/* Measures the range of each band, and sets it for all pixels. */
static tz_result measure_stretch(tz_image_options *options, picture_stretch *done, const request *r,
                                 const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    stretch_overview overview = {0};
    *done = (picture_stretch){0};
    if (!may_stretch(r, options))
        return TZ_OK;
    tz_result result = stretch_overview_read(&overview, r, pixels, err);
    const bool by_overview = overview.level > 0;
    if (result == TZ_OK)
        result =
            tz_image_measure(done->range, &done->count, by_overview ? &overview.pixels : pixels,
                             by_overview ? &overview.mask : mask, options, err);
    done->level = done->count > 0 ? overview.level : 0;
    stretch_overview_free(&overview);
    options->ranges = done->range;
    options->range_count = done->count;
    if (done->count == 0)
        options->stretch = TZ_CHOICE_NO;
    return result;
}

/* Returns the mask of the picture. Without a mask of its own the file's mask is made from alpha,
 * and alpha is finer. */
static const tz_buffer *mask_of(const request *r, const tz_buffer *mask)
{
    const bool only_alpha = request_ends_in_alpha(r) && !tz_file_get_level(r->file, 0)->has_mask &&
                            r->info->nodata.kind == TZ_NODATA_KIND_NONE;
    return only_alpha ? NULL : mask;
}

/* Files ---------------------------------------------------------------------------------------- */

typedef struct picture_sink {
    tz_sink base; /* first, so that both have one address */
    output *to;
} picture_sink;

/* Pictures are written from the front to the end. */
static tz_result put_pieces(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    tz_result result = TZ_OK;
    (void)offset;
    for (size_t i = 0; i < count && result == TZ_OK; i++)
        result = output_append(((picture_sink *)sink)->to, pieces[i].data, pieces[i].size, err);
    return result;
}

tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, const picture_settings *s, picture_stretch *done,
                        tz_error *err)
{
    picture_sink sink = {.base = {.struct_size = sizeof(tz_sink), .write = put_pieces}, .to = to};
    tz_image_options options = options_of(r, s);
    tz_result result = measure_stretch(&options, done, r, pixels, mask, err);
    if (result == TZ_OK)
        result = tz_image_write(&sink.base, pixels, mask_of(r, mask), &options, err);
    return result == TZ_ERR_CANCELLED ? progress_cancelled(err) : result;
}

tz_result picture_render(unsigned char *rgba, const request *r, const tz_buffer *pixels,
                         const tz_buffer *mask, const picture_settings *s, picture_stretch *done,
                         tz_error *err)
{
    tz_image_options options = options_of(r, s);
    const tz_buffer to = {.struct_size = sizeof to,
                          .data = rgba,
                          .dtype = TZ_DTYPE_UINT8,
                          .bands = 4,
                          .height = pixels->height,
                          .width = pixels->width,
                          .band_stride = 1,
                          .row_stride = 4 * (int64_t)pixels->width,
                          .column_stride = 4};
    tz_result result = measure_stretch(&options, done, r, pixels, mask, err);
    if (result == TZ_OK)
        result = tz_image_render(&to, pixels, mask_of(r, mask), &options, err);
    return result == TZ_ERR_CANCELLED ? progress_cancelled(err) : result;
}

void picture_report_stretch(const request *r, const picture_stretch *done)
{
    char text[TZ_IMAGE_MAX_COLORS * 3 * TEXT_NUMBER] = "stretched";
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
