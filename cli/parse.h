/* SPDX-License-Identifier: Apache-2.0
 * Numbers that were typed. Each function reads a number at the front of *at and moves *at past it;
 * false, with *at unchanged, when there is none or it does not fit. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

bool parse_uint(const char **at, uint64_t max, uint64_t *out);
/* With or without a minus sign. */
bool parse_int(const char **at, int64_t max, int64_t *out);
/* Reads what strtod accepts, in the C locale; also "nan" and "inf". */
bool parse_real(const char **at, double *out);
/* Skips one character if it is this one. */
bool parse_char(const char **at, char wanted);

/* Parses a whole text: digits and at most one of K, M, G, T, each 1024 times the one before. */
bool parse_bytes(const char *text, uint64_t *out);

#endif
