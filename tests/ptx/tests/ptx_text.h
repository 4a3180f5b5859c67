/* SPDX-License-Identifier: Apache-2.0
 * Parsed PTX, for tests that look into it. */
#ifndef TESTS_PTX_TESTS_PTX_TEXT_H
#define TESTS_PTX_TESTS_PTX_TEXT_H

#include "support/check.h"

#include <string.h>

#include "ptx/ptx_program.h"

#define PTX_HEAD       ".version 9.0\n.target sm_75\n.address_size 64\n"
#define PTX_KERNEL(in) PTX_HEAD ".visible .entry k()\n{\n" in "ret;\n}\n"

static inline ptx_module *parsed(const char *text)
{
    ptx_error error = {""};
    ptx_module *module = ptx_parse(text, &error);
    if (module == NULL)
        fail_msg("%s", error.text);
    return module;
}

static inline const ptx_function *function_of(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    fail_msg("there is no function '%s'", name);
    return NULL;
}

static inline const ptx_variable *variable_of(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    fail_msg("there is no variable '%s'", name);
    return NULL;
}

#endif
