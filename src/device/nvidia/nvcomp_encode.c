/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: batches of chunks that nvCOMP encodes, where that is asked for.
 *
 * Levels of Deflate are its algorithms, which are few: fast is 0 (no matches, and no scratch), 1 is
 * 1 (the fastest with matches), 2 and 3 are 2, 4 and 5 are 3, 6 to 8 are 4 (about zlib's 6), and 9
 * is 5, as are 10 to 12, which it does not have. ZSTD and LZ4 have no levels. */
#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

enum { MAX_DEFLATE_LEVEL = 9, ZSTD_LEVEL = 9, LZ4_LEVEL = 1 };

static int32_t algorithm_of(int32_t level)
{
    static const int32_t algorithms[MAX_DEFLATE_LEVEL + 1] = {0, 1, 2, 2, 3, 3, 4, 4, 4, 5};
    if (level < 0)
        return algorithms[0];
    return algorithms[level < MAX_DEFLATE_LEVEL ? level : MAX_DEFLATE_LEVEL];
}

/* Whether it is another than what the library does. */
static bool is_other_level(tz_nvcomp_codec codec, int32_t level)
{
    if (codec == TZ_NVCOMP_DEFLATE)
        return level > MAX_DEFLATE_LEVEL;
    return level != 0 && level != (codec == TZ_NVCOMP_ZSTD ? ZSTD_LEVEL : LZ4_LEVEL);
}

/* Of one chunk and of some: what grows with each, and the rest. A batch asks for itself, and is not
 * for nvCOMP should this be too little. */
static tz_result query_encode_scratch(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *asked,
                                      tz_cu_stream stream, tz_vendor_encoder *out,
                                      const tz_context *ctx)
{
    enum { SOME = 16 };
    tz_nvcomp_batch batch = *asked;
    size_t of_one = 0, of_some = 0;
    batch.count = 1;
    batch.total = batch.max_chunk;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &batch, true, stream, &of_one, ctx));
    /* more is refused by some algorithms */
    batch.count = batch.max_chunk <= INT32_MAX / SOME ? SOME : 1;
    batch.total = batch.count * batch.max_chunk;
    TZ_TRY(tz_nvcomp_temp_bytes(nvcomp, &batch, true, stream, &of_some, ctx));
    out->temp_per_tile = tz_ceil_div(of_some, batch.count);
    out->temp = of_one > out->temp_per_tile ? of_one - out->temp_per_tile : 0;
    return TZ_OK;
}

static tz_result query_encoder(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                               tz_cu_stream stream, tz_vendor_encoder *out, const tz_context *ctx)
{
    tz_nvcomp_alignments is = {0, 0, 0};
    size_t capacity = 0;
    TZ_TRY(tz_nvcomp_align(nvcomp, batch, true, &is, ctx));
    TZ_TRY(tz_nvcomp_max_output(nvcomp, batch, &capacity, ctx));
    TZ_TRY(query_encode_scratch(nvcomp, batch, stream, out, ctx));
    out->input_alignment = (uint32_t)is.input;
    out->output_alignment = (uint32_t)is.output;
    out->capacity = capacity;
    return TZ_OK;
}

bool tz_cu_find_encoder(void *state, uint16_t compression, int32_t level, uint64_t max_chunk,
                        tz_vendor_encoder *out)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    tz_nvcomp_batch batch = {.algorithm = algorithm_of(level), .max_chunk = (size_t)max_chunk};
    *out = (tz_vendor_encoder){.name = ""};
    const tz_nvcomp *nvcomp = tz_cu_find_codec(s, compression, &batch.codec);
    if (!nvcomp) {
        tz_vendor_decoder off;
        (void)tz_cu_find_decoder(s, compression, &off);
        tz_device_text(out->reason, sizeof out->reason, off.reason);
        return false;
    }
    out->max_chunk = tz_nvcomp_max_chunk(nvcomp, batch.codec, true);
    out->other_level = is_other_level(batch.codec, level);
    if (max_chunk <= out->max_chunk) {
        if (tz_cu_enter(s, &quiet) != TZ_OK ||
            tz_cu_leave(s, query_encoder(nvcomp, &batch, s->queues[0], out, &quiet), &quiet) !=
                TZ_OK)
            return false;
    }
    tz_cu_nvcomp_version(nvcomp, out->name, sizeof out->name);
    return max_chunk <= out->max_chunk;
}

tz_result tz_cu_encode(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                       const tz_context *ctx)
{
    const tz_cu_direction how = {.compress = true, .algorithm = algorithm_of(level)};
    return tz_cu_run_chunks(state, queue, batch, how, ctx);
}
