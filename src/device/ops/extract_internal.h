/* SPDX-License-Identifier: Apache-2.0
 * What the launches that make tiles have in common. */
#ifndef TZ_DEVICE_OPS_EXTRACT_INTERNAL_H
#define TZ_DEVICE_OPS_EXTRACT_INTERNAL_H

#include "base/mem.h"
#include "device/ops/extract.h"

/* Rows of plain samples, between launches. */
typedef struct tz_extract_rows {
    uint64_t scratch; /* TZ_NONE: where the tiles go */
    uint64_t row_bytes;
    uint64_t count;     /* of all tiles, as if all were whole */
    uint32_t row_items; /* items that share one: on a CPU one works best alone */
} tz_extract_rows;

/* The arguments that all kernels have. */
#define TZ_EXTRACT_ROWS_ARGUMENTS(batch, rows)                                                     \
    TZ_U64((batch)->table), TZ_U64((rows)->scratch), TZ_U64((rows)->row_bytes),                    \
        TZ_U32((batch)->height), TZ_U32((batch)->crop_height)

tz_result tz_extract_launch_stats(const tz_extract_batch *batch, const tz_extract_rows *rows,
                                  uint32_t queue, tz_error *err);

#endif
