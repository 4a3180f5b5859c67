/* SPDX-License-Identifier: Apache-2.0
 * Calls to a fake of libcuda, counted by the names of functions: those of libcuda and
 * of the libraries on top of it. Work that streams do later is not counted. */
#ifndef TESTS_SUPPORT_DEVICE_CUDA_STEPS_H
#define TESTS_SUPPORT_DEVICE_CUDA_STEPS_H

#include <terrazzo/terrazzo.h>

#include "fakes/cuda/cuda_fake.h"

#define STEP_UPLOAD      "cuMemcpyHtoDAsync_v2"
#define STEP_DOWNLOAD    "cuMemcpyDtoHAsync_v2"
#define STEP_LAUNCH      "cuLaunchKernel"
#define STEP_SYNC        "cuStreamSynchronize"
#define STEP_FREE_MEMORY "cuMemGetInfo_v2"

/* Libraries of the device are looked for and tried, which is done once: before what is counted. */
void steps_try_libraries(const tz_device *device);

/* Forget what was kept, and keep steps from here on. */
void steps_keep(cuda_fake_control *control);

/* All calls; those of a function; those whose names have this part. */
size_t steps_asked(const cuda_fake_control *control);
size_t steps_of(const cuda_fake_control *control, const char *call);
size_t steps_with(const cuda_fake_control *control, const char *part);

/* Allocations of the device, of a pool or not; waits for all of a device, copies that wait. */
size_t steps_allocating(const cuda_fake_control *control);
size_t steps_blocking(const cuda_fake_control *control);

/* Returns the step of the n-th call of a function, from 0; SIZE_MAX: there are fewer. */
size_t steps_find(const cuda_fake_control *control, const char *call, size_t nth);
/* The same of allocations: the first, and the last. */
size_t steps_first_allocation(const cuda_fake_control *control);
size_t steps_last_allocation(const cuda_fake_control *control);

#endif
