/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the header of nvJPEG: what device/nvidia/nvjpeg_api.h declares
 * is what the vendor declares. */
#include "device/nvidia/nvjpeg_api.h"

#include <nvjpeg.h>

#include "nvidia/same.h"

SAME_SIZE(tz_nvjpeg_status, nvjpegStatus_t);
#define STATUS(name, number) SAME_VALUE(number, NVJPEG_STATUS_##name);
TZ_NVJPEG_STATUSES(STATUS)
SAME_SIZE(tz_nvjpeg_property, libraryPropertyType);
SAME_VALUE(0, MAJOR_VERSION);
SAME_VALUE(1, MINOR_VERSION);
SAME_VALUE(2, PATCH_LEVEL);

SAME_SIZE(tz_nvjpeg_image, nvjpegImage_t);
SAME_PLACE(tz_nvjpeg_image, nvjpegImage_t, channel);
SAME_PLACE(tz_nvjpeg_image, nvjpegImage_t, pitch);
SAME_VALUE(TZ_NVJPEG_BACKEND_DEFAULT, NVJPEG_BACKEND_DEFAULT);
SAME_VALUE(TZ_NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_BACKEND_GPU_HYBRID);
SAME_VALUE(TZ_NVJPEG_FLAG_INTERPOLATE, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION);
SAME_VALUE(TZ_NVJPEG_OUTPUT_UNCHANGED, NVJPEG_OUTPUT_UNCHANGED);
SAME_VALUE(TZ_NVJPEG_OUTPUT_Y, NVJPEG_OUTPUT_Y);
SAME_VALUE(TZ_NVJPEG_OUTPUT_RGBI, NVJPEG_OUTPUT_RGBI);
SAME_VALUE(TZ_NVJPEG_OUTPUT_UNCHANGEDI, NVJPEG_OUTPUT_UNCHANGEDI);
SAME_VALUE(TZ_NVJPEG_INPUT_RGBI, NVJPEG_INPUT_RGBI);
SAME_VALUE(TZ_NVJPEG_SAMPLING_444, NVJPEG_CSS_444);
SAME_VALUE(TZ_NVJPEG_SAMPLING_422, NVJPEG_CSS_422);
SAME_VALUE(TZ_NVJPEG_SAMPLING_420, NVJPEG_CSS_420);
SAME_VALUE(TZ_NVJPEG_SAMPLING_GRAY, NVJPEG_CSS_GRAY);

/* From here on the list of functions speaks of the vendor's types. */
#define tz_nvjpeg_property         libraryPropertyType
#define tz_nvjpeg_device_allocator nvjpegDevAllocator_t
#define tz_nvjpeg_pinned_allocator nvjpegPinnedAllocator_t
#define tz_nvjpeg_backend          nvjpegBackend_t
#define tz_nvjpeg_image            nvjpegImage_t
#define tz_nvjpeg_output           nvjpegOutputFormat_t
#define tz_nvjpeg_input            nvjpegInputFormat_t
#define tz_nvjpeg_sampling         nvjpegChromaSubsampling_t

#define FUNCTION(name, arguments) SAME_FUNCTION(nvjpeg##name, nvjpegStatus_t(*) arguments);
TZ_NVJPEG_FUNCTIONS(FUNCTION)
