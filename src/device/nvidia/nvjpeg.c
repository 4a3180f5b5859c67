/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG decodes batches of codestreams and encodes single ones.
 *
 * A batch of the driver's is sorted by output format (grey, RGB, as stored), because a batch of
 * nvJPEG's has one format. Codestreams gather in one of two states, on the state's own stream, and
 * are given to nvJPEG when 64 have gathered or their samples reach a limit; then the other state
 * gathers. So the host parses one batch while the device decodes the other. All streams begin after
 * the work that is in the queue, and at the end the queue waits for all of them. The order matters:
 * a state that began after another had ended would wait for it through the queue.
 *
 * nvJPEG itself says which codestreams fit, from their headers. A codestream that it cannot decode
 * is marked as failed, and the CPU decodes it. An internal error while the context works is
 * nvJPEG's fault: it is switched off for this device. */
#include "device/nvidia/nvjpeg.h"

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

/* Samples of one batch, unless one codestream has more. */
enum { MAX_BATCH_SAMPLES = 16 << 20 };

const char *tz_nvjpeg_status_name(tz_nvjpeg_status status)
{
    switch (status) {
        TZ_NVJPEG_STATUSES(TZ_CASE_NAME)
    default:
        return "a status that is not known here";
    }
}

/* ---- objects ---- */

/* Waits for all states and empties them. */
static void drain_states(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        (void)tz_cu_side_stream_wait(s, &s->jpeg.states[i].side, &quiet);
        s->jpeg.states[i].count = 0;
    }
}

void tz_cu_jpeg_close(tz_cu_state *s)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    drain_states(s);
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        tz_cu_jpeg_state *state = &jpeg->states[i];
        if (state->state)
            (void)jpeg->api.JpegStateDestroy(state->state);
        state->state = NULL;
        tz_cu_side_stream_close(s, &state->side);
    }
    if (jpeg->handle)
        (void)jpeg->api.Destroy(jpeg->handle);
    jpeg->handle = NULL;
}

/* Creates the handle and the states. The handle interpolates chroma, as libjpeg does, and lets the
 * device read the Huffman codes of large batches; if it cannot do the latter, the default. */
static bool create_objects(tz_cu_state *s)
{
    static const tz_nvjpeg_backend backends[] = {TZ_NVJPEG_BACKEND_GPU_HYBRID,
                                                 TZ_NVJPEG_BACKEND_DEFAULT};
    const tz_context quiet = {.ifd = -1};
    tz_cu_jpeg *jpeg = &s->jpeg;
    bool created = false;
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && !created; i++)
        created = jpeg->api.CreateEx(backends[i], NULL, NULL, TZ_NVJPEG_FLAG_INTERPOLATE,
                                     &jpeg->handle) == 0;
    if (!created)
        jpeg->handle = NULL;
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES && created; i++) {
        tz_cu_jpeg_state *state = &jpeg->states[i];
        created = tz_cu_side_stream_open(s, &state->side, &quiet) == TZ_OK &&
                  jpeg->api.JpegStateCreate(jpeg->handle, &state->state) == 0;
    }
    return created;
}

/* ---- batches of one format ---- */

/* nvJPEG is not asked again. */
static void switch_off_nvjpeg(tz_cu_jpeg *jpeg, const char *why)
{
    jpeg->is_available = false;
    tz_device_textf(jpeg->reason, sizeof jpeg->reason, "nvJPEG: %s", why);
}

/* Sets *done if the call succeeded. If it did not, the codestream or its format may not be one that
 * nvJPEG decodes; or nvJPEG is at fault, and is switched off; or the device is: an error. */
static tz_result check_batch_status(tz_cu_state *s, const tz_cu_jpeg_state *state,
                                    const char *function, tz_nvjpeg_status status, bool *done,
                                    const tz_context *ctx)
{
    char why[128];
    *done = status == TZ_NVJPEG_SUCCESS;
    if (status != TZ_NVJPEG_EXECUTION_FAILED && status != TZ_NVJPEG_ARCH_MISMATCH &&
        status != TZ_NVJPEG_INTERNAL_ERROR)
        return TZ_OK;
    tz_device_textf(why, sizeof why, "%s: %s (%d)", function, tz_nvjpeg_status_name(status),
                    (int)status);
    if (!tz_cu_context_works(s, state->side.stream))
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(), "%s", why);
    switch_off_nvjpeg(&s->jpeg, why);
    return TZ_OK;
}

