/* SPDX-License-Identifier: Apache-2.0
 * LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, wider by one bit one code
 * before the table needs it; and the form that early versions of libtiff wrote, lowest bit first
 * and wider in time, which shows in its first two bytes. 256 clears the table, 257 ends the data.
 *
 * The decoder's table holds the positions of strings, not their bytes: the string of a new code is
 * the one before it and the byte that follows there, so every string lies in the output already,
 * one byte longer than the string it extends. A code is then a copy of a few bytes, done in one
 * step for almost all of them: of 16 bytes, or of 32 where strings are long. Four codes come from
 * one load of 64 bits, and errors are checked for once for all four where that is possible.
 *
 * The first code must be 256. Data without 257 is taken with a warning when the tile is complete;
 * so are bytes after the tile's last, and a last string that passes the end of the tile:
 * some writers pad the last rows. A code that the table does not have and more codes than it can
 * hold are errors.
 *
 * The encoder clears the table first and whenever it is full. A string is its prefix's code and a
 * byte, and a hash of both finds its code. A slot holds the code alone; its string is looked up
 * beside, off the path from one code to the next. So there can be eight slots for a code in 64 KiB,
 * which are zeroed in no time. */
#include <string.h>

#include "codec/codec.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

enum {
    CLEAR_CODE = 256,
    END_CODE = 257,
    FIRST_STRING_CODE = 258, /* the first code that stands for a string of more than one byte */
    MIN_WIDTH = 9,
    MAX_WIDTH = 12,
    MAX_CODES = 4096,
    STEP = 16, /* bytes copied at a time, also after the end of a string */
    LONG_STEP = 32,
    LONG_STRINGS = 6, /* bytes of a tile for each stored byte, where the long step is faster */
    GROUP = 4         /* codes from one load: up to 7 + 4 * 12 bits */
};
_Static_assert(LONG_STEP <= TZ_CODEC_SLACK, "a step at the end of the tile stays within the slack");

/* A string: at is its offset from base, or for codes below 256 in the list of literals. */
typedef struct lzw_string {
    uint32_t at;
    uint32_t size;
} lzw_string;
#define NO_STRING UINT32_C(0x8000) /* the size of CLEAR and END: no string is that long */

typedef struct lzw_decoder {
    lzw_string table[MAX_CODES];
    uint8_t literals[256 + LONG_STEP];
} lzw_decoder;

/* The tile being decoded. Positions in the output count from base, the end of the output at the
 * last Clear: 3838 codes make less than 8 MB, so 32 bits hold every position that the table needs.
 */
typedef struct lzw_decode_job {
    const uint8_t *in;
    uint64_t bit; /* next to read */
    uint64_t bit_end;
    uint8_t *base;
    size_t pos;
    size_t end; /* of the tile */
    unsigned width;
    unsigned next;      /* the code that is defined next */
    lzw_string pending; /* the string it gets, complete with the first byte of the next code's */
} lzw_decode_job;

static lzw_decode_job start_lzw_job(const uint8_t *in, size_t in_size, uint8_t *out, size_t size)
{
    return (lzw_decode_job){.in = in,
                            .bit_end = (uint64_t)in_size * 8,
                            .base = out,
                            .end = size,
                            .width = MIN_WIDTH,
                            .next = FIRST_STRING_CODE};
}

static inline uint64_t load_bits(const uint8_t *in, uint64_t bit, bool low_first)
{
    const uint8_t *at = in + (bit >> 3);
    return low_first ? tz_load_le64(at) >> (bit & 7) : tz_load_be64(at) << (bit & 7);
}

/* Code number index of the word that load_bits gave. */
static inline unsigned code_at(uint64_t word, unsigned index, unsigned width, bool low_first)
{
    return low_first ? (unsigned)(word >> (index * width)) & ((1u << width) - 1)
                     : (unsigned)(word << (index * width) >> (64 - width));
}

