/* SPDX-License-Identifier: Apache-2.0
 * Divides a window into blocks. Bands are divided first, and only where reading some of them costs
 * no more (they are stored apart) or where blocks must follow each other as bytes of a stream do;
 * then columns, unless blocks must be in order; then rows. Steps are whole tiles if a tile fits,
 * and they end at edges of the image's tile grid, which the window's corner may lie in the middle
 * of. */
#include "blocks.h"

static uint32_t min_u32(uint64_t value, uint32_t max)
{
    return value < max ? (uint32_t)value : max;
}

/* Returns the length of a side that fits: whole tiles if one fits at all, at least one pixel. */
static uint32_t fitting_side(uint64_t budget, uint32_t tile, uint32_t side)
{
    if (budget >= side)
        return side;
    if (budget >= tile)
        return (uint32_t)(budget / tile * tile);
    return budget > 0 ? (uint32_t)budget : 1;
}

void blocks_start(blocks *b, const block_shape *shape, uint64_t budget)
{
    const block_shape *s = shape;
    uint64_t samples = budget / s->sample_size;
    uint64_t plane = (uint64_t)s->width * s->height;
    *b = (blocks){.shape = *shape, .band_step = s->bands};
    bool may_split = !s->all_bands && (s->by_band || s->in_order);
    if (samples / s->bands < plane && s->bands > 1 && may_split)
        b->band_step = plane > 0 && samples / plane > 1 ? min_u32(samples / plane, s->bands) : 1;
    samples /= b->band_step;
    uint32_t tile_rows = min_u32(s->tile_height, s->height);
    b->column_step =
        s->in_order ? s->width : fitting_side(samples / tile_rows, s->tile_width, s->width);
    b->row_step = fitting_side(samples / b->column_step, s->tile_height, s->height);
}

/* Returns the step from an offset to the last edge of a tile within reach. A step that is not a
 * multiple of the tile, or ends before the first edge, stays as it is. */
static uint32_t step_from(uint32_t at, uint32_t step, uint32_t side, uint32_t tile, int64_t phase)
{
    uint32_t left = side - at;
    if (step >= left)
        return left;
    if (step % tile != 0)
        return step;
    uint32_t into = (uint32_t)((((int64_t)at + phase) % tile + tile) % tile);
    return step - into;
}

static void set_columns(blocks *b)
{
    const block_shape *s = &b->shape;
    b->now.width =
        step_from(b->now.column, b->column_step, s->width, s->tile_width, s->column_phase);
}

static void set_rows(blocks *b)
{
    const block_shape *s = &b->shape;
    b->now.height = step_from(b->now.row, b->row_step, s->height, s->tile_height, s->row_phase);
}

bool blocks_next(blocks *b, block *out)
{
    const block_shape *s = &b->shape;
    block *now = &b->now;
    if (now->bands == 0) {
        now->bands = b->band_step;
        set_rows(b);
    } else if ((now->column += now->width) == s->width) {
        now->column = 0;
        if ((now->row += now->height) == s->height) {
            now->row = 0;
            if ((now->band += now->bands) == s->bands)
                return false;
            now->bands = min_u32(b->band_step, s->bands - now->band);
        }
        set_rows(b);
    }
    set_columns(b);
    *out = *now;
    return true;
}

uint64_t blocks_largest(const blocks *b)
{
    return (uint64_t)b->band_step * b->row_step * b->column_step;
}
