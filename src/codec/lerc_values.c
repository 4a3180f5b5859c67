/* SPDX-License-Identifier: Apache-2.0
 * Single values of any type, and the ways to store many but for blocks: raw, constant,
 * Huffman-coded bytes, and floats without loss. Pixels that the mask leaves out are not touched.
 *
 * Huffman-coded bytes are the values of 8-bit types, or their differences from the neighbour to the
 * left or above. Floats of version 6 are byte planes: the bytes of equal rank of all values are a
 * plane, stored as repeated differences and packed in one of four ways; then the values themselves
 * are differences, of mantissa and exponent apart. */
#include "codec/lerc.h"

double tz_lerc_load(const uint8_t *data, uint32_t type)
{
    uint64_t bytes = tz_load_le_bytes(data, tz_lerc_type_size(type));
    uint32_t half = (uint32_t)bytes;
    float single;
    double number;
    switch (type) {
    case TZ_LERC_INT8:
        return (int8_t)bytes;
    case TZ_LERC_INT16:
        return (int16_t)bytes;
    case TZ_LERC_INT32:
        return (int32_t)bytes;
    case TZ_LERC_FLOAT:
        memcpy(&single, &half, sizeof single);
        return (double)single;
    case TZ_LERC_DOUBLE:
        memcpy(&number, &bytes, sizeof number);
        return number;
    default:
        return (double)bytes;
    }
}

void tz_lerc_store(uint8_t *out, uint32_t type, double value)
{
    static const int64_t lowest[] = {INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0};
    static const int64_t highest[] = {INT8_MAX,   UINT8_MAX, INT16_MAX,
                                      UINT16_MAX, INT32_MAX, UINT32_MAX};
    float single = (float)value;
    if (type == TZ_LERC_FLOAT) {
        memcpy(out, &single, sizeof single);
        return;
    }
    if (type == TZ_LERC_DOUBLE) {
        memcpy(out, &value, sizeof value);
        return;
    }
    int64_t whole = lowest[type]; /* of NaN too */
    if (value >= (double)whole)
        whole = value <= (double)highest[type] ? (int64_t)value : highest[type];
    const uint32_t word = (uint32_t)whole;
    const uint16_t half = (uint16_t)whole;
    const size_t size = tz_lerc_type_size(type);
    if (size == 1)
        *out = (uint8_t)whole;
    else if (size == 2)
        memcpy(out, &half, sizeof half);
    else
        memcpy(out, &word, sizeof word);
}

static uint8_t *lerc_pixel_at(const tz_lerc_blob *blob, size_t x, size_t y)
{
    return blob->target.out + y * blob->target.stride + x * blob->target.step;
}

void tz_lerc_copy(uint8_t *out, const uint8_t *data, size_t count, uint32_t type)
{
    const size_t size = tz_lerc_type_size(type);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, data, count * size);
#else
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < size; k++)
            out[i * size + k] = data[i * size + size - 1 - k];
#endif
}

bool tz_lerc_read_raw(tz_lerc_blob *blob)
{
    const tz_lerc_header *header = &blob->header;
    size_t pixel_size = header->depth * tz_lerc_type_size(header->type);
    size_t pixels = (size_t)header->width * header->height;
    bool packed = !blob->mask && blob->target.step == pixel_size;
    if (tz_cursor_left(&blob->data) / pixel_size < header->valid)
        return tz_lerc_fail(blob, "raw values are cut off");
    for (size_t i = 0; packed && i < pixels; i += header->width) {
        const uint8_t *row = tz_cursor_bytes(&blob->data, header->width * pixel_size);
        tz_lerc_copy(lerc_pixel_at(blob, 0, i / header->width), row,
                     (size_t)header->width * header->depth, header->type);
    }
    for (size_t i = 0; !packed && i < pixels; i++)
        if (tz_lerc_is_valid(blob, i))
            tz_lerc_copy(lerc_pixel_at(blob, i % header->width, i / header->width),
                         tz_cursor_bytes(&blob->data, pixel_size), header->depth, header->type);
    return true;
}

