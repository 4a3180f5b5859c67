/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: tiles in JPEG, by nvJPEG where it is there. It is loaded, and its objects are
 * made, when one of them is first wanted; then it is tried on a picture that is known. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG_DECODE_H
#define TZ_DEVICE_NVIDIA_NVJPEG_DECODE_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"
#include "device/nvidia/nvjpeg.h"

enum {
    TZ_CU_JPEG_STATES = 2, /* one is filled by the host while the other is at work */
    TZ_CU_JPEG_BATCH =
        64, /* pictures at once: of more than 50, the device reads the Huffman codes */
    TZ_CU_JPEG_BYTES_PER_SAMPLE = 4, /* bytes of the device that it takes for each sample, about:
                           coefficients, planes before colours are converted, and the stream */
    TZ_CU_JPEG_FORMATS = 3,          /* that pictures are decoded to */
};

/* Pictures that are decoded together; they all are of one format. */
typedef struct tz_cu_jpeg_state {
    tz_cu_side_stream side;
    bool begun; /* it follows the queue of the pictures at hand */
    tz_nvjpeg_state state;
    int size; /* of the batch that it is set to; 0: to none */
    tz_nvjpeg_output format;
    /* the batch at hand, or under way */
    uint64_t count, samples;
    const unsigned char *data[TZ_CU_JPEG_BATCH];
    size_t sizes[TZ_CU_JPEG_BATCH];
    tz_nvjpeg_image images[TZ_CU_JPEG_BATCH];
    tz_codestream *codestreams[TZ_CU_JPEG_BATCH];
} tz_cu_jpeg_state;

typedef struct tz_cu_jpeg {
    pthread_mutex_t lock; /* of all of it: batches come one after the other */
    char *library;        /* the caller's name of it; NULL: look for it */
    bool is_known;        /* all below */
    bool is_available;    /* it works, as far as is known; what misbehaves is not there any more */
    bool interpolates;    /* subsampled chroma; else pictures that have it are not for it */
    char reason[160];     /* it is not there */
    tz_nvjpeg nvjpeg;
    tz_nvjpeg_handle handle;
    tz_cu_jpeg_state states[TZ_CU_JPEG_STATES];
    unsigned next_state;
} tz_cu_jpeg;

/* Its objects, with the context current; then the rest. cuda.c makes the lock. */
void tz_cu_jpeg_close(struct tz_cu_state *s);
void tz_cu_jpeg_deinit(tz_cu_jpeg *jpeg);

/* These two are for codestream_libraries.c, decode with the context current. */
bool tz_cu_jpeg_find(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_jpeg_decode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_context *ctx);

#endif
