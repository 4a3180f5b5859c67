/* SPDX-License-Identifier: Apache-2.0
 * LZ4 as xarray-spatial reads it: one LZ4 frame per tile, with the size and a checksum of its
 * content. Level 1 is LZ4's fast encoder, those above are its high compression. The frame is made
 * here, of independent blocks of up to 4 MiB: most tiles are one block. */
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

#include "base/mem.h"
#include "codec/encoder.h"
#include "codec/unaligned_store.h"
#include "codec/xxhash32.h"
#include "kernels/lz4_frame.h"

enum { DEFAULT_LEVEL = 1, MAX_LEVEL = 12, BLOCK_HEAD = TZ_LZ4_BLOCK_HEADER };

typedef struct lz4_encoder {
    void *scratch; /* memory of liblz4 */
} lz4_encoder;

static const char *lz4_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level < 1 || options->level > MAX_LEVEL)
        return "LZ4 levels are 1 to 12";
    return NULL;
}

static size_t scratch_size(const tz_encode_options *options)
{
    return (size_t)(options->level == 1 ? LZ4_sizeofState() : LZ4_sizeofStateHC());
}

static uint64_t lz4_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    enum { ROUNDING = 64 }; /* by the allocator */
    return scratch_size(options) + ROUNDING;
}

static tz_result lz4_encoder_init(void *opaque, const tz_tile_format *format,
                                  const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    lz4_encoder *state = opaque;
    state->scratch = tz_alloc(scratch_size(options));
    return state->scratch ? TZ_OK : tz_fail_nomem(ctx, scratch_size(options));
}

static void lz4_encoder_deinit(void *opaque)
{
    lz4_encoder *state = opaque;
    tz_free(state->scratch);
    state->scratch = NULL;
}

/* Bytes of the frame's blocks, all but the last one. */
static size_t max_block_size(size_t size)
{
    return tz_lz4_block_size(tz_lz4_block_code(size));
}

static size_t lz4_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t size = tz_tile_bytes(format);
    return TZ_LZ4_HEADER + size + (size_t)tz_ceil_div(size, max_block_size(size)) * BLOCK_HEAD +
           TZ_LZ4_FOOTER;
}

/* Compressed where that is smaller, else as it is. */
static uint8_t *put_lz4_block(const lz4_encoder *state, int32_t level, const uint8_t *in,
                              size_t size, uint8_t *out)
{
    const char *from = (const char *)in;
    char *to = (char *)out + BLOCK_HEAD;
    int capacity = (int)size - 1;
    int made =
        level == 1
            ? LZ4_compress_fast_extState(state->scratch, from, to, (int)size, capacity, 1)
            : LZ4_compress_HC_extStateHC(state->scratch, from, to, (int)size, capacity, level);
    if (made > 0) {
        tz_store_le32(out, (uint32_t)made);
        return out + BLOCK_HEAD + made;
    }
    tz_store_le32(out, (uint32_t)size | TZ_LZ4_STORED);
    memcpy(to, in, size);
    return out + BLOCK_HEAD + size;
}

static tz_result lz4_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)call;
    size_t size = tz_tile_bytes(format);
    size_t max_block = max_block_size(size);
    uint8_t *to = out + TZ_LZ4_HEADER;
    tz_lz4_put_header(out, size);
    for (size_t at = 0, some; at < size; at += some) {
        some = size - at < max_block ? size - at : max_block;
        to = put_lz4_block(opaque, options->level, in + at, some, to);
    }
    tz_lz4_put_footer(to, tz_xxhash32(in, size));
    *out_size = (size_t)(to - out) + TZ_LZ4_FOOTER;
    return TZ_OK;
}

static const uint16_t lz4_encoder_compressions[] = {50004, 0};

const tz_encoder tz_encoder_lz4 = {
    .name = "lz4",
    .library = "liblz4",
    .compressions = lz4_encoder_compressions,
    .state_size = sizeof(lz4_encoder),
    .resolve_options = lz4_resolve_options,
    .bound = lz4_bound,
    .memory = lz4_memory,
    .init = lz4_encoder_init,
    .deinit = lz4_encoder_deinit,
    .encode = lz4_encode,
};
