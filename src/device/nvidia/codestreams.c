/* SPDX-License-Identifier: Apache-2.0
 * Codestreams by NVIDIA's libraries, each for one compression. A library is loaded when it is first
 * wanted; one that is not installed is not a failure, the CPU decodes or encodes instead. Decoding
 * is the libraries' own business (nvjpeg.c, nvjpeg2k.c); encoding is the same for both and is here.
 *
 * The libraries encode one codestream at a time in a state. So each has several encoders, each with
 * a state and a stream of its own, and the codestreams of a batch go to them in rotation. A result
 * is retrieved, which waits for its stream alone, when its encoder is wanted again. So codestreams
 * come out in the order of the batch, while the other encoders are at work.
 *
 *     encoder 0   encode 0 ........... retrieve 0, encode 3 ........... retrieve 3
 *     encoder 1       encode 1 ........... retrieve 1, encode 4 ........... retrieve 4
 *     encoder 2           encode 2 ........... retrieve 2
 *
 * Any error of a library concerns the codestream alone, as long as the context works: the
 * codestream then has no size, and the CPU encodes the tile. */
#include "device/nvidia/codestreams.h"

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"

/* ---- the table ---- */

typedef struct codestream_library {
    uint16_t compression;
    /* Loads and tests the library; sets the name and the memory to decode, or the reason. */
    bool (*find)(tz_cu_state *s, uint64_t samples, tz_codestream_codec *out);
    tz_result (*decode)(tz_cu_state *s, uint32_t queue, const tz_codestream_batch *batch,
                        const tz_context *ctx);
    const tz_cu_codestream_encoder_calls *encoder;
} codestream_library;

static const codestream_library libraries[TZ_CU_CODESTREAM_LIBRARIES] = {
    {TZ_COMPRESSION_JPEG, tz_cu_jpeg_find, tz_cu_jpeg_decode, &tz_cu_jpeg_encoder_calls},
    {TZ_COMPRESSION_JPEG2000, tz_cu_j2k_find, tz_cu_j2k_decode, &tz_cu_j2k_encoder_calls},
};

static const codestream_library *codestream_library_of(uint16_t compression)
{
    for (size_t i = 0; i < TZ_CU_CODESTREAM_LIBRARIES; i++) {
        if (libraries[i].compression == compression)
            return &libraries[i];
    }
    return NULL;
}

static tz_cu_codestream_encoder_set *encoders_of(tz_cu_state *s, const codestream_library *library)
{
    return &s->encoders[library - libraries];
}

/* ---- the encoders ---- */

static void close_encoders(tz_cu_state *s, const codestream_library *library)
{
    const tz_context quiet = {.ifd = -1};
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++) {
        tz_cu_codestream_encoder *encoder = &encoders_of(s, library)->encoders[i];
        (void)tz_cu_side_stream_wait(s, &encoder->side, &quiet);
        library->encoder->close(s, encoder);
        tz_cu_side_stream_close(s, &encoder->side);
        *encoder = (tz_cu_codestream_encoder){.state = NULL};
    }
}

void tz_cu_close_encoders(tz_cu_state *s)
{
    for (size_t i = 0; i < TZ_CU_CODESTREAM_LIBRARIES; i++)
        close_encoders(s, &libraries[i]);
}

/* Makes all encoders, once; false: the library cannot be used. */
static bool open_encoders(tz_cu_state *s, const codestream_library *library)
{
    const tz_context quiet = {.ifd = -1};
    tz_cu_codestream_encoder_set *set = encoders_of(s, library);
    pthread_mutex_lock(&set->lock);
    if (!set->opened && tz_cu_enter(s, &quiet) == TZ_OK) {
        set->works = true;
        for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS && set->works; i++) {
            tz_cu_codestream_encoder *encoder = &set->encoders[i];
            set->works = tz_cu_side_stream_open(s, &encoder->side, &quiet) == TZ_OK &&
                         library->encoder->open(s, encoder) == 0;
        }
        if (!set->works)
            close_encoders(s, library);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    set->opened = true;
    const bool works = set->works;
    pthread_mutex_unlock(&set->lock);
    return works;
}

/* ---- one codestream ---- */

/* A batch that is being encoded. */
typedef struct encode_run {
    tz_cu_state *s;
    const tz_cu_codestream_encoder_calls *calls;
    uint32_t queue;
    const tz_codestream_batch *batch;
    const tz_codestream_encoding *how;
    tz_codestream_output *out;
    uint64_t end; /* bytes of out that are filled */
} encode_run;

/* Sets *done if the call succeeded. A call that did not is an error only if the context does not
 * work any more. */
static tz_result check_status(const encode_run *t, const tz_cu_codestream_encoder *encoder,
                              const char *function, int32_t status, bool *done,
                              const tz_context *ctx)
{
    *done = status == 0;
    if (*done || tz_cu_context_works(t->s, encoder->side.stream))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(), "%s%s: %s (%d)",
                   t->calls->prefix, function, t->calls->status_name(status), (int)status);
}

