/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: batches of chunks for nvCOMP. It is loaded when a decoder is first wanted: it is
 * large. Each codec is then tried on a chunk that is known. That nvCOMP is not there, does not
 * answer or misbehaves is no failure of the device: the own kernels decode then. */
#include <string.h>

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

tz_result tz_cu_copy_library_name(char **to, const char *library, const tz_context *ctx)
{
    if (!library)
        return TZ_OK;
    const size_t size = strlen(library) + 1;
    *to = tz_alloc(size);
    if (!*to)
        return tz_fail_nomem(ctx, size);
    memcpy(*to, library, size);
    return TZ_OK;
}

void tz_cu_codecs_deinit(tz_cu_codecs *codecs)
{
    tz_free(codecs->library);
    pthread_mutex_destroy(&codecs->lock);
}

/* ---- what it can do ---- */

static bool nvcomp_codec_of(uint16_t compression, tz_nvcomp_codec *out)
{
    static const struct {
        uint16_t compression;
        tz_nvcomp_codec codec;
    } codecs[] = {{8, TZ_NVCOMP_DEFLATE},
                  {32946, TZ_NVCOMP_DEFLATE},
                  {50000, TZ_NVCOMP_ZSTD},
                  {50004, TZ_NVCOMP_LZ4}};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        *out = codecs[i].codec;
        if (codecs[i].compression == compression)
            return true;
    }
    return false;
}

void tz_cu_nvcomp_version(const tz_nvcomp *nvcomp, char *out, size_t size)
{
    const uint32_t v = nvcomp->version;
    tz_device_textf(out, size, "nvCOMP %u.%u.%u", v / 1000, v / 100 % 10, v % 100);
}

/* How its scratch grows, by three questions: with chunks of a byte each, and with bytes of one
 * chunk, from what one byte takes. A batch asks for itself, and is not for nvCOMP should this be
 * too little. */
static tz_result query_decode_scratch(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec,
                                      tz_cu_stream stream, tz_vendor_decoder *out,
                                      const tz_context *ctx)
{
    enum { CHUNKS = 1024, BLOCKS = 256, BLOCK_BYTES = 65536 };
    const tz_nvcomp_batch one = {.codec = codec, .count = 1, .max_chunk = 1, .total = 1};
    const tz_nvcomp_batch many = {.codec = codec, .count = CHUNKS, .max_chunk = 1, .total = CHUNKS};
    const tz_nvcomp_batch large = {.codec = codec,
                                   .count = 1,
                                   .max_chunk = BLOCKS * BLOCK_BYTES,
                                   .total = BLOCKS * BLOCK_BYTES};
    size_t of_one = 0, of_many = 0, of_large = 0;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &one, false, stream, &of_one, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &many, false, stream, &of_many, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &large, false, stream, &of_large, ctx));
    out->temp = of_one;
    out->temp_per_tile = tz_ceil_div(of_many, CHUNKS);
    out->temp_per_64k = tz_ceil_div(of_large, BLOCKS);
    return TZ_OK;
}

static tz_result query_codec(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, tz_cu_stream stream,
                             tz_vendor_decoder *out, const tz_context *ctx)
{
    const tz_nvcomp_batch batch = {.codec = codec};
    tz_nvcomp_alignments is = {0, 0, 0};
    TZ_TRY(tz_nvcomp_align(nvcomp, &batch, false, &is, ctx));
    TZ_TRY(query_decode_scratch(nvcomp, codec, stream, out, ctx));
    out->input_alignment = (uint32_t)is.input;
    out->output_alignment = (uint32_t)is.output;
    tz_cu_nvcomp_version(nvcomp, out->name, sizeof out->name);
    return TZ_OK;
}

/* With the lock held. */
static void switch_off_codec(tz_cu_codecs *codecs, tz_nvcomp_codec codec, const char *why)
{
    tz_cu_codec *is = &codecs->codecs[codec];
    if (atomic_load(&is->state) == TZ_CU_CODEC_OFF)
        return;
    tz_cu_nvcomp_version(&codecs->nvcomp, is->decoder.name, sizeof is->decoder.name);
    tz_device_textf(is->decoder.reason, sizeof is->decoder.reason, "%s is not used: %s",
                    is->decoder.name, why);
    atomic_store(&is->state, TZ_CU_CODEC_OFF);
}

/* With the lock held. What cannot be asked, or does not work, is not used. */
static void self_test_codec(tz_cu_state *s, tz_nvcomp_codec codec)
{
    tz_cu_codec *is = &s->codecs.codecs[codec];
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK) {
        result = query_codec(&s->codecs.nvcomp, codec, s->queues[0], &is->decoder, &ctx);
        if (result == TZ_OK)
            result = tz_cu_self_test_codec(s, codec, &is->decoder.needs_size, &ctx);
        result = tz_cu_leave(s, result, &ctx);
    }
    if (result == TZ_OK)
        atomic_store(&is->state, TZ_CU_CODEC_WORKS);
    else
        switch_off_codec(&s->codecs, codec, why.message);
}

