/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: tests of NVIDIA's libraries on known streams. Each codec of a device is tested
 * once, when it is first wanted, so opening a device costs nothing. A test takes one allocation of
 * a few KiB (and the scratch that the library asks for), a copy each way, one call, and one wait of
 * the host. Call these with the context current. */
#ifndef TZ_DEVICE_NVIDIA_SELF_TEST_H
#define TZ_DEVICE_NVIDIA_SELF_TEST_H

#include "device/driver.h"
#include "device/nvidia/nvcomp.h"

struct tz_cu_state;

/* Tests that nvCOMP decodes a chunk. *needs_size is set if it does not decode Zstandard frames
 * without a content size. TZ_ERR_UNSUPPORTED: it does not decode the chunk. */
tz_result tz_cu_self_test_codec(struct tz_cu_state *s, tz_nvcomp_codec codec, bool *needs_size,
                                const tz_context *ctx);

typedef tz_result tz_cu_self_test_decode(struct tz_cu_state *s, uint32_t queue,
                                         const tz_codestream_batch *batch, const tz_context *ctx);

/* Decodes a known codestream in JPEG or JPEG 2000 and compares its samples with the right ones. For
 * JPEG the comparison allows for rounding; *interpolates is set if chroma that is subsampled was
 * interpolated. TZ_ERR_UNSUPPORTED: the library does not decode it, or to other samples. */
tz_result tz_cu_self_test_codestream(struct tz_cu_state *s, uint16_t compression,
                                     tz_cu_self_test_decode *decode, bool *interpolates,
                                     const tz_context *ctx);

#endif
