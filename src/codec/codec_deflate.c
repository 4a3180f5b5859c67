/* SPDX-License-Identifier: Apache-2.0
 * Deflate in a zlib frame, by libdeflate. The frame is checked, Adler-32 included, and the stream
 * must make exactly the bytes of the tile. Bytes after the frame are ignored with a warning.
 *
 * In builds with ISA-L the faster of the two decodes, which depends on the data (inflate_isal.h).
 * Streams that ISA-L refuses are decoded by libdeflate, whose verdict stands: results and errors
 * are the same with or without.
 *
 * Levels 1 to 12 are encoded by libdeflate, and the fast class by deflate_fast.h. Tiles that would
 * lose too much by the latter are encoded at level 1. At the lower levels, tiles in which matches
 * gain nothing are encoded by the fast class: the noise that predictors leave of photographs
 * becomes smaller so, and many times as fast. */
#include <libdeflate.h>
#include <time.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/deflate_fast.h"
#include "codec/inflate_isal.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

enum {
    ZLIB_HEADER_SIZE = 2,
    ZLIB_CHECKSUM_SIZE = 4,
    MIN_ISAL_INPUT = 16384, /* bytes */
    MAX_ISAL_RATIO = 4      /* decoded bytes for each of the input */
};

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

/* Finds out if the deflate data of a refused stream is wrong, or only the checksum after it. */
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

/* Decodes a whole frame, whose header was checked; false if anything is wrong. */
static bool decode_by_libdeflate(deflate_decoder *state, const uint8_t *in, size_t in_size,
                                 uint8_t *out, size_t size, size_t *used, size_t *made)
{
    return libdeflate_zlib_decompress_ex(state->decompressor, in, in_size, out, size, used, made) ==
           LIBDEFLATE_SUCCESS;
}

static uint64_t thread_nanoseconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Decodes a frame by the inflater whose turn it is. */
static bool decode_by_trial(deflate_decoder *state, const uint8_t *in, size_t in_size, uint8_t *out,
                            size_t size, size_t *used, size_t *made)
{
    bool timed;
    unsigned which = tz_inflate_trial_choose(&state->trial, &timed);
    uint64_t start = timed ? thread_nanoseconds() : 0;
    if (which == 1) {
        size_t inner;
        const uint8_t *data = in + ZLIB_HEADER_SIZE;
        const size_t data_size = in_size - ZLIB_HEADER_SIZE;
        if (!tz_isal_inflate(state->isal, data, data_size, out, size, &inner) ||
            data_size - inner < ZLIB_CHECKSUM_SIZE ||
            libdeflate_adler32(1, out, size) != tz_load_be32(data + inner)) {
            tz_inflate_trial_give_up(&state->trial);
            return decode_by_libdeflate(state, in, in_size, out, size, used, made);
        }
        *used = ZLIB_HEADER_SIZE + inner + ZLIB_CHECKSUM_SIZE;
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
    (void)stride; /* packed rows */
    size_t size = tz_tile_bytes(format);
    size_t used = 0;
    size_t made = 0;
    if (in_size < ZLIB_HEADER_SIZE + ZLIB_CHECKSUM_SIZE)
        return tz_codec_fail_size(call, ZLIB_HEADER_SIZE + ZLIB_CHECKSUM_SIZE, in_size,
                                  "too few bytes for a zlib header and checksum");
    /* RFC 1950: method 8, a window of 32 KiB at most, no preset dictionary, a multiple of 31. */
    unsigned header = (unsigned)in[0] << 8 | in[1];
    if ((in[0] & 0x0f) != 8 || in[0] >> 4 > 7 || header % 31 != 0)
        return tz_codec_fail(call, "0x%04x is not a zlib header", header);
    if (in[1] & 0x20)
        return tz_codec_fail(call, "the zlib stream needs a preset dictionary");
    /* ISA-L builds large tables: small streams and those of long matches are not for it. */
    const bool suits_isal = in_size >= MIN_ISAL_INPUT && size / MAX_ISAL_RATIO <= in_size;
    if (suits_isal && !state->isal)
        state->isal = tz_isal_open();
    bool decoded = suits_isal && state->isal
                       ? decode_by_trial(state, in, in_size, out, size, &used, &made)
                       : decode_by_libdeflate(state, in, in_size, out, size, &used, &made);
    if (!decoded)
        return fail_deflate_decode(state, in, in_size, out, size, call);
    if (made != size)
        return tz_codec_fail_size(call, size, made, "Deflate data makes too few bytes");
    return tz_codec_check_end(call, used, in_size);
}

const tz_decoder tz_decoder_deflate = {
    .flags = TZ_DECODER_NO_OVERRUN,
    .state_size = sizeof(deflate_decoder),
    .max_extra_memory = TZ_ISAL_BYTES,
    .init = deflate_decoder_init,
    .deinit = deflate_decoder_deinit,
    .decode = deflate_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum {
    DEFAULT_LEVEL = 6,
    LAST_MIXED_LEVEL = 6,     /* up to here the fast class may encode a tile */
    FIRST_OPTIMAL_LEVEL = 10, /* from here on libdeflate takes more memory */
    MAX_LEVEL = 12
};

typedef struct deflate_encoder {
    struct libdeflate_compressor *compressor;
} deflate_encoder;

static const char *deflate_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level != TZ_EFFORT_FAST && (options->level < 1 || options->level > MAX_LEVEL))
        return "Deflate levels are 1 to 12, or fast";
    return NULL;
}

