/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures encoded by libraries that take one at a time: each of several encoders
 * has a state and a stream of its own, and pictures go to them in turn. */
#ifndef TZ_DEVICE_CUDA_ENCODE_PICTURES_H
#define TZ_DEVICE_CUDA_ENCODE_PICTURES_H

#include <pthread.h>

#include "device/cuda_slots.h"
#include "device/driver.h"

enum { TZ_CU_ENCODERS = 8 };

/* One picture at a time. State and parameters are the library's. */
typedef struct tz_cu_encoder {
    tz_cu_slot slot;
    void *state;
    void *params;
    bool begun; /* it follows the queue of the pictures at hand */
    bool holds; /* a picture that was encoded, and not retrieved */
    /* what its parameters are for; width 0: for nothing yet */
    tz_picture like;
    tz_picture_encoding how;
} tz_cu_encoder;

/* A library: what it takes to use it. Its statuses are the same numbers for both libraries. */
typedef struct tz_cu_encode_calls {
    const char *name; /* of all its functions, in front */
    const char *(*status_name)(int32_t status);
    /* Of state and params; what there is of them. */
    int32_t (*open)(struct tz_cu_state *s, tz_cu_encoder *encoder);
    void (*close)(struct tz_cu_state *s, tz_cu_encoder *encoder);
    int32_t (*configure)(struct tz_cu_state *s, tz_cu_encoder *encoder, const tz_picture *picture,
                         const tz_picture_encoding *how);
    int32_t (*encode)(struct tz_cu_state *s, tz_cu_encoder *encoder, const tz_picture *picture,
                      tz_cu_address at);
    /* Its size; with `to`, its bytes. */
    int32_t (*retrieve)(struct tz_cu_state *s, tz_cu_encoder *encoder, uint8_t *to, size_t *size);
} tz_cu_encode_calls;

typedef struct tz_cu_encoder_set {
    pthread_mutex_t lock; /* of all below: batches come one after the other */
    bool is_known, works;
    tz_cu_encoder encoders[TZ_CU_ENCODERS];
} tz_cu_encoder_set;

/* Make all encoders, once; false: the library cannot be used. */
bool tz_cu_encoders_find(struct tz_cu_state *s, tz_cu_encoder_set *set,
                         const tz_cu_encode_calls *calls);
/* With the context current, as encode_pictures of driver.h. */
tz_result tz_cu_encoders_run(struct tz_cu_state *s, tz_cu_encoder_set *set,
                             const tz_cu_encode_calls *calls, uint32_t queue,
                             const tz_picture_batch *batch, const tz_picture_encoding *how,
                             tz_picture_streams *out, const tz_context *ctx);
/* What there is of them, with the context current. */
void tz_cu_encoders_close(struct tz_cu_state *s, tz_cu_encoder_set *set,
                          const tz_cu_encode_calls *calls);

/* ---- cuda_jpeg_encode.c, cuda_j2k_encode.c: for cuda_pictures.c ---- */

bool tz_cu_jpeg_find_encoder(struct tz_cu_state *s, uint64_t samples, tz_picture_codec *out);
tz_result tz_cu_jpeg_encode(struct tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                            const tz_picture_encoding *how, tz_picture_streams *out,
                            const tz_context *ctx);
void tz_cu_jpeg_encode_close(struct tz_cu_state *s);

bool tz_cu_j2k_find_encoder(struct tz_cu_state *s, uint64_t samples, tz_picture_codec *out);
tz_result tz_cu_j2k_encode(struct tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                           const tz_picture_encoding *how, tz_picture_streams *out,
                           const tz_context *ctx);
void tz_cu_j2k_encode_close(struct tz_cu_state *s);

#endif
