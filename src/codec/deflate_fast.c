/* SPDX-License-Identifier: Apache-2.0
 * See deflate_fast.h. The work itself is a kernel, which devices run too. */
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
