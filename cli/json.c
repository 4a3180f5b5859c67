/* SPDX-License-Identifier: Apache-2.0
 * Writes JSON call by call. A bit for each depth says whether a comma is due, so that nothing is
 * allocated and no document is kept: output of any length starts at once.
 *
 * A group that was begun as a row stays on one line, with all groups inside. Text is made valid on
 * the way: bytes that are not UTF-8 become U+FFFD, and control characters are escaped. */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

#define MAX_DEPTH 63

void json_open(json *j, FILE *out)
{
    *j = (json){.out = out};
}

void json_close(json *j)
{
    assert(j->depth == 0);
    fputc('\n', j->out);
}

/* Structure ------------------------------------------------------------------------------------ */

static bool in_row(const json *j)
{
    return j->row != 0 && j->depth >= j->row;
}

static void new_line(json *j)
{
    fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
}

static void put_escaped(json *j, uint32_t code)
{
    if (code == '"' || code == '\\')
        fprintf(j->out, "\\%c", (int)code);
    else if (code == '\n')
        fputs("\\n", j->out);
    else if (code == '\t')
        fputs("\\t", j->out);
    else
        fprintf(j->out, "\\u%04" PRIx32, code);
}

size_t json_text_part(json *j, const char *bytes, size_t size, bool more)
{
    size_t end = more ? size - text_open_end(bytes, size) : size;
    size_t at = 0;
    while (at < end) {
        uint32_t code;
        size_t used = text_decode(bytes + at, end - at, &code);
        if (code == TEXT_BAD)
            fputs("\xEF\xBF\xBD", j->out);
        else if (code == '"' || code == '\\' || text_is_control(code))
            put_escaped(j, code);
        else
            fwrite(bytes + at, 1, used, j->out);
        at += used;
    }
    return end;
}

static void put_text(json *j, const char *bytes, size_t size)
{
    fputc('"', j->out);
    json_text_part(j, bytes, size, false);
    fputc('"', j->out);
}

/* Writes the text before a value: the comma after the last one, the indentation, the key. */
static void begin_value(json *j, const char *key)
{
    if (j->depth > 0) {
        uint64_t bit = (uint64_t)1 << j->depth;
        if (j->filled & bit)
            fputs(in_row(j) ? ", " : ",", j->out);
        j->filled |= bit;
        if (!in_row(j))
            new_line(j);
    }
    if (key != NULL) {
        put_text(j, key, strlen(key));
        fputs(": ", j->out);
    }
}

static void begin_group(json *j, const char *key, char open, bool row)
{
    begin_value(j, key);
    fputc(open, j->out);
    assert(j->depth < MAX_DEPTH);
    j->depth++;
    j->filled &= ~((uint64_t)1 << j->depth);
    if (row && j->row == 0)
        j->row = j->depth;
}

static void end_group(json *j, char close)
{
    bool empty = !(j->filled & (uint64_t)1 << j->depth);
    bool row = in_row(j);
    if (j->row == j->depth)
        j->row = 0;
    j->depth--;
    if (!row && !empty)
        new_line(j);
    fputc(close, j->out);
}

void json_object(json *j, const char *key)
{
    begin_group(j, key, '{', false);
}

void json_object_row(json *j, const char *key)
{
    begin_group(j, key, '{', true);
}

void json_object_end(json *j)
{
    end_group(j, '}');
}

void json_array(json *j, const char *key)
{
    begin_group(j, key, '[', false);
}

void json_array_row(json *j, const char *key)
{
    begin_group(j, key, '[', true);
}

void json_array_end(json *j)
{
    end_group(j, ']');
}

/* Values --------------------------------------------------------------------------------------- */

void json_null(json *j, const char *key)
{
    begin_value(j, key);
    fputs("null", j->out);
}

void json_bool(json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_int(json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void json_uint(json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void json_double(json *j, const char *key, double value)
{
    char number[TEXT_NUMBER];
    begin_value(j, key);
    if (isnan(value))
        fputs("\"NaN\"", j->out);
    else if (isinf(value))
        fputs(value < 0 ? "\"-Infinity\"" : "\"Infinity\"", j->out);
    else
        fputs(strcmp(text_double(number, value), "-0") == 0 ? "-0.0" : number, j->out);
}

void json_text(json *j, const char *key, const char *text)
{
    json_text_sized(j, key, text, strlen(text));
}

void json_text_sized(json *j, const char *key, const char *bytes, size_t size)
{
    begin_value(j, key);
    put_text(j, bytes, size);
}

void json_uint_or_null(json *j, const char *key, uint64_t value, bool is_there)
{
    if (is_there)
        json_uint(j, key, value);
    else
        json_null(j, key);
}

void json_text_or_null(json *j, const char *key, const char *text)
{
    if (text != NULL)
        json_text(j, key, text);
    else
        json_null(j, key);
}

void json_pair(json *j, const char *key, uint64_t a, uint64_t b)
{
    json_array_row(j, key);
    json_uint(j, NULL, a);
    json_uint(j, NULL, b);
    json_array_end(j);
}

void json_text_begin(json *j, const char *key)
{
    begin_value(j, key);
    fputc('"', j->out);
}

void json_text_end(json *j)
{
    fputc('"', j->out);
}