bool tz_lerc_fill_constant(tz_lerc_blob *blob)
{
    const tz_lerc_header *header = &blob->header;
    size_t size = tz_lerc_type_size(header->type);
    size_t pixels = (size_t)header->width * header->height;
    uint8_t value[8];
    for (uint32_t d = 0; d < header->depth; d++) {
        tz_lerc_store(value, header->type,
                      blob->minima ? tz_lerc_load(blob->minima + d * size, header->type)
                                   : header->minimum);
        for (size_t i = 0; i < pixels; i++)
            if (tz_lerc_is_valid(blob, i))
                memcpy(lerc_pixel_at(blob, i % header->width, i / header->width) + d * size, value,
                       size);
    }
    return true;
}

/* Reads the differences of one depth of a blob without mask. */
static bool read_huffman_differences_unmasked(tz_lerc_blob *blob, tz_lerc_huffman *huffman,
                                              uint32_t d)
{
    tz_lerc_bits bits = huffman->bits;
    const size_t width = blob->header.width, step = blob->target.step;
    uint8_t bias = blob->header.type == TZ_LERC_INT8 ? 128 : 0;
    for (size_t y = 0; y < blob->header.height; y++) {
        uint8_t *out = lerc_pixel_at(blob, 0, y) + d;
        uint8_t last = y > 0 ? lerc_pixel_at(blob, 0, y - 1)[d] : 0;
        for (size_t x = 0; x < width; x++, out += step) {
            int symbol = tz_lerc_huffman_next(huffman, &bits);
            if (symbol < 0)
                return false;
            last = (uint8_t)(symbol - bias + last);
            *out = last;
        }
    }
    huffman->bits = bits;
    return true;
}

/* Reads the differences of one depth. */
static bool read_huffman_differences(tz_lerc_blob *blob, tz_lerc_huffman *huffman, uint32_t d)
{
    if (!blob->mask)
        return read_huffman_differences_unmasked(blob, huffman, d);
    const size_t width = blob->header.width;
    uint8_t bias = blob->header.type == TZ_LERC_INT8 ? 128 : 0;
    uint8_t last = 0;
    for (size_t y = 0; y < blob->header.height; y++) {
        uint8_t *out = lerc_pixel_at(blob, 0, y) + d;
        for (size_t x = 0; x < width; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, y * width + x))
                continue;
            int symbol = tz_lerc_huffman_next(huffman, &huffman->bits);
            if (symbol < 0)
                return false;
            /* refers to the value to the left if it is valid, or above, or to the last before */
            const size_t pixel = y * width + x;
            if ((x == 0 || !tz_lerc_is_valid(blob, pixel - 1)) && y > 0 &&
                tz_lerc_is_valid(blob, pixel - width))
                last = lerc_pixel_at(blob, x, y - 1)[d];
            last = (uint8_t)(symbol - bias + last);
            *out = last;
        }
    }
    return true;
}

/* Reads the values themselves, all depths of a pixel together. */
static bool read_huffman_values(tz_lerc_blob *blob, tz_lerc_huffman *huffman)
{
    uint8_t bias = blob->header.type == TZ_LERC_INT8 ? 128 : 0;
    for (size_t y = 0; y < blob->header.height; y++) {
        uint8_t *out = lerc_pixel_at(blob, 0, y);
        for (size_t x = 0; x < blob->header.width; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, y * blob->header.width + x))
                continue;
            for (uint32_t d = 0; d < blob->header.depth; d++) {
                int symbol = tz_lerc_huffman_next(huffman, &huffman->bits);
                if (symbol < 0)
                    return false;
                out[d] = (uint8_t)(symbol - bias);
            }
        }
    }
    return true;
}

