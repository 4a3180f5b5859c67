/* SPDX-License-Identifier: Apache-2.0
 * Lossless JPEG (ITU-T T.81 annex H). A row is decoded in three passes: the differences of all
 * components as they are interleaved, then the prediction of each component, then its samples go to
 * the tile. All arithmetic is modulo 2^16, as the standard has it.
 *
 * Two rows of each component are held, the one before for prediction. Codes of up to 9 bits are
 * found by one table look-up. Bytes come in words of 32 bits; only words with an FF, which may be a
 * marker, are read byte by byte. */
#include "codec/jpeg.h"

#include <string.h>

#include "base/mem.h"
#include "codec/unaligned.h"

enum { MIN_PRECISION = 2, MAX_PRECISION = 16 };

/* ---------------------------------------------------------------------------------------------
 * Huffman codes
 * ------------------------------------------------------------------------------------------ */

/* counts: the number of codes of each length, then the symbols; the marker's size was checked. */
static tz_result build_lossless_codes(tz_lossless_codes *out, const uint8_t *counts,
                                      const tz_codec_call *call)
{
    const uint8_t *symbols = counts + TZ_LOSSLESS_MAX_LENGTH;
    uint32_t code = 0;
    int32_t index = 0;
    memset(out->fast, 0, sizeof out->fast);
    out->symbols = symbols;
    for (unsigned length = 1; length <= TZ_LOSSLESS_MAX_LENGTH; length++) {
        const unsigned rest = TZ_LOSSLESS_MAX_LENGTH - length;
        out->first[length] = index - (int32_t)code;
        for (unsigned i = 0; i < counts[length - 1]; i++, index++, code++) {
            if (code >> length || symbols[index] > MAX_PRECISION)
                return tz_codec_fail(call, "JPEG: a Huffman table that no lossless image has");
            if (length > TZ_LOSSLESS_FAST_BITS)
                continue;
            const unsigned span = 1u << (TZ_LOSSLESS_FAST_BITS - length);
            for (unsigned k = 0; k < span; k++)
                out->fast[code * span + k] = (uint16_t)(length << 8 | symbols[index]);
        }
        out->limits[length] = code << rest;
        code <<= 1;
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Bits
 * ------------------------------------------------------------------------------------------ */

typedef struct lossless_bit_reader {
    const uint8_t *at; /* stays at a marker */
    const uint8_t *end;
    uint64_t held;  /* from the highest bit down, then zeros */
    unsigned count; /* bits held */
} lossless_bit_reader;

/* Loads at least 32 bits, if there are that many before the next marker. */
static inline void refill_bits(lossless_bit_reader *bits)
{
    if (bits->count >= 32)
        return;
    if (bits->end - bits->at >= 4) {
        const uint32_t word = tz_load_be32(bits->at);
        if (!tz_jpeg_has_ff_byte(word)) {
            bits->held |= (uint64_t)word << (32 - bits->count);
            bits->count += 32;
            bits->at += 4;
            return;
        }
    }
    while (bits->count <= 56 && bits->at < bits->end) {
        const bool stuffed = bits->at[0] == 0xFF;
        if (stuffed && (bits->end - bits->at < 2 || bits->at[1] != 0))
            return;
        bits->held |= (uint64_t)bits->at[0] << (56 - bits->count);
        bits->count += 8;
        bits->at += stuffed ? 2 : 1;
    }
}

/* Returns length << 8 | symbol; 0: no such code. */
static unsigned find_long_code(const tz_lossless_codes *codes, uint64_t held)
{
    const uint32_t front = (uint32_t)(held >> (64 - TZ_LOSSLESS_MAX_LENGTH));
    unsigned length = TZ_LOSSLESS_FAST_BITS + 1;
    while (length <= TZ_LOSSLESS_MAX_LENGTH && front >= codes->limits[length])
        length++;
    if (length > TZ_LOSSLESS_MAX_LENGTH)
        return 0;
    const int32_t code = (int32_t)(front >> (TZ_LOSSLESS_MAX_LENGTH - length));
    return length << 8 | codes->symbols[codes->first[length] + code];
}

/* Reads one difference, modulo 2^16; false if there is no such code or the data ends. */
static inline bool read_difference(lossless_bit_reader *bits, const tz_lossless_codes *codes,
                                   uint16_t *out)
{
    refill_bits(bits);
    unsigned found = codes->fast[bits->held >> (64 - TZ_LOSSLESS_FAST_BITS)];
    if (found == 0)
        found = find_long_code(codes, bits->held);
    const unsigned length = found >> 8;
    const unsigned size = found & 255;
    const unsigned extra = size == MAX_PRECISION ? 0 : size;
    if (found == 0 || length + extra > bits->count)
        return false;
    bits->held <<= length;
    uint32_t difference = size == MAX_PRECISION ? 32768 : 0;
    if (extra > 0) {
        difference = (uint32_t)(bits->held >> (64 - extra));
        if (!(bits->held >> 63)) /* negative */
            difference -= (1u << extra) - 1;
        bits->held <<= extra;
    }
    bits->count -= length + extra;
    *out = (uint16_t)difference;
    return true;
}

/* Passes the restart marker that must come now. Before it there is less than a byte of padding. */
static bool pass_restart(lossless_bit_reader *bits, unsigned number)
{
    if (bits->count >= 8)
        return false;
    bits->held = 0;
    bits->count = 0;
    while (bits->end - bits->at >= 2 && bits->at[0] == 0xFF && bits->at[1] == 0xFF)
        bits->at++;
    if (bits->end - bits->at < 2 || bits->at[0] != 0xFF ||
        bits->at[1] != TZ_MARKER_RST0 + number % 8)
        return false;
    bits->at += 2;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Prediction
 * ------------------------------------------------------------------------------------------ */

/* Turns differences into samples: a is the sample to the left, b the one above, c the one above a.
 */
#define PREDICT(formula)                                                                           \
    for (size_t x = 1; x < width; x++) {                                                           \
        const int32_t a = row[x - 1], b = above[x], c = above[x - 1];                              \
        (void)a, (void)b, (void)c;                                                                 \
        row[x] = (uint16_t)(row[x] + (formula));                                                   \
    }                                                                                              \
    break

static void add_prediction(uint16_t *row, const uint16_t *above, size_t width, unsigned predictor)
{
    row[0] = (uint16_t)(row[0] + above[0]);
    switch (predictor) {
    case 1:
        PREDICT(a);
    case 2:
        PREDICT(b);
    case 3:
        PREDICT(c);
    case 4:
        PREDICT(a + b - c);
    case 5:
        PREDICT(a + ((b - c) >> 1));
    case 6:
        PREDICT(b + ((a - c) >> 1));
    default:
        PREDICT((a + b) >> 1);
    }
}

/* ---------------------------------------------------------------------------------------------
 * The tile
 * ------------------------------------------------------------------------------------------ */

typedef struct lossless_job {
    tz_jpeg_lossless *state;
    const tz_jpeg_info *info;
    const tz_tile_format *format;
    const tz_codec_call *call;
    const uint8_t *end;
    uint8_t *out;
    size_t stride;
    size_t row_samples; /* in a row of the tile */
    bool reshaped;      /* rows of the frame are not rows of the tile */
} lossless_job;

/* Stores one sample of any width, the highest bit first, in bits that are 0. */
static void store_sample_bits(uint8_t *row, size_t index, unsigned bits, uint16_t value)
{
    const size_t at = index * bits;
    const unsigned used = at % 8 + bits;
    const uint32_t shifted = (uint32_t)value << (24 - used);
    row[at / 8] |= (uint8_t)(shifted >> 16);
    if (used > 8)
        row[at / 8 + 1] |= (uint8_t)(shifted >> 8);
    if (used > 16)
        row[at / 8 + 2] |= (uint8_t)shifted;
}

/* Stores the samples of one component of row y of the frame. */
static void store_component_row(const lossless_job *job, uint32_t y, unsigned component,
                                const uint16_t *samples, unsigned shift)
{
    const unsigned bits = job->format->bits;
    const size_t step = job->info->component_count;
    const size_t first =
        job->reshaped ? (size_t)y * job->info->width * step + component : component;
    size_t row = job->reshaped ? first / job->row_samples : y;
    size_t column = job->reshaped ? first % job->row_samples : first;
    for (size_t x = 0; x < job->info->width; x++, column += step) {
        while (column >= job->row_samples) {
            column -= job->row_samples;
            row++;
        }
        const uint16_t value = (uint16_t)(samples[x] << shift);
        uint8_t *out = job->out + row * job->stride;
        if (bits == 8)
            out[column] = (uint8_t)value;
        else if (bits == 16)
            memcpy(out + 2 * column, &value, sizeof value);
        else
            store_sample_bits(out, column, bits, value);
    }
}

/* Rows of even and odd y are held in turn. */
static uint16_t *row_buffer(const lossless_job *job, uint32_t y, unsigned index)
{
    uint16_t *rows = (uint16_t *)(void *)job->state->rows.data;
    return rows + ((size_t)(y % 2) * TZ_JPEG_MAX_COMPONENTS + index) * job->info->width;
}

/* Decodes row y of the frame: differences of all components as they are interleaved, then
 * prediction and samples of each. A first row, also after a restart, has nothing above it. */
static tz_result decode_lossless_row(const lossless_job *job, const tz_jpeg_lossless_scan *scan,
                                     lossless_bit_reader *bits, uint32_t y, bool is_first)
{
    const size_t width = job->info->width;
    const unsigned depth = job->info->precision - (unsigned)scan->shift;
    uint16_t *rows[TZ_JPEG_MAX_COMPONENTS] = {0};
    for (unsigned i = 0; i < scan->count; i++)
        rows[i] = row_buffer(job, y, i);
    for (size_t x = 0; x < width; x++)
        for (unsigned i = 0; i < scan->count; i++)
            if (!read_difference(bits, &job->state->codes[i], &rows[i][x]))
                return tz_codec_fail(
                    job->call, "JPEG: lossless data is broken or ends in row %u, column %zu", y, x);

    for (unsigned i = 0; i < scan->count; i++) {
        uint16_t *row = rows[i];
        uint32_t all = 0;
        if (is_first) { /* each sample is predicted by the one to the left */
            row[0] = (uint16_t)(row[0] + (1u << (depth - 1)));
            for (size_t x = 1; x < width; x++)
                row[x] = (uint16_t)(row[x] + row[x - 1]);
        } else
            add_prediction(row, row_buffer(job, y + 1, i), width, scan->predictor);
        for (size_t x = 0; x < width; x++)
            all |= row[x];
        if (all >> depth)
            return tz_codec_fail(job->call, "JPEG: samples of more than %u bits in row %u", depth,
                                 y);
        store_component_row(job, y, scan->components[i], row, scan->shift);
    }
    return TZ_OK;
}

/* Decodes a scan row by row. T.81 wants restart intervals of whole rows. */
static tz_result decode_lossless_scan(const lossless_job *job, const tz_jpeg_lossless_scan *scan)
{
    const tz_jpeg_info *info = job->info;
    const uint32_t rows =
        job->reshaped ? info->height : tz_min_u32(info->height, job->format->height);
    const uint32_t interval = scan->restart_interval / info->width; /* rows */
    lossless_bit_reader bits = {.at = scan->data, .end = job->end};
    uint32_t restarts = 0;
    if (scan->restart_interval % info->width != 0)
        return tz_codec_fail(job->call,
                             "JPEG: a restart interval of %u in lossless rows of %u pixels",
                             scan->restart_interval, info->width);
    for (unsigned i = 0; i < scan->count; i++)
        TZ_TRY(build_lossless_codes(&job->state->codes[i], scan->codes[i], job->call));
    for (uint32_t y = 0; y < rows; y++) {
        const bool starts = interval > 0 ? y % interval == 0 : y == 0;
        if (starts && y > 0 && !pass_restart(&bits, restarts++))
            return tz_codec_fail(job->call, "JPEG: no restart marker before row %u", y);
        TZ_TRY(decode_lossless_row(job, scan, &bits, y, starts));
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Frame and tile
 * ------------------------------------------------------------------------------------------ */

/* Compares frame and tile, and sets job->reshaped. Fewer bits of a sample than those of the tile
 * lose nothing, so they are a warning. */
static tz_result check_lossless_frame(lossless_job *job)
{
    const tz_jpeg_info *info = job->info;
    const tz_tile_format *format = job->format;
    const tz_codec_call *call = job->call;
    const tz_codec_call at_bits = {call->ctx,
                                   tz_expecting(call->location, format->bits, info->precision)};
    if (info->precision < MIN_PRECISION || info->precision > MAX_PRECISION)
        return tz_codec_fail(&at_bits, "JPEG: lossless samples of %u bits", info->precision);
    if (format->photometric == TZ_PHOTOMETRIC_YCBCR && format->samples > 1)
        return tz_codec_fail_unsupported(call, "lossless JPEG of YCbCr is not supported");
    if (info->precision != format->bits) {
        if (info->precision > format->bits || format->bits > MAX_PRECISION ||
            format->sample_format != TZ_SAMPLE_FORMAT_UINT)
            return tz_codec_fail(&at_bits, "JPEG: the bits of a sample are not those of the tile");
        TZ_TRY(tz_codec_warn(&at_bits,
                             "JPEG: lossless samples have fewer bits than those of the tile"));
    }

    const uint64_t found = (uint64_t)info->width * info->height * info->component_count;
    const uint64_t expected = (uint64_t)job->row_samples * format->height;
    const bool same_samples = info->component_count == format->samples;
    job->reshaped = found == expected && !(same_samples && info->width == format->width);
    if (found == expected)
        return TZ_OK;
    if (same_samples && info->width == format->width && info->height > format->height &&
        info->height <= format->strip_height)
        return tz_codec_warn(call, "JPEG: %u rows in the last strip, which has %u", info->height,
                             format->height);
    if (!same_samples || info->width > format->width || info->height > format->height)
        return tz_codec_fail_size(call, expected, found,
                                  "JPEG: a lossless frame of %u x %u x %u samples in a tile of "
                                  "%u x %u x %u",
                                  info->width, info->height, info->component_count, format->width,
                                  format->height, format->samples);
    return tz_codec_warn(call, "JPEG: only %u x %u pixels in a tile of %u x %u; the rest is 0",
                         info->width, info->height, format->width, format->height);
}

tz_result tz_jpeg_decode_lossless(tz_jpeg_lossless *state, const tz_jpeg_info *info,
                                  const tz_tile_format *format, const uint8_t *end, uint8_t *out,
                                  size_t stride, const tz_codec_call *call)
{
    lossless_job job = {.state = state,
                        .info = info,
                        .format = format,
                        .call = call,
                        .end = end,
                        .out = out,
                        .stride = stride,
                        .row_samples = (size_t)format->width * format->samples};
    TZ_TRY(check_lossless_frame(&job));
    TZ_TRY(tz_codec_reserve(&state->rows,
                            sizeof(uint16_t) * 2 * TZ_JPEG_MAX_COMPONENTS * info->width,
                            "bytes of memory for lossless JPEG", call));
    for (size_t y = 0; y < format->height; y++)
        memset(out + y * stride, 0, tz_tile_row_bytes(format));
    for (unsigned i = 0; i < info->scans; i++)
        TZ_TRY(decode_lossless_scan(&job, &info->lossless_scans[i]));
    return TZ_OK;
}
