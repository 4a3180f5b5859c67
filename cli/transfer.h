/* SPDX-License-Identifier: Apache-2.0
 * Reads a request in blocks that fit in memory, or finds its cost. */
#ifndef CLI_TRANSFER_H
#define CLI_TRANSFER_H

#include "blocks.h"
#include "damaged.h"
#include "request.h"

/* Gets each block. mask->data is NULL unless a mask was asked for. */
typedef struct transfer_sink {
    tz_result (*put)(void *user, const block *where, const tz_buffer *pixels, const tz_buffer *mask,
                     tz_error *err);
    void *user;
    bool in_order; /* can only append */
    bool whole;    /* needs all pixels in one block */
} transfer_sink;

typedef struct transfer_result {
    tz_read_report *report; /* of all blocks together */
    tz_item_report item;    /* of the last block: level, and whether it was resampled */
    uint64_t block_count;
    uint64_t buffer_bytes; /* memory of the largest block */
    damaged_tiles damaged;
} transfer_result;

/* dry: only plans; nothing is read and the sink gets nothing. The result is freed by the caller,
 * also after a failure. */
tz_result transfer_run(const request *r, const transfer_sink *sink, bool dry, transfer_result *out,
                       tz_error *err);
void transfer_result_free(transfer_result *result); /* zeroed state is fine */

#endif
