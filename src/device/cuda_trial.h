/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: libraries of NVIDIA's, tried on streams that are known. Each is tried once for a
 * device and codec, when it is first wanted, so that opening a device costs nothing of it: one
 * allocation of a few KiB (and the scratch that the library asks for), a copy each way, one call,
 * and one wait of the host. All of these with the context current. */
#ifndef TZ_DEVICE_CUDA_TRIAL_H
#define TZ_DEVICE_CUDA_TRIAL_H

#include "device/driver.h"
#include "device/nvcomp.h"

struct tz_cu_state;

/* Whether the context works: what a library then says against a call is its own fault, and not the
 * device's. */
bool tz_cu_is_well(const struct tz_cu_state *s, tz_cu_stream stream);

/* nvCOMP decodes a chunk. *needs_size: it does not decode frames of Zstandard that do not say how
 * much they make. TZ_ERR_UNSUPPORTED: it makes something else of it. */
tz_result tz_cu_try_codec(struct tz_cu_state *s, tz_nvcomp_codec codec, bool *needs_size,
                          const tz_context *ctx);

enum { TZ_CU_TRIAL_SIDE = 16, TZ_CU_TRIAL_BYTES = TZ_CU_TRIAL_SIDE * TZ_CU_TRIAL_SIDE * 3 };

typedef tz_result tz_cu_trial_decode(struct tz_cu_state *s, uint32_t queue,
                                     const tz_picture_batch *batch, const tz_context *ctx);

/* A library of pictures decodes a known one in JPEG (7: three samples) or JPEG 2000 (34712: one).
 * TZ_ERR_UNSUPPORTED: it does not. */
tz_result tz_cu_try_picture(struct tz_cu_state *s, uint16_t compression, tz_cu_trial_decode *decode,
                            uint8_t samples[TZ_CU_TRIAL_BYTES], const tz_context *ctx);
/* Whether these are its samples. JPEG: within rounding; *interpolates: so is subsampled chroma. */
bool tz_cu_trial_jpeg_is_right(const uint8_t *samples, bool *interpolates);
bool tz_cu_trial_j2k_is_right(const uint8_t *samples);

#endif
