/* SPDX-License-Identifier: Apache-2.0
 * Fax codes of ITU-T T.4 and T.6: modified Huffman rows that begin on bytes (TIFF's compression 2),
 * group 3 in one or two dimensions (3) and group 4 (4). White pixels come out as 0, black ones
 * as 1.
 *
 * Rows of group 3 may lack the end-of-line code (EOL) in front of them when they are coded in one
 * dimension; fill bits before it are skipped. Some defects are common, and libtiff and tifffile
 * agree on them: a row in one dimension between two EOLs that ends early, the same at the end of
 * the data, data of group 3 in one dimension or of group 4 that ends before the last rows. Missing
 * pixels are then white, with one warning that counts the rows. Other damage is an error that names
 * the row: no row is guessed. After the last row, EOLs and zeros are passed over; other bytes are
 * ignored with a warning.
 *
 * A row is decoded to the list of its changes of colour, which is then painted, and to which the
 * next row refers. Runs of no pixels stay in the list, for there are encoders that refer to them.
 */
#include <string.h>

#include "base/mem.h"
#include "codec/ccitt_tables.h"
#include "codec/codec.h"
#include "codec/unaligned.h"

enum { WHITE = 0, BLACK = 1 };
enum { EOL_ZEROS = 11, TWO_DIMENSIONS = 1 /* bit of T4Options */ };

/* Two-dimensional modes: a vertical one is its distance to the right of b1. */
enum { MODE_BITS = 7, PASS = 10, HORIZONTAL = 11, EXTENSION = 12 };

typedef struct mode_code {
    uint8_t bits;
    uint8_t size;
    int8_t mode;
} mode_code;

static const mode_code mode_codes[] = {
    {0x01, 1, 0},  {0x03, 3, 1},  {0x03, 6, 2},    {0x03, 7, 3},          {0x02, 3, -1},
    {0x02, 6, -2}, {0x02, 7, -3}, {0x01, 4, PASS}, {0x01, 3, HORIZONTAL}, {0x01, 7, EXTENSION},
};

/* Meaning of the next bits, by those bits. A size of 0: no code begins like this. */
typedef struct mode_entry {
    int8_t mode;
    uint8_t size;
} mode_entry;
typedef struct run_entry {
    uint16_t pixels; /* 64 and more: another code follows */
    uint16_t size;
} run_entry;

/* The changes of colour of a row: at[0] is 0, at[1] the first black pixel, at[2] the first white
 * one after it, and so on. After the count there are a few more entries, at the end of the row. */
typedef struct change_list {
    uint32_t *at;
    size_t count;
} change_list;
enum {
    SPARE_RUNS = 64, /* runs of no pixels that a row may have beyond those it needs */
    END_CHANGES = 4  /* entries after the last that may be looked at */
};

typedef struct ccitt_decoder {
    run_entry runs[2][1 << FAX_MAX_CODE_BITS];
    mode_entry modes[1 << MODE_BITS];
    tz_codec_buffer changes; /* both lists of the job */
} ccitt_decoder;

/* The tile being decoded. */
typedef struct ccitt_job {
    const ccitt_decoder *state;
    change_list lists[2]; /* of the row being decoded and of the one above, in turn */
    change_list *list;    /* of the row being decoded */
    const change_list *above;
    size_t max_changes; /* of a row this wide; the lists may be longer */
    const uint8_t *in;
    size_t in_size;
    uint64_t bit; /* next to read */
    bool low_first;
    int64_t width;
    uint32_t row; /* being decoded */
    uint32_t first_short;
    uint32_t short_rows; /* rows that are missing or incomplete */
    bool has_eols;       /* every row of group 3 so far began with one */
    bool has_pixels;     /* not all rows so far are empty */
    bool over;           /* there is no further row */
    const tz_codec_call *call;
} ccitt_job;

/* Fills the tables by which codes are found: every entry whose index begins with a code is that
 * code, whatever the bits after it are. */
