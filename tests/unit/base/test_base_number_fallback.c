/* SPDX-License-Identifier: Apache-2.0
 * The tests of numbers again, on a system that gives out no C locale. */
#define _POSIX_C_SOURCE 200809L
#include <locale.h>

#define newlocale(mask, name, base) ((void)(mask), (void)(name), (base))
#include "base/number.c"
#undef newlocale

#include "test_base_number.c"
