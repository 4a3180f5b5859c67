/* SPDX-License-Identifier: Apache-2.0
 * Reads axes from WKT2 with a tokenizer of keywords and quoted names. Brackets are not parsed: an
 * AXIS and the unit after it are recognised wherever they stand. */
#include "crs_text.h"

#include <stddef.h>
#include <string.h>

/* The next word of WKT: a keyword, or the inside of a quoted text. */
typedef struct token {
    const char *text;
    size_t size;
    bool quoted;
} token;

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *quoted_end(const char *c)
{
    while (*c != '\0' && (*c != '"' || c[1] == '"'))
        c += *c == '"' ? 2 : 1;
    return c;
}

static bool next_token(const char **wkt, token *out)
{
    const char *c = *wkt;
    while (*c != '\0' && *c != '"' && !is_word(*c))
        c++;
    if (*c == '\0')
        return false;
    out->quoted = *c == '"';
    out->text = c + out->quoted;
    c = out->text;
    if (out->quoted)
        c = quoted_end(c);
    else
        while (is_word(*c))
            c++;
    out->size = (size_t)(c - out->text);
    *wkt = c + (out->quoted && *c == '"');
    return true;
}

static bool is_keyword(const token *word, const char *keyword)
{
    return !word->quoted && word->size == strlen(keyword) &&
           memcmp(word->text, keyword, word->size) == 0;
}

static bool begins_with(const token *word, const char *start)
{
    return word->size >= strlen(start) && memcmp(word->text, start, strlen(start)) == 0;
}

typedef struct axis {
    token name;
    token direction;
} axis;

static bool is_northing(const token *name)
{
    return begins_with(name, "(N)") || begins_with(name, "Northing") ||
           begins_with(name, "northing");
}

static bool is_same(const token *a, const token *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* By direction, or by name where both axes have the same direction, as around the poles. */
static bool north_first(const axis *first, const axis *second)
{
    if (is_same(&first->direction, &second->direction))
        return is_northing(&first->name);
    return is_keyword(&first->direction, "north") && is_keyword(&second->direction, "east");
}

/* A unit belongs to the axis before it. */
static void keep_unit(crs_axes *axes, const token *name)
{
    char *unit = axes->count == 1 ? axes->unit : axes->vertical_unit;
    if (axes->count == 0 || axes->count == 2 || unit[0] != '\0' || name->size >= sizeof axes->unit)
        return;
    memcpy(unit, name->text, name->size);
    unit[name->size] = '\0';
}

void crs_read_axes(crs_axes *axes, const char *wkt)
{
    axis found[3];
    token word;
    bool has_heights = false; /* an ellipsoidal height is not a vertical CRS */
    *axes = (crs_axes){0};
    while (next_token(&wkt, &word) && !is_keyword(&word, "TARGETCRS")) {
        has_heights = has_heights || is_keyword(&word, "VERTCRS");
        if (is_keyword(&word, "AXIS") && axes->count < 3) {
            axis *a = &found[axes->count];
            if (next_token(&wkt, &a->name) && next_token(&wkt, &a->direction))
                axes->count++;
        } else if (is_keyword(&word, "LENGTHUNIT") || is_keyword(&word, "ANGLEUNIT")) {
            if (next_token(&wkt, &word))
                keep_unit(axes, &word);
        }
    }
    axes->north_first = axes->count >= 2 && north_first(&found[0], &found[1]);
    if (!has_heights)
        axes->vertical_unit[0] = '\0';
}
