/* SPDX-License-Identifier: Apache-2.0
 * Copies and fills. Host memory that is not pinned is read at the call, as the real one does;
 * pinned memory when the copy is done. What a download goes to is made unusable at the call. */
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/state.h"

static void free_staged(work *which)
{
    free(which->what.copy.staged);
}

/* Pinned memory may have been freed since. */
static bool host_is_there(work *which, const void *host)
{
    const char *why;
    if (host_fits(host, which->bytes, &why))
        return true;
    fault(which->context, which->name, "%llu bytes at %p: %s", (unsigned long long)which->bytes,
          host, why);
    return false;
}

static void run_upload(work *which)
{
    const unsigned char *from = which->what.copy.staged;
    if (!from)
        from = which->what.copy.host_from;
    if (!which->what.copy.staged && !host_is_there(which, from))
        return;
    unsigned char *to = piece_reach(which, which->what.copy.to, which->bytes);
    if (to)
        memcpy(to, from, which->bytes);
}

static void run_download(work *which)
{
    if (!host_is_there(which, which->what.copy.host_to))
        return;
    const unsigned char *from = piece_reach(which, which->what.copy.from, which->bytes);
    if (from)
        memcpy(which->what.copy.host_to, from, which->bytes);
}

static void run_copy(work *which)
{
    const unsigned char *from = piece_reach(which, which->what.copy.from, which->bytes);
    unsigned char *to = from ? piece_reach(which, which->what.copy.to, which->bytes) : NULL;
    if (to)
        memmove(to, from, which->bytes);
}

static void run_fill(work *which)
{
    const unsigned width = which->what.copy.width;
    unsigned char *to = piece_reach(which, which->what.copy.to, which->bytes);
    for (uint64_t i = 0; to && i < which->bytes; i++)
        to[i] = (unsigned char)(which->what.copy.value >> 8 * (i % width));
}

/* The calls: with a stream, or with the legacy stream and then a wait. */

typedef struct request {
    const char *name;
    bool wait;
    CUstream stream;
    CUdeviceptr to, from;
    void *host_to;
    const void *host_from;
    uint64_t size;
    unsigned value, width;
    void (*run)(work *);
} request;

static CUresult check(const call *here, const request *asked)
{
    const char *why;
    const void *host = asked->host_to ? asked->host_to : asked->host_from;
    if (asked->run == run_upload || asked->run == run_download) {
        if (!host_fits(host, asked->size, &why))
            return refuse(here, INVALID_VALUE, "%s", why);
    }
    if (asked->run != run_download && !piece_range(here, asked->to, asked->size))
        return INVALID_VALUE;
    if ((asked->run == run_download || asked->run == run_copy) &&
        !piece_range(here, asked->from, asked->size))
        return INVALID_VALUE;
    if (asked->width > 1 && asked->to % asked->width != 0)
        return refuse(here, INVALID_VALUE, "%#llx is not aligned", asked->to);
    return SUCCESS;
}

static void put(const call *here, queue *to, const request *asked)
{
    context *owner;
    uint64_t first, size;
    work *made = queue_add(here, to, asked->size, asked->run);
    made->what.copy.to = asked->to;
    made->what.copy.from = asked->from;
    made->what.copy.host_to = asked->host_to;
    made->what.copy.host_from = asked->host_from;
    made->what.copy.value = asked->value;
    made->what.copy.width = asked->width;
    made->finish = free_staged;
    if (asked->run == run_download)
        memset(asked->host_to, 0xdd, asked->size);
    if (asked->run == run_upload && !host_pinned(asked->host_from, &owner, &first, &size)) {
        made->what.copy.staged = malloc(asked->size);
        memcpy(made->what.copy.staged, asked->host_from, asked->size);
    }
}

static CUresult do_request(const request *asked)
{
    call here;
    if (!call_begin(&here, asked->name, NEEDS_CONTEXT, asked->size, asked->stream))
        return call_end(&here, here.code);
    queue *to = queue_stream(&here, asked->stream);
    if (!to)
        return call_end(&here, here.code);
    if (asked->size == 0)
        return call_end(&here, SUCCESS);
    const CUresult code = check(&here, asked);
    if (code != SUCCESS)
        return call_end(&here, code);
    put(&here, to, asked);
    if (asked->wait) {
        const order known = to->known;
        queue_until(to->slot, queue_position(to));
        order_seen(&known);
    }
    return call_end(&here, here.context->sticky);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    return do_request(&(request){.name = "+cuMemcpyHtoDAsync_v2",
                                 .run = run_upload,
                                 .to = to,
                                 .host_from = from,
                                 .size = size,
                                 .stream = stream});
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    return do_request(&(request){.name = "+cuMemcpyHtoD_v2",
                                 .run = run_upload,
                                 .to = to,
                                 .host_from = from,
                                 .size = size,
                                 .wait = true});
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    return do_request(&(request){.name = "+cuMemcpyDtoHAsync_v2",
                                 .run = run_download,
                                 .host_to = to,
                                 .from = from,
                                 .size = size,
                                 .stream = stream});
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    return do_request(&(request){.name = "+cuMemcpyDtoH_v2",
                                 .run = run_download,
                                 .host_to = to,
                                 .from = from,
                                 .size = size,
                                 .wait = true});
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return do_request(&(request){.name = "+cuMemcpyDtoDAsync_v2",
                                 .run = run_copy,
                                 .to = to,
                                 .from = from,
                                 .size = size,
                                 .stream = stream});
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return do_request(&(request){.name = "+cuMemcpyDtoD_v2",
                                 .run = run_copy,
                                 .to = to,
                                 .from = from,
                                 .size = size,
                                 .wait = true});
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return do_request(&(request){.name = "+cuMemsetD8Async",
                                 .run = run_fill,
                                 .to = to,
                                 .value = value,
                                 .width = 1,
                                 .size = count,
                                 .stream = stream});
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return do_request(&(request){.name = "+cuMemsetD8_v2",
                                 .run = run_fill,
                                 .to = to,
                                 .value = value,
                                 .width = 1,
                                 .size = count,
                                 .wait = true});
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return do_request(&(request){.name = "+cuMemsetD32Async",
                                 .run = run_fill,
                                 .to = to,
                                 .value = value,
                                 .width = 4,
                                 .size = 4 * count,
                                 .stream = stream});
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count)
{
    return do_request(&(request){.name = "+cuMemsetD32_v2",
                                 .run = run_fill,
                                 .to = to,
                                 .value = value,
                                 .width = 4,
                                 .size = 4 * count,
                                 .wait = true});
}
