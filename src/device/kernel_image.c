/* SPDX-License-Identifier: Apache-2.0 */
#include "device/kernel_image.h"

const char tz_kernel_image_about[] = TZ_KERNEL_IMAGE_ABOUT;
const int tz_kernel_image_cuda = TZ_KERNEL_IMAGE_CUDA;

#ifndef TZ_HAVE_CUDA /* else cmake/EmbedImage.cmake makes a file of each */
#define TZ_FAMILY_IMAGE(family, text)                                                              \
    const tz_kernel_image tz_kernel_image_##text = {NULL, 0};                                      \
    const tz_kernel_image tz_kernel_code_##text = {NULL, 0};
TZ_FAMILY_LIST(TZ_FAMILY_IMAGE)
#undef TZ_FAMILY_IMAGE
#endif
