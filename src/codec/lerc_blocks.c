/* SPDX-License-Identifier: Apache-2.0
 * Values in square blocks, one block for each depth. A block is raw, constant, or quantized: whole
 * numbers times twice the largest error, above an offset. Since version 5 it may hold differences
 * from the depth before. */
#include "codec/lerc.h"

enum { RAW = 0, QUANTIZED = 1, ZERO = 2, CONSTANT = 3 }; /* bits 0 and 1 of a block's first byte */

typedef struct square {
    uint32_t x0, x1, y0, y1;
    uint32_t depth;
} square;

/* How to make values of what a block stores. */
typedef struct recipe {
    const uint32_t *steps; /* one for each valid pixel; NULL: all 0 */
    unsigned width;        /* bits of each */
    double offset;
    double scale;
    double maximum;
    bool differences;
} recipe;

static uint8_t *square_row(const tz_lerc_blob *blob, const square *at, uint32_t y)
{
    return blob->target.out + (size_t)y * blob->target.stride + (size_t)at->x0 * blob->target.step +
           at->depth * tz_lerc_type_size(blob->header.type);
}

static size_t count_valid(const tz_lerc_blob *blob, const square *at)
{
    if (!blob->mask)
        return (size_t)(at->x1 - at->x0) * (at->y1 - at->y0);
    size_t count = 0;
    for (uint32_t y = at->y0; y < at->y1; y++)
        for (uint32_t x = at->x0; x < at->x1; x++)
            count += tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x);
    return count;
}

/* Any block, one value at a time. */
static void place_any(const tz_lerc_blob *blob, const square *at, const recipe *how)
{
    uint32_t type = blob->header.type;
    size_t size = tz_lerc_type_size(type);
    const uint32_t *step = how->steps;
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = square_row(blob, at, y);
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                continue;
            double value = how->offset;
            if (step)
                value += *step++ * how->scale;
            if (how->differences)
                value += tz_lerc_load(out - size, type);
            if ((step || how->differences) && how->maximum < value)
                value = how->maximum;
            tz_lerc_store(out, type, value);
        }
    }
}

/* Quantized blocks without mask and differences, which is nearly all of them: one function for each
 * type, with the conversion in the loop, and copies of it for rows of 8 values, which nearly all
 * have. Steps have at most 31 bits. */
#define PLACE_QUANTIZED(name, type, number, highest, convert)                                      \
    __attribute__((always_inline)) static inline void name##_row(                                  \
        uint8_t *out, size_t pixel, const uint32_t *step, size_t width, number offset,             \
        number scale, number maximum)                                                              \
    {                                                                                              \
        type row[TZ_LERC_MAX_BLOCK];                                                               \
        for (size_t x = 0; x < width; x++) {                                                       \
            number value = offset + (number)(int32_t)step[x] * scale;                              \
            value = maximum < value ? maximum : value;                                             \
            row[x] = (type)(convert);                                                              \
        }                                                                                          \
        if (pixel == sizeof *row) {                                                                \
            memcpy(out, row, width * sizeof *row);                                                 \
            return;                                                                                \
        }                                                                                          \
        _Pragma("GCC unroll 8") for (size_t x = 0; x < width; x++)                                 \
            memcpy(out + x * pixel, &row[x], sizeof *row);                                         \
    }                                                                                              \
    static void name(const tz_lerc_blob *blob, const square *at, const recipe *how)                \
    {                                                                                              \
        const uint32_t *step = how->steps;                                                         \
        const number offset = (number)how->offset, scale = (number)how->scale;                     \
        const number maximum =                                                                     \
            how->maximum < (double)(highest) ? (number)how->maximum : (highest);                   \
        const size_t width = at->x1 - at->x0, pixel = blob->target.step;                           \
        uint8_t *out = square_row(blob, at, at->y0);                                               \
        for (uint32_t y = at->y0; y < at->y1; y++, step += width, out += blob->target.stride) {    \
            if (width == 8 && scale == 1)                                                          \
                name##_row(out, pixel, step, 8, offset, 1, maximum);                               \
            else if (width == 8)                                                                   \
                name##_row(out, pixel, step, 8, offset, scale, maximum);                           \
            else                                                                                   \
                name##_row(out, pixel, step, width, offset, scale, maximum);                       \
        }                                                                                          \
    }
