/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: files that cuFile reads straight into device memory. Functions that take
 * void *state are the driver's (device/driver.h). */
#ifndef TZ_DEVICE_NVIDIA_CUFILE_H
#define TZ_DEVICE_NVIDIA_CUFILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/driver.h"
#include "device/dynlib.h"
#include "device/nvidia/cufile_api.h"

typedef struct tz_cu_files {
    pthread_mutex_t lock; /* held to look for cuFile */
    atomic_bool searched; /* all below is set, also if cuFile was not found */
    tz_dynlib_info info;
    tz_cufile_api api;
    bool is_open;       /* this device has opened cuFile's driver, and closes it */
    bool is_direct;     /* reads do not pass through host memory: cuFile is used */
    uint32_t max_batch; /* entries of a batch; 0: it has no batches */
    char name[32];      /* "cuFile 1.19.0" */
    char reason[160];   /* why reads are not direct */
} tz_cu_files;

/* Closes cuFile's driver, if this device opened it. */
void tz_cu_files_close(tz_cu_files *files);

bool tz_cu_find_files(void *state, char *name, size_t name_size, char *reason, size_t reason_size);
tz_result tz_cu_open_file(void *state, int fd, void **file, const tz_context *ctx);
void tz_cu_close_file(void *state, void *file);
tz_result tz_cu_share_memory(void *state, const tz_device_memory *memory, const tz_context *ctx);
void tz_cu_unshare_memory(void *state, const tz_device_memory *memory);
tz_result tz_cu_begin_reads(void *state, const tz_device_memory *to, tz_direct_read *reads,
                            uint64_t count, void **reading, const tz_context *ctx);
tz_result tz_cu_end_reads(void *state, void *reading, const tz_context *ctx);

const char *tz_cufile_error_name(int32_t err); /* never NULL */

/* Sets the path of the kernel's list of modules, for tests; NULL: the real one. Some releases of
 * cuFile wait for that file forever, so without it cuFile's driver is never opened. */
void tz_cu_set_modules_path(const char *path);

#endif
