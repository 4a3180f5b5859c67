/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures decoded by nvJPEG, in batches of one format each. */
#include "device/cuda_jpeg.h"

#include "base/mem.h"
#include "device/cuda_parts.h"
#include "device/cuda_trial.h"
#include "device/device_text.h"

enum { MOST_SAMPLES = 16 << 20 }; /* of one batch, unless one picture has more */

/* ---- objects ---- */

void tz_cu_jpeg_deinit(tz_cu_jpeg *jpeg)
{
    tz_free(jpeg->library);
    pthread_mutex_destroy(&jpeg->lock);
}

/* Nothing goes on that the queue does not wait for, and nothing has gathered. */
static void settle(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_JPEG_STATES; i++) {
        (void)tz_cu_slot_wait(s, &s->jpeg.states[i].slot, &quiet);
        s->jpeg.states[i].count = 0;
    }
}

static void close_state(tz_cu_state *s, tz_cu_jpeg_state *state)
{
    if (state->state)
        (void)s->jpeg.nvjpeg.api.JpegStateDestroy(state->state);
    state->state = NULL;
    tz_cu_slot_close(s, &state->slot);
}

void tz_cu_jpeg_close(tz_cu_state *s)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    settle(s);
    for (unsigned i = 0; i < TZ_JPEG_STATES; i++)
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
    for (unsigned i = 0; i < TZ_JPEG_STATES; i++) {
        tz_cu_jpeg_state *state = &jpeg->states[i];
        if (tz_cu_slot_open(s, &state->slot, &quiet) != TZ_OK ||
            jpeg->nvjpeg.api.JpegStateCreate(jpeg->handle, &state->state) != 0)
            return false;
    }
    return true;
}

/* ---- batches ---- */

/* It is not asked again. */
static void switch_off(tz_cu_jpeg *jpeg, const char *why)
{
    jpeg->is_there = false;
    tz_device_textf(jpeg->reason, sizeof jpeg->reason, "nvJPEG: %s", why);
}

/* What a call of a batch means. *done: it did what it was told. Where it did not, the stream or the
 * format may be none for it; or it is at fault itself, and off from then on; or the device is. */
static tz_result check(tz_cu_state *s, const tz_cu_jpeg_state *state, const char *function,
                       tz_nvjpeg_status status, bool *done, const tz_context *ctx)
{
    char why[128];
    *done = status == TZ_NVJPEG_SUCCESS;
    if (status != TZ_NVJPEG_EXECUTION_FAILED && status != TZ_NVJPEG_ARCH_MISMATCH &&
        status != TZ_NVJPEG_INTERNAL_ERROR)
        return TZ_OK;
    tz_device_textf(why, sizeof why, "%s: %s (%d)", function, tz_nvjpeg_status_name(status),
                    (int)status);
    if (!tz_cu_is_well(s, state->slot.stream))
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(), "%s", why);
    switch_off(&s->jpeg, why);
    return TZ_OK;
}

static tz_result decode(tz_cu_state *s, tz_cu_jpeg_state *state, bool *done, const tz_context *ctx)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    const tz_nvjpeg_api *api = &jpeg->nvjpeg.api;
    const int count = (int)state->count;
    if (state->size != count) {
        const tz_nvjpeg_status status =
            api->DecodeBatchedInitialize(jpeg->handle, state->state, count, 1, state->format);
        TZ_TRY(check(s, state, "nvjpegDecodeBatchedInitialize", status, done, ctx));
        if (!*done)
            return TZ_OK;
    }
    const tz_nvjpeg_status status = api->DecodeBatched(
        jpeg->handle, state->state, state->data, state->sizes, state->images, state->slot.stream);
    TZ_TRY(check(s, state, "nvjpegDecodeBatched", status, done, ctx));
    state->size = *done ? count : 0;
    return TZ_OK;
}

