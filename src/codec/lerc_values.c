/* SPDX-License-Identifier: Apache-2.0
 * Single values of any type, and the simpler ways to store many: raw, constant, and Huffman-coded
 * bytes. Pixels that the mask leaves out are not touched. */
#include "codec/lerc.h"

static uint64_t load_bytes(const uint8_t *data, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)data[i] << (8 * i);
    return value;
}

double tz_lerc_load(const uint8_t *data, uint32_t type)
{
    uint64_t bytes = load_bytes(data, tz_lerc_type_size(type));
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

static int64_t saturate(double value, int64_t low, int64_t high)
{
    if (!(value >= (double)low)) /* NaN too */
        return low;
    return value <= (double)high ? (int64_t)value : high;
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
    int64_t whole = saturate(value, lowest[type], highest[type]);
    uint32_t word = (uint32_t)whole;
    uint16_t half = (uint16_t)whole;
    uint8_t byte = (uint8_t)whole;
    switch (tz_lerc_type_size(type)) {
    case 1:
        memcpy(out, &byte, sizeof byte);
        break;
    case 2:
        memcpy(out, &half, sizeof half);
        break;
    default:
        memcpy(out, &word, sizeof word);
    }
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

/* All valid pixels alike. */
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

/* The value that a difference refers to: the one to the left, or else the one above, or else the
 * last one before. */
static uint8_t predict_byte(const tz_lerc_blob *blob, size_t x, size_t y, uint32_t d, uint8_t last)
{
    size_t width = blob->header.width;
    if (x > 0 && tz_lerc_is_valid(blob, y * width + x - 1))
        return last;
    if (y > 0 && tz_lerc_is_valid(blob, (y - 1) * width + x))
        return lerc_pixel_at(blob, x, y - 1)[d];
    return last;
}

/* The same with all pixels valid. */
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

static bool read_huffman_differences(tz_lerc_blob *blob, tz_lerc_huffman *huffman, uint32_t d)
{
    if (!blob->mask)
        return read_huffman_differences_unmasked(blob, huffman, d);
    uint8_t bias = blob->header.type == TZ_LERC_INT8 ? 128 : 0;
    uint8_t last = 0;
    for (size_t y = 0; y < blob->header.height; y++) {
        uint8_t *out = lerc_pixel_at(blob, 0, y) + d;
        for (size_t x = 0; x < blob->header.width; x++, out += blob->target.step) {
            if (!tz_lerc_is_valid(blob, y * blob->header.width + x))
                continue;
            int symbol = tz_lerc_huffman_next(huffman, &huffman->bits);
            if (symbol < 0)
                return false;
            last = (uint8_t)(symbol - bias + predict_byte(blob, x, y, d, last));
            *out = last;
        }
    }
    return true;
}

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
