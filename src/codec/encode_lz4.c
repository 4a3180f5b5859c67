/* SPDX-License-Identifier: Apache-2.0
 * LZ4 as xarray-spatial reads it: one LZ4 frame per tile, with the size and a checksum of its
 * content. Level 1 is LZ4's fast encoder, those above are its high compression. The frame is made
 * here, of independent blocks of up to 4 MiB: most tiles are one block. */
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

#include "base/mem.h"
#include "codec/encoder.h"
#include "codec/put.h"
#include "codec/xxhash32.h"
#include "kernels/lz4_frame.h"

enum { DEFAULT_LEVEL = 1, MAX_LEVEL = 12, BLOCK_HEAD = TZ_LZ4_BLOCK_HEAD };

typedef struct lz4_state {
    void *work; /* memory of liblz4 */
} lz4_state;

static const char *lz4_choose(const tz_tile_format *format, tz_encode_choice *choice)
{
    (void)format;
    if (choice->level == 0)
        choice->level = DEFAULT_LEVEL;
    if (choice->level < 1 || choice->level > MAX_LEVEL)
        return "LZ4 levels are 1 to 12";
    return NULL;
}

static size_t work_size(const tz_encode_choice *choice)
{
    return (size_t)(choice->level == 1 ? LZ4_sizeofState() : LZ4_sizeofStateHC());
}

static uint64_t lz4_memory(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)format;
    enum { ROUNDING = 64 }; /* by the allocator */
    return work_size(choice) + ROUNDING;
}

static tz_result lz4_init(void *opaque, const tz_tile_format *format,
                          const tz_encode_choice *choice, const tz_context *ctx)
{
    (void)format;
    lz4_state *state = opaque;
    state->work = tz_alloc(work_size(choice));
    return state->work ? TZ_OK : tz_fail_nomem(ctx, work_size(choice));
}

static void lz4_deinit(void *opaque)
{
    lz4_state *state = opaque;
    tz_free(state->work);
    state->work = NULL;
}

/* Bytes of the frame's blocks, all but the last one. */
static size_t block_size(size_t size)
{
    return tz_lz4_block_size(tz_lz4_block_code(size));
}

static size_t lz4_bound(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)choice;
    size_t size = tz_tile_bytes(format);
    return TZ_LZ4_HEADER + size + (size_t)tz_ceil_div(size, block_size(size)) * BLOCK_HEAD +
           TZ_LZ4_FOOTER;
}

/* Compressed where that is smaller, else as it is. */
static uint8_t *put_block(const lz4_state *state, int32_t level, const uint8_t *in, size_t size,
                          uint8_t *out)
{
    const char *from = (const char *)in;
    char *to = (char *)out + BLOCK_HEAD;
    int room = (int)size - 1;
    int made = level == 1
                   ? LZ4_compress_fast_extState(state->work, from, to, (int)size, room, 1)
                   : LZ4_compress_HC_extStateHC(state->work, from, to, (int)size, room, level);
    if (made > 0) {
        tz_put_le32(out, (uint32_t)made);
        return out + BLOCK_HEAD + made;
    }
    tz_put_le32(out, (uint32_t)size | TZ_LZ4_STORED);
    memcpy(to, in, size);
    return out + BLOCK_HEAD + size;
}

static tz_result lz4_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_choice *choice, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)call;
    size_t size = tz_tile_bytes(format);
    size_t most = block_size(size);
    uint8_t *to = out + TZ_LZ4_HEADER;
    tz_lz4_put_header(out, size);
    for (size_t at = 0, some; at < size; at += some) {
        some = size - at < most ? size - at : most;
        to = put_block(opaque, choice->level, in + at, some, to);
    }
    tz_lz4_put_footer(to, tz_xxhash32(in, size));
    *out_size = (size_t)(to - out) + TZ_LZ4_FOOTER;
    return TZ_OK;
}

static const uint16_t lz4_compressions[] = {50004, 0};

const tz_encoder tz_encoder_lz4 = {
    .name = "lz4",
    .library = "liblz4",
    .compressions = lz4_compressions,
    .state_size = sizeof(lz4_state),
    .choose = lz4_choose,
    .bound = lz4_bound,
    .memory = lz4_memory,
    .init = lz4_init,
    .deinit = lz4_deinit,
    .encode = lz4_encode,
};
