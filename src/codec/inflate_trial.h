/* SPDX-License-Identifier: Apache-2.0
 * Which of two inflaters a thread uses, found by timing both on the tiles at hand: each in turn
 * until one is clearly faster, then that one for a while, then again. Both give the same bytes, so
 * time may decide. */
#ifndef TZ_CODEC_INFLATE_TRIAL_H
#define TZ_CODEC_INFLATE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed to begin with. */
typedef struct tz_inflate_trial {
    uint64_t nanoseconds[2];
    uint64_t bytes[2];
    uint32_t tiles[2];   /* timed in this comparison */
    uint32_t tiles_left; /* tiles until the next comparison */
    uint32_t interval;   /* of the last one: they become longer */
    unsigned preferred;
} tz_inflate_trial;

/* The inflater for the next tile, 0 or 1. *timed: tell what it took. */
unsigned tz_inflate_trial_choose(tz_inflate_trial *trial, bool *timed);

/* What a tile took, and its compressed bytes. */
void tz_inflate_trial_report(tz_inflate_trial *trial, unsigned which, uint64_t nanoseconds,
                             uint64_t bytes);

/* Number 1 could not decode a tile: number 0 for a long time. */
void tz_inflate_trial_give_up(tz_inflate_trial *trial);

#endif
