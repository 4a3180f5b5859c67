/* SPDX-License-Identifier: Apache-2.0
 * Functions and kernels: their heads, once or several times, and their bodies. */
#include "ptx/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

ptx_callable *ptx_callable_of(ptx_reader *reader, ptx_name *name)
{
    if (name->callable != NULL)
        return name->callable;
    ptx_callable *callable = ptx_pool_array(reader->pool, 1, sizeof *callable);
    callable->function.name = name->text;
    callable->function.module = reader->module;
    name->callable = callable;
    reader->callables = ptx_pool_grow(reader->scratch, reader->callables, reader->callable_count,
                                      &reader->callable_capacity, sizeof *reader->callables);
    reader->callables[reader->callable_count++] = callable;
    return callable;
}

/* ---------------------------------------------------------------------------------------------
 * Heads
 * ------------------------------------------------------------------------------------------ */

/* (.param .b32 a, .param .b8 b[4]): from the parenthesis on, which may be missing. */
static ptx_variable **read_params(ptx_reader *reader, uint32_t *count)
{
    ptx_variable **params = NULL;
    uint32_t capacity = 0;
    *count = 0;
    if (!ptx_take_mark(reader, '(') || ptx_take_mark(reader, ')'))
        return NULL;
    do {
        if (!ptx_take_word(reader, ".param")) {
            ptx_expected(reader, ".param");
            return NULL;
        }
        params = ptx_pool_grow(reader->pool, params, *count, &capacity, sizeof *params);
        params[*count] = ptx_read_param(reader);
        if (params[*count] == NULL)
            return NULL;
        ++*count;
    } while (ptx_take_mark(reader, ','));
    ptx_need_mark(reader, ')');
    return params;
}

/* Results are written before the parameters, and lie after them. */
static void place_results(ptx_reader *reader, ptx_function *function)
{
    uint64_t top = 0;
    for (uint32_t i = 0; i < function->param_count; i++)
        function->params[i]->offset =
            ptx_place(&top, function->params[i]->align, function->params[i]->size);
    function->param_bytes = top;
    for (uint32_t i = 0; i < function->result_count; i++)
        function->results[i]->offset =
            ptx_place(&top, function->results[i]->align, function->results[i]->size);
    function->param_space = top;
    reader->param_top = top;
}

static uint64_t product(const uint64_t *factors)
{
    uint64_t all = factors[0] * factors[1] * factors[2];
    return all < UINT32_MAX ? all : UINT32_MAX;
}

/* .maxntid 64, 1, 1 and its like: the words after a head. */
static bool read_tuning(ptx_reader *reader, ptx_function *function)
{
    bool is_block = ptx_is_word(reader, ".maxntid") || ptx_is_word(reader, ".reqntid");
    bool is_other = ptx_is_word(reader, ".minnctapersm") || ptx_is_word(reader, ".maxnctapersm") ||
                    ptx_is_word(reader, ".maxnreg");
    if (ptx_take_word(reader, ".noreturn"))
        return true;
    if (!is_block && !is_other)
        return ptx_expected(reader, "'{' or ';'");
    ptx_advance(reader);
    uint64_t numbers[3] = {1, 1, 1};
    uint32_t count = 0;
    do {
        if (!ptx_need_count(reader, 1 << 20, &numbers[count++]))
            return false;
    } while (is_block && count < 3 && ptx_take_mark(reader, ','));
    if (is_block)
        function->max_threads = (uint32_t)product(numbers);
    return true;
}

static bool same_sizes(ptx_variable **a, uint32_t a_count, ptx_variable **b, uint32_t b_count)
{
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (a[i]->size != b[i]->size || a[i]->align != b[i]->align)
            return false;
    return true;
}

