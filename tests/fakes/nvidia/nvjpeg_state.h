/* SPDX-License-Identifier: Apache-2.0
 * State that the files of the fake of nvJPEG share. */
#ifndef TESTS_FAKES_NVIDIA_NVJPEG_STATE_H
#define TESTS_FAKES_NVIDIA_NVJPEG_STATE_H

#include "codec/jpeg.h"
#include "device/nvidia/nvjpeg_api.h"
#include "fakes/nvidia/codec_objects.h"
#include "fakes/nvidia/codestream.h"

#define NVJPEG_PROTOTYPE(name, arguments)                                                          \
    __attribute__((visibility("default"))) tz_nvjpeg_status nvjpeg##name arguments;
TZ_NVJPEG_FUNCTIONS(NVJPEG_PROTOTYPE)

struct nvjpegHandle {
    tz_nvjpeg_backend backend;
    bool interpolates; /* chroma; else each value is repeated */
};

/* Reads the header of a stream. Returns 0, or the reason to refuse it. */
tz_nvjpeg_status read_jpeg(tz_jpeg_info *out, const unsigned char *data, size_t size);
/* Sampling as nvJPEG names it; -1: another. */
tz_nvjpeg_sampling sampling_of(const tz_jpeg_info *info);

#endif
