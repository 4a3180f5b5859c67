/* SPDX-License-Identifier: Apache-2.0
 * call.uni (results), function, (arguments): its parts, and, when all of the text is known, whether
 * they are what the function has. */
#include "ptx/ptx_parse.h"

typedef struct variables {
    const ptx_variable **items;
    uint32_t count, capacity;
} variables;

/* After '(': param variables, and ')'. */
static bool read_variables(ptx_reader *reader, variables *list)
{
    if (ptx_take_mark(reader, ')'))
        return true;
    do {
        uint32_t number;
        const ptx_symbol *symbol = NULL;
        if (reader->token.kind == PTX_TOKEN_NAME)
            symbol = ptx_find(reader, reader->token.text, reader->token.size, &number);
        if (symbol == NULL || symbol->kind != PTX_SYMBOL_VARIABLE ||
            symbol->variable->space != PTX_PARAM)
            return ptx_expected(reader, "a .param variable");
        list->items = ptx_pool_grow(reader->pool, list->items, list->count, &list->capacity,
                                    sizeof *list->items);
        list->items[list->count++] = symbol->variable;
        ptx_advance(reader);
    } while (ptx_take_mark(reader, ','));
    return ptx_need_mark(reader, ')');
}

static bool read_callee(ptx_reader *reader, ptx_instruction *instruction)
{
    int line = reader->token.line;
    uint32_t number;
    if (reader->token.kind != PTX_TOKEN_NAME ||
        ptx_find(reader, reader->token.text, reader->token.size, &number) != NULL)
        return ptx_expected(reader, "the name of a function (calls by address are not known)");
    ptx_name *name = ptx_need_name(reader, "the name of a function");
    ptx_callable *callable = ptx_callable_of(reader, name);
    if (callable->call_line == 0)
        callable->call_line = line;
    instruction->callee = &callable->function;
    return true;
}

bool ptx_read_call(ptx_reader *reader, ptx_instruction *instruction)
{
    variables results = {0}, arguments = {0};
    if (ptx_take_mark(reader, '(') &&
        (!read_variables(reader, &results) || !ptx_need_mark(reader, ',')))
        return false;
    if (!read_callee(reader, instruction))
        return false;
    if (ptx_take_mark(reader, ',') &&
        (!ptx_need_mark(reader, '(') || !read_variables(reader, &arguments)))
        return false;
    instruction->results = results.items;
    instruction->result_count = results.count;
    instruction->arguments = arguments.items;
    instruction->argument_count = arguments.count;
    return true;
}

static void check_list(ptx_reader *reader, const ptx_instruction *call, const char *what,
                       const ptx_variable **given, uint32_t given_count, ptx_variable **own,
                       uint32_t own_count)
{
    const char *name = call->callee->name;
    if (given_count != own_count)
        ptx_fail(reader, call->line, "call of '%.60s': expected %u %ss, found %u", name, own_count,
                 what, given_count);
    for (uint32_t i = 0; i < own_count && !reader->failed; i++)
        if (given[i]->size != own[i]->size)
            ptx_fail(reader, call->line,
                     "call of '%.60s': %s %u: expected %llu bytes, found %llu ('%.60s')", name,
                     what, i, (unsigned long long)own[i]->size, (unsigned long long)given[i]->size,
                     given[i]->name);
}

static void check_calls_of(ptx_reader *reader, const ptx_function *function)
{
    for (uint32_t i = 0; i < function->instruction_count && !reader->failed; i++) {
        const ptx_instruction *call = &function->instructions[i];
        if (call->operation != PTX_OP_call)
            continue;
        const ptx_function *callee = call->callee;
        if (callee->is_kernel)
            ptx_fail(reader, call->line, "expected a function, found the kernel '%.60s'",
                     callee->name);
        check_list(reader, call, "result", call->results, call->result_count, callee->results,
                   callee->result_count);
        check_list(reader, call, "argument", call->arguments, call->argument_count, callee->params,
                   callee->param_count);
    }
}

void ptx_check_calls(ptx_reader *reader)
{
    for (uint32_t i = 0; i < reader->callable_count && !reader->failed; i++) {
        const ptx_callable *callable = reader->callables[i];
        if (callable->is_defined)
            check_calls_of(reader, &callable->function);
        else if (callable->call_line != 0)
            ptx_fail(reader, callable->call_line,
                     "function '%.100s' is called, and defined nowhere", callable->function.name);
    }
}