static tz_result ccitt_decoder_init(void *opaque, const tz_context *ctx)
{
    (void)ctx;
    ccitt_decoder *state = opaque;
    for (unsigned i = 0; i < 2 * FAX_RUN_CODES; i++) {
        unsigned color = i / FAX_RUN_CODES;
        unsigned number = i % FAX_RUN_CODES;
        fax_code code = color == WHITE ? fax_white_codes[number] : fax_black_codes[number];
        unsigned free_bits = FAX_MAX_CODE_BITS - code.size;
        run_entry entry = {(uint16_t)(number < 64 ? number : (number - 63) * 64), code.size};
        for (unsigned rest = 0; rest < 1u << free_bits; rest++)
            state->runs[color][(unsigned)code.bits << free_bits | rest] = entry;
    }
    for (size_t i = 0; i < sizeof mode_codes / sizeof mode_codes[0]; i++) {
        mode_code code = mode_codes[i];
        unsigned free_bits = MODE_BITS - code.size;
        for (unsigned rest = 0; rest < 1u << free_bits; rest++)
            state->modes[(unsigned)code.bits << free_bits | rest] =
                (mode_entry){code.mode, code.size};
    }
    return TZ_OK;
}

static void ccitt_decoder_deinit(void *opaque)
{
    tz_codec_buffer_deinit(&((ccitt_decoder *)opaque)->changes);
}

/* ---------------------------------------------------------------------------------------------
 * Input
 * ------------------------------------------------------------------------------------------ */

/* Returns the next bits, from the highest down, at least 57 of them; zeros after the data. */
static uint64_t peek_bits(const ccitt_job *job)
{
    uint64_t at = job->bit >> 3;
    uint8_t bytes[8] = {0};
    uint64_t word;
    if (at + 8 <= job->in_size) {
        word = tz_load_be64(job->in + at);
    } else {
        if (at < job->in_size)
            memcpy(bytes, job->in + at, job->in_size - (size_t)at);
        word = tz_load_be64(bytes);
    }
    if (job->low_first)
        tz_codec_reverse_bits((uint8_t *)&word, sizeof word);
    return word << (job->bit & 7);
}

static bool is_past_end(const ccitt_job *job)
{
    return job->bit > (uint64_t)job->in_size * 8;
}

/* Bits that no code begins with mean that the row ends, by EOL or because the data is over. */
static tz_result fail_fax_code(const ccitt_job *job, int64_t x)
{
    if (job->bit + FAX_MAX_CODE_BITS > (uint64_t)job->in_size * 8)
        return tz_codec_fail(job->call, "fax data ends in row %u", job->row);
    if (peek_bits(job) >> (64 - EOL_ZEROS) == 0)
        return tz_codec_fail(job->call, "row %u of the fax data ends at pixel %lld of %lld",
                             job->row, (long long)x, (long long)job->width);
    return tz_codec_fail(job->call, "no fax code at pixel %lld of row %u", (long long)x, job->row);
}

typedef enum run_fault { RUN_GOOD, RUN_NO_CODE, RUN_TOO_LONG } run_fault;

/* Reads a whole run of a colour, from x on, which must fit in the row. *length is the part of it
 * that was read. */
static run_fault read_run(ccitt_job *job, int color, int64_t x, int64_t *length)
{
    run_entry entry;
    *length = 0;
    do {
        entry = job->state->runs[color][peek_bits(job) >> (64 - FAX_MAX_CODE_BITS)];
        job->bit += entry.size;
        if (entry.size == 0 || is_past_end(job))
            return RUN_NO_CODE;
        *length += entry.pixels;
        if (*length > job->width - x)
            return RUN_TOO_LONG;
    } while (entry.pixels >= 64);
    return RUN_GOOD;
}

static tz_result fail_fax_run(const ccitt_job *job, run_fault fault, int64_t x)
{
    if (fault == RUN_NO_CODE)
        return fail_fax_code(job, x);
    return tz_codec_fail(job->call, "row %u of the fax data has more than %lld pixels", job->row,
                         (long long)job->width);
}

