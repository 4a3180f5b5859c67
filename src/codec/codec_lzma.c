/* SPDX-License-Identifier: Apache-2.0
 * LZMA in an .xz stream, by liblzma, within max_codec_bytes. The stream must make exactly the bytes
 * of the tile and be whole to its footer; bytes after it are ignored with a warning.
 *
 * liblzma asks for the same few blocks of memory for every tile. They are kept between tiles: the
 * allocator it gets hands them out again. */
#include <assert.h>
#include <lzma.h>

#include "base/mem.h"
#include "codec/codec.h"

enum { MAX_KEPT = 16 };

typedef struct kept_block {
    void *block;
    size_t size;
    bool used;
} kept_block;

typedef struct lzma_state {
    kept_block kept[MAX_KEPT];
} lzma_state;

/* A free block of just this size; NULL: there is none. */
static kept_block *find_kept(lzma_state *state, size_t size)
{
    for (size_t i = 0; i < MAX_KEPT; i++) {
        kept_block *kept = &state->kept[i];
        if (kept->block && !kept->used && kept->size == size)
            return kept;
    }
    return NULL;
}

/* Another size: streams are of another kind now, and what was kept for those before goes. Returns
 * an empty place; NULL: all are in use. */
static kept_block *release_unused(lzma_state *state)
{
    kept_block *place = NULL;
    for (size_t i = 0; i < MAX_KEPT; i++) {
        kept_block *kept = &state->kept[i];
        if (kept->used)
            continue;
        tz_free(kept->block);
        *kept = (kept_block){0};
        place = kept;
    }
    return place;
}

static void *keep_alloc(void *opaque, size_t count, size_t size)
{
    size_t bytes;
    if (!tz_size_mul(count, size, &bytes))
        return NULL;
    kept_block *kept = find_kept(opaque, bytes);
    if (!kept) {
        kept = release_unused(opaque);
        void *block = tz_alloc(bytes);
        if (!kept || !block)
            return block;
        *kept = (kept_block){.block = block, .size = bytes};
    }
    kept->used = true;
    return kept->block;
}

static void keep_free(void *opaque, void *block)
{
    lzma_state *state = opaque;
    if (!block)
        return;
    for (size_t i = 0; i < MAX_KEPT; i++) {
        if (state->kept[i].block == block) {
            state->kept[i].used = false;
            return;
        }
    }
    tz_free(block);
}

static void lzma_deinit(void *opaque)
{
    lzma_state *state = opaque;
    for (size_t i = 0; i < MAX_KEPT; i++)
        tz_free(state->kept[i].block);
    *state = (lzma_state){0};
}

static tz_result fail_decode(lzma_ret result, uint64_t memory, size_t size,
                             const tz_codec_call *call)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->place,
                       "out of memory for LZMA data");
    case LZMA_MEMLIMIT_ERROR: /* memory is now what it takes */
        return tz_check_limit(call->ctx, offsetof(tz_limits, max_codec_bytes), call->place, memory,
                              "bytes of memory for LZMA data");
    case LZMA_FORMAT_ERROR:
        return tz_codec_fail(call, "the tile does not begin with an .xz header");
    case LZMA_OPTIONS_ERROR:
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->place,
                       "LZMA data with a filter that liblzma does not have");
    case LZMA_BUF_ERROR:
        return tz_codec_fail(call, "LZMA data makes more than the %zu bytes of the tile", size);
    default:
        return tz_codec_fail(call, "LZMA data is damaged or ends too early");
    }
}

static tz_result lzma_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)stride;
    assert(stride == tz_tile_row_bytes(format));
    lzma_allocator allocator = {keep_alloc, keep_free, opaque};
    uint64_t memory = call->ctx->limits->max_codec_bytes;
    size_t size = tz_tile_bytes(format);
    size_t used = 0;
    size_t made = 0;
    lzma_ret result =
        lzma_stream_buffer_decode(&memory, 0, &allocator, in, &used, in_size, out, &made, size);
    if (result != LZMA_OK)
        return fail_decode(result, memory, size, call);
    if (made != size)
        return tz_codec_fail_size(call, size, made, "LZMA data makes too few bytes");
    return tz_codec_end(call, used, in_size);
}

static const uint16_t lzma_compressions[] = {34925, 0};

const tz_codec tz_codec_lzma = {
    .name = "lzma",
    .library = "liblzma",
    .compressions = lzma_compressions,
    .flags = TZ_CODEC_EXACT,
    .state_size = sizeof(lzma_state),
    .deinit = lzma_deinit,
    .decode = lzma_decode,
};
