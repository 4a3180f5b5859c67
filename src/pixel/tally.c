/* SPDX-License-Identifier: Apache-2.0
 * Statistics: the order of sums is that of doc/numerics.md, whatever instructions add them. */
#include <math.h>
#include <string.h>

#include "kernels/tally.h"
#include "pixel/row_ops.h"
#include "pixel/store.h"

enum { WIDEST = 8 };

void tz_plain_tally(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                    double pivot, tz_tally_part *out)
{
    const tz_placement how = {.from = dtype, .to = TZ_DTYPE_FLOAT64};
    double samples[TZ_TALLY_PIECE];
    tz_plain_place(&how, row, (ptrdiff_t)tz_dtype_size(dtype), (uint8_t *)samples, WIDEST, count,
                   NULL, 0);
    *out = tz_tally_piece(samples, flags, flags != NULL, (uint32_t)count, pivot);
}

/* ---- a piece of a row ---- */

typedef struct piece {
    tz_dtype dtype;
    size_t count;
    const uint8_t *samples;
    const uint8_t *flags; /* NULL: all count */
    uint8_t samples_room[TZ_TALLY_PIECE * WIDEST];
    uint8_t flags_room[TZ_TALLY_PIECE];
} piece;

static void find_flags(piece *p, const tz_nodata *nodata, const uint8_t *mask)
{
    const tz_placement how = {.from = p->dtype, .to = p->dtype, .nodata = *nodata};
    p->flags = mask;
    if (nodata->kind == TZ_NODATA_NONE)
        return;
    tz_row_place(&how, p->samples, (ptrdiff_t)tz_dtype_size(p->dtype), NULL, 0, p->count,
                 p->flags_room, 1);
    for (size_t i = 0; mask && i < p->count; i++)
        p->flags_room[i] = mask[i] ? p->flags_room[i] : 0;
    p->flags = p->flags_room;
}

static void take_piece(piece *p, const uint8_t *row, ptrdiff_t step)
{
    const size_t size = tz_dtype_size(p->dtype);
    p->samples = row;
    if (step == (ptrdiff_t)size)
        return;
    tz_row_ops_get()->copy(size, row, step, p->samples_room, (ptrdiff_t)size, p->count);
    p->samples = p->samples_room;
}

static void tally_piece(tz_tally *tally, const piece *p)
{
    const tz_row_ops *ops = tz_row_ops_get();
    tz_tally_part part;
    ops->tally(p->dtype, p->samples, p->flags, p->count, tally->pivot, &part);
    if (part.valid == 0)
        return;
    if (tally->valid == 0) {
        tz_tally_begin(tally, &part, p->dtype < TZ_DTYPE_FLOAT16);
        ops->tally(p->dtype, p->samples, p->flags, p->count, tally->pivot, &part);
    }
    tz_tally_add(tally, &part);
}

void tz_tally_row(tz_tally *tally, tz_dtype dtype, const uint8_t *row, ptrdiff_t step, size_t count,
                  const tz_nodata *nodata, const uint8_t *mask)
{
    if (dtype >= TZ_DTYPE_COMPLEX_INT16)
        return;
    for (size_t done = 0; done < count;) {
        piece p;
        p.dtype = dtype;
        p.count = count - done < TZ_TALLY_PIECE ? count - done : TZ_TALLY_PIECE;
        take_piece(&p, row + (ptrdiff_t)done * step, step);
        find_flags(&p, nodata, mask ? mask + done : NULL);
        tally_piece(tally, &p);
        done += p.count;
    }
}

/* ---- tiles ---- */

static double mean_of(const tz_tally *tally)
{
    return tally->pivot + tally->sum / (double)tally->valid;
}

/* Squared differences to the mean, summed; what rounding brings below 0 is 0. */
static double spread_of(const tz_tally *tally)
{
    const double spread = tally->squares - tally->sum * (tally->sum / (double)tally->valid);
    return spread < 0.0 ? 0.0 : spread;
}

/* Chan's formula, about a new pivot at the mean. What the pivot's rounding loses stays in the sum:
 * of large numbers close together it is what tells them apart. */
static void merge_sums(tz_tally *sum, const tz_tally *part)
{
    const double valid = (double)(sum->valid + part->valid);
    const double share = (double)part->valid / valid;
    const double from_pivot = sum->sum / (double)sum->valid;
    const double apart = part->pivot - sum->pivot + (part->sum / (double)part->valid - from_pivot);
    const double spread =
        spread_of(sum) + spread_of(part) + apart * apart * ((double)sum->valid * share);
    const double way = from_pivot + apart * share;
    const double pivot = sum->pivot + way;
    const double lost = way - (pivot - sum->pivot);
    sum->pivot = pivot;
    sum->sum = lost * valid;
    sum->squares = spread + lost * sum->sum;
}

/* Infinities add up to a mean, and have no deviation. */
static void merge_infinite(tz_tally *sum, const tz_tally *part)
{
    sum->pivot = mean_of(sum) + mean_of(part);
    sum->sum = 0.0;
    sum->squares = (double)NAN;
}

void tz_tally_merge(tz_tally *sum, const tz_tally *part)
{
    if (part->valid == 0)
        return;
    if (sum->valid == 0) {
        *sum = *part;
        return;
    }
    if (isfinite(mean_of(sum)) && isfinite(mean_of(part)))
        merge_sums(sum, part);
    else
        merge_infinite(sum, part);
    sum->valid += part->valid;
    sum->minimum = part->minimum < sum->minimum ? part->minimum : sum->minimum;
    sum->maximum = part->maximum > sum->maximum ? part->maximum : sum->maximum;
}

/* Of two zeros, which compare equal, either may have been met first: + 0.0 leaves one. */
void tz_tally_result(const tz_tally *tally, tz_statistics *out)
{
    *out = (tz_statistics){.valid = tally->valid};
    if (tally->valid == 0)
        return;
    out->minimum = tally->minimum + 0.0;
    out->maximum = tally->maximum + 0.0;
    out->mean = mean_of(tally);
    out->deviation = sqrt(spread_of(tally) / (double)tally->valid);
}
