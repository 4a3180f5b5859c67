/* SPDX-License-Identifier: Apache-2.0
 * Deflate for predicted samples, several times as fast as ordinary encoders. Such bytes have few
 * matches that are worth their price but for long runs of one byte, so runs are all it looks for:
 * the rest is Huffman coding. The estimates below say if a tile suits it.
 *
 * The output depends on the bytes alone, group by group of 16 of them, so that any machine that
 * counts, codes and joins groups in parallel makes the same. */
#ifndef TZ_CODEC_DEFLATE_FAST_H
#define TZ_CODEC_DEFLATE_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/deflate_estimate.h"

/* Returns the most bytes that an input of size bytes takes, with those stored past the end. */
size_t tz_deflate_fast_bound(size_t size);

/* Makes a raw Deflate stream (RFC 1951) of size bytes, not 0; returns its size. */
size_t tz_deflate_fast(const uint8_t *in, size_t size, uint8_t *out);

/* Estimates the sizes that an encoder makes which looks for runs alone, and one which looks for
 * matches. size is not 0. */
tz_deflate_estimate tz_deflate_estimate_of(const uint8_t *in, size_t size);

/* True if runs alone make the bytes larger than matches would, by more than a twelfth. */
bool tz_deflate_wants_matches(const uint8_t *in, size_t size);

/* True if matches make the bytes hardly any smaller, and the bytes are far from empty. */
bool tz_deflate_matches_gain_nothing(const uint8_t *in, size_t size);

#endif
