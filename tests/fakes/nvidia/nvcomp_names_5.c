/* SPDX-License-Identifier: Apache-2.0
 * The functions of nvCOMP 5.x and 6.x. */
#define OPTIONS            tz_nvcomp_options
#define ALGORITHM(options) (options).words[TZ_NVCOMP_ALGORITHM_WORD]
#include "fakes/nvidia/nvcomp_names.h"

#define FUNCTIONS(CODEC, codec)                                                                    \
    ASK_COMPRESS(CODEC, codec)                                                                     \
    DEFINE(codec, DecompressGetRequiredAlignments, (OPTIONS options, tz_nvcomp_alignments * out))  \
    {                                                                                              \
        (void)options;                                                                             \
        return nvcomp_fake_align(NAME(codec, DecompressGetRequiredAlignments), TZ_NVCOMP_##CODEC,  \
                                 false, 0, out);                                                   \
    }                                                                                              \
    DEFINE(codec, CompressAsync,                                                                   \
           (const void *const *in, const size_t *in_sizes, size_t chunk, size_t count, void *temp, \
            size_t temp_bytes, void *const *out, size_t *out_sizes, OPTIONS options,               \
            tz_nvcomp_status *statuses, tz_cu_stream stream))                                      \
    {                                                                                              \
        return nvcomp_fake_start(NAME(codec, CompressAsync), COMPRESS_JOB(CODEC, statuses),        \
                                 stream);                                                          \
    }                                                                                              \
    DEFINE(codec, DecompressAsync,                                                                 \
           (const void *const *in, const size_t *in_sizes, const size_t *room, size_t *out_sizes,  \
            size_t count, void *temp, size_t temp_bytes, void *const *out, OPTIONS options,        \
            tz_nvcomp_status *statuses, tz_cu_stream stream))                                      \
    {                                                                                              \
        (void)options;                                                                             \
        return nvcomp_fake_start(NAME(codec, DecompressAsync), DECOMPRESS_JOB(CODEC), stream);     \
    }
TZ_NVCOMP_CODECS(FUNCTIONS)

#if MAJOR == 5
#define SIZES(CODEC, codec)                                                                        \
    DEFINE(codec, CompressGetTempSizeAsync,                                                        \
           (size_t count, size_t chunk, OPTIONS options, size_t * out, size_t total))              \
    {                                                                                              \
        return nvcomp_fake_compress_temp(NAME(codec, CompressGetTempSizeAsync), TZ_NVCOMP_##CODEC, \
                                         ALGORITHM(options), count, chunk, total, out, NULL);      \
    }                                                                                              \
    DEFINE(codec, DecompressGetTempSizeAsync,                                                      \
           (size_t count, size_t chunk, OPTIONS options, size_t * out, size_t total))              \
    {                                                                                              \
        (void)chunk;                                                                               \
        (void)options;                                                                             \
        return nvcomp_fake_decompress_temp(NAME(codec, DecompressGetTempSizeAsync),                \
                                           TZ_NVCOMP_##CODEC, count, total, out, NULL);            \
    }
#else
#define SIZES(CODEC, codec)                                                                        \
    DEFINE(codec, CompressGetTempSize,                                                             \
           (size_t count, size_t chunk, OPTIONS options, size_t * out, size_t total,               \
            tz_cu_stream stream))                                                                  \
    {                                                                                              \
        return nvcomp_fake_compress_temp(NAME(codec, CompressGetTempSize), TZ_NVCOMP_##CODEC,      \
                                         ALGORITHM(options), count, chunk, total, out, stream);    \
    }                                                                                              \
    DEFINE(codec, DecompressGetTempSize,                                                           \
           (size_t count, size_t chunk, OPTIONS options, size_t * out, size_t total,               \
            tz_cu_stream stream))                                                                  \
    {                                                                                              \
        (void)chunk;                                                                               \
        (void)options;                                                                             \
        return nvcomp_fake_decompress_temp(NAME(codec, DecompressGetTempSize), TZ_NVCOMP_##CODEC,  \
                                           count, total, out, stream);                             \
    }
#endif
TZ_NVCOMP_CODECS(SIZES)