/* A function may be declared as often as it likes, if it stays the same, and defined once. */
static bool check_again(ptx_reader *reader, const ptx_callable *callable, const ptx_function *head,
                        bool defines, int line)
{
    const ptx_function *known = &callable->function;
    if (!callable->is_declared)
        return true;
    if ((defines && callable->is_defined) || head->is_kernel != known->is_kernel)
        return ptx_fail(reader, line, "'%.60s' is defined already, in line %d", head->name,
                        callable->line);
    if (!same_sizes(head->params, head->param_count, known->params, known->param_count) ||
        !same_sizes(head->results, head->result_count, known->results, known->result_count))
        return ptx_fail(reader, line,
                        "'%.60s': expected parameters and results as in line %d, found others",
                        head->name, callable->line);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Bodies
 * ------------------------------------------------------------------------------------------ */

/* "used_bytes_mask 12": of the load that follows, bytes 2 and 3 are used. Others mean nothing here.
 */
static void read_pragma(ptx_reader *reader)
{
    static const char used[] = "used_bytes_mask ";
    const ptx_token *token = &reader->token;
    if (token->kind != PTX_TOKEN_STRING)
        ptx_expected(reader, "a string after .pragma");
    for (size_t i = 0; token->size >= sizeof used && i <= token->size - sizeof used; i++) {
        if (memcmp(token->text + i, used, sizeof used - 1) == 0)
            reader->used_bytes = (uint32_t)strtoul(token->text + i + sizeof used - 1, NULL, 0);
    }
    ptx_advance(reader);
    ptx_need_mark(reader, ';');
}

static void read_directive(ptx_reader *reader)
{
    if (ptx_take_word(reader, ".reg"))
        ptx_read_registers(reader);
    else if (ptx_take_word(reader, ".local"))
        ptx_read_variables(reader, PTX_LOCAL, false);
    else if (ptx_take_word(reader, ".shared"))
        ptx_read_variables(reader, PTX_SHARED, false);
    else if (ptx_take_word(reader, ".param"))
        ptx_read_variables(reader, PTX_PARAM, false);
    else if (ptx_take_word(reader, ".pragma"))
        read_pragma(reader);
    else if (ptx_is_word(reader, ".loc") || ptx_is_word(reader, ".file"))
        ptx_skip_line(reader);
    else
        ptx_expected(reader, "a directive of a function");
}

/* From the opening brace to the closing one. */
static void read_statements(ptx_reader *reader)
{
    uint32_t outer = reader->scope_count;
    while (!reader->failed) {
        if (ptx_take_mark(reader, '{')) {
            ptx_open_scope(reader);
        } else if (ptx_is_mark(reader, '}')) {
            if (reader->scope_count == outer)
                break;
            ptx_advance(reader);
            ptx_close_scope(reader);
        } else if (reader->token.kind == PTX_TOKEN_WORD) {
            read_directive(reader);
        } else if (reader->token.kind == PTX_TOKEN_END) {
            ptx_expected(reader, "'}' of a function's body");
        } else {
            ptx_read_statement(reader);
        }
    }
    ptx_need_mark(reader, '}');
}

static void read_body(ptx_reader *reader, ptx_function *function)
{
    reader->function = function;
    reader->register_capacity = 0;
    reader->instruction_count = 0;
    reader->jump_count = 0;
    read_statements(reader);
    if (reader->failed)
        return;
    function->instruction_count = reader->instruction_count;
    function->register_types =
        ptx_pool_copy(reader->pool, function->register_types, function->register_count,
                      sizeof *function->register_types);
}

static void keep_instructions(ptx_reader *reader, ptx_function *function)
{
    reader->function = NULL;
    function->instructions =
        ptx_pool_copy(reader->pool, reader->instructions, function->instruction_count,
                      sizeof *function->instructions);
}

/* The head up to what follows it. */
static bool read_head(ptx_reader *reader, ptx_function *head)
{
    head->results = head->is_kernel ? NULL : read_params(reader, &head->result_count);
    const ptx_name *name = ptx_need_name(reader, "the name of a function");
    if (name == NULL)
        return false;
    head->name = name->text;
    head->params = read_params(reader, &head->param_count);
    while (!reader->failed && !ptx_is_mark(reader, '{') && !ptx_is_mark(reader, ';'))
        read_tuning(reader, head);
    if (!reader->failed)
        place_results(reader, head);
    return !reader->failed;
}

void ptx_read_function(ptx_reader *reader, bool is_kernel)
{
    int line = reader->token.line;
    ptx_function head = {.is_kernel = is_kernel, .module = reader->module};
    reader->function = &head;
    reader->param_top = 0;
    ptx_open_scope(reader);
    if (!read_head(reader, &head))
        return;
    bool defines = ptx_is_mark(reader, '{');
    ptx_callable *callable =
        ptx_callable_of(reader, ptx_name_of(reader, head.name, strlen(head.name)));
    if (!check_again(reader, callable, &head, defines, line))
        return;
    ptx_advance(reader);
    if (!callable->is_defined) {
        callable->function = head;
        callable->line = line;
    }
    callable->is_declared = true;
    callable->is_defined = callable->is_defined || defines;
    if (defines)
        read_body(reader, &callable->function);
    if (reader->failed)
        return;
    ptx_close_scope(reader);
    if (defines)
        keep_instructions(reader, &callable->function);
    reader->function = NULL;
}
