/* SPDX-License-Identifier: Apache-2.0
 * The tables of kernel_list.h, and empty images for a build without nvcc. */
#include "device/kernel_programs.h"

const char *const tz_kernel_names[TZ_KERNEL_COUNT] = {
#define NAME(number, family, function, kinds) #function,
    TZ_KERNEL_LIST(NAME)
#undef NAME
};

const uint32_t tz_kernel_families[TZ_KERNEL_COUNT] = {
#define FAMILY(number, family, function, kinds) TZ_FAMILY_##family,
    TZ_KERNEL_LIST(FAMILY)
#undef FAMILY
};

const char tz_kernel_image_about[] = TZ_KERNEL_IMAGE_ABOUT;
const int tz_kernel_image_cuda = TZ_KERNEL_IMAGE_CUDA;

#ifndef TZ_HAVE_CUDA /* cmake/EmbedImage.cmake makes the images otherwise */
#define TZ_FAMILY_IMAGE(family, text)                                                              \
    const tz_kernel_image tz_kernel_image_##text = {NULL, 0};                                      \
    const tz_kernel_image tz_kernel_code_##text = {NULL, 0};
TZ_FAMILY_LIST(TZ_FAMILY_IMAGE)
#undef TZ_FAMILY_IMAGE
#endif
