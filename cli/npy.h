/* SPDX-License-Identifier: Apache-2.0
 * The header of a .npy file, version 1.0, as NumPy writes it. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#define NPY_HEADER_MOST 256

/* Shape (bands, height, width), or (height, width) for one band. Returns its bytes, a multiple of
 * 64; 0 for a type that NumPy does not have. */
size_t npy_header(char header[NPY_HEADER_MOST], tz_dtype dtype, uint32_t bands, uint32_t height,
                  uint32_t width);

#endif
