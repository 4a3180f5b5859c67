/* SPDX-License-Identifier: Apache-2.0
 * A query comes before a wait of the host: the stream is often idle by then, and a query is
 * cheaper. After a failed call of CUDA the host waits for the whole stream, so that memory
 * of the caller can be freed in any case. */
#include "device/cuda/side_stream.h"

#include "device/cuda/cuda_internal.h"

tz_result tz_cu_side_stream_open(const tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx)
{
    TZ_TRY(tz_cu_check("cuStreamCreate",
                       s->api.StreamCreate(&side->stream, TZ_CU_STREAM_NON_BLOCKING), ctx));
    return tz_cu_check("cuEventCreate",
                       s->api.EventCreate(&side->event, TZ_CU_EVENT_DISABLE_TIMING), ctx);
}

void tz_cu_side_stream_close(const tz_cu_state *s, tz_cu_side_stream *side)
{
    if (side->event)
        (void)s->api.EventDestroy(side->event);
    if (side->stream)
        (void)s->api.StreamDestroy(side->stream);
    *side = (tz_cu_side_stream){.busy = false};
}

tz_result tz_cu_side_stream_wait(const tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx)
{
    if (!side->busy)
        return TZ_OK;
    const char *function = "cuEventQuery";
    tz_cu_code code = s->api.EventQuery(side->event);
    if (code == TZ_CU_ERROR_NOT_READY) {
        function = "cuStreamSynchronize";
        code = s->api.StreamSynchronize(side->stream);
    }
    side->busy = code != TZ_CU_SUCCESS;
    return tz_cu_check(function, code, ctx);
}

tz_result tz_cu_side_stream_begin(const tz_cu_state *s, tz_cu_side_stream *side, uint32_t queue,
                                  const tz_context *ctx)
{
    TZ_TRY(tz_cu_side_stream_wait(s, side, ctx));
    TZ_TRY(tz_cu_check("cuEventRecord", s->api.EventRecord(side->event, s->queues[queue]), ctx));
    return tz_cu_check("cuStreamWaitEvent", s->api.StreamWaitEvent(side->stream, side->event, 0),
                       ctx);
}

/* Without the event nobody could wait for the work later: the host waits now. */
tz_result tz_cu_side_stream_record(const tz_cu_state *s, tz_cu_side_stream *side,
                                   const tz_context *ctx)
{
    const tz_cu_code code = s->api.EventRecord(side->event, side->stream);
    side->busy = code == TZ_CU_SUCCESS;
    if (code != TZ_CU_SUCCESS)
        (void)s->api.StreamSynchronize(side->stream);
    return tz_cu_check("cuEventRecord", code, ctx);
}

tz_result tz_cu_side_stream_end(const tz_cu_state *s, tz_cu_side_stream *side, uint32_t queue,
                                const tz_context *ctx)
{
    TZ_TRY(tz_cu_side_stream_record(s, side, ctx));
    const tz_cu_code code = s->api.StreamWaitEvent(s->queues[queue], side->event, 0);
    if (code != TZ_CU_SUCCESS)
        (void)s->api.StreamSynchronize(side->stream);
    return tz_cu_check("cuStreamWaitEvent", code, ctx);
}
