/* SPDX-License-Identifier: Apache-2.0
 * LZW tiles of both kinds, beside a decoder that builds its strings byte by byte. */
#include "codec_target.h"

enum { CLEAR = 256, END = 257, FIRST = 258, MAX_CODES = 4096 };

typedef struct plain {
    const uint8_t *in;
    size_t bits;
    size_t bit;
    bool low_first;
    uint16_t prefix[MAX_CODES];
    uint8_t last[MAX_CODES];
    uint8_t string[MAX_CODES];
} plain;

static unsigned plain_code(plain *p, unsigned width)
{
    unsigned code = 0;
    if (p->bits - p->bit < width)
        return END;
    for (unsigned i = 0; i < width; i++, p->bit++) {
        unsigned byte = p->in[p->bit / 8];
        unsigned bit = byte >> (p->low_first ? p->bit % 8 : 7 - p->bit % 8) & 1;
        code = p->low_first ? code | bit << i : code << 1 | bit;
    }
    return code;
}

/* The string of a code, at the end of p->string. */
static size_t plain_string(plain *p, unsigned code)
{
    size_t size = 0;
    while (code >= FIRST) {
        p->string[MAX_CODES - ++size] = p->last[code];
        code = p->prefix[code];
    }
    p->string[MAX_CODES - ++size] = (uint8_t)code;
    return size;
}

/* true: exactly size bytes came out. */
static bool decode_plainly(plain *p, uint8_t *out, size_t size)
{
    size_t made = 0;
    unsigned next = FIRST, width = 9, before = CLEAR;
    if (plain_code(p, width) != CLEAR)
        return false;
    while (made < size) {
        if (next >= (1u << width) - !p->low_first && width < 12)
            width++;
        unsigned code = plain_code(p, before == CLEAR ? 9 : width);
        if (code == END)
            return false;
        if (code == CLEAR) {
            next = FIRST;
            width = 9;
            before = CLEAR;
            continue;
        }
        if (before == CLEAR ? code > 255 : code > next || (next == MAX_CODES && !p->low_first))
            return false;
        if (before != CLEAR && next < MAX_CODES) {
            /* the entry needs the first byte of this code's string, which may be the entry's own */
            size_t length = plain_string(p, code == next ? before : code);
            p->prefix[next] = (uint16_t)before;
            p->last[next++] = p->string[MAX_CODES - length];
        }
        size_t length = plain_string(p, code);
        const uint8_t *string = p->string + MAX_CODES - length;
        if (length > size - made)
            length = size - made; /* the last string may pass the end */
        memcpy(out + made, string, length);
        made += length;
        before = code;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < TARGET_HEAD)
        return 0;
    const uint8_t *in = data + TARGET_HEAD;
    size_t in_size = size - TARGET_HEAD;
    tz_tile_format format = target_format(&tz_decoder_lzw, data);
    size_t tile = tz_tile_bytes(&format);
    uint8_t *rows;
    tz_result result = target_run(&tz_decoder_lzw, &format, in, in_size, &rows);
    plain *p = target_alloc(sizeof *p);
    uint8_t *out = target_alloc(tile);
    p->in = in;
    p->bits = in_size * 8;
    p->low_first = in_size >= 2 && in[0] == 0 && in[1] % 2 == 1;
    bool decodes = decode_plainly(p, out, tile);
    target_check(decodes == (result == TZ_OK));
    target_check(!decodes || memcmp(rows, out, tile) == 0);
    free(out);
    free(p);
    free(rows);
    return 0;
}
