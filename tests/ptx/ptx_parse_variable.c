/* SPDX-License-Identifier: Apache-2.0
 * Declarations of registers and variables, and where variables lie. */
#include "ptx/ptx_parse.h"

#include <string.h>

/* The declaration before the name: .align 8 .v2 .f32, and .ptr .global .align 4 of a parameter. */
typedef struct head {
    ptx_type type;
    uint32_t vector; /* elements of the type */
    uint64_t align;  /* 0: not said */
} head;

typedef struct extent {
    uint64_t dimensions[PTX_MAX_DIMENSIONS];
    uint32_t dimension_count;
    bool is_open; /* [] */
} extent;

uint64_t ptx_place(uint64_t *top, uint32_t align, uint64_t size)
{
    uint64_t offset = (*top + align - 1) / align * align;
    *top = offset + size;
    return offset;
}

static bool read_align(ptx_reader *reader, uint64_t *align)
{
    int line = reader->token.line;
    if (!ptx_need_count(reader, 1024, align))
        return false;
    if (*align == 0 || (*align & (*align - 1)) != 0)
        return ptx_fail(reader, line, "expected a power of two after .align, found %u",
                        (unsigned)*align);
    return true;
}

static bool read_type(ptx_reader *reader, head *declared)
{
    if (reader->token.kind == PTX_TOKEN_WORD)
        declared->type = ptx_type_of(reader->token.text + 1, reader->token.size - 1);
    if (declared->type == PTX_NO_TYPE)
        return ptx_expected(reader, "a type");
    ptx_advance(reader);
    return true;
}

static bool read_declared(ptx_reader *reader, head *declared)
{
    *declared = (head){.vector = 1};
    if (ptx_take_word(reader, ".align") && !read_align(reader, &declared->align))
        return false;
    if (ptx_take_word(reader, ".v2"))
        declared->vector = 2;
    else if (ptx_take_word(reader, ".v4"))
        declared->vector = 4;
    return read_type(reader, declared);
}

/* ---------------------------------------------------------------------------------------------
 * Registers
 * ------------------------------------------------------------------------------------------ */

static bool add_registers(ptx_reader *reader, ptx_type type, uint64_t count, uint32_t *first)
{
    ptx_function *function = reader->function;
    if (function->register_count + count > PTX_MAX_REGISTERS)
        return ptx_fail(reader, reader->token.line,
                        "expected at most %llu registers in a function, found %llu",
                        (unsigned long long)PTX_MAX_REGISTERS,
                        (unsigned long long)(function->register_count + count));
    *first = function->register_count;
    for (uint64_t i = 0; i < count; i++) {
        function->register_types =
            ptx_pool_grow(reader->scratch, function->register_types, function->register_count,
                          &reader->register_capacity, sizeof *function->register_types);
        function->register_types[function->register_count++] = type;
    }
    return true;
}

/* v.x, v.y and so on of a vector that is declared. */
static bool declare_elements(ptx_reader *reader, const ptx_name *vector, const ptx_symbol *symbol)
{
    for (uint32_t i = 0; i < symbol->count; i++) {
        char *text = ptx_pool_array(reader->scratch, vector->size + 2, 1);
        for (size_t j = 0; j < vector->size; j++)
            text[j] = vector->text[j];
        text[vector->size] = '.';
        text[vector->size + 1] = "xyzw"[i];
        ptx_symbol element = {
            .kind = PTX_SYMBOL_REGISTER, .line = symbol->line, .first = symbol->first + i};
        if (!ptx_declare(reader, ptx_name_of(reader, text, vector->size + 2), &element))
            return false;
    }
    return true;
}

static bool read_register(ptx_reader *reader, const head *declared)
{
    ptx_symbol symbol = {
        .kind = PTX_SYMBOL_REGISTER, .line = reader->token.line, .count = declared->vector};
    ptx_name *name = ptx_need_name(reader, "the name of a register");
    uint64_t count = declared->vector;
    if (name == NULL)
        return false;
    if (count > 1) {
        symbol.kind = PTX_SYMBOL_VECTOR;
    } else if (ptx_take_mark(reader, '<')) {
        symbol.kind = PTX_SYMBOL_RANGE;
        if (!ptx_need_count(reader, PTX_MAX_REGISTERS, &count) || !ptx_need_mark(reader, '>'))
            return false;
        symbol.count = (uint32_t)count;
    }
    return add_registers(reader, declared->type, count, &symbol.first) &&
           ptx_declare(reader, name, &symbol) &&
           (symbol.kind != PTX_SYMBOL_VECTOR || declare_elements(reader, name, &symbol));
}

