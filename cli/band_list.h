/* SPDX-License-Identifier: Apache-2.0
 * Lists of bands as they are typed: "3,2,1" or "1-4,8", the first band being 1. */
#ifndef CLI_BAND_LIST_H
#define CLI_BAND_LIST_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* Bands that a list may name: as many as a TIFF can have. */
#define MAX_BAND_LIST 65535

bool band_list_is_valid(const char *text);

/* Reads a valid list into memory of malloc, counted from 0; text NULL: all bands. available is the
 * number of bands in the file; a band beyond it is an error. */
tz_result band_list_read(const char *text, uint32_t available, uint32_t **bands, uint32_t *count,
                         tz_error *err);

#endif
