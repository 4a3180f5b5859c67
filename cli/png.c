/* SPDX-License-Identifier: Apache-2.0
 * Writes PNG files of 8 bits per channel (ISO/IEC 15948), row by row.
 *
 * Each row is filtered in all five ways, and the one with the smallest sum of distances from 0 is
 * kept, as libpng's heuristic does. Filtered rows go to zlib_writer.c, whose output becomes IDAT
 * chunks. */
#include "png.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "zlib_writer.h"

#define FILTERS 5 /* none, sub, up, average, Paeth */

struct png_writer {
    output *to;
    zlib_writer *zlib;
    size_t row_size;
    unsigned channels;
    uint32_t crc_table[256];
    unsigned char *row;               /* after a pixel of zeros */
    unsigned char *above;             /* the row before, in the same way; zeros at first */
    unsigned char *filtered[FILTERS]; /* each a byte for the filter, then the row */
};

/* Chunks --------------------------------------------------------------------------------------- */

static void make_crc_table(uint32_t *table)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? 0xEDB88320u ^ value >> 1 : value >> 1;
        table[i] = value;
    }
}

static uint32_t add_crc(const uint32_t *table, uint32_t crc, const unsigned char *bytes,
                        size_t size)
{
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 0xFF] ^ crc >> 8;
    return crc;
}

static void store_big_endian(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static tz_result put_chunk(png_writer *p, const char *type, const void *bytes, size_t size,
                           tz_error *err)
{
    unsigned char head[8];
    unsigned char tail[4];
    store_big_endian(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uint32_t crc = add_crc(p->crc_table, UINT32_MAX, head + 4, 4);
    store_big_endian(tail, ~add_crc(p->crc_table, crc, bytes, size));
    tz_result result = output_append(p->to, head, sizeof head, err);
    if (result == TZ_OK)
        result = output_append(p->to, bytes, size, err);
    return result == TZ_OK ? output_append(p->to, tail, sizeof tail, err) : result;
}

static tz_result put_data(void *user, const void *bytes, size_t size, tz_error *err)
{
    return put_chunk(user, "IDAT", bytes, size, err);
}

static tz_result put_header(png_writer *p, uint32_t width, uint32_t height, tz_error *err)
{
    static const unsigned char color_types[] = {0, 0, 4, 2, 6};
    unsigned char header[13] = {0};
    store_big_endian(header, width);
    store_big_endian(header + 4, height);
    header[8] = 8;
    header[9] = color_types[p->channels];
    tz_result result = output_append(p->to, "\x89PNG\r\n\x1a\n", 8, err);
    return result == TZ_OK ? put_chunk(p, "IHDR", header, sizeof header, err) : result;
}

/* Filters -------------------------------------------------------------------------------------- */

/* The row and the one above, each with a pixel of zeros before the first. */
typedef struct neighbours {
    const unsigned char *here, *left, *above, *corner;
} neighbours;

static unsigned char filter_none(neighbours n, size_t i)
{
    return n.here[i];
}

static unsigned char filter_sub(neighbours n, size_t i)
{
    return (unsigned char)(n.here[i] - n.left[i]);
}

static unsigned char filter_up(neighbours n, size_t i)
{
    return (unsigned char)(n.here[i] - n.above[i]);
}

static unsigned char filter_average(neighbours n, size_t i)
{
    return (unsigned char)(n.here[i] - (n.left[i] + n.above[i]) / 2);
}

/* Predicts by that of left, above and corner which is nearest to left + above - corner. */
static unsigned char filter_paeth(neighbours n, size_t i)
{
    int left = n.left[i];
    int above = n.above[i];
    int corner = n.corner[i];
    int from_left = abs(above - corner);
    int from_above = abs(left - corner);
    int from_corner = abs(left + above - 2 * corner);
    int nearest = from_above <= from_corner ? above : corner;
    if (from_left <= from_above && from_left <= from_corner)
        nearest = left;
    return (unsigned char)(n.here[i] - nearest);
}

/* Filters a row, and sums its distances from 0, which predicts how well it compresses. Each filter
 * has a loop of its own, so that the compiler can vectorise it. */
#define FILTER_ROW(name)                                                                           \
    static uint64_t name##_row(neighbours n, unsigned char *to, size_t size)                       \
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

static uint64_t apply_filter(const png_writer *p, int filter)
{
    static uint64_t (*const rows[FILTERS])(neighbours, unsigned char *, size_t) = {
        filter_none_row, filter_sub_row, filter_up_row, filter_average_row, filter_paeth_row};
    const neighbours n = {.here = p->row + p->channels,
                          .left = p->row,
                          .above = p->above + p->channels,
                          .corner = p->above};
    p->filtered[filter][0] = (unsigned char)filter;
    return rows[filter](n, p->filtered[filter] + 1, p->row_size);
}

/* The whole ------------------------------------------------------------------------------------ */

static bool allocate_rows(png_writer *p)
{
    p->row = calloc(p->row_size + p->channels, 1);
    p->above = calloc(p->row_size + p->channels, 1);
    bool all = p->row != NULL && p->above != NULL;
    for (int i = 0; i < FILTERS; i++) {
        p->filtered[i] = malloc(p->row_size + 1);
        all = all && p->filtered[i] != NULL;
    }
    p->zlib = zlib_open(put_data, p);
    return all && p->zlib != NULL;
}

tz_result png_open(png_writer **out, output *to, uint32_t width, uint32_t height, unsigned channels,
                   tz_error *err)
{
    if (width > INT32_MAX || height > INT32_MAX)
        return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            "a PNG has at most %" PRId32 " columns and rows", INT32_MAX);
    png_writer *p = calloc(1, sizeof *p);
    if (p == NULL)
        return problem_nomem(err, "the PNG");
    p->to = to;
    p->channels = channels;
    p->row_size = (size_t)width * channels;
    make_crc_table(p->crc_table);
    tz_result result = allocate_rows(p) ? TZ_OK : problem_nomem(err, "the PNG");
    if (result == TZ_OK)
        result = put_header(p, width, height, err);
    if (result != TZ_OK) {
        png_close(p);
        return result;
    }
    *out = p;
    return TZ_OK;
}

tz_result png_row(png_writer *p, const unsigned char *row, tz_error *err)
{
    int best = 0;
    uint64_t least = UINT64_MAX;
    memcpy(p->row + p->channels, row, p->row_size);
    for (int i = 0; i < FILTERS; i++) {
        uint64_t sum = apply_filter(p, i);
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    unsigned char *done = p->above;
    p->above = p->row;
    p->row = done;
    return zlib_write(p->zlib, p->filtered[best], p->row_size + 1, err);
}

tz_result png_finish(png_writer *p, tz_error *err)
{
    tz_result result = zlib_finish(p->zlib, err);
    return result == TZ_OK ? put_chunk(p, "IEND", "", 0, err) : result;
}

void png_close(png_writer *p)
{
    if (p == NULL)
        return;
    zlib_close(p->zlib);
    for (int i = 0; i < FILTERS; i++)
        free(p->filtered[i]);
    free(p->row);
    free(p->above);
    free(p);
}