void ptx_read_registers(ptx_reader *reader)
{
    head declared;
    if (!read_declared(reader, &declared))
        return;
    do {
        if (!read_register(reader, &declared))
            return;
    } while (ptx_take_mark(reader, ','));
    ptx_need_mark(reader, ';');
}

/* ---------------------------------------------------------------------------------------------
 * Variables
 * ------------------------------------------------------------------------------------------ */

static uint64_t most_bytes(ptx_space space)
{
    return space == PTX_GLOBAL || space == PTX_CONST ? PTX_MAX_MODULE_SPACE : PTX_MAX_THREAD_SPACE;
}

static bool read_dimension(ptx_reader *reader, extent *sides)
{
    if (sides->dimension_count == 0 && ptx_take_mark(reader, ']')) {
        sides->is_open = true;
        return true;
    }
    if (sides->dimension_count == PTX_MAX_DIMENSIONS || sides->is_open)
        return ptx_expected(reader, "no further dimension");
    int line = reader->token.line;
    uint64_t *size = &sides->dimensions[sides->dimension_count++];
    if (!ptx_need_count(reader, PTX_MAX_MODULE_SPACE, size))
        return false;
    if (*size == 0)
        return ptx_fail(reader, line, "expected a size of at least 1, found 0");
    return ptx_need_mark(reader, ']');
}

/* The name with its dimensions: a variable that lies nowhere yet. */
static ptx_variable *read_named(ptx_reader *reader, const head *declared, ptx_space space,
                                extent *sides)
{
    *sides = (extent){0};
    int line = reader->token.line;
    const ptx_name *name = ptx_need_name(reader, "the name of a variable");
    uint32_t element = ptx_type_size(declared->type) * declared->vector;
    uint64_t size = element;
    while (!reader->failed && ptx_take_mark(reader, '['))
        read_dimension(reader, sides);
    for (uint32_t i = 0; i < sides->dimension_count; i++) {
        size *= sides->dimensions[i];
        if (size > most_bytes(space))
            ptx_fail(reader, line, "expected at most %llu bytes of '%.60s', found more",
                     (unsigned long long)most_bytes(space), name->text);
        if (reader->failed)
            return NULL;
    }
    if (reader->failed)
        return NULL;
    if (declared->vector > 1 && sides->dimension_count < PTX_MAX_DIMENSIONS)
        sides->dimensions[sides->dimension_count++] = declared->vector;
    ptx_variable *variable = ptx_pool_array(reader->pool, 1, sizeof *variable);
    *variable = (ptx_variable){.name = name->text,
                               .space = space,
                               .type = declared->type,
                               .align = declared->align != 0 ? (uint32_t)declared->align : element,
                               .size = sides->is_open ? 0 : size,
                               .line = line};
    return variable;
}

static bool place(ptx_reader *reader, ptx_variable *variable, uint64_t *top)
{
    variable->offset = ptx_place(top, variable->align, variable->size);
    return *top <= most_bytes(variable->space) ||
           ptx_fail(reader, variable->line,
                    "'%.60s': expected at most %llu bytes in all, found %llu", variable->name,
                    (unsigned long long)most_bytes(variable->space), (unsigned long long)*top);
}

static bool place_param(ptx_reader *reader, ptx_variable *variable)
{
    if (!place(reader, variable, &reader->param_top))
        return false;
    if (reader->param_top > reader->function->param_space)
        reader->function->param_space = reader->param_top;
    return true;
}

static bool keep_shared(ptx_reader *reader, ptx_variable *variable, bool is_extern)
{
    const ptx_function *function = reader->function;
    reader->shared = ptx_pool_grow(reader->scratch, reader->shared, reader->shared_count,
                                   &reader->shared_capacity, sizeof *reader->shared);
    reader->shared[reader->shared_count++] =
        (ptx_shared){.variable = variable,
                     .kernel = function != NULL && function->is_kernel ? function : NULL,
                     .is_extern = is_extern};
    return true;
}

