/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: tiles that are JPEG or JPEG 2000 codestreams, decoded and encoded by NVIDIA's
 * libraries. Functions that take void *state are the driver's (device/driver.h); all others are
 * called with the context current. */
#ifndef TZ_DEVICE_NVIDIA_CODESTREAMS_H
#define TZ_DEVICE_NVIDIA_CODESTREAMS_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"

enum {
    TZ_CU_CODESTREAM_LIBRARIES = 2, /* nvJPEG and nvJPEG2000 */
    TZ_CU_CODESTREAM_ENCODERS = 8   /* for each library */
};

/* Encodes one codestream at a time. */
typedef struct tz_cu_codestream_encoder {
    tz_cu_side_stream side;
    void *state;  /* the library's */
    void *params; /* the library's */
    bool begun;   /* its stream follows the queue of the batch at hand */
    bool holds;   /* a codestream was encoded, and not retrieved */
    /* The codestream and encoding that params are set for; width 0: for none yet. */
    tz_codestream configured_for;
    tz_codestream_encoding how;
} tz_cu_codestream_encoder;

/* A library's functions for one encoder. Both libraries have the same numbers for statuses; 0 is
 * success. */
typedef struct tz_cu_codestream_encoder_calls {
    const char *prefix;        /* of the names of its functions */
    uint64_t bytes_per_sample; /* device memory for a codestream under way, about */
    const char *(*status_name)(int32_t status);
    /* Creates state and params. */
    int32_t (*open)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder);
    /* Destroys state and params, as far as they exist. */
    void (*close)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder);
    int32_t (*configure)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                         const tz_codestream *codestream, const tz_codestream_encoding *how);
    int32_t (*encode)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                      const tz_codestream *codestream, tz_cu_address at);
    /* Returns the size of the codestream; with `to`, its bytes too. */
    int32_t (*retrieve)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder, uint8_t *to,
                        size_t *size);
} tz_cu_codestream_encoder_calls;

/* The encoders of one library, made when the first is wanted. */
typedef struct tz_cu_codestream_encoder_set {
    pthread_mutex_t lock; /* of all below: batches come one after the other */
    bool opened, works;
    tz_cu_codestream_encoder encoders[TZ_CU_CODESTREAM_ENCODERS];
} tz_cu_codestream_encoder_set;

/* Closes the encoders of all libraries, as far as they exist. */
void tz_cu_close_encoders(struct tz_cu_state *s);

bool tz_cu_find_codestream_codec(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                 tz_codestream_codec *out);
tz_result tz_cu_decode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx);
tz_result tz_cu_encode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_codestream_encoding *how, tz_codestream_output *out,
                                   const tz_context *ctx);

#endif
