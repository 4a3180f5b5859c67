/* SPDX-License-Identifier: Apache-2.0
 * The types of nvCOMP's batched interface, declared by ourselves so that nothing has to be
 * installed to build. tests/check_nvidia.py compares all of this with the vendor's headers. */
#ifndef TZ_DEVICE_NVIDIA_NVCOMP_API_H
#define TZ_DEVICE_NVIDIA_NVCOMP_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct CUstream_st *tz_cu_stream;

/* X(constant, as functions are called) */
#define TZ_NVCOMP_CODECS(X)                                                                        \
    X(DEFLATE, Deflate)                                                                            \
    X(ZSTD, Zstd)                                                                                  \
    X(LZ4, LZ4)

/* For each codec: X(CODEC, codec, name after nvcompBatched and the codec, arguments). All return a
 * tz_nvcomp_status. Options are passed by value: 64 bytes from 5.0 on, 4 bytes before. */

/* 4.1 and 4.2 */
#define TZ_NVCOMP_CALLS_4(X, CODEC, codec)                                                         \
    X(CODEC, codec, CompressGetRequiredAlignments,                                                 \
      (tz_nvcomp_##codec##Options, tz_nvcomp_alignments *))                                        \
    X(CODEC, codec, CompressGetTempSizeEx,                                                         \
      (size_t, size_t, tz_nvcomp_##codec##Options, size_t *, size_t))                              \
    X(CODEC, codec, CompressGetMaxOutputChunkSize, (size_t, tz_nvcomp_##codec##Options, size_t *)) \
    X(CODEC, codec, CompressAsync,                                                                 \
      (const void *const *, const size_t *, size_t, size_t, void *, size_t, void *const *,         \
       size_t *, tz_nvcomp_##codec##Options, tz_cu_stream))                                        \
    X(CODEC, codec, DecompressGetTempSizeEx, (size_t, size_t, size_t *, size_t))                   \
    X(CODEC, codec, DecompressAsync,                                                               \
      (const void *const *, const size_t *, const size_t *, size_t *, size_t, void *, size_t,      \
       void *const *, tz_nvcomp_status *, tz_cu_stream))

/* 5.x and 6.x */
#define TZ_NVCOMP_CALLS_5_6(X, CODEC, codec)                                                       \
    X(CODEC, codec, CompressGetRequiredAlignments,                                                 \
      (tz_nvcomp_##codec##Compress, tz_nvcomp_alignments *))                                       \
    X(CODEC, codec, CompressGetMaxOutputChunkSize,                                                 \
      (size_t, tz_nvcomp_##codec##Compress, size_t *))                                             \
    X(CODEC, codec, CompressAsync,                                                                 \
      (const void *const *, const size_t *, size_t, size_t, void *, size_t, void *const *,         \
       size_t *, tz_nvcomp_##codec##Compress, tz_nvcomp_status *, tz_cu_stream))                   \
    X(CODEC, codec, DecompressGetRequiredAlignments,                                               \
      (tz_nvcomp_##codec##Decompress, tz_nvcomp_alignments *))                                     \
    X(CODEC, codec, DecompressAsync,                                                               \
      (const void *const *, const size_t *, const size_t *, size_t *, size_t, void *, size_t,      \
       void *const *, tz_nvcomp_##codec##Decompress, tz_nvcomp_status *, tz_cu_stream))

/* 5.x only */
#define TZ_NVCOMP_CALLS_5(X, CODEC, codec)                                                         \
    X(CODEC, codec, CompressGetTempSizeAsync,                                                      \
      (size_t, size_t, tz_nvcomp_##codec##Compress, size_t *, size_t))                             \
    X(CODEC, codec, DecompressGetTempSizeAsync,                                                    \
      (size_t, size_t, tz_nvcomp_##codec##Decompress, size_t *, size_t))

/* 6.x only: names that 4.x had, with other arguments */
#define TZ_NVCOMP_CALLS_6(X, CODEC, codec)                                                         \
    X(CODEC, codec, CompressGetTempSize,                                                           \
      (size_t, size_t, tz_nvcomp_##codec##Compress, size_t *, size_t, tz_cu_stream))               \
    X(CODEC, codec, DecompressGetTempSize,                                                         \
      (size_t, size_t, tz_nvcomp_##codec##Decompress, size_t *, size_t, tz_cu_stream))

/* X(name after nvcompError, value): results of functions, and statuses of chunks.
 * Releases before 5.3 do not have all of them. */
#define TZ_NVCOMP_ERRORS(X)                                                                        \
    X(InvalidValue, 10)                                                                            \
    X(NotSupported, 11)                                                                            \
    X(CannotDecompress, 12)                                                                        \
    X(BadChecksum, 13)                                                                             \
    X(CannotVerifyChecksums, 14)                                                                   \
    X(OutputBufferTooSmall, 15)                                                                    \
    X(WrongHeaderLength, 16)                                                                       \
    X(Alignment, 17)                                                                               \
    X(ChunkSizeTooLarge, 18)                                                                       \
    X(CudaError, 1000)                                                                             \
    X(Internal, 10000)
#define TZ_NVCOMP_ERRORS_5_3(X)                                                                    \
    X(CannotCompress, 19)                                                                          \
    X(WrongInputLength, 20)                                                                        \
    X(BatchSizeTooLarge, 21)                                                                       \
    X(SubChunkCountTooLarge, 22)                                                                   \
    X(SubChunkCountTooSmall, 23)                                                                   \
    X(OutputBufferAlignmentTooSmall, 24)

typedef int32_t tz_nvcomp_status; /* 0: success; else one of: */
enum {
#define TZ_NVCOMP_ERROR(name, number) TZ_NVCOMP_##name = (number),
    TZ_NVCOMP_ERRORS(TZ_NVCOMP_ERROR) TZ_NVCOMP_ERRORS_5_3(TZ_NVCOMP_ERROR)
#undef TZ_NVCOMP_ERROR
};

typedef struct tz_nvcomp_properties {
    uint32_t version;        /* 1000 * major + 100 * minor + patch */
    uint32_t cudart_version; /* of the runtime inside */
} tz_nvcomp_properties;
typedef tz_nvcomp_status (*tz_nvcomp_get_properties)(tz_nvcomp_properties *);

/* Alignment of chunks and of scratch, in bytes: powers of two. */
typedef struct tz_nvcomp_alignments {
    size_t input;
    size_t output;
    size_t temp;
} tz_nvcomp_alignments;

/* All structures of options have one size, and are passed in the same way, with any content. So
 * one type serves all; words that are not named below are 0. */
typedef struct tz_nvcomp_options {
    int32_t words[16];
} tz_nvcomp_options;
#define TZ_NVCOMP_ALGORITHM_WORD 0 /* Deflate, while compressing: 0 to 5 */

typedef struct tz_nvcomp_options4 {
    int32_t word; /* Deflate: the algorithm; others: 0 */
} tz_nvcomp_options4;

#define TZ_NVCOMP_OPTION_TYPES(CODEC, codec)                                                       \
    typedef tz_nvcomp_options4 tz_nvcomp_##codec##Options;                                         \
    typedef tz_nvcomp_options tz_nvcomp_##codec##Compress;                                         \
    typedef tz_nvcomp_options tz_nvcomp_##codec##Decompress;
TZ_NVCOMP_CODECS(TZ_NVCOMP_OPTION_TYPES)
#undef TZ_NVCOMP_OPTION_TYPES

typedef enum tz_nvcomp_codec {
#define TZ_NVCOMP_CONSTANT(CODEC, codec) TZ_NVCOMP_##CODEC,
    TZ_NVCOMP_CODECS(TZ_NVCOMP_CONSTANT)
#undef TZ_NVCOMP_CONSTANT
        TZ_NVCOMP_CODEC_COUNT
} tz_nvcomp_codec;

/* The functions of one codec: all have the types of Deflate's. */
#define TZ_NVCOMP_MEMBER(CODEC, codec, name, arguments) tz_nvcomp_status(*name) arguments;
typedef struct tz_nvcomp_calls4 {
    TZ_NVCOMP_CALLS_4(TZ_NVCOMP_MEMBER, DEFLATE, Deflate)
} tz_nvcomp_calls4;
typedef struct tz_nvcomp_calls5 {
    TZ_NVCOMP_CALLS_5_6(TZ_NVCOMP_MEMBER, DEFLATE, Deflate)
    TZ_NVCOMP_CALLS_5(TZ_NVCOMP_MEMBER, DEFLATE, Deflate) /* NULL with 6.x */
    TZ_NVCOMP_CALLS_6(TZ_NVCOMP_MEMBER, DEFLATE, Deflate) /* NULL with 5.x */
} tz_nvcomp_calls5;
#undef TZ_NVCOMP_MEMBER

#endif
