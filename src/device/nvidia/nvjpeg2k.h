/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: tiles in JPEG 2000, by nvJPEG2000. It is loaded, and its objects are made, when
 * one of them is first wanted; then it is tested on a known codestream. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG2K_H
#define TZ_DEVICE_NVIDIA_NVJPEG2K_H

#include <pthread.h>

#include "device/cuda/side_stream.h"
#include "device/driver.h"
#include "device/dynlib.h"
#include "device/nvidia/codestreams.h"
#include "device/nvidia/nvjpeg2k_api.h"

enum { TZ_CU_J2K_STATES = 8 };

/* Decodes one codestream at a time. */
typedef struct tz_cu_j2k_decoder {
    tz_cu_side_stream side;
    tz_nvjpeg2k_decode_state state;
    tz_nvjpeg2k_stream parsed;
} tz_cu_j2k_decoder;

typedef struct tz_cu_j2k {
    pthread_mutex_t lock; /* of all below */
    bool searched;        /* all below is set, also if nvJPEG2000 was not found */
    bool is_available;    /* it passed its test */
    char reason[160];     /* why it is not available */
    tz_dynlib_info info;
    tz_nvjpeg2k_api api;
    tz_nvjpeg2k_handle handle;
    tz_nvjpeg2k_decode_params one_sample, by_pixel; /* layouts of samples in memory */
    tz_cu_j2k_decoder decoders[TZ_CU_J2K_STATES];
    uint32_t next;               /* decoder */
    tz_nvjpeg2k_encoder encoder; /* shared by all encoders of codestreams.c */
} tz_cu_j2k;

/* Destroys the library's objects, as far as they exist, with the context current. */
void tz_cu_j2k_close(struct tz_cu_state *s);

/* For the table of codestreams.c; decode is called with the context current. */
bool tz_cu_j2k_find(struct tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
tz_result tz_cu_j2k_decode(struct tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                           const tz_context *ctx);
extern const tz_cu_codestream_encoder_calls tz_cu_j2k_encoder_calls;

const char *tz_nvjpeg2k_status_name(tz_nvjpeg2k_status status); /* never NULL */

#endif
