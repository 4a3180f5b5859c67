/* SPDX-License-Identifier: Apache-2.0
 * PNG of 8 bits per channel (ISO/IEC 15948), row by row.
 *
 * Each row is filtered in all five ways, and the one with the smallest sum of distances from 0 is
 * kept, as libpng's heuristic does; TZ_EFFORT_FAST subtracts the row above from all of them.
 * Filtered rows go to deflate_stream.c, whose output becomes IDAT chunks. So the memory depends on
 * the width of the picture and not on its height. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/unaligned.h"
#include "image/deflate_stream.h"
#include "image/image_encoder.h"

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS };

typedef struct png_encoder {
    tz_image_output *to;
    tz_deflate_stream *stream;
    size_t row_size;
    uint32_t channels;
    bool fast;
    uint32_t crc_table[256];
    uint8_t *row;               /* after a pixel of zeros */
    uint8_t *above;             /* the row before, in the same way; zeros at first */
    uint8_t *filtered[FILTERS]; /* each a byte for the filter, then the row */
    uint8_t *memory;            /* of all rows */
} png_encoder;

/* ---------------------------------------------------------------------------------------------
 * Chunks
 * ------------------------------------------------------------------------------------------ */

static void make_crc_table(uint32_t *table)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? 0xEDB88320u ^ value >> 1 : value >> 1;
        table[i] = value;
    }
}

static uint32_t add_crc(const uint32_t *table, uint32_t crc, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 0xFF] ^ crc >> 8;
    return crc;
}

static tz_result put_chunk(png_encoder *p, const char *type, const uint8_t *bytes, size_t size,
                           const tz_context *ctx)
{
    uint8_t head[8];
    uint8_t tail[4];
    tz_store_be32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    const uint32_t crc = add_crc(p->crc_table, UINT32_MAX, head + 4, 4);
    tz_store_be32(tail, ~add_crc(p->crc_table, crc, bytes, size));
    const tz_bytes pieces[] = {{head, sizeof head}, {bytes, size}, {tail, sizeof tail}};
    const tz_bytes empty[] = {pieces[0], pieces[2]};
    return size > 0 ? tz_image_put(p->to, pieces, 3, ctx) : tz_image_put(p->to, empty, 2, ctx);
}

static tz_result put_idat(void *user, const uint8_t *bytes, size_t size, const tz_context *ctx)
{
    return put_chunk(user, "IDAT", bytes, size, ctx);
}

