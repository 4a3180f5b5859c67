/* SPDX-License-Identifier: Apache-2.0
 * The part of the OpenCL driver that makes no context, for the part that does.
 *
 *     cl_api.h, cl_errors.h   declarations of OpenCL 1.2; a test compares them with the standard's
 *     opencl_find.c           the loader, its errors, platforms and devices
 *     opencl.c                contexts, memory, programs and commands; the driver's table */
#ifndef TZ_DEVICE_OPENCL_OPENCL_INTERNAL_H
#define TZ_DEVICE_OPENCL_OPENCL_INTERNAL_H

#include "device/driver.h"
#include "device/opencl/cl_api.h"

#define TZ_CL_LIBRARY "libOpenCL.so.1"

/* Loads the ICD loader and all functions; false, with the reason, if that fails. The library is a
 * path or a name; NULL: TZ_CL_LIBRARY. */
bool tz_cl_load(tz_cl_api *api, const char *library, char *reason, size_t reason_size);

/* Returns the name of a code, "CL_OUT_OF_RESOURCES"; never NULL. */
const char *tz_cl_error_text(int32_t code);
/* Fails with "clFinish: CL_OUT_OF_RESOURCES (-5)", as TZ_ERR_NOMEM or TZ_ERR_DEVICE. Functions that
 * return an object fail by returning NULL, so that a code of success is an error here as well. */
tz_result tz_cl_fail(const char *function, int32_t code, const tz_context *ctx);
/* The same for functions that allocate, for which drivers have more codes. */
tz_result tz_cl_fail_memory(const char *function, int32_t code, uint64_t size,
                            const tz_context *ctx);
/* The same for functions that return the code: TZ_OK after success. */
tz_result tz_cl_check(const char *function, int32_t code, const tz_context *ctx);

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
/* Describes device number index; *info is initialised. A device that cannot run the kernels is not
 * usable, and has the reason. */
void tz_cl_describe(const tz_cl_api *api, const tz_cl_candidate *candidate, size_t index,
                    tz_device_info *info, tz_device_texts *texts);

#endif
