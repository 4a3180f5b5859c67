/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: libraries of pictures, each for one compression. They are loaded when they are
 * first wanted; that one is not there is no failure, the cores decode then. */
#include "device/cuda/cuda_internal.h"

typedef struct codestream_library {
    uint16_t compression;
    bool (*find)(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
    tz_result (*decode)(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                        const tz_context *ctx);
    bool (*find_encoder)(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
    tz_result (*encode)(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                        const tz_codestream_encoding *how, tz_codestream_output *out,
                        const tz_context *ctx);
} codestream_library;

static const codestream_library libraries[] = {
    {7, tz_cu_jpeg_find, tz_cu_jpeg_decode, tz_cu_jpeg_find_encoder, tz_cu_jpeg_encode},
    {34712, tz_cu_j2k_find, tz_cu_j2k_decode, tz_cu_j2k_find_encoder, tz_cu_j2k_encode},
};

static const codestream_library *codestream_library_of(uint16_t compression)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (libraries[i].compression == compression)
            return &libraries[i];
    }
    return NULL;
}

bool tz_cu_find_codestream_codec(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                 tz_codestream_codec *out)
{
    const codestream_library *it = codestream_library_of(compression);
    if (!it)
        return false;
    return encodes ? it->find_encoder(state, samples, out) : it->find(state, samples, out);
}

tz_result tz_cu_decode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx)
{
    const codestream_library *it = codestream_library_of(batch->compression);
    if (!it)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "no library decodes compression %u", batch->compression);
    TZ_TRY(tz_cu_enter(state, ctx));
    return tz_cu_leave(state, it->decode(state, queue, batch, ctx), ctx);
}

tz_result tz_cu_encode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_codestream_encoding *how, tz_codestream_output *out,
                                   const tz_context *ctx)
{
    const codestream_library *it = codestream_library_of(batch->compression);
    if (!it)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "no library encodes compression %u", batch->compression);
    TZ_TRY(tz_cu_enter(state, ctx));
    return tz_cu_leave(state, it->encode(state, queue, batch, how, out, ctx), ctx);
}
