/* SPDX-License-Identifier: Apache-2.0
 * The functions of nvCOMP that are used here, as lists. They name types without saying what those
 * are: nvcomp_api.h does, and a test puts the vendor's own types in their place and compares the
 * lists with the vendor's headers. */
#ifndef TZ_DEVICE_NVCOMP_CALLS_H
#define TZ_DEVICE_NVCOMP_CALLS_H

/* X(constant, as functions are called) */
#define TZ_NVCOMP_CODECS(X)                                                                        \
    X(DEFLATE, Deflate)                                                                            \
    X(ZSTD, Zstd)                                                                                  \
    X(LZ4, LZ4)

/* Of each codec: X(CODEC, codec, name after nvcompBatched and the codec, arguments). All return a
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

/* What else 5.x has */
#define TZ_NVCOMP_CALLS_5(X, CODEC, codec)                                                         \
    X(CODEC, codec, CompressGetTempSizeAsync,                                                      \
      (size_t, size_t, tz_nvcomp_##codec##Compress, size_t *, size_t))                             \
    X(CODEC, codec, DecompressGetTempSizeAsync,                                                    \
      (size_t, size_t, tz_nvcomp_##codec##Decompress, size_t *, size_t))

/* and 6.x: names that 4.x had, with other arguments */
#define TZ_NVCOMP_CALLS_6(X, CODEC, codec)                                                         \
    X(CODEC, codec, CompressGetTempSize,                                                           \
      (size_t, size_t, tz_nvcomp_##codec##Compress, size_t *, size_t, tz_cu_stream))               \
    X(CODEC, codec, DecompressGetTempSize,                                                         \
      (size_t, size_t, tz_nvcomp_##codec##Decompress, size_t *, size_t, tz_cu_stream))

/* X(name after nvcompError, value): what functions answer, and what they write of each chunk.
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

#endif
