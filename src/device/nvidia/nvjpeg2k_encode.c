/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures encoded by nvJPEG2000: bare code streams of one tile and one layer. */
#include "base/mem.h"
#include "codec/jp2_markers.h"
#include "device/cuda/cuda_internal.h"

/* Of the device, for each sample of a picture under way, about: coefficients of 32 bits, twice for
 * the wavelets, and as much again for code blocks and the stream. */
enum { BYTES_PER_SAMPLE = 16, BYTES_PER_ENCODER = 1 << 20, CODE_BLOCK = 64 };

/* The library's handle of encoders is one for all: the first encoder of the set has made it. */
static int32_t open_j2k_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg2k_api *api = &s->j2k.nvjpeg2k.api;
    tz_nvjpeg2k_encode_state state = NULL;
    tz_nvjpeg2k_encode_params params = NULL;
    int32_t status = s->j2k_encoder ? 0 : api->EncoderCreateSimple(&s->j2k_encoder);
    if (status != 0) {
        s->j2k_encoder = NULL;
        return status;
    }
    status = api->EncodeStateCreate(s->j2k_encoder, &state);
    if (status != 0)
        return status;
    encoder->state = state;
    status = api->EncodeParamsCreate(&params);
    if (status == 0)
        encoder->params = params;
    return status;
}

static void close_j2k_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg2k_api *api = &s->j2k.nvjpeg2k.api;
    if (encoder->params)
        (void)api->EncodeParamsDestroy(encoder->params);
    if (encoder->state)
        (void)api->EncodeStateDestroy(encoder->state);
}

static bool j2k_accepts(const tz_codestream *codestream)
{
    return codestream->samples >= 1 && codestream->samples <= 4 &&
           (codestream->sample_bytes == 2 || !codestream->is_signed);
}

/* It refuses a colour space that is not known. Colours are decorrelated where that stays within the
 * bits that it has. */
static int32_t configure_j2k_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                                     const tz_codestream *codestream,
                                     const tz_codestream_encoding *how)
{
    const tz_nvjpeg2k_api *api = &s->j2k.nvjpeg2k.api;
    tz_nvjpeg2k_component_info components[4];
    tz_nvjpeg2k_encode_config config = {
        .stream_type = TZ_NVJPEG2K_CODE_STREAM,
        .color_space = codestream->samples < 3 ? TZ_NVJPEG2K_GRAY : TZ_NVJPEG2K_SRGB,
        .image_width = codestream->width,
        .image_height = codestream->height,
        .num_components = codestream->samples,
        .image_comp_info = components,
        .num_layers = 1,
        .mct_mode = how->to_ycbcr && codestream->samples == 3 && codestream->sample_bytes == 1,
        .num_resolutions = tz_jp2_resolution_count(codestream->width, codestream->height),
        .code_block_w = CODE_BLOCK,
        .code_block_h = CODE_BLOCK,
        .irreversible = how->quality > 0};
    if (!j2k_accepts(codestream))
        return TZ_NVJPEG_IMPLEMENTATION_NOT_SUPPORTED;
    for (uint32_t i = 0; i < 4; i++)
        components[i] = (tz_nvjpeg2k_component_info){codestream->width, codestream->height,
                                                     (uint8_t)(8 * codestream->sample_bytes),
                                                     codestream->is_signed};
    int32_t status = api->EncodeParamsSetEncodeConfig(encoder->params, &config);
    if (status == 0 && how->quality > 0)
        status = api->EncodeParamsSpecifyQuality(encoder->params, TZ_NVJPEG2K_TARGET_PSNR,
                                                 (double)tz_jp2_psnr(how->quality));
    if (status == 0)
        status = api->EncodeParamsSetInputFormat(encoder->params, codestream->samples > 1
                                                                      ? TZ_NVJPEG2K_INTERLEAVED
                                                                      : TZ_NVJPEG2K_PLANAR);
    return status;
}

static int32_t encode_j2k(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                          const tz_codestream *codestream, tz_cu_address at)
{
    void *plane = (void *)(uintptr_t)at;
    size_t pitch = (size_t)codestream->width * codestream->samples * codestream->sample_bytes;
    const int32_t type = codestream->sample_bytes == 1 ? TZ_NVJPEG2K_UINT8
                         : codestream->is_signed       ? TZ_NVJPEG2K_INT16
                                                       : TZ_NVJPEG2K_UINT16;
    const tz_nvjpeg2k_image image = {&plane, &pitch, type, codestream->samples};
    return s->j2k.nvjpeg2k.api.Encode(s->j2k_encoder, encoder->state, encoder->params, &image,
                                      encoder->side.stream);
}

static int32_t retrieve_j2k(tz_cu_state *s, tz_cu_codestream_encoder *encoder, uint8_t *to,
                            size_t *size)
{
    return s->j2k.nvjpeg2k.api.EncodeRetrieveBitstream(s->j2k_encoder, encoder->state, to, size,
                                                       encoder->side.stream);
}

static const tz_cu_codestream_encoder_calls j2k_encoder_calls = {
    "nvjpeg2k",        tz_nvjpeg2k_status_name, open_j2k_encoder,
    close_j2k_encoder, configure_j2k_encoder,   encode_j2k,
    retrieve_j2k};

bool tz_cu_j2k_find_encoder(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    if (!tz_cu_j2k_find(s, samples, out) ||
        !tz_cu_codestream_encoders_find(s, &s->j2k_encoders, &j2k_encoder_calls))
        return false;
    const uint64_t one = tz_add_capped(tz_mul_capped(samples, BYTES_PER_SAMPLE), BYTES_PER_ENCODER);
    out->bytes = tz_mul_capped(one, TZ_CU_CODESTREAM_ENCODERS);
    out->at_once = TZ_CU_CODESTREAM_ENCODERS;
    return true;
}

tz_result tz_cu_j2k_encode(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                           const tz_codestream_encoding *how, tz_codestream_output *out,
                           const tz_context *ctx)
{
    return tz_cu_codestream_encoders_run(s, &s->j2k_encoders, &j2k_encoder_calls, queue, batch, how,
                                         out, ctx);
}

void tz_cu_j2k_encode_close(tz_cu_state *s)
{
    tz_cu_codestream_encoders_close(s, &s->j2k_encoders, &j2k_encoder_calls);
    if (s->j2k_encoder)
        (void)s->j2k.nvjpeg2k.api.EncoderDestroy(s->j2k_encoder);
    s->j2k_encoder = NULL;
}
