/* SPDX-License-Identifier: Apache-2.0
 * The tags of a directory and their values, read a part at a time. */
#ifndef CLI_TAG_VALUES_H
#define CLI_TAG_VALUES_H

#include <stdio.h>
#include <terrazzo/terrazzo.h>

#include "json.h"

/* Finds the tag with this number in the directory of a level of the file itself. */
bool tag_find(const tz_file *file, const tz_level *level, uint16_t number, tz_tag *out);

/* Reads the first number of a tag that holds numbers; false if it cannot be read. */
bool tag_first_number(const tz_file *file, const tz_tag *tag, double *out);

/* Reads the beginning of a text tag, as a string. */
tz_result tag_read_text(const tz_file *file, const tz_tag *tag, char *text, size_t size,
                        tz_error *err);

/* Compares the values of two tags of the same type and count, of two files. */
tz_result tag_same_values(const tz_file *a, const tz_tag *tag_a, const tz_file *b,
                          const tz_tag *tag_b, bool *same, tz_error *err);

/* Prints a tag's values in at most max_columns columns. */
tz_result tag_print(FILE *out, const tz_file *file, const tz_tag *tag, size_t max_columns,
                    tz_error *err);

/* Writes the first values of a tag as the array "values", or all of its text as "text". */
#define TAG_VALUES_SHOWN 16
tz_result tag_write(json *j, const tz_file *file, const tz_tag *tag, tz_error *err);

/* Writes a whole text tag as one JSON text, up to the first NUL. */
tz_result tag_write_text(json *j, const char *key, const tz_file *file, const tz_tag *tag,
                         tz_error *err);

#endif
