/* SPDX-License-Identifier: Apache-2.0
 * nvCOMP: Deflate (raw, without zlib's frame), ZSTD and LZ4 (blocks, not frames) of whole batches
 * of chunks on a CUDA device. One interface over the releases 4.1 to 6.x, whose functions differ.
 *
 * It decodes what is valid and notices most, not all, of what is not: sizes and checksums are to be
 * compared by the caller. The context of the device must be current. Any thread may call. */
#ifndef TZ_DEVICE_NVIDIA_NVCOMP_H
#define TZ_DEVICE_NVIDIA_NVCOMP_H

#include <stdbool.h>

#include "base/error.h"
#include "device/nvidia/nvcomp_api.h"

typedef struct tz_nvcomp_table tz_nvcomp_table;
typedef struct tz_nvcomp {
    char path[256];   /* where it is, or what was looked for */
    uint32_t version; /* 5300 is 5.3.0 */
    const tz_nvcomp_table *table;
    union {
        tz_nvcomp_calls4 v4[TZ_NVCOMP_CODEC_COUNT];
        tz_nvcomp_calls5 v5[TZ_NVCOMP_CODEC_COUNT];
    } calls;
} tz_nvcomp;

/* Load it from the path or by the name that is given; NULL: look for it. False, with the reason,
 * when there is none, or none of a release that is known. */
bool tz_nvcomp_load(tz_nvcomp *nvcomp, const char *library, char *reason, size_t reason_size);

/* A batch, in one direction. Addresses are of memory that the device reaches: in, out, and those of
 * the chunks in the arrays that are there. Each array has count elements. What the work needs must
 * stay until the stream has done it. */
typedef struct tz_nvcomp_batch {
    tz_nvcomp_codec codec;
    int32_t algorithm;  /* Deflate, compressing: 0 (fast) to 5 (small); else unused */
    size_t count;       /* chunks, none of them empty; not 0 */
    size_t max_chunk;   /* bytes of the largest chunk, not compressed */
    size_t total;       /* bytes of all chunks, not compressed */
    uint64_t in;        /* of addresses, by the alignment of input */
    uint64_t in_sizes;  /* of size_t */
    uint64_t out;       /* of addresses, by the alignment of output */
    uint64_t capacity;  /* of size_t: bytes for each chunk; only to decompress. Each chunk has room
                       for tz_nvcomp_max_output to be compressed */
    uint64_t out_sizes; /* of size_t: becomes the bytes of each chunk */
    uint64_t statuses;  /* of tz_nvcomp_status: becomes that of each chunk. 4.x writes none while
                           compressing: set them to 0 before */
    uint64_t temp;      /* scratch, by its alignment; 0 where none is needed */
    size_t temp_bytes;
} tz_nvcomp_batch;

/* Largest chunk, not compressed, that it takes. */
size_t tz_nvcomp_max_chunk(const tz_nvcomp *nvcomp, tz_nvcomp_codec codec, bool compress);

/* Of batches with this codec and, to compress, algorithm. */
tz_result tz_nvcomp_align(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                          tz_nvcomp_alignments *out, const tz_context *ctx);
/* Bytes of scratch for a batch of this codec, algorithm, count, max_chunk and total. */
tz_result tz_nvcomp_temp_bytes(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                               tz_cu_stream stream, size_t *out, const tz_context *ctx);
/* Room for each chunk of a batch of this codec, algorithm and max_chunk, compressed. */
tz_result tz_nvcomp_max_output(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, size_t *out,
                               const tz_context *ctx);

/* These return before the work is done. What nvCOMP does not take (TZ_ERR_UNSUPPORTED) has changed
 * nothing; all else that it answers is TZ_ERR_DEVICE, though the fault may be its own. */
tz_result tz_nvcomp_compress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                             tz_cu_stream stream, const tz_context *ctx);
tz_result tz_nvcomp_decompress(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                               tz_cu_stream stream, const tz_context *ctx);

const char *tz_nvcomp_status_name(tz_nvcomp_status status); /* "CannotDecompress"; never NULL */

/* ---- nvcomp_versions.c ---- */

/* What differs between releases. */
struct tz_nvcomp_table {
    tz_nvcomp_status (*align)(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch, bool compress,
                              tz_nvcomp_alignments *out);
    tz_nvcomp_status (*temp_bytes)(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                                   bool compress, tz_cu_stream stream, size_t *out);
    tz_nvcomp_status (*max_output)(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                                   size_t *out);
    tz_nvcomp_status (*compress)(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                                 tz_cu_stream stream);
    tz_nvcomp_status (*decompress)(const tz_nvcomp *nvcomp, const tz_nvcomp_batch *batch,
                                   tz_cu_stream stream);
};
extern const tz_nvcomp_table tz_nvcomp_table_4;
extern const tz_nvcomp_table tz_nvcomp_table_5; /* and 6.x */

#endif
