/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: libraries of NVIDIA's, tried on streams that are known. Each is tried once for a
 * device and codec, when it is first wanted, so that opening a device costs nothing of it: one
 * allocation of a few KiB (and the scratch that the library asks for), a copy each way, one call,
 * and one wait of the host. All of these with the context current. */
#ifndef TZ_DEVICE_NVIDIA_SELF_TEST_H
#define TZ_DEVICE_NVIDIA_SELF_TEST_H

#include "device/driver.h"
#include "device/nvidia/nvcomp.h"

struct tz_cu_state;

/* Whether the context works: what a library then says against a call is its own fault, and not the
 * device's. */
bool tz_cu_context_works(const struct tz_cu_state *s, tz_cu_stream stream);

/* nvCOMP decodes a chunk. *needs_size: it does not decode frames of Zstandard that do not say how
 * much they make. TZ_ERR_UNSUPPORTED: it makes something else of it. */
tz_result tz_cu_self_test_codec(struct tz_cu_state *s, tz_nvcomp_codec codec, bool *needs_size,
                                const tz_context *ctx);

enum {
    TZ_CU_SELF_TEST_SIDE = 16,
    TZ_CU_SELF_TEST_BYTES = TZ_CU_SELF_TEST_SIDE * TZ_CU_SELF_TEST_SIDE * 3
};

typedef tz_result tz_cu_self_test_decode(struct tz_cu_state *s, uint32_t queue,
                                         const tz_codestream_batch *batch, const tz_context *ctx);

/* A library of pictures decodes a known one in JPEG (7: three samples) or JPEG 2000 (34712: one).
 * TZ_ERR_UNSUPPORTED: it does not. */
tz_result tz_cu_self_test_codestream(struct tz_cu_state *s, uint16_t compression,
                                     tz_cu_self_test_decode *decode,
                                     uint8_t samples[TZ_CU_SELF_TEST_BYTES], const tz_context *ctx);
/* Whether these are its samples. JPEG: within rounding; *interpolates: so is subsampled chroma. */
bool tz_cu_self_test_jpeg_matches(const uint8_t *samples, bool *interpolates);
bool tz_cu_self_test_j2k_matches(const uint8_t *samples);

#endif
