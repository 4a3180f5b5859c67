/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver's decoders and encoders of batches of chunks: nvCOMP, if it is installed and
 * decodes a known chunk. Functions that take void *state are the driver's (device/driver.h). */
#ifndef TZ_DEVICE_NVIDIA_NVCOMP_CODECS_H
#define TZ_DEVICE_NVIDIA_NVCOMP_CODECS_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/driver.h"
#include "device/nvidia/nvcomp.h"

enum { TZ_CU_CODEC_UNTESTED, TZ_CU_CODEC_WORKS, TZ_CU_CODEC_OFF };

/* One codec of nvCOMP: tested when it is first wanted, and switched off if it misbehaves. */
typedef struct tz_cu_codec {
    atomic_int state;          /* TZ_CU_CODEC_UNTESTED, ...; stored after the decoder is set */
    tz_vendor_decoder decoder; /* its reason says why the codec is off */
} tz_cu_codec;

typedef struct tz_cu_codecs {
    pthread_mutex_t lock; /* held to load nvCOMP, to test a codec and to switch it off */
    bool searched;        /* nvcomp is set, also if it was not found */
    tz_nvcomp nvcomp;
    tz_cu_codec codecs[TZ_NVCOMP_CODEC_COUNT];
} tz_cu_codecs;

bool tz_cu_find_decoder(void *state, uint16_t compression, tz_vendor_decoder *out);
tz_result tz_cu_decode(void *state, uint32_t queue, const tz_vendor_batch *batch,
                       const tz_context *ctx);
bool tz_cu_find_encoder(void *state, uint16_t compression, int32_t level, uint64_t max_tile,
                        tz_vendor_encoder *out);
tz_result tz_cu_encode(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                       const tz_context *ctx);

#endif