static tz_result put_header(png_encoder *p, const tz_image_task *task, const tz_context *ctx)
{
    static const uint8_t color_types[] = {0, 0, 4, 2, 6};
    const tz_bytes signature = {"\x89PNG\r\n\x1a\n", 8};
    uint8_t header[13] = {0};
    tz_store_be32(header, task->width);
    tz_store_be32(header + 4, task->height);
    header[8] = 8;
    header[9] = color_types[task->channels];
    TZ_TRY(tz_image_put(p->to, &signature, 1, ctx));
    return put_chunk(p, "IHDR", header, sizeof header, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * Filters
 * ------------------------------------------------------------------------------------------ */

/* The row and the one above, each with a pixel of zeros before the first. */
typedef struct neighbours {
    const uint8_t *here, *left, *above, *corner;
} neighbours;

static uint8_t filter_none(neighbours n, size_t i)
{
    return n.here[i];
}

static uint8_t filter_sub(neighbours n, size_t i)
{
    return (uint8_t)(n.here[i] - n.left[i]);
}

static uint8_t filter_up(neighbours n, size_t i)
{
    return (uint8_t)(n.here[i] - n.above[i]);
}

static uint8_t filter_average(neighbours n, size_t i)
{
    return (uint8_t)(n.here[i] - (n.left[i] + n.above[i]) / 2);
}

/* Predicts by that of left, above and corner which is nearest to left + above - corner. */
static uint8_t filter_paeth(neighbours n, size_t i)
{
    const int left = n.left[i];
    const int above = n.above[i];
    const int corner = n.corner[i];
    const int from_left = abs(above - corner);
    const int from_above = abs(left - corner);
    const int from_corner = abs(left + above - 2 * corner);
    int nearest = from_above <= from_corner ? above : corner;
    if (from_left <= from_above && from_left <= from_corner)
        nearest = left;
    return (uint8_t)(n.here[i] - nearest);
}

/* Filters a row, and sums its distances from 0, which predicts how well it compresses. Each filter
 * has a loop of its own, so that the compiler can vectorise it. */
#define FILTER_ROW(name)                                                                           \
    static uint64_t name##_row(neighbours n, uint8_t *to, size_t size)                             \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (size_t i = 0; i < size; i++)                                                          \
            to[i] = name(n, i);                                                                    \
        for (size_t i = 0; i < size; i++)                                                          \
            sum += to[i] < 128 ? to[i] : 256u - to[i];                                             \
        return sum;                                                                                \
    }
FILTER_ROW(filter_none)
FILTER_ROW(filter_sub)
FILTER_ROW(filter_up)
FILTER_ROW(filter_average)
FILTER_ROW(filter_paeth)

static uint64_t apply_filter(const png_encoder *p, int filter)
{
    static uint64_t (*const rows[FILTERS])(neighbours, uint8_t *, size_t) = {
        filter_none_row, filter_sub_row, filter_up_row, filter_average_row, filter_paeth_row};
    const neighbours n = {.here = p->row + p->channels,
                          .left = p->row,
                          .above = p->above + p->channels,
                          .corner = p->above};
    p->filtered[filter][0] = (uint8_t)filter;
    return rows[filter](n, p->filtered[filter] + 1, p->row_size);
}

static tz_result png_put_row(void *state, const uint8_t *row, const tz_context *ctx)
{
    png_encoder *p = state;
    int best = FILTER_UP;
    memcpy(p->row + p->channels, row, p->row_size);
    if (p->fast) {
        (void)apply_filter(p, best);
    } else {
        uint64_t least = UINT64_MAX;
        for (int i = 0; i < FILTERS; i++) {
            const uint64_t sum = apply_filter(p, i);
            if (sum < least) {
                least = sum;
                best = i;
            }
        }
    }
    uint8_t *done = p->above;
    p->above = p->row;
    p->row = done;
    return tz_deflate_stream_write(p->stream, p->filtered[best], p->row_size + 1, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------------------------ */

/* Bytes of two rows with a pixel before them, and of all filtered ones. */
static uint64_t row_bytes(const tz_image_task *task)
{
    const uint64_t size = (uint64_t)task->width * task->channels;
    return 2 * (size + task->channels) + FILTERS * (size + 1);
}

static uint64_t png_memory(const tz_image_task *task)
{
    return sizeof(png_encoder) + row_bytes(task) + tz_deflate_stream_bytes();
}

static void png_close(void *state)
{
    png_encoder *p = state;
    tz_deflate_stream_close(p->stream);
    tz_free(p->memory);
    tz_free(p);
}

static tz_result png_open(void **state, const tz_image_task *task, const tz_context *ctx)
{
    size_t size;
    png_encoder *p = tz_alloc_zeroed(1, sizeof *p);
    if (p && tz_to_size(row_bytes(task), &size))
        p->memory = tz_alloc_zeroed(size, 1);
    tz_result result = TZ_OK;
    if (!p || !p->memory) {
        tz_free(p);
        return tz_fail_nomem(ctx, png_memory(task));
    }
    p->to = task->to;
    p->channels = task->channels;
    p->row_size = (size_t)task->width * task->channels;
    p->fast = task->options->effort == TZ_EFFORT_FAST;
    p->row = p->memory;
    p->above = p->row + p->row_size + p->channels;
    for (size_t i = 0; i < FILTERS; i++)
        p->filtered[i] = p->above + p->row_size + p->channels + i * (p->row_size + 1);
    make_crc_table(p->crc_table);
    result = tz_deflate_stream_open(&p->stream, p->fast, put_idat, p, ctx);
    if (result == TZ_OK)
        result = put_header(p, task, ctx);
    if (result == TZ_OK)
        *state = p;
    else
        png_close(p);
    return result;
}

static tz_result png_finish(void *state, const tz_context *ctx)
{
    png_encoder *p = state;
    TZ_TRY(tz_deflate_stream_finish(p->stream, ctx));
    return put_chunk(p, "IEND", (const uint8_t *)"", 0, ctx);
}

const tz_image_encoder tz_image_encoder_png = {
    .name = "PNG",
    .max_side = INT32_MAX,
    .has_alpha = true,
    .min_effort = TZ_EFFORT_FAST,
    .memory = png_memory,
    .open = png_open,
    .put_row = png_put_row,
    .finish = png_finish,
    .close = png_close,
};
