/* SPDX-License-Identifier: Apache-2.0
 * Two forms of the loops of pixel work, the plain one and the best one of this machine, on the same
 * random rows: what they write is compared, guards around it included. */
#ifndef TESTS_SUPPORT_ROW_OPS_COMPARE_H
#define TESTS_SUPPORT_ROW_OPS_COMPARE_H

#include "pixel/row_ops.h"

enum { MOST = 200, GUARD = 64, UNTOUCHED = 0xA5 };

/* Counts of every remainder, and some of rows. */
enum { COUNTS = MOST + 1 + 7 };
size_t count_at(int index);

/* ---- numbers ---- */

uint64_t random_bits(void);
size_t random_below(size_t limit);

/* ---- memory ---- */

/* Bytes that end where their allocation ends, at a random alignment: a sanitizer sees what is read
 * after them. */
typedef struct input {
    uint8_t *block;
    uint8_t *data;
    size_t size;
} input;
input make_input(size_t size);
input copy_input(const input *from);

/* The output of two forms, with guards on both sides. */
typedef struct outputs {
    uint8_t *block[2];
    uint8_t *data[2];
    size_t size;
} outputs;
outputs make_outputs(size_t size);
void compare_outputs(outputs *out);

/* The plain form, and the best one that this machine runs; set by choose_forms, a setup of cmocka.
 */
extern const tz_row_ops *forms[2];
int choose_forms(void **state);

#endif
