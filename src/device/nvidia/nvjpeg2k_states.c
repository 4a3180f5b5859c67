/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: what nvJPEG2000 needs to decode. It has no call for many pictures: they overlap
 * where each has a state and a stream of its own. All of it is made once for a device. */
#include "device/cuda/cuda_internal.h"

tz_result tz_cu_j2k_check(const char *function, tz_nvjpeg2k_status status, tz_result otherwise,
                          const tz_context *ctx)
{
    if (status == 0)
        return TZ_OK;
    return tz_fail(ctx, otherwise,
                   otherwise == TZ_ERR_DEVICE ? TZ_CAUSE_DEVICE : TZ_CAUSE_UNSUPPORTED,
                   tz_no_location(), "nvjpeg2k%s: %s (%d)", function,
                   tz_nvjpeg2k_status_name(status), (int)status);
}

/* ---- making ---- */

/* That a library cannot begin says nothing of the device. */
static tz_result check_created(const char *function, tz_nvjpeg2k_status status,
                               const tz_context *ctx)
{
    return tz_cu_j2k_check(function, status, TZ_ERR_UNSUPPORTED, ctx);
}

static tz_result make_params(const tz_nvjpeg2k_api *api, tz_nvjpeg2k_decode_params *out,
                             tz_nvjpeg2k_format format, const tz_context *ctx)
{
    TZ_TRY(check_created("DecodeParamsCreate", api->DecodeParamsCreate(out), ctx));
    TZ_TRY(check_created("DecodeParamsSetRGBOutput", api->DecodeParamsSetRGBOutput(*out, 0), ctx));
    return check_created("DecodeParamsSetOutputFormat",
                         api->DecodeParamsSetOutputFormat(*out, format), ctx);
}

static tz_result create_objects(tz_cu_state *s, const tz_context *ctx)
{
    tz_cu_j2k *j2k = &s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->nvjpeg2k.api;
    TZ_TRY(check_created("CreateSimple", api->CreateSimple(&j2k->handle), ctx));
    TZ_TRY(make_params(api, &j2k->one_sample, TZ_NVJPEG2K_PLANAR, ctx));
    TZ_TRY(make_params(api, &j2k->by_pixel, TZ_NVJPEG2K_INTERLEAVED, ctx));
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++) {
        tz_cu_j2k_decoder *d = &j2k->decoders[i];
        TZ_TRY(tz_cu_side_stream_open(s, &d->side, ctx));
        TZ_TRY(check_created("DecodeStateCreate", api->DecodeStateCreate(j2k->handle, &d->state),
                             ctx));
        TZ_TRY(check_created("StreamCreate", api->StreamCreate(&d->parsed), ctx));
    }
    return TZ_OK;
}

tz_result tz_cu_j2k_create(tz_cu_state *s, const tz_context *ctx)
{
    const tz_result result = create_objects(s, ctx);
    if (result != TZ_OK)
        tz_cu_j2k_close(s);
    return result;
}

/* ---- releasing ---- */

void tz_cu_j2k_wait_all(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++)
        (void)tz_cu_side_stream_wait(s, &s->j2k.decoders[i].side, &quiet);
}

static void close_decoder(tz_cu_state *s, tz_cu_j2k_decoder *decoder)
{
    const tz_nvjpeg2k_api *api = &s->j2k.nvjpeg2k.api;
    if (decoder->parsed)
        (void)api->StreamDestroy(decoder->parsed);
    if (decoder->state)
        (void)api->DecodeStateDestroy(decoder->state);
    tz_cu_side_stream_close(s, &decoder->side);
    *decoder = (tz_cu_j2k_decoder){.state = NULL};
}

void tz_cu_j2k_close(tz_cu_state *s)
{
    tz_cu_j2k *j2k = &s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->nvjpeg2k.api;
    tz_cu_j2k_wait_all(s);
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++)
        close_decoder(s, &j2k->decoders[i]);
    if (j2k->one_sample)
        (void)api->DecodeParamsDestroy(j2k->one_sample);
    if (j2k->by_pixel)
        (void)api->DecodeParamsDestroy(j2k->by_pixel);
    if (j2k->handle)
        (void)api->Destroy(j2k->handle);
    j2k->one_sample = j2k->by_pixel = NULL;
    j2k->handle = NULL;
}
