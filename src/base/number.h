/* SPDX-License-Identifier: Apache-2.0
 * Numbers in text, the same in every locale. */
#ifndef TZ_BASE_NUMBER_H
#define TZ_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unlike those of <ctype.h>, these do not depend on the locale. */
static inline bool tz_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool tz_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Converts the whole text, spaces around it apart: decimal, exponent, "nan", "-nan", "inf",
 * "infinity" in any case; not hexadecimal. A number that is too large becomes infinity and sets
 * *out_of_range (may be NULL). Returns false if the text is not a number. */
bool tz_parse_double(const char *text, double *out, bool *out_of_range);

/* Converts the whole text to an integer. Returns false if it is not an integer or does not fit. */
bool tz_parse_int64(const char *text, int64_t *out);
bool tz_parse_uint64(const char *text, uint64_t *out);

/* Writes "nan", "inf", "-inf", or the first of %.15g, %.16g and %.17g that reads back as the same
 * double: 0.1 stays short. size is at least 32. Returns the length of the text. */
size_t tz_format_double(double value, char *text, size_t size);

#endif