/* The number of codes at which the codes become wider. */
static inline unsigned width_limit(unsigned width, bool low_first)
{
    return width == MAX_WIDTH ? MAX_CODES : (1u << width) - (low_first ? 0 : 1);
}

/* Through a register: from may be less than a step before to. Such bytes lie after the string's
 * end. */
__attribute__((always_inline)) static inline void copy_step(uint8_t *to, const uint8_t *from,
                                                            const unsigned step)
{
    uint8_t bytes[LONG_STEP];
    memcpy(bytes, from, step);
    memcpy(to, bytes, step);
}

/* Decodes groups of codes while there are enough codes of this width and enough bytes left in the
 * tile, up to a Clear, an END or an error. Long for the sake of speed: all that changes stays in
 * registers, and each width has a copy of the loop with constant shifts. */
__attribute__((always_inline)) static inline void
decode_groups(lzw_decoder *state, lzw_decode_job *job, const unsigned width, const bool low_first,
              const unsigned step)
{
    lzw_string *const table = state->table;
    const uint8_t *const literals = state->literals;
    uint8_t *const base = job->base;
    const size_t end = job->end;
    if (end < GROUP * step)
        return;
    const size_t pos_limit = end - GROUP * step;
    size_t pos = job->pos;
    uint64_t bit = job->bit;
    unsigned next = job->next;
    lzw_string pending = job->pending;
    unsigned left = 0; /* codes of the group that were not decoded */
    uint64_t groups = (job->bit_end - bit) / (GROUP * width);
    if (groups > (width_limit(width, low_first) - next) / GROUP)
        groups = (width_limit(width, low_first) - next) / GROUP;
    for (; groups > 0 && pos <= pos_limit; groups--) {
        const uint64_t word = load_bits(job->in, bit, low_first);
        bit += GROUP * width;
#pragma GCC unroll 4
        for (unsigned i = 0; i < GROUP; i++) {
            const unsigned code = code_at(word, i, width, low_first);
            table[next] = pending;
            if (code >= next) {
                if (code > next) {
                    left = GROUP - i;
                    goto leave;
                }
                base[pos] = base[pending.at]; /* the byte that its string still lacks */
            }
            const lzw_string found = table[code];
            const uint8_t *from = (code < CLEAR_CODE ? literals : base) + found.at;
            uint8_t *to = base + pos;
            copy_step(to, from, step);
            if (found.size > step) {
                if (found.size >= NO_STRING || found.size + GROUP * step > end - pos) {
                    left = GROUP - i;
                    goto leave;
                }
                copy_step(to + step, from + step, step);
                for (size_t done = 2 * step; done < found.size; done += 2 * step) {
                    copy_step(to + done, from + done, step);
                    copy_step(to + done + step, from + done + step, step);
                }
            }
            pending = (lzw_string){(uint32_t)pos, found.size + 1};
            pos += found.size;
            next++;
        }
    }
leave:
    job->bit = bit - left * width;
    job->pos = pos;
    job->next = next;
    job->pending = pending;
}

__attribute__((always_inline)) static inline void decode_groups_of_width(lzw_decoder *state,
                                                                         lzw_decode_job *job,
                                                                         const bool low_first,
                                                                         const unsigned step)
{
    switch (job->width) {
    case 9:
        decode_groups(state, job, 9, low_first, step);
        break;
    case 10:
        decode_groups(state, job, 10, low_first, step);
        break;
    case 11:
        decode_groups(state, job, 11, low_first, step);
        break;
    default:
        decode_groups(state, job, 12, low_first, step);
        break;
    }
}

static tz_result fail_lzw_truncated(const lzw_decode_job *job, const uint8_t *out,
                                    const tz_codec_call *call)
{
    size_t before = (size_t)(job->base - out);
    return tz_codec_fail_size(call, before + job->end, before + job->pos,
                              "LZW data ends too early");
}

