/* SPDX-License-Identifier: Apache-2.0
 * terrazzo convert: what was typed. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "common.h"
#include "creation.h"

/* Which samples follow each other on standard input. */
typedef enum raw_order { ORDER_PIXEL, ORDER_ROW, ORDER_BAND } raw_order;

/* Pixels without a header, from standard input. */
typedef struct raw_settings {
    bool given; /* one of these was typed */
    uint32_t height, width, bands;
    tz_dtype dtype;
    raw_order order;
    tz_nodata nodata;
    const char *nodata_text;
    uint16_t epsg;
    bool has_transform;
    double transform[6];
} raw_settings;

/* As typed. */
typedef struct convert_settings {
    common_settings common;
    creation creation;
    raw_settings raw;
    const char *input; /* "-": standard input */
    const char *output;
    uint64_t memory;
    uint32_t threads;
    bool has_threads;
    bool overwrite;
    bool dry_run;
    bool no_sync;
    bool statistics;
    tz_verify verify;
} convert_settings;

extern const cli_command convert_command;

/* Options of its own. */
enum {
    CONVERT_CREATION = 1,
    CONVERT_OVERWRITE,
    CONVERT_DRY_RUN,
    CONVERT_VERIFY,
    CONVERT_NO_SYNC,
    CONVERT_STATISTICS,
    CONVERT_THREADS,
    CONVERT_MEMORY,
    CONVERT_SHAPE, /* from here on: of standard input */
    CONVERT_DTYPE,
    CONVERT_ORDER,
    CONVERT_NODATA,
    CONVERT_EPSG,
    CONVERT_TRANSFORM
};
/* Takes one of them; false after a message. */
bool convert_apply(void *settings, int id, const char *value);
/* Whether the options go together; else a message was printed. */
bool convert_check(convert_settings *settings);
bool convert_is_raw(const convert_settings *settings);

#endif
