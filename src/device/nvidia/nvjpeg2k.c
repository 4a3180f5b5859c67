/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG2000 decodes and encodes single codestreams; it has no call for many. Codestreams overlap
 * if each has a state and a stream of its own, so a device has eight decoders, made once, and
 * the codestreams of a batch go to them in turn. All streams begin after the work that is in the
 * queue, and at the end the queue waits for all of them; the host waits only for a decoder that is
 * needed again.
 *
 * Each codestream is parsed first and compared with the tile that it should be. Overviews inside a
 * codestream (its lower resolutions) are decoded with DecodeTile, which is given the number of
 * resolutions to decode; whole images with DecodeImage.
 *
 * A codestream that nvJPEG2000 cannot decode is marked as failed with any status, as long as
 * the context works: the CPU decodes it. */
#include "device/nvidia/nvjpeg2k.h"

#include "base/mem.h"
#include "codec/jp2_markers.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

const char *tz_nvjpeg2k_status_name(tz_nvjpeg2k_status status)
{
    switch (status) {
        TZ_NVJPEG2K_STATUSES(TZ_CASE_NAME)
    default:
        return "a status that is not known here";
    }
}

/* Returns TZ_OK, or "nvjpeg2kCreateSimple: ARCH_MISMATCH (7)" as TZ_ERR_UNSUPPORTED: that the
 * library cannot begin says nothing of the device. */
static tz_result check_created(const char *function, tz_nvjpeg2k_status status,
                               const tz_context *ctx)
{
    if (status == 0)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "nvjpeg2k%s: %s (%d)", function, tz_nvjpeg2k_status_name(status), (int)status);
}

/* ---- objects ---- */

static void wait_for_decoders(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++)
        (void)tz_cu_side_stream_wait(s, &s->j2k.decoders[i].side, &quiet);
}

void tz_cu_j2k_close(tz_cu_state *s)
{
    tz_cu_j2k *j2k = &s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->api;
    if (j2k->encoder)
        (void)api->EncoderDestroy(j2k->encoder);
    wait_for_decoders(s);
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++) {
        tz_cu_j2k_decoder *decoder = &j2k->decoders[i];
        if (decoder->parsed)
            (void)api->StreamDestroy(decoder->parsed);
        if (decoder->state)
            (void)api->DecodeStateDestroy(decoder->state);
        tz_cu_side_stream_close(s, &decoder->side);
        *decoder = (tz_cu_j2k_decoder){.state = NULL};
    }
    if (j2k->one_sample)
        (void)api->DecodeParamsDestroy(j2k->one_sample);
    if (j2k->by_pixel)
        (void)api->DecodeParamsDestroy(j2k->by_pixel);
    if (j2k->handle)
        (void)api->Destroy(j2k->handle);
    j2k->encoder = NULL;
    j2k->one_sample = j2k->by_pixel = NULL;
    j2k->handle = NULL;
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
    const tz_nvjpeg2k_api *api = &j2k->api;
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

/* ---- one codestream ---- */

/* Compares a parsed codestream with the tile that it should be. *resolutions becomes the number to
 * decode; 0 is all of them, the whole image. */
static bool stream_fits(const tz_nvjpeg2k_api *api, tz_nvjpeg2k_stream parsed,
                        const tz_codestream *codestream, uint32_t *resolutions)
{
    const uint32_t width = codestream->width, height = codestream->height;
    const bool whole = codestream->decode_reduction == 0;
    uint32_t count = 0;
    tz_nvjpeg2k_image_info is;
    if (api->StreamGetImageInfo(parsed, &is) != 0 || is.num_components != codestream->samples)
        return false;
    if (whole && (is.image_width != width || is.image_height != height))
        return false;
    /* of several tiles DecodeTile would decode one */
    if (!whole && (is.num_tiles_x != 1 || is.num_tiles_y != 1 ||
                   api->StreamGetResolutionsInTile(parsed, 0, &count) != 0 ||
                   count <= codestream->decode_reduction))
        return false;
    *resolutions = whole ? 0 : count - codestream->decode_reduction;
    for (uint32_t i = 0; i < is.num_components; i++) {
        tz_nvjpeg2k_component_info component;
        if (api->StreamGetImageComponentInfo(parsed, &component, i) != 0 ||
            component.precision != 8 * codestream->sample_bytes ||
            (component.sgn != 0) != codestream->is_signed)
            return false;
        uint32_t component_width = component.component_width;
        uint32_t component_height = component.component_height;
        if (!whole && api->StreamGetResolutionComponentDim(
                          parsed, i, 0, *resolutions - 1, &component_width, &component_height) != 0)
            return false;
        if (component_width != width || component_height != height)
            return false;
    }
    return true;
}

