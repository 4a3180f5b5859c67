/* SPDX-License-Identifier: Apache-2.0
 * Text for people: strings of unknown origin made harmless, and numbers made readable. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decodes one character of UTF-8. Returns its bytes, at least 1; *code is TEXT_BAD for a byte that
 * is not part of valid UTF-8. size is not 0. */
#define TEXT_BAD UINT32_MAX
size_t text_decode(const char *bytes, size_t size, uint32_t *code);

/* Returns the number of bytes at the end that are the beginning of a character: 0 to 3. */
size_t text_open_end(const char *bytes, size_t size);

/* Returns true for control characters, line breaks and marks that turn the writing direction, which
 * could make a terminal do or show something else than the text. */
bool text_is_control(uint32_t code);

/* Writes text with every harmful character as an escape such as \n or \x1b, in at most max_columns
 * (0: any number); longer text ends in "...". Returns the columns used. If out is NULL, text is
 * only measured. */
size_t text_put(FILE *out, const char *bytes, size_t size, size_t max_columns);
size_t text_put_string(FILE *out, const char *text, size_t max_columns);

/* Numbers, into a buffer of the caller's that is also returned. */
#define TEXT_NUMBER 40
char *text_double(char *buffer, double value); /* the shortest that reads back the same */
char *text_rounded(char *buffer, double value, int digits);  /* digits after the point, as needed */
char *text_count(char *buffer, uint64_t value);              /* 1,234,567 */
char *text_bytes(char *buffer, uint64_t value);              /* 1.2 MiB */
char *text_ratio(char *buffer, double raw, uint64_t stored); /* 2.3 */
char *text_pair(char *buffer, uint32_t a, uint32_t b);       /* 640 x 480 */

/* "" for 1, "s" for any other number. */
const char *text_plural(uint64_t count);

#endif
