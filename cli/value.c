/* SPDX-License-Identifier: Apache-2.0
 * Values of options. Each function prints its own message, so that commands word the same mistake
 * alike. */
#include "value.h"

#include <string.h>

#include "options.h"
#include "parse.h"
#include "terminal.h"

bool value_wrong(const char *before, const char *text)
{
    term_usage(before, text, "");
    return false;
}

int value_choice(const char *const *names, const char *before, const char *text)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0)
            return i;
    }
    value_wrong(before, text);
    return -1;
}

bool value_order(raw_order *out, const char *text)
{
    static const char *const names[] = {"pixel", "row", "band", NULL};
    int chosen = value_choice(names, "--order is pixel, row or band, not", text);
    *out = chosen >= 0 ? (raw_order)chosen : ORDER_PIXEL;
    return chosen >= 0;
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
    const char *name = strcmp(text, "complex64") == 0    ? "complex_float32"
                       : strcmp(text, "complex128") == 0 ? "complex_float64"
                                                         : text;
    for (size_t i = 0; dtype_name(NULL, i) != NULL; i++) {
        if (strcmp(dtype_name(NULL, i), name) == 0) {
            *out = (tz_dtype)(i + 1);
            return true;
        }
    }
    usage_unknown("unknown type", text, "", suggest(text, dtype_name, NULL));
    return false;
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
