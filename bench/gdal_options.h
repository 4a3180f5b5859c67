/* SPDX-License-Identifier: Apache-2.0
 * Creation options of GDAL, for programs that include this. */
#ifndef TZ_BENCH_GDAL_OPTIONS_H
#define TZ_BENCH_GDAL_OPTIONS_H

#include <stdio.h>

enum { OPTION_SIZE = 64, MAX_OPTIONS = 10 };

typedef struct option_list {
    char text[MAX_OPTIONS][OPTION_SIZE];
    const char *items[MAX_OPTIONS + 1]; /* NULL ends it */
    int count;
} option_list;

static void add(option_list *list, const char *name, const char *value)
{
    snprintf(list->text[list->count], OPTION_SIZE, "%.30s=%.30s", name, value);
    list->items[list->count] = list->text[list->count];
    list->count++;
}

static void add_number(option_list *list, const char *name, long long number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", number);
    add(list, name, digits);
}

#endif
