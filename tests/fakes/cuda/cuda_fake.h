/* SPDX-License-Identifier: Apache-2.0
 * A stand-in for libcuda.so.1 that behaves worse than the real one, so that mistakes show:
 *
 *   - memory of a device is pages that the host can never touch; what the fake itself does to it,
 *     it does to a second mapping. Bases are random, aligned to 256 bytes, with guard pages around;
 *     fresh memory is filled with 0xA5, freed memory is gone, and its addresses are not used again
 *     soon. An access of a kernel or a copy that is not within one live piece of memory, to the
 *     byte, is an error. cuMemFree and cuMemFreeHost wait for nobody.
 *   - streams are lazy: what is put into one is kept, and done only when somebody waits (a sync of
 *     the stream or of an event, an allocation that must wait; a query lets one piece of work be
 *     done), and then only what that needs. With control.reversed all else that may go on is done
 *     first, of the youngest stream first. Host memory that a download will fill is filled with
 *     0xDD when it is queued. An upload reads pinned memory when it is done, other memory when it
 *     is queued.
 *   - memory of pools may be used only by work that is ordered after its allocation and before its
 *     cuMemFreeAsync: by the stream, by events, or by a wait of the host.
 *   - arguments are checked as the real one does, with its codes, and control.refusal says what was
 *     wrong; contexts must be current, handles of their context and alive. Handles are not
 * pointers, and none is given twice. In a child of fork nothing works.
 *   - kernels are the PTX of the module, executed by ptx/ptx.h. What it finds wrong is the error
 *     700 (sticky: all later calls of the context fail, but releases still release), and
 *     control.fault says what and where. PTX of a later version or for a later device than control
 *     has is refused as the real one does, and so is a fatbin.
 *   - the old functions without suffix are there, as traps that abort.
 *
 * cuda_fake_old is the same library without the functions of pools, cuda_fake_broken one
 * without cuLaunchKernel: dlsym does not find them. Their files are CUDA_FAKE, CUDA_FAKE_OLD
 * and CUDA_FAKE_BROKEN. cuda/cuda_api.h has types and prototypes.
 *
 * Load it with dlopen and get its control with cuda_fake(). TERRAZZO_TEST_CUDA_VERSION in the
 * environment is the version of the driver until control is reset. */
#ifndef TESTS_FAKES_CUDA_CUDA_FAKE_H
#define TESTS_FAKES_CUDA_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call, in the order of calls. Work that a stream does later is there again, when it is done:
 * call is then the same with a '+' in front. */
typedef struct cuda_fake_step {
    uint64_t sequence; /* from 0 */
    uint64_t thread;   /* distinguishes threads */
    const char *call;  /* "cuMemcpyHtoDAsync_v2"; lives as long as the library */
    uint64_t bytes;    /* of memory, or copied */
    uint64_t stream;   /* 0: none */
} cuda_fake_step;

typedef struct cuda_fake_control {
    /* what there is; set before cuInit */
    int32_t init_code;    /* what cuInit answers; 100: no device, 34: the toolkit's stub */
    uint32_t devices;     /* each with twice the memory of the last one */
    int32_t version;      /* of the driver: 13000; 12040 is an R550, which knows PTX up to 8.4 */
    int32_t major, minor; /* compute capability */
    uint64_t memory;      /* of the first device */
    bool no_pools;        /* a device, or a driver, without stream-ordered memory */
    int32_t load_code;    /* what cuModuleLoadDataEx answers instead of success, as 222 */
    int32_t fatbin_code;  /* what it answers to a fatbin, which it cannot execute */
    bool reversed;        /* who waits, waits for all else first that may go on */

    /* what fails: the n-th call (from 1; 0: none) of this function, NULL: of any but releases, and
     * pushes of contexts, which releases need; and as many such calls after it */
    const char *fail_function;
    uint64_t fail_nth, fail_more;
    int32_t fail_code; /* 700, 702, 710, 714 to 719 are sticky */

    /* what happened */
    uint64_t calls;      /* of functions that may fail, since reset */
    int64_t live;        /* contexts retained, streams, events, memory, modules */
    uint64_t bytes;      /* of device memory that live */
    uint64_t peak_bytes; /* the most that there were */
    char fault[400];     /* what the first error of executed work was; empty: none */
    char refusal[200];   /* the last call that was not done, and why */
    const cuda_fake_step *steps;
    size_t step_count;
    bool keep_steps;
} cuda_fake_control;

#define CUDA_FAKE_DEFAULTS                                                                         \
    .devices = 1, .version = 13000, .major = 7, .minor = 5, .memory = (uint64_t)4 << 30,           \
    .fatbin_code = 200

/* Exported by the fake. */
typedef cuda_fake_control *(*cuda_fake_function)(void);

/* Returns the host address of device memory, for other fakes and for tests that look at it; NULL:
 * it is not within one live allocation. Exported as "cuda_fake_reach". */
typedef void *(*cuda_fake_reach_function)(uint64_t address, uint64_t size);

/* The tests' side (cuda_fake_load.c; the library terrazzo_cuda_fake): load it, once; its
 * control with the defaults. Aborts when it cannot be loaded. */
cuda_fake_control *cuda_fake_load(void);
/* Back to the defaults, steps forgotten, work that waits dropped, all contexts fresh; what lives
 * still counts. With TERRAZZO_TEST_REVERSED in the environment, the default is reversed. */
void cuda_fake_reset(cuda_fake_control *control);
/* cuda_fake_reach of the fake that is loaded. */
void *cuda_fake_bytes(uint64_t address, uint64_t size);

#endif
