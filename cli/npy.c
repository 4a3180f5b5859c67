/* SPDX-License-Identifier: Apache-2.0
 * The header of .npy files (numpy.lib.format): written as version 1.0, read up to version 3.0.
 *
 * A header is a literal of Python. The reader accepts exactly the three keys that NumPy writes, in
 * any order, and refuses the rest with the position of the error: files come from anywhere, and a
 * header is never evaluated. */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "parse.h"
#include "problem.h"
#include "text.h"

#define ALIGNMENT 64
#define PREFIX    10    /* magic, version and the length of the text */
#define MAX_TEXT  65535 /* of a header that is read; NumPy takes 10000 */

/* NumPy's letter and size of a type. */
static const char *type_code(tz_dtype dtype)
{
    static const char *const codes[] = {"",   "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8",
                                        "f2", "f4", "f8", "",   "",   "",   "c8", "c16"};
    return codes[dtype];
}

static char byte_order(tz_dtype dtype)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    if (tz_dtype_size(dtype) == 1)
        return '|';
    return first == 1 ? '<' : '>';
}

/* Writing -------------------------------------------------------------------------------------- */

size_t npy_header(char header[MAX_NPY_HEADER], tz_dtype dtype, uint32_t bands, uint32_t height,
                  uint32_t width, bool by_pixel)
{
    char shape[40];
    if (type_code(dtype)[0] == '\0')
        return 0;
    if (bands == 1)
        snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32, height, width);
    else if (by_pixel)
        snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32 ", %" PRIu32, height, width, bands);
    else
        snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32 ", %" PRIu32, bands, height, width);
    memcpy(header, NPY_MAGIC "\x01\x00", 8);
    int text = snprintf(header + PREFIX, MAX_NPY_HEADER - PREFIX,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                        byte_order(dtype), type_code(dtype), shape);
    size_t used = PREFIX + (size_t)text;
    size_t size = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + used, ' ', size - used);
    header[size - 1] = '\n';
    header[8] = (char)((size - PREFIX) & 0xFF);
    header[9] = (char)((size - PREFIX) >> 8);
    return size;
}

/* Reading --------------------------------------------------------------------------------------
 *
 * The text is a literal of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (20, 30), }
 * with its keys in any order. Nothing else of Python is understood. */

typedef struct literal {
    const char *start, *at; /* ends with a NUL */
    const char *name;
    tz_error *err;
} literal;

static tz_result fail_at(const literal *l, const char *what)
{
    return problem_make(l->err, TZ_ERR_FORMAT, TZ_CAUSE_HEADER,
                        "%s: %s .npy header is not understood at byte %zu of its text", l->name,
                        what, (size_t)(l->at - l->start));
}

static void skip_space(literal *l)
{
    l->at += strspn(l->at, " \t\r\n");
}

/* Skips a character, with space around it. */
static bool skip_mark(literal *l, char wanted)
{
    skip_space(l);
    bool found = parse_char(&l->at, wanted);
    skip_space(l);
    return found;
}

/* Reads a string without escapes. Returns its first character, or NULL. */
static const char *read_string(literal *l, size_t *size)
{
    skip_space(l);
    char quote = *l->at;
    if (quote != '\'' && quote != '"')
        return NULL;
    const char *text = l->at + 1;
    const char ends[] = {quote, '\\', '\0'};
    *size = strcspn(text, ends);
    if (text[*size] != quote)
        return NULL;
    l->at = text + *size + 1;
    return text;
}

static tz_result read_type(literal *l, npy_array *out)
{
    static const char orders[] = "<>=|";
    size_t size;
    if (*l->at == '[')
        return problem_make(l->err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "%s is an array of records; an image is one of numbers", l->name);
    const char *text = read_string(l, &size);
    if (text == NULL)
        return fail_at(l, "the type in the");
    char order = size > 0 && strchr(orders, text[0]) != NULL ? text[0] : '=';
    const char *code = text + (size > 0 && text[0] == order);
    size_t code_size = size - (size_t)(code - text);
    out->dtype = code_size == 2 && memcmp(code, "b1", 2) == 0 ? TZ_DTYPE_UINT8 : TZ_DTYPE_NONE;
    for (int i = TZ_DTYPE_UINT8; i <= TZ_DTYPE_COMPLEX_FLOAT64; i++) {
        const char *known = type_code((tz_dtype)i);
        if (code_size > 0 && strlen(known) == code_size && memcmp(code, known, code_size) == 0)
            out->dtype = (tz_dtype)i;
    }
    if (out->dtype == TZ_DTYPE_NONE)
        return problem_make(l->err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "%s has samples of type '%.*s', which an image cannot have", l->name,
                            (int)(size < 20 ? size : 20), text);
    char native = byte_order(TZ_DTYPE_UINT16);
    out->swapped = (order == '<' || order == '>') && order != native;
    return TZ_OK;
}