/* Give it the batch that has gathered. The next one is for the other state. */
static tz_result flush(tz_cu_state *s, const tz_context *ctx)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    tz_cu_jpeg_state *state = &jpeg->states[jpeg->turn];
    bool done = false;
    if (state->count == 0)
        return TZ_OK;
    jpeg->turn = (jpeg->turn + 1) % TZ_JPEG_STATES;
    const tz_result result = jpeg->is_there ? decode(s, state, &done, ctx) : TZ_OK;
    for (uint64_t i = 0; i < state->count; i++)
        state->pictures[i]->failed = !done;
    state->count = 0;
    /* whatever it says, some of the work may be in the stream */
    const tz_result noted = tz_cu_slot_note(s, &state->slot, ctx);
    return result == TZ_OK ? noted : result;
}

/* ---- pictures ---- */

/* Formats in their order. Only the last releases have the third. */
static const tz_nvjpeg_output formats[TZ_JPEG_FORMATS] = {TZ_NVJPEG_OUTPUT_Y, TZ_NVJPEG_OUTPUT_RGBI,
                                                          TZ_NVJPEG_OUTPUT_UNCHANGEDI};

static tz_nvjpeg_output format_of(const tz_picture *picture)
{
    if (picture->samples == 1)
        return TZ_NVJPEG_OUTPUT_Y;
    return picture->to_rgb ? TZ_NVJPEG_OUTPUT_RGBI : TZ_NVJPEG_OUTPUT_UNCHANGEDI;
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
static bool fits(const tz_cu_jpeg *jpeg, const tz_picture *picture)
{
    int components = 0, widths[4] = {0}, heights[4] = {0};
    tz_nvjpeg_sampling sampling = -1;
    if (picture->sample_bytes != 1 || picture->is_signed ||
        (picture->samples != 1 && picture->samples != 3) ||
        (format_of(picture) == TZ_NVJPEG_OUTPUT_UNCHANGEDI && jpeg->nvjpeg.major < 13))
        return false;
    return jpeg->nvjpeg.api.GetImageInfo(jpeg->handle, picture->bytes, (size_t)picture->size,
                                         &components, &sampling, widths, heights) == 0 &&
           components == picture->samples && widths[0] > 0 && heights[0] > 0 &&
           (uint32_t)widths[0] == picture->width && (uint32_t)heights[0] == picture->height &&
           sampling_fits(jpeg, format_of(picture), sampling);
}

/* A state for the first picture of a batch, when the host has waited for its last one. */
static tz_result begin(tz_cu_state *s, uint32_t queue, tz_nvjpeg_output format,
                       const tz_context *ctx)
{
    tz_cu_jpeg_state *state = &s->jpeg.states[s->jpeg.turn];
    TZ_TRY(state->begun ? tz_cu_slot_wait(s, &state->slot, ctx)
                        : tz_cu_slot_begin(s, &state->slot, queue, ctx));
    state->begun = true;
    if (state->format != format)
        state->size = 0;
    state->format = format;
    state->samples = 0;
    return TZ_OK;
}

static tz_result add(tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                     tz_picture *picture, const tz_context *ctx)
{
    const uint64_t samples = (uint64_t)picture->width * picture->height * picture->samples;
    const uint64_t to = tz_cu_address_of(batch->slab) + picture->at;
    tz_cu_jpeg_state *state = &s->jpeg.states[s->jpeg.turn];
    if (state->count == TZ_JPEG_BATCH ||
        (state->count > 0 && state->samples + samples > MOST_SAMPLES))
        TZ_TRY(flush(s, ctx));
    state = &s->jpeg.states[s->jpeg.turn];
    if (state->count == 0)
        TZ_TRY(begin(s, queue, format_of(picture), ctx));
    const uint64_t i = state->count++;
    state->samples += samples;
    state->data[i] = picture->bytes;
    state->sizes[i] = (size_t)picture->size;
    state->images[i] = (tz_nvjpeg_image){{(unsigned char *)(uintptr_t)to},
                                         {(size_t)picture->width * picture->samples}};
    state->pictures[i] = picture;
    return TZ_OK;
}

static tz_result decode_format(tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                               tz_nvjpeg_output format, const tz_context *ctx)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_picture *picture = &batch->pictures[i];
        if (!picture->failed && format_of(picture) == format)
            TZ_TRY(add(s, queue, batch, picture, ctx));
    }
    return flush(s, ctx);
}

