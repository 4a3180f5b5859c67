/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/encoded_image.h"
#include "fakes/nvidia/nvjpeg2k_state.h"

struct nvjpeg2kEncoder {
    int unused;
};
struct nvjpeg2kEncodeState {
    encoded image;
};
struct nvjpeg2kEncodeParams {
    bool configured;
    tz_nvjpeg2k_encode_config config;
    tz_nvjpeg2k_component_info component; /* they are all alike */
    tz_nvjpeg2k_format format;
    double psnr;
};

tz_nvjpeg2k_status nvjpeg2kEncoderCreateSimple(tz_nvjpeg2k_encoder *out)
{
    return make("+nvjpeg2kEncoderCreateSimple", false, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kEncoderDestroy(tz_nvjpeg2k_encoder encoder)
{
    return give_back(encoder);
}

tz_nvjpeg2k_status nvjpeg2kEncodeStateCreate(tz_nvjpeg2k_encoder encoder,
                                             tz_nvjpeg2k_encode_state *out)
{
    if (!encoder)
        return INVALID_PARAMETER;
    return make("+nvjpeg2kEncodeStateCreate", true, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kEncodeStateDestroy(tz_nvjpeg2k_encode_state state)
{
    return state && !encoded_free(&state->image) ? INVALID_PARAMETER : give_back(state);
}

/* ---- parameters ---- */

tz_nvjpeg2k_status nvjpeg2kEncodeParamsCreate(tz_nvjpeg2k_encode_params *out)
{
    return make("+nvjpeg2kEncodeParamsCreate", false, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kEncodeParamsDestroy(tz_nvjpeg2k_encode_params params)
{
    return give_back(params);
}

static bool power_of_two_block(uint32_t size)
{
    return size == 32 || size == 64;
}

tz_nvjpeg2k_status nvjpeg2kEncodeParamsSetEncodeConfig(tz_nvjpeg2k_encode_params params,
                                                       tz_nvjpeg2k_encode_config *config)
{
    if (!params || !config || !config->image_comp_info)
        return INVALID_PARAMETER;
    if (config->num_components == 0 || config->num_components > 4)
        return JPEG_NOT_SUPPORTED;
    if ((config->color_space != TZ_NVJPEG2K_SRGB && config->color_space != TZ_NVJPEG2K_GRAY) ||
        config->num_layers != 1 || !power_of_two_block(config->code_block_w) ||
        !power_of_two_block(config->code_block_h) || config->image_width == 0 ||
        config->image_height == 0)
        return INVALID_PARAMETER;
    params->config = *config;
    params->component = config->image_comp_info[0];
    params->configured = true;
    return SUCCESS;
}

tz_nvjpeg2k_status nvjpeg2kEncodeParamsSpecifyQuality(tz_nvjpeg2k_encode_params params,
                                                      tz_nvjpeg2k_quality kind, double quality)
{
    if (!params || !params->configured || !params->config.irreversible ||
        kind != TZ_NVJPEG2K_TARGET_PSNR || !(quality > 0))
        return INVALID_PARAMETER;
    params->psnr = quality;
    return SUCCESS;
}

tz_nvjpeg2k_status nvjpeg2kEncodeParamsSetInputFormat(tz_nvjpeg2k_encode_params params,
                                                      tz_nvjpeg2k_format format)
{
    if (!params || format < TZ_NVJPEG2K_PLANAR || format > TZ_NVJPEG2K_INTERLEAVED)
        return INVALID_PARAMETER;
    params->format = format;
    return SUCCESS;
}

/* ---- encoding ---- */

static tz_nvjpeg2k_status plan(encode_job *j, tz_nvjpeg2k_encode_params params,
                               const tz_nvjpeg2k_image *image)
{
    if (!params->configured || image->num_components != params->config.num_components)
        return INVALID_PARAMETER;
    tz_nvjpeg2k_component_info component = params->component;
    component.component_width = params->config.image_width;
    component.component_height = params->config.image_height;
    const tz_nvjpeg2k_status status =
        image_format(&j->format, &component, image->num_components, image->pixel_type);
    if (status != SUCCESS)
        return status;
    image_planes(&j->planes, image, params->format);
    /* the encoder's qualities are 25 decibels and a quarter of their number */
    j->choice.lossless = !params->config.irreversible;
    if (params->config.irreversible)
        j->choice.quality = params->psnr < 26   ? 1
                            : params->psnr > 50 ? 100
                                                : (uint32_t)((params->psnr - 25) * 4);
    return SUCCESS;
}

tz_nvjpeg2k_status nvjpeg2kEncode(tz_nvjpeg2k_encoder encoder, tz_nvjpeg2k_encode_state state,
                                  const tz_nvjpeg2k_encode_params params,
                                  const tz_nvjpeg2k_image *image, tz_cu_stream stream)
{
    if (!encoder || !state || !params || !image)
        return INVALID_PARAMETER;
    encode_job wanted = {.to = &state->image, .encoder = &tz_encoder_jp2};
    const tz_nvjpeg2k_status status = plan(&wanted, params, image);
    return status == SUCCESS ? encoded_start("+nvjpeg2kEncode", &wanted, stream) : status;
}

tz_nvjpeg2k_status nvjpeg2kEncodeRetrieveBitstream(tz_nvjpeg2k_encoder encoder,
                                                   tz_nvjpeg2k_encode_state state,
                                                   unsigned char *out, size_t *size,
                                                   tz_cu_stream stream)
{
    if (!encoder || !state || !size)
        return INVALID_PARAMETER;
    return encoded_retrieve("+nvjpeg2kEncodeRetrieveBitstream", &state->image, out, size, stream);
}