bool tz_lerc_read_huffman(tz_lerc_blob *blob, tz_lerc_huffman *huffman, bool differences)
{
    if (!tz_lerc_huffman_read(huffman, &blob->data, blob->header.version))
        return tz_lerc_fail(blob, "the table of Huffman codes");
    bool complete = true;
    for (uint32_t d = 0; differences && complete && d < blob->header.depth; d++)
        complete = read_huffman_differences(blob, huffman, d);
    if (!differences)
        complete = read_huffman_values(blob, huffman);
    return complete || tz_lerc_fail(blob, "Huffman codes");
}

/* ---------------------------------------------------------------------------------------------
 * Floats without loss
 * ------------------------------------------------------------------------------------------ */

/* The first byte of a plane. */
enum { PLANE_HUFFMAN = 0, PLANE_REPEATED = 1, PLANE_STORED = 2, PLANE_PACKED = 3 };
enum { PREDICT_NONE = 0, PREDICT_LEFT = 1, PREDICT_ABOVE_AND_LEFT = 2 };

#define MAX_DIFFERENCES 5

/* The grid over which differences go: with several depths a pixel is a row. */
typedef struct value_grid {
    size_t columns;
    size_t rows;
} value_grid;

static value_grid grid_of(const tz_lerc_header *header)
{
    if (header->depth == 1)
        return (value_grid){header->width, header->height};
    return (value_grid){header->depth, (size_t)header->width * header->height};
}

static uint8_t *lerc_value_at(const tz_lerc_blob *blob, size_t column, size_t row)
{
    const tz_lerc_header *header = &blob->header;
    const tz_lerc_target *target = &blob->target;
    if (header->depth == 1)
        return target->out + row * target->stride + column * target->step;
    return target->out + row / header->width * target->stride + row % header->width * target->step +
           column * tz_lerc_type_size(header->type);
}

/* ---------------------------------------------------------------------------------------------
 * Floats: one plane
 * ------------------------------------------------------------------------------------------ */

/* Unpacks PackBits with other counts: runs are at least two bytes. */
static bool unpack_runs(tz_cursor packed, uint8_t *plane, size_t count)
{
    size_t filled = 0;
    while (tz_cursor_left(&packed) > 0) {
        uint8_t head = tz_cursor_u8(&packed);
        size_t length = head <= 127 ? head + 1u : head - 126u;
        const uint8_t *data = tz_cursor_bytes(&packed, head <= 127 ? length : 1);
        if (!data || length > count - filled)
            return false;
        if (head <= 127)
            memcpy(plane + filled, data, length);
        else
            memset(plane + filled, data[0], length);
        filled += length;
    }
    return filled == count;
}

static bool unpack_plane(tz_cursor packed, tz_lerc_huffman *huffman, uint8_t *plane, size_t count)
{
    tz_lerc_bits bits;
    const uint8_t *data;
    uint8_t value;
    switch (tz_cursor_u8(&packed)) {
    case PLANE_HUFFMAN: /* with a table as in version 5 */
        if (packed.overrun || !tz_lerc_huffman_read(huffman, &packed, 5))
            return false;
        bits = huffman->bits;
        for (size_t i = 0; i < count; i++) {
            const int symbol = tz_lerc_huffman_next(huffman, &bits);
            if (symbol < 0)
                return false;
            plane[i] = (uint8_t)symbol;
        }
        return true;
    case PLANE_REPEATED:
        value = tz_cursor_u8(&packed);
        if (tz_cursor_le32(&packed) != count || packed.overrun)
            return false;
        memset(plane, value, count);
        return true;
    case PLANE_STORED:
        data = tz_cursor_bytes(&packed, count);
        if (data)
            memcpy(plane, data, count);
        return data != NULL;
    case PLANE_PACKED:
        return unpack_runs(packed, plane, count);
    default:
        return false;
    }
}

/* Reads one plane and stores it as the bytes of its rank of all values; the lowest is rank 0.
 * Planes come in any order. */
