/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: batches of chunks for nvCOMP. It is loaded when a decoder is first wanted: it is
 * large. That it is not there, or does not answer, is no failure: the own kernels decode then. */
#include <string.h>

#include "base/mem.h"
#include "device/cuda_parts.h"
#include "device/device_text.h"

tz_result tz_cu_name_library(char **to, const char *library, const tz_context *ctx)
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

static bool codec_of(uint16_t compression, tz_nvcomp_codec *out)
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

void tz_cu_codecs_version(const tz_nvcomp *nvcomp, char *out, size_t size)
{
    const uint32_t v = nvcomp->version;
    tz_device_textf(out, size, "nvCOMP %u.%u.%u", v / 1000, v / 100 % 10, v % 100);
}

/* How its scratch grows, by three questions: with chunks of a byte each, and with bytes of one
 * chunk, from what one byte takes. A batch asks for itself, and is not for nvCOMP should this be
 * too little. */
static tz_result ask_temp(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, tz_cu_stream stream,
                          tz_chunk_decoder *out, const tz_context *ctx)
{
    enum { CHUNKS = 1024, PARTS = 256, PART = 65536 };
    const tz_nvcomp_batch one = {.codec = codec, .count = 1, .max_chunk = 1, .total = 1};
    const tz_nvcomp_batch many = {.codec = codec, .count = CHUNKS, .max_chunk = 1, .total = CHUNKS};
    const tz_nvcomp_batch large = {
        .codec = codec, .count = 1, .max_chunk = PARTS * PART, .total = PARTS * PART};
    size_t of_one = 0, of_many = 0, of_large = 0;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &one, false, stream, &of_one, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &many, false, stream, &of_many, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &large, false, stream, &of_large, ctx));
    out->temp = of_one;
    out->temp_per_chunk = tz_ceil_div(of_many, CHUNKS);
    out->temp_per_64k = tz_ceil_div(of_large, PARTS);
    return TZ_OK;
}

static tz_result ask_codec(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, tz_cu_stream stream,
                           tz_chunk_decoder *out, const tz_context *ctx)
{
    const tz_nvcomp_batch batch = {.codec = codec};
    tz_nvcomp_alignments is = {0, 0, 0};
    TZ_TRY(tz_nvcomp_align(nvcomp, &batch, false, &is, ctx));
    TZ_TRY(ask_temp(nvcomp, codec, stream, out, ctx));
    out->input_alignment = (uint32_t)is.input;
    out->output_alignment = (uint32_t)is.output;
    tz_cu_codecs_version(nvcomp, out->name, sizeof out->name);
    return TZ_OK;
}

/* What cannot be asked is not used. */
static void look(tz_cu_state *s)
{
    tz_cu_codecs *codecs = &s->codecs;
    const tz_context quiet = {.ifd = -1};
    char reason[256];
    if (!tz_nvcomp_load(&codecs->nvcomp, codecs->library, reason, sizeof reason) ||
        tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    for (tz_nvcomp_codec codec = 0; codec < TZ_NVCOMP_CODEC_COUNT; codec++)
        codecs->decodes[codec] = ask_codec(&codecs->nvcomp, codec, s->queues[0],
                                           &codecs->decoders[codec], &quiet) == TZ_OK;
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

const tz_nvcomp *tz_cu_find_codec(tz_cu_state *s, uint16_t compression, tz_nvcomp_codec *codec)
{
    tz_cu_codecs *codecs = &s->codecs;
    if (!codec_of(compression, codec))
        return NULL;
    if (!atomic_load_explicit(&codecs->is_known, memory_order_acquire)) {
        pthread_mutex_lock(&codecs->lock);
        if (!atomic_load_explicit(&codecs->is_known, memory_order_relaxed))
            look(s);
        atomic_store_explicit(&codecs->is_known, true, memory_order_release);
        pthread_mutex_unlock(&codecs->lock);
    }
    return codecs->nvcomp.table ? &codecs->nvcomp : NULL;
}

bool tz_cu_find_decoder(void *state, uint16_t compression, tz_chunk_decoder *out)
{
    tz_cu_state *s = state;
    tz_nvcomp_codec codec;
    if (!tz_cu_find_codec(s, compression, &codec))
        return false;
    *out = s->codecs.decoders[codec];
    return s->codecs.decodes[codec];
}

/* ---- batches ---- */

static tz_result run_within(tz_cu_state *s, uint32_t queue, const tz_nvcomp_batch *batch,
                            bool compress, const tz_context *ctx)
{
    const tz_nvcomp *nvcomp = &s->codecs.nvcomp;
    size_t temp = 0;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, batch, compress, s->queues[queue], &temp, ctx));
    if (temp > batch->temp_bytes)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_at_nowhere(), batch->temp_bytes, temp),
                       "nvCOMP wants more scratch for a batch than it said before");
    return compress ? tz_nvcomp_compress(nvcomp, batch, s->queues[queue], ctx)
                    : tz_nvcomp_decompress(nvcomp, batch, s->queues[queue], ctx);
}

tz_result tz_cu_run_chunks(tz_cu_state *s, uint32_t queue, const tz_chunk_batch *batch,
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
                         .room = at + batch->room,
                         .out_sizes = at + batch->out_sizes,
                         .statuses = at + batch->statuses,
                         .temp = at + batch->temp,
                         .temp_bytes = (size_t)batch->temp_bytes};
    (void)codec_of(batch->compression, &b.codec);
    TZ_TRY(tz_cu_enter(s, ctx));
    return tz_cu_leave(s, run_within(s, queue, &b, how.compress, ctx), ctx);
}

tz_result tz_cu_decode(void *state, uint32_t queue, const tz_chunk_batch *batch,
                       const tz_context *ctx)
{
    return tz_cu_run_chunks(state, queue, batch, (tz_cu_direction){.compress = false}, ctx);
}
