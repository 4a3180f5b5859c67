/* SPDX-License-Identifier: Apache-2.0
 * Numbers in text. The grammar is checked here, byte by byte; the C library only converts what has
 * passed. Neither the locale nor the rounding mode of the host program changes a result. */
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#include "base/number.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---------------------------------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------------------------------ */

/* Not those of <ctype.h>, which ask the locale. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *at)
{
    while (is_space(*at))
        at++;
    return at;
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

static const char *skip_sign(const char *at)
{
    return *at == '+' || *at == '-' ? at + 1 : at;
}

static bool only_spaces(const char *at)
{
    return *skip_spaces(at) == '\0';
}

/* Behind word, in any case, at the start of text; NULL when it does not stand there. */
static const char *skip_word(const char *text, const char *word)
{
    for (; *word; text++, word++) {
        char lower = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (lower != *word)
            return NULL;
    }
    return text;
}

/* Behind digits with an optional point and exponent; NULL when there is no such number. */
static const char *skip_decimal(const char *text)
{
    const char *at = skip_digits(text);
    bool has_digits = at > text;
    if (*at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction);
        has_digits = has_digits || at > fraction;
    }
    if (!has_digits)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = skip_sign(at + 1);
        at = skip_digits(exponent);
        if (at == exponent)
            return NULL;
    }
    return at;
}

/* ---------------------------------------------------------------------------------------------
 * Conversion
 * ------------------------------------------------------------------------------------------ */

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* kept for the life of the process; 0: the system would not give one */

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* What the calling thread had before, while it converts. */
typedef struct host_state {
    locale_t locale;
    int rounding;
    int error_number;
} host_state;

static host_state enter_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    host_state host = {(locale_t)0, fegetround(), errno};
    if (c_locale)
        host.locale = uselocale(c_locale); /* of this thread alone */
    if (host.rounding != FE_TONEAREST)
        fesetround(FE_TONEAREST);
    return host;
}

static void leave_c_locale(host_state host)
{
    if (host.locale)
        uselocale(host.locale);
    if (host.rounding != FE_TONEAREST)
        fesetround(host.rounding);
    errno = host.error_number;
}

/* Without a C locale: put the point that the locale wants where '.' stands. The text holds nothing
 * else that a locale could read differently. */
static double convert_with_locale_point(const char *text)
{
    char point[16];
    snprintf(point, sizeof point, "%.1f", 0.5); /* "0.5" with the point of the locale */
    point[strlen(point) - 1] = '\0';
    const char *dot = strchr(text, '.');
    if (!dot || strcmp(point + 1, ".") == 0)
        return strtod(text, NULL);
    size_t size = strlen(text) + sizeof point;
    char *copy = tz_alloc(size);
    if (!copy)
        return NAN; /* no memory and no locale: the one case in which a number is lost */
    size_t before = (size_t)(dot - text);
    memcpy(copy, text, before);
    snprintf(copy + before, size - before, "%s%s", point + 1, dot + 1);
    double value = strtod(copy, NULL);
    tz_free(copy);
    return value;
}

/* Text that has passed skip_decimal; what follows it is ignored. */
static double convert_decimal(const char *text)
{
    host_state host = enter_c_locale();
    double value = host.locale ? strtod(text, NULL) : convert_with_locale_point(text);
    leave_c_locale(host);
    return value;
}

bool tz_parse_double(const char *text, double *out, bool *out_of_range)
{
    const char *start = skip_spaces(text);
    const char *number = skip_sign(start);
    double sign = *start == '-' ? -1.0 : 1.0;
    double value = 0;
    bool too_large = false;
    const char *end;
    if ((end = skip_word(number, "nan"))) {
        value = copysign(NAN, sign);
    } else if ((end = skip_word(number, "infinity")) || (end = skip_word(number, "inf"))) {
        value = copysign(INFINITY, sign);
    } else if ((end = skip_decimal(number)) && only_spaces(end)) {
        value = convert_decimal(start);
        too_large = isinf(value);
    }
    if (!end || !only_spaces(end))
        return false;
    *out = value;
    if (out_of_range)
        *out_of_range = too_large;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------ */

/* Digits and nothing else but spaces behind them. */
static bool parse_digits(const char *text, uint64_t *out)
{
    const char *end = skip_digits(text);
    uint64_t value = 0;
    if (end == text || !only_spaces(end))
        return false;
    for (const char *at = text; at < end; at++)
        if (!tz_mul(value, 10, &value) || !tz_add(value, (uint64_t)(*at - '0'), &value))
            return false;
    *out = value;
    return true;
}

bool tz_parse_uint64(const char *text, uint64_t *out)
{
    const char *start = skip_spaces(text);
    return parse_digits(*start == '+' ? start + 1 : start, out);
}

bool tz_parse_int64(const char *text, int64_t *out)
{
    const char *start = skip_spaces(text);
    bool negative = *start == '-';
    uint64_t size;
    if (!parse_digits(skip_sign(start), &size) || size > (uint64_t)INT64_MAX + negative)
        return false;
    if (negative)
        *out = size == 0 ? 0 : -(int64_t)(size - 1) - 1; /* INT64_MIN has no positive twin */
    else
        *out = (int64_t)size;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Formatting
 * ------------------------------------------------------------------------------------------ */

/* For the case that there is no C locale. Without the ' flag a locale decides about the point
 * alone, so whatever is neither a digit nor a sign nor the exponent's letter is the point. */
static size_t normalize_point(char *text)
{
    size_t size = 0;
    for (const char *at = text; *at; at++) {
        if (is_digit(*at) || *at == '+' || *at == '-' || *at == 'e')
            text[size++] = *at;
        else if (size == 0 || text[size - 1] != '.')
            text[size++] = '.';
    }
    text[size] = '\0';
    return size;
}

/* Bit for bit: == would take every subnormal for 0 in a host that flushes them. */
static bool reads_back(const char *text, double value)
{
    double back = convert_decimal(text);
    return memcmp(&back, &value, sizeof value) == 0;
}

static size_t format_finite(double value, char *text, size_t size)
{
    size_t length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        length = normalize_point(text);
        if (reads_back(text, value))
            break;
    }
    return length;
}

size_t tz_format_double(double value, char *text, size_t size)
{
    if (isnan(value))
        return (size_t)snprintf(text, size, "nan");
    if (isinf(value))
        return (size_t)snprintf(text, size, value < 0 ? "-inf" : "inf");
    host_state host = enter_c_locale();
    size_t length = format_finite(value, text, size);
    leave_c_locale(host);
    return length;
}
