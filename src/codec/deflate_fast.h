/* SPDX-License-Identifier: Apache-2.0
 * Deflate for predicted samples, several times as fast as ordinary encoders. Such bytes have few
 * matches that are worth their price but for long runs of one byte, so runs are all it looks for:
 * the rest is Huffman coding.
 *
 * What comes out is decided by the bytes alone, group by group of 16 of them, so that any machine
 * that counts, codes and joins groups in parallel makes the same. */
#ifndef TZ_CODEC_DEFLATE_FAST_H
#define TZ_CODEC_DEFLATE_FAST_H

#include <stddef.h>
#include <stdint.h>

/* No input of size bytes takes more room than this, what is stored behind the end included. */
size_t tz_deflate_fast_bound(size_t size);

/* A raw Deflate stream (RFC 1951) of size bytes, not 0. Returns the size of what out got. */
size_t tz_deflate_fast(const uint8_t *in, size_t size, uint8_t *out);

#endif
