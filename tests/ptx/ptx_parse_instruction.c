/* SPDX-License-Identifier: Apache-2.0
 * Statements of a function's body that are not declarations: labels and instructions. */
#include "ptx/ptx_parse.h"

static bool is_predicate(const ptx_reader *reader, const ptx_symbol *symbol)
{
    return symbol != NULL &&
           (symbol->kind == PTX_SYMBOL_REGISTER || symbol->kind == PTX_SYMBOL_RANGE) &&
           reader->function->register_types[symbol->first] == PTX_PRED;
}

/* @%p, @!%p */
static bool read_guard(ptx_reader *reader, uint32_t *guard, bool *negated)
{
    *guard = PTX_NO_REGISTER;
    *negated = false;
    if (!ptx_take_mark(reader, '@'))
        return true;
    *negated = ptx_take_mark(reader, '!');
    uint32_t number = 0;
    const ptx_symbol *symbol = NULL;
    if (reader->token.kind == PTX_TOKEN_NAME)
        symbol = ptx_find(reader, reader->token.text, reader->token.size, &number);
    if (!is_predicate(reader, symbol))
        return ptx_expected(reader, "a predicate after '@'");
    *guard = symbol->first + number;
    ptx_advance(reader);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Labels
 * ------------------------------------------------------------------------------------------ */

static bool read_branch(ptx_reader *reader, ptx_instruction *instruction)
{
    ptx_jump jump = {.instruction = reader->instruction_count, .line = reader->token.line};
    jump.name = ptx_need_name(reader, "a label");
    if (jump.name == NULL)
        return false;
    instruction->operand_count = 1;
    instruction->operands[0].kind = PTX_LABEL;
    ptx_add_jump(reader, jump);
    return true;
}

/* After .branchtargets: as many places as there are names, filled when the labels are known. */
static void read_targets(ptx_reader *reader, ptx_name *name, int line)
{
    uint32_t first = reader->jump_count;
    do {
        ptx_jump jump = {.line = reader->token.line};
        jump.name = ptx_need_name(reader, "a label");
        if (jump.name == NULL)
            return;
        ptx_add_jump(reader, jump);
    } while (ptx_take_mark(reader, ','));
    ptx_symbol symbol = {
        .kind = PTX_SYMBOL_TARGETS, .line = line, .count = reader->jump_count - first};
    symbol.list = ptx_pool_array(reader->pool, symbol.count, sizeof *symbol.list);
    for (uint32_t i = 0; i < symbol.count; i++)
        reader->jumps[first + i].place = &symbol.list[i];
    if (ptx_declare(reader, name, &symbol))
        ptx_need_mark(reader, ';');
}

static void read_label(ptx_reader *reader)
{
    int line = reader->token.line;
    ptx_name *name = ptx_need_name(reader, "a label");
    if (name == NULL || !ptx_need_mark(reader, ':'))
        return;
    if (ptx_take_word(reader, ".branchtargets")) {
        read_targets(reader, name, line);
        return;
    }
    ptx_symbol symbol = {
        .kind = PTX_SYMBOL_LABEL, .line = line, .first = reader->instruction_count};
    ptx_declare(reader, name, &symbol);
}

/* ---------------------------------------------------------------------------------------------
 * Instructions
 * ------------------------------------------------------------------------------------------ */

static bool read_body(ptx_reader *reader, ptx_instruction *instruction)
{
    switch (instruction->operation) {
    case PTX_OP_bra:
        return read_branch(reader, instruction);
    case PTX_OP_call:
        return ptx_read_call(reader, instruction);
    default:
        return ptx_read_operands(reader, instruction);
    }
}

static void read_instruction(ptx_reader *reader)
{
    uint32_t guard;
    bool negated;
    if (!read_guard(reader, &guard, &negated))
        return;
    int line = reader->token.line;
    if (reader->token.kind != PTX_TOKEN_NAME) {
        ptx_expected(reader, "an instruction");
        return;
    }
    ptx_extend_name(reader);
    ptx_name *name = ptx_name_of(reader, reader->token.text, reader->token.size);
    const ptx_instruction *operation = ptx_decode_mnemonic(reader, name, line);
    if (operation == NULL)
        return;
    ptx_advance(reader);
    reader->instructions =
        ptx_pool_grow(reader->scratch, reader->instructions, reader->instruction_count,
                      &reader->instruction_capacity, sizeof *reader->instructions);
    ptx_instruction *instruction = &reader->instructions[reader->instruction_count];
    *instruction = *operation;
    instruction->line = line;
    instruction->guard = guard;
    instruction->guard_negated = negated;
    instruction->used_bytes = reader->used_bytes;
    reader->used_bytes = 0;
    if (read_body(reader, instruction) && ptx_need_mark(reader, ';'))
        reader->instruction_count++;
}

void ptx_read_statement(ptx_reader *reader)
{
    if (reader->token.kind == PTX_TOKEN_NAME && ptx_peek(reader) == ':')
        read_label(reader);
    else
        read_instruction(reader);
}
