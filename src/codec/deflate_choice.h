/* SPDX-License-Identifier: Apache-2.0
 * Which of two encoders suits the bytes of a tile: the one that looks for runs alone (see
 * deflate_fast.h), or one that looks for matches. */
#ifndef TZ_CODEC_DEFLATE_CHOICE_H
#define TZ_CODEC_DEFLATE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/deflate_estimate.h"

/* size is not 0. */
tz_deflate_estimate tz_deflate_estimate_of(const uint8_t *in, size_t size);

/* Whether runs alone make the bytes larger than matches would, by more than a twelfth. */
bool tz_deflate_wants_matches(const uint8_t *in, size_t size);

/* Whether it makes them hardly any smaller, in bytes that are far from empty. */
bool tz_deflate_matches_gain_nothing(const uint8_t *in, size_t size);

#endif
