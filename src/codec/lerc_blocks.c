/* SPDX-License-Identifier: Apache-2.0
 * Values in square blocks, one block for each depth. A block is raw, zero, constant, or quantized:
 * whole numbers times twice the largest error, above an offset. Since version 5 it may hold
 * differences from the depth before.
 *
 * A block is read from its first byte: offset and whole numbers are unpacked to 32 bits (steps),
 * and one of many store functions makes values of them. Nearly all blocks are 8 values wide, have
 * no mask and no differences, and their type, scale and width decide the loop; that is why there is
 * a function for each type, and for the small types one in integers as well. */
#include "base/minmax.h"
#include "codec/lerc.h"

/* Bits 0 and 1 of a block's first byte. */
enum { BLOCK_RAW = 0, BLOCK_QUANTIZED = 1, BLOCK_ZERO = 2, BLOCK_CONSTANT = 3 };

typedef struct lerc_block_rect {
    uint32_t x0, x1, y0, y1;
    uint32_t depth;
} lerc_block_rect;

/* Turns the numbers of a block into values. */
typedef struct lerc_dequantizer {
    const uint32_t *steps; /* one for each valid pixel; NULL: all 0 */
    unsigned width;        /* bits of each */
    double offset;
    double scale;
    double maximum;
    bool differences;
} lerc_dequantizer;

static uint8_t *block_row(const tz_lerc_blob *blob, const lerc_block_rect *at, uint32_t y)
{
    return blob->target.out + (size_t)y * blob->target.stride + (size_t)at->x0 * blob->target.step +
           at->depth * tz_lerc_type_size(blob->header.type);
}

static size_t count_valid_pixels(const tz_lerc_blob *blob, const lerc_block_rect *at)
{
    if (!blob->mask)
        return (size_t)(at->x1 - at->x0) * (at->y1 - at->y0);
    size_t count = 0;
    for (uint32_t y = at->y0; y < at->y1; y++)
        for (uint32_t x = at->x0; x < at->x1; x++)
            count += tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x);
    return count;
}

/* Stores a block of any kind, one value at a time. */
static void store_any(const tz_lerc_blob *blob, const lerc_block_rect *at,
                      const lerc_dequantizer *quant)
{
    uint32_t type = blob->header.type;
    size_t size = tz_lerc_type_size(type);
    const uint32_t *step = quant->steps;
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = block_row(blob, at, y);
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                continue;
            double value = quant->offset;
            if (step)
                value += *step++ * quant->scale;
            if (quant->differences)
                value += tz_lerc_load(out - size, type);
            if ((step || quant->differences) && quant->maximum < value)
                value = quant->maximum;
            tz_lerc_store(out, type, value);
        }
    }
}

/* Quantized blocks without mask and differences, which is nearly all of them: one function for each
 * type, with the conversion in the loop, and copies of it for rows of 8 values, which nearly all
 * have. Steps have at most 31 bits. */
#define DEFINE_STORE_QUANTIZED(name, type, number, highest, convert)                               \
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
    static void name(const tz_lerc_blob *blob, const lerc_block_rect *at,                          \
                     const lerc_dequantizer *quant)                                                \
    {                                                                                              \
        const uint32_t *step = quant->steps;                                                       \
        const number offset = (number)quant->offset, scale = (number)quant->scale;                 \
        const number maximum =                                                                     \
            quant->maximum < (double)(highest) ? (number)quant->maximum : (highest);               \
        const size_t width = at->x1 - at->x0, pixel = blob->target.step;                           \
        uint8_t *out = block_row(blob, at, at->y0);                                                \
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

DEFINE_STORE_QUANTIZED(store_int8, int8_t, double, __builtin_inf(), IN_RANGE(INT8_MIN, INT8_MAX))
DEFINE_STORE_QUANTIZED(store_uint8, uint8_t, double, __builtin_inf(), IN_RANGE(0, UINT8_MAX))
DEFINE_STORE_QUANTIZED(store_int16, int16_t, double, __builtin_inf(),
                       IN_RANGE(INT16_MIN, INT16_MAX))
DEFINE_STORE_QUANTIZED(store_uint16, uint16_t, double, __builtin_inf(), IN_RANGE(0, UINT16_MAX))
DEFINE_STORE_QUANTIZED(store_int32, int32_t, double, __builtin_inf(),
                       IN_RANGE(INT32_MIN, INT32_MAX))
DEFINE_STORE_QUANTIZED(store_uint32, uint32_t, double, __builtin_inf(), IN_RANGE(0, UINT32_MAX))
DEFINE_STORE_QUANTIZED(store_float, float, double, __builtin_inf(), value)
DEFINE_STORE_QUANTIZED(store_double, double, double, __builtin_inf(), value)

DEFINE_STORE_QUANTIZED(store_whole_int8, int8_t, int32_t, INT8_MAX, AT_LEAST(INT8_MIN))
DEFINE_STORE_QUANTIZED(store_whole_uint8, uint8_t, int32_t, UINT8_MAX, AT_LEAST(0))
DEFINE_STORE_QUANTIZED(store_whole_int16, int16_t, int32_t, INT16_MAX, AT_LEAST(INT16_MIN))
DEFINE_STORE_QUANTIZED(store_whole_uint16, uint16_t, int32_t, UINT16_MAX, AT_LEAST(0))

typedef void store_function(const tz_lerc_blob *blob, const lerc_block_rect *at,
                            const lerc_dequantizer *quant);

/* True if 32-bit integers give the same result: all numbers are whole, and none is too large. */
static bool fits_int32(const lerc_dequantizer *quant)
{
    const double limit = 1 << 29; /* the sum of two is in range too */
    double largest = (double)((UINT32_C(1) << quant->width) - 1);
    return quant->offset >= -limit && quant->scale >= 0 && quant->scale <= limit &&
           quant->maximum >= -limit && quant->maximum <= limit &&
           quant->offset + largest * quant->scale <= limit && largest <= limit &&
           quant->scale == (double)(int32_t)quant->scale &&
           quant->maximum == (double)(int32_t)quant->maximum;
}

static bool store_raw_block(tz_lerc_blob *blob, const lerc_block_rect *at)
{
    uint32_t type = blob->header.type;
    size_t size = tz_lerc_type_size(type), width = at->x1 - at->x0;
    bool packed = !blob->mask && blob->target.step == size;
    if (tz_cursor_left(&blob->data) < count_valid_pixels(blob, at) * size)
        return tz_lerc_fail(blob, "a raw block is cut off");
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = block_row(blob, at, y);
        if (packed) {
            tz_lerc_copy(out, tz_cursor_bytes(&blob->data, width * size), width, type);
            continue;
        }
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step)
            if (tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                tz_lerc_copy(out, tz_cursor_bytes(&blob->data, size), 1, type);
    }
    return true;
}

