/* SPDX-License-Identifier: Apache-2.0
 * Creation options that were set, and their meaning for an image. */
#ifndef TZ_WRITE_CREATION_CREATION_H
#define TZ_WRITE_CREATION_CREATION_H

#include "base/arena.h"
#include "base/error.h"
#include "write/creation/creation_table.h"

enum {
    TZ_CREATION_BITS = 64,   /* values of DISCARD_LSB */
    TZ_CREATION_DOMAINS = 16 /* times SRC_MDD may be given */
};

/* Values of all options: as set, or their defaults. */
typedef struct tz_creation_values {
    bool given[CO_COUNT];
    double value[CO_COUNT];
    const char *text[CO_COUNT]; /* as set; NULL: it was not */
    uint8_t discard[TZ_CREATION_BITS];
    uint32_t discard_count;
    const char *domains[TZ_CREATION_DOMAINS];
    uint32_t domain_count;
} tz_creation_values;

struct tz_creation {
    const tz_creation_driver *driver;
    tz_creation_values set;
    tz_creation_values used; /* made by tz_creation_check: without options that have no effect */
    tz_error *warnings;
    uint32_t warning_count;
    tz_arena texts;   /* of values */
    tz_arena applied; /* memory of the specification that options were applied to last */
};

/* Sets all options to the driver's defaults. */
void tz_creation_set_defaults(tz_creation_values *values, const tz_creation_driver *driver);

/* Return a value that is a whole number, and a compression as TIFF's number: LERC with Deflate or
 * ZSTD inside is LERC. */
int64_t tz_creation_number(const tz_creation_values *values, tz_creation_id id);
uint16_t tz_creation_compression(const tz_creation_values *values, tz_creation_id id);

/* An application of options to an image. */
typedef struct tz_creation_job {
    const tz_creation_values *co;
    bool cog;
    tz_image_spec *spec;
    tz_write_options *options;
    const tz_file *source; /* NULL: the image is not of a file */
    tz_arena *arena;       /* for what spec and options will point to */
    const tz_context *ctx;
} tz_creation_job;

/* creation_spec.c and creation_layout.c: set the members of the specification, then those of the
 * options. */
tz_result tz_creation_apply_spec(const tz_creation_job *job);
tz_result tz_creation_apply_layout(const tz_creation_job *job);

#endif
