/* SPDX-License-Identifier: Apache-2.0
 * A wave: the next tiles of a plan, each listed once, and the reads of the files that fetch them.
 * Some thousand tiles are listed at a time, so that the lists stay small however large the plan
 * is. */
#ifndef TZ_READ_WAVE_H
#define TZ_READ_WAVE_H

#include "io/spans.h"
#include "read/read_request.h"

/* Most tile reads of one wave. */
#define TZ_WAVE_TILE_READS 16384u

/* A tile, or a row range of an uncompressed one, that one request wants. Equal layer, tile and row
 * range: the same data. */
typedef struct tz_wanted_tile {
    uint64_t tile;
    tz_tile_span span; /* of the whole tile */
    uint32_t row_range;
    uint32_t layer_id;
    uint32_t request;
    uint16_t result; /* of its entry in the tile table; with salvage bad ones are accepted */
    uint16_t cause;
} tz_wanted_tile;

/* The same tile or row range, read and decoded once for all requests that want it. */
typedef struct tz_tile_read {
    uint32_t first; /* of wanted */
    uint32_t count;
    uint32_t row0, row1;       /* rows of the tile that any of them wants */
    uint32_t column0, column1; /* and pixels of a row */
} tz_tile_read;

typedef struct tz_wave {
    const tz_planned_request *requests; /* the plan's */
    size_t request_count;
    uint64_t total;      /* positions in the plan: tile reads, shared ones once for each request */
    uint64_t max_hinted; /* bytes of a fetch at most, whatever merge_span its source suggests */
    size_t capacity;     /* positions that the lists below hold */
    bool salvage;        /* tiles may fail; without, the error of a tile is that of the read */
    uint64_t begin, end; /* positions that are listed */
    tz_wanted_tile *wanted;
    size_t wanted_count;
    tz_tile_read *tile_reads;
    size_t tile_read_count;
    tz_indexed_range *ranges; /* of the file, for each tile read with data; index: of tile_reads */
    tz_span *fetches;         /* reads of the source; each covers neighbouring ranges */
    size_t fetch_count;
    uint32_t *empty; /* tile reads without data: sparse tiles and bad entries */
    size_t empty_count;
} tz_wave;

/* Allocates the lists for the capacity. */
tz_result tz_wave_init(tz_wave *wave, const tz_context *ctx);
void tz_wave_deinit(tz_wave *wave); /* zeroed state is fine */

/* Bytes that the lists take for each position. */
size_t tz_wave_tile_read_bytes(void);

/* Lists the positions from wave->end on; tile_read_count is 0 if none are left. Neighbouring tiles
 * become one fetch up to fetch_size bytes, or as the hints of their source say; fetch_size 1: none
 * do. Warnings about tile tables go to table_warnings; NULL:
 * they are not counted again. */
tz_result tz_wave_next(tz_wave *wave, size_t fetch_size, tz_warnings *table_warnings,
                       const tz_context *ctx);

/* ---- one tile read ---- */

/* The entry of request number index among those that want the tile. The first one describes the
 * tile. */
static inline const tz_wanted_tile *
tz_tile_read_wanted(const tz_wave *wave, const tz_tile_read *tile_read, uint32_t index)
{
    return &wave->wanted[tile_read->first + index];
}

static inline const tz_planned_request *
tz_tile_read_request(const tz_wave *wave, const tz_tile_read *tile_read, uint32_t index)
{
    return &wave->requests[wave->wanted[tile_read->first + index].request];
}

/* Tile read number index of a fetch. */
static inline const tz_tile_read *tz_fetch_tile_read(const tz_wave *wave, const tz_span *fetch,
                                                     size_t index)
{
    return &wave->tile_reads[wave->ranges[fetch->first + index].index];
}

/* The bytes of the file that hold it; size 0: none. */
tz_indexed_range tz_tile_read_range(const tz_wave *wave, const tz_tile_read *tile_read);

/* Position of its tile in the level. */
typedef struct tz_tile_origin {
    uint32_t x, y; /* of the first pixel */
    uint32_t plane;
} tz_tile_origin;
tz_tile_origin tz_tile_read_origin(const tz_wave *wave, const tz_tile_read *tile_read);

/* The context of errors about its bytes. */
tz_context tz_tile_read_context(const tz_wave *wave, const tz_tile_read *tile_read, tz_error *err);

/* Reads bytes of its file. */
tz_result tz_tile_read_from_file(const tz_wave *wave, const tz_tile_read *tile_read,
                                 uint64_t offset, uint64_t size, uint8_t *dst, tz_error *err);

/* Records in the outcomes' lists that a tile failed. False if tiles may not fail, or the failure is
 * not the tile's. *is_new: no other row range of the tile has failed before. */
bool tz_tile_read_mark_failed(const tz_wave *wave, const tz_tile_read *tile_read, tz_result result,
                              tz_cause cause, bool *is_new);

#endif
