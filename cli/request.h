/* SPDX-License-Identifier: Apache-2.0
 * A request for pixels: its options as typed, and their meaning for one file. `read` and `plan`
 * have the same options. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "common.h"
#include "device_option.h"
#include "memory.h"
#include "value.h"
#include "window.h"

/* The format of the output. */
typedef enum request_format {
    FORMAT_NONE,
    FORMAT_NPY,
    FORMAT_RAW,
    FORMAT_PNG,
    FORMAT_JPEG,
    FORMAT_WEBP
} request_format;
/* Returns true for a picture of 8 bits, which shows a mask by transparency. */
bool request_is_picture(request_format format);
const char *request_format_name(request_format format);
/* Returns the format by the extension of a name; FORMAT_NONE: not known. */
request_format request_format_of(const char *path);
bool request_is_tiff_name(const char *path);

/* As typed. */
typedef struct request_settings {
    common_settings common;
    window_settings where;
    const char *bands; /* a list; NULL: all */
    bool has_level;
    uint32_t level;
    bool has_size;
    uint32_t width, height; /* 0 for one of them: in proportion */
    tz_dtype dtype;         /* TZ_DTYPE_NONE: the file's */
    request_format format;  /* FORMAT_NONE: by the name */
    bool has_order;
    raw_order order;
    bool masked;
    bool salvage;     /* tiles that cannot be read are not an error */
    bool inside_only; /* the command has no --boundless */
    uint64_t memory;
    device_settings device;
    tz_read_options how;
} request_settings;
#define REQUEST_DEFAULT_MEMORY ((uint64_t)256 << 20)
/* clang-format off */
#define REQUEST_SETTINGS_INIT                                                                      \
    {.common = {.open = TZ_OPEN_OPTIONS_INIT}, .order = ORDER_BAND,                                \
     .memory = REQUEST_DEFAULT_MEMORY, .how = TZ_READ_OPTIONS_INIT}

enum {
    REQUEST_BANDS = 101, REQUEST_LEVEL, REQUEST_SIZE,
    REQUEST_RESAMPLING, REQUEST_REDUCED, REQUEST_DTYPE, REQUEST_MASKED, REQUEST_SCALED,
    REQUEST_NAN, REQUEST_ORIENTED, REQUEST_BOUNDLESS, REQUEST_FILL, REQUEST_SALVAGE, REQUEST_FORMAT,
    REQUEST_ORDER, REQUEST_THREADS, REQUEST_MEMORY
};
#define REQUEST_WINDOW_OPTIONS                                                                      \
    WINDOW_OPTIONS,                                                                                \
    {"bands", 0, REQUEST_BANDS, "LIST", "such as 3,2,1 or 1-4, the first being 1; or names,\n" \
                                     "such as red,nir"}
#define REQUEST_OPTIONS                                                                            \
    REQUEST_WINDOW_OPTIONS,                                                                         \
    {"level", 0, REQUEST_LEVEL, "N", "0 is full resolution, 1 its first overview; --window\n"      \
                                     "is then in pixels of that level"},                           \
    {"size", 0, REQUEST_SIZE, "WxH", SIZE_HELP},                                                   \
    {"resampling", 0, REQUEST_RESAMPLING, "HOW", RESAMPLING_HELP "--size"},                        \
    {"reduced-tiles", 0, REQUEST_REDUCED, NULL, "let JPEG 2000 decode tiles at a lower resolution of\n" \
                                                "their own where --size asks for no more"},        \
    {"dtype", 0, REQUEST_DTYPE, "TYPE", "uint8, int16, float32, ...; casts as doc/numerics.md\n"   \
                                        "says"},                                                   \
    {"masked", 0, REQUEST_MASKED, NULL, "also which pixels are valid, beside OUT: NAME.mask.npy,\n"\
                                        "255 or 0; a picture always shows it by transparency"},        \
    {"scaled", 0, REQUEST_SCALED, NULL, "apply each band's scale and offset; integers become\n"    \
                                        "floats unless --dtype says otherwise"},                   \
    {"nodata-to-nan", 0, REQUEST_NAN, NULL, "NaN for nodata; integers become floats"},             \
    {"oriented", 0, REQUEST_ORIENTED, NULL, "turn the image upright as its orientation says"},     \
    {"boundless", 0, REQUEST_BOUNDLESS, NULL, "the window may reach beyond the image"},            \
    {"fill", 0, REQUEST_FILL, "VALUE", "pixels outside the image, and of tiles that cannot be\n"      \
                                       "read; by default nodata, or 0 if the file declares none"}, \
    {"salvage", 0, REQUEST_SALVAGE, NULL, "tiles that cannot be read become nodata, or 0, and are\n"    \
                                          "not valid; a warning names them"},                      \
    {"format", 0, REQUEST_FORMAT, "FORMAT", "npy, raw, png, jpeg or webp, whatever the name\nends in"},         \
    {"order", 0, REQUEST_ORDER, "HOW", "of samples in raw and npy: band after band (the\n" \
                                       "default), pixel by pixel, or row: of raw, each row\n" \
                                       "band by band"},  \
    {"threads", 'j', REQUEST_THREADS, "N", "0, the default: all cores"},                             \
    {"memory", 0, REQUEST_MEMORY, "SIZE", "most memory the process may use; 256M by default"},    \
    DEVICE_OPTIONS
/* clang-format on */

/* Applies one of these options. false when the value is wrong; then a message was printed. */
bool request_apply(request_settings *settings, int id, const char *value);
/* Returns true if the options go together; otherwise a message was printed. */
bool request_check(const request_settings *settings);

/* The meaning of the settings for one file. */
typedef struct request {
    const request_settings *settings;
    tz_file *file;
    const tz_info *info;
    tz_device *device; /* NULL: none was asked for */
    memory_share memory;
    uint32_t level;         /* or TZ_LEVEL_AUTO */
    tz_window window;       /* of that level */
    bool clipped;           /* the bounding box reached beyond the image */
    uint32_t width, height; /* of the result */
    uint32_t *bands;        /* counted from 0 */
    uint32_t band_count;
    tz_dtype dtype;
    bool masked; /* the mask is read, too */
    request_format format;
    tz_read_options how;
} request;
/* Opens the file. settings must outlive the request. */
tz_result request_open(request *r, const request_settings *settings, const char *path,
                       request_format format, tz_error *err);
void request_close(request *r); /* zeroed state is fine */

/* Prints warnings about the file and the request on standard error. */
void request_print_warnings(const request *r);

/* Returns false if rows and columns of the output are those of the level that is read. */
bool request_is_resampled(const request *r);
/* Returns the level whose tiles are read if it is not resampled. */
const tz_level *request_level(const request *r);

#endif
