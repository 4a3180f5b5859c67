/* SPDX-License-Identifier: Apache-2.0 */
#include "support/alloc_hook.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/pool.h"
#include "tiff/tile_table.h"

static atomic_uint_fast64_t allocations;
static atomic_uint_fast64_t failures;
static atomic_uint_fast64_t total_bytes;
static atomic_int_fast64_t live_bytes;
static atomic_int_fast64_t peak_bytes;
static atomic_uint_fast64_t fail_at; /* the number of the allocation; 0: none */
static atomic_bool fail_on;          /* and of all after it */
static atomic_bool installed;

static bool allow(void *user, size_t size)
{
    (void)user, (void)size;
    uint64_t number = atomic_fetch_add(&allocations, 1) + 1;
    uint64_t first = atomic_load(&fail_at);
    if (first == 0 || number < first || (number > first && !atomic_load(&fail_on)))
        return true;
    atomic_fetch_add(&failures, 1);
    return false;
}

static void moved(void *user, size_t released, size_t acquired)
{
    (void)user;
    int64_t change = (int64_t)acquired - (int64_t)released;
    int64_t live = atomic_fetch_add(&live_bytes, change) + change;
    atomic_fetch_add(&total_bytes, acquired);
    int_fast64_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live))
        continue;
}

void alloc_hook_install(void)
{
    (void)tz_pool_shared_threads(); /* made once and kept: not what any test counts */
    atomic_store(&allocations, 0);
    atomic_store(&failures, 0);
    atomic_store(&total_bytes, 0);
    atomic_store(&live_bytes, 0);
    atomic_store(&peak_bytes, 0);
    alloc_hook_fail_at(0, false);
    tz_mem_set_hook(&(tz_mem_hook){allow, moved, NULL});
    atomic_store(&installed, true);
}

void alloc_hook_remove(void)
{
    tz_mem_set_hook(NULL);
    atomic_store(&installed, false);
}

bool alloc_hook_is_installed(void)
{
    return atomic_load(&installed);
}

void alloc_hook_fail_at(uint64_t n, bool persistent)
{
    atomic_store(&fail_at, n == 0 ? 0 : atomic_load(&allocations) + n);
    atomic_store(&fail_on, persistent);
}

alloc_stats alloc_hook_stats(void)
{
    return (alloc_stats){.allocations = atomic_load(&allocations),
                         .failures = atomic_load(&failures),
                         .live_bytes = atomic_load(&live_bytes),
                         .peak_bytes = atomic_load(&peak_bytes),
                         .total_bytes = atomic_load(&total_bytes)};
}

bool alloc_hook_kept_nothing(const alloc_stats *stats)
{
    const int64_t pages =
        (int64_t)TZ_TABLE_PAGE_COUNT * TZ_TABLE_PAGE_SIZE; /* and what malloc adds */
    const int64_t live = (int64_t)stats->live_bytes;
    return live == 0 || (live >= pages && live < pages + 2 * TZ_TABLE_PAGE_SIZE);
}
