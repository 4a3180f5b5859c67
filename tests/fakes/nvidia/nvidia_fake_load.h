/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the fakes of NVIDIA's libraries: their control, and their findings. NULL where
 * the path is none of such a fake: that of the vendor's own, or nothing. */
#ifndef TESTS_FAKES_NVIDIA_NVIDIA_FAKE_LOAD_H
#define TESTS_FAKES_NVIDIA_NVIDIA_FAKE_LOAD_H

#include "fakes/nvidia/codestreams_fake.h"
#include "fakes/nvidia/cufile_fake.h"

cufile_fake_control *cufile_fake_load(const char *path);
codestreams_fake_control *codestreams_fake_load(const char *path);

#endif
