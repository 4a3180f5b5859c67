/* SPDX-License-Identifier: Apache-2.0
 * Names that users type. */
#ifndef TZ_BASE_NAMES_H
#define TZ_BASE_NAMES_H

#include <stdbool.h>

/* Compares without regard to the case of ASCII letters, in any locale; false if one is NULL. */
bool tz_names_are_equal(const char *a, const char *b);

#endif
