/* SPDX-License-Identifier: Apache-2.0
 * The functions of nvCOMP's releases behind one table each. */
#include "device/nvidia/nvcomp.h"

static void *pointer_to(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* ---- 4.1 and 4.2 ---- */

static tz_nvcomp_options4 options4(const tz_nvcomp_batch *b)
{
    return (tz_nvcomp_options4){b->codec == TZ_NVCOMP_DEFLATE ? b->algorithm : 0};
}

static tz_nvcomp_status align4(const tz_nvcomp *n, const tz_nvcomp_batch *b, bool compress,
                               tz_nvcomp_alignments *out)
{
    /* constants of its headers: there is no function to ask */
    static const tz_nvcomp_alignments decompress[TZ_NVCOMP_CODEC_COUNT] = {
        [TZ_NVCOMP_DEFLATE] = {4, 1, 1}, [TZ_NVCOMP_ZSTD] = {1, 1, 8}, [TZ_NVCOMP_LZ4] = {1, 1, 1}};
    if (compress)
        return n->calls.v4[b->codec].CompressGetRequiredAlignments(options4(b), out);
    *out = decompress[b->codec];
    return 0;
}

static tz_nvcomp_status temp_bytes4(const tz_nvcomp *n, const tz_nvcomp_batch *b, bool compress,
                                    tz_cu_stream stream, size_t *out)
{
    (void)stream;
    const tz_nvcomp_calls4 *calls = &n->calls.v4[b->codec];
    return compress
               ? calls->CompressGetTempSizeEx(b->count, b->max_chunk, options4(b), out, b->total)
               : calls->DecompressGetTempSizeEx(b->count, b->max_chunk, out, b->total);
}

static tz_nvcomp_status max_output4(const tz_nvcomp *n, const tz_nvcomp_batch *b, size_t *out)
{
    return n->calls.v4[b->codec].CompressGetMaxOutputChunkSize(b->max_chunk, options4(b), out);
}

static tz_nvcomp_status compress4(const tz_nvcomp *n, const tz_nvcomp_batch *b, tz_cu_stream stream)
{
    return n->calls.v4[b->codec].CompressAsync(
        pointer_to(b->in), pointer_to(b->in_sizes), b->max_chunk, b->count, pointer_to(b->temp),
        b->temp_bytes, pointer_to(b->out), pointer_to(b->out_sizes), options4(b), stream);
}

static tz_nvcomp_status decompress4(const tz_nvcomp *n, const tz_nvcomp_batch *b,
                                    tz_cu_stream stream)
{
    return n->calls.v4[b->codec].DecompressAsync(
        pointer_to(b->in), pointer_to(b->in_sizes), pointer_to(b->capacity),
        pointer_to(b->out_sizes), b->count, pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
        pointer_to(b->statuses), stream);
}

const tz_nvcomp_table tz_nvcomp_table_4 = {align4, temp_bytes4, max_output4, compress4,
                                           decompress4};

/* ---- 5.x and 6.x ---- */

static const tz_nvcomp_options no_options;

static tz_nvcomp_options options5(const tz_nvcomp_batch *b)
{
    tz_nvcomp_options options = no_options;
    if (b->codec == TZ_NVCOMP_DEFLATE)
        options.words[TZ_NVCOMP_ALGORITHM_WORD] = b->algorithm;
    return options;
}

static tz_nvcomp_status align5(const tz_nvcomp *n, const tz_nvcomp_batch *b, bool compress,
                               tz_nvcomp_alignments *out)
{
    const tz_nvcomp_calls5 *calls = &n->calls.v5[b->codec];
    return compress ? calls->CompressGetRequiredAlignments(options5(b), out)
                    : calls->DecompressGetRequiredAlignments(no_options, out);
}

static tz_nvcomp_status temp_bytes5(const tz_nvcomp *n, const tz_nvcomp_batch *b, bool compress,
                                    tz_cu_stream stream, size_t *out)
{
    const tz_nvcomp_calls5 *calls = &n->calls.v5[b->codec];
    const bool v6 = calls->CompressGetTempSize;
    if (compress)
        return v6 ? calls->CompressGetTempSize(b->count, b->max_chunk, options5(b), out, b->total,
                                               stream)
                  : calls->CompressGetTempSizeAsync(b->count, b->max_chunk, options5(b), out,
                                                    b->total);
    return v6 ? calls->DecompressGetTempSize(b->count, b->max_chunk, no_options, out, b->total,
                                             stream)
              : calls->DecompressGetTempSizeAsync(b->count, b->max_chunk, no_options, out,
                                                  b->total);
}

static tz_nvcomp_status max_output5(const tz_nvcomp *n, const tz_nvcomp_batch *b, size_t *out)
{
    return n->calls.v5[b->codec].CompressGetMaxOutputChunkSize(b->max_chunk, options5(b), out);
}

static tz_nvcomp_status compress5(const tz_nvcomp *n, const tz_nvcomp_batch *b, tz_cu_stream stream)
{
    return n->calls.v5[b->codec].CompressAsync(
        pointer_to(b->in), pointer_to(b->in_sizes), b->max_chunk, b->count, pointer_to(b->temp),
        b->temp_bytes, pointer_to(b->out), pointer_to(b->out_sizes), options5(b),
        pointer_to(b->statuses), stream);
}

static tz_nvcomp_status decompress5(const tz_nvcomp *n, const tz_nvcomp_batch *b,
                                    tz_cu_stream stream)
{
    return n->calls.v5[b->codec].DecompressAsync(
        pointer_to(b->in), pointer_to(b->in_sizes), pointer_to(b->capacity),
        pointer_to(b->out_sizes), b->count, pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
        no_options, pointer_to(b->statuses), stream);
}

const tz_nvcomp_table tz_nvcomp_table_5 = {align5, temp_bytes5, max_output5, compress5,
                                           decompress5};
