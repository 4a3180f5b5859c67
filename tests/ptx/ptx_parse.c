/* SPDX-License-Identifier: Apache-2.0
 * A module: its directives, and where .shared variables lie when all of them are known. */
#include "ptx/ptx_parse.h"

#include <stdlib.h>

/* .section .debug_str { ... }: for debuggers. */
static void skip_section(ptx_reader *reader)
{
    while (reader->token.kind != PTX_TOKEN_END && !ptx_is_mark(reader, '{'))
        ptx_advance(reader);
    while (reader->token.kind != PTX_TOKEN_END && !ptx_is_mark(reader, '}'))
        ptx_advance(reader);
    ptx_need_mark(reader, '}');
}

static void read_address_size(ptx_reader *reader)
{
    uint64_t size;
    if (!ptx_need_count(reader, 64, &size))
        return;
    if (size != 64)
        ptx_fail(reader, reader->token.line, "expected .address_size 64, found %u", (unsigned)size);
}

static bool take_linkage(ptx_reader *reader, bool *is_extern)
{
    bool taken = false;
    *is_extern = false;
    for (;;) {
        if (ptx_take_word(reader, ".extern"))
            *is_extern = true;
        else if (!ptx_take_word(reader, ".visible") && !ptx_take_word(reader, ".weak") &&
                 !ptx_take_word(reader, ".common"))
            return taken;
        taken = true;
    }
}

/* Reads a definition that may have a linkage. */
static bool read_definition(ptx_reader *reader, bool is_extern)
{
    if (ptx_take_word(reader, ".entry"))
        ptx_read_function(reader, true);
    else if (ptx_take_word(reader, ".func"))
        ptx_read_function(reader, false);
    else if (ptx_take_word(reader, ".global"))
        ptx_read_variables(reader, PTX_GLOBAL, is_extern);
    else if (ptx_take_word(reader, ".const"))
        ptx_read_variables(reader, PTX_CONST, is_extern);
    else if (ptx_take_word(reader, ".shared"))
        ptx_read_variables(reader, PTX_SHARED, is_extern);
    else
        return false;
    return true;
}

static void read_directive(ptx_reader *reader)
{
    bool is_extern;
    bool has_linkage = take_linkage(reader, &is_extern);
    if (read_definition(reader, is_extern))
        return;
    if (has_linkage)
        ptx_expected(reader, ".entry, .func, .global, .const or .shared");
    else if (ptx_is_word(reader, ".version") || ptx_is_word(reader, ".target") ||
             ptx_is_word(reader, ".file") || ptx_is_word(reader, ".loc") ||
             ptx_is_word(reader, ".pragma"))
        ptx_skip_line(reader);
    else if (ptx_take_word(reader, ".address_size"))
        read_address_size(reader);
    else if (ptx_take_word(reader, ".section"))
        skip_section(reader);
    else
        ptx_expected(reader, "a directive of a module");
}

/* ---------------------------------------------------------------------------------------------
 * Shared memory
 * ------------------------------------------------------------------------------------------ */

/* Those of one owner, from top on; all bytes of them, and of an extern variable none. */
static uint64_t place_shared(ptx_reader *reader, const ptx_function *kernel, uint64_t top)
{
    for (uint32_t i = 0; i < reader->shared_count && !reader->failed; i++) {
        const ptx_shared *shared = &reader->shared[i];
        if (shared->kernel != kernel || shared->is_extern)
            continue;
        shared->variable->offset = ptx_place(&top, shared->variable->align, shared->variable->size);
        if (top > PTX_MAX_THREAD_SPACE)
            ptx_fail(reader, shared->variable->line,
                     "'%.60s': expected at most %llu bytes of .shared, found %llu",
                     shared->variable->name, (unsigned long long)PTX_MAX_THREAD_SPACE,
                     (unsigned long long)top);
    }
    return top;
}

/* Assigns the offset of extern variables: one for all kernels, after the variables of any of them.
 */
static void place_extern(ptx_reader *reader)
{
    uint64_t top = 0;
    uint32_t align = 0;
    for (uint32_t i = 0; i < reader->shared_count; i++)
        if (reader->shared[i].is_extern && reader->shared[i].variable->align > align)
            align = reader->shared[i].variable->align;
    if (align == 0)
        return;
    for (uint32_t i = 0; i < reader->module->function_count; i++)
        if (reader->module->functions[i]->shared_space > top)
            top = reader->module->functions[i]->shared_space;
    top = ptx_place(&top, align, 0);
    for (uint32_t i = 0; i < reader->shared_count; i++)
        if (reader->shared[i].is_extern)
            reader->shared[i].variable->offset = top;
    for (uint32_t i = 0; i < reader->module->function_count; i++)
        reader->module->functions[i]->shared_space = top;
}

static void place_all_shared(ptx_reader *reader)
{
    uint64_t common = place_shared(reader, NULL, 0);
    for (uint32_t i = 0; i < reader->module->function_count; i++) {
        ptx_function *function = reader->module->functions[i];
        function->shared_space =
            function->is_kernel ? place_shared(reader, function, common) : common;
    }
    place_extern(reader);
}

/* ---------------------------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------------------------ */

static void keep_functions(ptx_reader *reader)
{
    ptx_module *module = reader->module;
    module->functions =
        ptx_pool_array(reader->pool, reader->callable_count, sizeof *module->functions);
    for (uint32_t i = 0; i < reader->callable_count; i++)
        if (reader->callables[i]->is_defined)
            module->functions[module->function_count++] = &reader->callables[i]->function;
}

static void read_module(ptx_reader *reader)
{
    ptx_open_scope(reader);
    ptx_declare_specials(reader);
    ptx_advance(reader);
    while (reader->token.kind != PTX_TOKEN_END)
        read_directive(reader);
    if (reader->failed)
        return;
    ptx_check_calls(reader);
    keep_functions(reader);
    place_all_shared(reader);
}

ptx_module *ptx_parse(const char *text, ptx_error *error)
{
    ptx_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        abort();
    ptx_pool scratch = {0};
    ptx_reader reader = {.at = text, .line = 1, .error = error, .pool = pool, .scratch = &scratch};
    ptx_module *module = ptx_pool_array(pool, 1, sizeof *module);
    module->pool = pool;
    reader.module = module;
    read_module(&reader);
    ptx_pool_free(&scratch);
    if (!reader.failed)
        return module;
    ptx_parse_free(module);
    return NULL;
}

void ptx_parse_free(ptx_module *module)
{
    if (module == NULL)
        return;
    ptx_pool *pool = module->pool;
    ptx_pool_free(pool);
    free(pool);
}
