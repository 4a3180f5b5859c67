/* SPDX-License-Identifier: Apache-2.0
 * The kernels in the forms that drivers load, one program for each family of kernel_list.h. The
 * build makes both forms from the same files (cmake/TerrazzoKernels.cmake). */
#ifndef TZ_DEVICE_KERNEL_PROGRAMS_H
#define TZ_DEVICE_KERNEL_PROGRAMS_H

#include <stddef.h>

#include "device/kernel_list.h"

/* ---- text, for drivers that compile on the machine where they run ---- */

typedef struct tz_kernel_text {
    const char **lines; /* clCreateProgramWithSource takes no pointer to const */
    size_t count;
} tz_kernel_text;

#define TZ_FAMILY_TEXT(family, text) extern const tz_kernel_text tz_kernel_text_##text;
TZ_FAMILY_LIST(TZ_FAMILY_TEXT)
#undef TZ_FAMILY_TEXT

/* ---- images, as nvcc compiles them for CUDA (cmake/TerrazzoCuda.cmake) ---- */

typedef struct tz_kernel_image {
    const unsigned char *bytes; /* aligned to 8 */
    size_t size;                /* bytes, with the 0 that ends PTX; 0: no image */
} tz_kernel_image;

/* tz_kernel_image_convert is PTX as text, which the driver compiles. tz_kernel_code_convert is a
 * fatbin with code for the architectures that the build was asked for. It is tried first, since it
 * need not be compiled, but drivers older than nvcc and later GPUs refuse it. Without nvcc all
 * images are empty. */
#define TZ_FAMILY_IMAGE(family, text)                                                              \
    extern const tz_kernel_image tz_kernel_image_##text;                                           \
    extern const tz_kernel_image tz_kernel_code_##text;
TZ_FAMILY_LIST(TZ_FAMILY_IMAGE)
#undef TZ_FAMILY_IMAGE

/* Describes the images: "compute_75", or "sm_75 sm_80 ... compute_75". Without images it is the
 * reason, such as "nvcc was not found when this was built". */
extern const char tz_kernel_image_about[];

/* The oldest version of CUDA whose drivers know the PTX, as cuDriverGetVersion returns it (10000);
 * 0: there are no images. */
extern const int tz_kernel_image_cuda;

#endif
