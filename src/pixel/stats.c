/* SPDX-License-Identifier: Apache-2.0
 * Statistics: the order of sums is that of doc/numerics.md, whatever instructions add them. */
#include <math.h>
#include <string.h>

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

/* ---- a piece of a row ---- */

typedef struct stats_block {
    tz_dtype dtype;
    size_t count;
    const uint8_t *samples;
    const uint8_t *flags; /* NULL: all count */
    uint8_t sample_buffer[TZ_STATS_BLOCK * WIDEST];
    uint8_t flag_buffer[TZ_STATS_BLOCK];
} stats_block;

static void flag_valid(stats_block *p, const tz_nodata *nodata, const uint8_t *mask)
{
    const tz_conversion how = {.from = p->dtype, .to = p->dtype, .nodata = *nodata};
    p->flags = mask;
    if (nodata->kind == TZ_NODATA_NONE)
        return;
    tz_row_convert(&how, p->samples, (ptrdiff_t)tz_dtype_size(p->dtype), NULL, 0, p->count,
                   p->flag_buffer, 1);
    for (size_t i = 0; mask && i < p->count; i++)
        p->flag_buffer[i] = mask[i] ? p->flag_buffer[i] : 0;
    p->flags = p->flag_buffer;
}

static void gather_samples(stats_block *p, const uint8_t *row, ptrdiff_t step)
{
    const size_t size = tz_dtype_size(p->dtype);
    p->samples = row;
    if (step == (ptrdiff_t)size)
        return;
    tz_row_ops_get()->copy(size, row, step, p->sample_buffer, (ptrdiff_t)size, p->count);
    p->samples = p->sample_buffer;
}

static void add_block_stats(tz_stats *stats, const stats_block *p)
{
    const tz_row_ops *ops = tz_row_ops_get();
    tz_block_stats part;
    ops->block_stats(p->dtype, p->samples, p->flags, p->count, stats->pivot, &part);
    if (part.valid == 0)
        return;
    if (stats->valid == 0) {
        tz_stats_begin(stats, &part, p->dtype < TZ_DTYPE_FLOAT16);
        ops->block_stats(p->dtype, p->samples, p->flags, p->count, stats->pivot, &part);
    }
    tz_stats_add_block(stats, &part);
}

void tz_stats_row(tz_stats *stats, tz_dtype dtype, const uint8_t *row, ptrdiff_t step, size_t count,
                  const tz_nodata *nodata, const uint8_t *mask)
{
    if (dtype >= TZ_DTYPE_COMPLEX_INT16)
        return;
    for (size_t done = 0; done < count;) {
        stats_block p;
        p.dtype = dtype;
        p.count = count - done < TZ_STATS_BLOCK ? count - done : TZ_STATS_BLOCK;
        gather_samples(&p, row + (ptrdiff_t)done * step, step);
        flag_valid(&p, nodata, mask ? mask + done : NULL);
        add_block_stats(stats, &p);
        done += p.count;
    }
}

/* ---- tiles ---- */

static double stats_mean(const tz_stats *stats)
{
    return stats->pivot + stats->sum / (double)stats->valid;
}

/* Squared differences to the mean, summed; what rounding brings below 0 is 0. */
static double stats_spread(const tz_stats *stats)
{
    const double spread = stats->squares - stats->sum * (stats->sum / (double)stats->valid);
    return spread < 0.0 ? 0.0 : spread;
}

/* Chan's formula, about a new pivot at the mean. What the pivot's rounding loses stays in the sum:
 * of large numbers close together it is what tells them apart. */
static void merge_sums(tz_stats *sum, const tz_stats *part)
{
    const double valid = (double)(sum->valid + part->valid);
    const double share = (double)part->valid / valid;
    const double from_pivot = sum->sum / (double)sum->valid;
    const double apart = part->pivot - sum->pivot + (part->sum / (double)part->valid - from_pivot);
    const double spread =
        stats_spread(sum) + stats_spread(part) + apart * apart * ((double)sum->valid * share);
    const double shift = from_pivot + apart * share;
    const double pivot = sum->pivot + shift;
    const double lost = shift - (pivot - sum->pivot);
    sum->pivot = pivot;
    sum->sum = lost * valid;
    sum->squares = spread + lost * sum->sum;
}

/* Infinities add up to a mean, and have no deviation. */
static void merge_infinite(tz_stats *sum, const tz_stats *part)
{
    sum->pivot = stats_mean(sum) + stats_mean(part);
    sum->sum = 0.0;
    sum->squares = (double)NAN;
}

void tz_stats_merge(tz_stats *sum, const tz_stats *part)
{
    if (part->valid == 0)
        return;
    if (sum->valid == 0) {
        *sum = *part;
        return;
    }
    if (isfinite(stats_mean(sum)) && isfinite(stats_mean(part)))
        merge_sums(sum, part);
    else
        merge_infinite(sum, part);
    sum->valid += part->valid;
    sum->minimum = part->minimum < sum->minimum ? part->minimum : sum->minimum;
    sum->maximum = part->maximum > sum->maximum ? part->maximum : sum->maximum;
}

/* Of two zeros, which compare equal, either may have been met first: + 0.0 leaves one. */
void tz_stats_result(const tz_stats *stats, tz_statistics *out)
{
    *out = (tz_statistics){.valid = stats->valid};
    if (stats->valid == 0)
        return;
    out->minimum = stats->minimum + 0.0;
    out->maximum = stats->maximum + 0.0;
    out->mean = stats_mean(stats);
    out->deviation = sqrt(stats_spread(stats) / (double)stats->valid);
}
