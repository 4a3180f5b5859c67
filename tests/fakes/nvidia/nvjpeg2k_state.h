/* SPDX-License-Identifier: Apache-2.0
 * State that the files of the fake of nvJPEG2000 share. */
#ifndef TESTS_FAKES_NVIDIA_NVJPEG2K_STATE_H
#define TESTS_FAKES_NVIDIA_NVJPEG2K_STATE_H

#include "device/nvidia/nvjpeg2k_api.h"
#include "fakes/nvidia/codec_objects.h"
#include "fakes/nvidia/codestream.h"

#define NVJPEG2K_PROTOTYPE(name, arguments)                                                        \
    __attribute__((visibility("default"))) tz_nvjpeg2k_status nvjpeg2k##name arguments;
TZ_NVJPEG2K_FUNCTIONS(NVJPEG2K_PROTOTYPE)

struct nvjpeg2kHandle {
    int unused;
};
struct nvjpeg2kDecodeState {
    atomic_bool busy;
};
struct nvjpeg2kStream {
    atomic_bool busy;
    bool parsed;
    const unsigned char *data;
    size_t size;
    tz_nvjpeg2k_image_info image;
    uint32_t resolutions; /* of its tiles: those of all are taken to be alike */
    tz_nvjpeg2k_component_info components[4];
};
struct nvjpeg2kDecodeParams {
    tz_nvjpeg2k_format format;
};

/* A format for images of these types; 0, or why not. */
tz_nvjpeg2k_status image_format(tz_tile_format *out, const tz_nvjpeg2k_component_info *component,
                                uint32_t components, int32_t pixel_type);
void image_planes(picture_planes *out, const tz_nvjpeg2k_image *image, tz_nvjpeg2k_format format);

#endif