/* Reads the next code; END if the data is over. */
static unsigned read_lzw_code(lzw_decode_job *job, bool low_first)
{
    if (job->bit_end - job->bit < job->width)
        return END_CODE;
    unsigned code = code_at(load_bits(job->in, job->bit, low_first), 0, job->width, low_first);
    job->bit += job->width;
    return code;
}

/* After a Clear: the first code stands for itself. */
static tz_result restart_table(lzw_decode_job *job, const uint8_t *out, bool low_first,
                               const tz_codec_call *call)
{
    job->width = MIN_WIDTH;
    job->next = FIRST_STRING_CODE;
    unsigned code = CLEAR_CODE;
    while (code == CLEAR_CODE)
        code = read_lzw_code(job, low_first);
    if (code == END_CODE)
        return fail_lzw_truncated(job, out, call);
    if (code > END_CODE)
        return tz_codec_fail(call, "LZW code %u follows a Clear", code);
    job->base += job->pos;
    job->end -= job->pos;
    job->base[0] = (uint8_t)code;
    job->pos = 1;
    job->pending = (lzw_string){0, 2};
    return TZ_OK;
}

/* Apart from append: its few instructions would be run for every code. */
__attribute__((cold, noinline)) static tz_result
warn_lzw_overlong(const lzw_decode_job *job, uint32_t size, const tz_codec_call *call)
{
    return tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, job->end - job->pos, size),
                   "the last LZW string passes the end of the tile; the rest of it is dropped");
}

/* Copies a string to the end of the output. The tile is complete when the string passes its end. */
static tz_result append_string(const lzw_decoder *state, lzw_decode_job *job, unsigned code,
                               const tz_codec_call *call)
{
    lzw_string found = state->table[code];
    if (found.size > job->end - job->pos) {
        TZ_TRY(warn_lzw_overlong(job, found.size, call));
        found.size = (uint32_t)(job->end - job->pos);
    }
    const uint8_t *from = (code < CLEAR_CODE ? state->literals : job->base) + found.at;
    uint8_t *to = job->base + job->pos;
    for (size_t i = 0; i < found.size; i++) /* byte by byte: a string may reach into itself */
        to[i] = from[i];
    job->pending = (lzw_string){(uint32_t)job->pos, found.size + 1};
    job->pos += found.size;
    return TZ_OK;
}

/* Decodes one code of any kind. */
static tz_result decode_lzw_code(lzw_decoder *state, lzw_decode_job *job, const uint8_t *out,
                                 bool low_first, const tz_codec_call *call)
{
    if (job->next == width_limit(job->width, low_first) && job->width < MAX_WIDTH)
        job->width++;
    unsigned code = read_lzw_code(job, low_first);
    if (code == CLEAR_CODE)
        return restart_table(job, out, low_first, call);
    if (code == END_CODE)
        return fail_lzw_truncated(job, out, call);
    if (job->next == MAX_CODES) {
        /* Old files go on with the table that they have. */
        return low_first ? append_string(state, job, code, call)
                         : tz_codec_fail(call, "LZW data has more codes than its table can hold");
    }
    if (code > job->next)
        return tz_codec_fail(call, "LZW code %u where the table ends at %u", code, job->next);
    state->table[job->next++] = job->pending;
    return append_string(state, job, code, call);
}

/* The tile is complete: END should follow, perhaps after a Clear. */
static tz_result finish_lzw(lzw_decode_job *job, size_t in_size, bool low_first,
                            const tz_codec_call *call)
{
    if (job->next == width_limit(job->width, low_first) && job->width < MAX_WIDTH)
        job->width++;
    bool over = job->bit_end - job->bit < job->width;
    unsigned code = read_lzw_code(job, low_first);
    if (code == CLEAR_CODE) {
        job->width = MIN_WIDTH;
        over = job->bit_end - job->bit < job->width;
        code = read_lzw_code(job, low_first);
    }
    if (over || code != END_CODE)
        return tz_codec_warn(call, "LZW data does not end where the tile does");
    return tz_codec_check_end(call, (size_t)((job->bit + 7) / 8), in_size);
}

