/* SPDX-License-Identifier: Apache-2.0
 * Inflate by ISA-L, which is faster than libdeflate where literals rule (images after a predictor),
 * and the trial that finds out which of the two suits the tiles at hand. Only bundled builds have
 * ISA-L; in others tz_isal_open returns NULL. */
#ifndef TZ_CODEC_INFLATE_ISAL_H
#define TZ_CODEC_INFLATE_ISAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tz_isal tz_isal; /* tables of one thread */

#ifdef TZ_HAVE_ISAL
enum { TZ_ISAL_BYTES = 96 << 10 }; /* of a tz_isal, at most */
#else
enum { TZ_ISAL_BYTES = 0 };
#endif

tz_isal *tz_isal_open(void);       /* NULL: no memory, or no ISA-L */
void tz_isal_close(tz_isal *isal); /* NULL is fine */

/* Inflates raw deflate data that makes exactly size bytes, and sets *used to the bytes read. false:
 * it does not, and libdeflate is to say why. Libdeflate takes all streams that this takes, with the
 * same output. */
bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out, size_t size,
                     size_t *used);

/* A comparison of two inflaters, by one thread: each decodes a tile in turn until one is clearly
 * faster, then that one decodes for a while, then they are compared again. Both give the same
 * bytes, so time may decide. Zeroed to begin with. */
typedef struct tz_inflate_trial {
    uint64_t nanoseconds[2];
    uint64_t bytes[2];
    uint32_t tiles[2];   /* timed in this comparison */
    uint32_t tiles_left; /* until the next comparison */
    uint32_t interval;   /* tiles after the last comparison: they become more */
    unsigned preferred;
} tz_inflate_trial;

/* Returns the inflater for the next tile, 0 or 1. *timed: the caller is to report its time. */
unsigned tz_inflate_trial_choose(tz_inflate_trial *trial, bool *timed);

/* Reports the time of a tile, and its compressed bytes. */
void tz_inflate_trial_report(tz_inflate_trial *trial, unsigned which, uint64_t nanoseconds,
                             uint64_t bytes);

/* Inflater 1 could not decode a tile: use 0 for a long time. */
void tz_inflate_trial_give_up(tz_inflate_trial *trial);

#endif
