/* SPDX-License-Identifier: Apache-2.0
 * One tile: from the bytes of the file to the pixels of all requests that want it, and the memory
 * of a thread that does this. */
#ifndef TZ_READ_TILE_H
#define TZ_READ_TILE_H

#include <pthread.h>

#include "read/plan.h"

/* ---- workers ---- */

/* One thread's memory, all of it allocated before the first tile. */
typedef struct tz_worker {
    uint8_t *memory;              /* one allocation for the four buffers below */
    uint8_t *input;               /* bytes of a fetch */
    uint8_t *output;              /* a decoded tile */
    uint8_t *row;                 /* a prepared row */
    uint8_t *scratch;             /* for preparing it */
    void *states[TZ_CODEC_COUNT]; /* of decoders, by row of tz_codecs; NULL: not needed */
    tz_warnings warnings;
    uint64_t tiles_direct;
    uint64_t tiles_decoded;
} tz_worker;

/* One worker for each thread of a plan. */
struct tz_workers {
    tz_worker *list;
    unsigned count;
};
tz_result tz_workers_init(tz_workers *workers, const tz_plan *plan);
void tz_workers_deinit(tz_workers *workers); /* zeroed or half-made state is fine */

/* ---- tiles with bytes ---- */

/* Decodes a tile's bytes and stores its pixels. The bytes may be changed meanwhile and are as
 * before when it returns; TZ_CODEC_SLACK bytes after them are readable. */
tz_result tz_tile_store(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                        uint8_t *bytes, tz_error *err);

/* Decodes a tile's bytes to rows, as they were before they were compressed, and stores no pixels.
 * The rows are those of the whole tile, or the row range of an uncompressed one; of subsampled
 * YCbCr, rows of RGB. At most tz_tile_read_rows_bytes and TZ_CODEC_SLACK bytes are written. */
tz_result tz_tile_decode(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                         uint8_t *bytes, uint8_t *rows, tz_error *err);
size_t tz_tile_read_rows_bytes(const tz_plan *plan, const tz_tile_read *tile_read);
size_t tz_planned_request_row_bytes(const tz_planned_request *request);

/* The format that the tile's codec is given, and the bytes that the codec makes. */
tz_tile_format tz_tile_read_format(const tz_plan *plan, const tz_tile_read *tile_read);
size_t tz_tile_read_decoded_bytes(const tz_plan *plan, const tz_tile_read *tile_read);

/* Warns if an uncompressed tile has bytes after its pixels. */
tz_result tz_tile_check_raw(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                            tz_error *err);

/* True if a compressed tile can be decoded straight into the buffer. */
bool tz_tile_is_direct(const tz_plan *plan, const tz_tile_read *tile_read);

/* ---- fetches of uncompressed tiles ---- */

/* The destination in the buffer that a fetch can be read to, because its bytes are the buffer's
 * pixels already, in one run; NULL: none. */
uint8_t *tz_fetch_destination(const tz_plan *plan, tz_worker *worker, const tz_span *fetch);

/* Copies uncompressed tiles together that lie side by side in the file and in the buffer. The bytes
 * of the fetch are worker->input, and ranges are those left of it. Returns how many were copied; 0:
 * none. */
size_t tz_tile_store_joined(const tz_plan *plan, tz_worker *worker, const tz_indexed_range *ranges,
                            size_t count, const tz_span *fetch, tz_error *err);

/* ---- tiles without pixels ---- */

/* The error of a tile without bytes whose entry in the table is wrong; TZ_OK: the file does not
 * have the tile. */
tz_result tz_tile_check_empty(const tz_plan *plan, const tz_tile_read *tile_read, tz_error *err);

/* Stores nodata, or 0, for a tile without bytes, unless tz_tile_check_empty fails. */
tz_result tz_tile_store_empty(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                              tz_error *err);

/* The sample that pixels of missing tiles have, of the file's type; 16 bytes. */
void tz_planned_request_missing_sample(const tz_planned_request *request, uint8_t *sample);

/* Records a tile that failed: TZ_OK if it may fail, else result. lock guards the outcomes. */
tz_result tz_tile_read_record_failure(tz_plan *plan, pthread_mutex_t *lock,
                                      const tz_tile_read *tile_read, tz_result result,
                                      const tz_error *err);

/* Stores the pixels of a tile that failed: nodata, or 0, and masked. */
void tz_tile_store_failed(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read);

/* The part of a tile that the request wants, in pixels of the level; false: none. */
bool tz_planned_request_tile_window(const tz_planned_request *request, uint64_t tile,
                                    tz_window *out);

/* Masks a tile of pixels that failed in a mask that another request fills: the failure outweighs
 * the file's mask. A tz_failed_tile_fn, which does not use user. */
void tz_planned_request_mask_tile(void *user, const tz_planned_request *request,
                                  const tz_planned_request *mask, uint64_t tile);

/* Fills the pixels of a boundless window that are outside the level. */
void tz_planned_request_fill_outside(const tz_planned_request *request,
                                     const tz_read_options *options);

#endif
