/* SPDX-License-Identifier: Apache-2.0
 * A source of the caller's: bytes in memory, of which nothing is there before it is waited for. */
#ifndef TESTS_SUPPORT_DEFERRED_SOURCE_H
#define TESTS_SUPPORT_DEFERRED_SOURCE_H

#include <terrazzo/terrazzo.h>

typedef struct deferred_source {
    tz_source base;
    const uint8_t *data;
    uint64_t from, to; /* what lies elsewhere, tables, is there at once and is not counted */
    uint64_t reads, waits;
    uint64_t late; /* reads that were submitted after somebody had waited */
} deferred_source;

/* The bytes stay. Release it by tz_close of a file, or by base.close. */
deferred_source *deferred_source_new(const void *data, size_t size);
/* The counts begin again. */
void deferred_source_restart(deferred_source *source);

#endif
