/* SPDX-License-Identifier: Apache-2.0
 * The plan of terrazzo convert, or cog, for one image: the pixels of the source that are read, and
 * the description of the image that is written. */
#ifndef CLI_CONVERT_PLAN_H
#define CLI_CONVERT_PLAN_H

#include "convert.h"
#include "memory.h"
#include "nodata_mask.h"
#include "raw_source.h"

/* Samples of the source that say which pixels are valid. */
typedef enum mask_origin {
    MASK_OF_NOTHING,
    MASK_OF_FILE, /* its own mask */
    MASK_OF_BAND  /* an alpha band, or any other */
} mask_origin;

/* Pixels of a TIFF that become those of the image. */
typedef struct source_pixels {
    tz_window window;         /* of level 0 */
    tz_resampling resampling; /* to the size of the image; NONE: it is that of the window */
    uint32_t *bands;          /* counted from 0 */
    uint32_t band_count;
    bool all_bands;      /* these are all, in order */
    double *scales;      /* of all bands; NULL: none */
    double *offsets;     /* in the same memory */
    tz_dtype dtype;      /* to read into the memory of the image's type */
    tz_nodata nodata_as; /* nodata becomes this value; of kind NONE: it stays */
    bool salvage;        /* tiles that cannot be read are not an error */
    tz_nodata fill;      /* of these tiles; of kind NONE: the file's nodata, or 0 */
} source_pixels;

typedef struct conversion {
    const convert_settings *settings;
    const char *output;
    tz_file *file; /* NULL: there is raw instead */
    raw_source raw;
    const tz_info *info; /* of file */
    tz_device *device;   /* NULL: none was asked for */
    memory_share memory;
    /* --memory was given, and its share is a limit; otherwise the share is used unless the image
     * needs more. */
    bool bounded;
    uint64_t kept_bytes; /* for rows that were read too early (convert_rows.c); 0: none are kept */
    bool on_device;      /* rows of the file stay in device memory, where tiles are made of them */
    source_pixels from;
    bool clipped; /* --bbox reached beyond the image */
    mask_origin mask_of;
    uint32_t mask_band;      /* of the source, counted from 0, with MASK_OF_BAND */
    nodata_mask by_nodata;   /* used: pixels that are nodata are not valid */
    bool by_source;          /* the same of pixels that are nodata in the source */
    bool adds_alpha;         /* the last band of the image is made of what is valid */
    tz_image_spec *base;     /* before the creation options */
    uint16_t *extra_samples; /* of base, if a band is added */
    tz_image_spec spec;
    tz_write_options options;
    tz_error note;       /* the option that could not be honoured, and the replacement */
    uint32_t note_count; /* 0: nothing */
} conversion;

/* Opens the source: for page >= 0 that one, else as the settings say. settings and output must
 * outlive the conversion. */
tz_result conversion_open(conversion *c, const convert_settings *settings, const char *output,
                          int64_t page, tz_error *err);
void conversion_close(conversion *c); /* zeroed state is fine */

/* Divisor of all memory, and of --device-memory, for the share that decodes the source. The rest is
 * for its rows and for encoding. */
#define CONVERSION_READING_PART 4
/* Device memory for reading, in bytes; 0: the library's choice. */
uint64_t conversion_device_bytes_to_read(const conversion *c);

/* Returns the bytes of all pixels, without the mask. */
uint64_t conversion_bytes(const conversion *c);
/* Returns the transform of the image; NULL: it has none. */
const double *conversion_transform(const conversion *c);

/* A step of conversion_open, for a TIFF: decides which pixels are read, and changes c->base. */
tz_result conversion_edit_pixels(conversion *c, tz_error *err);

/* Returns true if nodata is what it is in the source, although values change: then it is found
 * before they do. */
bool conversion_has_source_nodata(const conversion *c);

/* Sets the scales of --scale auto: reads the pixels once for their range. */
tz_result conversion_find_scales(conversion *c, tz_error *err);

#endif
