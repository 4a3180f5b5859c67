/* SPDX-License-Identifier: Apache-2.0
 * Bytes in memory that take their time: each range of a request is a read that moves a virtual
 * clock, and nothing of it is there before it is waited for. */
#ifndef TESTS_SUPPORT_CLOCKED_SOURCE_H
#define TESTS_SUPPORT_CLOCKED_SOURCE_H

#include <terrazzo/terrazzo.h>

#include "support/virtual_clock.h"

typedef struct clocked_source {
    tz_source base;
    const uint8_t *data;
    uint64_t from, to; /* what lies elsewhere, tables, is there at once and is not counted */
    vclock clock;
    uint64_t reads, waits;
    uint64_t late; /* reads that were submitted after somebody had waited */
} clocked_source;

/* The bytes stay. Release it by tz_close of a file, or by base.close. */
clocked_source *clocked_source_new(const void *data, size_t size, const vclock_prices *prices);
/* The clock and the counts begin anew. */
void clocked_source_restart(clocked_source *source);
/* So many reads of a byte, each waited for before the next. */
void clocked_source_one_by_one(clocked_source *source, uint64_t reads);

#endif
