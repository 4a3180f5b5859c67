/* SPDX-License-Identifier: Apache-2.0
 * Tables in two passes: the first measures the columns, the second prints. Rows are not kept, so
 * that a table of any length needs no memory; the caller gives them twice. */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "terminal.h"
#include "text.h"

#define INDENT 2
#define GAP    2

void table_start(table *t, const table_column *columns, size_t count, size_t line_width)
{
    *t = (table){.columns = columns, .count = count, .line_width = line_width};
}

static size_t last_used(const table *t)
{
    size_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->widths[i] > 0)
            last = i;
    }
    return last;
}

/* Returns the columns that a cell may take; 0: any number. */
static size_t cell_room(const table *t, size_t column)
{
    if (column != last_used(t) || t->line_width == 0)
        return t->columns[column].max;
    size_t before = INDENT;
    for (size_t i = 0; i < column; i++)
        before += t->widths[i] > 0 ? t->widths[i] + GAP : 0;
    return before + 8 < t->line_width ? t->line_width - before : 8;
}

/* Returns the length without blanks at the end. */
static size_t text_size(const char *text)
{
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == ' ')
        size--;
    return size;
}

static void put_cell(const table *t, size_t column, const char *text, bool is_last)
{
    size_t line_width = cell_room(t, column);
    size_t width = t->widths[column];
    size_t size = text_size(text);
    size_t used = text_put(NULL, text, size, line_width);
    int padding = used < width ? (int)(width - used) : 0;
    if (t->columns[column].right)
        printf("%*s", padding, "");
    text_put(stdout, text, size, line_width);
    if (!t->columns[column].right && !is_last)
        printf("%*s", padding, "");
}

/* Returns the number of cells up to the last one with text. */
static size_t row_end(const table *t, const char *const *cells)
{
    size_t end = t->count;
    while (end > 0 && (t->widths[end - 1] == 0 || text_size(cells[end - 1]) == 0))
        end--;
    return end;
}

static void print_row(const table *t, const char *const *cells)
{
    size_t end = row_end(t, cells);
    for (size_t i = 0; i < end; i++) {
        if (t->widths[i] == 0)
            continue;
        printf("%*s", i == 0 ? INDENT : GAP, "");
        put_cell(t, i, cells[i], i + 1 == end);
    }
    putchar('\n');
}

static void print_titles(table *t)
{
    const char *titles[TABLE_COLUMNS];
    for (size_t i = 0; i < t->count; i++) {
        titles[i] = t->columns[i].title;
        if (t->widths[i] > 0 && t->widths[i] < strlen(titles[i]))
            t->widths[i] = strlen(titles[i]);
    }
    term_begin(TERM_DIM);
    print_row(t, titles);
    term_end();
}

bool table_pass(table *t)
{
    t->pass++;
    if (t->pass == 2 && t->columns[0].title != NULL)
        print_titles(t);
    return t->pass <= 2;
}

void table_row(table *t, const char *const *cells)
{
    if (t->pass == 2) {
        print_row(t, cells);
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        size_t width = text_put(NULL, cells[i], text_size(cells[i]), t->columns[i].max);
        if (width > t->widths[i])
            t->widths[i] = width;
    }
}
