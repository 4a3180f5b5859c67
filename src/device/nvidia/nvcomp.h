/* SPDX-License-Identifier: Apache-2.0
 * nvCOMP: Deflate (raw, without zlib's frame), ZSTD and LZ4 (blocks, not frames) of whole batches
 * of chunks on a CUDA device. One interface over the releases 4.1 to 6.x, whose functions differ.
 *
 * nvCOMP decodes valid chunks and notices most invalid ones, not all: the caller compares sizes and
 * checksums. The device's context must be current. Any thread may call. */
#ifndef TZ_DEVICE_NVIDIA_NVCOMP_H
#define TZ_DEVICE_NVIDIA_NVCOMP_H

#include <stdbool.h>

#include "base/error.h"
#include "device/dynlib.h"
#include "device/nvidia/nvcomp_api.h"

typedef struct tz_nvcomp {
    tz_dynlib_info info;
    uint32_t version; /* 5300 is 5.3.0 */
    bool is_bound;    /* the functions of this version are set; else nvCOMP cannot be used */
    union {
        tz_nvcomp_calls4 v4[TZ_NVCOMP_CODEC_COUNT];
        tz_nvcomp_calls5 v5[TZ_NVCOMP_CODEC_COUNT];
    } calls;
} tz_nvcomp;

/* bind of its row in nvidia_libraries.c; functions is a tz_nvcomp. */
bool tz_nvcomp_bind(void *handle, void *functions, uint32_t version[3], char *reason,
                    size_t reason_size);

/* A batch, in one direction. All addresses are of memory that the device reaches: those of the
 * arrays, and those of the chunks, which in and out hold. Each array has count elements. The memory
 * must stay until the stream has done the work. */
typedef struct tz_nvcomp_batch {
    tz_nvcomp_codec codec;
    int32_t algorithm; /* Deflate, compressing: 0 (fast) to 5 (small); else unused */
    size_t count;      /* chunks, none of them empty; not 0 */
    size_t max_chunk;  /* bytes of the largest chunk, not compressed */
    size_t total;      /* bytes of all chunks, not compressed */
    uint64_t in;       /* array of addresses, by the alignment of input */
    uint64_t in_sizes; /* array of size_t */
    uint64_t out;      /* array of addresses, by the alignment of output */
    /* Array of size_t, only to decompress: bytes for each chunk. To compress, each chunk has
     * tz_nvcomp_max_output bytes. */
    uint64_t capacity;
    uint64_t out_sizes; /* array of size_t: becomes the bytes of each chunk */
    /* Array of tz_nvcomp_status: becomes that of each chunk. 4.x writes none while compressing: set
     * them to 0 before. */
    uint64_t statuses;
    uint64_t temp; /* scratch, by its alignment; 0: none is needed */
    size_t temp_bytes;
} tz_nvcomp_batch;

/* Bytes of the largest chunk, not compressed, that nvCOMP accepts. */
size_t tz_nvcomp_max_chunk(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, bool compress);

/* Alignments for batches with this codec and, to compress, this algorithm. */
tz_result tz_nvcomp_align(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                          tz_nvcomp_alignments *out, const tz_context *ctx);
/* Bytes of scratch for a batch of this codec, algorithm, count, max_chunk and total. */
tz_result tz_nvcomp_temp_bytes(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                               tz_cu_stream stream, size_t *out, const tz_context *ctx);
/* Bytes to reserve for each compressed chunk of a batch of this codec, algorithm and max_chunk. */
tz_result tz_nvcomp_max_output(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, size_t *out,
                               const tz_context *ctx);

/* These return before the work is done. A batch that nvCOMP does not support (TZ_ERR_UNSUPPORTED)
 * has changed nothing; every other status is TZ_ERR_DEVICE, though the fault may be nvCOMP's own.
 */
tz_result tz_nvcomp_compress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                             tz_cu_stream stream, const tz_context *ctx);
tz_result tz_nvcomp_decompress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                               tz_cu_stream stream, const tz_context *ctx);

const char *tz_nvcomp_status_name(tz_nvcomp_status status); /* "CannotDecompress"; never NULL */

#endif
