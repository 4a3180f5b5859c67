/* SPDX-License-Identifier: Apache-2.0
 * All functions of the fake of libcuda, for tests that are callers of CUDA themselves. */
#ifndef TESTS_FAKES_CUDA_CUDA_CALLS_H
#define TESTS_FAKES_CUDA_CUDA_CALLS_H

#include "fakes/cuda/cuda_api.h"
#include "fakes/cuda/cuda_fake.h"

#define CUDA_CALLS_MEMBER(name, suffix, version, arguments) CUresult(*name) arguments;
typedef struct cuda_calls {
    CUDA_FUNCTIONS(CUDA_CALLS_MEMBER)
    CUDA_LAUNCH_FUNCTIONS(CUDA_CALLS_MEMBER)
    CUDA_POOL_FUNCTIONS(CUDA_CALLS_MEMBER)
} cuda_calls;
#undef CUDA_CALLS_MEMBER

/* By their names without suffix; what is called are those with it. */
extern cuda_calls cu;

/* Load the fake, and fill in cu; its control, with the defaults. */
cuda_fake_control *cuda_calls_load(void);

#endif
