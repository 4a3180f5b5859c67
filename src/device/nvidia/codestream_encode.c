/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: pictures to encoders in turn. A stream is retrieved, which waits for it alone,
 * when its encoder is wanted again: so streams come in the order of the pictures. */
#include "device/nvidia/codestream_encode.h"

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/nvidia/self_test.h"

/* ---- making ---- */

void tz_cu_codestream_encoders_close(tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                     const tz_cu_codestream_encoder_calls *calls)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++) {
        tz_cu_codestream_encoder *encoder = &set->encoders[i];
        (void)tz_cu_side_stream_wait(s, &encoder->side, &quiet);
        calls->close(s, encoder);
        tz_cu_side_stream_close(s, &encoder->side);
        *encoder = (tz_cu_codestream_encoder){.state = NULL};
    }
}

static bool open_encoders(tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                          const tz_cu_codestream_encoder_calls *calls)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++) {
        tz_cu_codestream_encoder *encoder = &set->encoders[i];
        if (tz_cu_side_stream_open(s, &encoder->side, &quiet) != TZ_OK ||
            calls->open(s, encoder) != 0)
            return false;
    }
    return true;
}

bool tz_cu_codestream_encoders_find(tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                    const tz_cu_codestream_encoder_calls *calls)
{
    const tz_context quiet = {.ifd = -1};
    pthread_mutex_lock(&set->lock);
    if (!set->is_known && tz_cu_enter(s, &quiet) == TZ_OK) {
        set->works = open_encoders(s, set, calls);
        if (!set->works)
            tz_cu_codestream_encoders_close(s, set, calls);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    set->is_known = true;
    pthread_mutex_unlock(&set->lock);
    return set->works;
}

/* ---- one picture ---- */

/* A batch at work. */
typedef struct encode_run {
    tz_cu_state *s;
    const tz_cu_codestream_encoder_calls *calls;
    uint32_t queue;
    const tz_codestream_batch *batch;
    const tz_codestream_encoding *how;
    tz_codestream_output *out;
    uint64_t end; /* of what is in out */
} encode_run;

/* *done: whether it did what it was told. Where it did not, that is of the picture, whatever the
 * status, unless the device does not work any more. */
static tz_result check_status(const encode_run *t, const tz_cu_codestream_encoder *encoder,
                              const char *function, int32_t status, bool *done,
                              const tz_context *ctx)
{
    *done = status == 0;
    if (*done || tz_cu_context_works(t->s, encoder->side.stream))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(), "%s%s: %s (%d)",
                   t->calls->name, function, t->calls->status_name(status), (int)status);
}

static bool is_set_for(const tz_cu_codestream_encoder *e, const tz_codestream *p,
                       const tz_codestream_encoding *how)
{
    return e->configured_for.width == p->width && e->configured_for.height == p->height &&
           e->configured_for.samples == p->samples &&
           e->configured_for.sample_bytes == p->sample_bytes &&
           e->configured_for.is_signed == p->is_signed && e->how.quality == how->quality &&
           e->how.to_ycbcr == how->to_ycbcr && e->how.subsampling[0] == how->subsampling[0] &&
           e->how.subsampling[1] == how->subsampling[1];
}

static tz_result configure_encoder(const encode_run *t, tz_cu_codestream_encoder *encoder,
                                   const tz_codestream *codestream, bool *done,
                                   const tz_context *ctx)
{
    *done = is_set_for(encoder, codestream, t->how);
    if (*done)
        return TZ_OK;
    TZ_TRY(check_status(t, encoder, "EncodeParams",
                        t->calls->configure(t->s, encoder, codestream, t->how), done, ctx));
    encoder->configured_for = *done ? *codestream : (tz_codestream){.width = 0};
    encoder->how = *t->how;
    return TZ_OK;
}

