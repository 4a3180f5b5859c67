/* SPDX-License-Identifier: Apache-2.0
 * The look of a page for people: headings, and lines of a label and a value. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#define PAGE_LABEL_COLUMNS 14

/* After an empty line. */
void page_heading(const char *text);
/* Prints the label of a line; the value follows. */
void page_label(const char *name);
/* A whole line. */
void page_line(const char *name, const char *value);

#endif