__attribute__((always_inline)) static inline tz_result
decode_lzw_job(lzw_decoder *state, lzw_decode_job *job, size_t in_size, bool low_first,
               const unsigned step, const tz_codec_call *call)
{
    const uint8_t *out = job->base;
    if (read_lzw_code(job, low_first) != CLEAR_CODE)
        return tz_codec_fail(call, "LZW data does not begin with a Clear");
    TZ_TRY(restart_table(job, out, low_first, call));
    while (job->pos < job->end) {
        decode_groups_of_width(state, job, low_first, step);
        if (job->pos < job->end)
            TZ_TRY(decode_lzw_code(state, job, out, low_first, call));
    }
    return finish_lzw(job, in_size, low_first, call);
}

/* A function of its own: otherwise the loops for short strings lose registers to it. */
__attribute__((noinline)) static tz_result decode_long_strings(lzw_decoder *state,
                                                               const uint8_t *in, size_t in_size,
                                                               uint8_t *out, size_t size,
                                                               const tz_codec_call *call)
{
    lzw_decode_job job = start_lzw_job(in, in_size, out, size);
    return decode_lzw_job(state, &job, in_size, false, LONG_STEP, call);
}

static tz_result lzw_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)stride; /* packed rows */
    /* A Clear of the old kind is 0 and an odd byte; of the new kind, 128. */
    bool low_first = in_size >= 2 && in[0] == 0 && (in[1] & 1) != 0;
    size_t size = tz_tile_bytes(format);
    if (!low_first && size / LONG_STRINGS > in_size)
        return decode_long_strings(opaque, in, in_size, out, size, call);
    lzw_decode_job job = start_lzw_job(in, in_size, out, size);
    if (!low_first)
        return decode_lzw_job(opaque, &job, in_size, false, STEP, call);
    TZ_TRY(tz_codec_warn(call, "LZW data in the old bit order, lowest bit first"));
    return decode_lzw_job(opaque, &job, in_size, true, STEP, call);
}

static tz_result lzw_decoder_init(void *opaque, const tz_context *ctx)
{
    (void)ctx;
    lzw_decoder *state = opaque;
    for (unsigned code = 0; code < CLEAR_CODE; code++) {
        state->literals[code] = (uint8_t)code;
        state->table[code] = (lzw_string){code, 1};
    }
    state->table[CLEAR_CODE] = state->table[END_CODE] = (lzw_string){0, NO_STRING};
    return TZ_OK;
}

const tz_decoder tz_decoder_lzw = {
    .state_size = sizeof(lzw_decoder),
    .init = lzw_decoder_init,
    .decode = lzw_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum {
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

/* The tile being encoded. */
typedef struct lzw_encode_job {
    lzw_encoder *state;
    uint8_t *out;
    uint64_t bits;  /* not stored yet, from the highest bit down */
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

/* With every code that is put the decoder's table grows by one code. The encoder has the same one
 * as soon as it has seen the next byte. */
static inline void count_lzw_code(lzw_encode_job *job)
{
    job->next++;
    if (job->next == FULL_TABLE)
        clear_table(job);
    else if (job->next >> job->width != 0)
        job->width++;
}

/* Returns the code of a string; 0 if the table does not have it: *slot is then its slot. */
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
        /* Codes are eight slots apart, and bytes spread over all of them. */
        size_t slot = (size_t)code << CODE_SHIFT ^ (byte * SPREAD & (SLOTS - 1));
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
 * the last; and 8 bytes that a store may reach past them. */
static size_t lzw_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t size = tz_tile_bytes(format);
    size_t codes = size + size / (FULL_TABLE - FIRST_STRING_CODE) + 3;
    return codes + codes / 2 + 8;
}

const tz_encoder tz_encoder_lzw = {
    .state_size = sizeof(lzw_encoder),
    .bound = lzw_bound,
    .encode = lzw_encode,
};
