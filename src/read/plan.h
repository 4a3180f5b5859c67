/* SPDX-License-Identifier: Apache-2.0
 * From a request to a plan: what is wanted, checked and resolved; which tiles that takes; what it
 * costs. Nothing is read but tile tables, and nothing is allocated but the plan. */
#ifndef TZ_READ_PLAN_H
#define TZ_READ_PLAN_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "codec/codec.h"
#include "pixel/pixel.h"
#include "tiff/file.h"

/* One item, or the mask of one: a window of one grid of tiles and where it goes. */
typedef struct tz_target {
    const tz_file *file;
    uint32_t level; /* with TZ_MASK_OF for a mask */
    uint32_t group; /* the first target of the same file and level: they share tiles */
    tz_layer layer;
    const tz_codec *codec;
    tz_tile_format tile; /* of a full tile */
    tz_row_format row;
    uint8_t *tables; /* JPEGTables */

    uint32_t x0, y0, x1, y1;   /* the window within the level */
    uint32_t tile_x0, tile_x1; /* columns of tiles it touches, the last one excluded */
    uint32_t tile_y0, tile_y1;
    uint64_t tile_count;
    int64_t column_shift, row_shift; /* buffer position = level position - shift */

    tz_buffer into;        /* strides resolved */
    tz_buffer mask;        /* data NULL: none */
    bool to_mask;          /* samples become 0 or 255 in every band of mask */
    const uint32_t *bands; /* NULL: 0, 1, 2, ... */
    uint32_t band_count;
    uint32_t *planes;     /* stored by band: the different ones of bands, ascending */
    uint32_t plane_count; /* 1 when stored by pixel */
    tz_placement how;
    double *scales; /* scale and offset of each wanted band; NULL: none */
} tz_target;

typedef struct tz_plan_tile {
    uint64_t tile;
    tz_tile_span span;
    uint32_t group; /* equal group and tile: the same data */
    uint32_t target;
} tz_plan_tile;

/* Whether a tile of a sorted wave is the same as the one before it. */
static inline bool tz_plan_tile_repeats(const tz_plan_tile *tiles, size_t index)
{
    return index > 0 && tiles[index].group == tiles[index - 1].group &&
           tiles[index].tile == tiles[index - 1].tile;
}

typedef struct tz_plan {
    tz_context ctx;
    tz_read_options options;
    tz_arena arena;
    tz_target *targets;
    size_t target_count;
    uint64_t tile_count; /* of all targets, shared ones as often as they are wanted */
    size_t input_size;   /* largest piece of compressed data one worker holds */
    size_t output_size;  /* largest decoded tile */
    size_t scratch_size; /* largest prepared row */
    size_t state_size;   /* codec contexts */
    unsigned threads;
    tz_report report;
} tz_plan;

/* Tiles are handled in waves of at most this many, so that their list stays small. */
#define TZ_WAVE_TILES 65536u

tz_result tz_plan_make(tz_plan *plan, const tz_item *items, size_t count,
                       const tz_read_options *how, tz_error *err);
void tz_plan_deinit(tz_plan *plan); /* zeroed state is fine */

/* The next tiles of the plan, from position *at on (0 first): at most TZ_WAVE_TILES, sorted so that
 * equal ones stand together. *count is 0 at the end. */
tz_result tz_plan_wave(const tz_plan *plan, uint64_t *at, tz_plan_tile *tiles, size_t *count,
                       const tz_context *ctx);

/* Whether a tile's data is used as it is in the file: such tiles are read in parts. */
bool tz_target_is_raw(const tz_target *target);

#endif
