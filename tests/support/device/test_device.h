/* SPDX-License-Identifier: Apache-2.0
 * The device that tests run on: one source of tests for all drivers. The environment says which:
 * TERRAZZO_TEST_DEVICE is "opencl", the default: PoCL, a real OpenCL on the CPU; "cuda": the
 * fake of libcuda, which executes the PTX that nvcc made; or "gpu": the driver itself,
 * libcuda.so.1 or what TERRAZZO_GPU_LIBRARY names, for make test-gpu. TERRAZZO_TEST_NVCOMP,
 * _CUFILE, _NVJPEG2K and _NVJPEG are the paths of NVIDIA's libraries, or of fakes of them, for
 * the last two; without, they are not used. Tests fail where the device is not there. */
#ifndef TESTS_SUPPORT_DEVICE_TEST_DEVICE_H
#define TESTS_SUPPORT_DEVICE_TEST_DEVICE_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* Returns true for a CUDA device, by the fake of libcuda or by the driver itself. */
bool test_device_is_cuda(void);
const char *test_device_cuda_library(void); /* which of them: a path, or a name */

/* Returns true if nvCOMP or a fake of it exists. It decodes Deflate, Zstandard
 * and LZ4, where the device is not a CPU. */
bool test_device_has_nvcomp(void);
const char *test_device_nvcomp(void);
bool test_device_nvcomp_decodes(uint16_t compression);

/* A type that chooses the form of kernels: CUDA has those of GPUs alone. */
tz_device_type test_device_form(tz_device_type type);

/* PTX is interpreted, some thousand times slower than a GPU does it, and there tests do less,
 * unless TERRAZZO_LONG is set; and on a GPU where TERRAZZO_GPU_SAMPLE is. */
bool test_device_is_slow(void);
/* Returns how many of count random cases to try. */
unsigned test_device_sample(unsigned count);

/* NVIDIA's libraries of the environment, where options name none. */
void test_device_choose_libraries(tz_device_options *how);

/* Open it; ends the test when there is none. What PoCL compiles is kept in the build tree. */
tz_device *test_device_open(const tz_device_options *options);
/* Before it is opened first: it is to have little memory, 1 GB or less. False: a GPU has what it
 * has. */
bool test_device_shrink(void);

/* Returns the misuse of the fakes of NVIDIA's libraries in the environment; or NULL. */
const char *test_device_misuse(void);

/* Say what went wrong in the device, if anything did: of what only a fake knows. */
void test_device_tell(void);

/* Setup and teardown of a group of tests: the device that they all use. Closing fails where
 * something was not released. */
extern tz_device *test_device;
int test_device_begin(void **state);
/* The same, for tests that count what each read or write asks of the driver. */
int test_device_begin_keeping_nothing(void **state);
int test_device_end(void **state);

#endif
