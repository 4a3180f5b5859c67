/* SPDX-License-Identifier: Apache-2.0
 * Statistics of tiles that are cut. */
#include <math.h>

#include "device/cut_launch.h"
#include "device/launch.h"
#include "device/tally_kernels.h"

_Static_assert(sizeof(tz_tally) == TZ_TALLY_BYTES && offsetof(tz_tally, squares) == 40,
               "kernels write tallies as they are");

/* How samples are compared with nodata, so that they equal it as pixel/place.c says. */
typedef struct comparison {
    uint32_t kind;
    uint64_t bits;
} comparison;

static comparison as_value(double value)
{
    return (comparison){TZ_NODATA_AS_VALUE, tz_bits_of_f64(value)};
}

/* Integers of 64 bits: of those that equal one double, only one equals an integer. */
static comparison as_bits(tz_dtype dtype, const tz_nodata *nodata)
{
    const bool fits = dtype == TZ_DTYPE_INT64
                          ? nodata->kind == TZ_NODATA_INT || nodata->value.u <= (uint64_t)INT64_MAX
                          : nodata->kind == TZ_NODATA_UINT || nodata->value.i >= 0;
    const uint64_t bits =
        nodata->kind == TZ_NODATA_INT ? (uint64_t)nodata->value.i : nodata->value.u;
    return (comparison){fits ? TZ_NODATA_AS_BITS : TZ_NODATA_NEVER, bits};
}

static comparison comparison_of(tz_dtype dtype, const tz_nodata *nodata)
{
    const bool is_wide = dtype == TZ_DTYPE_INT64 || dtype == TZ_DTYPE_UINT64;
    if (nodata->kind == TZ_NODATA_NONE)
        return (comparison){TZ_NODATA_NEVER, 0};
    if (nodata->kind == TZ_NODATA_FLOAT)
        return as_value(nodata->value.f); /* NaN equals none, and does not count anyway */
    if (is_wide)
        return as_bits(dtype, nodata);
    return as_value(nodata->kind == TZ_NODATA_INT ? (double)nodata->value.i
                                                  : (double)nodata->value.u);
}

tz_result tz_cut_launch_tallies(const tz_cut_batch *batch, const tz_cut_rows *rows, uint32_t queue,
                                tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_dtype dtype = batch->row.dtype;
    const comparison nodata = comparison_of(dtype, &batch->nodata);
    const tz_argument arguments[] = {TZ_MEMORY(batch->mask ? batch->mask : batch->slab),
                                     TZ_MEMORY(batch->slab),
                                     TZ_CUT_ROWS(batch, rows),
                                     TZ_U64(batch->tallies),
                                     TZ_U32(batch->row.samples),
                                     TZ_U32(dtype <= TZ_DTYPE_FLOAT64 ? (uint32_t)dtype : 0),
                                     TZ_U32(nodata.kind),
                                     TZ_U32(batch->mask != NULL),
                                     TZ_U64(nodata.bits),
                                     TZ_U64((uint64_t)batch->mask_row_stride),
                                     TZ_U64((uint64_t)batch->mask_column_stride)};
    const tz_launch launch =
        TZ_LAUNCH_OF(rows->lanes == 1 ? TZ_KERNEL_TALLY : TZ_KERNEL_TALLY_GROUP,
                     tz_mul_capped(batch->count, batch->row.samples), arguments);
    return tz_device_launch(device, queue, &launch, err);
}
