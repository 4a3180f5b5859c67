/* SPDX-License-Identifier: Apache-2.0
 * Deflate for predicted samples, several times as fast as ordinary encoders. Such bytes have few
 * matches that are worth their price but for long runs of one byte, so runs are all it looks for:
 * the rest is Huffman coding.
 *
 * What comes out is decided by the bytes alone, group by group of 16 of them, so that any machine
 * that counts, codes and joins groups in parallel makes the same. */
#ifndef TZ_CODEC_DEFLATE_FAST_H
#define TZ_CODEC_DEFLATE_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/deflate_estimate.h"

/* No input of size bytes takes more room than this, what is stored behind the end included. */
size_t tz_deflate_fast_bound(size_t size);

/* A raw Deflate stream (RFC 1951) of size bytes, not 0. Returns the size of what out got. */
size_t tz_deflate_fast(const uint8_t *in, size_t size, uint8_t *out);

/* ---------------------------------------------------------------------------------------------
 * Which of two encoders suits the bytes of a tile: the one that looks for runs alone (see
 * deflate_fast.h), or one that looks for matches.
 * ------------------------------------------------------------------------------------------ */

/* size is not 0. */
tz_deflate_estimate tz_deflate_estimate_of(const uint8_t *in, size_t size);

/* Whether runs alone make the bytes larger than matches would, by more than a twelfth. */
bool tz_deflate_wants_matches(const uint8_t *in, size_t size);

/* Whether it makes them hardly any smaller, in bytes that are far from empty. */
bool tz_deflate_matches_gain_nothing(const uint8_t *in, size_t size);

#endif
