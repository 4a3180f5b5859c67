/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: files that cuFile reads straight into memory of the device. */
#ifndef TZ_DEVICE_NVIDIA_CUFILE_FILES_H
#define TZ_DEVICE_NVIDIA_CUFILE_FILES_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/driver.h"
#include "device/nvidia/cufile.h"

/* ---- cufile_files.c ---- */

typedef struct tz_cu_files {
    pthread_mutex_t lock; /* of looking for it */
    char *library;        /* the caller's name of it; NULL: look for it */
    atomic_bool is_known; /* all below */
    tz_cufile cufile;
    bool is_open; /* its driver, by us */
    bool is_direct;
    uint32_t max_batch; /* entries of a batch; 0: it has none */
    char name[32];
    char reason[160]; /* why reads are not direct */
} tz_cu_files;

void tz_cu_files_deinit(tz_cu_files *files);

bool tz_cu_find_files(void *state, char *name, size_t name_size, char *reason, size_t reason_size);
tz_result tz_cu_open_file(void *state, int fd, void **file, const tz_context *ctx);
void tz_cu_close_file(void *state, void *file);
tz_result tz_cu_share_memory(void *state, const tz_device_memory *memory, const tz_context *ctx);
void tz_cu_unshare_memory(void *state, const tz_device_memory *memory);

/* What cuFile returned: TZ_OK, or "cuFileBufRegister: GPU_MEMORY_PINNING_FAILED (5036)" as
 * TZ_ERR_IO: it is not the device that failed. */
tz_result tz_cu_check_file(const char *function, tz_cufile_error answer, const tz_context *ctx);

/* The list of the kernel's modules, which cuFile reads until it can: without one, its driver is
 * never opened. Tests have another; NULL: the real one. */
void tz_cu_set_modules_path(const char *path);

/* ---- cufile_reads.c ---- */

/* A registered file. */
typedef struct tz_cu_file {
    tz_cufile_handle handle;
    int fd; /* of its own */
} tz_cu_file;

tz_result tz_cu_begin_reads(void *state, const tz_device_memory *to, tz_direct_read *reads,
                            uint64_t count, void **reading, const tz_context *ctx);
tz_result tz_cu_end_reads(void *state, void *reading, const tz_context *ctx);

#endif
