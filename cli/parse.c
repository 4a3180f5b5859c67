/* SPDX-License-Identifier: Apache-2.0
 * Numbers at the front of a text. Unlike strtoul, a leading space or sign is refused, and a number
 * that does not fit is an error and not the largest one. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

bool parse_uint(const char **at, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    const char *c = *at;
    for (; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (c == *at || value > max)
        return false;
    *at = c;
    *out = value;
    return true;
}

bool parse_int(const char **at, int64_t max, int64_t *out)
{
    const char *c = *at;
    bool negative = parse_char(&c, '-');
    uint64_t value;
    if (!parse_uint(&c, (uint64_t)max, &value))
        return false;
    *at = c;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

bool parse_real(const char **at, double *out)
{
    char *end = NULL;
    double value = strtod(*at, &end);
    if (end == *at || strchr(" \t\n\v\f\r", **at) != NULL)
        return false;
    *at = end;
    *out = value;
    return true;
}

bool parse_char(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    (*at)++;
    return true;
}

static unsigned suffix_shift(char suffix)
{
    static const char letters[] = "kKmMgGtT";
    const char *found = suffix != '\0' ? strchr(letters, suffix) : NULL;
    return found != NULL ? 10 * (unsigned)((found - letters) / 2 + 1) : 0;
}

bool parse_bytes(const char *text, uint64_t *out)
{
    uint64_t value;
    const char *at = text;
    if (!parse_uint(&at, UINT64_MAX, &value))
        return false;
    unsigned shift = suffix_shift(*at);
    if (at[shift != 0] != '\0' || value > UINT64_MAX >> shift)
        return false;
    *out = value << shift;
    return true;
}
