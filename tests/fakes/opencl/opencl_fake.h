/* SPDX-License-Identifier: Apache-2.0
 * A stand-in for libOpenCL.so.1 whose devices exist on paper: buffers are host memory, copies
 * happen at once, kernels do nothing. It counts what lives and fails on demand. Load it with
 * dlopen and get its control with opencl_fake(). */
#ifndef TESTS_FAKES_OPENCL_OPENCL_FAKE_H
#define TESTS_FAKES_OPENCL_OPENCL_FAKE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct opencl_fake_control {
    /* what there is; set before devices are looked for */
    uint32_t platforms;  /* 0: clGetPlatformIDs says that there is none */
    uint32_t gpus, cpus; /* of each platform, GPUs first */
    const char *version;
    uint64_t memory; /* of the first device; each further one has twice that of the last */
    uint64_t max_allocation;
    uint32_t max_group;
    bool unavailable, no_compiler, big_endian;
    uint32_t memory_type; /* that buffers say they are; CL_MEM_OBJECT_BUFFER */

    /* what fails: the n-th call (from 1; 0: none) of this function, NULL: of any but releases; and
     * with lost every call after it */
    const char *fail_function;
    uint64_t fail_nth;
    int32_t fail_code;
    bool lost;

    /* what happened */
    uint64_t calls;       /* of functions that may fail, since reset */
    int64_t live;         /* contexts, queues, buffers, programs, kernels, events */
    int32_t event_status; /* the answer of clGetEventInfo */
    char options[200];    /* of the last clBuildProgram */
} opencl_fake_control;

/* One platform of one GPU and one CPU, and no faults: what it is when nobody controls it. */
#define OPENCL_FAKE_DEFAULTS                                                                       \
    .platforms = 1, .gpus = 1, .cpus = 1, .version = "OpenCL 1.2 Fake", .memory = 1 << 20,         \
    .max_allocation = 1 << 18, .max_group = 256, .memory_type = 0x10f0

typedef opencl_fake_control *(*opencl_fake_function)(void);

/* Loads it, as tests do: its control, with the defaults. */
opencl_fake_control *opencl_fake_load(void);
void opencl_fake_reset(opencl_fake_control *control);

#endif
