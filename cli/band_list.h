/* SPDX-License-Identifier: Apache-2.0
 * Lists of bands as they are typed: "3,2,1" or "1-4,8", the first band being 1. */
#ifndef CLI_BAND_LIST_H
#define CLI_BAND_LIST_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* A TIFF has no more, and no more may be asked for. */
#define BAND_LIST_MOST 65535

bool band_list_is_valid(const char *text);

/* The bands of a valid list, counted from 0, in memory of malloc; text NULL: all bands. There must
 * be available of them in the file. */
tz_result band_list_read(const char *text, uint32_t available, uint32_t **bands, uint32_t *count,
                         tz_error *err);

#endif
