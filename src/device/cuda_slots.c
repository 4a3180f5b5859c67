/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda_slots.h"

#include "device/cuda_parts.h"

tz_result tz_cu_slot_open(const tz_cu_state *s, tz_cu_slot *slot, const tz_context *ctx)
{
    TZ_TRY(tz_cu_check("cuStreamCreate",
                       s->api.StreamCreate(&slot->stream, TZ_CU_STREAM_NON_BLOCKING), ctx));
    return tz_cu_check("cuEventCreate",
                       s->api.EventCreate(&slot->event, TZ_CU_EVENT_DISABLE_TIMING), ctx);
}

void tz_cu_slot_close(const tz_cu_state *s, tz_cu_slot *slot)
{
    if (slot->event)
        (void)s->api.EventDestroy(slot->event);
    if (slot->stream)
        (void)s->api.StreamDestroy(slot->stream);
    *slot = (tz_cu_slot){.busy = false};
}

tz_result tz_cu_slot_wait(const tz_cu_state *s, tz_cu_slot *slot, const tz_context *ctx)
{
    if (!slot->busy)
        return TZ_OK;
    const char *function = "cuEventQuery";
    tz_cu_code code = s->api.EventQuery(slot->event);
    if (code == TZ_CU_ERROR_NOT_READY) {
        function = "cuStreamSynchronize";
        code = s->api.StreamSynchronize(slot->stream);
    }
    slot->busy = code != TZ_CU_SUCCESS;
    return tz_cu_check(function, code, ctx);
}

tz_result tz_cu_slot_begin(const tz_cu_state *s, tz_cu_slot *slot, uint32_t queue,
                           const tz_context *ctx)
{
    TZ_TRY(tz_cu_slot_wait(s, slot, ctx));
    TZ_TRY(tz_cu_check("cuEventRecord", s->api.EventRecord(slot->event, s->queues[queue]), ctx));
    return tz_cu_check("cuStreamWaitEvent", s->api.StreamWaitEvent(slot->stream, slot->event, 0),
                       ctx);
}

/* Where the event cannot tell, nobody can wait for it later. */
tz_result tz_cu_slot_note(const tz_cu_state *s, tz_cu_slot *slot, const tz_context *ctx)
{
    const tz_cu_code code = s->api.EventRecord(slot->event, slot->stream);
    slot->busy = code == TZ_CU_SUCCESS;
    if (code != TZ_CU_SUCCESS)
        (void)s->api.StreamSynchronize(slot->stream);
    return tz_cu_check("cuEventRecord", code, ctx);
}

tz_result tz_cu_slot_end(const tz_cu_state *s, tz_cu_slot *slot, uint32_t queue,
                         const tz_context *ctx)
{
    TZ_TRY(tz_cu_slot_note(s, slot, ctx));
    const tz_cu_code code = s->api.StreamWaitEvent(s->queues[queue], slot->event, 0);
    if (code != TZ_CU_SUCCESS)
        (void)s->api.StreamSynchronize(slot->stream);
    return tz_cu_check("cuStreamWaitEvent", code, ctx);
}
