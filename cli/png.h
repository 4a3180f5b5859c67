/* SPDX-License-Identifier: Apache-2.0
 * Writes PNG files of 8 bits per channel. */
#ifndef CLI_PNG_H
#define CLI_PNG_H

#include "output.h"

typedef struct png_writer png_writer;

/* channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. PNG has at most 2^31 - 1 columns and rows. */
tz_result png_open(png_writer **out, output *to, uint32_t width, uint32_t height, unsigned channels,
                   tz_error *err);
/* Writes the next row, of width times channels bytes. */
tz_result png_row(png_writer *p, const unsigned char *row, tz_error *err);
tz_result png_finish(png_writer *p, tz_error *err);
void png_close(png_writer *p); /* NULL is fine */

#endif
