/* SPDX-License-Identifier: Apache-2.0 */
#include "read/worker.h"

#include "base/mem.h"

static size_t codec_index(const tz_decoder *codec)
{
    size_t index = 0;
    while (tz_codecs[index].decoder != codec)
        index++;
    return index;
}

void *tz_worker_state(const tz_worker *worker, const tz_decoder *codec)
{
    return worker->states[codec_index(codec)];
}

static tz_result init_codec(tz_worker *w, const tz_decoder *codec, const tz_context *ctx)
{
    const size_t index = codec_index(codec);
    if (w->states[index] || codec->state_size == 0)
        return TZ_OK;
    void *state = tz_alloc_zeroed(1, codec->state_size);
    if (!state)
        return tz_fail_nomem(ctx, codec->state_size);
    w->states[index] = state;
    return codec->init ? codec->init(state, ctx) : TZ_OK;
}

tz_result tz_worker_init(tz_worker *worker, const tz_plan *plan)
{
    size_t size = 64; /* what aligning the first part may take */
    const size_t input = tz_codec_buffer_offset(&size, tz_plan_input_bytes(plan));
    const size_t output = tz_codec_buffer_offset(&size, plan->output_size);
    const size_t row = tz_codec_buffer_offset(&size, plan->row_size);
    const size_t scratch = tz_codec_buffer_offset(&size, plan->scratch_size);
    worker->memory = tz_alloc(size);
    if (!worker->memory)
        return tz_fail_nomem(&plan->ctx, size);
    uint8_t *base = worker->memory + (64 - (uintptr_t)worker->memory % 64) % 64;
    worker->input = base + input - 64;
    worker->output = base + output - 64;
    worker->row = base + row - 64;
    worker->scratch = base + scratch - 64;
    for (size_t i = 0; i < plan->request_count; i++)
        TZ_TRY(init_codec(worker, plan->requests[i].codec, &plan->ctx));
    return TZ_OK;
}

void tz_worker_deinit(tz_worker *worker)
{
    for (size_t i = 0; i < TZ_CODEC_COUNT; i++) {
        if (worker->states[i] && tz_codecs[i].decoder->deinit)
            tz_codecs[i].decoder->deinit(worker->states[i]);
        tz_free(worker->states[i]);
    }
    tz_warnings_deinit(&worker->warnings);
    tz_free(worker->memory);
}
