/* SPDX-License-Identifier: Apache-2.0
 * What the files of the double of nvJPEG share. */
#ifndef TESTS_DOUBLE_NV_NVJPEG_STATE_H
#define TESTS_DOUBLE_NV_NVJPEG_STATE_H

#include "codec/jpeg_markers.h"
#include "device/nvjpeg_api.h"
#include "double/nv/objects.h"
#include "double/nv/picture.h"

#define NVJPEG_PROTOTYPE(name, arguments)                                                          \
    __attribute__((visibility("default"))) tz_nvjpeg_status nvjpeg##name arguments;
TZ_NVJPEG_FUNCTIONS(NVJPEG_PROTOTYPE)

struct nvjpegHandle {
    tz_nvjpeg_backend backend;
    bool interpolates; /* chroma; else each value is repeated */
};

/* What a stream says of itself: 0, or why it is not taken. */
tz_nvjpeg_status read_jpeg(tz_jpeg_info *out, const unsigned char *data, size_t size);
/* Sampling as nvJPEG names it; -1: another. */
tz_nvjpeg_sampling sampling_of(const tz_jpeg_info *info);

#endif
