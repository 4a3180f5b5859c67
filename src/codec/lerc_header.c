/* SPDX-License-Identifier: Apache-2.0
 * The header of a LERC blob, its checksum and its mask. Numbers are little-endian. */
#include "codec/lerc.h"

enum {
    FIRST_VERSION = 1,
    LAST_VERSION = 6,
    CHECKSUM_START = 14 /* "Lerc2 ", version, checksum */
};

static double read_double(tz_cursor *cursor)
{
    const uint8_t *data = tz_cursor_bytes(cursor, 8);
    return data ? tz_lerc_load(data, TZ_LERC_DOUBLE) : 0;
}

/* One after the other, as far as the version has them. */
static void read_fields(tz_lerc_header *header, tz_cursor *cursor)
{
    header->checksum = header->version >= 3 ? tz_cursor_le32(cursor) : 0;
    header->height = tz_cursor_le32(cursor);
    header->width = tz_cursor_le32(cursor);
    header->depth = header->version >= 4 ? tz_cursor_le32(cursor) : 1;
    header->valid = tz_cursor_le32(cursor);
    header->block = tz_cursor_le32(cursor);
    header->size = tz_cursor_le32(cursor);
    header->type = tz_cursor_le32(cursor);
    if (header->version >= 6) {
        tz_cursor_le32(cursor); /* how many blobs follow */
        header->has_nodata = tz_cursor_u8(cursor) != 0;
        tz_cursor_bytes(cursor, 3);
    }
    header->max_error = read_double(cursor);
    header->minimum = read_double(cursor);
    header->maximum = read_double(cursor);
    if (header->version >= 6)
        tz_cursor_bytes(cursor, 16); /* values that mean "no data" */
}

bool tz_lerc_read_header(tz_lerc_header *out, tz_cursor *cursor)
{
    tz_lerc_header header = {0};
    const uint8_t *key = tz_cursor_bytes(cursor, 6);
    if (!key || memcmp(key, "Lerc2 ", 6) != 0)
        return false;
    header.version = tz_cursor_le32(cursor);
    if (header.version < FIRST_VERSION || header.version > LAST_VERSION)
        return false;
    read_fields(&header, cursor);
    if (cursor->overrun || header.type >= TZ_LERC_TYPES)
        return false;
    *out = header;
    return true;
}

/* Fletcher's sums of 16-bit words, high byte first; four words at a time, so that they do not wait
 * for each other. The sums are folded where liblerc folds them, and no further: with an odd number
 * of bytes more than 16 bits may be left in the end. */
static uint32_t fletcher32(const uint8_t *data, size_t size)
{
    enum { FOLD_EVERY = 359 }; /* words */
    uint32_t sum1 = 0xffff, sum2 = 0xffff;
    for (size_t words = size / 2; words > 0;) {
        size_t some = words < FOLD_EVERY ? words : FOLD_EVERY;
        words -= some;
        for (; some >= 4; some -= 4, data += 8) {
            uint64_t four = tz_load_be64(data);
            uint32_t a = (uint32_t)(four >> 48), b = (uint32_t)(four >> 32 & 0xffff);
            uint32_t c = (uint32_t)(four >> 16 & 0xffff), d = (uint32_t)(four & 0xffff);
            sum2 += 4 * (sum1 + a) + 3 * b + 2 * c + d;
            sum1 += a + b + c + d;
        }
        for (; some > 0; some--, data += 2) {
            sum1 += (uint32_t)data[0] << 8 | data[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (size & 1) {
        sum1 += (uint32_t)data[0] << 8;
        sum2 += sum1;
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}

bool tz_lerc_checksum_fits(const tz_lerc_header *header, const uint8_t *data)
{
    return header->version < 3 ||
           fletcher32(data + CHECKSUM_START, header->size - CHECKSUM_START) == header->checksum;
}

/* Run lengths: a positive count of literals, or a negative count and one byte to repeat. */
static bool expand_mask(tz_cursor runs, uint8_t *bits, size_t size)
{
    size_t filled = 0;
    for (;;) {
        const uint8_t *word = tz_cursor_bytes(&runs, 2);
        if (!word)
            return false;
        int count = word[0] | word[1] << 8;
        if (count == 0x8000)
            return filled == size;
        size_t length = (size_t)(count < 0x8000 ? count : 0x10000 - count);
        if (length > size - filled)
            return false;
        const uint8_t *source = tz_cursor_bytes(&runs, count < 0x8000 ? length : 1);
        if (!source)
            return false;
        if (count < 0x8000)
            memcpy(bits + filled, source, length);
        else
            memset(bits + filled, source[0], length);
        filled += length;
    }
}

static size_t count_bits(const uint8_t *bits, size_t pixels)
{
    size_t count = 0;
    for (size_t i = 0; i < pixels / 8; i++)
        count += (size_t)__builtin_popcount(bits[i]);
    if (pixels % 8)
        count += (size_t)__builtin_popcount(bits[pixels / 8] >> (8 - pixels % 8));
    return count;
}

bool tz_lerc_read_mask(tz_lerc_blob *blob, uint8_t *bits, bool has_previous)
{
    const tz_lerc_header *header = &blob->header;
    size_t pixels = (size_t)header->width * header->height;
    size_t size = (pixels + 7) / 8;
    uint32_t stored = tz_cursor_le32(&blob->data);
    bool partly = header->valid != 0 && header->valid != pixels;
    if (blob->data.overrun || (!partly && stored != 0))
        return tz_lerc_fail(blob, "the mask");
    tz_cursor runs = tz_cursor_slice(&blob->data, stored);
    blob->mask = header->valid == pixels ? NULL : bits;
    if (!partly) { /* also for the next band */
        memset(bits, header->valid == 0 ? 0 : 0xff, size);
        return true;
    }
    if (stored != 0 ? !expand_mask(runs, bits, size) : !has_previous)
        return tz_lerc_fail(blob, "the mask");
    if (count_bits(bits, pixels) != header->valid)
        return tz_lerc_fail(blob, "the number of valid pixels");
    return true;
}
