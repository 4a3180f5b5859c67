/* SPDX-License-Identifier: Apache-2.0
 * The decoders of kernels/ as plain C, all called alike: what those of devices are compared with.
 */
#ifndef TESTS_SUPPORT_CODEC_DECODE_IN_C_H
#define TESTS_SUPPORT_CODEC_DECODE_IN_C_H

#include "kernels/inflate.h"
#include "kernels/lz4.h"
#include "kernels/lzw.h"
#include "kernels/packbits.h"
#include "kernels/zstd.h"

static inline uint32_t lzw_in_c(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                                void *work)
{
    return tz_lzw_tile(in, in_size, out, size, work);
}

static inline uint32_t packbits_in_c(const uint8_t *in, uint32_t in_size, uint8_t *out,
                                     uint32_t size, void *work)
{
    (void)work;
    return tz_packbits_tile(in, in_size, out, size);
}

static inline uint32_t inflate_in_c(const uint8_t *in, uint32_t in_size, uint8_t *out,
                                    uint32_t size, void *work)
{
    return tz_inflate_tile(in, in_size, out, size, work);
}

static inline uint32_t lz4_in_c(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                                void *work)
{
    (void)work;
    return tz_lz4_tile(in, in_size, out, size);
}

static inline uint32_t zstd_in_c(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                                 void *work)
{
    return tz_zstd_tile(in, in_size, out, size, work);
}

#endif
