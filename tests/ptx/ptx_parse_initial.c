/* SPDX-License-Identifier: Apache-2.0
 * Initial values: a number, a string, or lists in lists, one in the other for each dimension. */
#include "ptx/ptx_parse.h"

#include <string.h>

typedef struct filling {
    ptx_reader *reader;
    ptx_variable *variable;
    const uint64_t *dimensions;
    uint32_t dimension_count;
    uint32_t element; /* bytes */
} filling;

static bool fits(uint64_t value, bool negative, uint32_t bytes)
{
    if (bytes == 8)
        return true;
    uint64_t most = (uint64_t)1 << 8 * bytes;
    return negative ? 0 - value <= most / 2 : value < most;
}

/* A number, as the bits of an element. */
static bool read_element(filling *fill, uint64_t *bits)
{
    ptx_reader *reader = fill->reader;
    bool negative = ptx_take_mark(reader, '-');
    const ptx_token token = reader->token;
    ptx_type type = fill->variable->type;
    bool is_float = token.number_type == PTX_F32 || token.number_type == PTX_F64;
    if (token.kind != PTX_TOKEN_NUMBER)
        return ptx_expected(reader, "a number (addresses as initial values are not known)");
    if (is_float != (type == PTX_F32 || type == PTX_F64) && (is_float || token.value != 0))
        return ptx_expected(reader, "a number of the variable's type");
    if (is_float)
        *bits = ptx_float_bits(&token, type) ^ ((uint64_t)negative << (8 * fill->element - 1));
    else
        *bits = negative ? 0 - token.value : token.value;
    if (!is_float && !fits(*bits, negative, fill->element))
        return ptx_expected(reader, "a number that fits the variable's type");
    ptx_advance(reader);
    return !reader->failed;
}

/* Little-endian, as the machine that tests run on and the device are. */
static bool put_element(filling *fill, uint64_t first, uint64_t count)
{
    uint64_t bits;
    if (count == 0)
        return ptx_expected(fill->reader, "'}': the variable has no room for more");
    if (!read_element(fill, &bits))
        return false;
    memcpy(fill->variable->initial + first * fill->element, &bits, fill->element);
    return true;
}

/* count elements from first; a list in this one is of the next dimension. */
static bool read_list(filling *fill, uint32_t depth, uint64_t first, uint64_t count)
{
    ptx_reader *reader = fill->reader;
    uint64_t step = 1;
    for (uint32_t i = depth + 1; i < fill->dimension_count; i++)
        step *= fill->dimensions[i];
    uint64_t end = first + count;
    if (ptx_take_mark(reader, '}'))
        return true;
    do {
        uint64_t room = end - first;
        bool is_list = depth + 1 < fill->dimension_count && ptx_is_mark(reader, '{');
        if (!is_list && !put_element(fill, first, room))
            return false;
        if (is_list && room < step)
            return ptx_expected(reader, "'}': the variable has no room for more");
        if (is_list) {
            ptx_advance(reader);
            if (!read_list(fill, depth + 1, first, step))
                return false;
        }
        first += is_list ? step : 1;
    } while (ptx_take_mark(reader, ','));
    return ptx_need_mark(reader, '}');
}

static int escaped(char c)
{
    static const char letters[] = "n\nt\tr\r0\0\\\\\"\"'\'";
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if (letters[i] == c)
            return (unsigned char)letters[i + 1];
    return -1;
}

static bool read_string(filling *fill)
{
    ptx_reader *reader = fill->reader;
    const ptx_token token = reader->token;
    uint64_t count = 0;
    if (fill->element != 1)
        return ptx_expected(reader, "numbers: a string is of bytes");
    for (const char *at = token.text + 1; at < token.text + token.size - 1; at++, count++) {
        int byte = *at == '\\' ? escaped(*++at) : (unsigned char)*at;
        if (byte < 0 || count == fill->variable->size)
            return ptx_expected(reader, byte < 0 ? "a string of known escapes"
                                                 : "a string that fits the variable");
        fill->variable->initial[count] = (uint8_t)byte;
    }
    ptx_advance(reader);
    return !reader->failed;
}

void ptx_read_initial(ptx_reader *reader, ptx_variable *variable, const uint64_t *dimensions,
                      uint32_t dimension_count)
{
    filling fill = {.reader = reader,
                    .variable = variable,
                    .dimensions = dimensions,
                    .dimension_count = dimension_count,
                    .element = ptx_type_size(variable->type)};
    variable->initial = ptx_pool_array(reader->pool, variable->size, 1);
    if (reader->token.kind == PTX_TOKEN_STRING)
        read_string(&fill);
    else if (dimension_count > 0 && ptx_need_mark(reader, '{'))
        read_list(&fill, 0, 0, variable->size / fill.element);
    else if (dimension_count == 0)
        put_element(&fill, 0, 1);
}
