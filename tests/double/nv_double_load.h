/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the doubles of NVIDIA's libraries: what they are told by, and tell. NULL where
 * the path is none of such a double: that of the vendor's own, or nothing. */
#ifndef TESTS_DOUBLE_NV_DOUBLE_LOAD_H
#define TESTS_DOUBLE_NV_DOUBLE_LOAD_H

#include "double/nv/cufile_double.h"
#include "double/nv/pictures_double.h"

cufile_double_control *cufile_double_load(const char *path);
pictures_double_control *pictures_double_load(const char *path);

#endif