static tz_result encode_codestream(const encode_run *t, tz_cu_codestream_encoder *encoder,
                                   const tz_codestream *codestream, const tz_context *ctx)
{
    bool done = false;
    TZ_TRY(encoder->begun ? tz_cu_side_stream_wait(t->s, &encoder->side, ctx)
                          : tz_cu_side_stream_begin(t->s, &encoder->side, t->queue, ctx));
    encoder->begun = true;
    TZ_TRY(configure_encoder(t, encoder, codestream, &done, ctx));
    if (!done)
        return TZ_OK;
    const int32_t status = t->calls->encode(t->s, encoder, codestream,
                                            tz_cu_address_of(t->batch->slab) + codestream->at);
    /* whatever it says, some of the work may be in the stream */
    TZ_TRY(tz_cu_side_stream_record(t->s, &encoder->side, ctx));
    return check_status(t, encoder, "Encode", status, &encoder->holds, ctx);
}

/* Where there is room for it, with the bytes around it. */
static tz_result retrieve_codestream(encode_run *t, tz_cu_codestream_encoder *encoder,
                                     uint64_t *size_out, const tz_context *ctx)
{
    const uint64_t around = (uint64_t)t->how->before + t->how->after;
    size_t size = 0;
    bool done;
    *size_out = 0;
    if (!encoder->holds)
        return TZ_OK;
    encoder->holds = false;
    int32_t status = t->calls->retrieve(t->s, encoder, NULL, &size);
    TZ_TRY(check_status(t, encoder, "EncodeRetrieveBitstream", status, &done, ctx));
    if (!done || size == 0 || size > t->how->max_bytes || around + size > t->out->capacity - t->end)
        return TZ_OK;
    status = t->calls->retrieve(t->s, encoder, t->out->bytes + t->end + t->how->before, &size);
    TZ_TRY(check_status(t, encoder, "EncodeRetrieveBitstream", status, &done, ctx));
    TZ_TRY(
        tz_cu_check("cuStreamSynchronize", t->s->api.StreamSynchronize(encoder->side.stream), ctx));
    if (done) {
        *size_out = size;
        t->end += around + size;
    }
    return TZ_OK;
}

/* ---- batches ---- */

static tz_result encode_in_rotation(encode_run *t, tz_cu_codestream_encoder_set *set,
                                    const tz_context *ctx)
{
    const uint64_t count = t->batch->count;
    const unsigned n = tz_min_u32(t->how->at_once, TZ_CU_CODESTREAM_ENCODERS);
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++)
        set->encoders[i].begun = set->encoders[i].holds = false;
    for (uint64_t i = 0; i < count + n; i++) {
        tz_cu_codestream_encoder *encoder = &set->encoders[i % n];
        if (i >= n)
            TZ_TRY(retrieve_codestream(t, encoder, &t->out->sizes[i - n], ctx));
        if (i < count)
            TZ_TRY(encode_codestream(t, encoder, &t->batch->codestreams[i], ctx));
    }
    return TZ_OK;
}

/* Whatever happened, nothing of the slab is read any more afterwards. */
tz_result tz_cu_codestream_encoders_run(tz_cu_state *s, tz_cu_codestream_encoder_set *set,
                                        const tz_cu_codestream_encoder_calls *calls, uint32_t queue,
                                        const tz_codestream_batch *batch,
                                        const tz_codestream_encoding *how,
                                        tz_codestream_output *out, const tz_context *ctx)
{
    const tz_context quiet = {.ifd = -1};
    encode_run t = {.s = s, .calls = calls, .queue = queue, .batch = batch, .how = how, .out = out};
    pthread_mutex_lock(&set->lock);
    tz_result result = encode_in_rotation(&t, set, ctx);
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++) {
        const bool failed = result != TZ_OK;
        const tz_result waited =
            tz_cu_side_stream_wait(s, &set->encoders[i].side, failed ? &quiet : ctx);
        result = failed ? result : waited;
    }
    pthread_mutex_unlock(&set->lock);
    return result;
}