/* Decodes the codestreams of a state. Setting a state to a size of batch allocates, so it is done
 * only when that differs from the last; a state that has failed is set again. */
static tz_result decode_state_batch(tz_cu_state *s, tz_cu_jpeg_state *state, bool *done,
                                    const tz_context *ctx)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    const tz_nvjpeg_api *api = &jpeg->api;
    const int count = (int)state->count;
    if (state->size != count) {
        const tz_nvjpeg_status status =
            api->DecodeBatchedInitialize(jpeg->handle, state->state, count, 1, state->format);
        TZ_TRY(check_batch_status(s, state, "nvjpegDecodeBatchedInitialize", status, done, ctx));
        if (!*done)
            return TZ_OK;
    }
    const tz_nvjpeg_status status = api->DecodeBatched(
        jpeg->handle, state->state, state->data, state->sizes, state->images, state->side.stream);
    TZ_TRY(check_batch_status(s, state, "nvjpegDecodeBatched", status, done, ctx));
    state->size = *done ? count : 0;
    return TZ_OK;
}

/* Decodes the batch that has gathered. The next one gathers in the other state. */
static tz_result flush_batch(tz_cu_state *s, const tz_context *ctx)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    tz_cu_jpeg_state *state = &jpeg->states[jpeg->next_state];
    bool done = false;
    if (state->count == 0)
        return TZ_OK;
    jpeg->next_state = (jpeg->next_state + 1) % TZ_CU_JPEG_STATES;
    const tz_result result = jpeg->is_available ? decode_state_batch(s, state, &done, ctx) : TZ_OK;
    for (uint64_t i = 0; i < state->count; i++)
        state->codestreams[i]->failed = !done;
    state->count = 0;
    /* also after an error: some of the work may be in the stream */
    const tz_result noted = tz_cu_side_stream_record(s, &state->side, ctx);
    return result == TZ_OK ? noted : result;
}

/* ---- batches of the driver's ---- */

/* Formats in the order in which they are decoded. Releases before 13 lack the third. */
static const tz_nvjpeg_output formats[] = {TZ_NVJPEG_OUTPUT_Y, TZ_NVJPEG_OUTPUT_RGBI,
                                           TZ_NVJPEG_OUTPUT_UNCHANGEDI};

static tz_nvjpeg_output output_format_of(const tz_codestream *codestream)
{
    if (codestream->samples == 1)
        return TZ_NVJPEG_OUTPUT_Y;
    return codestream->to_rgb ? TZ_NVJPEG_OUTPUT_RGBI : TZ_NVJPEG_OUTPUT_UNCHANGEDI;
}

/* Compares the codestream's header, as nvJPEG reads it, with the tile that it should be. Chroma may
 * be subsampled only if nvJPEG interpolates it on the way to RGB. */
static bool stream_fits_nvjpeg(const tz_cu_jpeg *jpeg, const tz_codestream *codestream)
{
    const tz_nvjpeg_output format = output_format_of(codestream);
    int components = 0, widths[4] = {0}, heights[4] = {0};
    tz_nvjpeg_sampling sampling = -1;
    if (codestream->sample_bytes != 1 || codestream->is_signed ||
        (codestream->samples != 1 && codestream->samples != 3) ||
        (format == TZ_NVJPEG_OUTPUT_UNCHANGEDI && jpeg->info.version[0] < 13))
        return false;
    if (jpeg->api.GetImageInfo(jpeg->handle, codestream->bytes, (size_t)codestream->size,
                               &components, &sampling, widths, heights) != 0 ||
        components != codestream->samples || widths[0] <= 0 || heights[0] <= 0 ||
        (uint32_t)widths[0] != codestream->width || (uint32_t)heights[0] != codestream->height)
        return false;
    if (format == TZ_NVJPEG_OUTPUT_Y)
        return sampling == TZ_NVJPEG_SAMPLING_GRAY;
    const bool is_subsampled =
        sampling > TZ_NVJPEG_SAMPLING_444 && sampling < TZ_NVJPEG_SAMPLING_GRAY;
    return sampling == TZ_NVJPEG_SAMPLING_444 ||
           (format == TZ_NVJPEG_OUTPUT_RGBI && jpeg->interpolates && is_subsampled);
}

