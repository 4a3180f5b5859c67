/* SPDX-License-Identifier: Apache-2.0
 * PackBits, every row by itself, as small as it can be. Three equal bytes or more are always a run.
 * Two of them are a run only where no literal packet is open: within one they cost nothing more,
 * and a run would cost the head of the next literal packet. */
#include <string.h>

#include "codec/encoder.h"
#include "codec/unaligned.h"

enum { MAX_PACKET = 128, ENCODE_STEP = 16 }; /* bytes of a packet; bytes copied at a time */

/* The highest bit of every byte that is 0 in word. */
static inline uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((word & low) + low) | word | low);
}

static inline size_t first_byte_index(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits) / 8;
}

/* Where the bytes end that are equal to *at; loads go up to 9 bytes past end. */
static inline const uint8_t *run_end(const uint8_t *at, const uint8_t *end)
{
    for (; at < end; at += 8) {
        uint64_t differ = tz_load_le64(at) ^ tz_load_le64(at + 1);
        if (differ != 0) {
            at += first_byte_index(differ) + 1;
            break;
        }
    }
    return at < end ? at : end;
}

/* Where the next three equal bytes begin; limit when there are none before it. They end at end or
 * before, and loads go up to 10 bytes past it. */
static inline const uint8_t *find_equal_bytes(const uint8_t *at, const uint8_t *limit,
                                              const uint8_t *end)
{
    for (; at < limit; at += 8) {
        uint64_t middle = tz_load_le64(at + 1);
        uint64_t found = zero_bytes((tz_load_le64(at) ^ middle) | (middle ^ tz_load_le64(at + 2)));
        if (found != 0) {
            at += first_byte_index(found);
            break;
        }
    }
    return at < limit && end - at >= 3 ? at : limit;
}

/* Packets of at most 128 bytes; one byte may be left. */
static inline const uint8_t *put_run(const uint8_t *at, const uint8_t *end, uint8_t **out)
{
    while (end - at >= 2) {
        size_t size = end - at < MAX_PACKET ? (size_t)(end - at) : MAX_PACKET;
        *(*out)++ = (uint8_t)(257 - size);
        *(*out)++ = *at;
        at += size;
    }
    return at;
}

static inline const uint8_t *put_literal(const uint8_t *at, const uint8_t *end, uint8_t **out)
{
    size_t size = (size_t)(end - at);
    *(*out)++ = (uint8_t)(size - 1);
    for (size_t done = 0; done < size; done += ENCODE_STEP)
        memcpy(*out + done, at + done, ENCODE_STEP);
    *out += size;
    return end;
}

/* Where the literal packet from at ends: before a run, or when it is full. Two equal bytes are not
 * cut through by that: the next packet takes both. */
static inline const uint8_t *literal_end(const uint8_t *at, const uint8_t *end)
{
    if (end - at <= MAX_PACKET)
        return find_equal_bytes(at, end, end);
    const uint8_t *stop = find_equal_bytes(at, at + MAX_PACKET, end);
    return stop == at + MAX_PACKET && stop[-1] == stop[0] ? stop - 1 : stop;
}

static uint8_t *encode_packbits_row(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    while (at < end) {
        const uint8_t *run = run_end(at, end);
        at = run - at >= 2 ? put_run(at, run, &out) : put_literal(at, literal_end(at, end), &out);
    }
    return out;
}

static tz_result packbits_encode(void *state, const tz_tile_format *format,
                                 const tz_encode_options *options, uint8_t *in, uint8_t *out,
                                 size_t *out_size, const tz_codec_call *call)
{
    (void)state, (void)options, (void)call;
    size_t row_bytes = tz_tile_row_bytes(format);
    uint8_t *to = out;
    for (uint32_t row = 0; row < format->height; row++, in += row_bytes)
        to = encode_packbits_row(in, in + row_bytes, to);
    *out_size = (size_t)(to - out);
    return TZ_OK;
}

/* A literal packet is followed by a run that saves its head, or by the end of the row, or it and
 * the run of two that may follow are 128 bytes or more. Steps of a copy reach behind the end. */
static size_t packbits_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t row_bytes = tz_tile_row_bytes(format);
    return (row_bytes + (row_bytes + MAX_PACKET - 1) / MAX_PACKET) * format->height + ENCODE_STEP;
}

static const uint16_t packbits_encoder_compressions[] = {32773, 0};

const tz_encoder tz_encoder_packbits = {
    .name = "packbits",
    .library = "terrazzo",
    .compressions = packbits_encoder_compressions,
    .bound = packbits_bound,
    .encode = packbits_encode,
};
