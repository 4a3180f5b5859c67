/* SPDX-License-Identifier: Apache-2.0
 * Standard output and standard error: set-up, colour, messages, and the check at the end that all
 * was written. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_DIFFERENT = 3 };

/* Must be called before anything is opened or written. */
void term_open(void);
/* "auto", "always" or "never"; false for anything else. */
bool term_set_color(const char *mode);
/* Turns off warnings and notes. */
void term_set_quiet(void);

/* Returns true if standard output is in colour. */
bool term_has_color(void);
/* Gets columns and rows of the terminal; false if standard output is not one. */
bool term_size(uint32_t *columns, uint32_t *rows);

/* Returns true if progress is shown: on a terminal that can go back to the start of a line. */
bool term_shows_progress(void);

/* Returns true if output has failed, so that more of it is useless. */
bool term_is_broken(void);
/* Writes buffered output. Returns status, or EXIT_FAILED with a message if that fails. */
int term_close(int status);

/* Text in a style on standard output; plain where colour is off. */
typedef enum term_style { TERM_TITLE, TERM_HEADING, TERM_DIM, TERM_GOOD, TERM_BAD } term_style;
void term_begin(term_style style);
void term_end(void);
void term_put(term_style style, const char *text);

/* Print "error: MESSAGE", "warning: MESSAGE (n times)" and "note: MESSAGE" on standard error. */
void term_error(const char *message);
void term_warning(const char *message, uint64_t count);
void term_note(const char *message);

/* Prints "error: BEFORE 'WORD' AFTER"; WORD may be anything that was typed. Returns EXIT_USAGE. */
int term_usage(const char *before, const char *word, const char *after);

#endif
