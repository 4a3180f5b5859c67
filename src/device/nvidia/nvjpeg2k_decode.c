/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: batches of JPEG 2000 for nvJPEG2000. Pictures go to its states in turn. All of
 * their streams begin behind what is in the queue by then, and the queue goes on when they have
 * come to an end; the caller waits only for a state that is needed once more. */
#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_codestreams.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

void tz_cu_j2k_deinit(tz_cu_j2k *j2k)
{
    tz_free(j2k->library);
    pthread_mutex_destroy(&j2k->lock);
}

/* ---- what it takes ---- */

/* Of its own memory, which it does not tell: for each picture that is under way coefficients of 32
 * bits, twice for the wavelets, with as much again for code blocks and stored bytes; and its
 * kernels. */
enum { BYTES_PER_SAMPLE = 16, BYTES_PER_STATE = 1 << 20, BYTES_AT_ALL = 32 << 20 };

static uint64_t bytes_for(uint64_t samples)
{
    const uint64_t one = tz_add_capped(tz_mul_capped(samples, BYTES_PER_SAMPLE), BYTES_PER_STATE);
    return tz_add_capped(tz_mul_capped(one, TZ_CU_J2K_STATES), BYTES_AT_ALL);
}

/* ---- one picture ---- */

/* How many resolutions of a stream are decoded, whose only tile is the picture; 0: none can be. */
static uint32_t resolutions_of(const tz_nvjpeg2k_api *api, tz_nvjpeg2k_stream parsed,
                               const tz_nvjpeg2k_image_info *is, const tz_codestream *codestream)
{
    uint32_t count;
    if (is->num_tiles_x != 1 || is->num_tiles_y != 1 ||
        api->StreamGetResolutionsInTile(parsed, 0, &count) != 0 || count <= codestream->reduction)
        return 0;
    return count - codestream->reduction;
}

static bool resolution_fits(const tz_nvjpeg2k_api *api, tz_nvjpeg2k_stream parsed,
                            uint32_t component, uint32_t resolutions,
                            const tz_codestream *codestream)
{
    uint32_t width, height;
    return api->StreamGetResolutionComponentDim(parsed, component, 0, resolutions - 1, &width,
                                                &height) == 0 &&
           width == codestream->width && height == codestream->height;
}

/* Whether it found in the stream what it is to decode; *resolutions: so many of them, 0 being all.
 */
static bool stream_fits(const tz_nvjpeg2k_api *api, tz_nvjpeg2k_stream parsed,
                        const tz_codestream *codestream, uint32_t *resolutions)
{
    const bool whole = codestream->reduction == 0;
    tz_nvjpeg2k_image_info is;
    if (api->StreamGetImageInfo(parsed, &is) != 0 || is.num_components != codestream->samples)
        return false;
    *resolutions = whole ? 0 : resolutions_of(api, parsed, &is, codestream);
    if (whole ? is.image_width != codestream->width || is.image_height != codestream->height
              : *resolutions == 0)
        return false;
    for (uint32_t i = 0; i < is.num_components; i++) {
        tz_nvjpeg2k_component_info component;
        if (api->StreamGetImageComponentInfo(parsed, &component, i) != 0 ||
            component.precision != 8 * codestream->sample_bytes ||
            (component.sgn != 0) != codestream->is_signed)
            return false;
        if (whole ? component.component_width != codestream->width ||
                        component.component_height != codestream->height
                  : !resolution_fits(api, parsed, i, *resolutions, codestream))
            return false;
    }
    return true;
}

static int32_t sample_type_of(const tz_codestream *codestream)
{
    if (codestream->sample_bytes == 1)
        return TZ_NVJPEG2K_UINT8;
    return codestream->is_signed ? TZ_NVJPEG2K_INT16 : TZ_NVJPEG2K_UINT16;
}

static tz_result decode_on_stream(tz_cu_state *s, tz_cu_j2k_decoder *decoder,
                                  tz_codestream *codestream, uint32_t resolutions,
                                  tz_cu_address slab, const tz_context *ctx)
{
    const tz_cu_j2k *j2k = &s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->nvjpeg2k.api;
    void *plane = (void *)(uintptr_t)(slab + codestream->at);
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
    /* whatever it says, some of the work may be in the stream */
    TZ_TRY(tz_cu_side_stream_record(s, &decoder->side, ctx));
    /* a status is of the picture, whichever it is, as long as the device works */
    if (status == 0 || tz_cu_context_works(s, decoder->side.stream))
        return TZ_OK;
    return tz_cu_j2k_check(resolutions == 0 ? "DecodeImage" : "DecodeTile", status, TZ_ERR_DEVICE,
                           ctx);
}

