/* SPDX-License-Identifier: Apache-2.0
 * Until the interpreter is there: modules are parsed, kernels do nothing. */
#include <string.h>

#include "double/ptx/ptx_program.h"

ptx_module *ptx_load(const char *text, ptx_error *error)
{
    return ptx_parse(text, error);
}

void ptx_unload(ptx_module *module)
{
    ptx_parse_free(module);
}

const ptx_function *ptx_find_kernel(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (module->functions[i]->is_kernel && strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    }
    return NULL;
}

bool ptx_run(const ptx_launch *launch, ptx_error *error)
{
    (void)launch;
    (void)error;
    return true;
}
