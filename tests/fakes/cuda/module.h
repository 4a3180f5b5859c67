/* SPDX-License-Identifier: Apache-2.0
 * Modules and functions, as launches need them. */
#ifndef TESTS_FAKES_CUDA_MODULE_H
#define TESTS_FAKES_CUDA_MODULE_H

#include "fakes/cuda/state.h"
#include "ptx/ptx_program.h"

enum { SHARED = 49152, SHARED_OPT_IN = 65536, MAX_THREADS = 1024, REGISTERS = 64 };

typedef struct module {
    thing self;
    ptx_module *parsed;
} module;

typedef struct function {
    thing self;
    module *module;
    const ptx_function *kernel;
    unsigned max_dynamic_shared;
} function;

/* Threads of a block that it may have. */
unsigned function_max_threads(const ptx_function *kernel);

#endif