/* Parameters are set once for many tiles: those of an image differ at its edges only. */
static bool is_configured_for(const tz_cu_codestream_encoder *e, const tz_codestream *p,
                              const tz_codestream_encoding *how)
{
    return e->configured_for.width == p->width && e->configured_for.height == p->height &&
           e->configured_for.samples == p->samples &&
           e->configured_for.sample_bytes == p->sample_bytes &&
           e->configured_for.is_signed == p->is_signed && e->how.quality == how->quality &&
           e->how.to_ycbcr == how->to_ycbcr && e->how.subsampling[0] == how->subsampling[0] &&
           e->how.subsampling[1] == how->subsampling[1];
}

/* Starts one codestream. The encoder has been retrieved from; its first of a batch makes its stream
 * follow the queue, which has the samples. */
static tz_result encode_codestream(const encode_run *t, tz_cu_codestream_encoder *encoder,
                                   const tz_codestream *codestream, const tz_context *ctx)
{
    bool done = true;
    TZ_TRY(encoder->begun ? tz_cu_side_stream_wait(t->s, &encoder->side, ctx)
                          : tz_cu_side_stream_begin(t->s, &encoder->side, t->queue, ctx));
    encoder->begun = true;
    if (!is_configured_for(encoder, codestream, t->how)) {
        TZ_TRY(check_status(t, encoder, "EncodeParams",
                            t->calls->configure(t->s, encoder, codestream, t->how), &done, ctx));
        encoder->configured_for = done ? *codestream : (tz_codestream){.width = 0};
        encoder->how = *t->how;
    }
    if (!done)
        return TZ_OK;
    const int32_t status = t->calls->encode(t->s, encoder, codestream,
                                            tz_cu_address_of(t->batch->slab) + codestream->at);
    /* also after an error: some of the work may be in the stream */
    TZ_TRY(tz_cu_side_stream_record(t->s, &encoder->side, ctx));
    return check_status(t, encoder, "Encode", status, &encoder->holds, ctx);
}

/* Appends the codestream, with the bytes around it, to the output; *size_out is 0 if that fails or
 * it does not fit. */
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

/* ---- the driver's functions ---- */

bool tz_cu_find_codestream_codec(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                 tz_codestream_codec *out)
{
    enum { BYTES_PER_ENCODER = 1 << 20 };
    const codestream_library *library = codestream_library_of(compression);
    if (!library || !library->find(state, samples, out))
        return false;
    if (!encodes)
        return true;
    if (!open_encoders(state, library))
        return false;
    const uint64_t one = tz_add_capped(tz_mul_capped(samples, library->encoder->bytes_per_sample),
                                       BYTES_PER_ENCODER);
    out->bytes = tz_mul_capped(one, TZ_CU_CODESTREAM_ENCODERS);
    out->at_once = TZ_CU_CODESTREAM_ENCODERS;
    return true;
}

tz_result tz_cu_decode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx)
{
    const codestream_library *library = codestream_library_of(batch->compression);
    if (!library)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "no library decodes compression %u", batch->compression);
    TZ_TRY(tz_cu_enter(state, ctx));
    return tz_cu_leave(state, library->decode(state, queue, batch, ctx), ctx);
}

/* Step i retrieves codestream i - n from an encoder and gives it codestream i. At the end waits for
 * all encoders, also after a failure: the caller may free the slab. */
tz_result tz_cu_encode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_codestream_encoding *how, tz_codestream_output *out,
                                   const tz_context *ctx)
{
    const tz_context quiet = {.ifd = -1};
    tz_cu_state *s = state;
    const codestream_library *library = codestream_library_of(batch->compression);
    if (!library)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "no library encodes compression %u", batch->compression);
    TZ_TRY(tz_cu_enter(s, ctx));
    encode_run t = {
        .s = s, .calls = library->encoder, .queue = queue, .batch = batch, .how = how, .out = out};
    tz_cu_codestream_encoder_set *set = encoders_of(s, library);
    pthread_mutex_lock(&set->lock);
    const unsigned n = tz_min_u32(how->at_once, TZ_CU_CODESTREAM_ENCODERS);
    tz_result result = TZ_OK;
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++)
        set->encoders[i].begun = set->encoders[i].holds = false;
    for (uint64_t i = 0; i < batch->count + n && result == TZ_OK; i++) {
        tz_cu_codestream_encoder *encoder = &set->encoders[i % n];
        if (i >= n)
            result = retrieve_codestream(&t, encoder, &out->sizes[i - n], ctx);
        if (i < batch->count && result == TZ_OK)
            result = encode_codestream(&t, encoder, &batch->codestreams[i], ctx);
    }
    for (unsigned i = 0; i < TZ_CU_CODESTREAM_ENCODERS; i++) {
        const bool failed = result != TZ_OK;
        const tz_result waited =
            tz_cu_side_stream_wait(s, &set->encoders[i].side, failed ? &quiet : ctx);
        result = failed ? result : waited;
    }
    pthread_mutex_unlock(&set->lock);
    return tz_cu_leave(s, result, ctx);
}
