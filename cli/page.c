/* SPDX-License-Identifier: Apache-2.0
 * Headings and lines of pages, in one layout for all commands. */
#include "page.h"

#include <stdio.h>

#include "terminal.h"

void page_heading(const char *text)
{
    putchar('\n');
    term_put(TERM_HEADING, text);
    putchar('\n');
}

void page_label(const char *name)
{
    printf("  %-*s", PAGE_LABEL_COLUMNS, name);
}

void page_line(const char *name, const char *value)
{
    page_label(name);
    printf("%s\n", value);
}
