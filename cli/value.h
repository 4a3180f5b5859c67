/* SPDX-License-Identifier: Apache-2.0
 * Values of options that several commands take. Each function is false, with a message, when the
 * text is not one. */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

/* The message "BEFORE 'TEXT'". Returns false. */
bool value_wrong(const char *before, const char *text);

/* Which of the names, up to NULL, the text is; -1, with a message, for none. */
int value_choice(const char *const *names, const char *before, const char *text);

/* Which samples follow each other: those of a pixel, of a row of a band, or of a band. */
typedef enum raw_order { ORDER_PIXEL, ORDER_ROW, ORDER_BAND } raw_order;
bool value_order(raw_order *out, const char *text);

bool value_number(uint32_t *out, uint64_t most, const char *before, const char *text);
bool value_dtype(tz_dtype *out, const char *text);
bool value_threads(uint32_t *out, const char *text);
bool value_memory(uint64_t *out, const char *text);

#endif
