/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: contexts, streams and memory that the caller made. All of them are checked
 * before use, because CUDA itself reports a wrong handle late, or not at all. */
#include "device/cuda/cuda_internal.h"

static tz_result fail_argument(const char *text, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s", text);
}

/* ---- contexts ---- */

/* Asks the context for its device: CUDA has no other way to check a handle. */
tz_result tz_cu_adopt_context(tz_cu_state *s, void *given, const tz_context *ctx)
{
    tz_cu_device device = 0;
    tz_cu_context left;
    const tz_cu_context context = given;
    tz_cu_code code = s->api.CtxPushCurrent(context);
    if (code == TZ_CU_ERROR_INVALID_CONTEXT || code == TZ_CU_ERROR_CONTEXT_IS_DESTROYED)
        return fail_argument("cuda_context is not a CUDA context", ctx);
    TZ_TRY(tz_cu_check("cuCtxPushCurrent", code, ctx));
    code = s->api.CtxGetDevice(&device);
    (void)s->api.CtxPopCurrent(&left);
    TZ_TRY(tz_cu_check("cuCtxGetDevice", code, ctx));
    if (device != s->device)
        return fail_argument("cuda_context is of another device", ctx);
    s->context = context;
    return TZ_OK;
}

void *tz_cu_native_context(void *state)
{
    return ((tz_cu_state *)state)->context;
}

/* ---- streams ---- */

/* CUDA's two built-in streams, whose handles are 1 and 2, belong to any context. */
tz_result tz_cu_adopt_stream(tz_cu_state *s, void *given, const tz_context *ctx)
{
    tz_cu_context context = NULL;
    const tz_cu_stream stream = given;
    const tz_cu_code code = s->api.StreamGetCtx(stream, &context);
    if (code == TZ_CU_ERROR_INVALID_HANDLE || code == TZ_CU_ERROR_INVALID_CONTEXT)
        return fail_argument("cuda_stream is not a CUDA stream", ctx);
    TZ_TRY(tz_cu_check("cuStreamGetCtx", code, ctx));
    if (context != s->context)
        return fail_argument(
            "cuda_stream is of another context than the device's; open the device with "
            "cuda_context",
            ctx);
    s->native_stream = stream;
    atomic_store(&s->native_stream_known, true);
    return TZ_OK;
}

/* From now on the caller may put work into the stream, and the queues have to wait for it. */
void *tz_cu_native_stream(void *state)
{
    tz_cu_state *s = state;
    atomic_store(&s->native_stream_known, true);
    return s->native_stream;
}

tz_result tz_cu_wait_for_stream(void *state, const tz_context *ctx)
{
    tz_cu_state *s = state;
    if (!atomic_load(&s->native_stream_known))
        return TZ_OK;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = tz_cu_queues_wait(s, s->native_stream);
    return tz_cu_leave(s, tz_cu_check("cuStreamWaitEvent", code, ctx), ctx);
}

/* ---- memory ---- */

/* Attributes of an address, by one call. */
typedef struct pointer_facts {
    unsigned type; /* 0: the address is not CUDA's */
    unsigned is_managed;
    int device;
    tz_cu_context context; /* NULL for memory of a pool, which all contexts of a device share */
    tz_cu_address start;
    size_t size;
} pointer_facts;

/* Managed memory belongs to all devices. */
static tz_result check_pointer(const tz_cu_state *s, const pointer_facts *f, const tz_context *ctx)
{
    if (f->is_managed)
        return TZ_OK;
    if (f->type != TZ_CU_MEMORYTYPE_DEVICE)
        return fail_argument("the handle is not device memory", ctx);
    if (f->device != (int)s->index)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), s->index, (uint64_t)f->device),
                       "the handle is memory of another device");
    if (f->context && f->context != s->context)
        return fail_argument(
            "the handle is of another context than the device's; open the device with "
            "cuda_context",
            ctx);
    return TZ_OK;
}

/* The address may be inside of an allocation, of which the rest belongs to the handle. A size of 0
 * becomes that rest. */
tz_result tz_cu_wrap(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    pointer_facts f = {0};
    unsigned names[] = {
        TZ_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      TZ_CU_POINTER_ATTRIBUTE_IS_MANAGED,
        TZ_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   TZ_CU_POINTER_ATTRIBUTE_CONTEXT,
        TZ_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, TZ_CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *values[] = {&f.type, &f.is_managed, &f.device, &f.context, &f.start, &f.size};
    const tz_cu_address address = tz_cu_address_of(memory);
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.PointerGetAttributes(sizeof names / sizeof names[0], names, values, address);
    TZ_TRY(tz_cu_leave(s, TZ_OK, ctx));
    if (code == TZ_CU_ERROR_INVALID_VALUE)
        return fail_argument("the handle is not CUDA memory", ctx);
    TZ_TRY(tz_cu_check("cuPointerGetAttributes", code, ctx));
    const uint64_t before = address - f.start;
    if (f.type == 0 || before >= f.size)
        return fail_argument("the handle is not CUDA memory", ctx);
    TZ_TRY(check_pointer(s, &f, ctx));
    const uint64_t there = f.size - before;
    if (memory->size > there)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), there, memory->size),
                       "there are fewer bytes from the handle to the end of its memory");
    if (memory->size == 0)
        memory->size = there;
    return TZ_OK;
}
