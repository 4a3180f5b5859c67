/* SPDX-License-Identifier: Apache-2.0
 * Results of a read: numbers while it runs, and the report that the caller gets at its end. */
#ifndef TZ_READ_READ_REPORT_H
#define TZ_READ_READ_REPORT_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"

/* Result of one item. */
typedef struct tz_outcome {
    tz_item_report report;
    /* report.tile_count of them: of the pixels, then of the mask; NULL: they are not kept */
    tz_tile_status *tiles;
    uint64_t pixel_tiles; /* of these: of the pixels */
} tz_outcome;

/* Kinds of warnings that a report holds. */
enum { TZ_REPORT_KINDS = 4 };

/* Warnings of a read, one for each kind. */
typedef struct tz_report_warnings {
    uint32_t count;
    uint64_t dropped;                     /* of kinds beyond the list */
    const char *formats[TZ_REPORT_KINDS]; /* of their messages: a format is a kind */
    tz_error list[TZ_REPORT_KINDS];
} tz_report_warnings;

/* A report that is not complete yet. */
typedef struct tz_read_summary {
    tz_read_report numbers; /* without device, and without the numbers of items and warnings */
    tz_device_use device;
    tz_report_warnings warnings;
} tz_read_summary;

/* Adds the summary of a further plan of the same call; equal messages are one warning. */
void tz_read_summary_add(tz_read_summary *sum, const tz_read_summary *more);

/* Merges the warnings of one plan. Those of one kind become one, which counts them and names the
 * first tile of all: the result is the same whichever thread was first. */
void tz_report_warnings_merge(tz_report_warnings *to, const tz_warnings *warnings);

/* Adds the counts of a device; its texts are kept if the sum has none yet. */
void tz_device_use_add(tz_device_use *sum, const tz_device_use *more);

/* Makes the report of a read of count items. Their outcomes are in memory, which is the report's
 * from then on. */
tz_result tz_read_report_make(tz_read_report **out, const tz_read_summary *summary,
                              const tz_outcome *outcomes, size_t count, tz_arena *memory,
                              const tz_context *ctx);

#endif
