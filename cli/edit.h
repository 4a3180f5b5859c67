/* SPDX-License-Identifier: Apache-2.0
 * Changes that convert, cog and plan-cog make to an image: their options as typed, and the changes
 * of its description. The pixels follow in convert_rows.c. */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include "options.h"
#include "value.h"
#include "window.h"

/* The mask of the result. */
typedef enum edit_mask {
    EDIT_MASK_KEEP, /* that of the source, if it has one */
    EDIT_MASK_NONE,
    EDIT_MASK_NODATA,
    EDIT_MASK_ALPHA,
    EDIT_MASK_BAND
} edit_mask;

/* A linear change of values, as typed. */
typedef enum edit_scale {
    EDIT_SCALE_NONE,
    EDIT_SCALE_AUTO,   /* from the range of each band */
    EDIT_SCALE_SOURCE, /* from a range that was typed */
    EDIT_SCALE_BOTH    /* to one as well */
} edit_scale;

/* An option that may be given often. */
typedef struct edit_text {
    int id;
    const char *text;
} edit_text;

/* As typed. */
typedef struct edit_settings {
    const char *pixel_option; /* one that changes pixels; NULL: none was typed */
    window_settings where;
    bool has_size;
    uint32_t width, height; /* 0 for one of them: in proportion */
    bool has_resolution;
    double resolution[2];
    tz_resampling resampling;
    tz_dtype dtype; /* TZ_DTYPE_NONE: that of the source */
    edit_scale scale;
    double source_range[2];
    double range[2];
    const char *nodata; /* NULL: as in the source; "none" */
    bool replace_nodata;
    edit_mask mask;
    uint32_t mask_band; /* counted from 0, with EDIT_MASK_BAND */
    bool add_alpha;
    bool salvage;
    const char *crs; /* NULL: as in the source; "none" */
    bool has_transform;
    double transform[6];
    bool has_bounds;
    double bounds[4];
    edit_text *texts; /* in the order in which they were typed */
    size_t text_count;
} edit_settings;

enum {
    EDIT_BANDS = 51, /* from here on: options that change pixels */
    EDIT_SIZE,
    EDIT_RESOLUTION,
    EDIT_RESAMPLING,
    EDIT_DTYPE,
    EDIT_SCALE,
    EDIT_REPLACE_NODATA,
    EDIT_MASK_FROM,
    EDIT_ADD_ALPHA,
    EDIT_SALVAGE,
    EDIT_NODATA, /* from here on: options that do not */
    EDIT_CRS,
    EDIT_EPSG,
    EDIT_TRANSFORM,
    EDIT_BOUNDS,
    EDIT_GCP,
    EDIT_TAG,
    EDIT_UNSET,
    EDIT_BAND_TAG,
    EDIT_DESCRIPTION,
    EDIT_UNIT
};
/* clang-format off */
#define EDIT_PIXEL_OPTIONS                                                                         \
    WINDOW_OPTIONS,                                                                                \
    {"bands", 0, EDIT_BANDS, "LIST", "such as 3,2,1 or 1-4, the first being 1; or names,\n"        \
                                     "such as red,nir"},                                           \
    {"size", 0, EDIT_SIZE, "WxH", SIZE_HELP},                                                      \
    {"res", 0, EDIT_RESOLUTION, "X[,Y]", "resample to pixels of this size, in units of the CRS"},  \
    {"resampling", 0, EDIT_RESAMPLING, "HOW", RESAMPLING_HELP "--size or --res"},                  \
    {"dtype", 0, EDIT_DTYPE, "TYPE", "uint8, int16, float32, ...: cast as doc/numerics.md\n"       \
                                     "says; of standard input the type that it has"},              \
    {"scale", 0, EDIT_SCALE, "RANGES", "SMIN,SMAX,DMIN,DMAX: values of SMIN become DMIN, and\n"    \
                                       "so on; without DMIN,DMAX the whole range of an integer\n"  \
                                       "type, or 0 to 1; auto: from the range of each band"},      \
    {"replace-nodata", 0, EDIT_REPLACE_NODATA, NULL, "pixels that were nodata become the value of\n" \
                                                     "--nodata"},                                  \
    {"mask-from", 0, EDIT_MASK_FROM, "WHAT", "make the mask of nodata, of alpha, or of a band of\n" \
                                             "IN by its number; or none: leave it out"},           \
    {"add-alpha", 0, EDIT_ADD_ALPHA, NULL, "make an alpha band of the mask, or of nodata"},        \
    {"salvage", 0, EDIT_SALVAGE, NULL, "tiles that cannot be read become nodata, or 0 without\n" \
                                       "it, and not valid in a mask; a warning counts them"}
#define EDIT_DESCRIPTION_OPTIONS                                                                   \
    {"nodata", 0, EDIT_NODATA, "VALUE", "declare this value, or none; pixels stay as they are"},   \
    {"crs", 0, EDIT_CRS, "CRS", "EPSG:32633, EPSG:25832+5783 (a horizontal and a vertical\n"       \
                                "one), WKT, PROJJSON or a PROJ string; none: leave it out"},       \
    {"epsg", 0, EDIT_EPSG, "CODE", "the same, also as a number alone"},                            \
    {"transform", 0, EDIT_TRANSFORM, "A,B,C,D,E,F",                                                \
     "in GDAL's order: x, width, 0, y, 0, -height of the\n"                                        \
     "upper left pixel"},                                                                          \
    {"bounds", 0, EDIT_BOUNDS, "XMIN,YMIN,XMAX,YMAX", "the outer edges of the image, instead"},    \
    {"gcp", 0, EDIT_GCP, "COLUMN,ROW,X,Y[,Z]", "a ground control point; may be given often, and\n" \
                                               "these replace those of IN"},                       \
    {"tag", 0, EDIT_TAG, "KEY=VALUE", "set an item of metadata, or remove it with an empty\n"     \
                                      "value; may be given often, as all that follow"},                                              \
    {"unset", 0, EDIT_UNSET, "KEY", "remove one"},                                                 \
    {"band-tag", 0, EDIT_BAND_TAG, "BAND:KEY=VALUE", "set one of a band of OUT, the first being 1"}, \
    {"description", 0, EDIT_DESCRIPTION, "BAND=TEXT", "of a band of OUT"},                         \
    {"unit", 0, EDIT_UNIT, "BAND=TEXT", "of the values of a band of OUT"}
/* clang-format on */

/* Applies one of these options, or of WINDOW_OPTIONS. false after a message; if memory ran out,
 * *failed says so, and true is returned. */
bool edit_apply_option(edit_settings *s, int id, const char *value, tz_error *failed);
/* Returns the problem of options that do not go together; NULL: none. has_overviews: the command
 * writes a COG. */
const char *edit_check(const edit_settings *s, bool has_overviews);
void edit_settings_free(edit_settings *s);

/* Returns all lists of --bands as one, in memory of malloc; NULL without the option. false: there
 * was no memory. */
bool edit_band_list(const edit_settings *s, char **out);

/* Parses COLUMN,ROW,X,Y or COLUMN,ROW,X,Y,Z. */
bool edit_parse_gcp(const char *text, tz_gcp *out);
/* Parses the number of a band, counted from 1, and the character after it. Moves *at past both. */
bool edit_parse_band(const char **at, char end, uint32_t *band);

/* Changes what the options say of georeferencing and metadata. */
tz_result edit_describe(tz_image_spec *spec, const edit_settings *s, tz_error *err);

#endif
