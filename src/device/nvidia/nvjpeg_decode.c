/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures decoded by nvJPEG, in batches of one format each. */
#include "device/nvidia/nvjpeg_decode.h"

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

enum { MAX_BATCH_SAMPLES = 16 << 20 }; /* of one batch, unless one picture has more */

/* ---- objects ---- */

void tz_cu_jpeg_deinit(tz_cu_jpeg *jpeg)
{
    tz_free(jpeg->library);
    pthread_mutex_destroy(&jpeg->lock);
}

/* Nothing goes on that the queue does not wait for, and nothing has gathered. */
static void drain_states(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        (void)tz_cu_side_stream_wait(s, &s->jpeg.states[i].side, &quiet);
        s->jpeg.states[i].count = 0;
    }
}

static void close_state(tz_cu_state *s, tz_cu_jpeg_state *state)
{
    if (state->state)
        (void)s->jpeg.nvjpeg.api.JpegStateDestroy(state->state);
    state->state = NULL;
    tz_cu_side_stream_close(s, &state->side);
}

void tz_cu_jpeg_close(tz_cu_state *s)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    drain_states(s);
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++)
        close_state(s, &jpeg->states[i]);
    if (jpeg->handle)
        (void)jpeg->nvjpeg.api.Destroy(jpeg->handle);
    jpeg->handle = NULL;
}

/* With chroma interpolated, as the codec does it, and Huffman codes of large batches read by the
 * device; where it cannot do the latter, as it does. */
static bool make_handle(tz_cu_jpeg *jpeg)
{
    static const tz_nvjpeg_backend backends[] = {TZ_NVJPEG_BACKEND_GPU_HYBRID,
                                                 TZ_NVJPEG_BACKEND_DEFAULT};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (jpeg->nvjpeg.api.CreateEx(backends[i], NULL, NULL, TZ_NVJPEG_FLAG_INTERPOLATE,
                                      &jpeg->handle) == 0)
            return true;
    }
    jpeg->handle = NULL;
    return false;
}

static bool make_states(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    tz_cu_jpeg *jpeg = &s->jpeg;
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        tz_cu_jpeg_state *state = &jpeg->states[i];
        if (tz_cu_side_stream_open(s, &state->side, &quiet) != TZ_OK ||
            jpeg->nvjpeg.api.JpegStateCreate(jpeg->handle, &state->state) != 0)
            return false;
    }
    return true;
}

/* ---- batches ---- */

/* It is not asked again. */
static void switch_off_nvjpeg(tz_cu_jpeg *jpeg, const char *why)
{
    jpeg->is_available = false;
    tz_device_textf(jpeg->reason, sizeof jpeg->reason, "nvJPEG: %s", why);
}

/* What a call of a batch means. *done: it did what it was told. Where it did not, the stream or the
 * format may be none for it; or it is at fault itself, and off from then on; or the device is. */
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

static tz_result decode_state_batch(tz_cu_state *s, tz_cu_jpeg_state *state, bool *done,
                                    const tz_context *ctx)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    const tz_nvjpeg_api *api = &jpeg->nvjpeg.api;
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

/* Give it the batch that has gathered. The next one is for the other state. */
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
    /* whatever it says, some of the work may be in the stream */
    const tz_result noted = tz_cu_side_stream_record(s, &state->side, ctx);
    return result == TZ_OK ? noted : result;
}

/* ---- pictures ---- */

/* Formats in their order. Only the last releases have the third. */
static const tz_nvjpeg_output formats[TZ_CU_JPEG_FORMATS] = {
    TZ_NVJPEG_OUTPUT_Y, TZ_NVJPEG_OUTPUT_RGBI, TZ_NVJPEG_OUTPUT_UNCHANGEDI};

