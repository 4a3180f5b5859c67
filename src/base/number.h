/* SPDX-License-Identifier: Apache-2.0
 * Numbers in text, the same in every locale. */
#ifndef TZ_BASE_NUMBER_H
#define TZ_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text (spaces around it apart) as a number: decimal, exponent, "nan", "-nan", "inf",
 * "infinity", any case; no hexadecimal. Too large gives infinity with *out_of_range set (may be
 * NULL). false: not a number. */
bool tz_parse_double(const char *text, double *out, bool *out_of_range);
/* The whole text as an integer, exactly; false also when it does not fit. */
bool tz_parse_int64(const char *text, int64_t *out);
bool tz_parse_uint64(const char *text, uint64_t *out);
/* The first of %.15g, %.16g and %.17g that reads back as the same double: short where the number
 * is; "nan", "inf", "-inf". size >= 32. Returns its length. */
size_t tz_format_double(double value, char *text, size_t size);

#endif
