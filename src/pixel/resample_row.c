/* SPDX-License-Identifier: Apache-2.0 */
#include "pixel/resample_row.h"

#include <math.h>
#include <string.h>

#include "kernels/weigh.h"
#include "pixel/pixel.h"

/* ---- memory ---- */

static size_t rounded(size_t size)
{
    return (size + 63) / 64 * 64;
}

size_t tz_resample_memory_bytes(uint32_t width, uint32_t old_width)
{
    return rounded(old_width * sizeof(double)) + 2 * rounded(width * sizeof(double));
}

void tz_resample_memory_make(tz_resample_memory *out, uint32_t width, uint32_t old_width,
                             void *memory)
{
    uint8_t *at = memory;
    out->samples = (double *)at;
    at += rounded(old_width * sizeof(double));
    out->sums = (double *)at;
    at += rounded(width * sizeof(double));
    out->weights = (double *)at;
}

/* ---- nearest ---- */

void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid)
{
    const size_t size = tz_dtype_size(r->dtype);
    const tz_old_row old = r->old_row(r->user, row);
    for (uint32_t i = 0; i < r->width; i++) {
        if (r->across.count[i] == 0) {
            memset(samples + i * size, 0, size);
            valid[i] = 0;
            continue;
        }
        const int64_t at = r->across.first[i] - r->column;
        memcpy(samples + i * size, old.samples + at * old.step, size);
        valid[i] = old.valid ? old.valid[at] : 255;
    }
}

/* ---- weighted sums ---- */

/* What is not valid becomes NaN, so that all that follows knows one way to say so. */
static void load_row(const tz_resampler *r, int64_t row, double *out)
{
    const tz_placement to_double = {.from = r->dtype, .to = TZ_DTYPE_FLOAT64};
    const tz_old_row old = r->old_row(r->user, row);
    tz_row_place(&to_double, old.samples, old.step, (uint8_t *)out, sizeof *out, r->old_width, NULL,
                 0);
    for (uint32_t i = 0; old.valid && i < r->old_width; i++) {
        if (!old.valid[i])
            out[i] = (double)NAN;
    }
}

static void add_row(const tz_resampler *r, double weight, const tz_resample_memory *m)
{
    for (uint32_t i = 0; i < r->width; i++) {
        const size_t at = r->across.count[i] > 0 ? (size_t)(r->across.first[i] - r->column) : 0;
        double s = 0;
        double w = 0;
        tz_weigh_row(m->samples + at, r->across.weights + r->across.start[i], r->across.count[i],
                     &s, &w);
        m->sums[i] += weight * s;
        m->weights[i] += weight * w;
    }
}

void tz_resample_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        const tz_resample_memory *m, uint8_t *valid)
{
    memset(m->sums, 0, r->width * sizeof *m->sums);
    memset(m->weights, 0, r->width * sizeof *m->weights);
    for (uint32_t k = 0; k < down->count[i]; k++) {
        load_row(r, down->first[i] + k, m->samples);
        add_row(r, down->weights[down->start[i] + k], m);
    }
    for (uint32_t k = 0; k < r->width; k++) {
        valid[k] = m->weights[k] > 0 ? 255 : 0;
        m->sums[k] = m->weights[k] > 0 ? m->sums[k] / m->weights[k] : (double)NAN;
    }
}
