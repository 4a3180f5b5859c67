/* SPDX-License-Identifier: Apache-2.0
 * Limits and their defaults. */
#ifndef TZ_BASE_LIMITS_H
#define TZ_BASE_LIMITS_H

#include "base/error.h"

/* Copies the limits with every 0 replaced by its default; given may be NULL. */
void tz_limits_resolve(tz_limits *out, const tz_limits *given);

/* Does the same with limits of the caller, which may be of another size. Messages name the
 * argument. */
tz_result tz_limits_copy(tz_limits *out, const tz_limits *given, const char *argument,
                         const tz_context *ctx);

/* Returns the name of the member of tz_limits at this offset; NULL if there is none. */
const char *tz_limit_name(size_t member_offset);

#endif