static bool read_plane(tz_lerc_blob *blob, tz_lerc_huffman *huffman, uint8_t *plane, unsigned *seen)
{
    value_grid grid = grid_of(&blob->header);
    size_t count = grid.columns * grid.rows;
    uint8_t rank = tz_cursor_u8(&blob->data);
    uint8_t level = tz_cursor_u8(&blob->data);
    uint32_t size = tz_cursor_le32(&blob->data);
    tz_cursor packed = tz_cursor_slice(&blob->data, size);
    if (packed.overrun || rank >= tz_lerc_type_size(blob->header.type) || (*seen >> rank & 1) ||
        level > MAX_DIFFERENCES || !unpack_plane(packed, huffman, plane, count))
        return false;
    *seen |= 1u << rank;
    for (; level > 0; level--)
        for (size_t i = level; i < count; i++)
            plane[i] = (uint8_t)(plane[i] + plane[i - 1]);
    const size_t size_of_value = tz_lerc_type_size(blob->header.type);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    rank = (uint8_t)(size_of_value - 1 - rank);
#endif
    const size_t step = blob->header.depth == 1 ? blob->target.step : size_of_value;
    for (size_t row = 0; row < grid.rows; row++) {
        uint8_t *out = lerc_value_at(blob, 0, row) + rank;
        for (size_t column = 0; column < grid.columns; column++, out += step)
            *out = *plane++;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Floats: differences of values
 * ------------------------------------------------------------------------------------------ */

/* Returns a + b with no carry from the mantissa to the exponent. */
static uint64_t add_apart(uint64_t a, uint64_t b, uint64_t mantissa)
{
    return ((a + b) & mantissa) | ((a & ~mantissa) + (b & ~mantissa));
}

static void add_value(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size == 4) {
        uint32_t a, b;
        memcpy(&a, to, 4);
        memcpy(&b, from, 4);
        a = (uint32_t)add_apart(a, b, 0x007fffff);
        memcpy(to, &a, 4);
    } else {
        uint64_t a, b;
        memcpy(&a, to, 8);
        memcpy(&b, from, 8);
        a = add_apart(a, b, UINT64_C(0x000fffffffffffff));
        memcpy(to, &a, 8);
    }
}

bool tz_lerc_read_planes(tz_lerc_blob *blob, tz_lerc_huffman *huffman, uint8_t *plane)
{
    value_grid grid = grid_of(&blob->header);
    uint8_t predictor = tz_cursor_u8(&blob->data);
    if (blob->data.overrun || predictor > PREDICT_ABOVE_AND_LEFT)
        return tz_lerc_fail(blob, "the predictor of floats");
    unsigned seen = 0;
    for (size_t i = 0; i < tz_lerc_type_size(blob->header.type); i++)
        if (!read_plane(blob, huffman, plane, &seen))
            return tz_lerc_fail(blob, "a plane of floats");
    const size_t size = tz_lerc_type_size(blob->header.type);
    for (size_t row = 1; predictor == PREDICT_ABOVE_AND_LEFT && row < grid.rows; row++)
        for (size_t column = 0; column < grid.columns; column++)
            add_value(lerc_value_at(blob, column, row), lerc_value_at(blob, column, row - 1), size);
    for (size_t row = 0; predictor != PREDICT_NONE && row < grid.rows; row++)
        for (size_t column = 1; column < grid.columns; column++)
            add_value(lerc_value_at(blob, column, row), lerc_value_at(blob, column - 1, row), size);
    if (blob->header.type != TZ_LERC_FLOAT)
        return true;
    /* 32-bit floats are stored with the sign between exponent and mantissa. */
    for (size_t row = 0; row < grid.rows; row++) {
        for (size_t column = 0; column < grid.columns; column++) {
            uint8_t *at = lerc_value_at(blob, column, row);
            uint32_t value;
            memcpy(&value, at, 4);
            value = (value & 0x007fffff) | (value >> 24) << 23 | (value >> 23 & 1) << 31;
            memcpy(at, &value, 4);
        }
    }
    return true;
}