/* Passes over zeros and the 1 after them. Returns false, and passes nothing, if the next bits are
 * not an EOL. */
static bool skip_eol(ccitt_job *job)
{
    uint64_t start = job->bit;
    uint64_t end = (uint64_t)job->in_size * 8;
    if (peek_bits(job) >> (64 - EOL_ZEROS) != 0)
        return false;
    while (job->bit < end && peek_bits(job) >> 8 == 0)
        job->bit += 56;
    if (job->bit < end)
        job->bit += (unsigned)__builtin_clzll(peek_bits(job)) + 1;
    if (job->bit <= end && job->bit > start)
        return true;
    job->bit = start;
    return false;
}

/* ---------------------------------------------------------------------------------------------
 * Output
 * ------------------------------------------------------------------------------------------ */

/* Blackens pixels from to to - 1. */
static void blacken(uint8_t *row, int64_t from, int64_t to)
{
    if (from >= to)
        return;
    size_t first = (size_t)(from >> 3);
    size_t last = (size_t)((to - 1) >> 3);
    unsigned first_mask = 0xffu >> (from & 7);
    unsigned last_mask = 0xff00u >> (((to - 1) & 7) + 1) & 0xff;
    if (first == last) {
        row[first] |= (uint8_t)(first_mask & last_mask);
        return;
    }
    row[first] |= (uint8_t)first_mask;
    memset(row + first + 1, 0xff, last - first - 1);
    row[last] |= (uint8_t)last_mask;
}

/* ---------------------------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------------------------ */

/* Adds a change of colour at x. */
static tz_result add_change(ccitt_job *job, int64_t x)
{
    change_list *list = job->list;
    if (list->count == job->max_changes)
        return tz_codec_fail(job->call, "row %u of the fax data has more runs than pixels",
                             job->row);
    list->at[list->count++] = (uint32_t)x;
    return TZ_OK;
}

static void end_list(change_list *list, uint32_t width)
{
    for (size_t i = 0; i < END_CHANGES; i++)
        list->at[list->count + i] = width;
}

/* ---------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------ */

/* The places at which a row in one dimension may end before its last pixel. */
typedef enum ccitt_row_end { END_NOWHERE, END_OF_DATA, END_AT_EOL } ccitt_row_end;

static void note_short_row(ccitt_job *job)
{
    if (job->short_rows++ == 0)
        job->first_short = job->row;
}

/* Says if a row may end here, where no code begins. */
static bool ends_early(ccitt_job *job, ccitt_row_end allowed)
{
    ccitt_job after = *job;
    if (allowed == END_NOWHERE)
        return false;
    if (peek_bits(job) >> (64 - EOL_ZEROS) == 0 && skip_eol(&after))
        return allowed == END_AT_EOL;
    job->over = peek_bits(job) >> (64 - EOL_ZEROS) == 0 ||
                job->bit + FAX_MAX_CODE_BITS > (uint64_t)job->in_size * 8;
    return job->over;
}

/* Decodes a row of alternating white and black runs, the first of them white and perhaps empty. */
static tz_result decode_row_1d(ccitt_job *job, ccitt_row_end allowed)
{
    int64_t x = 0;
    for (int color = WHITE; x < job->width; color = !color) {
        int64_t length;
        const run_fault fault = read_run(job, color, x, &length);
        const bool black_run_begun = color == BLACK && length > 0; /* decoders differ on it */
        if (fault == RUN_NO_CODE && !black_run_begun && ends_early(job, allowed)) {
            note_short_row(job);
            return color == BLACK ? add_change(job, x) : TZ_OK; /* the rest is white */
        }
        if (fault != RUN_GOOD)
            return fail_fax_run(job, fault, x);
        x += length;
        TZ_TRY(add_change(job, x));
    }
    return TZ_OK;
}

