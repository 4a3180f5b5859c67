/* SPDX-License-Identifier: Apache-2.0 */
#include "support/row_ops_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const size_t long_counts[] = {255, 256, 257, 511, 513, 1000, 2049};
_Static_assert(COUNTS == MOST + 1 + sizeof long_counts / sizeof long_counts[0], "all of them");

size_t count_at(int index)
{
    return index <= MOST ? (size_t)index : long_counts[index - MOST - 1];
}

/* ---- numbers ---- */

static uint64_t seed;

uint64_t random_bits(void)
{
    seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = seed;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

size_t random_below(size_t limit)
{
    return (size_t)(random_bits() % limit);
}

/* ---- memory ---- */

input make_input(size_t size)
{
    const size_t shift = random_below(8);
    input in = {.block = malloc(size + shift + (size + shift == 0)), .size = size};
    assert_non_null(in.block);
    in.data = in.block + shift;
    for (size_t i = 0; i < size; i++)
        in.data[i] = (uint8_t)random_bits();
    return in;
}

input copy_input(const input *from)
{
    input in = make_input(from->size);
    memcpy(in.data, from->data, from->size);
    return in;
}

outputs make_outputs(size_t size)
{
    outputs out = {.size = size + 2 * GUARD};
    for (int i = 0; i < 2; i++) {
        const size_t shift = random_below(32);
        out.block[i] = malloc(out.size + 32);
        assert_non_null(out.block[i]);
        memset(out.block[i], UNTOUCHED, out.size + 32);
        out.data[i] = out.block[i] + shift + GUARD;
    }
    return out;
}

void compare_outputs(outputs *out)
{
    assert_memory_equal(out->data[0] - GUARD, out->data[1] - GUARD, out->size);
    free(out->block[0]);
    free(out->block[1]);
}

const tz_row_ops *forms[2];

int choose_forms(void **state)
{
    (void)state;
    forms[0] = &tz_row_ops_scalar;
    forms[1] = tz_row_ops_get();
    seed = 20260101;
    return 0;
}