/* Adds a codestream to the batch that gathers, which is decoded first if it is full. The first of a
 * batch prepares the state: its last batch has ended, and its stream follows the queue. */
static tz_result add_to_batch(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                              tz_codestream *codestream, const tz_context *ctx)
{
    const uint64_t samples = (uint64_t)codestream->width * codestream->height * codestream->samples;
    const uint64_t to = tz_cu_address_of(batch->slab) + codestream->at;
    tz_cu_jpeg_state *state = &s->jpeg.states[s->jpeg.next_state];
    if (state->count == TZ_CU_JPEG_BATCH ||
        (state->count > 0 && state->samples + samples > MAX_BATCH_SAMPLES))
        TZ_TRY(flush_batch(s, ctx));
    state = &s->jpeg.states[s->jpeg.next_state];
    if (state->count == 0) {
        const tz_nvjpeg_output format = output_format_of(codestream);
        TZ_TRY(state->begun ? tz_cu_side_stream_wait(s, &state->side, ctx)
                            : tz_cu_side_stream_begin(s, &state->side, queue, ctx));
        state->begun = true;
        if (state->format != format)
            state->size = 0;
        state->format = format;
        state->samples = 0;
    }
    const uint64_t i = state->count++;
    state->samples += samples;
    state->data[i] = codestream->bytes;
    state->sizes[i] = (size_t)codestream->size;
    state->images[i] = (tz_nvjpeg_image){{(unsigned char *)(uintptr_t)to},
                                         {(size_t)codestream->width * codestream->samples}};
    state->codestreams[i] = codestream;
    return TZ_OK;
}

/* Decodes a batch, format by format. All codestreams are looked at first, on the host alone. */
static tz_result decode_formats(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                                const tz_context *ctx)
{
    tz_cu_jpeg_state *states = s->jpeg.states;
    for (uint64_t i = 0; i < batch->count; i++)
        batch->codestreams[i].failed =
            !s->jpeg.is_available || !stream_fits_nvjpeg(&s->jpeg, &batch->codestreams[i]);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        for (uint64_t k = 0; k < batch->count; k++) {
            tz_codestream *codestream = &batch->codestreams[k];
            if (!codestream->failed && output_format_of(codestream) == formats[i])
                TZ_TRY(add_to_batch(s, queue, batch, codestream, ctx));
        }
        TZ_TRY(flush_batch(s, ctx));
    }
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        if (states[i].begun)
            TZ_TRY(tz_cu_side_stream_end(s, &states[i].side, queue, ctx));
    }
    return TZ_OK;
}

/* After a failure, no stream goes on that the queue does not wait for. */
static tz_result decode_jpeg_batch(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx)
{
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++)
        s->jpeg.states[i].begun = false;
    const tz_result result = decode_formats(s, queue, batch, ctx);
    if (result != TZ_OK)
        drain_states(s);
    return result;
}

tz_result tz_cu_jpeg_decode(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_context *ctx)
{
    pthread_mutex_lock(&s->jpeg.lock);
    const tz_result result = decode_jpeg_batch(s, queue, batch, ctx);
    pthread_mutex_unlock(&s->jpeg.lock);
    return result;
}

/* ---- looking for nvJPEG ---- */

/* Loads nvJPEG, makes its objects and tests it, with the lock held. nvJPEG counts as available and
 * interpolating for its own test, which then says if it is. A library that does not pass has its
 * objects destroyed, and is not looked for again. */
static void find_nvjpeg(tz_cu_state *s)
{
    static const char cannot_begin[] = "it cannot begin on this device";
    tz_cu_jpeg *jpeg = &s->jpeg;
    tz_error why;
    const tz_context quiet = {.ifd = -1}, ctx = {.err = &why, .ifd = -1};
    char reason[128];
    const bool loaded =
        tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVJPEG], s->library_names[TZ_NVIDIA_NVJPEG],
                       &jpeg->api, &jpeg->info, reason, sizeof reason);
    if (!loaded || tz_cu_enter(s, &quiet) != TZ_OK) {
        switch_off_nvjpeg(jpeg, loaded ? cannot_begin : reason);
        return;
    }
    jpeg->is_available = jpeg->interpolates = true;
    if (!create_objects(s))
        switch_off_nvjpeg(jpeg, cannot_begin);
    else if (tz_cu_self_test_codestream(s, TZ_COMPRESSION_JPEG, decode_jpeg_batch,
                                        &jpeg->interpolates, &ctx) != TZ_OK)
        switch_off_nvjpeg(jpeg, why.message);
    if (!jpeg->is_available)
        tz_cu_jpeg_close(s);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