/* Returns the type of an offset: the blob's, or a narrower one that holds it too. */
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

/* Reads and stores a constant or quantized block: the offset, and the numbers above it if any. */
static bool store_computed_block(tz_lerc_blob *blob, const lerc_block_rect *at, uint8_t first,
                                 bool differences)
{
    uint32_t steps[TZ_LERC_MAX_BLOCK * TZ_LERC_MAX_BLOCK];
    size_t size = tz_lerc_type_size(blob->header.type);
    lerc_dequantizer quant = {NULL,       0, 0, 2 * blob->header.max_error, blob->header.maximum,
                              differences};
    uint32_t type =
        differences && blob->header.type < TZ_LERC_FLOAT ? TZ_LERC_INT32 : blob->header.type;
    type = offset_type(type, first >> 6);
    if (type >= TZ_LERC_TYPES)
        return tz_lerc_fail(blob, "the type of a block");
    const uint8_t *offset = tz_cursor_bytes(&blob->data, tz_lerc_type_size(type));
    if (!offset)
        return tz_lerc_fail(blob, "a block is cut off");
    quant.offset = tz_lerc_load(offset, type);
    if (blob->maxima && blob->header.depth > 1)
        quant.maximum = tz_lerc_load(blob->maxima + at->depth * size, blob->header.type);
    size_t count;
    if ((first & 3) == BLOCK_QUANTIZED) {
        if (!tz_lerc_unstuff(&blob->data, blob->header.version, steps, sizeof steps / sizeof *steps,
                             &count, &quant.width) ||
            count != count_valid_pixels(blob, at))
            return tz_lerc_fail(blob, "the numbers of a block");
        quant.steps = steps;
    }
    static store_function *const whole[] = {store_whole_int8, store_whole_uint8, store_whole_int16,
                                            store_whole_uint16};
    static store_function *const any[TZ_LERC_TYPES] = {store_int8,   store_uint8, store_int16,
                                                       store_uint16, store_int32, store_uint32,
                                                       store_float,  store_double};
    if (!quant.steps || differences || blob->mask)
        store_any(blob, at, &quant);
    else if (blob->header.type <= TZ_LERC_UINT16 && fits_int32(&quant))
        whole[blob->header.type](blob, at, &quant);
    else
        any[blob->header.type](blob, at, &quant);
    return true;
}

/* Reads a block: its first byte says how it is stored. A zero block is 0, or the values of the
 * depth before. */
static bool read_lerc_block(tz_lerc_blob *blob, const lerc_block_rect *at)
{
    uint8_t first = tz_cursor_u8(&blob->data);
    if (blob->data.overrun)
        return tz_lerc_fail(blob, "blocks are missing");
    bool newer = blob->header.version >= 5;
    bool differences = newer && (first & 4);
    unsigned check = newer ? 14 : 15; /* bits of the column, stored to detect damage */
    if ((first >> 2 & check) != (at->x0 >> 3 & check) || (differences && at->depth == 0) ||
        (differences && (first & 3) == BLOCK_RAW))
        return tz_lerc_fail(blob, "the first byte of a block");
    if ((first & 3) == BLOCK_RAW)
        return store_raw_block(blob, at);
    if ((first & 3) != BLOCK_ZERO)
        return store_computed_block(blob, at, first, differences);
    const size_t size = tz_lerc_type_size(blob->header.type);
    for (uint32_t y = at->y0; y < at->y1; y++) {
        uint8_t *out = block_row(blob, at, y);
        for (uint32_t x = at->x0; x < at->x1; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, (size_t)y * blob->header.width + x))
                continue;
            if (differences)
                memcpy(out, out - size, size);
            else
                memset(out, 0, size);
        }
    }
    return true;
}

bool tz_lerc_read_blocks(tz_lerc_blob *blob)
{
    const tz_lerc_header *header = &blob->header;
    if (header->block < 1 || header->block > TZ_LERC_MAX_BLOCK)
        return tz_lerc_fail(blob, "the size of blocks");
    for (uint32_t y = 0; y < header->height; y += header->block)
        for (uint32_t x = 0; x < header->width; x += header->block)
            for (uint32_t d = 0; d < header->depth; d++) {
                lerc_block_rect at = {x, x + tz_min_u32(header->block, header->width - x), y,
                                      y + tz_min_u32(header->block, header->height - y), d};
                if (!read_lerc_block(blob, &at))
                    return false;
            }
    return true;
}
