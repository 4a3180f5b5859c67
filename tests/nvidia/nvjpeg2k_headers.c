/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the header of nvJPEG2000: what device/nvidia/nvjpeg2k_api.h
 * declares is what the vendor declares. */
#include "device/nvidia/nvjpeg2k_api.h"

#include <nvjpeg2k.h>

#include "nvidia/same.h"

SAME_SIZE(tz_nvjpeg2k_status, nvjpeg2kStatus_t);
#define STATUS(name, number) SAME_VALUE(number, NVJPEG2K_STATUS_##name);
TZ_NVJPEG2K_STATUSES(STATUS)
SAME_SIZE(tz_nvjpeg2k_property, libraryPropertyType);
SAME_VALUE(0, MAJOR_VERSION);
SAME_VALUE(1, MINOR_VERSION);
SAME_VALUE(2, PATCH_LEVEL);

#define INFO(member) SAME_PLACE(tz_nvjpeg2k_image_info, nvjpeg2kImageInfo_t, member)
SAME_SIZE(tz_nvjpeg2k_image_info, nvjpeg2kImageInfo_t);
INFO(image_width);
INFO(image_height);
INFO(tile_width);
INFO(tile_height);
INFO(num_tiles_x);
INFO(num_tiles_y);
INFO(num_components);

#define COMPONENT(member)                                                                          \
    SAME_PLACE(tz_nvjpeg2k_component_info, nvjpeg2kImageComponentInfo_t, member)
SAME_SIZE(tz_nvjpeg2k_component_info, nvjpeg2kImageComponentInfo_t);
COMPONENT(component_width);
COMPONENT(component_height);
COMPONENT(precision);
COMPONENT(sgn);

SAME_SIZE(tz_nvjpeg2k_image, nvjpeg2kImage_t);
SAME_PLACE(tz_nvjpeg2k_image, nvjpeg2kImage_t, pixel_data);
SAME_PLACE(tz_nvjpeg2k_image, nvjpeg2kImage_t, pitch_in_bytes);
SAME_PLACE(tz_nvjpeg2k_image, nvjpeg2kImage_t, pixel_type);
SAME_PLACE(tz_nvjpeg2k_image, nvjpeg2kImage_t, num_components);
SAME_VALUE(TZ_NVJPEG2K_UINT8, NVJPEG2K_UINT8);
SAME_VALUE(TZ_NVJPEG2K_UINT16, NVJPEG2K_UINT16);
SAME_VALUE(TZ_NVJPEG2K_INT16, NVJPEG2K_INT16);
SAME_VALUE(TZ_NVJPEG2K_PLANAR, NVJPEG2K_FORMAT_PLANAR);
SAME_VALUE(TZ_NVJPEG2K_INTERLEAVED, NVJPEG2K_FORMAT_INTERLEAVED);

#define CONFIG(member) SAME_PLACE(tz_nvjpeg2k_encode_config, nvjpeg2kEncodeConfig_t, member)
SAME_SIZE(tz_nvjpeg2k_encode_config, nvjpeg2kEncodeConfig_t);
CONFIG(stream_type);
CONFIG(color_space);
CONFIG(rsiz);
CONFIG(image_width);
CONFIG(image_height);
CONFIG(enable_tiling);
CONFIG(tile_width);
CONFIG(tile_height);
CONFIG(num_components);
CONFIG(image_comp_info);
CONFIG(enable_SOP_marker);
CONFIG(enable_EPH_marker);
CONFIG(prog_order);
CONFIG(num_layers);
CONFIG(mct_mode);
CONFIG(num_resolutions);
CONFIG(code_block_w);
CONFIG(code_block_h);
CONFIG(encode_modes);
CONFIG(irreversible);
CONFIG(num_precincts_init);
CONFIG(precinct_width);
CONFIG(precinct_height);
SAME_VALUE(TZ_NVJPEG2K_CODE_STREAM, NVJPEG2K_STREAM_J2K);
SAME_VALUE(TZ_NVJPEG2K_SRGB, NVJPEG2K_COLORSPACE_SRGB);
SAME_VALUE(TZ_NVJPEG2K_GRAY, NVJPEG2K_COLORSPACE_GRAY);
SAME_VALUE(0, NVJPEG2K_LRCP);
SAME_VALUE(TZ_NVJPEG2K_TARGET_PSNR, NVJPEG2K_QUALITY_TYPE_TARGET_PSNR);

/* From here on the list of functions speaks of the vendor's types. */
#define tz_nvjpeg2k_property       libraryPropertyType
#define tz_nvjpeg2k_image_info     nvjpeg2kImageInfo_t
#define tz_nvjpeg2k_component_info nvjpeg2kImageComponentInfo_t
#define tz_nvjpeg2k_image          nvjpeg2kImage_t
#define tz_nvjpeg2k_format         nvjpeg2kImageFormat_t
#define tz_nvjpeg2k_encode_config  nvjpeg2kEncodeConfig_t
#define tz_nvjpeg2k_quality        nvjpeg2kQualityType_t

#define FUNCTION(name, arguments) SAME_FUNCTION(nvjpeg2k##name, nvjpeg2kStatus_t(*) arguments);
TZ_NVJPEG2K_FUNCTIONS(FUNCTION)
