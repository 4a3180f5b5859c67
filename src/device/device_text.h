/* SPDX-License-Identifier: Apache-2.0
 * Texts of drivers, and reasons, as single lines of limited length. */
#ifndef TZ_DEVICE_DEVICE_TEXT_H
#define TZ_DEVICE_DEVICE_TEXT_H

#include <stddef.h>

#include "base/error.h"

/* Copies text as one line: without spaces at both ends, and with '?' for control characters. A text
 * that does not fit is shortened between two characters of UTF-8. */
void tz_device_text(char *out, size_t size, const char *text);
void tz_device_textf(char *out, size_t size, const char *format, ...) TZ_PRINTF(3, 4);

/* One case of a switch that returns the names of a vendor's codes, for the lists of *_api.h. */
#define TZ_CASE_NAME(name, number)                                                                 \
    case number:                                                                                   \
        return #name;

#endif
