/* SPDX-License-Identifier: Apache-2.0
 * Operands: registers, numbers, names, {vectors} and [addresses]. */
#include "ptx/ptx_parse.h"

#include <string.h>

/* Adds the instruction to an error about an operand. */
static bool refuse_name(ptx_reader *reader, const ptx_instruction *instruction, const char *what)
{
    const ptx_token *token = &reader->token;
    return ptx_fail(reader, token->line, "'%.100s': %s '%.*s'", instruction->text, what,
                    (int)(token->size < 60 ? token->size : 60), token->text);
}

/* The token is a name; what it means. NULL: refused. */
static const ptx_symbol *find_operand(ptx_reader *reader, const ptx_instruction *instruction,
                                      uint32_t *number)
{
    ptx_extend_name(reader);
    const ptx_symbol *symbol = ptx_find(reader, reader->token.text, reader->token.size, number);
    if (symbol != NULL)
        return symbol;
    refuse_name(reader, instruction,
                reader->token.text[0] == '%' ? "unknown register" : "unknown name");
    return NULL;
}

/* + 4, - 4, + -4, as often as they stand there. */
static bool read_offsets(ptx_reader *reader, uint64_t *value)
{
    while (ptx_is_mark(reader, '+') || ptx_is_mark(reader, '-')) {
        bool negative = ptx_is_mark(reader, '-');
        uint64_t number;
        ptx_advance(reader);
        if (!ptx_need_integer(reader, &number))
            return false;
        *value += negative ? 0 - number : number;
    }
    return !reader->failed;
}

static bool read_address(ptx_reader *reader, const ptx_instruction *instruction,
                         ptx_operand *operand)
{
    operand->kind = PTX_ADDRESS;
    operand->regs[0] = PTX_NO_REGISTER;
    if (reader->token.kind == PTX_TOKEN_NAME) {
        uint32_t number;
        const ptx_symbol *symbol = find_operand(reader, instruction, &number);
        if (symbol == NULL)
            return false;
        if (symbol->kind == PTX_SYMBOL_VARIABLE)
            operand->variable = symbol->variable;
        else if (symbol->kind == PTX_SYMBOL_REGISTER || symbol->kind == PTX_SYMBOL_RANGE)
            operand->regs[0] = symbol->first + number;
        else
            return refuse_name(reader, instruction, "an address cannot be");
        ptx_advance(reader);
    } else if (!ptx_need_integer(reader, &operand->value)) {
        return false;
    }
    return read_offsets(reader, &operand->value) && ptx_need_mark(reader, ']');
}

static bool is_sink(const ptx_reader *reader)
{
    return reader->token.kind == PTX_TOKEN_NAME && reader->token.size == 1 &&
           reader->token.text[0] == '_';
}

static bool read_element(ptx_reader *reader, const ptx_instruction *instruction, uint32_t *place)
{
    *place = PTX_NO_REGISTER;
    if (reader->token.kind != PTX_TOKEN_NAME)
        return ptx_expected(reader, "a register of a vector");
    if (!is_sink(reader)) {
        uint32_t number;
        const ptx_symbol *symbol = find_operand(reader, instruction, &number);
        if (symbol == NULL)
            return false;
        if (symbol->kind != PTX_SYMBOL_REGISTER && symbol->kind != PTX_SYMBOL_RANGE)
            return refuse_name(reader, instruction, "a vector cannot hold");
        *place = symbol->first + number;
    }
    ptx_advance(reader);
    return true;
}

static bool read_vector(ptx_reader *reader, const ptx_instruction *instruction,
                        ptx_operand *operand)
{
    operand->kind = PTX_VECTOR;
    do {
        if (operand->count == 4)
            return ptx_expected(reader, "at most 4 registers of a vector");
        if (!read_element(reader, instruction, &operand->regs[operand->count++]))
            return false;
    } while (ptx_take_mark(reader, ','));
    return ptx_need_mark(reader, '}');
}

