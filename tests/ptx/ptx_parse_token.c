/* SPDX-License-Identifier: Apache-2.0
 * The text as tokens, and what is said of a token that should be another. */
#include "ptx/ptx_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 60 /* of a token in an error */

bool ptx_fail(ptx_reader *reader, int line, const char *format, ...)
{
    if (reader->failed)
        return false;
    char *text = reader->error->text;
    size_t room = sizeof reader->error->text;
    int size = snprintf(text, room, "line %d: ", line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + size, room - (size_t)size, format, arguments);
    va_end(arguments);
    for (char *at = text; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    reader->failed = true;
    reader->at = "";
    reader->token = (ptx_token){.kind = PTX_TOKEN_END, .text = "", .line = line};
    return false;
}

bool ptx_expected(ptx_reader *reader, const char *what)
{
    const ptx_token *token = &reader->token;
    if (token->kind == PTX_TOKEN_END)
        return ptx_fail(reader, token->line, "expected %s, found the end of the text", what);
    int size = (int)(token->size < SHOWN_BYTES ? token->size : SHOWN_BYTES);
    return ptx_fail(reader, token->line, "expected %s, found '%.*s'", what, size, token->text);
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

/* "//used_bytes_mask 14" stands for the pragma of that name, which old drivers do not know: see
 * cmake/SamePtx.cmake. */
static const char *after_comment(ptx_reader *reader, const char *at)
{
    static const char used[] = "//used_bytes_mask ";
    if (strncmp(at, used, sizeof used - 1) == 0)
        reader->used_bytes = (uint32_t)strtoul(at + sizeof used - 1, NULL, 0);
    if (at[1] == '/') {
        while (*at != '\0' && *at != '\n')
            at++;
        return at;
    }
    for (at += 2; *at != '\0'; at++) {
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
        if (*at == '\n')
            reader->line++;
    }
    return at;
}

static void skip_blanks(ptx_reader *reader)
{
    const char *at = reader->at;
    for (;; at++) {
        if (*at == '\n')
            reader->line++;
        while (at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
            at = after_comment(reader, at);
            if (*at == '\n')
                reader->line++;
        }
        if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '\r')
            break;
    }
    reader->at = at;
}

static void read_string(ptx_reader *reader)
{
    const char *at = reader->at + 1;
    while (*at != '"' && *at != '\n' && *at != '\0')
        at += at[0] == '\\' && at[1] != '\0' && at[1] != '\n' ? 2 : 1;
    if (*at != '"') {
        ptx_fail(reader, reader->line, "expected '\"' at the end of a string, found %s",
                 *at == '\n' ? "the end of the line" : "the end of the text");
        return;
    }
    reader->token.kind = PTX_TOKEN_STRING;
    reader->token.size = (size_t)(at + 1 - reader->at);
    reader->at = at + 1;
}

void ptx_advance(ptx_reader *reader)
{
    skip_blanks(reader);
    const char *at = reader->at;
    reader->token = (ptx_token){.text = at, .size = 1, .line = reader->line};
    if (*at == '"') {
        read_string(reader);
        return;
    }
    if (is_digit(*at)) {
        ptx_read_number(reader);
        return;
    }
    if (*at == '\0') {
        reader->token.size = 0;
        return;
    }
    const char *end = at + 1;
    if (is_name_start(*at) || (*at == '.' && is_name_part(*end)))
        while (is_name_part(*end))
            end++;
    reader->token.kind = is_name_start(*at) ? PTX_TOKEN_NAME
                         : end > at + 1     ? PTX_TOKEN_WORD
                                            : PTX_TOKEN_MARK;
    reader->token.size = (size_t)(end - at);
    reader->at = end;
}

void ptx_skip_line(ptx_reader *reader)
{
    int line = reader->token.line;
    while (reader->token.kind != PTX_TOKEN_END && reader->token.line == line) {
        const char *at = reader->at;
        while (reader->line == line && *at != '\n' && *at != '\0')
            at++;
        reader->at = at;
        ptx_advance(reader);
    }
}

bool ptx_is_mark(const ptx_reader *reader, char mark)
{
    return reader->token.kind == PTX_TOKEN_MARK && reader->token.text[0] == mark;
}

bool ptx_is_word(const ptx_reader *reader, const char *word)
{
    const ptx_token *token = &reader->token;
    return token->kind == PTX_TOKEN_WORD && token->size == strlen(word) &&
           memcmp(token->text, word, token->size) == 0;
}

bool ptx_take_mark(ptx_reader *reader, char mark)
{
    bool is = ptx_is_mark(reader, mark);
    if (is)
        ptx_advance(reader);
    return is;
}

bool ptx_take_word(ptx_reader *reader, const char *word)
{
    bool is = ptx_is_word(reader, word);
    if (is)
        ptx_advance(reader);
    return is;
}

bool ptx_need_mark(ptx_reader *reader, char mark)
{
    const char what[] = {'\'', mark, '\'', '\0'};
    return ptx_take_mark(reader, mark) || ptx_expected(reader, what);
}

void ptx_extend_name(ptx_reader *reader)
{
    const char *at = reader->at;
    while (is_name_part(*at) || (*at == '.' && is_name_part(at[1])) ||
           (at[0] == ':' && at[1] == ':'))
        at += *at == ':' ? 2 : 1;
    reader->token.size += (size_t)(at - reader->at);
    reader->at = at;
}

char ptx_peek(const ptx_reader *reader)
{
    ptx_reader ahead = *reader;
    skip_blanks(&ahead);
    return *ahead.at;
}

bool ptx_need_integer(ptx_reader *reader, uint64_t *value)
{
    bool negative = ptx_take_mark(reader, '-');
    if (reader->token.kind != PTX_TOKEN_NUMBER || reader->token.number_type != PTX_U64)
        return ptx_expected(reader, "a whole number");
    *value = negative ? 0 - reader->token.value : reader->token.value;
    ptx_advance(reader);
    return !reader->failed;
}

bool ptx_need_count(ptx_reader *reader, uint64_t most, uint64_t *value)
{
    int line = reader->token.line;
    if (reader->token.kind != PTX_TOKEN_NUMBER || reader->token.number_type != PTX_U64)
        return ptx_expected(reader, "a number");
    *value = reader->token.value;
    if (*value > most)
        return ptx_fail(reader, line, "expected a number up to %llu, found %llu",
                        (unsigned long long)most, (unsigned long long)*value);
    ptx_advance(reader);
    return !reader->failed;
}
