/* SPDX-License-Identifier: Apache-2.0
 * The values of any tag: compared, printed and written as JSON.
 *
 * Values are read through a small buffer, a part at a time, since a tag may hold as many bytes as
 * the file. Each value is widened to the largest of its kind (unsigned, signed, real), so that
 * printing knows three cases and not the 16 field types of TIFF 6.0 and BigTIFF. */
#include "tag_values.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"

enum { /* field types of TIFF */
       BYTE = 1,
       ASCII = 2,
       SHORT = 3,
       LONG = 4,
       RATIONAL = 5,
       SBYTE = 6,
       UNDEFINED = 7,
       SSHORT = 8,
       SLONG = 9,
       SRATIONAL = 10,
       FLOAT = 11,
       DOUBLE = 12,
       IFD = 13,
       LONG8 = 16,
       SLONG8 = 17,
       IFD8 = 18
};

/* One value, widened. */
typedef struct tag_value {
    enum { VALUE_UINT, VALUE_INT, VALUE_REAL } kind;
    uint64_t u;
    int64_t i;
    double f;
} tag_value;

bool tag_find(const tz_file *file, const tz_level *level, uint16_t number, tz_tag *out)
{
    tz_error err;
    tz_tag tag = TZ_TAG_INIT;
    if (level->sidecar != 0)
        return false;
    for (int32_t i = 0; i < level->tag_count; i++) {
        if (tz_file_get_tag(&tag, file, level->ifd_offset, (uint32_t)i, &err) != TZ_OK)
            return false;
        if (tag.tag == number) {
            *out = tag;
            return true;
        }
    }
    return false;
}

/* Values --------------------------------------------------------------------------------------- */

static uint64_t value_size(const tz_tag *tag)
{
    return tag->count > 0 ? tag->size / tag->count : 0;
}

/* Reads count values from first on into buffer. */
static tz_result read_part(const tz_file *file, const tz_tag *tag, uint64_t first, uint64_t count,
                           void *buffer, size_t size, tz_error *err)
{
    uint64_t each = value_size(tag);
    tz_tag part = *tag;
    part.count = count;
    part.size = count * each;
    part.offset = tag->offset + first * each;
    return tz_tag_read(buffer, size, file, &part, err);
}

tz_result tag_same_values(const tz_file *a, const tz_tag *tag_a, const tz_file *b,
                          const tz_tag *tag_b, bool *same, tz_error *err)
{
    char x[4096];
    char y[4096];
    uint64_t each = value_size(tag_a);
    uint64_t max = each > 0 ? sizeof x / each : 0;
    *same = true;
    for (uint64_t at = 0; each > 0 && at < tag_a->count && *same; at += max) {
        uint64_t count = tag_a->count - at < max ? tag_a->count - at : max;
        tz_result result = read_part(a, tag_a, at, count, x, sizeof x, err);
        if (result == TZ_OK)
            result = read_part(b, tag_b, at, count, y, sizeof y, err);
        if (result != TZ_OK)
            return result;
        *same = memcmp(x, y, (size_t)(count * each)) == 0;
    }
    return TZ_OK;
}

#define LOAD(type, target)                                                                         \
    do {                                                                                           \
        type loaded_;                                                                              \
        memcpy(&loaded_, bytes, sizeof loaded_);                                                   \
        (target) = loaded_;                                                                        \
    } while (0)

static tag_value load_unsigned(uint64_t size, const unsigned char *bytes)
{
    tag_value value = {.kind = VALUE_UINT};
    if (size == 1)
        value.u = bytes[0];
    else if (size == 2)
        LOAD(uint16_t, value.u);
    else if (size == 4)
        LOAD(uint32_t, value.u);
    else
        LOAD(uint64_t, value.u);
    return value;
}

static tag_value load_signed(uint64_t size, const unsigned char *bytes)
{
    tag_value value = {.kind = VALUE_INT};
    if (size == 1)
        LOAD(int8_t, value.i);
    else if (size == 2)
        LOAD(int16_t, value.i);
    else if (size == 4)
        LOAD(int32_t, value.i);
    else
        LOAD(int64_t, value.i);
    return value;
}

static tag_value load_rational(uint16_t type, const unsigned char *bytes)
{
    tag_value top = type == SRATIONAL ? load_signed(4, bytes) : load_unsigned(4, bytes);
    tag_value bottom = type == SRATIONAL ? load_signed(4, bytes + 4) : load_unsigned(4, bytes + 4);
    double above = type == SRATIONAL ? (double)top.i : (double)top.u;
    double below = type == SRATIONAL ? (double)bottom.i : (double)bottom.u;
    return (tag_value){.kind = VALUE_REAL, .f = below != 0 ? above / below : 0};
}

static tag_value load_value(uint16_t type, uint64_t size, const unsigned char *bytes)
{
    tag_value value = {.kind = VALUE_REAL};
    switch (type) {
    case SBYTE:
    case SSHORT:
    case SLONG:
    case SLONG8:
        return load_signed(size, bytes);
    case RATIONAL:
    case SRATIONAL:
        return load_rational(type, bytes);
    case FLOAT:
        LOAD(float, value.f);
        return value;
    case DOUBLE:
        LOAD(double, value.f);
        return value;
    default:
        return load_unsigned(size, bytes);
    }
}

static double as_double(const tag_value *value)
{
    return value->kind == VALUE_UINT  ? (double)value->u
           : value->kind == VALUE_INT ? (double)value->i
                                      : value->f;
}

