/* SPDX-License-Identifier: Apache-2.0
 * Declared as cuda.h does, and called by name: nothing of the library's own is used for it. */
#include <dlfcn.h>
#include <string.h>

#include "support/check.h"
#include "support/device/caller_driver.h"
#include "support/device/test_device.h"

typedef unsigned long long address;

static struct cuda {
    unsigned (*Init)(unsigned);
    unsigned (*CtxCreate)(void **, unsigned, int);
    unsigned (*CtxDestroy)(void *);
    unsigned (*CtxPushCurrent)(void *);
    unsigned (*CtxPopCurrent)(void **);
    unsigned (*MemAlloc)(address *, size_t);
    unsigned (*MemFree)(address);
    unsigned (*MemcpyHtoD)(address, const void *, size_t);
    unsigned (*MemcpyDtoH)(void *, address, size_t);
    unsigned (*StreamCreate)(void **, unsigned);
    unsigned (*StreamDestroy)(void *);
    unsigned (*StreamSynchronize)(void *);
    unsigned (*MemcpyHtoDAsync)(address, const void *, size_t, void *);
    unsigned (*MemcpyDtoHAsync)(void *, address, size_t, void *);
} cuda;

static void load(const char *path)
{
    static const char *const names[] = {"cuInit",
                                        "cuCtxCreate_v2",
                                        "cuCtxDestroy_v2",
                                        "cuCtxPushCurrent_v2",
                                        "cuCtxPopCurrent_v2",
                                        "cuMemAlloc_v2",
                                        "cuMemFree_v2",
                                        "cuMemcpyHtoD_v2",
                                        "cuMemcpyDtoH_v2",
                                        "cuStreamCreate",
                                        "cuStreamDestroy_v2",
                                        "cuStreamSynchronize",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuMemcpyDtoHAsync_v2"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(library, names[i]);
        assert_non_null(symbol);
        memcpy((char *)&cuda + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

/* A context that is current for nobody. */
static void *make_context(void)
{
    void *made = NULL, *popped = NULL;
    if (cuda.Init(0) != 0 || cuda.CtxCreate(&made, 0, 0) != 0)
        return NULL;
    assert_int_equal(cuda.CtxPopCurrent(&popped), 0);
    assert_ptr_equal(popped, made);
    return made;
}

static bool begin(caller_device *own)
{
    load(own->is_faulty ? CUDA_FAKE : test_device_cuda_library());
    own->context = own->options.cuda_context = make_context();
    return own->context != NULL;
}

static void end_context(void *context)
{
    assert_int_equal(cuda.CtxDestroy(context), 0);
}

static void end(caller_device *own)
{
    end_context(own->context);
}

static void pop(void)
{
    void *popped;
    assert_int_equal(cuda.CtxPopCurrent(&popped), 0);
}

static void *make(const caller_device *own, void *context, size_t size)
{
    (void)own;
    address made = 0;
    if (cuda.CtxPushCurrent(context) != 0)
        return NULL;
    const unsigned code = cuda.MemAlloc(&made, size);
    pop();
    return code == 0 ? (void *)(uintptr_t)made : NULL;
}

/* A fake that is to fail does so once. */
static void release(const caller_device *own, void *context, void *handle)
{
    (void)own;
    if (cuda.CtxPushCurrent(context) != 0)
        assert_int_equal(cuda.CtxPushCurrent(context), 0);
    assert_int_equal(cuda.MemFree((uintptr_t)handle), 0);
    pop();
}

static void copy(const caller_device *own, void *handle, void *bytes, size_t size, bool in)
{
    assert_int_equal(cuda.CtxPushCurrent(own->context), 0);
    assert_int_equal(in ? cuda.MemcpyHtoD((uintptr_t)handle, bytes, size)
                        : cuda.MemcpyDtoH(bytes, (uintptr_t)handle, size),
                     0);
    pop();
}

static void *other_context(const caller_device *own)
{
    (void)own;
    void *other = make_context();
    assert_non_null(other);
    return other;
}

static void end_other_context(const caller_device *own, void *context)
{
    (void)own;
    end_context(context);
}

static uint32_t context_references(const caller_device *own)
{
    (void)own;
    return 0;
}

static uint32_t references(const caller_device *own, void *handle)
{
    (void)own;
    (void)handle;
    return 0;
}

/* It waits for no other stream. A fake that is to fail may do so. */
static void *make_stream(const caller_device *own, void *context)
{
    (void)own;
    void *made = NULL;
    if (cuda.CtxPushCurrent(context) != 0)
        return NULL;
    const unsigned code = cuda.StreamCreate(&made, 1);
    pop();
    return code == 0 ? made : NULL;
}

static void finish(const caller_device *own, void *stream)
{
    assert_int_equal(cuda.CtxPushCurrent(own->context), 0);
    assert_int_equal(cuda.StreamSynchronize(stream), 0);
    pop();
}

static void end_stream(const caller_device *own, void *context, void *stream)
{
    (void)own;
    if (cuda.CtxPushCurrent(context) != 0)
        assert_int_equal(cuda.CtxPushCurrent(context), 0);
    assert_int_equal(cuda.StreamDestroy(stream), 0);
    pop();
}

static void hold(caller_device *own, void *stream)
{
    (void)own;
    (void)stream;
}

static void let_go(caller_device *own)
{
    (void)own;
}

static void put_copy(const caller_device *own, void *stream, void *handle, void *bytes, size_t size,
                     bool in)
{
    assert_int_equal(cuda.CtxPushCurrent(own->context), 0);
    assert_int_equal(in ? cuda.MemcpyHtoDAsync((uintptr_t)handle, bytes, size, stream)
                        : cuda.MemcpyDtoHAsync(bytes, (uintptr_t)handle, size, stream),
                     0);
    pop();
}

const caller_driver caller_cuda = {.begin = begin,
                                   .end = end,
                                   .alloc = make,
                                   .free = release,
                                   .copy = copy,
                                   .other_context = other_context,
                                   .end_other_context = end_other_context,
                                   .context_references = context_references,
                                   .references = references,
                                   .make_stream = make_stream,
                                   .end_stream = end_stream,
                                   .hold = hold,
                                   .let_go = let_go,
                                   .put_copy = put_copy,
                                   .finish = finish};
