/* SPDX-License-Identifier: Apache-2.0
 * LZMA in an .xz stream, by liblzma, within max_codec_bytes. The stream must make exactly the bytes
 * of the tile and be whole to its footer; bytes after it are ignored with a warning. Memory that
 * liblzma asks for is kept between tiles. */
#include <assert.h>
#include <lzma.h>

#include "codec/alloc_cache.h"
#include "codec/codec.h"

static void lzma_decoder_deinit(void *state)
{
    tz_alloc_cache_deinit(state);
}

static tz_result fail_lzma_decode(lzma_ret result, uint64_t memory, size_t size,
                                  const tz_codec_call *call)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->location,
                       "out of memory for LZMA data");
    case LZMA_MEMLIMIT_ERROR: /* memory is now what it takes */
        return tz_check_limit(call->ctx, offsetof(tz_limits, max_codec_bytes), call->location,
                              memory, "bytes of memory for LZMA data");
    case LZMA_FORMAT_ERROR:
        return tz_codec_fail(call, "the tile does not begin with an .xz header");
    case LZMA_OPTIONS_ERROR:
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
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
    lzma_allocator allocator = {tz_alloc_cache_alloc, tz_alloc_cache_free, opaque};
    uint64_t memory = call->ctx->limits->max_codec_bytes;
    size_t size = tz_tile_bytes(format);
    size_t used = 0;
    size_t made = 0;
    lzma_ret result =
        lzma_stream_buffer_decode(&memory, 0, &allocator, in, &used, in_size, out, &made, size);
    if (result != LZMA_OK)
        return fail_lzma_decode(result, memory, size, call);
    if (made != size)
        return tz_codec_fail_size(call, size, made, "LZMA data makes too few bytes");
    return tz_codec_check_end(call, used, in_size);
}

static const uint16_t lzma_compressions[] = {34925, 0};

const tz_decoder tz_decoder_lzma = {
    .name = "lzma",
    .library = "liblzma",
    .compressions = lzma_compressions,
    .flags = TZ_DECODER_NO_OVERRUN,
    .state_size = sizeof(tz_alloc_cache),
    .deinit = lzma_decoder_deinit,
    .decode = lzma_decode,
};
