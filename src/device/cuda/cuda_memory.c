/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: memory. Memory for the engine comes from a pool, in the order of a stream: an
 * allocation makes the queues wait for the memory stream, and a free makes the memory stream wait
 * for the queues. So the host never waits, and nobody else gets the memory before the queues are
 * done with it. Memory for callers is plain: other libraries and parts of the hardware accept no
 * other. Drivers before CUDA 11.2 have no pools, and all memory is plain.
 *
 *     memory  --alloc--+                    +--free-->      one stream orders all of the pool
 *                      v ready              ^ done[i]
 *     queues           +--copies, kernels---+
 *
 * The pool gives nothing back to the system by itself, because its own threshold would apply at
 * each wait of the host. It is trimmed here: to the threshold when the last allocation is freed,
 * and to nothing when an allocation fails. */
#include "device/cuda/cuda_internal.h"

/* Bytes that the pool keeps while none is allocated, if the options do not say. */
#define DEFAULT_POOL_THRESHOLD ((uint64_t)256 << 20)

/* ---- the pool ---- */

tz_result tz_cu_make_pool(tz_cu_state *s, uint64_t threshold, const tz_context *ctx)
{
    const tz_cu_pool_props props = {
        .allocType = TZ_CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = TZ_CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)s->index}};
    uint64_t all = UINT64_MAX; /* never by itself */
    s->pool_threshold = threshold > 1 ? threshold : threshold > 0 ? 0 : DEFAULT_POOL_THRESHOLD;
    int has_pools = 0;
    if (!s->api.MemPoolCreate ||
        s->api.DeviceGetAttribute(&has_pools, TZ_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                  s->device) != TZ_CU_SUCCESS ||
        has_pools == 0)
        return TZ_OK;
    TZ_TRY(tz_cu_check("cuMemPoolCreate", s->api.MemPoolCreate(&s->pool, &props), ctx));
    return tz_cu_check(
        "cuMemPoolSetAttribute",
        s->api.MemPoolSetAttribute(s->pool, TZ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all), ctx);
}

/* Callers hand plain memory to libraries that refuse a pool's. */
static bool is_of_pool(const tz_cu_state *s, const tz_device_memory *memory)
{
    return s->pool && !memory->plain;
}

/* ---- allocating ---- */

/* The lock: between the record and the waits another thread could record the event again, and a
 * queue would wait for that. */
tz_cu_code tz_cu_queues_wait(tz_cu_state *s, tz_cu_stream stream)
{
    pthread_mutex_lock(&s->order_lock);
    tz_cu_code code = s->api.EventRecord(s->ready, stream);
    for (uint32_t i = 0; i < TZ_QUEUES && code == TZ_CU_SUCCESS; i++)
        code = s->api.StreamWaitEvent(s->queues[i], s->ready, 0);
    pthread_mutex_unlock(&s->order_lock);
    return code;
}

static tz_cu_code allocate_device(const tz_cu_state *s, const tz_device_memory *memory,
                                  tz_cu_address *out)
{
    const size_t size = (size_t)memory->size;
    return is_of_pool(s, memory) ? s->api.MemAllocFromPoolAsync(out, size, s->pool, s->memory)
                                 : s->api.MemAlloc(out, size);
}

/* An allocation that fails is repeated after the pool has given all that it keeps back to the
 * system. The queues then wait for the memory: it exists when the memory stream has come to it. */
tz_result tz_cu_alloc(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    tz_cu_address address = 0;
    const bool of_pool = is_of_pool(s, memory);
    TZ_TRY(tz_cu_enter(s, ctx));
    tz_cu_code code = allocate_device(s, memory, &address);
    if (code == TZ_CU_ERROR_OUT_OF_MEMORY && s->pool) {
        (void)s->api.StreamSynchronize(s->memory);
        (void)s->api.MemPoolTrimTo(s->pool, 0);
        code = allocate_device(s, memory, &address);
    }
    tz_result result = tz_cu_check_memory(of_pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc", code,
                                          memory->size, ctx);
    if (result == TZ_OK) {
        memory->handle = (void *)(uintptr_t)address;
        if (of_pool) {
            code = tz_cu_queues_wait(s, s->memory);
            if (code == TZ_CU_SUCCESS) {
                /* the peak is a maximum over all threads, hence the loop */
                const uint64_t now = atomic_fetch_add(&s->pool_bytes, memory->size) + memory->size;
                unsigned long long peak = atomic_load(&s->pool_peak);
                while (now > peak && !atomic_compare_exchange_weak(&s->pool_peak, &peak, now))
                    ;
            } else {
                (void)s->api.MemFreeAsync(address, s->memory);
            }
            result = tz_cu_check("cuStreamWaitEvent", code, ctx);
        }
    }
    return tz_cu_leave(s, result, ctx);
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

/* Makes the memory stream wait for the work that is in the queues now. */
static tz_cu_code memory_waits_for_queues(tz_cu_state *s)
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

/* Memory may still be in use by work in the queues. The pool's is freed in the order of the memory
 * stream, after that work; without a pool the host waits. Plain memory is freed at once: its owner
 * has waited. */
void tz_cu_free(void *state, tz_device_memory *memory)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (memory->wrapped || tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    const tz_cu_address address = tz_cu_address_of(memory);
    if (memory->host) {
        (void)s->api.MemFreeHost(memory->host);
    } else if (is_of_pool(s, memory)) {
        if (memory_waits_for_queues(s) != TZ_CU_SUCCESS)
            sync_queues(s);
        (void)s->api.MemFreeAsync(address, s->memory);
        if (atomic_fetch_sub(&s->pool_bytes, memory->size) == memory->size &&
            atomic_exchange(&s->pool_peak, 0) > s->pool_threshold) {
            /* a short wait: all memory was freed, so its last use is over */
            (void)s->api.StreamSynchronize(s->memory);
            (void)s->api.MemPoolTrimTo(s->pool, (size_t)s->pool_threshold);
        }
    } else {
        if (!memory->plain)
            sync_queues(s);
        (void)s->api.MemFree(address);
    }
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

/* ---- free memory ---- */

/* Memory that the pool holds and nobody has allocated counts as free, also while its release is
 * still in the memory stream: the next allocation comes after it in that stream. The pool's own
 * count of used bytes includes such memory, so pool_bytes is used instead. */
tz_result tz_cu_free_memory(void *state, uint64_t *bytes, const tz_context *ctx)
{
    tz_cu_state *s = state;
    size_t left = 0, all = 0;
    uint64_t reserved = 0;
    TZ_TRY(tz_cu_enter(s, ctx));
    tz_result result = tz_cu_check("cuMemGetInfo", s->api.MemGetInfo(&left, &all), ctx);
    if (result == TZ_OK && s->pool)
        result = tz_cu_check(
            "cuMemPoolGetAttribute",
            s->api.MemPoolGetAttribute(s->pool, TZ_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
            ctx);
    if (result == TZ_OK) {
        const uint64_t taken = atomic_load(&s->pool_bytes);
        *bytes = left + (reserved > taken ? reserved - taken : 0);
    }
    return tz_cu_leave(s, result, ctx);
}
