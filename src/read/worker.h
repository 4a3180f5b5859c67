/* SPDX-License-Identifier: Apache-2.0
 * What one thread works with. */
#ifndef TZ_READ_WORKER_H
#define TZ_READ_WORKER_H

#include "read/plan.h"

/* All of it is taken before the first tile. */
typedef struct tz_worker {
    uint8_t *memory;              /* one block for the parts below */
    uint8_t *input;               /* what was read */
    uint8_t *output;              /* a decoded tile */
    uint8_t *row;                 /* a prepared row */
    uint8_t *scratch;             /* what preparing it takes */
    void *states[TZ_CODEC_COUNT]; /* of decoders, by row of tz_codecs; NULL: not needed */
    tz_warnings warnings;
    uint64_t tiles_direct;
    uint64_t tiles_decoded;
} tz_worker;

tz_result tz_worker_init(tz_worker *worker, const tz_plan *plan);
void tz_worker_deinit(tz_worker *worker); /* zeroed state is fine */

/* The codec's context; NULL when it has none. */
void *tz_worker_state(const tz_worker *worker, const tz_decoder *codec);

#endif