static bool read_immediate(ptx_reader *reader, const ptx_instruction *instruction,
                           ptx_operand *operand)
{
    bool negative = ptx_take_mark(reader, '-');
    const ptx_token token = reader->token;
    ptx_type type =
        instruction->type_count > 0 ? instruction->types[instruction->type_count - 1] : PTX_NO_TYPE;
    if (token.kind != PTX_TOKEN_NUMBER)
        return ptx_expected(reader, "an operand");
    operand->kind = PTX_IMMEDIATE;
    if (token.number_type == PTX_U64) {
        operand->value = negative ? 0 - token.value : token.value;
    } else {
        ptx_type held = type == PTX_F32 || type == PTX_F64 ? type : token.number_type;
        operand->value = ptx_float_bits(&token, held);
        if (negative)
            operand->value ^= (uint64_t)1 << (held == PTX_F32 ? 31 : 63);
    }
    ptx_advance(reader);
    return !reader->failed;
}

static bool take_symbol(ptx_reader *reader, const ptx_instruction *instruction,
                        const ptx_symbol *symbol, uint32_t number, ptx_operand *operand)
{
    switch (symbol->kind) {
    case PTX_SYMBOL_REGISTER:
    case PTX_SYMBOL_RANGE:
        operand->kind = PTX_REGISTER;
        operand->regs[0] = symbol->first + number;
        return true;
    case PTX_SYMBOL_VECTOR:
        operand->kind = PTX_VECTOR;
        operand->count = symbol->count;
        for (uint32_t i = 0; i < symbol->count; i++)
            operand->regs[i] = symbol->first + i;
        return true;
    case PTX_SYMBOL_SPECIAL:
        operand->kind = PTX_SPECIAL;
        operand->value = symbol->first;
        return true;
    case PTX_SYMBOL_VARIABLE:
        operand->kind = PTX_SYMBOL;
        operand->variable = symbol->variable;
        return true;
    case PTX_SYMBOL_TARGETS:
        operand->kind = PTX_LABELS;
        operand->list = symbol->list;
        operand->count = symbol->count;
        return true;
    default:
        return refuse_name(reader, instruction, "an operand cannot be the label");
    }
}

static bool read_name(ptx_reader *reader, const ptx_instruction *instruction, ptx_operand *operand)
{
    if (is_sink(reader)) {
        operand->kind = PTX_REGISTER;
        operand->regs[0] = PTX_NO_REGISTER;
        ptx_advance(reader);
        return true;
    }
    uint32_t number;
    const ptx_symbol *symbol = find_operand(reader, instruction, &number);
    if (symbol == NULL || !take_symbol(reader, instruction, symbol, number, operand))
        return false;
    ptx_advance(reader);
    return operand->kind != PTX_SYMBOL || read_offsets(reader, &operand->value);
}

static bool read_operand(ptx_reader *reader, const ptx_instruction *instruction,
                         ptx_operand *operand)
{
    if (ptx_take_mark(reader, '['))
        return read_address(reader, instruction, operand);
    if (ptx_take_mark(reader, '{'))
        return read_vector(reader, instruction, operand);
    operand->negated = ptx_take_mark(reader, '!');
    if (operand->negated && reader->token.kind != PTX_TOKEN_NAME)
        return ptx_expected(reader, "a predicate after '!'");
    if (reader->token.kind == PTX_TOKEN_NAME)
        return read_name(reader, instruction, operand);
    return read_immediate(reader, instruction, operand);
}

bool ptx_read_operands(ptx_reader *reader, ptx_instruction *instruction)
{
    if (ptx_is_mark(reader, ';'))
        return true;
    do {
        if (instruction->operand_count == PTX_MAX_OPERANDS)
            return ptx_expected(reader, "';': no instruction has more operands");
        if (!read_operand(reader, instruction,
                          &instruction->operands[instruction->operand_count++]))
            return false;
    } while (ptx_take_mark(reader, ',') || ptx_take_mark(reader, '|'));
    return true;
}
