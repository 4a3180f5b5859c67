/* SPDX-License-Identifier: Apache-2.0
 * Batches of chunks for nvCOMP. The library is large, so it is loaded when a decoder or encoder is
 * first wanted; each codec is then tested once on a known chunk (self_test.c). A batch comes as
 * offsets in a slab, becomes addresses, and goes into the queue's stream; nothing waits.
 *
 * nvCOMP is never the only way: the driver's own kernels decode the same chunks. Therefore nothing
 * it does wrong is a failure of the device. A library that is missing, a codec that fails its test,
 * or a call that fails while the context still works switches nvCOMP off for this device, with the
 * reason, and the batch is TZ_ERR_UNSUPPORTED.
 *
 * The caller reserves scratch before it knows its batches. Scratch is therefore asked for with a
 * few made-up batches and described by how it grows; each real batch asks again, and is unsupported
 * in the case that the description was too low. */
#include "device/nvidia/nvcomp_codecs.h"

#include "base/mem.h"
#include "codec/codec.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

/* ---- looking for a codec ---- */

/* Finds nvCOMP's codec for a compression of TIFF; false if it has none. */
static bool nvcomp_codec_of(uint16_t compression, tz_nvcomp_codec *out)
{
    static const struct {
        uint16_t compression;
        tz_nvcomp_codec codec;
    } codecs[] = {{TZ_COMPRESSION_DEFLATE, TZ_NVCOMP_DEFLATE},
                  {TZ_COMPRESSION_OLD_DEFLATE, TZ_NVCOMP_DEFLATE},
                  {TZ_COMPRESSION_ZSTD, TZ_NVCOMP_ZSTD},
                  {TZ_COMPRESSION_LZ4, TZ_NVCOMP_LZ4}};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        *out = codecs[i].codec;
        if (codecs[i].compression == compression)
            return true;
    }
    return false;
}

static void name_nvcomp(const tz_nvcomp *nvcomp, char *out, size_t size)
{
    const uint32_t *v = nvcomp->info.version;
    tz_device_textf(out, size, "nvCOMP %u.%u.%u", v[0], v[1], v[2]);
}

/* Fills in *out: alignments, and scratch by three questions. They are for one byte, for many chunks
 * of a byte each, and for one chunk of many bytes. */
static tz_result query_decoder(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, tz_cu_stream stream,
                               tz_vendor_decoder *out, const tz_context *ctx)
{
    enum { CHUNKS = 1024, BLOCKS = 256, BLOCK_BYTES = 65536 };
    const tz_nvcomp_batch one = {.codec = codec, .count = 1, .max_chunk = 1, .total = 1};
    const tz_nvcomp_batch many = {.codec = codec, .count = CHUNKS, .max_chunk = 1, .total = CHUNKS};
    const tz_nvcomp_batch large = {.codec = codec,
                                   .count = 1,
                                   .max_chunk = BLOCKS * BLOCK_BYTES,
                                   .total = BLOCKS * BLOCK_BYTES};
    tz_nvcomp_alignments alignments = {0, 0, 0};
    size_t of_one = 0, of_many = 0, of_large = 0;
    TZ_TRY(tz_nvcomp_align(nvcomp, &one, false, &alignments, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &one, false, stream, &of_one, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &many, false, stream, &of_many, ctx));
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &large, false, stream, &of_large, ctx));
    out->temp = of_one;
    out->temp_per_tile = tz_ceil_div(of_many, CHUNKS);
    out->temp_per_64k = tz_ceil_div(of_large, BLOCKS);
    out->input_alignment = (uint32_t)alignments.input;
    out->output_alignment = (uint32_t)alignments.output;
    name_nvcomp(nvcomp, out->name, sizeof out->name);
    return TZ_OK;
}

/* Call with the lock held. */
static void switch_off_codec(tz_cu_codecs *codecs, tz_nvcomp_codec codec, const char *why)
{
    tz_cu_codec *is = &codecs->codecs[codec];
    if (atomic_load(&is->state) == TZ_CU_CODEC_OFF)
        return;
    name_nvcomp(&codecs->nvcomp, is->decoder.name, sizeof is->decoder.name);
    tz_device_textf(is->decoder.reason, sizeof is->decoder.reason, "%s is not used: %s",
                    is->decoder.name, why);
    atomic_store(&is->state, TZ_CU_CODEC_OFF);
}