static tz_result deflate_encoder_init(void *opaque, const tz_tile_format *format,
                                      const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    deflate_encoder *state = opaque;
    const int level = options->level == TZ_EFFORT_FAST ? 1 : options->level;
#if LIBDEFLATE_VERSION_MAJOR > 1 || LIBDEFLATE_VERSION_MINOR >= 19 /* which take our allocator */
    const struct libdeflate_options memory = {
        .sizeof_options = sizeof memory, .malloc_func = tz_alloc, .free_func = tz_free};
    state->compressor = libdeflate_alloc_compressor_ex(level, &memory);
#else
    state->compressor = libdeflate_alloc_compressor(level);
#endif
    if (!state->compressor)
        return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                       "out of memory for a libdeflate compressor");
    return TZ_OK;
}

static void deflate_encoder_deinit(void *opaque)
{
    deflate_encoder *state = opaque;
    libdeflate_free_compressor(state->compressor);
    *state = (deflate_encoder){.compressor = NULL};
}

static size_t deflate_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    size_t size = tz_tile_bytes(format);
    size_t bound = libdeflate_zlib_compress_bound(NULL, size);
    size_t fast = ZLIB_HEADER_SIZE + tz_deflate_fast_bound(size) + ZLIB_CHECKSUM_SIZE;
    return options->level <= LAST_MIXED_LEVEL && fast > bound ? fast : bound;
}

/* libdeflate has no function for its memory. These are the bytes of its versions 1.14 to 1.26, and
 * a tenth more. */
static uint64_t deflate_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    if (options->level <= 1)
        return 220 << 10;
    return options->level < FIRST_OPTIMAL_LEVEL ? 720 << 10 : 9680 << 10;
}

static tz_result deflate_encode(void *opaque, const tz_tile_format *format,
                                const tz_encode_options *options, uint8_t *in, uint8_t *out,
                                size_t *out_size, const tz_codec_call *call)
{
    const deflate_encoder *state = opaque;
    size_t size = tz_tile_bytes(format);
    const bool fast =
        options->level == TZ_EFFORT_FAST
            ? !tz_deflate_wants_matches(in, size)
            : options->level <= LAST_MIXED_LEVEL && tz_deflate_matches_gain_nothing(in, size);
    if (fast) {
        out[0] = 0x78; /* Deflate with a window of 32 KiB, by the fastest encoder */
        out[1] = 0x01;
        size_t end = ZLIB_HEADER_SIZE + tz_deflate_fast(in, size, out + ZLIB_HEADER_SIZE);
        tz_store_be32(out + end, libdeflate_adler32(1, in, size));
        *out_size = end + ZLIB_CHECKSUM_SIZE;
        return TZ_OK;
    }
    *out_size =
        libdeflate_zlib_compress(state->compressor, in, size, out, deflate_bound(format, options));
    if (*out_size == 0)
        return tz_codec_fail(call, "libdeflate needs more bytes than its bound");
    return TZ_OK;
}

const tz_encoder tz_encoder_deflate = {
    .state_size = sizeof(deflate_encoder),
    .resolve_options = deflate_resolve_options,
    .bound = deflate_bound,
    .memory = deflate_memory,
    .init = deflate_encoder_init,
    .deinit = deflate_encoder_deinit,
    .encode = deflate_encode,
};
