/* SPDX-License-Identifier: Apache-2.0
 * Reads the headers of embedded streams. A read past the end gives 0 and sets overrun, which
 * callers check once after a group of reads. */
#ifndef TZ_CODEC_CURSOR_H
#define TZ_CODEC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec/unaligned.h"

typedef struct tz_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool overrun;
} tz_cursor;

static inline tz_cursor tz_cursor_of(const uint8_t *data, size_t size)
{
    return (tz_cursor){data, data + size, false};
}

static inline size_t tz_cursor_left(const tz_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* Returns the next size bytes; NULL if there are fewer, and then nothing is left. */
static inline const uint8_t *tz_cursor_bytes(tz_cursor *cursor, size_t size)
{
    if (tz_cursor_left(cursor) < size) {
        cursor->at = cursor->end;
        cursor->overrun = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

/* Returns a cursor over the next size bytes; empty and overrun if there are fewer. */
static inline tz_cursor tz_cursor_slice(tz_cursor *cursor, size_t size)
{
    const uint8_t *bytes = tz_cursor_bytes(cursor, size);
    if (!bytes)
        return (tz_cursor){cursor->end, cursor->end, true};
    return tz_cursor_of(bytes, size);
}

static inline uint8_t tz_cursor_u8(tz_cursor *cursor)
{
    const uint8_t *bytes = tz_cursor_bytes(cursor, 1);
    return bytes ? bytes[0] : 0;
}

static inline uint16_t tz_cursor_be16(tz_cursor *cursor)
{
    const uint8_t *bytes = tz_cursor_bytes(cursor, 2);
    return bytes ? (uint16_t)(bytes[0] << 8 | bytes[1]) : 0;
}

static inline uint32_t tz_cursor_be32(tz_cursor *cursor)
{
    uint32_t high = tz_cursor_be16(cursor);
    return high << 16 | tz_cursor_be16(cursor);
}

static inline uint32_t tz_cursor_le32(tz_cursor *cursor)
{
    const uint8_t *bytes = tz_cursor_bytes(cursor, 4);
    return bytes ? tz_load_le32(bytes) : 0;
}

/* Reads the next box of a JPEG 2000 or JPEG XL file: its type, and a cursor over its content.
 * Returns false if there is none, or it is cut off. */
static inline bool tz_cursor_box(tz_cursor *cursor, uint32_t *type, tz_cursor *content)
{
    if (tz_cursor_left(cursor) < 8)
        return false;
    uint64_t length = tz_cursor_be32(cursor);
    uint64_t head = 8;
    *type = tz_cursor_be32(cursor);
    if (length == 1) {
        length = (uint64_t)tz_cursor_be32(cursor) << 32;
        length |= tz_cursor_be32(cursor);
        head = 16;
    }
    if (length == 0) /* up to the end */
        length = tz_cursor_left(cursor) + head;
    if (cursor->overrun || length < head || length - head > tz_cursor_left(cursor))
        return false;
    *content = tz_cursor_slice(cursor, (size_t)(length - head));
    return true;
}

/* Finds the first box of either type in a file of boxes, and returns its type; 0: there is none.
 * The file begins with a signature box of 12 bytes: its size, its type, and four bytes that a
 * transfer as text would change (ITU-T T.800 annex I, ISO/IEC 18181-2). Data without it is a bare
 * codestream: *content is all of it, and the type is the first. */
static inline uint32_t tz_cursor_find_box(const uint8_t *data, size_t size, const char signature[4],
                                          const uint32_t types[2], tz_cursor *content)
{
    tz_cursor cursor = tz_cursor_of(data, size);
    uint32_t type;
    *content = cursor;
    if (size < 12 || memcmp(data, "\0\0\0\x0C", 4) != 0 || memcmp(data + 4, signature, 4) != 0 ||
        memcmp(data + 8, "\r\n\x87\n", 4) != 0)
        return types[0];
    while (tz_cursor_box(&cursor, &type, content))
        if (type == types[0] || type == types[1])
            return type;
    return 0;
}

#endif
