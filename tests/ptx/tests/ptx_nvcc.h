/* SPDX-License-Identifier: Apache-2.0
 * Kernels of tests/ptx/kernels, as nvcc compiled them, run on the CPU. */
#ifndef TESTS_PTX_TESTS_PTX_NVCC_H
#define TESTS_PTX_TESTS_PTX_NVCC_H

#include "support/check.h"

#define KERNEL_BUFFERS 4

typedef struct kernel_run {
    const char *file, *kernel;  /* "bits", "words" */
    uint32_t grid[3], block[3]; /* 0: 1 */
    uint32_t dynamic_shared;
    const void *params; /* a struct as the kernel has it; NULL: its buffers in order */
    struct {
        void *bytes;
        size_t size;
    } buffers[KERNEL_BUFFERS];
} kernel_run;

/* The address of a buffer for the kernel. */
#define KERNEL_BUFFER(n) ((uint64_t)((n) + 1) << 36)

/* It runs to its end. */
void kernel_check_runs(const kernel_run *run);

/* Numbers for operands: extreme ones first, then such as a generator makes, of all sizes. */
uint64_t kernel_operand(uint32_t number, uint32_t seed);

#endif
