/* SPDX-License-Identifier: Apache-2.0
 * Counts the library's allocations and makes the n-th of them fail.
 *
 *     for (uint64_t n = 1;; n++) {
 *         alloc_hook_install();
 *         alloc_hook_fail_at(n, false);
 *         ... work, check that it is TZ_ERR_NOMEM when something failed, release everything ...
 *         alloc_stats stats = alloc_hook_stats();
 *         alloc_hook_remove();
 *         assert_int_equal(stats.live_bytes, 0);
 *         if (stats.failures == 0)
 *             break;
 *     }
 */
#ifndef TZ_TESTS_ALLOC_HOOK_H
#define TZ_TESTS_ALLOC_HOOK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct alloc_stats {
    uint64_t allocations; /* asked for since install, failed ones too */
    uint64_t failures;    /* made to fail */
    int64_t live_bytes;   /* negative when blocks from before install were released */
    int64_t peak_bytes;
    uint64_t total_bytes; /* acquired in all; sizes are those the allocator really gives */
} alloc_stats;

/* Start counting from zero; nothing fails. Neither this nor remove while library code runs in other
 * threads; the library may allocate from any thread in between. */
void alloc_hook_install(void);
void alloc_hook_remove(void);
bool alloc_hook_is_installed(void);

/* From now on the n-th allocation fails (1 is the next one; 0: none), and with persistent all those
 * after it. */
void alloc_hook_fail_at(uint64_t n, bool persistent);

alloc_stats alloc_hook_stats(void);

/* Nothing is left of a call, but the pages of a tile table that a handle may keep. */
bool alloc_hook_kept_nothing(const alloc_stats *stats);

#endif