static bool nvcomp_is_available(tz_cu_codecs *codecs)
{
    char reason[256];
    if (!atomic_load_explicit(&codecs->is_known, memory_order_acquire)) {
        pthread_mutex_lock(&codecs->lock);
        if (!atomic_load_explicit(&codecs->is_known, memory_order_relaxed))
            (void)tz_nvcomp_load(&codecs->nvcomp, codecs->library, reason, sizeof reason);
        atomic_store_explicit(&codecs->is_known, true, memory_order_release);
        pthread_mutex_unlock(&codecs->lock);
    }
    return codecs->nvcomp.table;
}

const tz_nvcomp *tz_cu_find_codec(tz_cu_state *s, uint16_t compression, tz_nvcomp_codec *codec)
{
    tz_cu_codecs *codecs = &s->codecs;
    if (!nvcomp_codec_of(compression, codec) || !nvcomp_is_available(codecs))
        return NULL;
    atomic_int *state = &codecs->codecs[*codec].state;
    if (atomic_load(state) == TZ_CU_CODEC_UNTESTED) {
        pthread_mutex_lock(&codecs->lock);
        if (atomic_load(state) == TZ_CU_CODEC_UNTESTED)
            self_test_codec(s, *codec);
        pthread_mutex_unlock(&codecs->lock);
    }
    return atomic_load(state) == TZ_CU_CODEC_WORKS ? &codecs->nvcomp : NULL;
}

bool tz_cu_find_decoder(void *state, uint16_t compression, tz_vendor_decoder *out)
{
    tz_cu_state *s = state;
    tz_nvcomp_codec codec;
    *out = (tz_vendor_decoder){.name = ""};
    if (!nvcomp_codec_of(compression, &codec) || !nvcomp_is_available(&s->codecs))
        return false;
    const bool works = tz_cu_find_codec(s, compression, &codec) != NULL;
    pthread_mutex_lock(&s->codecs.lock);
    *out = s->codecs.codecs[codec].decoder;
    pthread_mutex_unlock(&s->codecs.lock);
    return works;
}

/* ---- batches ---- */

static tz_result run_batch(tz_cu_state *s, uint32_t queue, const tz_nvcomp_batch *batch,
                           bool compress, const tz_context *ctx)
{
    const tz_nvcomp *nvcomp = &s->codecs.nvcomp;
    size_t temp = 0;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, batch, compress, s->queues[queue], &temp, ctx));
    if (temp > batch->temp_bytes)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_no_location(), batch->temp_bytes, temp),
                       "nvCOMP wants more scratch for a batch than it said before");
    return compress ? tz_nvcomp_compress(nvcomp, batch, s->queues[queue], ctx)
                    : tz_nvcomp_decompress(nvcomp, batch, s->queues[queue], ctx);
}

/* While the context works, an error is nvCOMP's own, and it is not asked again. */
static tz_result classify_failure(tz_cu_state *s, uint32_t queue, tz_result result,
                                  const tz_error *why, const tz_context *ctx)
{
    if (result == TZ_OK)
        return TZ_OK;
    if (result == TZ_ERR_DEVICE && tz_cu_context_works(s, s->queues[queue])) {
        pthread_mutex_lock(&s->codecs.lock);
        for (tz_nvcomp_codec codec = 0; codec < TZ_NVCOMP_CODEC_COUNT; codec++)
            switch_off_codec(&s->codecs, codec, why->message);
        pthread_mutex_unlock(&s->codecs.lock);
        result = TZ_ERR_UNSUPPORTED;
    }
    return tz_fail(ctx, result, why->cause, tz_no_location(), "%s", why->message);
}

tz_result tz_cu_run_chunks(tz_cu_state *s, uint32_t queue, const tz_vendor_batch *batch,
                           tz_cu_direction how, const tz_context *ctx)
{
    const uint64_t at = tz_cu_address_of(batch->slab);
    tz_nvcomp_batch b = {.algorithm = how.algorithm,
                         .count = (size_t)batch->count,
                         .max_chunk = (size_t)batch->max_chunk,
                         .total = (size_t)batch->total,
                         .in = at + batch->in,
                         .in_sizes = at + batch->in_sizes,
                         .out = at + batch->out,
                         .capacity = at + batch->capacity,
                         .out_sizes = at + batch->out_sizes,
                         .statuses = at + batch->statuses,
                         .temp = at + batch->temp,
                         .temp_bytes = (size_t)batch->temp_bytes};
    tz_error why;
    const tz_context own = {.err = &why, .ifd = -1};
    if (!tz_cu_find_codec(s, batch->compression, &b.codec))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "nvCOMP was switched off for this device");
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_result result = run_batch(s, queue, &b, how.compress, &own);
    return tz_cu_leave(s, classify_failure(s, queue, result, &why, ctx), ctx);
}

tz_result tz_cu_decode(void *state, uint32_t queue, const tz_vendor_batch *batch,
                       const tz_context *ctx)
{
    return tz_cu_run_chunks(state, queue, batch, (tz_cu_direction){.compress = false}, ctx);
}