/* The type of samples in device memory; their precision is that of the codestream. */
static int32_t sample_type_of(const tz_codestream *codestream)
{
    if (codestream->sample_bytes == 1)
        return TZ_NVJPEG2K_UINT8;
    return codestream->is_signed ? TZ_NVJPEG2K_INT16 : TZ_NVJPEG2K_UINT16;
}

/* ---- batches ---- */

/* A batch that is being decoded. */
typedef struct decode_run {
    tz_cu_state *s;
    uint32_t queue;
    tz_cu_address slab;
    bool begun[TZ_CU_J2K_STATES]; /* the stream of a decoder follows the queue */
} decode_run;

/* Decodes one codestream with the next decoder. One that does not fit leaves the decoder to the
 * following codestream. */
static tz_result decode_codestream(decode_run *t, tz_codestream *codestream, const tz_context *ctx)
{
    tz_cu_j2k *j2k = &t->s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->api;
    const uint32_t index = j2k->next;
    tz_cu_j2k_decoder *decoder = &j2k->decoders[index];
    uint32_t resolutions = 0;
    TZ_TRY(tz_cu_side_stream_wait(t->s, &decoder->side, ctx));
    codestream->failed = api->StreamParse(j2k->handle, codestream->bytes, (size_t)codestream->size,
                                          0, 0, decoder->parsed) != 0 ||
                         !stream_fits(api, decoder->parsed, codestream, &resolutions);
    if (codestream->failed)
        return TZ_OK;
    if (!t->begun[index])
        TZ_TRY(tz_cu_side_stream_begin(t->s, &decoder->side, t->queue, ctx));
    t->begun[index] = true;
    j2k->next = (index + 1) % TZ_CU_J2K_STATES;

    void *plane = (void *)(uintptr_t)(t->slab + codestream->at);
    size_t pitch = (size_t)codestream->width * codestream->samples * codestream->sample_bytes;
    tz_nvjpeg2k_image image = {&plane, &pitch, sample_type_of(codestream), codestream->samples};
    const tz_nvjpeg2k_decode_params params =
        codestream->samples > 1 ? j2k->by_pixel : j2k->one_sample;
    const tz_nvjpeg2k_status status =
        resolutions == 0 ? api->DecodeImage(j2k->handle, decoder->state, decoder->parsed, params,
                                            &image, decoder->side.stream)
                         : api->DecodeTile(j2k->handle, decoder->state, decoder->parsed, params, 0,
                                           resolutions, &image, decoder->side.stream);
    codestream->failed = status != 0;
    /* also after an error: some of the work may be in the stream */
    TZ_TRY(tz_cu_side_stream_record(t->s, &decoder->side, ctx));
    if (status == 0 || tz_cu_context_works(t->s, decoder->side.stream))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(), "nvjpeg2k%s: %s (%d)",
                   resolutions == 0 ? "DecodeImage" : "DecodeTile", tz_nvjpeg2k_status_name(status),
                   (int)status);
}

/* Streams end when all have begun: a decoder that began after another had ended would wait for it
 * through the queue. After a failure, no stream goes on that the queue does not wait for. */
static tz_result decode_j2k_batch(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                                  const tz_context *ctx)
{
    decode_run t = {.s = s, .queue = queue, .slab = tz_cu_address_of(batch->slab)};
    tz_result result = TZ_OK;
    for (uint64_t i = 0; i < batch->count && result == TZ_OK; i++)
        result = decode_codestream(&t, &batch->codestreams[i], ctx);
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES && result == TZ_OK; i++) {
        if (t.begun[i])
            result = tz_cu_side_stream_end(s, &s->j2k.decoders[i].side, queue, ctx);
    }
    if (result != TZ_OK)
        wait_for_decoders(s);
    return result;
}

/* ---- looking for nvJPEG2000 ---- */

/* Loads and tests the library; *reason is empty if it can be used. */
static void find_nvjpeg2k(tz_cu_state *s, char *reason, size_t reason_size)
{
    tz_cu_j2k *j2k = &s->j2k;
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    if (!tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVJPEG2K],
                        s->library_names[TZ_NVIDIA_NVJPEG2K], &j2k->api, &j2k->info, reason,
                        reason_size))
        return;
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK) {
        result = create_objects(s, &ctx);
        if (result == TZ_OK)
            result = tz_cu_self_test_codestream(s, TZ_COMPRESSION_JPEG2000, decode_j2k_batch, NULL,
                                                &ctx);
        if (result != TZ_OK)
            tz_cu_j2k_close(s);
        result = tz_cu_leave(s, result, &ctx);
    }
    tz_device_text(reason, reason_size, result == TZ_OK ? "" : why.message);
}