/* Call with the lock held. A codec that does not answer, or fails the test, is switched off. */
static void test_codec(tz_cu_state *s, tz_nvcomp_codec codec)
{
    tz_cu_codec *is = &s->codecs.codecs[codec];
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK) {
        result = query_decoder(&s->codecs.nvcomp, codec, s->queues[0], &is->decoder, &ctx);
        if (result == TZ_OK)
            result = tz_cu_self_test_codec(s, codec, &is->decoder.needs_size, &ctx);
        result = tz_cu_leave(s, result, &ctx);
    }
    if (result == TZ_OK)
        atomic_store(&is->state, TZ_CU_CODEC_WORKS);
    else
        switch_off_codec(&s->codecs, codec, why.message);
}

/* Finds the codec of a compression. The first call loads nvCOMP, and the first for a codec tests
 * it; threads that come later take no lock. Returns false if nvCOMP is not installed, or the
 * codec is off. */
static bool find_codec(tz_cu_state *s, uint16_t compression, tz_nvcomp_codec *codec)
{
    tz_cu_codecs *codecs = &s->codecs;
    if (!nvcomp_codec_of(compression, codec))
        return false;
    atomic_int *state = &codecs->codecs[*codec].state;
    if (atomic_load(state) == TZ_CU_CODEC_UNTESTED) {
        char reason[256];
        pthread_mutex_lock(&codecs->lock);
        if (!codecs->searched)
            (void)tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVCOMP],
                                 s->library_names[TZ_NVIDIA_NVCOMP], &codecs->nvcomp,
                                 &codecs->nvcomp.info, reason, sizeof reason);
        codecs->searched = true;
        if (!codecs->nvcomp.is_bound) /* off without a reason: not being installed is none */
            atomic_store(state, TZ_CU_CODEC_OFF);
        else if (atomic_load(state) == TZ_CU_CODEC_UNTESTED)
            test_codec(s, *codec);
        pthread_mutex_unlock(&codecs->lock);
    }
    return atomic_load(state) == TZ_CU_CODEC_WORKS;
}

/* The lock: another thread may be switching the codec off. */
bool tz_cu_find_decoder(void *state, uint16_t compression, tz_vendor_decoder *out)
{
    tz_cu_state *s = state;
    tz_nvcomp_codec codec;
    *out = (tz_vendor_decoder){.name = ""};
    if (!nvcomp_codec_of(compression, &codec))
        return false;
    const bool works = find_codec(s, compression, &codec);
    pthread_mutex_lock(&s->codecs.lock);
    *out = s->codecs.codecs[codec].decoder;
    pthread_mutex_unlock(&s->codecs.lock);
    return works;
}

/* ---- looking for an encoder ---- */

/* nvCOMP has algorithms, not levels. Fast (below 1) is 0, without matches and without
 * scratch; 1 is 1, the fastest with matches; 2 and 3 are 2; 4 and 5 are 3; 6 to 8 are 4, about
 * zlib's level 6; 9 and the levels that only libdeflate has are 5. */
enum { MAX_DEFLATE_LEVEL = 9, ZSTD_LEVEL = 9, LZ4_LEVEL = 1 };

static int32_t algorithm_of(int32_t level)
{
    static const int32_t algorithms[MAX_DEFLATE_LEVEL + 1] = {0, 1, 2, 2, 3, 3, 4, 4, 4, 5};
    if (level < 0)
        return algorithms[0];
    return algorithms[level < MAX_DEFLATE_LEVEL ? level : MAX_DEFLATE_LEVEL];
}

/* ZSTD and LZ4 have one level each, which is reported as the nearest to any other. */
static bool is_other_level(tz_nvcomp_codec codec, int32_t level)
{
    if (codec == TZ_NVCOMP_DEFLATE)
        return level > MAX_DEFLATE_LEVEL;
    return level != 0 && level != (codec == TZ_NVCOMP_ZSTD ? ZSTD_LEVEL : LZ4_LEVEL);
}

/* Fills in *out for chunks of batch->max_chunk bytes: alignments, capacity, and scratch by two
 * questions, for one chunk and for some. */
static tz_result query_encoder(const tz_nvcomp *nvcomp, tz_nvcomp_batch batch, tz_cu_stream stream,
                               tz_vendor_encoder *out, const tz_context *ctx)
{
    enum { SOME = 16 };
    tz_nvcomp_alignments alignments = {0, 0, 0};
    size_t capacity = 0, of_one = 0, of_some = 0;
    TZ_TRY(tz_nvcomp_align(nvcomp, &batch, true, &alignments, ctx));
    TZ_TRY(tz_nvcomp_max_output(nvcomp, &batch, &capacity, ctx));
    batch.count = 1;
    batch.total = batch.max_chunk;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &batch, true, stream, &of_one, ctx));
    /* some algorithms refuse a larger total */
    batch.count = batch.max_chunk <= INT32_MAX / SOME ? SOME : 1;
    batch.total = batch.count * batch.max_chunk;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &batch, true, stream, &of_some, ctx));
    out->temp_per_tile = tz_ceil_div(of_some, batch.count);
    out->temp = of_one > out->temp_per_tile ? of_one - out->temp_per_tile : 0;
    out->input_alignment = (uint32_t)alignments.input;
    out->output_alignment = (uint32_t)alignments.output;
    out->capacity = capacity;
    return TZ_OK;
}

