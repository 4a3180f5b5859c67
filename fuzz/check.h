/* SPDX-License-Identifier: Apache-2.0
 * The claim of a fuzz target: aborts if it does not hold, so that a fuzzer keeps the input. */
#ifndef TZ_FUZZ_CHECK_H
#define TZ_FUZZ_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

#endif
