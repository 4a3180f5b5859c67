/* SPDX-License-Identifier: Apache-2.0
 * Characters of UTF-8. */
#ifndef TZ_BASE_UTF8_H
#define TZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long the character is that starts with this byte; 0 when none does. */
size_t tz_utf8_length(unsigned char byte);

static inline bool tz_utf8_is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the character at text, and its code; 0 when the bytes are not valid UTF-8. */
size_t tz_utf8_decode(const unsigned char *text, size_t size, uint32_t *code);

#endif
