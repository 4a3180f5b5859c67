/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t tz_utf8_length(unsigned char byte)
{
    if (byte < 0x80)
        return 1;
    if (byte < 0xc2)
        return 0; /* a continuation, or an overlong form */
    if (byte < 0xe0)
        return 2;
    if (byte < 0xf0)
        return 3;
    return byte < 0xf5 ? 4 : 0;
}

size_t tz_utf8_decode(const unsigned char *text, size_t size, uint32_t *code)
{
    static const uint32_t min_code[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = tz_utf8_length(text[0]);
    if (length == 0 || length > size)
        return 0;
    *code = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (!tz_utf8_is_continuation(text[i]))
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code >= min_code[length] && *code <= 0x10ffff && !surrogate ? length : 0;
}