static char *value_text(char *buffer, const tag_value *value)
{
    if (value->kind == VALUE_UINT)
        snprintf(buffer, TEXT_NUMBER, "%" PRIu64, value->u);
    else if (value->kind == VALUE_INT)
        snprintf(buffer, TEXT_NUMBER, "%" PRId64, value->i);
    else
        text_double(buffer, value->f);
    return buffer;
}

bool tag_first_number(const tz_file *file, const tz_tag *tag, double *out)
{
    unsigned char bytes[8];
    tz_error err;
    uint64_t size = value_size(tag);
    if (tag->type == ASCII || size == 0 || size > sizeof bytes ||
        read_part(file, tag, 0, 1, bytes, sizeof bytes, &err) != TZ_OK)
        return false;
    tag_value value = load_value(tag->type, size, bytes);
    *out = as_double(&value);
    return true;
}

/* For people ----------------------------------------------------------------------------------- */

static size_t visible_size(const char *text, uint64_t size)
{
    return strnlen(text, (size_t)size);
}

tz_result tag_read_text(const tz_file *file, const tz_tag *tag, char *text, size_t size,
                        tz_error *err)
{
    uint64_t count = tag->count < size - 1 ? tag->count : size - 1;
    text[0] = '\0';
    if (value_size(tag) != 1)
        return TZ_OK;
    tz_result result = read_part(file, tag, 0, count, text, size, err);
    text[result == TZ_OK ? count : 0] = '\0';
    return result;
}

static tz_result print_text(FILE *out, const tz_file *file, const tz_tag *tag, size_t max_columns,
                            tz_error *err)
{
    char text[512];
    tz_result result = tag_read_text(file, tag, text, sizeof text, err);
    if (result == TZ_OK)
        text_put_string(out, text, max_columns);
    return result;
}

static tz_result print_numbers(FILE *out, const tz_file *file, const tz_tag *tag,
                               size_t max_columns, tz_error *err)
{
    unsigned char bytes[TAG_VALUES_SHOWN * 8];
    uint64_t each = value_size(tag);
    uint64_t count = tag->count < TAG_VALUES_SHOWN ? tag->count : TAG_VALUES_SHOWN;
    tz_result result = read_part(file, tag, 0, count, bytes, sizeof bytes, err);
    if (result != TZ_OK)
        return result;
    size_t used = 0;
    for (uint64_t i = 0; i < tag->count; i++) {
        char number[TEXT_NUMBER] = "";
        if (i < count) {
            tag_value value = load_value(tag->type, each, bytes + i * each);
            value_text(number, &value);
        }
        if (i == count || used + strlen(number) + 5 > max_columns) {
            fputs(i == 0 ? "..." : " ...", out);
            break;
        }
        used += (size_t)fprintf(out, "%s%s", i > 0 ? " " : "", number);
    }
    return TZ_OK;
}

tz_result tag_print(FILE *out, const tz_file *file, const tz_tag *tag, size_t max_columns,
                    tz_error *err)
{
    uint64_t each = value_size(tag);
    if (each == 0 || each > 8) {
        fputs("-", out);
        return TZ_OK;
    }
    return tag->type == ASCII ? print_text(out, file, tag, max_columns, err)
                              : print_numbers(out, file, tag, max_columns, err);
}

/* As JSON -------------------------------------------------------------------------------------- */

tz_result tag_write_text(json *j, const char *key, const tz_file *file, const tz_tag *tag,
                         tz_error *err)
{
    char text[4096];
    uint64_t at = 0;
    tz_result result = TZ_OK;
    json_text_begin(j, key);
    while (result == TZ_OK && at < tag->count) {
        uint64_t count = tag->count - at < sizeof text ? tag->count - at : sizeof text;
        result = read_part(file, tag, at, count, text, sizeof text, err);
        if (result != TZ_OK)
            break;
        size_t size = visible_size(text, count);
        bool more = size == count && at + count < tag->count;
        at += json_text_part(j, text, size, more);
        if (!more)
            break;
    }
    json_text_end(j);
    return result;
}

static void write_value(json *j, const tag_value *value)
{
    if (value->kind == VALUE_UINT)
        json_uint(j, NULL, value->u);
    else if (value->kind == VALUE_INT)
        json_int(j, NULL, value->i);
    else
        json_double(j, NULL, value->f);
}

static tz_result write_numbers(json *j, const tz_file *file, const tz_tag *tag, tz_error *err)
{
    unsigned char bytes[TAG_VALUES_SHOWN * 8];
    uint64_t each = value_size(tag);
    uint64_t count = tag->count < TAG_VALUES_SHOWN ? tag->count : TAG_VALUES_SHOWN;
    tz_result result = read_part(file, tag, 0, count, bytes, sizeof bytes, err);
    if (result != TZ_OK)
        return result;
    json_array_row(j, "values");
    for (uint64_t i = 0; i < count; i++) {
        tag_value value = load_value(tag->type, each, bytes + i * each);
        write_value(j, &value);
    }
    json_array_end(j);
    return TZ_OK;
}

tz_result tag_write(json *j, const tz_file *file, const tz_tag *tag, tz_error *err)
{
    uint64_t each = value_size(tag);
    if (each == 0 || each > 8)
        return TZ_OK;
    return tag->type == ASCII ? tag_write_text(j, "text", file, tag, err)
                              : write_numbers(j, file, tag, err);
}