static tz_nvjpeg_output output_format_of(const tz_codestream *codestream)
{
    if (codestream->samples == 1)
        return TZ_NVJPEG_OUTPUT_Y;
    return codestream->to_rgb ? TZ_NVJPEG_OUTPUT_RGBI : TZ_NVJPEG_OUTPUT_UNCHANGEDI;
}

static bool sampling_fits(const tz_cu_jpeg *jpeg, tz_nvjpeg_output format,
                          tz_nvjpeg_sampling sampling)
{
    switch (format) {
    case TZ_NVJPEG_OUTPUT_Y:
        return sampling == TZ_NVJPEG_SAMPLING_GRAY;
    case TZ_NVJPEG_OUTPUT_RGBI:
        return sampling == TZ_NVJPEG_SAMPLING_444 ||
               (jpeg->interpolates && sampling > TZ_NVJPEG_SAMPLING_444 &&
                sampling < TZ_NVJPEG_SAMPLING_GRAY);
    default:
        return sampling == TZ_NVJPEG_SAMPLING_444;
    }
}

/* Whether the stream is of such a picture, by what nvJPEG reads in it. */
static bool stream_fits_nvjpeg(const tz_cu_jpeg *jpeg, const tz_codestream *codestream)
{
    int components = 0, widths[4] = {0}, heights[4] = {0};
    tz_nvjpeg_sampling sampling = -1;
    if (codestream->sample_bytes != 1 || codestream->is_signed ||
        (codestream->samples != 1 && codestream->samples != 3) ||
        (output_format_of(codestream) == TZ_NVJPEG_OUTPUT_UNCHANGEDI && jpeg->nvjpeg.major < 13))
        return false;
    return jpeg->nvjpeg.api.GetImageInfo(jpeg->handle, codestream->bytes, (size_t)codestream->size,
                                         &components, &sampling, widths, heights) == 0 &&
           components == codestream->samples && widths[0] > 0 && heights[0] > 0 &&
           (uint32_t)widths[0] == codestream->width && (uint32_t)heights[0] == codestream->height &&
           sampling_fits(jpeg, output_format_of(codestream), sampling);
}

/* A state for the first picture of a batch, when the host has waited for its last one. */
static tz_result begin_batch(tz_cu_state *s, uint32_t queue, tz_nvjpeg_output format,
                             const tz_context *ctx)
{
    tz_cu_jpeg_state *state = &s->jpeg.states[s->jpeg.next_state];
    TZ_TRY(state->begun ? tz_cu_side_stream_wait(s, &state->side, ctx)
                        : tz_cu_side_stream_begin(s, &state->side, queue, ctx));
    state->begun = true;
    if (state->format != format)
        state->size = 0;
    state->format = format;
    state->samples = 0;
    return TZ_OK;
}

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
    if (state->count == 0)
        TZ_TRY(begin_batch(s, queue, output_format_of(codestream), ctx));
    const uint64_t i = state->count++;
    state->samples += samples;
    state->data[i] = codestream->bytes;
    state->sizes[i] = (size_t)codestream->size;
    state->images[i] = (tz_nvjpeg_image){{(unsigned char *)(uintptr_t)to},
                                         {(size_t)codestream->width * codestream->samples}};
    state->codestreams[i] = codestream;
    return TZ_OK;
}

static tz_result decode_format(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                               tz_nvjpeg_output format, const tz_context *ctx)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_codestream *codestream = &batch->codestreams[i];
        if (!codestream->failed && output_format_of(codestream) == format)
            TZ_TRY(add_to_batch(s, queue, batch, codestream, ctx));
    }
    return flush_batch(s, ctx);
}