bool tz_cu_jpeg_find(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    pthread_mutex_lock(&jpeg->lock);
    if (!jpeg->searched)
        find_nvjpeg(s);
    jpeg->searched = true;
    const bool is_available = jpeg->is_available;
    if (!is_available)
        tz_device_text(out->reason, sizeof out->reason, jpeg->reason);
    pthread_mutex_unlock(&jpeg->lock);
    if (!is_available)
        return false;
    const uint32_t *v = jpeg->info.version;
    const uint64_t all = tz_mul_capped(samples, TZ_CU_JPEG_BATCH);
    const uint64_t limit = tz_max(samples, MAX_BATCH_SAMPLES);
    out->bytes = tz_mul_capped(tz_min(all, limit), TZ_CU_JPEG_STATES * TZ_CU_JPEG_BYTES_PER_SAMPLE);
    tz_device_textf(out->name, sizeof out->name, "nvJPEG %u.%u.%u", v[0], v[1], v[2]);
    return true;
}

/* ---- encoding: codestreams have all their tables ---- */

static int32_t open_jpeg_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder)
{
    const tz_nvjpeg_api *api = &s->jpeg.api;
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
    const tz_nvjpeg_api *api = &s->jpeg.api;
    if (encoder->params)
        (void)api->EncoderParamsDestroy(encoder->params);
    if (encoder->state)
        (void)api->EncoderStateDestroy(encoder->state);
}

/* nvJPEG encodes grey tiles, and RGB as YCbCr with chroma that is whole, halved across, or halved
 * in both directions. */
static int32_t configure_jpeg_encoder(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                                      const tz_codestream *codestream,
                                      const tz_codestream_encoding *how)
{
    const tz_nvjpeg_api *api = &s->jpeg.api;
    const tz_cu_stream stream = encoder->side.stream;
    const uint8_t across = how->subsampling[0], down = how->subsampling[1];
    const bool is_grey = codestream->samples == 1;
    const bool is_colour = codestream->samples == 3 && how->to_ycbcr && across >= 1 &&
                           across <= 2 && down >= 1 && down <= across;
    if (codestream->sample_bytes != 1 || codestream->is_signed || how->quality == 0 ||
        !(is_grey || is_colour))
        return TZ_NVJPEG_IMPLEMENTATION_NOT_SUPPORTED;
    const tz_nvjpeg_sampling sampling = is_grey       ? TZ_NVJPEG_SAMPLING_GRAY
                                        : across == 1 ? TZ_NVJPEG_SAMPLING_444
                                        : down == 1   ? TZ_NVJPEG_SAMPLING_422
                                                      : TZ_NVJPEG_SAMPLING_420;
    const tz_nvjpeg_status status =
        api->EncoderParamsSetQuality(encoder->params, (int)how->quality, stream);
    return status != 0 ? status
                       : api->EncoderParamsSetSamplingFactors(encoder->params, sampling, stream);
}

static int32_t encode_jpeg(tz_cu_state *s, tz_cu_codestream_encoder *encoder,
                           const tz_codestream *codestream, tz_cu_address at)
{
    const tz_nvjpeg_api *api = &s->jpeg.api;
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
    return s->jpeg.api.EncodeRetrieveBitstream(s->jpeg.handle, encoder->state, to, size,
                                               encoder->side.stream);
}

const tz_cu_codestream_encoder_calls tz_cu_jpeg_encoder_calls = {
    .prefix = "nvjpeg",
    .bytes_per_sample = 8, /* planes, coefficients, and the codestream */
    .status_name = tz_nvjpeg_status_name,
    .open = open_jpeg_encoder,
    .close = close_jpeg_encoder,
    .configure = configure_jpeg_encoder,
    .encode = encode_jpeg,
    .retrieve = retrieve_jpeg,
};
