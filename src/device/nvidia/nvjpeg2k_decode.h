/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG2000 for the CUDA driver: whole pictures, several at a time. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG2K_DECODE_H
#define TZ_DEVICE_NVIDIA_NVJPEG2K_DECODE_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"
#include "device/nvidia/nvjpeg2k.h"

struct tz_cu_state;

enum { TZ_CU_J2K_STATES = 8 };

/* One picture at a time. */
typedef struct tz_cu_j2k_decoder {
    tz_cu_side_stream side;
    tz_nvjpeg2k_decode_state state;
    tz_nvjpeg2k_stream parsed;
} tz_cu_j2k_decoder;

typedef struct tz_cu_j2k {
    pthread_mutex_t lock; /* of all below */
    char *library;        /* the caller's name of it; NULL: look for it */
    bool is_known;
    bool is_available; /* it was tried, and works */
    char reason[160];  /* it is not there */
    tz_nvjpeg2k nvjpeg2k;
    tz_nvjpeg2k_handle handle;
    tz_nvjpeg2k_decode_params one_sample, by_pixel; /* how samples lie in memory */
    tz_cu_j2k_decoder decoders[TZ_CU_J2K_STATES];
    uint32_t next; /* of them */
} tz_cu_j2k;

void tz_cu_j2k_deinit(tz_cu_j2k *j2k);

/* These two are for codestream_libraries.c, decode with the context current, as all below. */
bool tz_cu_j2k_find(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_j2k_decode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                           const tz_context *ctx);

/* ---- nvjpeg2k_states.c ---- */

/* All that decoding takes. TZ_ERR_UNSUPPORTED: the library cannot be used. */
tz_result tz_cu_j2k_create(struct tz_cu_state *s, const tz_context *ctx);
void tz_cu_j2k_close(struct tz_cu_state *s); /* what there is of it */
/* Wait for all decoders, whatever becomes of it. */
void tz_cu_j2k_wait_all(struct tz_cu_state *s);
/* TZ_OK, or otherwise with "nvjpeg2kDecodeImage: BAD_JPEG (3)". */
tz_result tz_cu_j2k_check(const char *function, tz_nvjpeg2k_status status, tz_result otherwise,
                          const tz_context *ctx);

#endif