/* States end when all have begun: what the queue waits for, the next to begin would wait for. */
static tz_result decode_jpeg_batch(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx)
{
    tz_cu_jpeg_state *states = s->jpeg.states;
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++)
        states[i].begun = false;
    for (uint64_t i = 0; i < batch->count; i++)
        batch->codestreams[i].failed =
            !s->jpeg.is_available || !stream_fits_nvjpeg(&s->jpeg, &batch->codestreams[i]);
    for (size_t i = 0; i < TZ_CU_JPEG_FORMATS; i++)
        TZ_TRY(decode_format(s, queue, batch, formats[i], ctx));
    for (unsigned i = 0; i < TZ_CU_JPEG_STATES; i++) {
        if (states[i].begun)
            TZ_TRY(tz_cu_side_stream_end(s, &states[i].side, queue, ctx));
    }
    return TZ_OK;
}

static tz_result decode_jpeg_or_drain(tz_cu_state *s, uint32_t queue,
                                      const tz_codestream_batch *batch, const tz_context *ctx)
{
    const tz_result result = decode_jpeg_batch(s, queue, batch, ctx);
    if (result != TZ_OK)
        drain_states(s);
    return result;
}

tz_result tz_cu_jpeg_decode(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                            const tz_context *ctx)
{
    pthread_mutex_lock(&s->jpeg.lock);
    const tz_result result = decode_jpeg_or_drain(s, queue, batch, ctx);
    pthread_mutex_unlock(&s->jpeg.lock);
    return result;
}

/* ---- looking for it ---- */

/* It is there for its own trial, and whether it interpolates shows then. */
static tz_result self_test_nvjpeg(tz_cu_state *s, const tz_context *ctx)
{
    uint8_t samples[TZ_CU_SELF_TEST_BYTES];
    tz_cu_jpeg *jpeg = &s->jpeg;
    bool interpolates = false;
    jpeg->is_available = jpeg->interpolates = true;
    TZ_TRY(tz_cu_self_test_codestream(s, 7, decode_jpeg_or_drain, samples, ctx));
    if (!tz_cu_self_test_jpeg_matches(samples, &interpolates))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "it decodes a picture that is known to something else");
    jpeg->interpolates = interpolates;
    return TZ_OK;
}

static void open_nvjpeg(tz_cu_state *s)
{
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    if (!make_handle(&s->jpeg) || !make_states(s))
        switch_off_nvjpeg(&s->jpeg, "it cannot begin on this device");
    else if (self_test_nvjpeg(s, &ctx) != TZ_OK)
        switch_off_nvjpeg(&s->jpeg, why.message);
    if (!s->jpeg.is_available)
        tz_cu_jpeg_close(s);
}

/* That it is not there, does not answer or misbehaves is no failure: the cores decode then. */
static void find_nvjpeg(tz_cu_state *s)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    const tz_context quiet = {.ifd = -1};
    char reason[128] = "it cannot begin on this device";
    if (tz_nvjpeg_load(&jpeg->nvjpeg, jpeg->library, reason, sizeof reason) &&
        tz_cu_enter(s, &quiet) == TZ_OK) {
        open_nvjpeg(s);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    } else {
        switch_off_nvjpeg(jpeg, reason);
    }
}

bool tz_cu_jpeg_find(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    pthread_mutex_lock(&jpeg->lock);
    if (!jpeg->is_known)
        find_nvjpeg(s);
    jpeg->is_known = true;
    const bool is_available = jpeg->is_available;
    if (!is_available)
        tz_device_text(out->reason, sizeof out->reason, jpeg->reason);
    pthread_mutex_unlock(&jpeg->lock);
    if (!is_available)
        return false;
    const tz_nvjpeg *is = &jpeg->nvjpeg;
    const uint64_t max_samples = tz_max(samples, MAX_BATCH_SAMPLES);
    const uint64_t all = tz_mul_capped(samples, TZ_CU_JPEG_BATCH);
    out->bytes = tz_mul_capped(all < max_samples ? all : max_samples,
                               TZ_CU_JPEG_STATES * TZ_CU_JPEG_BYTES_PER_SAMPLE);
    tz_device_textf(out->name, sizeof out->name, "nvJPEG %u.%u.%u", is->major, is->minor,
                    is->patch);
    return true;
}