/* The state of a row of two-dimensional codes, with T.4's names: a0 is the end of the decoded part,
 * and b1 the first change of the row above to the right of a0 from a0's colour to the other. */
typedef struct row_2d {
    int64_t a0;
    int color; /* of a0 */
    size_t b1; /* in the list of the row above; or before the true one while a0 moves on */
} row_2d;

/* Decodes one mode. A vertical one is the distance of a1, the next change of this row, from b1. */
static tz_result decode_mode(ccitt_job *job, row_2d *at, int mode)
{
    if (mode == EXTENSION)
        return tz_codec_fail_unsupported(job->call, "uncompressed fax data in row %u", job->row);
    if (mode == HORIZONTAL) { /* two runs, from a0 on */
        for (int i = 0; i < 2; i++) {
            int64_t length;
            const run_fault fault = read_run(job, at->color ^ i, at->a0, &length);
            if (fault != RUN_GOOD)
                return fail_fax_run(job, fault, at->a0);
            at->a0 += length;
            TZ_TRY(add_change(job, at->a0));
        }
        return TZ_OK;
    }
    /* At the beginning of a row, a change of the row above at its very first pixel counts too. */
    const uint32_t *above = job->above->at;
    while (job->list->count > 1 && above[at->b1] <= at->a0 && above[at->b1] < job->width)
        at->b1 += 2;
    if (mode == PASS) { /* a0 moves below the change after b1, and the colour stays */
        at->a0 = above[at->b1 + 1];
        at->b1 += 2;
        return TZ_OK;
    }
    const int64_t a1 = (int64_t)above[at->b1] + mode;
    if (a1 < at->a0 || a1 > job->width)
        return tz_codec_fail(job->call, "a fax code leads from pixel %lld of row %u to pixel %lld",
                             (long long)at->a0, job->row, (long long)a1);
    at->a0 = a1;
    at->color = !at->color;
    at->b1 += mode < 0 ? (size_t)-1 : 1; /* the nearest change of the other kind */
    return add_change(job, a1);
}

static tz_result decode_row_2d(ccitt_job *job)
{
    row_2d at = {.a0 = 0, .color = WHITE, .b1 = 1};
    while (at.a0 < job->width) {
        mode_entry entry = job->state->modes[peek_bits(job) >> (64 - MODE_BITS)];
        job->bit += entry.size;
        if (entry.size == 0 || is_past_end(job))
            return fail_fax_code(job, at.a0);
        TZ_TRY(decode_mode(job, &at, entry.mode));
    }
    return TZ_OK;
}

/* Decodes a row by the rules of the compression: group 4, modified Huffman on whole bytes, or group
 * 3, which may have an EOL before each row and two kinds of rows. */
static tz_result decode_fax_row(ccitt_job *job, const tz_tile_format *format)
{
    if (format->compression == TZ_COMPRESSION_FAX4) {
        /* may end before the last rows, with or without the two EOLs that belong there */
        if (job->row == 0 || peek_bits(job) >> (64 - EOL_ZEROS) != 0)
            return decode_row_2d(job);
        job->over = true;
        note_short_row(job);
        return TZ_OK;
    }
    if (format->compression != TZ_COMPRESSION_FAX3) {
        TZ_TRY(decode_row_1d(job, END_NOWHERE));
        job->bit = (job->bit + 7) & ~UINT64_C(7);
        return TZ_OK;
    }
    bool eol = skip_eol(job);
    job->has_eols = eol && (job->has_eols || job->row == 0);
    if (!(format->fax_options & TWO_DIMENSIONS))
        return decode_row_1d(job, job->has_eols ? END_AT_EOL : END_OF_DATA);
    if (!eol)
        return tz_codec_fail(job->call, "row %u of the fax data does not begin with an EOL",
                             job->row);
    /* A row that may be of either kind says so after its EOL. */
    bool one_dimension = peek_bits(job) >> 63 != 0;
    job->bit++;
    return one_dimension ? decode_row_1d(job, END_AT_EOL) : decode_row_2d(job);
}