/* The first call looks for the library; later ones return its answer. */
static bool nvjpeg2k_is_available(tz_cu_state *s)
{
    tz_cu_j2k *j2k = &s->j2k;
    char reason[256] = "";
    pthread_mutex_lock(&j2k->lock);
    if (!j2k->searched) {
        find_nvjpeg2k(s, reason, sizeof reason);
        j2k->is_available = reason[0] == '\0';
        tz_device_textf(j2k->reason, sizeof j2k->reason, "nvJPEG2000: %s", reason);
    }
    j2k->searched = true;
    pthread_mutex_unlock(&j2k->lock);
    return j2k->is_available;
}

/* nvJPEG2000 does not report the memory that it needs. For each codestream under way that is
 * coefficients of 32 bits, twice for the wavelets, with as much again for code blocks and stored
 * bytes; and its kernels. */
enum { BYTES_PER_SAMPLE = 16, BYTES_PER_STATE = 1 << 20, BYTES_OF_LIBRARY = 32 << 20 };

bool tz_cu_j2k_find(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    tz_cu_j2k *j2k = &s->j2k;
    if (!nvjpeg2k_is_available(s)) {
        tz_device_text(out->reason, sizeof out->reason, j2k->reason);
        return false;
    }
    const uint32_t *v = j2k->info.version;
    const uint64_t one = tz_add_capped(tz_mul_capped(samples, BYTES_PER_SAMPLE), BYTES_PER_STATE);
    tz_device_textf(out->name, sizeof out->name, "nvJPEG2000 %u.%u.%u", v[0], v[1], v[2]);
    out->bytes = tz_add_capped(tz_mul_capped(one, TZ_CU_J2K_STATES), BYTES_OF_LIBRARY);
    return true;
}

tz_result tz_cu_j2k_decode(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                           const tz_context *ctx)
{
    tz_cu_j2k *j2k = &s->j2k;
    if (!nvjpeg2k_is_available(s))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(), "%s",
                       j2k->reason);
    pthread_mutex_lock(&j2k->lock);
    const tz_result result = decode_j2k_batch(s, queue, batch, ctx);
    pthread_mutex_unlock(&j2k->lock);
    return result;
}

/* ---- encoding: bare codestreams of one tile and one layer ---- */

enum { CODE_BLOCK = 64 };

/* All encoders share the library's handle; the first one creates it. */
static int32_t open_j2k_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg2k_api *api = &s->j2k.api;
    tz_nvjpeg2k_encode_state state = NULL;
    tz_nvjpeg2k_encode_params params = NULL;
    int32_t status = s->j2k.encoder ? 0 : api->EncoderCreateSimple(&s->j2k.encoder);
    if (status != 0) {
        s->j2k.encoder = NULL;
        return status;
    }
    status = api->EncodeStateCreate(s->j2k.encoder, &state);
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
    const tz_nvjpeg2k_api *api = &s->j2k.api;
    if (encoder->params)
        (void)api->EncodeParamsDestroy(encoder->params);
    if (encoder->state)
        (void)api->EncodeStateDestroy(encoder->state);
}

/* nvJPEG2000 refuses an unknown colour space. Colours are decorrelated for samples of 8 bits only:
 * that takes another bit, and it has no more than 16. */
static int32_t configure_j2k_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                                     const tz_codestream *codestream,
                                     const tz_codestream_encoding *how)
{
    const tz_nvjpeg2k_api *api = &s->j2k.api;
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
    if (codestream->samples < 1 || codestream->samples > 4 ||
        (codestream->sample_bytes == 1 && codestream->is_signed))
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
    const tz_nvjpeg2k_image image = {&plane, &pitch, sample_type_of(codestream),
                                     codestream->samples};
    return s->j2k.api.Encode(s->j2k.encoder, encoder->state, encoder->params, &image,
                             encoder->side.stream);
}

static int32_t retrieve_j2k(tz_cu_state *s, tz_cu_codestream_encoder *encoder, uint8_t *to,
                            size_t *size)
{
    return s->j2k.api.EncodeRetrieveBitstream(s->j2k.encoder, encoder->state, to, size,
                                              encoder->side.stream);
}

const tz_cu_codestream_encoder_calls tz_cu_j2k_encoder_calls = {
    .prefix = "nvjpeg2k",
    .bytes_per_sample = BYTES_PER_SAMPLE,
    .status_name = tz_nvjpeg2k_status_name,
    .open = open_j2k_encoder,
    .close = close_j2k_encoder,
    .configure = configure_j2k_encoder,
    .encode = encode_j2k,
    .retrieve = retrieve_j2k,
};
