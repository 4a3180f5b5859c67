/* SPDX-License-Identifier: Apache-2.0
 * Shared by the files of the OpenCL driver: its state, and the functions of each file. Those that
 * take void *state are the driver's (device/driver.h). */
#ifndef TZ_DEVICE_OPENCL_OPENCL_INTERNAL_H
#define TZ_DEVICE_OPENCL_OPENCL_INTERNAL_H

#include <pthread.h>

#include "device/driver.h"
#include "device/kernel_programs.h"
#include "device/opencl/cl_api.h"

/* ---- opencl_find.c ---- */

#define TZ_CL_LIBRARY "libOpenCL.so.1"

/* Loads the ICD loader and all functions; false, with the reason, if that fails. */
bool tz_cl_load(tz_cl_api *api, const char *library, char *reason, size_t reason_size);

/* Returns the name of a code, "CL_OUT_OF_RESOURCES"; never NULL. */
const char *tz_cl_error_text(int32_t code);
/* Fails with "clFinish: CL_OUT_OF_RESOURCES (-5)", as TZ_ERR_NOMEM or TZ_ERR_DEVICE. */
tz_result tz_cl_fail(const tz_context *ctx, const char *function, int32_t code);
/* The same for functions that allocate, for which drivers have more codes. */
tz_result tz_cl_fail_memory(const tz_context *ctx, const char *function, int32_t code,
                            uint64_t size);

/* Devices of a platform, or of a context: more than any machine has. */
#define TZ_CL_MAX_DEVICES 64u

typedef struct tz_cl_candidate {
    tz_cl_platform platform;
    tz_cl_device device;
} tz_cl_candidate;

typedef struct tz_cl_candidates {
    tz_cl_candidate *list; /* tz_alloc */
    size_t count;
    char reason[256]; /* an error on the way; empty: none */
} tz_cl_candidates;

/* Lists all devices of all platforms, in the loader's order. Not TZ_OK: no memory. */
tz_result tz_cl_find_devices(const tz_cl_api *api, tz_cl_candidates *out, const tz_context *ctx);
void tz_cl_describe(const tz_cl_api *api, const tz_cl_candidate *candidate, size_t index,
                    tz_device_info *info);

/* ---- opencl_program.c ---- */

/* Programs by family, made when one of their kernels is first wanted; kernels by number. */
typedef struct tz_cl_program_set {
    tz_cl_program programs[TZ_FAMILY_COUNT];
    tz_cl_kernel kernels[TZ_KERNEL_COUNT];
} tz_cl_program_set;

/* Compiles a family, unless that is done. Not from two threads at once. */
tz_result tz_cl_build_family(const tz_cl_api *api, tz_cl_context context, tz_cl_device device,
                             tz_cl_program_set *set, uint32_t family, const tz_context *ctx);
void tz_cl_release_programs(const tz_cl_api *api, tz_cl_program_set *set); /* zeroed is fine */

/* ---- opencl.c ---- */

typedef struct tz_cl_state {
    tz_cl_api api;
    tz_cl_context context;
    tz_cl_device device;
    tz_cl_queue queues[TZ_QUEUES];
    tz_cl_program_set programs;
    pthread_mutex_t launch_lock; /* of programs, and of the arguments of kernels */
} tz_cl_state;

/* ---- opencl_commands.c ---- */

tz_result tz_cl_upload(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                       const void *from, uint64_t size, const tz_context *ctx);
tz_result tz_cl_download(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                         uint64_t offset, uint64_t size, const tz_context *ctx);
tz_result tz_cl_launch(void *state, uint32_t queue, const tz_launch *launch, const tz_context *ctx);
tz_result tz_cl_record(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx);
tz_result tz_cl_wait(void *state, uint32_t queue, const tz_device_event *event,
                     const tz_context *ctx);
tz_result tz_cl_query(void *state, const tz_device_event *event, bool *happened,
                      const tz_context *ctx);
void tz_cl_free_event(void *state, tz_device_event *event);
tz_result tz_cl_sync(void *state, uint32_t queue, const tz_context *ctx);

#endif
