/* SPDX-License-Identifier: Apache-2.0
 * Texts that drivers hand out, and reasons. */
#ifndef TZ_DEVICE_DEVICE_TEXT_H
#define TZ_DEVICE_DEVICE_TEXT_H

#include <stddef.h>

#include "base/error.h"

/* text as one line: spaces at both ends are left out, control characters become '?', and what does
 * not fit is cut at a character. */
void tz_device_text(char *out, size_t size, const char *text);
void tz_device_textf(char *out, size_t size, const char *format, ...) TZ_PRINTF(3, 4);

#endif
