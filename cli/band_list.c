/* SPDX-License-Identifier: Apache-2.0
 * Parses lists of bands. A list is checked when it is typed, without a file, and read again when
 * the bands are known. An element of digits and '-' is a number or a range, any other the
 * description of a band. */
#include "band_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "problem.h"

/* An element of a list. */
typedef struct band_range {
    const char *name; /* NULL: the numbers first to last */
    size_t name_size;
    uint64_t first;
    uint64_t last;
} band_range;

/* Reads an element at the front of *at, and the comma after it if more follows. */
static bool next_range(const char **at, band_range *out)
{
    const size_t size = strcspn(*at, ",");
    const char *end = *at + size;
    *out = (band_range){.name = *at, .name_size = size};
    if (size == 0 || (*end == ',' && end[1] == '\0'))
        return false;
    if (strspn(*at, "0123456789-") >= size) {
        out->name = NULL;
        if (!parse_uint(at, MAX_BAND_LIST, &out->first) || out->first == 0)
            return false;
        out->last = out->first;
        if (parse_char(at, '-') &&
            (!parse_uint(at, MAX_BAND_LIST, &out->last) || out->last < out->first))
            return false;
        if (*at != end)
            return false;
    }
    *at = end + (*end == ',');
    return true;
}

static uint64_t range_size(const band_range *range)
{
    return range->name != NULL ? 1 : range->last - range->first + 1;
}

bool band_list_is_valid(const char *text)
{
    uint64_t total = 0;
    band_range range;
    do {
        if (!next_range(&text, &range))
            return false;
        total += range_size(&range);
    } while (*text != '\0' && total <= MAX_BAND_LIST);
    return total <= MAX_BAND_LIST;
}

static uint32_t count_bands(const char *text)
{
    uint64_t total = 0;
    band_range range;
    while (*text != '\0' && next_range(&text, &range))
        total += range_size(&range);
    return (uint32_t)total;
}

/* Finds the first band with this description. */
static tz_result find_named_band(const tz_file *file, band_range *range, tz_error *err)
{
    const tz_band *band;
    for (uint32_t i = 0; (band = tz_file_get_band(file, i)) != NULL; i++) {
        if (band->description != NULL && strlen(band->description) == range->name_size &&
            memcmp(band->description, range->name, range->name_size) == 0) {
            range->first = range->last = (uint64_t)i + 1;
            return TZ_OK;
        }
    }
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG, "no band has the description '%.*s'",
                        (int)(range->name_size < 200 ? range->name_size : 200), range->name);
}

static tz_result parse_bands(const char *text, const tz_file *file, uint32_t *to, tz_error *err)
{
    const uint32_t available = tz_file_get_info(file)->bands;
    band_range range;
    while (*text != '\0' && next_range(&text, &range)) {
        tz_result result = range.name != NULL ? find_named_band(file, &range, err) : TZ_OK;
        if (result != TZ_OK)
            return result;
        if (range.last > available)
            return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                "there is no band %" PRIu64 "; the file has %" PRIu32,
                                range.first > available ? range.first : (uint64_t)available + 1,
                                available);
        for (; range.first <= range.last; range.first++)
            *to++ = (uint32_t)range.first - 1;
    }
    return TZ_OK;
}

tz_result band_list_read(const char *text, const tz_file *file, uint32_t **bands, uint32_t *count,
                         tz_error *err)
{
    uint32_t total = text != NULL ? count_bands(text) : tz_file_get_info(file)->bands;
    uint32_t *list = malloc(((size_t)total + 1) * sizeof *list);
    if (list == NULL)
        return problem_nomem(err, "the list of bands");
    for (uint32_t i = 0; text == NULL && i < total; i++)
        list[i] = i;
    tz_result result = text != NULL ? parse_bands(text, file, list, err) : TZ_OK;
    if (result != TZ_OK) {
        free(list);
        return result;
    }
    *bands = list;
    *count = total;
    return TZ_OK;
}
