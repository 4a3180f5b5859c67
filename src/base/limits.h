/* SPDX-License-Identifier: Apache-2.0
 * The one place that knows the limits and their defaults. */
#ifndef TZ_BASE_LIMITS_H
#define TZ_BASE_LIMITS_H

#include <terrazzo/terrazzo.h>

/* *out = given with every 0 replaced by its default; given may be NULL. */
void tz_limits_resolve(tz_limits *out, const tz_limits *given);

/* The name, as in tz_limits, of the member at this offset; NULL when there is none. */
const char *tz_limit_name(size_t member_offset);

#endif
