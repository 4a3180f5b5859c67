/* SPDX-License-Identifier: Apache-2.0
 * PackBits: a byte n below 128 is followed by n + 1 bytes as they are, one above 128 by a byte that
 * stands for 257 - n of the same; 128 means nothing. Packets may cross the ends of rows. A packet
 * that runs past the end of the tile or of the input is an error; bytes after the last packet are
 * ignored with a warning, unless all of them are 128.
 *
 * The decoder writes a packet in steps of 32 bytes, past its end, while neither input nor output is
 * near its end; then packet by packet with checks. Rows that are apart do not allow that: their
 * packets go to a small buffer first.
 *
 * The encoder packs every row by itself, as small as it can be. Three equal bytes or more are
 * always a run. Two of them are a run only if no literal packet is open: within one they cost
 * nothing more, and a run would cost the head of the next literal packet. */
#include <string.h>

#include "base/minmax.h"
#include "codec/codec.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

enum {
    MAX_PACKET = 128, /* bytes that one packet makes */
    DECODE_STEP = 32  /* bytes written at a time, also after the end of a packet */
};
_Static_assert(DECODE_STEP <= TZ_CODEC_SLACK,
               "the last step may pass the end of the tile by one step");

/* Decodes while no packet can pass either end. A packet is written in 32, 64 or 128 bytes: most
 * need no more than the first step. */
static inline const uint8_t *decode_inner_packets(const uint8_t *at, const uint8_t *in_end,
                                                  uint8_t **out, const uint8_t *out_end)
{
    enum { REST = MAX_PACKET - 2 * DECODE_STEP };
    uint8_t *to = *out;
    while (in_end - at > MAX_PACKET && out_end - to >= MAX_PACKET) {
        size_t head = *at++;
        if (head < 128) {
            const size_t size = head + 1;
            memcpy(to, at, DECODE_STEP);
            if (size > DECODE_STEP) {
                memcpy(to + DECODE_STEP, at + DECODE_STEP, DECODE_STEP);
                if (size > 2 * DECODE_STEP)
                    memcpy(to + 2 * DECODE_STEP, at + 2 * DECODE_STEP, REST);
            }
            at += size;
            to += size;
        } else if (head > 128) {
            const size_t size = 257 - head;
            const uint8_t value = *at++;
            memset(to, value, DECODE_STEP);
            if (size > DECODE_STEP) {
                memset(to + DECODE_STEP, value, DECODE_STEP);
                if (size > 2 * DECODE_STEP)
                    memset(to + 2 * DECODE_STEP, value, REST);
            }
            to += size;
        }
    }
    *out = to;
    return at;
}

/* One packet near an end. */
static tz_result decode_edge_packet(const uint8_t **in, const uint8_t *in_end, uint8_t **out,
                                    const uint8_t *out_end, const tz_codec_call *call)
{
    const uint8_t *at = *in;
    size_t head = *at++;
    *in = at;
    if (head == 128)
        return TZ_OK;
    bool literal = head < 128;
    size_t size = literal ? head + 1 : 257 - head;
    size_t stored = literal ? size : 1;
    if (stored > (size_t)(in_end - at))
        return tz_codec_fail_size(call, stored, (size_t)(in_end - at),
                                  "PackBits data ends inside a packet");
    if (size > (size_t)(out_end - *out))
        return tz_codec_fail_size(call, (size_t)(out_end - *out), size,
                                  "a PackBits packet runs past the end of the tile");
    if (literal)
        memcpy(*out, at, size);
    else
        memset(*out, *at, size);
    *in = at + stored;
    *out += size;
    return TZ_OK;
}

/* Decodes packets until at least wanted bytes are made, of those left to make for a tile of size
 * bytes. *made is up to one packet more. */
