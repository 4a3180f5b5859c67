/* SPDX-License-Identifier: Apache-2.0
 * Lists of bands as they are typed: numbers from 1 on and ranges ("3,2,1" or "1-4,8"), or the
 * descriptions of bands ("red,nir"). */
#ifndef CLI_BAND_LIST_H
#define CLI_BAND_LIST_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* Bands that a list may name: as many as a TIFF can have. */
#define MAX_BAND_LIST 65535

/* Checks a list without a file: names may still be wrong. */
bool band_list_is_valid(const char *text);

/* Reads a valid list into memory of malloc, counted from 0; text NULL: all bands. A band that the
 * file does not have is an error. */
tz_result band_list_read(const char *text, const tz_file *file, uint32_t **bands, uint32_t *count,
                         tz_error *err);

#endif
