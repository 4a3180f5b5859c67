/* SPDX-License-Identifier: Apache-2.0
 * Numbers in text. The grammar is checked here, byte by byte; strtod only converts text that has
 * passed. Neither the locale nor the rounding mode of the host program changes a result: a
 * conversion runs in a C locale that is set for the calling thread alone, and restores the state of
 * the host. A system may refuse to make a C locale. Then the decimal point is exchanged by hand,
 * which is all that a locale changes in such a text. */
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

/* ---- text ---- */

static const char *skip_spaces(const char *at)
{
    while (tz_is_space(*at))
        at++;
    return at;
}

static const char *skip_digits(const char *at)
{
    while (tz_is_digit(*at))
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

/* Returns the position after word, in any case; NULL if text does not start with it. */
static const char *skip_word(const char *text, const char *word)
{
    for (; *word; text++, word++) {
        char lower = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (lower != *word)
            return NULL;
    }
    return text;
}

/* Returns the position after digits with an optional point and exponent; NULL if there are none. */
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

/* ---- the C locale ---- */

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* lives as long as the process; 0: the system refused to make it */

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* State of the calling thread that a conversion changes and restores. */
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

/* ---- a system without a C locale: the decimal point is that of the host ---- */

/* Replaces '.' by the decimal point of the locale. The text has nothing else that a locale could
 * read differently. */
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

/* Replaces the decimal point of the locale by '.'. Without the ' flag of printf a locale decides
 * about the point alone, so all that is neither a digit nor a sign nor the letter of the exponent
 * is the point. */
static size_t normalize_point(char *text)
{
    size_t size = 0;
    for (const char *at = text; *at; at++) {
        if (tz_is_digit(*at) || *at == '+' || *at == '-' || *at == 'e')
            text[size++] = *at;
        else if (size == 0 || text[size - 1] != '.')
            text[size++] = '.';
    }
    text[size] = '\0';
    return size;
}

/* ---- conversion ---- */

/* Converts text that has passed skip_decimal, and ignores the rest of the text. */
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

/* ---- integers ---- */

/* Accepts digits, then spaces, and nothing else. */
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

/* ---- formatting ---- */

size_t tz_format_double(double value, char *text, size_t size)
{
    if (isnan(value))
        return (size_t)snprintf(text, size, "nan");
    if (isinf(value))
        return (size_t)snprintf(text, size, value < 0 ? "-inf" : "inf");
    host_state host = enter_c_locale();
    size_t length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        length = normalize_point(text);
        /* Compared by bits: in a host that flushes subnormals, == takes each of them for 0. */
        const double back = convert_decimal(text);
        if (memcmp(&back, &value, sizeof value) == 0)
            break;
    }
    leave_c_locale(host);
    return length;
}
