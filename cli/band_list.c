/* SPDX-License-Identifier: Apache-2.0
 * Parses lists of bands. A list is checked when it is typed, without a file, and read again when
 * the number of bands is known. */
#include "band_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "parse.h"
#include "problem.h"

/* Reads "4" or "1-4" at the front of *at, and the comma after it if more follows. */
static bool next_range(const char **at, uint64_t *first, uint64_t *last)
{
    if (!parse_uint(at, MAX_BAND_LIST, first) || *first == 0)
        return false;
    *last = *first;
    if (parse_char(at, '-') && (!parse_uint(at, MAX_BAND_LIST, last) || *last < *first))
        return false;
    return **at == '\0' || (parse_char(at, ',') && **at != '\0');
}

bool band_list_is_valid(const char *text)
{
    uint64_t total = 0;
    uint64_t first;
    uint64_t last;
    do {
        if (!next_range(&text, &first, &last))
            return false;
        total += last - first + 1;
    } while (*text != '\0' && total <= MAX_BAND_LIST);
    return total <= MAX_BAND_LIST;
}

static uint32_t count_bands(const char *text)
{
    uint32_t total = 0;
    uint64_t first;
    uint64_t last;
    while (*text != '\0' && next_range(&text, &first, &last))
        total += (uint32_t)(last - first + 1);
    return total;
}

static tz_result parse_bands(const char *text, uint32_t available, uint32_t *to, tz_error *err)
{
    uint64_t first;
    uint64_t last;
    while (*text != '\0' && next_range(&text, &first, &last)) {
        if (last > available)
            return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                "there is no band %" PRIu64 "; the file has %" PRIu32,
                                first > available ? first : (uint64_t)available + 1, available);
        for (; first <= last; first++)
            *to++ = (uint32_t)first - 1;
    }
    return TZ_OK;
}

tz_result band_list_read(const char *text, uint32_t available, uint32_t **bands, uint32_t *count,
                         tz_error *err)
{
    uint32_t total = text != NULL ? count_bands(text) : available;
    uint32_t *list = malloc(((size_t)total + 1) * sizeof *list);
    if (list == NULL)
        return problem_nomem(err, "the list of bands");
    for (uint32_t i = 0; text == NULL && i < total; i++)
        list[i] = i;
    tz_result result = text != NULL ? parse_bands(text, available, list, err) : TZ_OK;
    if (result != TZ_OK) {
        free(list);
        return result;
    }
    *bands = list;
    *count = total;
    return TZ_OK;
}
