/* SPDX-License-Identifier: Apache-2.0
 * Text for people. Strings of files are made harmless before a terminal sees them: control
 * characters, line breaks and marks that turn the writing direction become escapes, and bytes that
 * are not UTF-8 become \xNN. Numbers are made readable: with separators, units, or the fewest
 * digits that read back as the same value. */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* UTF-8 ---------------------------------------------------------------------------------------- */

/* Returns the length of the character that starts with this byte, 0 for a byte that cannot start
 * one; *bits is the byte's share of the code point. */
static size_t lead_byte(unsigned char byte, uint32_t *bits)
{
    if (byte < 0x80) {
        *bits = byte;
        return 1;
    }
    if (byte >= 0xC2 && byte <= 0xDF) {
        *bits = byte & 0x1Fu;
        return 2;
    }
    if (byte >= 0xE0 && byte <= 0xEF) {
        *bits = byte & 0x0Fu;
        return 3;
    }
    *bits = byte & 0x07u;
    return byte >= 0xF0 && byte <= 0xF4 ? 4 : 0;
}

/* Returns true for an overlong encoding, half of a surrogate pair, or a code beyond Unicode. */
static bool is_impossible(uint32_t code, size_t length)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    return code < least[length] || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t text_decode(const char *bytes, size_t size, uint32_t *code)
{
    uint32_t value;
    size_t length = lead_byte((unsigned char)bytes[0], &value);
    *code = TEXT_BAD;
    if (length == 0 || length > size)
        return 1;
    for (size_t i = 1; i < length; i++) {
        if (!is_continuation(bytes[i]))
            return 1;
        value = value << 6 | ((unsigned char)bytes[i] & 0x3Fu);
    }
    if (is_impossible(value, length))
        return 1;
    *code = value;
    return length;
}

size_t text_open_end(const char *bytes, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        uint32_t bits;
        char byte = bytes[size - back];
        if (!is_continuation(byte))
            return lead_byte((unsigned char)byte, &bits) > back ? back : 0;
    }
    return 0;
}

bool text_is_control(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F))
        return true;
    if (code == 0x061C || code == 0x200E || code == 0x200F || code == 0xFEFF)
        return true;
    return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/* Harmless text -------------------------------------------------------------------------------- */

/* Copies a character as it is shown. Returns its columns. */
static size_t show_character(char *shown, const char *bytes, size_t size, size_t *used)
{
    uint32_t code;
    *used = text_decode(bytes, size, &code);
    if (code != TEXT_BAD && !text_is_control(code)) {
        memcpy(shown, bytes, *used);
        shown[*used] = '\0';
        return 1;
    }
    if (code == TEXT_BAD)
        return (size_t)sprintf(shown, "\\x%02x", (unsigned)(unsigned char)bytes[0]);
    if (code == '\n' || code == '\r' || code == '\t')
        return (size_t)sprintf(shown, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    return (size_t)sprintf(shown, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

/* Prints as many characters as fit into max_columns; *all is false if some did not. */
static size_t put_fitting(FILE *out, const char *bytes, size_t size, size_t max_columns, bool *all)
{
    size_t columns = 0;
    size_t at = 0;
    while (at < size) {
        char shown[16];
        size_t used;
        size_t width = show_character(shown, bytes + at, size - at, &used);
        if (width > max_columns - columns)
            break;
        if (out != NULL)
            fputs(shown, out);
        columns += width;
        at += used;
    }
    *all = at == size;
    return columns;
}

size_t text_put(FILE *out, const char *bytes, size_t size, size_t max_columns)
{
    bool all;
    if (max_columns == 0)
        return put_fitting(out, bytes, size, SIZE_MAX, &all);
    size_t columns = put_fitting(NULL, bytes, size, max_columns, &all);
    if (all)
        return out == NULL ? columns : put_fitting(out, bytes, size, max_columns, &all);
    columns = put_fitting(out, bytes, size, max_columns > 3 ? max_columns - 3 : 0, &all);
    if (out != NULL)
        fputs("...", out);
    return columns + 3;
}

size_t text_put_string(FILE *out, const char *text, size_t max_columns)
{
    return text_put(out, text, strlen(text), max_columns);
}

/* Numbers -------------------------------------------------------------------------------------- */

static bool reads_back(const char *text, double value)
{
    double read = strtod(text, NULL);
    return !(read < value) && !(read > value);
}

char *text_double(char *buffer, double value)
{
    if (isnan(value))
        return strcpy(buffer, "nan");
    if (isinf(value))
        return strcpy(buffer, value < 0 ? "-inf" : "inf");
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, TEXT_NUMBER, "%.*g", digits, value);
        if (reads_back(buffer, value))
            break;
    }
    return buffer;
}

char *text_rounded(char *buffer, double value, int digits)
{
    if (!isfinite(value) || fabs(value) >= 1e12 || (value != 0 && fabs(value) < 1e-4))
        return text_double(buffer, value);
    snprintf(buffer, TEXT_NUMBER, "%.*f", digits, value);
    char *end = buffer + strlen(buffer);
    while (digits > 0 && end[-1] == '0')
        *--end = '\0';
    if (digits > 0 && end[-1] == '.')
        *--end = '\0';
    return strcmp(buffer, "-0") == 0 ? strcpy(buffer, "0") : buffer;
}

char *text_count(char *buffer, uint64_t value)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = buffer;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return buffer;
}

char *text_bytes(char *buffer, uint64_t value)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (value < 1024) {
        snprintf(buffer, TEXT_NUMBER, "%" PRIu64 " byte%s", value, text_plural(value));
        return buffer;
    }
    double scaled = (double)value / 1024;
    size_t unit = 0;
    while (scaled >= 1023.95 && unit < 5) {
        scaled /= 1024;
        unit++;
    }
    bool whole = scaled >= 99.95 || fabs(scaled - floor(scaled)) < 0.005;
    snprintf(buffer, TEXT_NUMBER, "%.*f %s", whole ? 0 : 1, scaled, units[unit]);
    return buffer;
}

char *text_ratio(char *buffer, double raw, uint64_t stored)
{
    double ratio = raw / (double)(stored > 0 ? stored : 1);
    if (stored == 0 || ratio >= 1e9)
        return strcpy(buffer, "-");
    int digits = ratio < 0.995 ? 3 : ratio < 99.5 ? 2 : 0;
    snprintf(buffer, TEXT_NUMBER, "%.*f", digits, ratio);
    return buffer;
}

char *text_pair(char *buffer, uint32_t a, uint32_t b)
{
    snprintf(buffer, TEXT_NUMBER, "%" PRIu32 " x %" PRIu32, a, b);
    return buffer;
}

const char *text_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
