/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/encoded_image.h"
#include "fakes/nvidia/nvjpeg_state.h"

struct nvjpegEncoderState {
    encoded image;
};
struct nvjpegEncoderParams {
    int quality;
    tz_nvjpeg_sampling sampling;
};

tz_nvjpeg_status nvjpegEncoderStateCreate(tz_nvjpeg_handle handle, tz_nvjpeg_encoder_state *out,
                                          tz_cu_stream stream)
{
    (void)stream;
    return handle ? make("+nvjpegEncoderStateCreate", true, sizeof **out, out) : INVALID_PARAMETER;
}

tz_nvjpeg_status nvjpegEncoderStateDestroy(tz_nvjpeg_encoder_state state)
{
    return state && !encoded_free(&state->image) ? INVALID_PARAMETER : give_back(state);
}

tz_nvjpeg_status nvjpegEncoderParamsCreate(tz_nvjpeg_handle handle, tz_nvjpeg_encoder_params *out,
                                           tz_cu_stream stream)
{
    (void)stream;
    if (!handle)
        return INVALID_PARAMETER;
    const tz_nvjpeg_status status = make("+nvjpegEncoderParamsCreate", true, sizeof **out, out);
    if (status == SUCCESS)
        **out = (struct nvjpegEncoderParams){70, TZ_NVJPEG_SAMPLING_444};
    return status;
}

tz_nvjpeg_status nvjpegEncoderParamsDestroy(tz_nvjpeg_encoder_params params)
{
    return give_back(params);
}

tz_nvjpeg_status nvjpegEncoderParamsSetQuality(tz_nvjpeg_encoder_params params, int quality,
                                               tz_cu_stream stream)
{
    (void)stream;
    if (!params || quality < 1 || quality > 100)
        return INVALID_PARAMETER;
    params->quality = quality;
    return SUCCESS;
}

tz_nvjpeg_status nvjpegEncoderParamsSetSamplingFactors(tz_nvjpeg_encoder_params params,
                                                       tz_nvjpeg_sampling sampling,
                                                       tz_cu_stream stream)
{
    (void)stream;
    if (!params || ((sampling < TZ_NVJPEG_SAMPLING_444 || sampling > TZ_NVJPEG_SAMPLING_420) &&
                    sampling != TZ_NVJPEG_SAMPLING_GRAY))
        return INVALID_PARAMETER;
    params->sampling = sampling;
    return SUCCESS;
}

/* ---- encoding ---- */

static tz_nvjpeg_status begin_image(const char *name, tz_nvjpeg_encoder_state state,
                                    tz_nvjpeg_encoder_params params, const tz_nvjpeg_image *from,
                                    int width, int height, tz_cu_stream stream)
{
    const bool gray = params->sampling == TZ_NVJPEG_SAMPLING_GRAY;
    const uint16_t across = gray || params->sampling == TZ_NVJPEG_SAMPLING_444 ? 1 : 2;
    const uint16_t down = params->sampling == TZ_NVJPEG_SAMPLING_420 ? 2 : 1;
    encode_job wanted = {
        .to = &state->image,
        .encoder = &tz_encoder_jpeg,
        .format = {.width = (uint32_t)width,
                   .height = (uint32_t)height,
                   .samples = gray ? 1 : 3,
                   .bits = 8,
                   .sample_format = 1,
                   .compression = 7,
                   .photometric = gray ? 1 : 6,
                   .subsampling = {across, down}},
        .planes = {.interleaved = !gray},
        .choice = {.quality = (uint32_t)params->quality, .jpeg_tables = TZ_JPEG_TABLES_NONE}};
    wanted.planes.at[0] = (uint64_t)(uintptr_t)from->channel[0];
    wanted.planes.pitch[0] = from->pitch[0];
    return encoded_start(name, &wanted, stream);
}

tz_nvjpeg_status nvjpegEncodeImage(tz_nvjpeg_handle handle, tz_nvjpeg_encoder_state state,
                                   const tz_nvjpeg_encoder_params params,
                                   const tz_nvjpeg_image *from, tz_nvjpeg_input input, int width,
                                   int height, tz_cu_stream stream)
{
    if (!handle || !state || !params || !from || input != TZ_NVJPEG_INPUT_RGBI || width < 1 ||
        height < 1 || params->sampling == TZ_NVJPEG_SAMPLING_GRAY)
        return INVALID_PARAMETER;
    return begin_image("+nvjpegEncodeImage", state, params, from, width, height, stream);
}

/* Grey alone. */
tz_nvjpeg_status nvjpegEncodeYUV(tz_nvjpeg_handle handle, tz_nvjpeg_encoder_state state,
                                 const tz_nvjpeg_encoder_params params, const tz_nvjpeg_image *from,
                                 tz_nvjpeg_sampling sampling, int width, int height,
                                 tz_cu_stream stream)
{
    if (!handle || !state || !params || !from || width < 1 || height < 1 ||
        sampling != params->sampling)
        return INVALID_PARAMETER;
    if (sampling != TZ_NVJPEG_SAMPLING_GRAY)
        return IMPLEMENTATION_NOT_SUPPORTED; /* by this fake */
    return begin_image("+nvjpegEncodeYUV", state, params, from, width, height, stream);
}

tz_nvjpeg_status nvjpegEncodeRetrieveBitstream(tz_nvjpeg_handle handle,
                                               tz_nvjpeg_encoder_state state, unsigned char *out,
                                               size_t *size, tz_cu_stream stream)
{
    if (!handle || !state || !size)
        return INVALID_PARAMETER;
    return encoded_retrieve("+nvjpegEncodeRetrieveBitstream", &state->image, out, size, stream);
}