static tz_result read_shape(literal *l, npy_array *out)
{
    bool right = skip_mark(l, '(');
    bool open = right;
    for (out->dimensions = 0; open && *l->at != ')'; out->dimensions++) {
        uint64_t side;
        if (!parse_uint(&l->at, UINT64_MAX, &side))
            return fail_at(l, "the shape in the");
        (void)parse_char(&l->at, 'L'); /* of Python 2 */
        if (out->dimensions < 3)
            out->shape[out->dimensions] = side;
        open = skip_mark(l, ',');
    }
    return right && skip_mark(l, ')') ? TZ_OK : fail_at(l, "the shape in the");
}

static tz_result read_order(literal *l, npy_array *out)
{
    static const char *const words[] = {"False", "True"};
    for (int i = 0; i < 2; i++) {
        size_t size = strlen(words[i]);
        if (strncmp(l->at, words[i], size) == 0) {
            l->at += size;
            out->fortran = i == 1;
            return TZ_OK;
        }
    }
    return fail_at(l, "fortran_order in the");
}

static const struct {
    const char *name;
    tz_result (*read)(literal *l, npy_array *out);
} keys[] = {{"descr", read_type}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { KEYS = sizeof keys / sizeof keys[0] };

static tz_result fail_key(const literal *l, const char *how, const char *key)
{
    return problem_make(l->err, TZ_ERR_FORMAT, TZ_CAUSE_HEADER, "%s: the .npy header has %s'%s'",
                        l->name, how, key);
}

static tz_result read_pair(literal *l, npy_array *out, bool found[KEYS])
{
    size_t size;
    const char *key = read_string(l, &size);
    int which = 0;
    while (key != NULL && which < KEYS &&
           (strlen(keys[which].name) != size || memcmp(keys[which].name, key, size) != 0))
        which++;
    if (key == NULL || which == KEYS || !skip_mark(l, ':'))
        return fail_at(l, "the");
    if (found[which])
        return fail_key(l, "twice ", keys[which].name);
    found[which] = true;
    return keys[which].read(l, out);
}

static tz_result read_literal(literal *l, npy_array *out)
{
    bool found[KEYS] = {false};
    bool more = skip_mark(l, '{');
    while (more && *l->at != '}') {
        tz_result result = read_pair(l, out, found);
        if (result != TZ_OK)
            return result;
        more = skip_mark(l, ',');
    }
    if (!skip_mark(l, '}') || *l->at != '\0')
        return fail_at(l, "the");
    for (int i = 0; i < KEYS; i++) {
        if (!found[i])
            return fail_key(l, "no ", keys[i].name);
    }
    return TZ_OK;
}

tz_result npy_parse(npy_array *out, const char *text, size_t size, const char *name, tz_error *err)
{
    literal l = {.start = text, .at = text, .name = name, .err = err};
    *out = (npy_array){0};
    return strlen(text) == size ? read_literal(&l, out) : fail_at(&l, "the");
}

static tz_result fail_short(const char *name, tz_error *err)
{
    return problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, "%s ends within its .npy header",
                        name);
}

static tz_result read_exactly(int fd, void *to, size_t size, const char *name, tz_error *err)
{
    uint64_t got;
    tz_result result = input_read(fd, name, to, size, -1, &got, err);
    return result == TZ_OK && got < size ? fail_short(name, err) : result;
}

/* Reads the version, and the size of the text. */
static tz_result read_prefix(int fd, size_t *size, const char *name, tz_error *err)
{
    unsigned char bytes[6] = {0};
    char shown[TEXT_NUMBER];
    char max[TEXT_NUMBER];
    tz_result result = read_exactly(fd, bytes, 2, name, err);
    if (result != TZ_OK)
        return result;
    if (bytes[0] < 1 || bytes[0] > 3 || bytes[1] != 0)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "%s is a .npy file of version %u.%u; 1.0, 2.0 and 3.0 are known", name,
                            bytes[0], bytes[1]);
    result = read_exactly(fd, bytes + 2, bytes[0] == 1 ? 2 : 4, name, err);
    if (result != TZ_OK)
        return result;
    *size = bytes[2] | (size_t)bytes[3] << 8 | (size_t)bytes[4] << 16 | (size_t)bytes[5] << 24;
    if (*size > MAX_TEXT)
        return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            "%s has a .npy header of %s bytes; at most %s are accepted", name,
                            text_count(shown, *size), text_count(max, MAX_TEXT));
    return TZ_OK;
}

tz_result npy_read(npy_array *out, int fd, const char *name, tz_error *err)
{
    size_t size = 0;
    tz_result result = read_prefix(fd, &size, name, err);
    if (result != TZ_OK)
        return result;
    char *text = malloc(size + 1);
    if (text == NULL)
        return problem_nomem(err, "a header");
    text[size] = '\0';
    result = read_exactly(fd, text, size, name, err);
    if (result == TZ_OK)
        result = npy_parse(out, text, size, name, err);
    free(text);
    return result;
}
