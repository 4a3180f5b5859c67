/* SPDX-License-Identifier: Apache-2.0
 * nvCOMP, found at run time. */
#include "device/nvidia/nvcomp.h"

#include <dlfcn.h>
#include <string.h>

#include "device/device_text.h"
#include "device/dynlib.h"

/* ---- loading ---- */

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
    uint32_t first, end; /* versions */
    const tz_nvcomp_table *table;
    const tz_dynlib_symbol *symbols;
    size_t symbol_count;
    const char *others; /* a function that these versions do not have and another release does: 6.x
                           has names of 4.x with other arguments */
} nvcomp_release;

#define SYMBOLS(list) list, sizeof list / sizeof list[0]
#define EX            "nvcompBatchedDeflateCompressGetTempSizeEx"
#define ASYNC         "nvcompBatchedDeflateCompressGetTempSizeAsync"
#define PLAIN         "nvcompBatchedDeflateCompressGetTempSize"
static const nvcomp_release releases[] = {
    {4100, 5000, &tz_nvcomp_table_4, SYMBOLS(symbols_4), ASYNC},
    {5000, 6000, &tz_nvcomp_table_5, SYMBOLS(symbols_5), PLAIN},
    {6000, 7000, &tz_nvcomp_table_5, SYMBOLS(symbols_6), EX},
};

static const nvcomp_release *release_of(uint32_t version)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        if (version >= releases[i].first && version < releases[i].end)
            return &releases[i];
    }
    return NULL;
}

static bool query_version(void *handle, uint32_t *version)
{
    tz_nvcomp_get_properties get = NULL;
    tz_nvcomp_properties properties = {0, 0};
    static const tz_dynlib_symbol symbol = {"nvcompGetProperties", 0};
    if (tz_dynlib_symbols(handle, &symbol, 1, &get) || get(&properties) != 0)
        return false;
    *version = properties.version;
    return true;
}

static bool bind_release(tz_nvcomp *nvcomp, void *handle, char *reason, size_t reason_size)
{
    if (!query_version(handle, &nvcomp->version)) {
        tz_device_text(reason, reason_size, "it does not tell its version, as nvCOMP does");
        return false;
    }
    const uint32_t v = nvcomp->version;
    const nvcomp_release *r = release_of(v);
    if (!r) {
        tz_device_textf(reason, reason_size,
                        "nvCOMP %u.%u.%u is not known here: releases 4.1 to 6.x are", v / 1000,
                        v / 100 % 10, v % 100);
        return false;
    }
    const char *missing = tz_dynlib_symbols(handle, r->symbols, r->symbol_count, nvcomp);
    if (missing || dlsym(handle, r->others)) {
        tz_device_textf(reason, reason_size, "it says to be nvCOMP %u.%u.%u and %s %s", v / 1000,
                        v / 100 % 10, v % 100, missing ? "lacks" : "has",
                        missing ? missing : r->others);
        return false;
    }
    nvcomp->table = r->table;
    return true;
}

bool tz_nvcomp_load(tz_nvcomp *nvcomp, const char *library, char *reason, size_t reason_size)
{
    static const char *const names[] = {"libnvcomp.so.6", "libnvcomp.so.5", "libnvcomp.so.4",
                                        "libnvcomp.so", NULL};
    static const char *const wheels[] = {"nvidia/libnvcomp/lib64", "nvidia/nvcomp", NULL};
    memset(nvcomp, 0, sizeof *nvcomp);
    const tz_dynlib_search search = {library, "TERRAZZO_NVCOMP_LIBRARY", names, wheels};
    void *handle = tz_dynlib_find(&search, nvcomp->path, sizeof nvcomp->path, reason, reason_size);
    return handle && bind_release(nvcomp, handle, reason, reason_size);
}

/* ---- calls ---- */

const char *tz_nvcomp_status_name(tz_nvcomp_status status)
{
    switch (status) {
    case 0:
        return "Success";
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return #name;
        TZ_NVCOMP_ERRORS(CASE)
        TZ_NVCOMP_ERRORS_5_3(CASE)
#undef CASE
    default:
        return "a status that nvCOMP 6.0 does not know";
    }
}

static const char *codec_name(tz_nvcomp_codec codec)
{
    static const char *const names[] = {
#define NAME(CODEC, codec) #codec,
        TZ_NVCOMP_CODECS(NAME)
#undef NAME
    };
    return names[codec];
}

static tz_result check_nvcomp(tz_nvcomp_status status, const tz_nvcomp_batch *batch,
                              const char *function, const tz_context *ctx)
{
    if (status == 0)
        return TZ_OK;
    const bool unsupported = status == TZ_NVCOMP_NotSupported ||
                             status == TZ_NVCOMP_ChunkSizeTooLarge ||
                             status == TZ_NVCOMP_BatchSizeTooLarge;
    return tz_fail(ctx, unsupported ? TZ_ERR_UNSUPPORTED : TZ_ERR_DEVICE,
                   unsupported ? TZ_CAUSE_UNSUPPORTED : TZ_CAUSE_DEVICE, tz_no_location(),
                   "nvcompBatched%s%s of %llu chunks of up to %llu bytes: %s (%d)",
                   codec_name(batch->codec), function, (unsigned long long)batch->count,
                   (unsigned long long)batch->max_chunk, tz_nvcomp_status_name(status),
                   (int)status);
}

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

tz_result tz_nvcomp_align(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                          tz_nvcomp_alignments *out, const tz_context *ctx)
{
    return check_nvcomp(
        nvcomp->table->align(nvcomp, batch, compress, out), batch,
        compress ? "CompressGetRequiredAlignments" : "DecompressGetRequiredAlignments", ctx);
}

tz_result tz_nvcomp_temp_bytes(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                               tz_cu_stream stream, size_t *out, const tz_context *ctx)
{
    return check_nvcomp(nvcomp->table->temp_bytes(nvcomp, batch, compress, stream, out), batch,
                        compress ? "CompressGetTempSize" : "DecompressGetTempSize", ctx);
}

tz_result tz_nvcomp_max_output(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, size_t *out,
                               const tz_context *ctx)
{
    return check_nvcomp(nvcomp->table->max_output(nvcomp, batch, out), batch,
                        "CompressGetMaxOutputChunkSize", ctx);
}

tz_result tz_nvcomp_compress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                             tz_cu_stream stream, const tz_context *ctx)
{
    return check_nvcomp(nvcomp->table->compress(nvcomp, batch, stream), batch, "CompressAsync",
                        ctx);
}

tz_result tz_nvcomp_decompress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                               tz_cu_stream stream, const tz_context *ctx)
{
    return check_nvcomp(nvcomp->table->decompress(nvcomp, batch, stream), batch, "DecompressAsync",
                        ctx);
}
