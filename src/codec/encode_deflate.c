/* SPDX-License-Identifier: Apache-2.0
 * Deflate in a zlib frame: levels 1 to 12 by libdeflate, and the fast class by ourselves. Tiles
 * that would lose too much by the latter are encoded at level 1. Of the lower levels, tiles in
 * which matches gain nothing are made by the fast class: noise that predictors leave of pictures
 * comes out smaller so, and many times as fast. */
#include <libdeflate.h>

#include "base/mem.h"
#include "codec/deflate_choice.h"
#include "codec/deflate_fast.h"
#include "codec/encoder.h"
#include "codec/unaligned_store.h"

enum {
    DEFAULT_LEVEL = 6,
    LAST_MIXED_LEVEL = 6,
    FIRST_OPTIMAL_LEVEL = 10,
    MAX_LEVEL = 12,
    ZLIB_HEADER_SIZE = 2,
    ZLIB_CHECKSUM_SIZE = 4
};

typedef struct deflate_encoder {
    struct libdeflate_compressor *compressor;
} deflate_encoder;

static const char *deflate_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level != TZ_LEVEL_FAST && (options->level < 1 || options->level > MAX_LEVEL))
        return "Deflate levels are 1 to 12, or fast";
    return NULL;
}

/* Versions that can take their memory from the library's own allocator do. */
static struct libdeflate_compressor *alloc_compressor(int level)
{
#if LIBDEFLATE_VERSION_MAJOR > 1 || LIBDEFLATE_VERSION_MINOR >= 19
    const struct libdeflate_options options = {
        .sizeof_options = sizeof options, .malloc_func = tz_alloc, .free_func = tz_free};
    return libdeflate_alloc_compressor_ex(level, &options);
#else
    return libdeflate_alloc_compressor(level);
#endif
}

static tz_result deflate_encoder_init(void *opaque, const tz_tile_format *format,
                                      const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    deflate_encoder *state = opaque;
    state->compressor = alloc_compressor(options->level == TZ_LEVEL_FAST ? 1 : options->level);
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

/* libdeflate does not say what it takes. These are what its versions 1.14 to 1.26 take, and a tenth
 * of that. */
static uint64_t deflate_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    if (options->level <= 1)
        return 220 << 10;
    return options->level < FIRST_OPTIMAL_LEVEL ? 720 << 10 : 9680 << 10;
}

static size_t encode_deflate_fast(const uint8_t *in, size_t size, uint8_t *out)
{
    out[0] = 0x78; /* Deflate with a window of 32 KiB, by the fastest encoder */
    out[1] = 0x01;
    size_t end = ZLIB_HEADER_SIZE + tz_deflate_fast(in, size, out + ZLIB_HEADER_SIZE);
    tz_store_be32(out + end, libdeflate_adler32(1, in, size));
    return end + ZLIB_CHECKSUM_SIZE;
}

static bool suits_fast(int32_t level, const uint8_t *in, size_t size)
{
    if (level == TZ_LEVEL_FAST)
        return !tz_deflate_wants_matches(in, size);
    return level <= LAST_MIXED_LEVEL && tz_deflate_matches_gain_nothing(in, size);
}

static tz_result deflate_encode(void *opaque, const tz_tile_format *format,
                                const tz_encode_options *options, uint8_t *in, uint8_t *out,
                                size_t *out_size, const tz_codec_call *call)
{
    const deflate_encoder *state = opaque;
    size_t size = tz_tile_bytes(format);
    if (suits_fast(options->level, in, size)) {
        *out_size = encode_deflate_fast(in, size, out);
        return TZ_OK;
    }
    *out_size =
        libdeflate_zlib_compress(state->compressor, in, size, out, deflate_bound(format, options));
    if (*out_size == 0)
        return tz_codec_fail(call, "libdeflate needs more than the room it asked for");
    return TZ_OK;
}

static const uint16_t deflate_encoder_compressions[] = {8, 32946, 0};

const tz_encoder tz_encoder_deflate = {
    .name = "deflate",
    .library = "libdeflate",
    .compressions = deflate_encoder_compressions,
    .state_size = sizeof(deflate_encoder),
    .resolve_options = deflate_resolve_options,
    .bound = deflate_bound,
    .memory = deflate_memory,
    .init = deflate_encoder_init,
    .deinit = deflate_encoder_deinit,
    .encode = deflate_encode,
};
