/* SPDX-License-Identifier: Apache-2.0
 * LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, wider by one bit one code
 * before the table needs it. Clear comes first and whenever the table is full, 257 last.
 *
 * A string is its prefix's code and a byte, and the table finds its code by a hash of both. A slot
 * holds the code alone; what string that is, is looked up beside, off the path from one code to the
 * next. So there can be eight slots for a code in 64 KiB, which are zeroed in no time. */
#include <string.h>

#include "codec/encoder.h"
#include "codec/put.h"

enum {
    CLEAR = 256,
    END = 257,
    FIRST = 258, /* the first code that stands for a string of more than one byte */
    MIN_WIDTH = 9,
    MAX_WIDTH = 12,
    FULL = 4094, /* when this would be the next code, the table is cleared */
    SLOT_BITS = 15,
    SLOTS = 1 << SLOT_BITS,
    CODE_SHIFT = SLOT_BITS - MAX_WIDTH
};
#define SPREAD 0x278Du /* tried with rasters: one string in thirty meets another in its slot */

typedef struct lzw_state {
    uint16_t slots[SLOTS];  /* a code, or 0: free */
    uint32_t strings[FULL]; /* of a code: prefix << 8 | byte */
} lzw_state;

/* A tile at work: what was put, and the table. */
typedef struct lzw_run {
    lzw_state *state;
    uint8_t *out;
    uint64_t bits;  /* not stored yet, from the highest bit on */
    unsigned count; /* of them: at most 7 between two codes */
    unsigned width;
    unsigned next; /* the code that is defined next */
} lzw_run;

/* Stores 8 bytes, of which those that are complete count. */
static inline void put_code(lzw_run *run, unsigned code)
{
    run->count += run->width;
    run->bits |= (uint64_t)code << (64 - run->count);
    tz_put_be64(run->out, run->bits);
    run->out += run->count / 8;
    run->bits <<= run->count & ~7u;
    run->count %= 8;
}

static void clear_table(lzw_run *run)
{
    put_code(run, CLEAR);
    memset(run->state->slots, 0, sizeof run->state->slots);
    run->width = MIN_WIDTH;
    run->next = FIRST;
}

/* A code was put, and with it the decoder's table grows: by one code that the encoder has too, as
 * soon as it has seen the next byte. */
static inline void count_code(lzw_run *run)
{
    run->next++;
    if (run->next == FULL)
        clear_table(run);
    else if (run->next >> run->width != 0)
        run->width++;
}

/* Codes are eight slots apart, and bytes spread over all of them. */
static inline size_t slot_of(unsigned code, unsigned byte)
{
    return (size_t)code << CODE_SHIFT ^ (byte * SPREAD & (SLOTS - 1));
}

/* The code of a string; 0, and the slot where it belongs, when the table does not have it. */
static inline unsigned find_string(const lzw_state *state, uint32_t string, size_t *slot)
{
    for (;; *slot = (*slot + 1) % SLOTS) {
        unsigned code = state->slots[*slot];
        if (code == 0 || state->strings[code] == string)
            return code;
    }
}

static void encode_bytes(lzw_run *run, const uint8_t *in, const uint8_t *end)
{
    lzw_state *state = run->state;
    unsigned code = *in++;
    while (in < end) {
        unsigned byte = *in++;
        uint32_t string = (uint32_t)code << 8 | byte;
        size_t slot = slot_of(code, byte);
        unsigned found = find_string(state, string, &slot);
        if (found != 0) {
            code = found;
            continue;
        }
        put_code(run, code);
        state->slots[slot] = (uint16_t)run->next;
        state->strings[run->next] = string;
        count_code(run);
        code = byte;
    }
    put_code(run, code);
    count_code(run);
}

static tz_result lzw_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_choice *choice, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)choice, (void)call;
    lzw_run run = {.state = opaque, .out = out, .width = MIN_WIDTH};
    clear_table(&run);
    encode_bytes(&run, in, in + tz_tile_bytes(format));
    put_code(&run, END);
    *out_size = (size_t)(run.out - out) + (run.count > 0);
    return TZ_OK;
}

/* A code for every byte and one for every time that the table is full, of 12 bits; the first and
 * the last; and 8 bytes that a store may reach behind them. */
static size_t lzw_bound(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)choice;
    size_t size = tz_tile_bytes(format);
    size_t codes = size + size / (FULL - FIRST) + 3;
    return codes + codes / 2 + 8;
}

static const uint16_t lzw_compressions[] = {5, 0};

const tz_encoder tz_encoder_lzw = {
    .name = "lzw",
    .library = "terrazzo",
    .compressions = lzw_compressions,
    .state_size = sizeof(lzw_state),
    .bound = lzw_bound,
    .encode = lzw_encode,
};
