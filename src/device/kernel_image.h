/* SPDX-License-Identifier: Apache-2.0
 * The kernels as nvcc made them, for CUDA, for each family of kernel_list.h: PTX, which the driver
 * compiles, and code for the architectures that the build was asked for. Made by the build: see
 * cmake/TerrazzoCuda.cmake. Without nvcc every image is empty. */
#ifndef TZ_DEVICE_KERNEL_IMAGE_H
#define TZ_DEVICE_KERNEL_IMAGE_H

#include <stddef.h>

#include "device/kernel_list.h"

typedef struct tz_kernel_image {
    const unsigned char *bytes; /* aligned to 8 */
    size_t size;                /* bytes, with the 0 that ends PTX; 0: there is none */
} tz_kernel_image;

/* tz_kernel_image_convert is PTX as text; tz_kernel_code_convert a fatbin without PTX, to be tried
 * first: it need not be compiled, but drivers older than nvcc, and later GPUs, refuse it. */
#define TZ_FAMILY_IMAGE(family, text)                                                              \
    extern const tz_kernel_image tz_kernel_image_##text;                                           \
    extern const tz_kernel_image tz_kernel_code_##text;
TZ_FAMILY_LIST(TZ_FAMILY_IMAGE)
#undef TZ_FAMILY_IMAGE

/* What they are: "compute_75", or "sm_75 sm_80 ... compute_75"; of none: why there are none, such
 * as "nvcc was not found when this was built". */
extern const char tz_kernel_image_about[];

/* The least version of CUDA whose drivers know the PTX, as cuDriverGetVersion says it (10000); 0
 * where there are no images. */
extern const int tz_kernel_image_cuda;

#endif
