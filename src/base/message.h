/* SPDX-License-Identifier: Apache-2.0
 * The line of text of an error: used by error.c and warnings.c alone. */
#ifndef TZ_BASE_MESSAGE_H
#define TZ_BASE_MESSAGE_H

#include "base/error.h"

/* The fields of an error, with no message yet. */
tz_error tz_error_at(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location);

/* error->message from its other fields, the name of the file, the name of the tag (both may be
 * NULL) and the text. */
void tz_message_make(tz_error *error, const char *name, const char *tag_name, const char *format,
                     va_list args);

/* error->message = text with the name of the file and error->ifd in front. */
void tz_message_prefix(tz_error *error, const char *name, const char *text);

#endif
