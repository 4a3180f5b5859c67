/* SPDX-License-Identifier: Apache-2.0
 * One tile: from the bytes of the file to the pixels of everyone who wants it. */
#ifndef TZ_READ_TILE_H
#define TZ_READ_TILE_H

#include <pthread.h>

#include "read/worker.h"

/* Where a unit's tile lies. */
typedef struct tz_tile_origin {
    uint32_t x, y; /* its first pixel in the level */
    uint32_t plane;
} tz_tile_origin;
tz_tile_origin tz_tile_read_origin(const tz_plan *plan, const tz_tile_read *tile_read);

/* Decode a unit's bytes, which may be changed on the way but are as before when it returns, and
 * place its pixels. TZ_CODEC_SLACK bytes behind them are readable. */
tz_result tz_tile_store(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                        uint8_t *bytes, tz_error *err);

/* The same, but the unit's rows are written to rows as they were before they were compressed, and
 * not placed: whole tiles, or the part that an uncompressed unit is; of subsampled YCbCr, rows of
 * RGB. tz_tile_read_rows_bytes and TZ_CODEC_SLACK bytes are written at most. */
tz_result tz_tile_decode(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                         uint8_t *bytes, uint8_t *rows, tz_error *err);
size_t tz_tile_read_rows_bytes(const tz_plan *plan, const tz_tile_read *tile_read);
/* Bytes of one of them, and of what a codec makes of the unit. */
size_t tz_planned_request_row_bytes(const tz_planned_request *request);
size_t tz_tile_read_decoded_bytes(const tz_plan *plan, const tz_tile_read *tile_read);

/* What its codec is told of it. */
tz_tile_format tz_tile_read_format(const tz_plan *plan, const tz_tile_read *tile_read);

/* Whether an uncompressed unit has bytes behind its tile, of which a warning tells. */
tz_result tz_tile_check_raw(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                            tz_error *err);

/* A unit that failed: TZ_OK where all who want it have noted that, else result. lock is that of the
 * outcomes. */
tz_result tz_tile_read_record_failure(tz_plan *plan, pthread_mutex_t *lock,
                                      const tz_tile_read *tile_read, tz_result result,
                                      const tz_error *err);

/* Where in the buffer the bytes of a fetch may be read to, because they are its pixels already, in
 * one piece; NULL: nowhere. */
uint8_t *tz_fetch_destination(const tz_plan *plan, tz_worker *worker, const tz_span *fetch);

/* Uncompressed tiles that lie side by side in the file and in the buffer are copied together: how
 * many of the pieces of a fetch, whose bytes are worker->input; 0: none. */
size_t tz_tile_store_joined(const tz_plan *plan, tz_worker *worker, const tz_indexed_range *ranges,
                            size_t count, const tz_span *fetch, tz_error *err);

/* Whether a compressed tile can be decoded straight into the buffer. */
bool tz_tile_is_direct(const tz_plan *plan, const tz_tile_read *tile_read);

/* The error of a unit without bytes whose entry in the table is wrong; TZ_OK: the file does not
 * have the tile. */
tz_result tz_tile_check_empty(const tz_plan *plan, const tz_tile_read *tile_read, tz_error *err);

/* A unit without bytes: nodata, or 0, where tz_tile_check_empty finds nothing wrong. */
tz_result tz_tile_store_empty(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                              tz_error *err);

/* The sample that pixels of missing tiles have, of the type that the file has; 16 bytes. */
void tz_planned_request_missing_sample(const tz_planned_request *request, uint8_t *sample);

/* The pixels of a tile that could not be had: nodata, or 0, and masked. */
void tz_tile_store_failed(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read);

/* The part of a tile that the target wants, in pixels of the level; false: none. */
bool tz_planned_request_tile_window(const tz_planned_request *request, uint64_t tile,
                                    tz_window *out);

/* Where another target fills the mask: that a tile of pixels could not be had counts more. */
void tz_planned_request_mask_tile(const tz_planned_request *request, const tz_planned_request *mask,
                                  uint64_t tile);

/* What a boundless window has outside of the level. */
void tz_planned_request_fill_outside(const tz_planned_request *request,
                                     const tz_read_options *options);

#endif
