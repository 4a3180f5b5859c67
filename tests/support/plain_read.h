/* SPDX-License-Identifier: Apache-2.0
 * Reads by values: items that hold their buffers, and reports that need not be freed. Most tests
 * ask for pixels and numbers only; test_read_report.c has the calls as programs make them. */
#ifndef TESTS_SUPPORT_PLAIN_READ_H
#define TESTS_SUPPORT_PLAIN_READ_H

#include <terrazzo/terrazzo.h>

/* Members as in tz_item_report. A read is one with salvage if some item has a list for its tiles.
 */
typedef struct plain_outcome {
    tz_tile_status *tiles; /* the test's; NULL: none */
    uint64_t tile_room;    /* its length */
    uint64_t tile_count;
    uint64_t tiles_failed;
    uint32_t level;
    bool mask;
    bool resampled;
    tz_window window;
    uint32_t reduction;
} plain_outcome;

/* Members as in tz_item. */
typedef struct plain_item {
    const tz_file *file;
    uint32_t level;
    bool mask_itself; /* the mask's own samples */
    tz_window window;
    const uint32_t *bands;
    uint32_t band_count;
    tz_buffer into; /* struct_size is set by the call */
    tz_buffer mask; /* data NULL: none */
    plain_outcome *outcome;
    uint32_t grid_width, grid_height, grid_column, grid_row;
    const double *scales, *offsets;
} plain_item;

enum { PLAIN_WARNINGS = 4 };

/* Members as in tz_read_report. */
typedef struct plain_report {
    uint64_t tiles, tiles_sparse, tiles_shared, largest_tile, peak_host_bytes;
    uint32_t threads, waves;
    uint64_t requests, bytes_read, bytes_compressed;
    uint64_t tiles_copied, tiles_direct, tiles_decoded, tiles_failed, tiles_reduced, bytes_decoded;
    tz_device_use device;
    uint32_t warning_count;
    uint64_t warnings_dropped;
    tz_error warnings[PLAIN_WARNINGS];
} plain_report;

/* The public calls. report may be NULL; it and the outcomes are written only on success. */
tz_result plain_read(const plain_item *item, const tz_read_options *how, plain_report *report,
                     tz_error *err);
tz_result plain_read_batch(const plain_item *items, size_t count, const tz_read_options *how,
                           plain_report *report, tz_error *err);
tz_result plain_plan_read(plain_report *report, const plain_item *items, size_t count,
                          const tz_read_options *how, tz_error *err);

/* Copies the numbers, the device and the warnings of a report. */
plain_report plain_report_of(const tz_read_report *report);

/* Moves a buffer to device memory; its offset stays. */
void plain_on_device(tz_buffer *buffer, tz_device_memory *memory);

#endif
