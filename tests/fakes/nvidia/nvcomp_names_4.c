/* SPDX-License-Identifier: Apache-2.0
 * The functions of nvCOMP 4.x. */
#define OPTIONS            tz_nvcomp_options4
#define ALGORITHM(options) (options).word
#include "fakes/nvidia/nvcomp_names.h"

#define FUNCTIONS(CODEC, codec)                                                                    \
    ASK_COMPRESS(CODEC, codec)                                                                     \
    DEFINE(codec, CompressGetTempSizeEx,                                                           \
           (size_t count, size_t chunk, OPTIONS options, size_t * out, size_t total))              \
    {                                                                                              \
        return nvcomp_fake_compress_temp(NAME(codec, CompressGetTempSizeEx), TZ_NVCOMP_##CODEC,    \
                                         ALGORITHM(options), count, chunk, total, out, NULL);      \
    }                                                                                              \
    DEFINE(codec, DecompressGetTempSizeEx,                                                         \
           (size_t count, size_t chunk, size_t * out, size_t total))                               \
    {                                                                                              \
        (void)chunk;                                                                               \
        return nvcomp_fake_decompress_temp(NAME(codec, DecompressGetTempSizeEx),                   \
                                           TZ_NVCOMP_##CODEC, count, total, out, NULL);            \
    }                                                                                              \
    DEFINE(codec, CompressAsync,                                                                   \
           (const void *const *in, const size_t *in_sizes, size_t chunk, size_t count, void *temp, \
            size_t temp_bytes, void *const *out, size_t *out_sizes, OPTIONS options,               \
            tz_cu_stream stream))                                                                  \
    {                                                                                              \
        return nvcomp_fake_start(NAME(codec, CompressAsync), COMPRESS_JOB(CODEC, NULL), stream);   \
    }                                                                                              \
    DEFINE(codec, DecompressAsync,                                                                 \
           (const void *const *in, const size_t *in_sizes, const size_t *room, size_t *out_sizes,  \
            size_t count, void *temp, size_t temp_bytes, void *const *out,                         \
            tz_nvcomp_status *statuses, tz_cu_stream stream))                                      \
    {                                                                                              \
        return nvcomp_fake_start(NAME(codec, DecompressAsync), DECOMPRESS_JOB(CODEC), stream);     \
    }
TZ_NVCOMP_CODECS(FUNCTIONS)
