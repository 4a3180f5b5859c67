/* SPDX-License-Identifier: Apache-2.0
 * One tile: from the bytes of the file to the pixels of everyone who wants it. */
#ifndef TZ_READ_TILE_H
#define TZ_READ_TILE_H

#include "read/worker.h"

/* Decode a unit's bytes, which may be changed on the way but are as before when it returns, and
 * place its pixels. TZ_CODEC_SLACK bytes behind them are readable. */
tz_result tz_tile_place(const tz_plan *plan, tz_worker *worker, const tz_unit *unit, uint8_t *bytes,
                        tz_error *err);

/* Where in the buffer the bytes of a fetch may be read to, because they are its pixels already, in
 * one piece; NULL: nowhere. */
uint8_t *tz_tiles_in_place(const tz_plan *plan, tz_worker *worker, const tz_span *fetch);

/* Uncompressed tiles that lie side by side in the file and in the buffer are copied together: how
 * many of the pieces of a fetch, whose bytes are worker->input; 0: none. */
size_t tz_tile_place_joined(const tz_plan *plan, tz_worker *worker, const tz_piece *pieces,
                            size_t count, const tz_span *fetch, tz_error *err);

/* Whether a compressed tile can be decoded straight into the buffer. */
bool tz_tile_is_direct(const tz_plan *plan, const tz_unit *unit);

/* A unit without bytes: nodata, or 0, for a tile that the file does not have; the error of one
 * whose entry in the table is wrong. */
tz_result tz_tile_place_empty(const tz_plan *plan, tz_worker *worker, const tz_unit *unit,
                              tz_error *err);

/* The pixels of a tile that could not be had: nodata, or 0, and masked. */
void tz_tile_place_failed(const tz_plan *plan, tz_worker *worker, const tz_unit *unit);

/* Where another target fills the mask: that a tile of pixels could not be had counts more. */
void tz_target_mask_tile(const tz_target *target, const tz_target *mask, uint64_t tile);

/* What a boundless window has outside of the level. */
void tz_target_fill_outside(const tz_target *target, double fill);

#endif