/* Checks that rows and data end together. Data that ended before the last rows left them white,
 * like the row in which it ended; but a lowest tile may have been stored without the rows below the
 * image, which the caller tries after an error. After the last row, EOLs and zeros are passed over.
 */
static tz_result finish_ccitt(ccitt_job *job, const tz_tile_format *format)
{
    const bool tagged =
        format->compression == TZ_COMPRESSION_FAX3 && (format->fax_options & TWO_DIMENSIONS);
    const uint32_t left = format->height - job->row;
    const uint64_t rows = (uint64_t)job->short_rows + left;
    if (rows > 0) {
        if (!job->has_pixels)
            return tz_codec_fail(job->call, "no row of the fax data has pixels");
        if (format->image_rows != 0 || (tagged && left > 0))
            return tz_codec_fail(job->call, "fax data ends in row %u", job->first_short);
        TZ_TRY(tz_warn_times(
            job->call->ctx, rows, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
            tz_expecting(job->call->location, format->height, format->height - rows),
            "rows of fax data, from row %u on, end early or are missing; missing pixels are white",
            job->first_short));
    }
    while (format->compression != TZ_COMPRESSION_CCITT_RLE && skip_eol(job))
        job->bit += tagged ? 1 : 0;
    size_t used = (size_t)((job->bit + 7) / 8);
    while (used < job->in_size && job->in[used] == 0)
        used++;
    return tz_codec_check_end(job->call, used, job->in_size);
}

static tz_result ccitt_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                              size_t in_size, uint8_t *out, size_t stride,
                              const tz_codec_call *call)
{
    if (format->bits != 1 || format->samples != 1)
        return tz_codec_fail_unsupported(call, "fax compression of %u samples of %u bits",
                                         (unsigned)format->samples, (unsigned)format->bits);
    ccitt_decoder *state = opaque;
    const uint64_t capacity = (uint64_t)format->width + SPARE_RUNS + END_CHANGES;
    TZ_TRY(tz_codec_reserve(&state->changes, 2 * capacity * sizeof(uint32_t),
                            "bytes of memory for fax data", call));
    uint32_t *changes = (uint32_t *)(void *)state->changes.data;
    ccitt_job job = {.state = state,
                     .lists = {{changes, 1}, {changes + capacity, 1}},
                     .max_changes = (size_t)format->width + SPARE_RUNS,
                     .in = in,
                     .in_size = in_size,
                     .low_first = format->fill_order == TZ_FILL_ORDER_LOW_FIRST,
                     .width = format->width,
                     .call = call};
    /* Above the first row everything is white. */
    job.lists[1].at[0] = 0;
    end_list(&job.lists[1], format->width);
    const size_t row_bytes = tz_tile_row_bytes(format);
    for (; job.row < format->height && !job.over; job.row++) {
        uint8_t *row = out + job.row * stride;
        job.list = &job.lists[job.row % 2];
        job.above = &job.lists[(job.row + 1) % 2];
        job.list->at[0] = 0;
        job.list->count = 1;
        TZ_TRY(decode_fax_row(&job, format));
        end_list(job.list, format->width);
        job.has_pixels = job.has_pixels || job.list->count > 1;
        memset(row, 0, row_bytes);
        for (size_t i = 1; i < job.list->count; i += 2)
            blacken(row, job.list->at[i], job.list->at[i + 1]);
    }
    for (uint32_t i = job.row; i < format->height; i++)
        memset(out + i * stride, 0, row_bytes);
    return finish_ccitt(&job, format);
}

const tz_decoder tz_decoder_ccitt = {
    .flags = TZ_DECODER_ANY_STRIDE | TZ_DECODER_ANY_FILL_ORDER | TZ_DECODER_NO_PREDICTOR,
    .state_size = sizeof(ccitt_decoder),
    .init = ccitt_decoder_init,
    .deinit = ccitt_decoder_deinit,
    .decode = ccitt_decode,
};
