/* SPDX-License-Identifier: Apache-2.0
 * Zstandard, by libzstd: one frame with its size and a checksum of its content.
 *
 * For inputs as small as tiles libzstd looks for shorter matches than for large ones. That suits
 * text; of predicted samples the short matches cost more than the literals they replace. So the
 * shortest match is what the level has for large inputs, and all else is left to libzstd, which
 * then needs no more memory than the tile asks for. */
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/encoder.h"

enum { DEFAULT_LEVEL = 9, MAX_LEVEL = 22 };

typedef struct zstd_encoder {
    ZSTD_CCtx *context;
} zstd_encoder;

static const char *zstd_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level < 1 || options->level > MAX_LEVEL)
        return "ZSTD levels are 1 to 22";
    return NULL;
}

static int min_match(int32_t level)
{
    if (level <= 2)
        return level == 1 ? 7 : 6;
    return level <= 12 ? 5 : 4;
}

static tz_result zstd_encoder_init(void *opaque, const tz_tile_format *format,
                                   const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    zstd_encoder *state = opaque;
    state->context = ZSTD_createCCtx();
    if (!state->context)
        return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                       "out of memory for a ZSTD context");
    const struct {
        ZSTD_cParameter name;
        int value;
    } settings[] = {{ZSTD_c_compressionLevel, options->level},
                    {ZSTD_c_minMatch, min_match(options->level)},
                    {ZSTD_c_checksumFlag, 1}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        size_t code = ZSTD_CCtx_setParameter(state->context, settings[i].name, settings[i].value);
        if (ZSTD_isError(code))
            return tz_fail(ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                           "libzstd does not take parameter %d: %s", (int)settings[i].name,
                           ZSTD_getErrorName(code));
    }
    return TZ_OK;
}

static void zstd_encoder_deinit(void *opaque)
{
    zstd_encoder *state = opaque;
    ZSTD_freeCCtx(state->context);
    state->context = NULL;
}

static size_t zstd_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    enum { CHECKSUM_SIZE = 4 };
    return ZSTD_compressBound(tz_tile_bytes(format)) + CHECKSUM_SIZE;
}

/* The tables of a level, as powers of two of 4 bytes: of hashes and of chains or trees. They are no
 * larger than the tile needs. */
typedef struct level_tables {
    int32_t last_level;
    uint8_t hash_log;
    uint8_t chain_log;
} level_tables;

static const level_tables tables_of_levels[] = {
    {2, 16, 14},  {4, 18, 18},  {6, 19, 18},  {8, 20, 19},  {9, 21, 20},
    {11, 22, 21}, {15, 23, 23}, {19, 22, 24}, {20, 23, 25}, {22, 25, 27},
};

/* libzstd has no stable function that says what it will take: two tables, a byte or two beside each
 * hash, and for a block its literals, sequences and statistics. */
static uint64_t zstd_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    enum { MIN_LOG = 10, MAX_LOG = 27, BLOCK_LOG = 17, FIXED = 200 << 10 };
    unsigned window_log = MIN_LOG;
    while (window_log < MAX_LOG && (tz_tile_bytes(format) - 1) >> window_log != 0)
        window_log++;
    const level_tables *tables = tables_of_levels;
    while (options->level > tables->last_level)
        tables++;
    unsigned hash_log = window_log + 1 < tables->hash_log ? window_log + 1 : tables->hash_log;
    unsigned chain_log = window_log + 1 < tables->chain_log ? window_log + 1 : tables->chain_log;
    unsigned block_log = window_log < BLOCK_LOG ? window_log : BLOCK_LOG;
    return (UINT64_C(6) << hash_log) + (UINT64_C(4) << chain_log) + (UINT64_C(5) << block_log) +
           FIXED;
}

static tz_result zstd_encode(void *opaque, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    const zstd_encoder *state = opaque;
    size_t made =
        ZSTD_compress2(state->context, out, zstd_bound(format, options), in, tz_tile_bytes(format));
    if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation)
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->location,
                       "out of memory for ZSTD at level %d", (int)options->level);
    if (ZSTD_isError(made))
        return tz_codec_fail(call, "libzstd cannot encode the tile: %s", ZSTD_getErrorName(made));
    *out_size = made;
    return TZ_OK;
}

static const uint16_t zstd_encoder_compressions[] = {50000, 0};

const tz_encoder tz_encoder_zstd = {
    .name = "zstd",
    .library = "libzstd",
    .compressions = zstd_encoder_compressions,
    .state_size = sizeof(zstd_encoder),
    .resolve_options = zstd_resolve_options,
    .bound = zstd_bound,
    .memory = zstd_memory,
    .init = zstd_encoder_init,
    .deinit = zstd_encoder_deinit,
    .encode = zstd_encode,
};
