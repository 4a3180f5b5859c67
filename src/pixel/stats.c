/* SPDX-License-Identifier: Apache-2.0
 * Statistics of pixels: rows to tiles, tiles to a band, a band to the result. The order of sums is
 * that of doc/numerics.md, with any instruction set, so that a file has the same statistics
 * everywhere. Sums are of differences to a pivot, a value near the mean: the squares of large
 * numbers close together would lose all bits that differ. */
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "kernels/stats.h"
#include "pixel/row_ops.h"
#include "pixel/store.h"

enum { WIDEST = 8 };

void tz_scalar_block_stats(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                           double pivot, tz_block_stats *out)
{
    const tz_conversion how = {.from = dtype, .to = TZ_DTYPE_FLOAT64};
    double samples[TZ_STATS_BLOCK];
    tz_scalar_convert(&how, row, (ptrdiff_t)tz_dtype_size(dtype), (uint8_t *)samples, WIDEST, count,
                      NULL, 0);
    *out = tz_block_stats_of(samples, flags, flags != NULL, (uint32_t)count, pivot);
}

/* Goes block by block: samples are gathered unless they lie together, flags are those of nodata and
 * of the mask. The first block with a valid sample is summed twice, the second time about the pivot
 * that it provides. */
void tz_stats_row(tz_stats *stats, tz_dtype dtype, const uint8_t *row, ptrdiff_t step, size_t count,
                  const tz_nodata *nodata, const uint8_t *mask)
{
    const tz_row_ops *ops = tz_row_ops_get();
    const size_t size = tz_dtype_size(dtype);
    size_t some;
    if (dtype >= TZ_DTYPE_COMPLEX_INT16)
        return;
    for (size_t done = 0; done < count; done += some) {
        uint8_t gathered[TZ_STATS_BLOCK * WIDEST];
        uint8_t valid[TZ_STATS_BLOCK];
        const uint8_t *samples = row + (ptrdiff_t)done * step;
        const uint8_t *flags = mask ? mask + done : NULL; /* NULL: all count */
        tz_block_stats block;
        some = tz_min_size(count - done, TZ_STATS_BLOCK);
        if (step != (ptrdiff_t)size) {
            ops->copy(size, samples, step, gathered, (ptrdiff_t)size, some);
            samples = gathered;
        }
        if (nodata->kind != TZ_NODATA_KIND_NONE) {
            const tz_conversion find = {.from = dtype, .to = dtype, .nodata = *nodata};
            tz_row_convert(&find, samples, (ptrdiff_t)size, NULL, 0, some, valid, 1);
            for (size_t i = 0; flags && i < some; i++)
                valid[i] = flags[i] ? valid[i] : 0;
            flags = valid;
        }
        ops->block_stats(dtype, samples, flags, some, stats->pivot, &block);
        if (block.valid == 0)
            continue;
        if (stats->valid == 0) {
            tz_stats_begin(stats, &block, dtype < TZ_DTYPE_FLOAT16);
            ops->block_stats(dtype, samples, flags, some, stats->pivot, &block);
        }
        tz_stats_add_block(stats, &block);
    }
}

/* ---- tiles ---- */

static double stats_mean(const tz_stats *stats)
{
    return stats->pivot + stats->sum / (double)stats->valid;
}

/* Returns the sum of squared differences to the mean; rounding may bring it below 0. */
static double stats_spread(const tz_stats *stats)
{
    const double spread = stats->squares - stats->sum * (stats->sum / (double)stats->valid);
    return spread < 0.0 ? 0.0 : spread;
}

/* Chan's formula, about a new pivot at the mean. The error of rounding the pivot stays in the sum:
 * large numbers that are close together differ in those bits only. */
static void merge_sums(tz_stats *sum, const tz_stats *tile)
{
    const double valid = (double)(sum->valid + tile->valid);
    const double share = (double)tile->valid / valid;
    const double from_pivot = sum->sum / (double)sum->valid;
    const double apart = tile->pivot - sum->pivot + (tile->sum / (double)tile->valid - from_pivot);
    const double spread =
        stats_spread(sum) + stats_spread(tile) + apart * apart * ((double)sum->valid * share);
    const double shift = from_pivot + apart * share;
    const double pivot = sum->pivot + shift;
    const double lost = shift - (pivot - sum->pivot);
    sum->pivot = pivot;
    sum->sum = lost * valid;
    sum->squares = spread + lost * sum->sum;
}

/* Infinities add up to a mean, and have no deviation. */
void tz_stats_merge(tz_stats *sum, const tz_stats *tile)
{
    if (tile->valid == 0)
        return;
    if (sum->valid == 0) {
        *sum = *tile;
        return;
    }
    if (isfinite(stats_mean(sum)) && isfinite(stats_mean(tile))) {
        merge_sums(sum, tile);
    } else {
        sum->pivot = stats_mean(sum) + stats_mean(tile);
        sum->sum = 0.0;
        sum->squares = (double)NAN;
    }
    sum->valid += tile->valid;
    sum->minimum = tile->minimum < sum->minimum ? tile->minimum : sum->minimum;
    sum->maximum = tile->maximum > sum->maximum ? tile->maximum : sum->maximum;
}

/* Adding 0.0 makes -0.0 positive: both zeros compare equal, and the order of tiles would decide
 * which one is the minimum. */
void tz_stats_result(const tz_stats *stats, tz_statistics *out)
{
    *out = (tz_statistics){.struct_size = sizeof *out, .valid_count = stats->valid};
    if (stats->valid == 0)
        return;
    out->minimum = stats->minimum + 0.0;
    out->maximum = stats->maximum + 0.0;
    out->mean = stats_mean(stats);
    out->stddev = sqrt(stats_spread(stats) / (double)stats->valid);
}
