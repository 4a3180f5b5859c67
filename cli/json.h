/* SPDX-License-Identifier: Apache-2.0
 * Writes JSON to a stream, call by call, without allocating. A key is NULL inside an array. Text
 * of any origin becomes valid JSON in ASCII-safe UTF-8: control characters are escaped, and bytes
 * that are not UTF-8 become U+FFFD. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *out;
    unsigned depth;
    unsigned row;    /* depth from which all is on one line; 0: none */
    uint64_t filled; /* a bit per depth: it has a member already */
} json;

void json_open(json *j, FILE *out);
void json_close(json *j); /* the closing line break */

void json_object(json *j, const char *key);
void json_object_row(json *j, const char *key); /* on one line, with all that is in it */
void json_object_end(json *j);
void json_array(json *j, const char *key);
void json_array_row(json *j, const char *key);
void json_array_end(json *j);

void json_null(json *j, const char *key);
void json_bool(json *j, const char *key, bool value);
void json_int(json *j, const char *key, int64_t value);
void json_uint(json *j, const char *key, uint64_t value);
/* Writes numbers that JSON lacks as text, as gdalinfo does: "NaN", "Infinity", "-Infinity". */
void json_double(json *j, const char *key, double value);
void json_text(json *j, const char *key, const char *text);
void json_text_sized(json *j, const char *key, const char *bytes, size_t size);
/* Writes null if there is no value. */
void json_uint_or_null(json *j, const char *key, uint64_t value, bool is_there);
void json_text_or_null(json *j, const char *key, const char *text);
/* [a, b] on one line. */
void json_pair(json *j, const char *key, uint64_t a, uint64_t b);

/* A long text in parts. If more follows, a part may end within a character: the bytes that were
 * used are returned, and the rest belongs to the next part. */
void json_text_begin(json *j, const char *key);
size_t json_text_part(json *j, const char *bytes, size_t size, bool more);
void json_text_end(json *j);

#endif
