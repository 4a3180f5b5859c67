/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL driver: contexts and memory that the caller made. */
#include "base/mem.h"
#include "device/opencl/opencl_internal.h"

/* ---- contexts ---- */

static tz_result check_context(const tz_cl_state *s, tz_cl_device device, tz_cl_context context,
                               const tz_context *ctx)
{
    tz_cl_device devices[TZ_CL_MAX_DEVICES];
    size_t size = 0;
    const int32_t code = s->api.GetContextInfo(context, (uint32_t)TZ_CL_CONTEXT_DEVICES,
                                               sizeof devices, devices, &size);
    if (code == TZ_CL_INVALID_CONTEXT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "opencl_context is no context of this loader's");
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clGetContextInfo", code);
    for (size_t i = 0; i < size / sizeof devices[0]; i++) {
        if (devices[i] == device)
            return TZ_OK;
    }
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "the device is not in opencl_context");
}

tz_result tz_cl_adopt_context(tz_cl_state *s, tz_cl_device device, void *given,
                              const tz_context *ctx)
{
    const tz_cl_context context = given;
    TZ_TRY(check_context(s, device, context, ctx));
    const int32_t code = s->api.RetainContext(context);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clRetainContext", code);
    s->context = context;
    return TZ_OK;
}

void *tz_cl_native_context(void *state)
{
    return ((tz_cl_state *)state)->context;
}

/* ---- memory ---- */

typedef struct mem_facts {
    uint32_t type;
    size_t size;
    tz_cl_context context;
} mem_facts;

static int32_t query_mem_object(const tz_cl_state *s, tz_cl_mem memory, mem_facts *out)
{
    int32_t code = s->api.GetMemObjectInfo(memory, (uint32_t)TZ_CL_MEM_TYPE, sizeof out->type,
                                           &out->type, NULL);
    if (code == TZ_CL_SUCCESS)
        code = s->api.GetMemObjectInfo(memory, (uint32_t)TZ_CL_MEM_SIZE, sizeof out->size,
                                       &out->size, NULL);
    if (code == TZ_CL_SUCCESS)
        code = s->api.GetMemObjectInfo(memory, (uint32_t)TZ_CL_MEM_CONTEXT, sizeof out->context,
                                       &out->context, NULL);
    return code;
}

static tz_result check_mem_object(const tz_cl_state *s, const tz_device_memory *memory,
                                  const mem_facts *facts, const tz_context *ctx)
{
    if (facts->type != (uint32_t)TZ_CL_MEM_OBJECT_BUFFER)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is an image, and no buffer");
    if (facts->context != s->context)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is of another context than the device's; open the device with "
                       "opencl_context");
    if (memory->size > facts->size)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), facts->size, memory->size),
                       "the handle has fewer bytes");
    return TZ_OK;
}

tz_result tz_cl_wrap(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    const tz_cl_state *s = state;
    mem_facts facts = {0};
    int32_t code = query_mem_object(s, memory->handle, &facts);
    if (code == TZ_CL_INVALID_MEM_OBJECT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is no memory of OpenCL");
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clGetMemObjectInfo", code);
    TZ_TRY(check_mem_object(s, memory, &facts, ctx));
    code = s->api.RetainMemObject(memory->handle);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clRetainMemObject", code);
    if (memory->size == 0)
        memory->size = facts.size;
    return TZ_OK;
}