/* ---- batches ---- */

/* A batch: which decoders have come to the queue. */
typedef struct decode_run {
    tz_cu_state *s;
    uint32_t queue;
    tz_cu_address slab;
    bool begun[TZ_CU_J2K_STATES];
} decode_run;

static tz_result decode_codestream(decode_run *t, tz_codestream *codestream, const tz_context *ctx)
{
    tz_cu_j2k *j2k = &t->s->j2k;
    const tz_nvjpeg2k_api *api = &j2k->nvjpeg2k.api;
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
    return decode_on_stream(t->s, decoder, codestream, resolutions, t->slab, ctx);
}

/* Decoders end when all have begun: what the queue waits for, the next to begin would wait for. */
static tz_result decode_j2k_batch(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                                  const tz_context *ctx)
{
    decode_run t = {.s = s, .queue = queue, .slab = tz_cu_address_of(batch->slab)};
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(decode_codestream(&t, &batch->codestreams[i], ctx));
    for (uint32_t i = 0; i < TZ_CU_J2K_STATES; i++) {
        if (t.begun[i])
            TZ_TRY(tz_cu_side_stream_end(s, &s->j2k.decoders[i].side, queue, ctx));
    }
    return TZ_OK;
}

/* Where it fails, nothing goes on that the queue does not wait for. */
static tz_result decode_j2k_or_wait(tz_cu_state *s, uint32_t queue,
                                    const tz_codestream_batch *batch, const tz_context *ctx)
{
    const tz_result result = decode_j2k_batch(s, queue, batch, ctx);
    if (result != TZ_OK)
        tz_cu_j2k_wait_all(s);
    return result;
}

/* ---- looking for it ---- */

static tz_result self_test_nvjpeg2k(tz_cu_state *s, const tz_context *ctx)
{
    uint8_t samples[TZ_CU_SELF_TEST_BYTES];
    TZ_TRY(tz_cu_j2k_create(s, ctx));
    TZ_TRY(tz_cu_self_test_codestream(s, 34712, decode_j2k_or_wait, samples, ctx));
    return tz_cu_self_test_j2k_matches(samples)
               ? TZ_OK
               : tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                         "it decodes a picture that is known to something else");
}

/* Why it cannot be used; empty: it can. */
static void find_nvjpeg2k(tz_cu_state *s, char *reason, size_t reason_size)
{
    tz_cu_j2k *j2k = &s->j2k;
    tz_error why;
    const tz_context ctx = {.err = &why, .ifd = -1};
    if (!tz_nvjpeg2k_load(&j2k->nvjpeg2k, j2k->library, reason, reason_size))
        return;
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK) {
        result = self_test_nvjpeg2k(s, &ctx);
        if (result != TZ_OK)
            tz_cu_j2k_close(s);
        result = tz_cu_leave(s, result, &ctx);
    }
    tz_device_text(reason, reason_size, result == TZ_OK ? "" : why.message);
}

static bool nvjpeg2k_is_available(tz_cu_state *s)
{
    tz_cu_j2k *j2k = &s->j2k;
    char reason[256] = "";
    pthread_mutex_lock(&j2k->lock);
    if (!j2k->is_known) {
        find_nvjpeg2k(s, reason, sizeof reason);
        j2k->is_available = reason[0] == '\0';
        tz_device_textf(j2k->reason, sizeof j2k->reason, "nvJPEG2000: %s", reason);
    }
    j2k->is_known = true;
    pthread_mutex_unlock(&j2k->lock);
    return j2k->is_available;
}

bool tz_cu_j2k_find(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out)
{
    tz_cu_j2k *j2k = &s->j2k;
    if (!nvjpeg2k_is_available(s)) {
        tz_device_text(out->reason, sizeof out->reason, j2k->reason);
        return false;
    }
    tz_device_textf(out->name, sizeof out->name, "nvJPEG2000 %u.%u.%u", j2k->nvjpeg2k.major,
                    j2k->nvjpeg2k.minor, j2k->nvjpeg2k.patch);
    out->bytes = bytes_for(samples);
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
    const tz_result result = decode_j2k_or_wait(s, queue, batch, ctx);
    pthread_mutex_unlock(&j2k->lock);
    return result;
}
