/* SPDX-License-Identifier: Apache-2.0
 * State that the files of the fake of cuFile share. */
#ifndef TESTS_FAKES_NVIDIA_CUFILE_STATE_H
#define TESTS_FAKES_NVIDIA_CUFILE_STATE_H

#include "device/nvidia/cufile_api.h"
#include "fakes/cuda/cuda_vendor.h"
#include "fakes/nvidia/cufile_fake.h"

enum {
#define CODE(name, number) name = number,
    TZ_CUFILE_ERRORS(CODE)
#undef CODE
};

extern cufile_fake_control cufile_control;

/* One lock for all tables. */
void state_lock(void);
void state_unlock(void);

/* The first misuse is kept. */
void misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Note a call; not 0: what it is to answer instead. */
int32_t begin(const char *name, uint64_t bytes, bool with_context);
tz_cufile_error answer(int32_t code);

/* A read that may be done: 0, or why not. The lock is held. */
typedef struct request {
    tz_cufile_handle file;
    const void *base;
    size_t size;
    off_t file_offset, buffer_offset;
} request;
int32_t request_check(const request *what);
/* Do it, the lock not held: bytes, or an error as a negative number. */
ssize_t request_read(const request *what);

#endif
