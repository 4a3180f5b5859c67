/* SPDX-License-Identifier: Apache-2.0
 * Shared by the fakes of nvJPEG2000 and nvJPEG: calls, and objects that are for one image at a
 * time. Their statuses have the same numbers. */
#ifndef TESTS_FAKES_NVIDIA_CODEC_OBJECTS_H
#define TESTS_FAKES_NVIDIA_CODEC_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "device/nvidia/nvjpeg2k_api.h"
#include "fakes/cuda/cuda_vendor.h"
#include "fakes/nvidia/codestreams_fake.h"

enum {
#define CODE(name, number) name = number,
    TZ_NVJPEG2K_STATUSES(CODE)
#undef CODE
};

extern codestreams_fake_control pictures_control;

/* Note a call; not 0: what it is to answer instead. with_context: it needs a device. */
int32_t begin(const char *name, bool with_context);
/* Put work into a stream, which then has busy to itself. */
int32_t start(const char *name, tz_cu_stream stream, cuda_vendor_run run, void *state,
              atomic_bool *busy);

/* False, and a misuse, when work that uses it is under way. */
bool idle(const atomic_bool *busy, const char *what);

/* A new object, zeroed, by a call of this name; status 0. */
int32_t make(const char *name, bool with_context, size_t size, void *out);
int32_t give_back(void *which);

#endif
