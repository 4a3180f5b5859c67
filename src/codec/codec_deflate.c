/* SPDX-License-Identifier: Apache-2.0
 * Deflate in a zlib frame, by libdeflate. The frame is checked, Adler-32 included, and the stream
 * must make exactly the bytes of the tile. Bytes after the frame are ignored with a warning.
 *
 * Where there is ISA-L too, the faster of the two decodes, which depends on the data. What ISA-L
 * does not take is decoded by libdeflate, whose verdict stands: results and errors are the same
 * with or without. */
#include <assert.h>
#include <libdeflate.h>
#include <time.h>

#include "codec/codec.h"
#include "codec/inflate_isal.h"
#include "codec/inflate_trial.h"
#include "codec/unaligned.h"

enum { ZLIB_HEADER_SIZE = 2, ZLIB_CHECKSUM_SIZE = 4 };

typedef struct deflate_decoder {
    struct libdeflate_decompressor *decompressor;
    tz_isal *isal; /* NULL until it is tried */
    tz_inflate_trial trial;
} deflate_decoder;

static tz_result deflate_decoder_init(void *opaque, const tz_context *ctx)
{
    deflate_decoder *state = opaque;
    state->decompressor = libdeflate_alloc_decompressor();
    if (!state->decompressor)
        return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                       "out of memory for a libdeflate decompressor");
    return TZ_OK;
}

static void deflate_decoder_deinit(void *opaque)
{
    deflate_decoder *state = opaque;
    libdeflate_free_decompressor(state->decompressor);
    tz_isal_close(state->isal);
    *state = (deflate_decoder){.decompressor = NULL};
}

/* RFC 1950: method 8, a window of 32 KiB at most, no preset dictionary, a multiple of 31. */
static tz_result check_zlib_header(const uint8_t *in, size_t in_size, const tz_codec_call *call)
{
    if (in_size < ZLIB_HEADER_SIZE + ZLIB_CHECKSUM_SIZE)
        return tz_codec_fail_size(call, ZLIB_HEADER_SIZE + ZLIB_CHECKSUM_SIZE, in_size,
                                  "too few bytes for a zlib header and checksum");
    unsigned header = (unsigned)in[0] << 8 | in[1];
    if ((in[0] & 0x0f) != 8 || in[0] >> 4 > 7 || header % 31 != 0)
        return tz_codec_fail(call, "0x%04x is not a zlib header", header);
    if (in[1] & 0x20)
        return tz_codec_fail(call, "the zlib stream needs a preset dictionary");
    return TZ_OK;
}

/* What is wrong with a stream that libdeflate does not take: the deflate data, or just what
 * follows. */
static tz_result fail_deflate_decode(deflate_decoder *state, const uint8_t *in, size_t in_size,
                                     uint8_t *out, size_t size, const tz_codec_call *call)
{
    size_t used = 0;
    size_t made = 0;
    enum libdeflate_result result =
        libdeflate_deflate_decompress_ex(state->decompressor, in + ZLIB_HEADER_SIZE,
                                         in_size - ZLIB_HEADER_SIZE, out, size, &used, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
        return tz_codec_fail(call, "Deflate data makes more than the %zu bytes of the tile", size);
    if (result != LIBDEFLATE_SUCCESS)
        return tz_codec_fail(call, "Deflate data is damaged or ends too early");
    if (in_size - ZLIB_HEADER_SIZE - used < ZLIB_CHECKSUM_SIZE)
        return tz_codec_fail_size(call, ZLIB_CHECKSUM_SIZE, in_size - ZLIB_HEADER_SIZE - used,
                                  "zlib data ends in its checksum");
    return tz_codec_fail(call, "the Adler-32 checksum of the decoded data is wrong");
}

/* A whole frame, whose header was checked; false when something is wrong. */
static bool decode_by_libdeflate(deflate_decoder *state, const uint8_t *in, size_t in_size,
                                 uint8_t *out, size_t size, size_t *used, size_t *made)
{
    return libdeflate_zlib_decompress_ex(state->decompressor, in, in_size, out, size, used, made) ==
           LIBDEFLATE_SUCCESS;
}

static bool decode_by_isal(deflate_decoder *state, const uint8_t *in, size_t in_size, uint8_t *out,
                           size_t size, size_t *used)
{
    size_t inner;
    if (!tz_isal_inflate(state->isal, in + ZLIB_HEADER_SIZE, in_size - ZLIB_HEADER_SIZE, out, size,
                         &inner) ||
        in_size - ZLIB_HEADER_SIZE - inner < ZLIB_CHECKSUM_SIZE)
        return false;
    *used = ZLIB_HEADER_SIZE + inner + ZLIB_CHECKSUM_SIZE;
    return libdeflate_adler32(1, out, size) == tz_load_be32(in + ZLIB_HEADER_SIZE + inner);
}

/* Small streams are not for ISA-L, which builds large tables, nor are those of long matches. */
static bool may_use_isal(deflate_decoder *state, size_t in_size, size_t size)
{
    enum { MIN_INPUT = 16384, MAX_RATIO = 4 };
    if (in_size < MIN_INPUT || size / MAX_RATIO > in_size)
        return false;
    if (!state->isal)
        state->isal = tz_isal_open();
    return state->isal != NULL;
}

static uint64_t thread_nanoseconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same by the inflater whose turn it is. */
static bool decode_by_trial(deflate_decoder *state, const uint8_t *in, size_t in_size, uint8_t *out,
                            size_t size, size_t *used, size_t *made)
{
    bool timed;
    unsigned which = tz_inflate_trial_choose(&state->trial, &timed);
    uint64_t start = timed ? thread_nanoseconds() : 0;
    if (which == 1) {
        if (!decode_by_isal(state, in, in_size, out, size, used)) {
            tz_inflate_trial_give_up(&state->trial);
            return decode_by_libdeflate(state, in, in_size, out, size, used, made);
        }
        *made = size;
    } else if (!decode_by_libdeflate(state, in, in_size, out, size, used, made)) {
        return false;
    }
    if (timed)
        tz_inflate_trial_report(&state->trial, which, thread_nanoseconds() - start, in_size);
    return true;
}

static tz_result deflate_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                                size_t in_size, uint8_t *out, size_t stride,
                                const tz_codec_call *call)
{
    deflate_decoder *state = opaque;
    (void)stride;
    assert(stride == tz_tile_row_bytes(format));
    size_t size = tz_tile_bytes(format);
    size_t used = 0;
    size_t made = 0;
    TZ_TRY(check_zlib_header(in, in_size, call));
    bool decoded = may_use_isal(state, in_size, size)
                       ? decode_by_trial(state, in, in_size, out, size, &used, &made)
                       : decode_by_libdeflate(state, in, in_size, out, size, &used, &made);
    if (!decoded)
        return fail_deflate_decode(state, in, in_size, out, size, call);
    if (made != size)
        return tz_codec_fail_size(call, size, made, "Deflate data makes too few bytes");
    return tz_codec_check_end(call, used, in_size);
}

static const uint16_t deflate_compressions[] = {8, 32946, 0};

const tz_decoder tz_decoder_deflate = {
    .name = "deflate",
    .library = "libdeflate",
    .compressions = deflate_compressions,
    .flags = TZ_DECODER_NO_OVERRUN,
    .state_size = sizeof(deflate_decoder),
    .max_extra_memory = TZ_ISAL_BYTES,
    .init = deflate_decoder_init,
    .deinit = deflate_decoder_deinit,
    .decode = deflate_decode,
};
