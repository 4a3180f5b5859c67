/* SPDX-License-Identifier: Apache-2.0
 * The look of a page for people: headings, and lines of a label and a value. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#define PAGE_LABEL_COLUMNS 14

/* Prints an empty line and a heading. */
void page_heading(const char *text);
/* Prints the label of a line; the value follows. */
void page_label(const char *name);
/* Prints a whole line. */
void page_line(const char *name, const char *value);

#endif