/* States end when all have begun: what the queue waits for, the next to begin would wait for. */
static tz_result decode_all(tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                            const tz_context *ctx)
{
    tz_cu_jpeg_state *states = s->jpeg.states;
    for (unsigned i = 0; i < TZ_JPEG_STATES; i++)
        states[i].begun = false;
    for (uint64_t i = 0; i < batch->count; i++)
        batch->pictures[i].failed = !s->jpeg.is_there || !fits(&s->jpeg, &batch->pictures[i]);
    for (size_t i = 0; i < TZ_JPEG_FORMATS; i++)
        TZ_TRY(decode_format(s, queue, batch, formats[i], ctx));
    for (unsigned i = 0; i < TZ_JPEG_STATES; i++) {
        if (states[i].begun)
            TZ_TRY(tz_cu_slot_end(s, &states[i].slot, queue, ctx));
    }
    return TZ_OK;
}

static tz_result decode_settled(tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                                const tz_context *ctx)
{
    const tz_result result = decode_all(s, queue, batch, ctx);
    if (result != TZ_OK)
        settle(s);
    return result;
}

tz_result tz_cu_jpeg_decode(tz_cu_state *s, uint32_t queue, const tz_picture_batch *batch,
                            const tz_context *ctx)
{
    pthread_mutex_lock(&s->jpeg.lock);
    const tz_result result = decode_settled(s, queue, batch, ctx);
    pthread_mutex_unlock(&s->jpeg.lock);
    return result;
}

/* ---- looking for it ---- */

/* It is there for its own trial, and whether it interpolates shows then. */
static tz_result try_it(tz_cu_state *s, const tz_context *ctx)
{
    uint8_t samples[TZ_CU_TRIAL_BYTES];
    tz_cu_jpeg *jpeg = &s->jpeg;
    bool interpolates = false;
    jpeg->is_there = jpeg->interpolates = true;
    TZ_TRY(tz_cu_try_picture(s, 7, decode_settled, samples, ctx));
    if (!tz_cu_trial_jpeg_is_right(samples, &interpolates))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "it decodes a picture that is known to something else");
    jpeg->interpolates = interpolates;
    return TZ_OK;
}

static void look_within(tz_cu_state *s)
{
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    if (!make_handle(&s->jpeg) || !make_states(s))
        switch_off(&s->jpeg, "it cannot begin on this device");
    else if (try_it(s, &ctx) != TZ_OK)
        switch_off(&s->jpeg, why.message);
    if (!s->jpeg.is_there)
        tz_cu_jpeg_close(s);
}

/* That it is not there, does not answer or misbehaves is no failure: the cores decode then. */
static void look(tz_cu_state *s)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    const tz_context quiet = {.ifd = -1};
    char reason[128] = "it cannot begin on this device";
    if (tz_nvjpeg_load(&jpeg->nvjpeg, jpeg->library, reason, sizeof reason) &&
        tz_cu_enter(s, &quiet) == TZ_OK) {
        look_within(s);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    } else {
        switch_off(jpeg, reason);
    }
}

bool tz_cu_jpeg_find(tz_cu_state *s, uint64_t samples, tz_picture_codec *out)
{
    tz_cu_jpeg *jpeg = &s->jpeg;
    pthread_mutex_lock(&jpeg->lock);
    if (!jpeg->is_known)
        look(s);
    jpeg->is_known = true;
    const bool is_there = jpeg->is_there;
    if (!is_there)
        tz_device_text(out->reason, sizeof out->reason, jpeg->reason);
    pthread_mutex_unlock(&jpeg->lock);
    if (!is_there)
        return false;
    const tz_nvjpeg *is = &jpeg->nvjpeg;
    const uint64_t most = tz_max(samples, MOST_SAMPLES);
    const uint64_t all = tz_mul_capped(samples, TZ_JPEG_BATCH);
    out->bytes = tz_mul_capped(all < most ? all : most, TZ_JPEG_STATES * TZ_JPEG_SAMPLE);
    tz_device_textf(out->name, sizeof out->name, "nvJPEG %u.%u.%u", is->major, is->minor,
                    is->patch);
    return true;
}
