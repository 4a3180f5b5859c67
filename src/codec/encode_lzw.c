/* SPDX-License-Identifier: Apache-2.0
 * LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, wider by one bit one code
 * before the table needs it. Clear comes first and whenever the table is full, 257 last.
 *
 * A string is its prefix's code and a byte, and the table finds its code by a hash of both. A slot
 * holds the code alone; what string that is, is looked up beside, off the path from one code to the
 * next. So there can be eight slots for a code in 64 KiB, which are zeroed in no time. */
#include <string.h>

#include "codec/encoder.h"
#include "codec/unaligned_store.h"

enum {
    CLEAR_CODE = 256,
    END_CODE = 257,
    FIRST_STRING_CODE = 258, /* the first code that stands for a string of more than one byte */
    MIN_WIDTH = 9,
    MAX_WIDTH = 12,
    FULL_TABLE = 4094, /* when this would be the next code, the table is cleared */
    SLOT_BITS = 15,
    SLOTS = 1 << SLOT_BITS,
    CODE_SHIFT = SLOT_BITS - MAX_WIDTH
};
#define SPREAD 0x278Du /* tried with rasters: one string in thirty meets another in its slot */

typedef struct lzw_encoder {
    uint16_t slots[SLOTS];        /* a code, or 0: free */
    uint32_t strings[FULL_TABLE]; /* of a code: prefix << 8 | byte */
} lzw_encoder;

/* A tile at work: what was put, and the table. */
typedef struct lzw_encode_job {
    lzw_encoder *state;
    uint8_t *out;
    uint64_t bits;  /* not stored yet, from the highest bit on */
    unsigned count; /* of them: at most 7 between two codes */
    unsigned width;
    unsigned next; /* the code that is defined next */
} lzw_encode_job;

/* Stores 8 bytes, of which those that are complete count. */
static inline void put_lzw_code(lzw_encode_job *job, unsigned code)
{
    job->count += job->width;
    job->bits |= (uint64_t)code << (64 - job->count);
    tz_store_be64(job->out, job->bits);
    job->out += job->count / 8;
    job->bits <<= job->count & ~7u;
    job->count %= 8;
}

static void clear_table(lzw_encode_job *job)
{
    put_lzw_code(job, CLEAR_CODE);
    memset(job->state->slots, 0, sizeof job->state->slots);
    job->width = MIN_WIDTH;
    job->next = FIRST_STRING_CODE;
}

/* A code was put, and with it the decoder's table grows: by one code that the encoder has too, as
 * soon as it has seen the next byte. */
static inline void count_lzw_code(lzw_encode_job *job)
{
    job->next++;
    if (job->next == FULL_TABLE)
        clear_table(job);
    else if (job->next >> job->width != 0)
        job->width++;
}

/* Codes are eight slots apart, and bytes spread over all of them. */
static inline size_t hash_slot(unsigned code, unsigned byte)
{
    return (size_t)code << CODE_SHIFT ^ (byte * SPREAD & (SLOTS - 1));
}

/* The code of a string; 0, and the slot where it belongs, when the table does not have it. */
static inline unsigned find_string(const lzw_encoder *state, uint32_t string, size_t *slot)
{
    for (;; *slot = (*slot + 1) % SLOTS) {
        unsigned code = state->slots[*slot];
        if (code == 0 || state->strings[code] == string)
            return code;
    }
}

static void encode_lzw_bytes(lzw_encode_job *job, const uint8_t *in, const uint8_t *end)
{
    lzw_encoder *state = job->state;
    unsigned code = *in++;
    while (in < end) {
        unsigned byte = *in++;
        uint32_t string = (uint32_t)code << 8 | byte;
        size_t slot = hash_slot(code, byte);
        unsigned found = find_string(state, string, &slot);
        if (found != 0) {
            code = found;
            continue;
        }
        put_lzw_code(job, code);
        state->slots[slot] = (uint16_t)job->next;
        state->strings[job->next] = string;
        count_lzw_code(job);
        code = byte;
    }
    put_lzw_code(job, code);
    count_lzw_code(job);
}

static tz_result lzw_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)options, (void)call;
    lzw_encode_job job = {.state = opaque, .out = out, .width = MIN_WIDTH};
    clear_table(&job);
    encode_lzw_bytes(&job, in, in + tz_tile_bytes(format));
    put_lzw_code(&job, END_CODE);
    *out_size = (size_t)(job.out - out) + (job.count > 0);
    return TZ_OK;
}

/* A code for every byte and one for every time that the table is full, of 12 bits; the first and
 * the last; and 8 bytes that a store may reach behind them. */
static size_t lzw_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t size = tz_tile_bytes(format);
    size_t codes = size + size / (FULL_TABLE - FIRST_STRING_CODE) + 3;
    return codes + codes / 2 + 8;
}

static const uint16_t lzw_encoder_compressions[] = {5, 0};

const tz_encoder tz_encoder_lzw = {
    .name = "lzw",
    .library = "terrazzo",
    .compressions = lzw_encoder_compressions,
    .state_size = sizeof(lzw_encoder),
    .bound = lzw_bound,
    .encode = lzw_encode,
};
