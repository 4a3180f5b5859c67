/* SPDX-License-Identifier: Apache-2.0
 * nvCOMP's answers about sizes and alignments, by formulas that were found by asking it. */
#ifndef TESTS_FAKES_NVIDIA_NVCOMP_SIZES_H
#define TESTS_FAKES_NVIDIA_NVCOMP_SIZES_H

#include <stdbool.h>

#include "device/nvidia/nvcomp_api.h"

#ifndef NVCOMP_FAKE_VERSION
#error "which release this is a fake of"
#endif
#define MAJOR (NVCOMP_FAKE_VERSION / 1000)

/* The answer without a device. */
#define NO_DEVICE (MAJOR == 4 ? TZ_NVCOMP_InvalidValue : TZ_NVCOMP_CudaError)

tz_nvcomp_alignments sizes_align(tz_nvcomp_codec codec, bool compress);
size_t sizes_limit(tz_nvcomp_codec codec, bool compress);
size_t sizes_output(tz_nvcomp_codec codec, size_t chunk);
tz_nvcomp_status sizes_compress_temp(tz_nvcomp_codec codec, int32_t algorithm, size_t count,
                                     size_t chunk, size_t total, bool device, size_t *out);
tz_nvcomp_status sizes_decompress_temp(tz_nvcomp_codec codec, size_t count, size_t total,
                                       bool device, size_t *out);

#endif
