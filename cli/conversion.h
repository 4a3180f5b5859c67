/* SPDX-License-Identifier: Apache-2.0
 * The plan of terrazzo convert, or cog, for one image. */
#ifndef CLI_CONVERSION_H
#define CLI_CONVERSION_H

#include "convert.h"
#include "memory.h"
#include "nodata_mask.h"
#include "raw_source.h"

typedef struct conversion {
    const convert_settings *settings;
    tz_file *file; /* NULL: there is raw instead */
    raw_source raw;
    const tz_info *info; /* of file */
    tz_device *device;   /* NULL: none was asked for */
    memory_share memory;
    /* --memory was given, and its share is a limit; otherwise the share is used unless the image
     * needs more. */
    bool bounded;
    bool on_device;      /* rows of the file stay in device memory, where tiles are made of them */
    tz_image_spec *base; /* as in the file */
    tz_image_spec spec;
    tz_write_options options;
    tz_dtype read_as;      /* the type to read into the memory of spec.dtype */
    uint32_t source_bands; /* more than spec.bands: the last one, alpha, becomes the mask */
    nodata_mask by_nodata; /* used: the mask is made of pixels that are nodata */
    tz_error note;         /* the option that could not be honoured, and the replacement */
    uint32_t note_count;   /* 0: nothing */
    tz_geo geo;            /* of raw samples */
} conversion;

/* settings must outlive the conversion. */
tz_result conversion_open(conversion *c, const convert_settings *settings, tz_error *err);
void conversion_close(conversion *c); /* zeroed state is fine */

/* Divisor of all memory, and of --device-memory, for the share that decodes the source. The rest is
 * for its rows and for encoding. */
#define CONVERSION_READING_PART 4
/* Device memory for reading, in bytes; 0: the library's choice. */
uint64_t conversion_device_bytes_to_read(const conversion *c);

/* Returns true if the mask is made from the source's alpha band. */
bool conversion_masks_by_alpha(const conversion *c);
/* Returns the alpha band of the source; UINT32_MAX: none. */
uint32_t conversion_alpha(const conversion *c);
/* Returns the bytes of all pixels, without the mask. */
uint64_t conversion_bytes(const conversion *c);
/* Returns the transform of the source; NULL: it has none. */
const double *conversion_transform(const conversion *c);

/* Steps of conversion_open, once the source is known. */
tz_result conversion_set_spec(conversion *c, tz_error *err);
tz_result conversion_set_options(conversion *c, tz_error *err);
/* Replaces nodata by a mask if the codec would change the nodata value. */
void conversion_mask_nodata(conversion *c);

#endif
