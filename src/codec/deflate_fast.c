/* SPDX-License-Identifier: Apache-2.0
 * See deflate_fast.h. Encoder and estimate are kernels, which devices run too. */
#include "codec/deflate_fast.h"
#include "kernels/deflate_encode.h"

size_t tz_deflate_fast(const uint8_t *in, size_t size, uint8_t *out)
{
    tz_deflate_scratch work;
    return (size_t)tz_deflate_raw(in, size, out, &work);
}

size_t tz_deflate_fast_bound(size_t size)
{
    return (size_t)tz_deflate_raw_bound(size);
}

tz_deflate_estimate tz_deflate_estimate_of(const uint8_t *in, size_t size)
{
    tz_estimate_scratch work;
    return tz_estimate_tile(in, size, &work);
}

bool tz_deflate_wants_matches(const uint8_t *in, size_t size)
{
    return tz_estimate_prefers_matches(tz_deflate_estimate_of(in, size)) != 0;
}

bool tz_deflate_matches_gain_nothing(const uint8_t *in, size_t size)
{
    enum { BUSY_BITS = 4 }; /* for a byte; with fewer, the estimate says little */
    tz_deflate_estimate bits = tz_deflate_estimate_of(in, size);
    return bits.by_runs * 500 <= bits.by_matches * 501 && bits.by_runs >= bits.bytes * BUSY_BITS;
}
