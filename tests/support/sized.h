/* SPDX-License-Identifier: Apache-2.0
 * Sized structs in one expression: elements of arrays, with their members in order, and limits,
 * with their members by name. */
#ifndef TESTS_SUPPORT_SIZED_H
#define TESTS_SUPPORT_SIZED_H

#include <terrazzo/terrazzo.h>

/* clang-format off */
#define SIZED_ITEM(...) {sizeof(tz_metadata_item), __VA_ARGS__}
#define SIZED_TAG(...)  {sizeof(tz_tag_value), __VA_ARGS__}
#define SIZED_LIMITS(...) (&(const tz_limits){.struct_size = sizeof(tz_limits), __VA_ARGS__})
/* clang-format on */

#endif
