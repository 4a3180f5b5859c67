/* SPDX-License-Identifier: Apache-2.0
 * Values of options that several commands have. Each function returns false after a message if the
 * text is not a value. */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

/* Prints "BEFORE 'TEXT'". Returns false. */
bool value_wrong(const char *before, const char *text);

/* The samples that follow each other: those of a pixel, of a row of a band, or of a band. */
typedef enum raw_order { ORDER_PIXEL, ORDER_ROW, ORDER_BAND } raw_order;
bool value_order(raw_order *out, const char *text);

bool value_number(uint32_t *out, uint64_t max, const char *before, const char *text);
bool value_verify(tz_verify *out, const char *text);
bool value_dtype(tz_dtype *out, const char *text);
/* The help of --size and --resampling. */
#define SIZE_HELP                                                                                  \
    "resample to this size, from the overview that fits;\n"                                        \
    "0 for one of them: in proportion"
#define RESAMPLING_HELP                                                                            \
    "nearest (the default), average, bilinear, cubic,\n"                                           \
    "lanczos, gauss, rms, mode, min, max or median; with\n"
/* Width and height as in 1024x768; 0 for one of them. */
bool value_size(uint32_t *width, uint32_t *height, const char *text);
bool value_resampling(tz_resampling *out, const char *text);
/* Parses count finite numbers with commas between them; prints no message. */
bool value_reals(double *out, int count, const char *text);
bool value_threads(uint32_t *out, const char *text);
bool value_memory(uint64_t *out, const char *text);

#endif
