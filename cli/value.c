/* SPDX-License-Identifier: Apache-2.0
 * Values of options. Each function prints its own message, so that commands word the same mistake
 * alike. */
#include "value.h"

#include <math.h>
#include <string.h>

#include "options.h"
#include "parse.h"
#include "terminal.h"

bool value_wrong(const char *before, const char *text)
{
    term_usage(before, text, "");
    return false;
}

bool value_order(raw_order *out, const char *text)
{
    static const char *const names[] = {"pixel", "row", "band"};
    for (int i = ORDER_PIXEL; i <= ORDER_BAND; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (raw_order)i;
            return true;
        }
    }
    return value_wrong("--order is pixel, row or band, not", text);
}

bool value_verify(tz_verify *out, const char *text)
{
    return tz_verify_from_name(out, text) ||
           value_wrong("--verify is sample, all or none, not", text);
}

bool value_number(uint32_t *out, uint64_t max, const char *before, const char *text)
{
    uint64_t value;
    const char *at = text;
    if (!parse_uint(&at, max, &value) || *at != '\0')
        return value_wrong(before, text);
    *out = (uint32_t)value;
    return true;
}

static const char *dtype_name(const void *list, size_t index)
{
    (void)list;
    return index + 1 <= TZ_DTYPE_COMPLEX_FLOAT64 ? tz_dtype_name((tz_dtype)(index + 1)) : NULL;
}

bool value_dtype(tz_dtype *out, const char *text)
{
    if (tz_dtype_from_name(out, text))
        return true;
    usage_unknown("unknown type", text, "", tz_nearest_name(text, dtype_name, NULL));
    return false;
}

bool value_size(uint32_t *width, uint32_t *height, const char *text)
{
    const char *at = text;
    uint64_t w;
    uint64_t h;
    if (!parse_uint(&at, UINT32_MAX, &w) || !(parse_char(&at, 'x') || parse_char(&at, 'X')) ||
        !parse_uint(&at, UINT32_MAX, &h) || *at != '\0' || (w == 0 && h == 0))
        return value_wrong("--size needs width and height, such as 1024x768 or 1024x0; not", text);
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return true;
}

bool value_resampling(tz_resampling *out, const char *text)
{
    tz_resampling method = TZ_RESAMPLING_NONE;
    if (!tz_resampling_from_name(&method, text) || method == TZ_RESAMPLING_NONE)
        return value_wrong("--resampling is nearest, average, bilinear, cubic, lanczos, gauss, "
                           "rms, mode, min, max or median, not",
                           text);
    *out = method;
    return true;
}

bool value_reals(double *out, int count, const char *text)
{
    const char *at = text;
    for (int i = 0; i < count; i++) {
        if ((i > 0 && !parse_char(&at, ',')) || !parse_real(&at, &out[i]) || !isfinite(out[i]))
            return false;
    }
    return *at == '\0';
}

bool value_threads(uint32_t *out, const char *text)
{
    return value_number(out, 65536, "--threads needs a number up to 65536, not", text);
}

bool value_memory(uint64_t *out, const char *text)
{
    if (parse_bytes(text, out) && *out > 0)
        return true;
    return value_wrong("--memory needs a number of bytes, also with K, M, G or T; not", text);
}