#define AT_LEAST(low) (value < (low) ? (low) : value)
#define IN_RANGE(low, high)                                                                        \
    (value >= (double)(low) ? value <= (double)(high) ? value : (double)(high) : (double)(low))

PLACE_QUANTIZED(place_int8, int8_t, double, __builtin_inf(), IN_RANGE(INT8_MIN, INT8_MAX))
PLACE_QUANTIZED(place_uint8, uint8_t, double, __builtin_inf(), IN_RANGE(0, UINT8_MAX))
PLACE_QUANTIZED(place_int16, int16_t, double, __builtin_inf(), IN_RANGE(INT16_MIN, INT16_MAX))
PLACE_QUANTIZED(place_uint16, uint16_t, double, __builtin_inf(), IN_RANGE(0, UINT16_MAX))
PLACE_QUANTIZED(place_int32, int32_t, double, __builtin_inf(), IN_RANGE(INT32_MIN, INT32_MAX))
PLACE_QUANTIZED(place_uint32, uint32_t, double, __builtin_inf(), IN_RANGE(0, UINT32_MAX))
PLACE_QUANTIZED(place_float, float, double, __builtin_inf(), value)
PLACE_QUANTIZED(place_double, double, double, __builtin_inf(), value)

PLACE_QUANTIZED(place_whole_int8, int8_t, int32_t, INT8_MAX, AT_LEAST(INT8_MIN))
PLACE_QUANTIZED(place_whole_uint8, uint8_t, int32_t, UINT8_MAX, AT_LEAST(0))
PLACE_QUANTIZED(place_whole_int16, int16_t, int32_t, INT16_MAX, AT_LEAST(INT16_MIN))
PLACE_QUANTIZED(place_whole_uint16, uint16_t, int32_t, UINT16_MAX, AT_LEAST(0))

typedef void place_function(const tz_lerc_blob *blob, const square *at, const recipe *how);

/* Whether all of it can be computed in 32-bit integers, with the same result: everything is a whole
 * number, and none is too large. */
static bool is_whole(const recipe *how)
{
    const double most = 1 << 29; /* the sum of two is in range too */
    double largest = (double)((UINT32_C(1) << how->width) - 1);
    return how->offset >= -most && how->scale >= 0 && how->scale <= most && how->maximum >= -most &&
           how->maximum <= most && how->offset + largest * how->scale <= most && largest <= most &&
           how->scale == (double)(int32_t)how->scale &&
           how->maximum == (double)(int32_t)how->maximum;
}

static void place(const tz_lerc_blob *blob, const square *at, const recipe *how)
{
    static place_function *const whole[] = {place_whole_int8, place_whole_uint8, place_whole_int16,
                                            place_whole_uint16};
    static place_function *const any[TZ_LERC_TYPES] = {place_int8,   place_uint8, place_int16,
                                                       place_uint16, place_int32, place_uint32,
                                                       place_float,  place_double};
    if (!how->steps || how->differences || blob->mask)
        place_any(blob, at, how);
    else if (blob->header.type <= TZ_LERC_UINT16 && is_whole(how))
        whole[blob->header.type](blob, at, how);
    else
        any[blob->header.type](blob, at, how);
}

static bool place_raw(tz_lerc_blob *blob, const square *at)
{
    uint32_t type = blob->header.type;
    size_t size = tz_lerc_type_size(type), width = at->x1 - at->x0;
    bool packed = !blob->mask && blob->target.step == size;
    if (tz_cursor_left(&blob->data) < count_valid(blob, at) * size)
        return tz_lerc_broken(blob, "a raw block is cut off");
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = square_row(blob, at, y);
        if (packed) {
            tz_lerc_copy(out, tz_cursor_take(&blob->data, width * size), width, type);
            continue;
        }
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step)
            if (tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                tz_lerc_copy(out, tz_cursor_take(&blob->data, size), 1, type);
    }
    return true;
}

