/* SPDX-License-Identifier: Apache-2.0
 * A stand-in for libcuda.so.1 that behaves worse than the real one, so that mistakes show:
 *
 *   - memory of a device is pages that the host can never touch; what the double itself does to it,
 *     it does to a second mapping. Bases are random, aligned to 256 bytes, with guard pages around;
 *     fresh memory is filled with 0xA5, freed memory is gone. An access of a kernel or a copy that
 *     is not within one live piece of memory, to the byte, is an error.
 *   - streams are lazy: what is put into one is kept, and done only when somebody waits (a sync of
 *     the stream, of an event, a query, an allocation that must wait), in an order that events
 *     allow; control.reversed chooses the other one. Host memory that a download will fill is
 *     filled with 0xDD when it is queued.
 *   - arguments are checked as the real one does, with its codes; contexts must be current, handles
 *     of their context and alive.
 *   - kernels are the PTX of the module, executed by ptx/ptx.h. What it finds wrong is the error
 * 700 (sticky: all later calls of the context fail), and control.fault says what and where.
 *   - the old functions without suffix are there, as traps that abort.
 *
 * Load it with dlopen and get its control with cuda_double(). */
#ifndef TESTS_DOUBLE_CUDA_DOUBLE_H
#define TESTS_DOUBLE_CUDA_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call, in the order of calls. Work that a stream does later is there once more, when it is done:
 * call is then the same with a '+' in front. */
typedef struct cuda_double_step {
    uint64_t sequence; /* from 0 */
    uint64_t thread;   /* tells threads apart */
    const char *call;  /* "cuMemcpyHtoDAsync_v2"; lives as long as the library */
    uint64_t bytes;    /* of memory, or copied */
    uint64_t stream;   /* 0: none */
} cuda_double_step;

typedef struct cuda_double_control {
    /* what there is; set before cuInit */
    int32_t init_code;     /* what cuInit answers; 100: no device, 34: the toolkit's stub */
    uint32_t devices;      /* each with twice the memory of the last one */
    int32_t version;       /* of the driver: 13000 */
    int32_t major, minor;  /* compute capability */
    uint64_t memory;       /* of the first device */
    bool no_pools;         /* a device, or a driver, without stream-ordered memory */
    const char *no_symbol; /* dlsym of this one finds nothing: see cuda_double_old.c; NULL: none */
    int32_t load_code;     /* what cuModuleLoadDataEx answers instead of success, as 222 */
    bool reversed;         /* of streams that may go on, the last one goes first */

    /* what fails: the n-th call (from 1; 0: none) of this function, NULL: of any but releases */
    const char *fail_function;
    uint64_t fail_nth;
    int32_t fail_code; /* 700 and 7xx others are sticky */

    /* what happened */
    uint64_t calls;  /* of functions that may fail, since reset */
    int64_t live;    /* contexts retained, streams, events, memory, modules */
    uint64_t bytes;  /* of device memory that live */
    char fault[400]; /* what the first error of executed work was; empty: none */
    const cuda_double_step *steps;
    size_t step_count;
    bool keep_steps;
} cuda_double_control;

#define CUDA_DOUBLE_DEFAULTS                                                                       \
    .devices = 1, .version = 13000, .major = 7, .minor = 5, .memory = (uint64_t)4 << 30

/* Exported by the double. */
typedef cuda_double_control *(*cuda_double_function)(void);

/* Where the bytes of a piece of device memory are, for other doubles and for tests that look at
 * it; NULL: they are not all within one live piece. Exported as "cuda_double_reach". */
typedef void *(*cuda_double_reach_function)(uint64_t address, uint64_t size);

/* The tests' side: load it, once; its control with the defaults. Aborts when it cannot be loaded.
 */
cuda_double_control *cuda_double_load(void);
/* Back to the defaults, steps forgotten, all contexts fresh; what lives still counts. */
void cuda_double_reset(cuda_double_control *control);

#endif
