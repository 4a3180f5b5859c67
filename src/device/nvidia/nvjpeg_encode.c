/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures encoded by nvJPEG: grey, and RGB as YCbCr. Streams have all their
 * tables. */
#include "base/mem.h"
#include "device/cuda/cuda_internal.h"

/* Of the device, for each sample of a picture under way, about: planes, coefficients, and the
 * stream. */
enum { BYTES_PER_SAMPLE = 8, BYTES_PER_ENCODER = 1 << 20 };

static int32_t open_jpeg_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg_api *api = &s->jpeg.nvjpeg.api;
    tz_nvjpeg_encoder_state state = NULL;
    tz_nvjpeg_encoder_params params = NULL;
    const tz_nvjpeg_status status =
        api->EncoderStateCreate(s->jpeg.handle, &state, encoder->side.stream);
    if (status != 0)
        return status;
    encoder->state = state;
    const tz_nvjpeg_status made =
        api->EncoderParamsCreate(s->jpeg.handle, &params, encoder->side.stream);
    if (made == 0)
        encoder->params = params;
    return made;
}

static void close_jpeg_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg_api *api = &s->jpeg.nvjpeg.api;
    if (encoder->params)
        (void)api->EncoderParamsDestroy(encoder->params);
    if (encoder->state)
        (void)api->EncoderStateDestroy(encoder->state);
}

static bool sampling_of(const tz_codestream *codestream, const tz_codestream_encoding *how,
                        tz_nvjpeg_sampling *out)
{
    const uint8_t across = how->subsampling[0], down = how->subsampling[1];
    *out = codestream->samples == 1 ? TZ_NVJPEG_SAMPLING_GRAY
           : across == 1            ? TZ_NVJPEG_SAMPLING_444
           : down == 1              ? TZ_NVJPEG_SAMPLING_422
                                    : TZ_NVJPEG_SAMPLING_420;
    return codestream->sample_bytes == 1 && !codestream->is_signed && how->quality > 0 &&
           (codestream->samples == 1 || (codestream->samples == 3 && how->to_ycbcr && across >= 1 &&
                                         across <= 2 && down >= 1 && down <= across));
}

static int32_t configure_jpeg_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                                      const tz_codestream *codestream,
                                      const tz_codestream_encoding *how)
{
    const tz_nvjpeg_api *api = &s->jpeg.nvjpeg.api;
    const tz_cu_stream stream = encoder->side.stream;
    tz_nvjpeg_sampling sampling;
    if (!sampling_of(codestream, how, &sampling))
        return TZ_NVJPEG_IMPLEMENTATION_NOT_SUPPORTED;
    const tz_nvjpeg_status status =
        api->EncoderParamsSetQuality(encoder->params, (int)how->quality, stream);
    return status != 0 ? status
                       : api->EncoderParamsSetSamplingFactors(encoder->params, sampling, stream);
}

static int32_t encode_jpeg(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                           const tz_codestream *codestream, tz_cu_address at)
{
    const tz_nvjpeg_api *api = &s->jpeg.nvjpeg.api;
    const tz_nvjpeg_image image = {{(unsigned char *)(uintptr_t)at},
                                   {(size_t)codestream->width * codestream->samples}};
    const int width = (int)codestream->width, height = (int)codestream->height;
    if (codestream->samples == 1)
        return api->EncodeYUV(s->jpeg.handle, encoder->state, encoder->params, &image,
                              TZ_NVJPEG_SAMPLING_GRAY, width, height, encoder->side.stream);
    return api->EncodeImage(s->jpeg.handle, encoder->state, encoder->params, &image,
                            TZ_NVJPEG_INPUT_RGBI, width, height, encoder->side.stream);
}

static int32_t retrieve_jpeg(tz_cu_state *s, tz_cu_codestream_encoder *encoder, uint8_t *to,
                             size_t *size)
{
    return s->jpeg.nvjpeg.api.EncodeRetrieveBitstream(s->jpeg.handle, encoder->state, to, size,
                                                      encoder->side.stream);
}

static const tz_cu_codestream_encoder_calls jpeg_encoder_calls = {
    "nvjpeg",           tz_nvjpeg_status_name,  open_jpeg_encoder,
    close_jpeg_encoder, configure_jpeg_encoder, encode_jpeg,
    retrieve_jpeg};

bool tz_cu_jpeg_find_encoder(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    if (!tz_cu_jpeg_find(s, samples, out) ||
        !tz_cu_codestream_encoders_find(s, &s->jpeg_encoders, &jpeg_encoder_calls))
        return false;
    const uint64_t one = tz_add_capped(tz_mul_capped(samples, BYTES_PER_SAMPLE), BYTES_PER_ENCODER);
    out->bytes = tz_mul_capped(one, TZ_CU_CODESTREAM_ENCODERS);
    out->at_once = TZ_CU_CODESTREAM_ENCODERS;
    return true;
}

tz_result tz_cu_jpeg_encode(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_codestream_encoding *how, tz_codestream_output *out,
                            const tz_context *ctx)
{
    return tz_cu_codestream_encoders_run(s, &s->jpeg_encoders, &jpeg_encoder_calls, queue, batch,
                                         how, out, ctx);
}

void tz_cu_jpeg_encode_close(tz_cu_state *s)
{
    tz_cu_codestream_encoders_close(s, &s->jpeg_encoders, &jpeg_encoder_calls);
}
