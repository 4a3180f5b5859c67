/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: tiles in JPEG, by nvJPEG. It is loaded, and its objects are made, when one of
 * them is first wanted; then it is tested on a known codestream. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG_H
#define TZ_DEVICE_NVIDIA_NVJPEG_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"
#include "device/dynlib.h"
#include "device/nvidia/codestreams.h"
#include "device/nvidia/nvjpeg_api.h"

enum {
    TZ_CU_JPEG_STATES = 2, /* the host fills one while the device works on the other */
    /* Codestreams of a batch: of more than 50, the device reads the Huffman codes. */
    TZ_CU_JPEG_BATCH = 64,
    /* Device memory that nvJPEG takes for each sample, about: coefficients, planes before colours
     * are converted, and the codestream. */
    TZ_CU_JPEG_BYTES_PER_SAMPLE = 4,
};

/* Codestreams that are decoded together, all to one format. */
typedef struct tz_cu_jpeg_state {
    tz_cu_side_stream side;
    bool begun; /* its stream follows the queue of the batch at hand */
    tz_nvjpeg_state state;
    int size; /* of the batch that state is set to; 0: none */
    tz_nvjpeg_output format;
    /* The batch that is being filled, or that is under way. */
    uint64_t count, samples;
    const unsigned char *data[TZ_CU_JPEG_BATCH];
    size_t sizes[TZ_CU_JPEG_BATCH];
    tz_nvjpeg_image images[TZ_CU_JPEG_BATCH];
    tz_codestream *codestreams[TZ_CU_JPEG_BATCH];
} tz_cu_jpeg_state;

typedef struct tz_cu_jpeg {
    pthread_mutex_t lock; /* of all of it: batches come one after the other */
    bool searched;        /* all below is set, also if nvJPEG was not found */
    bool is_available;    /* it passed its test, and has not misbehaved since */
    bool interpolates;    /* subsampled chroma; else nvJPEG is not given such codestreams */
    char reason[160];     /* why it is not available */
    tz_dynlib_info info;
    tz_nvjpeg_api api;
    tz_nvjpeg_handle handle;
    tz_cu_jpeg_state states[TZ_CU_JPEG_STATES];
    unsigned next_state;
} tz_cu_jpeg;

/* Destroys the library's objects, as far as they exist, with the context current. */
void tz_cu_jpeg_close(struct tz_cu_state *s);

/* For the table of codestreams.c; decode is called with the context current. */
bool tz_cu_jpeg_find(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_jpeg_decode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_context *ctx);
extern const tz_cu_codestream_encoder_calls tz_cu_jpeg_encoder_calls;

const char *tz_nvjpeg_status_name(tz_nvjpeg_status status); /* never NULL */

#endif
