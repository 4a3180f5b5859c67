/* SPDX-License-Identifier: Apache-2.0
 * One interface to nvCOMP's releases. Every major release changed the functions of the last:
 * 4.x passes options of 4 bytes and has no function for the alignments of decompression; 5.x passes
 * 64 bytes by value and reports a status for each compressed chunk; 6.x asks for the stream when
 * the size of scratch is queried.
 *
 * A release is a row: its range of versions and its symbols. Binding reads the version first and
 * then takes the row, because names alone do not identify a release: 6.x has names of 4.x with
 * other arguments. So a library must have all symbols of the release that it claims to be, and must
 * not have one symbol that only another release has. The five calls at the end translate a
 * tz_nvcomp_batch to the functions of the release, and a status to an error. */
#include "device/nvidia/nvcomp.h"

#include <dlfcn.h>

#include "device/device_text.h"

/* ---- releases ---- */

enum { FIRST_5 = 5000, FIRST_6 = 6000 };

#define SYMBOL_OF(version, CODEC, codec, name)                                                     \
    {"nvcompBatched" #codec #name, offsetof(tz_nvcomp, calls.version[TZ_NVCOMP_##CODEC].name)},
#define SYMBOL_4(CODEC, codec, name, arguments) SYMBOL_OF(v4, CODEC, codec, name)
#define SYMBOL_5(CODEC, codec, name, arguments) SYMBOL_OF(v5, CODEC, codec, name)
#define LIST_4(CODEC, codec)                    TZ_NVCOMP_CALLS_4(SYMBOL_4, CODEC, codec)
#define LIST_5(CODEC, codec)                                                                       \
    TZ_NVCOMP_CALLS_5_6(SYMBOL_5, CODEC, codec) TZ_NVCOMP_CALLS_5(SYMBOL_5, CODEC, codec)
#define LIST_6(CODEC, codec)                                                                       \
    TZ_NVCOMP_CALLS_5_6(SYMBOL_5, CODEC, codec) TZ_NVCOMP_CALLS_6(SYMBOL_5, CODEC, codec)
static const tz_dynlib_symbol symbols_4[] = {TZ_NVCOMP_CODECS(LIST_4)};
static const tz_dynlib_symbol symbols_5[] = {TZ_NVCOMP_CODECS(LIST_5)};
static const tz_dynlib_symbol symbols_6[] = {TZ_NVCOMP_CODECS(LIST_6)};

typedef struct nvcomp_release {
    uint32_t first, end; /* versions, up to and without end */
    const tz_dynlib_symbol *symbols;
    size_t symbol_count;
    const char *others; /* a function that only another release has */
} nvcomp_release;

#define SYMBOLS(list) list, sizeof list / sizeof list[0]
#define EX            "nvcompBatchedDeflateCompressGetTempSizeEx"
#define ASYNC         "nvcompBatchedDeflateCompressGetTempSizeAsync"
#define PLAIN         "nvcompBatchedDeflateCompressGetTempSize"
static const nvcomp_release releases[] = {
    {4100, FIRST_5, SYMBOLS(symbols_4), ASYNC},
    {FIRST_5, FIRST_6, SYMBOLS(symbols_5), PLAIN},
    {FIRST_6, 7000, SYMBOLS(symbols_6), EX},
};

bool tz_nvcomp_bind(void *handle, void *functions, uint32_t version[3], char *reason,
                    size_t reason_size)
{
    static const tz_dynlib_symbol symbol = {"nvcompGetProperties", 0};
    tz_nvcomp *nvcomp = functions;
    tz_nvcomp_get_properties get = NULL;
    tz_nvcomp_properties properties = {0, 0};
    if (tz_dynlib_symbols(handle, &symbol, 1, &get) || get(&properties) != 0) {
        tz_device_text(reason, reason_size, "it does not report its version, as nvCOMP does");
        return false;
    }
    nvcomp->version = properties.version;
    version[0] = properties.version / 1000;
    version[1] = properties.version / 100 % 10;
    version[2] = properties.version % 100;

    const nvcomp_release *r = NULL;
    for (size_t i = 0; i < sizeof releases / sizeof releases[0] && !r; i++) {
        if (nvcomp->version >= releases[i].first && nvcomp->version < releases[i].end)
            r = &releases[i];
    }
    if (!r) {
        tz_device_textf(reason, reason_size,
                        "nvCOMP %u.%u.%u is not known here: releases 4.1 to 6.x are", version[0],
                        version[1], version[2]);
        return false;
    }
    const char *missing = tz_dynlib_symbols(handle, r->symbols, r->symbol_count, nvcomp);
    if (missing || dlsym(handle, r->others)) {
        tz_device_textf(reason, reason_size, "it claims to be nvCOMP %u.%u.%u and %s %s",
                        version[0], version[1], version[2], missing ? "lacks" : "has",
                        missing ? missing : r->others);
        return false;
    }
    nvcomp->is_bound = true;
    return true;
}

/* ---- statuses and limits ---- */

const char *tz_nvcomp_status_name(tz_nvcomp_status status)
{
    switch (status) {
    case 0:
        return "Success";
        TZ_NVCOMP_ERRORS(TZ_CASE_NAME)
        TZ_NVCOMP_ERRORS_5_3(TZ_CASE_NAME)
    default:
        return "a status that nvCOMP 6.0 does not know";
    }
}

/* Returns TZ_OK or an error such as "nvcompBatchedZstdDecompressAsync of 3 chunks of up to 65536
 * bytes: CannotDecompress (12)". */
static tz_result check_nvcomp(tz_nvcomp_status status, const tz_nvcomp_batch *batch,
                              const char *function, const tz_context *ctx)
{
    static const char *const codec_names[] = {
#define NAME(CODEC, codec) #codec,
        TZ_NVCOMP_CODECS(NAME)
#undef NAME
    };
    if (status == 0)
        return TZ_OK;
    const bool unsupported = status == TZ_NVCOMP_NotSupported ||
                             status == TZ_NVCOMP_ChunkSizeTooLarge ||
                             status == TZ_NVCOMP_BatchSizeTooLarge;
    return tz_fail(ctx, unsupported ? TZ_ERR_UNSUPPORTED : TZ_ERR_DEVICE,
                   unsupported ? TZ_CAUSE_UNSUPPORTED : TZ_CAUSE_DEVICE, tz_no_location(),
                   "nvcompBatched%s%s of %llu chunks of up to %llu bytes: %s (%d)",
                   codec_names[batch->codec], function, (unsigned long long)batch->count,
                   (unsigned long long)batch->max_chunk, tz_nvcomp_status_name(status),
                   (int)status);
}

/* Limits of its headers. Before 4.2, Deflate compressed chunks of 64 KiB at most. */
size_t tz_nvcomp_max_chunk(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, bool compress)
{
    static const size_t decompressed[] = {[TZ_NVCOMP_DEFLATE] = 0xffffffff,
                                          [TZ_NVCOMP_ZSTD] = 0x7fffffff,
                                          [TZ_NVCOMP_LZ4] = 0xffffffff};
    static const size_t compressed[] = {[TZ_NVCOMP_DEFLATE] = 0x80000000,
                                        [TZ_NVCOMP_ZSTD] = 0x7fffffff,
                                        [TZ_NVCOMP_LZ4] = 0x1000000};
    if (!compress)
        return decompressed[codec];
    if (codec == TZ_NVCOMP_DEFLATE && nvcomp->version < 4200)
        return 0x10000;
    return compressed[codec];
}

/* ---- calls ---- */

static const tz_nvcomp_options no_options;

/* Options of a batch, to compress; Deflate alone has one. Those to decompress are all zeros. */
static tz_nvcomp_options4 options4(const tz_nvcomp_batch *b)
{
    return (tz_nvcomp_options4){b->codec == TZ_NVCOMP_DEFLATE ? b->algorithm : 0};
}

/* 5.x and 6.x. */
static tz_nvcomp_options options5(const tz_nvcomp_batch *b)
{
    tz_nvcomp_options options = no_options;
    options.words[TZ_NVCOMP_ALGORITHM_WORD] = options4(b).word;
    return options;
}

static void *pointer_to(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

tz_result tz_nvcomp_align(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *b, bool compress,
                          tz_nvcomp_alignments *out, const tz_context *ctx)
{
    /* constants of the headers of 4.x, which has no function for them */
    static const tz_nvcomp_alignments decompress4[TZ_NVCOMP_CODEC_COUNT] = {
        [TZ_NVCOMP_DEFLATE] = {4, 1, 1}, [TZ_NVCOMP_ZSTD] = {1, 1, 8}, [TZ_NVCOMP_LZ4] = {1, 1, 1}};
    const tz_nvcomp_calls4 *v4 = &nvcomp->calls.v4[b->codec];
    const tz_nvcomp_calls5 *v5 = &nvcomp->calls.v5[b->codec];
    const bool is_4 = nvcomp->version < FIRST_5;
    if (is_4 && !compress) {
        *out = decompress4[b->codec];
        return TZ_OK;
    }
    const tz_nvcomp_status status = is_4 ? v4->CompressGetRequiredAlignments(options4(b), out)
                                    : compress
                                        ? v5->CompressGetRequiredAlignments(options5(b), out)
                                        : v5->DecompressGetRequiredAlignments(no_options, out);
    return check_nvcomp(
        status, b, compress ? "CompressGetRequiredAlignments" : "DecompressGetRequiredAlignments",
        ctx);
}

tz_result tz_nvcomp_temp_bytes(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *b, bool compress,
                               tz_cu_stream stream, size_t *out, const tz_context *ctx)
{
    const tz_nvcomp_calls4 *v4 = &nvcomp->calls.v4[b->codec];
    const tz_nvcomp_calls5 *v5 = &nvcomp->calls.v5[b->codec];
    const size_t count = b->count, chunk = b->max_chunk, total = b->total;
    tz_nvcomp_status status;
    if (nvcomp->version < FIRST_5)
        status = compress ? v4->CompressGetTempSizeEx(count, chunk, options4(b), out, total)
                          : v4->DecompressGetTempSizeEx(count, chunk, out, total);
    else if (nvcomp->version < FIRST_6)
        status = compress ? v5->CompressGetTempSizeAsync(count, chunk, options5(b), out, total)
                          : v5->DecompressGetTempSizeAsync(count, chunk, no_options, out, total);
    else
        status = compress ? v5->CompressGetTempSize(count, chunk, options5(b), out, total, stream)
                          : v5->DecompressGetTempSize(count, chunk, no_options, out, total, stream);
    return check_nvcomp(status, b, compress ? "CompressGetTempSize" : "DecompressGetTempSize", ctx);
}

tz_result tz_nvcomp_max_output(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *b, size_t *out,
                               const tz_context *ctx)
{
    const tz_nvcomp_calls4 *v4 = &nvcomp->calls.v4[b->codec];
    const tz_nvcomp_calls5 *v5 = &nvcomp->calls.v5[b->codec];
    const tz_nvcomp_status status =
        nvcomp->version < FIRST_5
            ? v4->CompressGetMaxOutputChunkSize(b->max_chunk, options4(b), out)
            : v5->CompressGetMaxOutputChunkSize(b->max_chunk, options5(b), out);
    return check_nvcomp(status, b, "CompressGetMaxOutputChunkSize", ctx);
}

tz_result tz_nvcomp_compress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *b, tz_cu_stream stream,
                             const tz_context *ctx)
{
    const tz_nvcomp_calls4 *v4 = &nvcomp->calls.v4[b->codec];
    const tz_nvcomp_calls5 *v5 = &nvcomp->calls.v5[b->codec];
    const tz_nvcomp_status status =
        nvcomp->version < FIRST_5
            ? v4->CompressAsync(pointer_to(b->in), pointer_to(b->in_sizes), b->max_chunk, b->count,
                                pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
                                pointer_to(b->out_sizes), options4(b), stream)
            : v5->CompressAsync(pointer_to(b->in), pointer_to(b->in_sizes), b->max_chunk, b->count,
                                pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
                                pointer_to(b->out_sizes), options5(b), pointer_to(b->statuses),
                                stream);
    return check_nvcomp(status, b, "CompressAsync", ctx);
}

tz_result tz_nvcomp_decompress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *b,
                               tz_cu_stream stream, const tz_context *ctx)
{
    const tz_nvcomp_calls4 *v4 = &nvcomp->calls.v4[b->codec];
    const tz_nvcomp_calls5 *v5 = &nvcomp->calls.v5[b->codec];
    const tz_nvcomp_status status =
        nvcomp->version < FIRST_5
            ? v4->DecompressAsync(pointer_to(b->in), pointer_to(b->in_sizes),
                                  pointer_to(b->capacity), pointer_to(b->out_sizes), b->count,
                                  pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
                                  pointer_to(b->statuses), stream)
            : v5->DecompressAsync(pointer_to(b->in), pointer_to(b->in_sizes),
                                  pointer_to(b->capacity), pointer_to(b->out_sizes), b->count,
                                  pointer_to(b->temp), b->temp_bytes, pointer_to(b->out),
                                  no_options, pointer_to(b->statuses), stream);
    return check_nvcomp(status, b, "DecompressAsync", ctx);
}