static bool place_variable(ptx_reader *reader, ptx_variable *variable, bool is_extern)
{
    switch (variable->space) {
    case PTX_GLOBAL:
        return place(reader, variable, &reader->module->global_space);
    case PTX_CONST:
        return place(reader, variable, &reader->module->const_space);
    case PTX_LOCAL:
        return place(reader, variable, &reader->function->local_space);
    case PTX_PARAM:
        return place_param(reader, variable);
    default:
        return keep_shared(reader, variable, is_extern);
    }
}

static void keep_of_module(ptx_reader *reader, ptx_variable *variable)
{
    ptx_module *module = reader->module;
    module->variables = ptx_pool_grow(reader->pool, module->variables, module->variable_count,
                                      &reader->variable_capacity, sizeof *module->variables);
    module->variables[module->variable_count++] = variable;
}

static bool declare_variable(ptx_reader *reader, ptx_variable *variable)
{
    ptx_symbol symbol = {.kind = PTX_SYMBOL_VARIABLE, .line = variable->line, .variable = variable};
    ptx_name *name = ptx_name_of(reader, variable->name, strlen(variable->name));
    return ptx_declare(reader, name, &symbol);
}

/* A launch sizes what is extern; all else has a size. */
static bool check_size(ptx_reader *reader, const ptx_variable *variable, const extent *sides,
                       bool is_extern)
{
    if (is_extern && variable->space != PTX_SHARED)
        return ptx_fail(reader, variable->line,
                        "'%.60s': expected .extern of .shared alone, found another space",
                        variable->name);
    if (sides->is_open != is_extern)
        return ptx_fail(reader, variable->line, "'%.60s': expected %s", variable->name,
                        is_extern ? "[], found a size" : "a size, found []");
    return true;
}

static bool read_variable(ptx_reader *reader, const head *declared, ptx_space space, bool is_extern)
{
    extent sides;
    ptx_variable *variable = read_named(reader, declared, space, &sides);
    if (variable == NULL || !check_size(reader, variable, &sides, is_extern))
        return false;
    if (ptx_is_mark(reader, '=')) {
        if (space != PTX_GLOBAL && space != PTX_CONST)
            return ptx_expected(reader, "';': only .global and .const have initial values");
        ptx_advance(reader);
        ptx_read_initial(reader, variable, sides.dimensions, sides.dimension_count);
    }
    if (reader->failed || !declare_variable(reader, variable) ||
        !place_variable(reader, variable, is_extern))
        return false;
    if (reader->function == NULL)
        keep_of_module(reader, variable);
    return true;
}

void ptx_read_variables(ptx_reader *reader, ptx_space space, bool is_extern)
{
    head declared;
    if (!read_declared(reader, &declared))
        return;
    do {
        if (!read_variable(reader, &declared, space, is_extern))
            return;
    } while (ptx_take_mark(reader, ','));
    ptx_need_mark(reader, ';');
}

/* .ptr .global .align 4: what a parameter points to, which is nothing to us. */
static bool skip_pointed(ptx_reader *reader)
{
    uint64_t align;
    if (!ptx_take_word(reader, ".ptr"))
        return true;
    if (!ptx_take_word(reader, ".global") && !ptx_take_word(reader, ".const") &&
        !ptx_take_word(reader, ".local"))
        ptx_take_word(reader, ".shared");
    return !ptx_take_word(reader, ".align") || read_align(reader, &align);
}

ptx_variable *ptx_read_param(ptx_reader *reader)
{
    head declared;
    extent sides;
    if (!read_declared(reader, &declared) || !skip_pointed(reader))
        return NULL;
    ptx_variable *variable = read_named(reader, &declared, PTX_PARAM, &sides);
    if (variable == NULL || !check_size(reader, variable, &sides, false))
        return NULL;
    bool is_nameless = strcmp(variable->name, "_") == 0;
    if ((!is_nameless && !declare_variable(reader, variable)) || !place_param(reader, variable))
        return NULL;
    return variable;
}
