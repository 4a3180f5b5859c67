/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: memory. What the engine takes comes from a pool, in the order of a stream:
 * nobody waits for it, and it is not given to anybody else before the queues are done with it. What
 * callers are given is plain: other libraries and parts of the hardware take no other. */
#include "device/cuda/cuda_internal.h"

/* Device memory that the pool keeps while nobody uses it, where the options do not say. */
#define DEFAULT_POOL_THRESHOLD ((uint64_t)256 << 20)

/* ---- the pool ---- */

static bool has_pools(const tz_cu_state *s)
{
    int pools = 0;
    return s->api.MemPoolCreate &&
           s->api.DeviceGetAttribute(&pools, TZ_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                     s->device) == TZ_CU_SUCCESS &&
           pools != 0;
}

tz_result tz_cu_make_pool(tz_cu_state *s, uint64_t threshold, const tz_context *ctx)
{
    const tz_cu_pool_props props = {
        .allocType = TZ_CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = TZ_CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)s->index}};
    uint64_t all = UINT64_MAX; /* else each wait gives free memory back to the system */
    s->pool_threshold = threshold > 0 ? threshold : DEFAULT_POOL_THRESHOLD;
    if (!has_pools(s))
        return TZ_OK;
    TZ_TRY(tz_cu_check("cuMemPoolCreate", s->api.MemPoolCreate(&s->pool, &props), ctx));
    return tz_cu_check(
        "cuMemPoolSetAttribute",
        s->api.MemPoolSetAttribute(s->pool, TZ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all), ctx);
}

static bool is_of_pool(const tz_cu_state *s, const tz_device_memory *memory)
{
    return s->pool && !memory->plain;
}

static void count_pool(tz_cu_state *s, uint64_t size)
{
    const uint64_t now = atomic_fetch_add(&s->pool_bytes, size) + size;
    unsigned long long peak = atomic_load(&s->pool_peak);
    while (now > peak && !atomic_compare_exchange_weak(&s->pool_peak, &peak, now))
        ;
}

/* Gives memory back to the system, beyond what is kept, once nobody uses any of it. Its last use is
 * over by then, so nobody waits long. */
static void uncount_pool(tz_cu_state *s, uint64_t size)
{
    if (atomic_fetch_sub(&s->pool_bytes, size) != size ||
        atomic_exchange(&s->pool_peak, 0) <= s->pool_threshold)
        return;
    (void)s->api.StreamSynchronize(s->memory);
    (void)s->api.MemPoolTrimTo(s->pool, (size_t)s->pool_threshold);
}

/* ---- allocating ---- */

static tz_cu_code allocate_device(const tz_cu_state *s, const tz_device_memory *memory,
                                  tz_cu_address *out)
{
    const size_t size = (size_t)memory->size;
    return is_of_pool(s, memory) ? s->api.MemAllocFromPoolAsync(out, size, s->pool, s->memory)
                                 : s->api.MemAlloc(out, size);
}

/* Where there is no more, what the pool keeps is given back first. */
static tz_cu_code allocate_or_trim(const tz_cu_state *s, const tz_device_memory *memory,
                                   tz_cu_address *out)
{
    const tz_cu_code code = allocate_device(s, memory, out);
    if (code != TZ_CU_ERROR_OUT_OF_MEMORY || !s->pool)
        return code;
    (void)s->api.StreamSynchronize(s->memory);
    (void)s->api.MemPoolTrimTo(s->pool, 0);
    return allocate_device(s, memory, out);
}

static tz_result alloc_within(tz_cu_state *s, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_address address = 0;
    const bool of_pool = is_of_pool(s, memory);
    TZ_TRY(tz_cu_check_memory(of_pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc",
                              allocate_or_trim(s, memory, &address), memory->size, ctx));
    memory->handle = (void *)(uintptr_t)address;
    if (!of_pool)
        return TZ_OK;
    const tz_cu_code code = tz_cu_queues_wait(s, s->memory);
    if (code == TZ_CU_SUCCESS)
        count_pool(s, memory->size);
    else
        (void)s->api.MemFreeAsync(address, s->memory);
    return tz_cu_check("cuStreamWaitEvent", code, ctx);
}

tz_result tz_cu_alloc(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    return tz_cu_leave(s, alloc_within(s, memory, ctx), ctx);
}

tz_result tz_cu_alloc_pinned(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.MemHostAlloc(&memory->host, (size_t)memory->size, TZ_CU_MEMHOSTALLOC_PORTABLE);
    memory->handle = memory->host;
    return tz_cu_leave(s, tz_cu_check_memory("cuMemHostAlloc", code, memory->size, ctx), ctx);
}

/* ---- freeing ---- */

/* The stream of memory waits for what the queues have to do by now. */
static tz_cu_code memory_waits(tz_cu_state *s)
{
    tz_cu_code code = TZ_CU_SUCCESS;
    pthread_mutex_lock(&s->order_lock);
    for (uint32_t i = 0; i < TZ_QUEUES && code == TZ_CU_SUCCESS; i++) {
        code = s->api.EventRecord(s->done[i], s->queues[i]);
        if (code == TZ_CU_SUCCESS)
            code = s->api.StreamWaitEvent(s->memory, s->done[i], 0);
    }
    pthread_mutex_unlock(&s->order_lock);
    return code;
}

static void sync_queues(const tz_cu_state *s)
{
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        (void)s->api.StreamSynchronize(s->queues[i]);
}

static void free_within(tz_cu_state *s, const tz_device_memory *memory)
{
    const tz_cu_address address = tz_cu_address_of(memory);
    if (memory->host) {
        (void)s->api.MemFreeHost(memory->host);
    } else if (is_of_pool(s, memory)) {
        if (memory_waits(s) != TZ_CU_SUCCESS)
            sync_queues(s);
        (void)s->api.MemFreeAsync(address, s->memory);
        uncount_pool(s, memory->size);
    } else {
        if (!memory->plain)
            sync_queues(s);
        (void)s->api.MemFree(address);
    }
}

void tz_cu_free(void *state, tz_device_memory *memory)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (memory->wrapped || tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    free_within(s, memory);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

/* ---- what is left ---- */

/* What the pool keeps is there for the next one to ask, and so is what is about to be freed: in the
 * order of its stream. What the pool itself says is in use counts that. */
static tz_result free_memory_within(tz_cu_state *s, uint64_t *bytes, const tz_context *ctx)
{
    size_t left = 0, all = 0;
    uint64_t reserved = 0;
    TZ_TRY(tz_cu_check("cuMemGetInfo", s->api.MemGetInfo(&left, &all), ctx));
    if (s->pool)
        TZ_TRY(tz_cu_check(
            "cuMemPoolGetAttribute",
            s->api.MemPoolGetAttribute(s->pool, TZ_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
            ctx));
    const uint64_t taken = atomic_load(&s->pool_bytes);
    *bytes = left + (reserved > taken ? reserved - taken : 0);
    return TZ_OK;
}

tz_result tz_cu_free_memory(void *state, uint64_t *bytes, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    return tz_cu_leave(s, free_memory_within(s, bytes, ctx), ctx);
}
