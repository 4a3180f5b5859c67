/* SPDX-License-Identifier: Apache-2.0
 * PTX, executed on the CPU: a module is parsed from the text that nvcc made, and its kernels are
 * run block by block and thread by thread. Slow, and strict: an instruction that is not known is an
 * error that names it; an access outside of memory, misaligned or of shared memory that nobody
 * wrote, a barrier that not all threads reach and a data race on shared memory between two barriers
 * are errors that name kernel, line of the text and thread. */
#ifndef TESTS_PTX_PTX_H
#define TESTS_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;     /* see ptx_program.h */
typedef struct ptx_function ptx_function; /* the same */

/* An error message of one line. */
typedef struct ptx_error {
    char text[400];
} ptx_error;

/* NULL: the error says line and what. The text is copied. */
ptx_module *ptx_load(const char *text, ptx_error *error);
void ptx_unload(ptx_module *module); /* NULL is fine */
const ptx_function *ptx_find_kernel(const ptx_module *module, const char *name);

/* Global memory, as the one who runs kernels has it. */
typedef struct ptx_memory {
    void *state;
    /* The live piece of memory that address is in: its first address, its size, and where its bytes
     * are on the host. false: it is in none. What it answers stays true while a kernel runs. */
    bool (*find)(void *state, uint64_t address, uint64_t *first, uint64_t *size, void **bytes);
} ptx_memory;

typedef struct ptx_launch {
    const ptx_function *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared; /* bytes */
    const void *params;      /* laid out as the kernel's parameters: see ptx_function.params */
    const ptx_memory *memory;
    uint64_t most_instructions; /* of a thread; 0: PTX_MOST_INSTRUCTIONS */
} ptx_launch;

/* A thread that has not ended after so many is in an endless loop. */
#define PTX_MOST_INSTRUCTIONS (UINT64_C(1) << 32)

/* Run all blocks. false: the error says kernel, line, block, thread and what. */
bool ptx_run(const ptx_launch *launch, ptx_error *error);

/* Counters of the last ptx_run of this thread, for tests of cost. */
uint64_t ptx_instructions_run(void);

#endif
