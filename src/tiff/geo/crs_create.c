/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems from text and from files, for callers of the library.
 *
 * Text is sorted by its form before PROJ sees it: PROJ itself would also look for names, and read
 * files that a text names. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/geo/crs_proj.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

enum { MAX_DEFINITION = 65536 };

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_word(char c)
{
    return is_letter(c) || tz_is_digit(c) || c == '_';
}

bool tz_has_form_of_wkt(const char *text)
{
    size_t size = 0;
    if (!is_letter(text[0]))
        return false;
    while (is_word(text[size]))
        size++;
    while (tz_is_space(text[size]))
        size++;
    return text[size] == '[' || text[size] == '(';
}

/* "AUTHORITY:CODE", "AUTHORITY:CODE+CODE" and the like, without spaces or slashes. */
static bool has_form_of_code(const char *text)
{
    size_t size = 0;
    if (!is_letter(text[0]))
        return false;
    while (is_word(text[size]))
        size++;
    if (text[size] != ':' || text[size + 1] == '\0')
        return false;
    for (size++; text[size] != '\0'; size++)
        if (!is_word(text[size]) && !strchr("+.:-", text[size]))
            return false;
    return true;
}

static bool has_form_of_url(const char *text)
{
    return strncmp(text, "http://www.opengis.net/def/crs", 30) == 0 ||
           strncmp(text, "https://www.opengis.net/def/crs", 31) == 0;
}

/* Finds "name=" or "+name=" at the start of a word of a PROJ string. */
static bool has_parameter(const char *text, const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if ((at == text || at[-1] == '+' || tz_is_space(at[-1])) && at[size] == '=')
            return true;
    return false;
}

static bool has_form_of_proj_string(const char *text)
{
    return has_parameter(text, "proj") || has_parameter(text, "init");
}

/* Adds what PROJ needs to take the text for a CRS and not for an operation. */
static tz_result open_proj_string(tz_crs **out, const char *text, const tz_context *ctx)
{
    static const char type[] = " +type=crs";
    if (has_parameter(text, "init"))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                       "'%.80s' names a file by +init; give a code such as EPSG:32633", text);
    if (has_parameter(text, "type"))
        return tz_crs_open_text(out, text, ctx);
    const size_t size = strlen(text) + sizeof type;
    char *longer = tz_alloc(size);
    if (!longer)
        return tz_fail_nomem(ctx, size);
    (void)snprintf(longer, size, "%s%s", text, type);
    tz_result result = tz_crs_open_text(out, longer, ctx);
    tz_free(longer);
    return result;
}

tz_result tz_crs_create(tz_crs **out, const char *definition, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!definition)
        return TZ_FAIL_ARG(&ctx, "definition is NULL");
    while (tz_is_space(*definition))
        definition++;
    if (strlen(definition) > MAX_DEFINITION)
        return TZ_FAIL_ARG(&ctx, "the definition of a CRS is longer than %d bytes", MAX_DEFINITION);
    if (definition[0] == '{' || tz_has_form_of_wkt(definition) || has_form_of_code(definition) ||
        has_form_of_url(definition))
        return tz_crs_open_text(out, definition, &ctx);
    if (has_form_of_proj_string(definition))
        return open_proj_string(out, definition, &ctx);
    const bool digits =
        definition[0] != '\0' && strspn(definition, "0123456789") == strlen(definition);
    return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                   digits ? "'%.80s' is a code without its authority; write EPSG:%.16s"
                          : "'%.80s' is neither a code such as EPSG:32633 nor WKT, PROJJSON or a "
                            "PROJ string",
                   definition, definition);
}

tz_result tz_crs_from_file(tz_crs **out, const tz_file *file, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    tz_context ctx = {.name = info->name, .err = err, .ifd = -1};
    return tz_crs_open_geo(out, info->geo, &ctx);
}
