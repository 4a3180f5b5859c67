/* SPDX-License-Identifier: Apache-2.0
 * Statistics of tiles that are cut. */
#include <stddef.h>

#include "device/launch.h"
#include "device/ops/extract_internal.h"
#include "device/ops/stats_kernels.h"
#include "pixel/row_ops.h"

_Static_assert(sizeof(tz_stats) == TZ_STATS_ENTRY_BYTES && offsetof(tz_stats, squares) == 40,
               "kernels write tallies as they are");

tz_result tz_extract_launch_stats(const tz_extract_batch *batch, const tz_extract_rows *rows,
                                  uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_dtype dtype = batch->row.dtype;
    uint32_t nodata_kind;
    const uint64_t nodata = tz_nodata_wide(&batch->nodata, &nodata_kind);
    const tz_argument arguments[] = {TZ_MEMORY(batch->mask ? batch->mask : batch->slab),
                                     TZ_MEMORY(batch->slab),
                                     TZ_EXTRACT_ROWS_ARGUMENTS(batch, rows),
                                     TZ_U64(batch->stats),
                                     TZ_U32(batch->row.samples),
                                     TZ_U32(dtype <= TZ_DTYPE_FLOAT64 ? (uint32_t)dtype : 0),
                                     TZ_U32(batch->nodata.kind != TZ_NODATA_NONE),
                                     TZ_U32(nodata_kind),
                                     TZ_U32(batch->mask != NULL),
                                     TZ_U64(nodata),
                                     TZ_U64((uint64_t)batch->mask_row_stride),
                                     TZ_U64((uint64_t)batch->mask_column_stride)};
    const tz_launch launch =
        TZ_LAUNCH_OF(rows->row_items == 1 ? TZ_KERNEL_STATS : TZ_KERNEL_STATS_WORK_GROUP,
                     tz_mul_capped(batch->count, batch->row.samples), arguments);
    return tz_device_launch(device, queue, &launch, err);
}
