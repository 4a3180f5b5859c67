/* SPDX-License-Identifier: Apache-2.0
 * A device that fails on demand: the fake of the driver that TERRAZZO_TEST_DEVICE names.
 * The other driver is not there. Kernels of OpenCL's fake do nothing; those of CUDA's work. */
#ifndef TESTS_SUPPORT_DEVICE_FAULT_DEVICE_H
#define TESTS_SUPPORT_DEVICE_FAULT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

/* Which calls of the driver's library count. */
typedef enum fault_place {
    FAULT_ANY, /* all that may fail, releases apart */
    FAULT_FIND,
    FAULT_BUILD,
    FAULT_ALLOC,  /* memory of tz_device_memory_alloc */
    FAULT_PINNED, /* of tz_device_alloc_pinned */
    FAULT_LAUNCH,
    FAULT_SYNC
} fault_place;

typedef enum fault_kind {
    FAULT_ONCE,      /* an error that means nothing good */
    FAULT_NO_MEMORY, /* memory has run out */
    FAULT_LOST       /* and so does everything until fault_reset */
} fault_kind;

/* Load the fake, with nothing to fail and nothing kept. */
void fault_load(void);
/* Nothing fails any more, and what is set below is as at first. What lives still counts. */
void fault_reset(void);
/* Makes the nth call of that kind from here on fail; from 1. */
void fault_set(fault_place place, uint64_t nth, fault_kind kind);

uint64_t fault_calls(void); /* that may fail, since fault_reset or fault_count_anew */
void fault_count_anew(void);
int64_t fault_live(void); /* objects of the library that are not released */
bool fault_kernels_work(void);

/* Sets the memory of a device and the number of GPUs; before it is opened. */
void fault_set_memory(uint64_t bytes);
void fault_set_gpus(uint32_t count);

/* To open it with: the library is the fake's. */
extern tz_device_options fault_options;
const char *fault_device_id(void); /* "opencl:0" */
/* Returns the text for a failed call of that kind: "clFinish: CL_OUT_OF_RESOURCES (-5)". */
const char *fault_text(fault_place place, fault_kind kind);

/* Opens it; ends the test when that does not work. */
tz_device *fault_open(void);
tz_device *fault_open_as(const char *name);

#endif
