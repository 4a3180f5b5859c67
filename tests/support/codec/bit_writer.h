/* SPDX-License-Identifier: Apache-2.0
 * Bits to bytes, for tests that write compressed streams by hand. */
#ifndef TESTS_SUPPORT_CODEC_BIT_WRITER_H
#define TESTS_SUPPORT_CODEC_BIT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct bit_writer {
    uint8_t *data; /* its unused bits are 0; the user frees it */
    size_t size;   /* bytes that have bits */
    size_t room;
    uint64_t bits;
    bool low_first;
} bit_writer;

static inline void put_bit(bit_writer *writer, unsigned bit)
{
    size_t at = (size_t)(writer->bits / 8);
    if (at >= writer->room) {
        size_t room = 2 * writer->room + 64;
        writer->data = realloc(writer->data, room);
        if (!writer->data)
            abort();
        memset(writer->data + writer->room, 0, room - writer->room);
        writer->room = room;
    }
    unsigned shift = (unsigned)(writer->bits % 8);
    writer->data[at] |= (uint8_t)((bit & 1) << (writer->low_first ? shift : 7 - shift));
    writer->bits++;
    writer->size = at + 1;
}

/* The lowest count bits of value, in the writer's order. */
static inline void put_bits(bit_writer *writer, unsigned value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_bit(writer, value >> (writer->low_first ? i : count - 1 - i));
}

/* Zeros up to a whole byte. */
static inline void put_align(bit_writer *writer)
{
    while (writer->bits % 8)
        put_bit(writer, 0);
}

/* "0badf00d" as bytes. Returns their number. */
static inline size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t size = 0;
    for (; text[0] && text[1]; text += 2) {
        char pair[3] = {text[0], text[1], 0};
        bytes[size++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return size;
}

#endif
