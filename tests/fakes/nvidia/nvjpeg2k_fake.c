/* SPDX-License-Identifier: Apache-2.0
 * Handles, and what both directions need. */
#include "fakes/nvidia/nvjpeg2k_state.h"

tz_nvjpeg2k_status image_format(tz_tile_format *out, const tz_nvjpeg2k_component_info *component,
                                uint32_t components, int32_t pixel_type)
{
    const bool is_signed = component->sgn != 0;
    if (is_signed && component->precision <= 8)
        return JPEG_NOT_SUPPORTED;
    const int32_t fitting = component->precision <= 8 ? TZ_NVJPEG2K_UINT8
                            : is_signed               ? TZ_NVJPEG2K_INT16
                                                      : TZ_NVJPEG2K_UINT16;
    if (pixel_type != fitting)
        return INVALID_PARAMETER;
    *out = (tz_tile_format){.width = component->component_width,
                            .height = component->component_height,
                            .samples = (uint16_t)components,
                            .bits = component->precision <= 8 ? 8 : 16,
                            .sample_format = is_signed ? 2 : 1,
                            .compression = 34712,
                            .photometric = components >= 3 ? 2 : 1};
    return SUCCESS;
}

void image_planes(picture_planes *out, const tz_nvjpeg2k_image *image, tz_nvjpeg2k_format format)
{
    *out = (picture_planes){.interleaved = format == TZ_NVJPEG2K_INTERLEAVED};
    for (size_t i = 0; i < (out->interleaved ? 1u : image->num_components); i++) {
        out->at[i] = (uint64_t)(uintptr_t)image->pixel_data[i];
        out->pitch[i] = image->pitch_in_bytes[i];
    }
}

tz_nvjpeg2k_status nvjpeg2kGetProperty(tz_nvjpeg2k_property which, int *out)
{
    static const int version[] = {0, 11, 0};
    if (which < 0 || which > 2)
        return INVALID_PARAMETER;
    *out = version[which];
    return SUCCESS;
}

tz_nvjpeg2k_status nvjpeg2kCreateSimple(tz_nvjpeg2k_handle *out)
{
    return make("+nvjpeg2kCreateSimple", false, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kDestroy(tz_nvjpeg2k_handle handle)
{
    return give_back(handle);
}
