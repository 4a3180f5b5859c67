/* SPDX-License-Identifier: Apache-2.0
 * LZMA in an .xz stream, by liblzma, within max_codec_bytes. The stream must make exactly the bytes
 * of the tile and be whole to its footer; bytes after it are ignored with a warning. The memory of
 * liblzma is kept between tiles.
 *
 * The encoder's window is as large as the tile at most: the same matches are found in a twentieth
 * of the memory and in less time. liblzma can take differences of bytes first, a pixel apart.
 * libtiff always does, which helps samples that are continuous and have no predictor and costs all
 * others up to a tenth. Here a part of the tile is encoded in both ways, and the smaller way is
 * taken for all of it. The stream has a CRC-32 of the tile. */
#include <lzma.h>

#include "base/mem.h"
#include "codec/codec.h"

/* ---------------------------------------------------------------------------------------------
 * Memory that is kept between tiles
 * ------------------------------------------------------------------------------------------ */

/* liblzma asks for the same few blocks of memory for every tile. They are kept between tiles and
 * handed out again. One thread at a time. */
enum { MAX_CACHED = 16 };

typedef struct lzma_cached_block {
    void *block;
    size_t size;
    bool used;
} lzma_cached_block;

typedef struct lzma_cache {
    lzma_cached_block blocks[MAX_CACHED];
} lzma_cache;

/* Hands out a free block of just this size, or allocates one. */
static void *lzma_cache_alloc(void *opaque, size_t count, size_t size)
{
    lzma_cache *cache = opaque;
    size_t bytes;
    if (!tz_size_mul(count, size, &bytes))
        return NULL;
    for (size_t i = 0; i < MAX_CACHED; i++) {
        lzma_cached_block *cached = &cache->blocks[i];
        if (cached->block && !cached->used && cached->size == bytes) {
            cached->used = true;
            return cached->block;
        }
    }
    /* Another size: streams are of another kind now, and the blocks of those before go. */
    lzma_cached_block *empty = NULL;
    for (size_t i = 0; i < MAX_CACHED; i++) {
        lzma_cached_block *cached = &cache->blocks[i];
        if (cached->used)
            continue;
        tz_free(cached->block);
        *cached = (lzma_cached_block){0};
        empty = cached;
    }
    void *block = tz_alloc(bytes);
    if (empty && block)
        *empty = (lzma_cached_block){.block = block, .size = bytes, .used = true};
    return block;
}

static void lzma_cache_free(void *opaque, void *block)
{
    lzma_cache *cache = opaque;
    if (!block)
        return;
    for (size_t i = 0; i < MAX_CACHED; i++) {
        if (cache->blocks[i].block == block) {
            cache->blocks[i].used = false;
            return;
        }
    }
    tz_free(block);
}

static void lzma_cache_deinit(void *opaque)
{
    lzma_cache *cache = opaque;
    for (size_t i = 0; i < MAX_CACHED; i++)
        tz_free(cache->blocks[i].block);
    *cache = (lzma_cache){0};
}

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

static tz_result lzma_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)stride; /* packed rows */
    lzma_allocator allocator = {lzma_cache_alloc, lzma_cache_free, opaque};
    uint64_t memory = call->ctx->limits->max_codec_bytes;
    size_t size = tz_tile_bytes(format);
    size_t used = 0;
    size_t made = 0;
    lzma_ret result =
        lzma_stream_buffer_decode(&memory, 0, &allocator, in, &used, in_size, out, &made, size);
    switch (result) {
    case LZMA_OK:
        break;
    case LZMA_MEM_ERROR:
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->location,
                       "out of memory for LZMA data");
    case LZMA_MEMLIMIT_ERROR: /* liblzma set memory to the bytes it needs */
        return tz_codec_check_memory(call, memory, "bytes of memory for LZMA data");
    case LZMA_FORMAT_ERROR:
        return tz_codec_fail(call, "the tile does not begin with an .xz header");
    case LZMA_OPTIONS_ERROR:
        return tz_codec_fail_unsupported(call,
                                         "LZMA data with a filter that liblzma does not have");
    case LZMA_BUF_ERROR:
        return tz_codec_fail(call, "LZMA data makes more than the %zu bytes of the tile", size);
    default:
        return tz_codec_fail(call, "LZMA data is damaged or ends too early");
    }
    if (made != size)
        return tz_codec_fail_size(call, size, made, "LZMA data makes too few bytes");
    return tz_codec_check_end(call, used, in_size);
}

const tz_decoder tz_decoder_lzma = {
    .flags = TZ_DECODER_NO_OVERRUN,
    .state_size = sizeof(lzma_cache),
    .deinit = lzma_cache_deinit,
    .decode = lzma_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum { DEFAULT_LEVEL = 6, MAX_LEVEL = 9, MIN_TRIAL = 4096, MAX_TRIAL = 16384 };

typedef struct lzma_encoder {
    lzma_cache memory;
    lzma_cache trial_memory;
    uint8_t trial[MAX_TRIAL + MAX_TRIAL / 2]; /* output: only its size matters */
} lzma_encoder;

/* A chain of filters: differences, unless their distance is 0, and LZMA2. */
typedef struct lzma_filter_chain {
    lzma_options_delta delta;
    lzma_options_lzma lzma;
    lzma_filter filters[3];
} lzma_filter_chain;

static const char *lzma_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level != TZ_EFFORT_FAST && (options->level < 1 || options->level > MAX_LEVEL))
        return "LZMA levels are 1 to 9, or fast";
    return NULL;
}