static tz_result decode_packets(const uint8_t **in, const uint8_t *in_end, uint8_t *out,
                                size_t wanted, size_t left, size_t size, size_t *made,
                                const tz_codec_call *call)
{
    uint8_t *to = out;
    const uint8_t *const end = out + (left - wanted < MAX_PACKET ? left : wanted + MAX_PACKET);
    *in = decode_inner_packets(*in, in_end, &to, end);
    while (to < out + wanted) {
        if (*in == in_end)
            return tz_codec_fail_size(call, size, size - left + (size_t)(to - out),
                                      "PackBits data ends too early");
        TZ_TRY(decode_edge_packet(in, in_end, &to, end, call));
    }
    *made = (size_t)(to - out);
    return TZ_OK;
}

/* Decodes rows that are apart, by way of a buffer that stays in the cache. */
static tz_result decode_strided_rows(const tz_tile_format *format, const uint8_t **in,
                                     const uint8_t *in_end, uint8_t *out, size_t stride,
                                     const tz_codec_call *call)
{
    enum { BUFFER_SIZE = 8192 };
    uint8_t buffer[BUFFER_SIZE + MAX_PACKET + TZ_CODEC_SLACK];
    size_t row_bytes = tz_tile_row_bytes(format);
    size_t size = tz_tile_bytes(format);
    size_t column = 0;
    for (size_t left = size, made; left > 0; left -= made) {
        TZ_TRY(decode_packets(in, in_end, buffer, tz_min_size(left, BUFFER_SIZE), left, size, &made,
                              call));
        for (size_t done = 0, some; done < made; done += some) {
            some = tz_min_size(row_bytes - column, made - done);
            memcpy(out + column, buffer + done, some);
            column += some;
            if (column == row_bytes) {
                column = 0;
                out += stride;
            }
        }
    }
    return TZ_OK;
}

static tz_result packbits_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                                 size_t in_size, uint8_t *out, size_t stride,
                                 const tz_codec_call *call)
{
    (void)state;
    size_t size = tz_tile_bytes(format), made;
    const uint8_t *at = in, *const in_end = in + in_size;
    if (stride == tz_tile_row_bytes(format))
        TZ_TRY(decode_packets(&at, in_end, out, size, size, size, &made, call));
    else
        TZ_TRY(decode_strided_rows(format, &at, in_end, out, stride, call));
    while (at < in_end && *at == 128)
        at++;
    return tz_codec_check_end(call, (size_t)(at - in), in_size);
}

const tz_decoder tz_decoder_packbits = {
    .flags = TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN | TZ_DECODER_MEMORY_BOUND,
    .decode = packbits_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum { ENCODE_STEP = 16 }; /* bytes copied at a time, also after the end of a packet */

/* Returns the highest bit of every byte that is 0 in word. */
static inline uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((word & low) + low) | word | low);
}

static inline size_t first_byte_index(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits) / 8;
}

/* Returns the end of the bytes that are equal to *at; loads up to 9 bytes past end. */
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

/* Finds the next three equal bytes, which end at end or before; returns limit if they do not begin
 * before it. Loads up to 10 bytes past end. */
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

/* Writes packets of at most 128 bytes. One byte may be left: returns it. */
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

/* Returns the end of the literal packet from at: before a run, or when it is full. A full packet
 * does not part two equal bytes: the next one takes both. */
static inline const uint8_t *literal_end(const uint8_t *at, const uint8_t *end)
{
    if (end - at <= MAX_PACKET)
        return find_equal_bytes(at, end, end);
    const uint8_t *stop = find_equal_bytes(at, at + MAX_PACKET, end);
    return stop == at + MAX_PACKET && stop[-1] == stop[0] ? stop - 1 : stop;
}

/* In small inline functions because gcc makes fewer instructions of them than of one loop: see
 * tests/instructions. */
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
 * the run of two that may follow are 128 bytes or more. Steps of a copy reach past the end. */
static size_t packbits_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t row_bytes = tz_tile_row_bytes(format);
    return (row_bytes + (row_bytes + MAX_PACKET - 1) / MAX_PACKET) * format->height + ENCODE_STEP;
}

const tz_encoder tz_encoder_packbits = {
    .bound = packbits_bound,
    .encode = packbits_encode,
};
