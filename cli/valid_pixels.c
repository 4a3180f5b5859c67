/* SPDX-License-Identifier: Apache-2.0
 * Masks and alpha bands, made of what was read. */
#include "valid_pixels.h"

#include <math.h>
#include <string.h>

void valid_fill(const tz_buffer *b, uint8_t value)
{
    for (uint32_t y = 0; y < b->height; y++) {
        uint8_t *at = (uint8_t *)b->data + y * b->row_stride;
        for (uint32_t x = 0; x < b->width; x++, at += b->column_stride)
            *at = value;
    }
}

void valid_spread_alpha(const tz_buffer *alpha, size_t size)
{
    for (uint32_t y = 0; y < alpha->height; y++) {
        uint8_t *at = (uint8_t *)alpha->data + y * alpha->row_stride;
        for (uint32_t x = 0; x < alpha->width; x++, at += alpha->column_stride)
            memset(at, *at != 0 ? 0xFF : 0, size);
    }
}

/* Columns, or rows, of a part of the image: first <= i < end. */
typedef struct pixel_range {
    uint32_t first;
    uint32_t end;
} pixel_range;

/* One side of a conversion: the image is made of size pixels of the source, from offset on. */
typedef struct conversion_side {
    double level_size; /* of the level that was read */
    double full_size;  /* of level 0 */
    double offset;
    double size;
    double image_size;
} conversion_side;

/* Finds the pixels of a part of the image, from start on and count of them, that the pixels from
 * first up to end of the level touch. */
static pixel_range touched_range(const conversion_side *s, double first, double end, int64_t start,
                                 uint32_t count)
{
    const double full = s->full_size / s->level_size;
    const double scale = s->image_size / s->size;
    const double low = floor((first * full - s->offset) * scale - (double)start);
    const double high = ceil((end * full - s->offset) * scale - (double)start);
    return (pixel_range){low > 0 ? (uint32_t)fmin(low, count) : 0,
                         high > 0 ? (uint32_t)fmin(high, count) : 0};
}

/* Makes the pixels under a tile that could not be read not valid. */
static void invalidate_tile(const conversion *c, const tz_tile_status *status,
                            const tz_window *window, const tz_buffer *valid)
{
    const tz_level *level = tz_file_get_level(c->file, status->level);
    const uint64_t in_plane = status->tile % ((uint64_t)level->tiles_across * level->tiles_down);
    const double x = (double)(in_plane % level->tiles_across) * level->tile_width;
    const double y = (double)(in_plane / level->tiles_across) * level->tile_height;
    const tz_window *source = &c->from.window;
    const conversion_side across = {level->width, c->info->width, (double)source->column,
                                    source->width, c->spec.width};
    const conversion_side down = {level->height, c->info->height, (double)source->row,
                                  source->height, c->spec.height};
    const pixel_range columns =
        touched_range(&across, x, x + level->tile_width, window->column, valid->width);
    const pixel_range rows =
        touched_range(&down, y, y + level->tile_height, window->row, valid->height);
    for (uint32_t i = rows.first; i < rows.end; i++)
        for (uint32_t k = columns.first; k < columns.end; k++)
            *((uint8_t *)valid->data + i * valid->row_stride + k * valid->column_stride) = 0;
}

void valid_drop_damaged(const conversion *c, const tz_read_report *report, const tz_window *window,
                        const tz_buffer *valid)
{
    const tz_tile_status *status;
    for (uint64_t item = 0; report->tiles_failed > 0 && item < report->item_count; item++)
        for (uint64_t i = 0; (status = tz_read_report_get_tile(report, item, i)) != NULL; i++)
            if (status->result != TZ_OK && !status->mask)
                invalidate_tile(c, status, window, valid);
}

void valid_merge_bands(const tz_buffer *masks, uint32_t alpha, const tz_buffer *valid, bool within)
{
    for (uint32_t y = 0; y < valid->height; y++) {
        uint8_t *to = (uint8_t *)valid->data + y * valid->row_stride;
        for (uint32_t x = 0; x < valid->width; x++, to += valid->column_stride) {
            const uint8_t *from = (const uint8_t *)masks->data + y * masks->row_stride + x;
            uint8_t any = 0;
            for (uint32_t band = 0; band < masks->bands; band++)
                any |= band != alpha ? from[band * masks->band_stride] : 0;
            if (any == 0 || !within)
                *to = any;
        }
    }
}
