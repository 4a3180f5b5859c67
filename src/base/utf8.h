/* SPDX-License-Identifier: Apache-2.0
 * Characters of UTF-8. */
#ifndef TZ_BASE_UTF8_H
#define TZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of a character with this first byte; 0 if no character starts with it. */
size_t tz_utf8_length(unsigned char byte);

static inline bool tz_utf8_is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Decodes the character at text and returns its length; 0 if the bytes are not valid UTF-8. */
size_t tz_utf8_decode(const unsigned char *text, size_t size, uint32_t *code);

#endif
