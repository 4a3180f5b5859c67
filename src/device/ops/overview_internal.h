/* SPDX-License-Identifier: Apache-2.0
 * What a reducer is made of, for the files that make up overview.h. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_INTERNAL_H
#define TZ_DEVICE_OPS_OVERVIEW_INTERNAL_H

#include "device/ops/overview.h"

/* Where things lie, in bytes from the reducer's offset; each at a multiple of 64. */
typedef struct tz_overview_builder_layout {
    uint64_t runs[2]; /* words and taps down of a run, in turn */
    uint64_t run_bytes;
    uint64_t across; /* taps */
    uint64_t across_bytes;
    uint64_t scratch;
    uint64_t total;
    uint32_t areas;      /* of the scratch: items that choose, or columns that are filtered */
    uint32_t values;     /* of a slot */
    uint32_t max_across; /* taps of one new pixel */
    uint32_t max_down;
} tz_overview_builder_layout;

/* New rows that are filtered together: old rows between them are filtered across once. */
#define TZ_FILTER_ROWS 16u

/* Words of a run on the host, which a device may still be reading. */
typedef struct tz_overview_upload {
    uint64_t *words;
    tz_device_event *done; /* NULL: nothing is under way */
    uint32_t queue;
} tz_overview_upload;

struct tz_overview_builder {
    tz_overview_params how;
    uint32_t rows;
    tz_device_memory *memory;
    uint64_t offset;
    tz_overview_builder_layout layout;
    void *axis; /* room for one table on the host */
    tz_overview_upload uploads[2];
    uint32_t next; /* which of them */
};

/* Methods that have memory to work in. */
bool tz_overview_is_choice(const tz_overview_params *how);
bool tz_overview_is_filter(const tz_overview_params *how);

/* The table of new pixels first to first + count - 1, as kernels read it. */
void tz_taps_make(uint64_t *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                  void *axis);

/* All that kernels trust: TZ_ERR_ARG tells what is wrong. */
tz_result tz_overview_builder_check(const tz_overview_builder *builder,
                                    const tz_overview_source *from, uint32_t first, uint32_t rows,
                                    const tz_buffer *pixels, const tz_buffer *mask, tz_error *err);

#endif
