/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void tz_device_text(char *out, size_t size, const char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && tz_utf8_is_continuation((unsigned char)text[length]))
            length--;
    }
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
    out[length] = '\0';
}

void tz_device_textf(char *out, size_t size, const char *format, ...)
{
    char whole[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(whole, sizeof whole, format, args);
    va_end(args);
    tz_device_text(out, size, whole);
}
