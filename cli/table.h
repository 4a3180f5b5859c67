/* SPDX-License-Identifier: Apache-2.0
 * A table for people. Its rows are given twice: first to measure the columns, then to print them:
 *     for (table_start(&t, columns, count, width); table_pass(&t);)
 *         for (...) table_row(&t, cells);
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_COLUMNS 9

typedef struct table_column {
    const char *title;
    bool right; /* numbers */
    size_t max; /* columns of the screen it may take; 0: any number */
} table_column;

typedef struct table {
    const table_column *columns;
    size_t count;
    size_t line_width; /* columns of a whole line, which shortens the last cell; 0: any number */
    int pass;
    size_t widths[TABLE_COLUMNS];
} table;

void table_start(table *t, const table_column *columns, size_t count, size_t line_width);
/* false when both passes are done. */
bool table_pass(table *t);
/* Adds a row of one cell per column, with text of any origin. Columns without any text are not
 * printed. */
void table_row(table *t, const char *const *cells);

#endif