/* 0, or the values of the depth before. */
static void place_zero(const tz_lerc_blob *blob, const square *at, bool differences)
{
    size_t size = tz_lerc_type_size(blob->header.type);
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = square_row(blob, at, y);
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                continue;
            if (differences)
                memcpy(out, out - size, size);
            else
                memset(out, 0, size);
        }
    }
}

/* The type of an offset: the blob's, or a narrower one that holds it too. */
static uint32_t offset_type(uint32_t type, unsigned narrower)
{
    switch (type) {
    case TZ_LERC_INT16:
    case TZ_LERC_INT32:
        return type >= narrower ? type - narrower : TZ_LERC_TYPES;
    case TZ_LERC_UINT16:
    case TZ_LERC_UINT32:
        return type >= 2 * narrower ? type - 2 * narrower : TZ_LERC_TYPES;
    case TZ_LERC_FLOAT:
        return narrower == 0 ? type : narrower == 1 ? TZ_LERC_INT16 : TZ_LERC_UINT8;
    case TZ_LERC_DOUBLE:
        return narrower == 0 ? type : type - 2 * narrower + 1;
    default:
        return type;
    }
}

static bool read_offset(tz_lerc_blob *blob, unsigned narrower, bool differences, double *out)
{
    uint32_t type = blob->header.type;
    type = offset_type(differences && type < TZ_LERC_FLOAT ? TZ_LERC_INT32 : type, narrower);
    if (type >= TZ_LERC_TYPES)
        return tz_lerc_broken(blob, "the type of a block");
    const uint8_t *data = tz_cursor_take(&blob->data, tz_lerc_type_size(type));
    if (!data)
        return tz_lerc_broken(blob, "a block is cut off");
    *out = tz_lerc_load(data, type);
    return true;
}

static bool place_computed(tz_lerc_blob *blob, const square *at, uint8_t first, bool differences)
{
    uint32_t steps[TZ_LERC_MAX_BLOCK * TZ_LERC_MAX_BLOCK];
    size_t size = tz_lerc_type_size(blob->header.type);
    recipe how = {NULL, 0, 0, 2 * blob->header.max_error, blob->header.maximum, differences};
    if (!read_offset(blob, first >> 6, differences, &how.offset))
        return false;
    if (blob->maxima && blob->header.depth > 1)
        how.maximum = tz_lerc_load(blob->maxima + at->depth * size, blob->header.type);
    size_t count;
    if ((first & 3) == QUANTIZED) {
        if (!tz_lerc_unstuff(&blob->data, blob->header.version, steps, sizeof steps / sizeof *steps,
                             &count, &how.width) ||
            count != count_valid(blob, at))
            return tz_lerc_broken(blob, "the numbers of a block");
        how.steps = steps;
    }
    place(blob, at, &how);
    return true;
}

static bool read_block(tz_lerc_blob *blob, const square *at)
{
    uint8_t first = tz_cursor_u8(&blob->data);
    if (blob->data.overrun)
        return tz_lerc_broken(blob, "blocks are missing");
    bool newer = blob->header.version >= 5;
    bool differences = newer && (first & 4);
    unsigned check = newer ? 14 : 15; /* some bits of the column, to notice damage */
    if ((first >> 2 & check) != (at->x0 >> 3 & check) || (differences && at->depth == 0) ||
        (differences && (first & 3) == RAW))
        return tz_lerc_broken(blob, "the first byte of a block");
    if ((first & 3) == RAW)
        return place_raw(blob, at);
    if ((first & 3) != ZERO)
        return place_computed(blob, at, first, differences);
    place_zero(blob, at, differences);
    return true;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool tz_lerc_read_blocks(tz_lerc_blob *blob)
{
    const tz_lerc_header *header = &blob->header;
    if (header->block < 1 || header->block > TZ_LERC_MAX_BLOCK)
        return tz_lerc_broken(blob, "the size of blocks");
    for (uint32_t y = 0; y < header->height; y += header->block)
        for (uint32_t x = 0; x < header->width; x += header->block)
            for (uint32_t d = 0; d < header->depth; d++) {
                square at = {x, x + least(header->block, header->width - x), y,
                             y + least(header->block, header->height - y), d};
                if (!read_block(blob, &at))
                    return false;
            }
    return true;
}
