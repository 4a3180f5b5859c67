/* SPDX-License-Identifier: Apache-2.0
 * Numbers: decimal, 0x, 0b, octal with a leading 0, a U after each of them; 0f and 0d with the
 * bits of a float in hexadecimal digits; decimal fractions. */
#include "ptx/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

static bool is_part(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || c == '%';
}

static void refuse(ptx_reader *reader, const char *what)
{
    const char *end = reader->token.text;
    while (is_part(*end) || *end == '.')
        end++;
    size_t size = (size_t)(end - reader->token.text);
    ptx_fail(reader, reader->line, "expected %s, found '%.*s'", what, (int)(size < 60 ? size : 60),
             reader->token.text);
}

/* Returns the end of the digits; NULL: refused. */
static const char *read_digits(ptx_reader *reader, const char *at, int base)
{
    uint64_t value = 0;
    const char *first = at;
    for (; digit_of(*at) < base; at++) {
        if (value > (UINT64_MAX - (uint64_t)digit_of(*at)) / (uint64_t)base) {
            refuse(reader, "a number of 64 bits");
            return NULL;
        }
        value = value * (uint64_t)base + (uint64_t)digit_of(*at);
    }
    if (at == first) {
        refuse(reader, "a number");
        return NULL;
    }
    reader->token.value = value;
    return at;
}

static const char *read_bits(ptx_reader *reader, const char *at, ptx_type type)
{
    const char *end = read_digits(reader, at, 16);
    if (end != NULL && end - at != (type == PTX_F32 ? 8 : 16)) {
        refuse(reader, type == PTX_F32 ? "0f and 8 digits" : "0d and 16 digits");
        return NULL;
    }
    reader->token.number_type = type;
    return end;
}

static const char *read_fraction(ptx_reader *reader, const char *at)
{
    char *end;
    double value = strtod(at, &end);
    memcpy(&reader->token.value, &value, sizeof value);
    reader->token.number_type = PTX_F64;
    return end;
}

static bool is_fraction(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return (at[0] == '.' && at[1] >= '0' && at[1] <= '9') || *at == 'e' || *at == 'E';
}

static const char *read_whole(ptx_reader *reader, const char *at)
{
    int base = 10;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        base = 16;
    else if (at[0] == '0' && (at[1] == 'b' || at[1] == 'B'))
        base = 2;
    else if (at[0] == '0')
        base = 8;
    const char *end = read_digits(reader, at + (base == 16 || base == 2 ? 2 : 0), base);
    return end != NULL && *end == 'U' ? end + 1 : end;
}

void ptx_read_number(ptx_reader *reader)
{
    const char *at = reader->token.text;
    const char *end;
    reader->token.kind = PTX_TOKEN_NUMBER;
    reader->token.number_type = PTX_U64;
    if (at[0] == '0' && (at[1] == 'f' || at[1] == 'F'))
        end = read_bits(reader, at + 2, PTX_F32);
    else if (at[0] == '0' && (at[1] == 'd' || at[1] == 'D'))
        end = read_bits(reader, at + 2, PTX_F64);
    else if (is_fraction(at))
        end = read_fraction(reader, at);
    else
        end = read_whole(reader, at);
    if (end == NULL)
        return;
    if (is_part(*end)) {
        refuse(reader, "a number");
        return;
    }
    reader->token.size = (size_t)(end - at);
    reader->at = end;
}

uint64_t ptx_float_bits(const ptx_token *token, ptx_type type)
{
    uint64_t bits = token->value;
    if (token->number_type == PTX_F32 && type == PTX_F64) {
        float value;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        double wide = (double)value;
        memcpy(&bits, &wide, sizeof bits);
    } else if (token->number_type == PTX_F64 && type == PTX_F32) {
        double value;
        memcpy(&value, &bits, sizeof value);
        float narrow = (float)value;
        uint32_t low;
        memcpy(&low, &narrow, sizeof low);
        bits = low;
    }
    return bits;
}