/* Returns false if liblzma does not have the preset. */
static bool make_filter_chain(lzma_filter_chain *chain, int32_t level, size_t size,
                              uint32_t distance)
{
    *chain = (lzma_filter_chain){.delta = {.type = LZMA_DELTA_TYPE_BYTE, .dist = distance}};
    if (lzma_lzma_preset(&chain->lzma, level == TZ_EFFORT_FAST ? 0 : (uint32_t)level))
        return false;
    if (chain->lzma.dict_size > size)
        chain->lzma.dict_size = size > LZMA_DICT_SIZE_MIN ? (uint32_t)size : LZMA_DICT_SIZE_MIN;
    lzma_filter *filter = chain->filters;
    if (distance > 0)
        *filter++ = (lzma_filter){LZMA_FILTER_DELTA, &chain->delta};
    *filter++ = (lzma_filter){LZMA_FILTER_LZMA2, &chain->lzma};
    *filter = (lzma_filter){LZMA_VLI_UNKNOWN, NULL};
    return true;
}

/* Bytes of a pixel, the distance of differences; 0: pixels are not whole bytes, or too large. */
static uint32_t pixel_distance(const tz_tile_format *format)
{
    uint32_t bits = (uint32_t)format->samples * format->bits;
    return bits % 8 == 0 && bits / 8 <= LZMA_DELTA_DIST_MAX ? bits / 8 : 0;
}

static size_t trial_size(size_t size)
{
    return tz_min_size(size, tz_max_size(MIN_TRIAL, tz_min_size(size / 16, MAX_TRIAL)));
}

static size_t lzma_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return lzma_stream_buffer_bound(tz_tile_bytes(format));
}

/* The memory of both chains, which liblzma can name, and of its small blocks. */
static uint64_t lzma_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    enum { SMALL_BLOCKS = 64 << 10 };
    size_t size = tz_tile_bytes(format);
    lzma_filter_chain chain, trial;
    if (!make_filter_chain(&chain, options->level, size, 1) ||
        !make_filter_chain(&trial, TZ_EFFORT_FAST, trial_size(size), 1))
        return 0;
    return lzma_raw_encoder_memusage(chain.filters) + lzma_raw_encoder_memusage(trial.filters) +
           SMALL_BLOCKS;
}

static tz_result fail_lzma_encode(lzma_ret result, const tz_codec_call *call)
{
    if (result == LZMA_MEM_ERROR)
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->location,
                       "out of memory for LZMA data");
    return tz_codec_fail(call, "liblzma cannot encode the tile: its error %d", (int)result);
}

/* Encodes a part of the tile with differences of that distance, for its size. */
static tz_result try_delta_distance(lzma_encoder *state, const uint8_t *in, size_t size,
                                    uint32_t distance, size_t *made, const tz_codec_call *call)
{
    lzma_allocator allocator = {lzma_cache_alloc, lzma_cache_free, &state->trial_memory};
    lzma_filter_chain chain;
    *made = 0;
    lzma_ret result = LZMA_OPTIONS_ERROR;
    if (make_filter_chain(&chain, TZ_EFFORT_FAST, size, distance))
        result = lzma_stream_buffer_encode(chain.filters, LZMA_CHECK_NONE, &allocator, in, size,
                                           state->trial, made, sizeof state->trial);
    return result == LZMA_OK ? TZ_OK : fail_lzma_encode(result, call);
}

static tz_result lzma_encode(void *opaque, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    lzma_encoder *state = opaque;
    lzma_allocator allocator = {lzma_cache_alloc, lzma_cache_free, &state->memory};
    size_t size = tz_tile_bytes(format);
    uint32_t distance = pixel_distance(format);
    lzma_filter_chain chain;
    if (distance > 0) { /* kept if it makes the middle of the tile smaller */
        const size_t trial_bytes = trial_size(size);
        const uint8_t *middle = in + (size - trial_bytes) / 2;
        size_t as_stored, differences;
        TZ_TRY(try_delta_distance(state, middle, trial_bytes, 0, &as_stored, call));
        TZ_TRY(try_delta_distance(state, middle, trial_bytes, distance, &differences, call));
        if (differences >= as_stored)
            distance = 0;
    }
    *out_size = 0;
    lzma_ret result = LZMA_OPTIONS_ERROR;
    if (make_filter_chain(&chain, options->level, size, distance))
        result = lzma_stream_buffer_encode(chain.filters, LZMA_CHECK_CRC32, &allocator, in, size,
                                           out, out_size, lzma_bound(format, options));
    return result == LZMA_OK ? TZ_OK : fail_lzma_encode(result, call);
}

static void lzma_encoder_deinit(void *opaque)
{
    lzma_encoder *state = opaque;
    lzma_cache_deinit(&state->memory);
    lzma_cache_deinit(&state->trial_memory);
}

const tz_encoder tz_encoder_lzma = {
    .state_size = sizeof(lzma_encoder),
    .resolve_options = lzma_resolve_options,
    .bound = lzma_bound,
    .memory = lzma_memory,
    .deinit = lzma_encoder_deinit,
    .encode = lzma_encode,
};