/* If chunks are larger than nvCOMP accepts, *out still has its name and limit, for the report. */
bool tz_cu_find_encoder(void *state, uint16_t compression, int32_t level, uint64_t max_tile,
                        tz_vendor_encoder *out)
{
    tz_cu_state *s = state;
    const tz_nvcomp *nvcomp = &s->codecs.nvcomp;
    const tz_context quiet = {.ifd = -1};
    tz_nvcomp_batch batch = {.algorithm = algorithm_of(level), .max_chunk = (size_t)max_tile};
    *out = (tz_vendor_encoder){.name = ""};
    if (!find_codec(s, compression, &batch.codec)) {
        tz_vendor_decoder off;
        (void)tz_cu_find_decoder(s, compression, &off);
        tz_device_text(out->reason, sizeof out->reason, off.reason);
        return false;
    }
    out->max_tile = tz_nvcomp_max_chunk(nvcomp, batch.codec, true);
    out->other_level = is_other_level(batch.codec, level);
    if (max_tile <= out->max_tile) {
        if (tz_cu_enter(s, &quiet) != TZ_OK ||
            tz_cu_leave(s, query_encoder(nvcomp, batch, s->queues[0], out, &quiet), &quiet) !=
                TZ_OK)
            return false;
    }
    name_nvcomp(nvcomp, out->name, sizeof out->name);
    return max_tile <= out->max_tile;
}

/* ---- batches ---- */

/* Decompresses, or compresses with an algorithm. An error of nvCOMP while the context works is its
 * own fault: nvCOMP is then switched off with all its codecs. */
static tz_result run_chunks(tz_cu_state *s, uint32_t queue, const tz_vendor_batch *batch,
                            bool compress, int32_t algorithm, const tz_context *ctx)
{
    const tz_nvcomp *nvcomp = &s->codecs.nvcomp;
    const uint64_t at = tz_cu_address_of(batch->slab);
    tz_nvcomp_batch b = {.algorithm = algorithm,
                         .count = (size_t)batch->count,
                         .max_chunk = (size_t)batch->max_tile,
                         .total = (size_t)batch->total,
                         .in = at + batch->in,
                         .in_sizes = at + batch->in_sizes,
                         .out = at + batch->out,
                         .capacity = at + batch->capacity,
                         .out_sizes = at + batch->out_sizes,
                         .statuses = at + batch->statuses,
                         .temp = at + batch->temp,
                         .temp_bytes = (size_t)batch->temp_bytes};
    if (!find_codec(s, batch->compression, &b.codec))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "nvCOMP was switched off for this device");
    TZ_TRY(tz_cu_enter(s, ctx));

    tz_error why;
    const tz_context own = {.err = &why, .ifd = -1};
    size_t temp = 0;
    tz_result result = tz_nvcomp_temp_bytes(nvcomp, &b, compress, s->queues[queue], &temp, &own);
    if (result == TZ_OK && temp > b.temp_bytes)
        result = tz_fail(&own, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                         tz_expecting(tz_no_location(), b.temp_bytes, temp),
                         "nvCOMP wants more scratch for a batch than it said before");
    if (result == TZ_OK)
        result = compress ? tz_nvcomp_compress(nvcomp, &b, s->queues[queue], &own)
                          : tz_nvcomp_decompress(nvcomp, &b, s->queues[queue], &own);
    if (result == TZ_ERR_DEVICE && tz_cu_context_works(s, s->queues[queue])) {
        pthread_mutex_lock(&s->codecs.lock);
        for (tz_nvcomp_codec codec = 0; codec < TZ_NVCOMP_CODEC_COUNT; codec++)
            switch_off_codec(&s->codecs, codec, why.message);
        pthread_mutex_unlock(&s->codecs.lock);
        result = TZ_ERR_UNSUPPORTED;
    }
    if (result != TZ_OK)
        result = tz_fail(ctx, result, why.cause, tz_no_location(), "%s", why.message);
    return tz_cu_leave(s, result, ctx);
}

tz_result tz_cu_decode(void *state, uint32_t queue, const tz_vendor_batch *batch,
                       const tz_context *ctx)
{
    return run_chunks(state, queue, batch, false, 0, ctx);
}

tz_result tz_cu_encode(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                       const tz_context *ctx)
{
    return run_chunks(state, queue, batch, true, algorithm_of(level), ctx);
}
