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
    bool bounded;        /* the share holds; else it is what is used where the least is not more */
    bool on_device;      /* rows of file stay in its memory, where tiles are made of them */
    tz_image_spec *base; /* as in the file */
    tz_image_spec spec;
    tz_write_options options;
    tz_dtype read_as;      /* the type to read into the memory of spec.dtype */
    uint32_t source_bands; /* more than spec.bands: the last one, alpha, becomes the mask */
    nodata_mask by_nodata; /* used: the mask is made of pixels that are nodata */
    tz_error note;         /* what was done in place of what was asked for */
    uint32_t note_count;   /* 0: nothing */
    bool new_statistics;   /* those of the source describe other bands, and are computed again */
    tz_geo geo;
    uint16_t *extra_samples;
    tz_metadata_item *metadata;
    tz_tag_value *tags;
    tz_statistics *statistics; /* NULL: not asked for */
} conversion;

/* settings must stay. */
tz_result conversion_open(conversion *c, const convert_settings *settings, tz_error *err);
void conversion_close(conversion *c); /* zeroed state is fine */

/* The share of all memory, and of --device-memory, that decodes the source: one part of this many.
 * The rest is for its rows and for encoding. */
#define CONVERSION_READING_PART 4
/* 0: the library's choice. */
uint64_t conversion_device_bytes_to_read(const conversion *c);

/* The mask is made of the source's alpha band. */
bool conversion_masks_by_alpha(const conversion *c);
/* The source's band that is alpha; UINT32_MAX: none. */
uint32_t conversion_alpha(const conversion *c);
/* Bytes of all pixels, without the mask. */
uint64_t conversion_bytes(const conversion *c);
/* The source's own, not of the part that is written; NULL: it has none. */
const double *conversion_transform(const conversion *c);

/* The parts of conversion_open, once the source is known. */
tz_result conversion_set_spec(conversion *c, tz_error *err);
tz_result conversion_set_options(conversion *c, tz_error *err);
/* A mask takes the place of nodata where the codec would change that. */
void conversion_mask_nodata(conversion *c);

#endif
