/* SPDX-License-Identifier: Apache-2.0
 * Pixels without a TIFF: a .npy array, or samples without a header on standard input. Describes
 * their type and order; raw_rows.h reads them. */
#ifndef CLI_RAW_SOURCE_H
#define CLI_RAW_SOURCE_H

#include "convert.h"
#include "input.h"

typedef enum raw_axis { AXIS_BAND, AXIS_ROW, AXIS_COLUMN } raw_axis;

typedef struct raw_source {
    int fd;
    bool is_open; /* fd is ours to close */
    char name[INPUT_NAME];
    uint32_t sides[3]; /* by raw_axis */
    raw_axis axes[3];  /* the one that varies slowest first */
    tz_dtype dtype;
    bool swapped;     /* samples are in the other byte order than the machine's */
    int64_t start;    /* offset of the first sample in a file; -1: a stream */
    uint64_t present; /* bytes from there on; TZ_NO_VALUE: not known */
} raw_source;

/* Returns true if a regular file begins as .npy files do. */
bool raw_source_is_npy(const char *path);
/* Reads the first bytes of standard input. Returns true if they are those of a .npy file. */
bool raw_source_begins_npy(void);

/* Reads the header of a .npy array, also for --dry-run; of other input it reads nothing. */
tz_result raw_source_open(raw_source *r, const convert_settings *settings, tz_error *err);
void raw_source_close(raw_source *r); /* zeroed state is fine */

/* Returns the number of runs, one for each band or column of the axes before rows, and the samples
 * of one row in a run. */
uint64_t raw_source_runs(const raw_source *r);
uint64_t raw_source_row_samples(const raw_source *r);

#endif
