/* SPDX-License-Identifier: Apache-2.0
 * Limits by name. The library lists its limits with their offsets in tz_limits, so that a new limit
 * needs no code here. */
#include "limits.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "parse.h"
#include "terminal.h"
#include "text.h"

static uint64_t *limit_member(tz_limits *limits, const tz_limit_info *limit)
{
    return (uint64_t *)(void *)((char *)limits + limit->member_offset);
}

/* Returns the limit in force; a member of 0 stands for the default. */
static uint64_t limit_value(const tz_limits *limits, const tz_limit_info *limit)
{
    uint64_t value;
    memcpy(&value, (const char *)limits + limit->member_offset, sizeof value);
    return value != 0 ? value : limit->default_value;
}

/* Reading -------------------------------------------------------------------------------------- */

static const char *limit_name(const void *list, size_t index)
{
    (void)list;
    const tz_limit_info *limit = tz_limit_get(index);
    return limit != NULL ? limit->name : NULL;
}

static const tz_limit_info *find_limit(const char *name, size_t size)
{
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        if (strlen(limit->name) == size && memcmp(limit->name, name, size) == 0)
            return limit;
    }
    return NULL;
}

/* 0 and "off" remove a limit. */
static bool parse_value(const char *text, uint64_t *out)
{
    bool off = strcmp(text, "off") == 0;
    if (!off && !parse_bytes(text, out))
        return false;
    if (off || *out == 0)
        *out = TZ_UNLIMITED;
    return true;
}

static bool unknown_limit(const char *text, size_t size)
{
    char name[41] = "";
    if (size < sizeof name)
        memcpy(name, text, size);
    usage_unknown("unknown limit", name[0] != '\0' ? name : text, "",
                  tz_nearest_name(name, limit_name, NULL));
    return false;
}

bool limits_set(tz_limits *limits, const char *text)
{
    size_t size = strcspn(text, "=");
    if (text[size] == '\0') {
        term_usage("--limit needs NAME=VALUE, not", text, "");
        return false;
    }
    const tz_limit_info *limit = find_limit(text, size);
    if (limit == NULL)
        return unknown_limit(text, size);
    if (!parse_value(text + size + 1, limit_member(limits, limit))) {
        term_usage("bad value in", text,
                   ": a limit is a number, also with K, M, G or T (1024 times), or 'off'");
        return false;
    }
    return true;
}

/* Showing -------------------------------------------------------------------------------------- */

static bool is_bytes(const char *name)
{
    size_t size = strlen(name);
    return size > 6 && strcmp(name + size - 6, "_bytes") == 0;
}

void limits_print(const tz_limits *limits)
{
    term_put(TERM_HEADING, "Limits");
    printf(" (change one with --limit NAME=VALUE)\n");
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        uint64_t value = limit_value(limits, limit);
        char number[TEXT_NUMBER] = "off";
        if (value != TZ_UNLIMITED)
            is_bytes(limit->name) ? text_bytes(number, value) : text_count(number, value);
        printf("  %-18s%10s%c %s\n", limit->name, number, value == limit->default_value ? ' ' : '*',
               limit->text);
    }
}

void limits_write(json *j, const tz_limits *limits)
{
    json_object(j, "limits");
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        uint64_t value = limit_value(limits, limit);
        if (value == TZ_UNLIMITED)
            json_null(j, limit->name);
        else
            json_uint(j, limit->name, value);
    }
    json_object_end(j);
}
