/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures encoded by libraries that take one at a time: each of several encoders
 * has a state and a stream of its own, and pictures go to them in turn. */
#ifndef TZ_DEVICE_NVIDIA_CODESTREAM_ENCODE_H
#define TZ_DEVICE_NVIDIA_CODESTREAM_ENCODE_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"

enum { TZ_CU_CODESTREAM_ENCODERS = 8 };

/* One picture at a time. State and parameters are the library's. */
typedef struct tz_cu_codestream_encoder {
    tz_cu_side_stream side;
    void *state;
    void *params;
    bool begun; /* it follows the queue of the pictures at hand */
    bool holds; /* a picture that was encoded, and not retrieved */
    /* what its parameters are for; width 0: for nothing yet */
    tz_codestream configured_for;
    tz_codestream_encoding how;
} tz_cu_codestream_encoder;

/* A library: what it takes to use it. Its statuses are the same numbers for both libraries. */
typedef struct tz_cu_codestream_encoder_calls {
    const char *name; /* of all its functions, in front */
    const char *(*status_name)(int32_t status);
    /* Of state and params; what there is of them. */
    int32_t (*open)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder);
    void (*close)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder);
    int32_t (*configure)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                         const tz_codestream *codestream, const tz_codestream_encoding *how);
    int32_t (*encode)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                      const tz_codestream *codestream, tz_cu_address at);
    /* Its size; with `to`, its bytes. */
    int32_t (*retrieve)(struct tz_cu_state *s, tz_cu_codestream_encoder *encoder, uint8_t *to,
                        size_t *size);
} tz_cu_codestream_encoder_calls;

typedef struct tz_cu_codestream_encoder_set {
    pthread_mutex_t lock; /* of all below: batches come one after the other */
    bool is_known, works;
    tz_cu_codestream_encoder encoders[TZ_CU_CODESTREAM_ENCODERS];
} tz_cu_codestream_encoder_set;

/* Make all encoders, once; false: the library cannot be used. */
bool tz_cu_codestream_encoders_find(struct tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                    const tz_cu_codestream_encoder_calls *calls);
/* With the context current, as encode_pictures of driver.h. */
tz_result tz_cu_codestream_encoders_run(struct tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                        const tz_cu_codestream_encoder_calls *calls, uint32_t queue,
                                        const tz_codestream_batch *batch,
                                        const tz_codestream_encoding *how,
                                        tz_codestream_output *out, const tz_context *ctx);
/* What there is of them, with the context current. */
void tz_cu_codestream_encoders_close(struct tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                     const tz_cu_codestream_encoder_calls *calls);

/* ---- nvjpeg_encode.c, nvjpeg2k_encode.c: for codestream_libraries.c ---- */

bool tz_cu_jpeg_find_encoder(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_jpeg_encode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_codestream_encoding *how, tz_codestream_output *out,
                            const tz_context *ctx);
void tz_cu_jpeg_encode_close(struct tz_cu_state *s);

bool tz_cu_j2k_find_encoder(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_j2k_encode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                           const tz_codestream_encoding *how, tz_codestream_output *out,
                           const tz_context *ctx);
void tz_cu_j2k_encode_close(struct tz_cu_state *s);

#endif
