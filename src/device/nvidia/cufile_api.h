/* SPDX-License-Identifier: Apache-2.0
 * The part of cuFile that is used here, declared by ourselves so that nothing has to be installed
 * to build. tests/check_nvidia.py compares all of this with the vendor's header. */
#ifndef TZ_DEVICE_NVIDIA_CUFILE_API_H
#define TZ_DEVICE_NVIDIA_CUFILE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Returned by value. */
typedef struct tz_cufile_error {
    int32_t err;    /* 0: success; TZ_CUFILE_ERRORS */
    int32_t cu_err; /* of the CUDA driver, with CUDA_DRIVER_ERROR */
} tz_cufile_error;

/* X(name after CU_FILE_, value) */
#define TZ_CUFILE_ERRORS(X)                                                                        \
    X(DRIVER_NOT_INITIALIZED, 5001)                                                                \
    X(DRIVER_INVALID_PROPS, 5002)                                                                  \
    X(DRIVER_UNSUPPORTED_LIMIT, 5003)                                                              \
    X(DRIVER_VERSION_MISMATCH, 5004)                                                               \
    X(DRIVER_VERSION_READ_ERROR, 5005)                                                             \
    X(DRIVER_CLOSING, 5006)                                                                        \
    X(PLATFORM_NOT_SUPPORTED, 5007)                                                                \
    X(IO_NOT_SUPPORTED, 5008)                                                                      \
    X(DEVICE_NOT_SUPPORTED, 5009)                                                                  \
    X(NVFS_DRIVER_ERROR, 5010)                                                                     \
    X(CUDA_DRIVER_ERROR, 5011)                                                                     \
    X(CUDA_POINTER_INVALID, 5012)                                                                  \
    X(CUDA_MEMORY_TYPE_INVALID, 5013)                                                              \
    X(CUDA_POINTER_RANGE_ERROR, 5014)                                                              \
    X(CUDA_CONTEXT_MISMATCH, 5015)                                                                 \
    X(INVALID_MAPPING_SIZE, 5016)                                                                  \
    X(INVALID_MAPPING_RANGE, 5017)                                                                 \
    X(INVALID_FILE_TYPE, 5018)                                                                     \
    X(INVALID_FILE_OPEN_FLAG, 5019)                                                                \
    X(DIO_NOT_SET, 5020)                                                                           \
    X(INVALID_VALUE, 5022)                                                                         \
    X(MEMORY_ALREADY_REGISTERED, 5023)                                                             \
    X(MEMORY_NOT_REGISTERED, 5024)                                                                 \
    X(PERMISSION_DENIED, 5025)                                                                     \
    X(DRIVER_ALREADY_OPEN, 5026)                                                                   \
    X(HANDLE_NOT_REGISTERED, 5027)                                                                 \
    X(HANDLE_ALREADY_REGISTERED, 5028)                                                             \
    X(DEVICE_NOT_FOUND, 5029)                                                                      \
    X(INTERNAL_ERROR, 5030)                                                                        \
    X(GETNEWFD_FAILED, 5031)                                                                       \
    X(NVFS_SETUP_ERROR, 5033)                                                                      \
    X(IO_DISABLED, 5034)                                                                           \
    X(BATCH_SUBMIT_FAILED, 5035)                                                                   \
    X(GPU_MEMORY_PINNING_FAILED, 5036)                                                             \
    X(BATCH_FULL, 5037)                                                                            \
    X(ASYNC_NOT_SUPPORTED, 5038)                                                                   \
    X(NOMEM_ERROR, 5043)                                                                           \
    X(IO_ERROR, 5044)

typedef struct tz_cufile_properties {
    struct {
        uint32_t major_version, minor_version; /* of the kernel's module; 0: there is none */
        size_t poll_thresh_size;
        size_t max_direct_io_size; /* KiB, as all sizes below */
        uint32_t dstatusflags;     /* bits: file systems that are read directly; 0: none is */
        uint32_t dcontrolflags;    /* TZ_CUFILE_ALLOW_COMPAT */
    } nvfs;
    uint32_t fflags; /* TZ_CUFILE_BATCH */
    uint32_t max_device_cache_size;
    uint32_t per_buffer_cache_size;
    uint32_t max_device_pinned_mem_size;
    uint32_t max_batch_io_size; /* entries */
    uint32_t max_batch_io_timeout_msecs;
} tz_cufile_properties;
#define TZ_CUFILE_ALLOW_COMPAT (1u << 1)
#define TZ_CUFILE_BATCH        (1u << 1)

typedef struct tz_cufile_descr { /* zeroed first */
    int32_t type;                /* TZ_CUFILE_FD */
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
} tz_cufile_descr;
#define TZ_CUFILE_FD 1

typedef void *tz_cufile_handle; /* of a file */
typedef void *tz_cufile_batch;

typedef struct tz_cufile_io {
    int32_t mode; /* TZ_CUFILE_MODE */
    union {
        struct {
            void *devPtr_base; /* as registered, if it was */
            off_t file_offset;
            off_t devPtr_offset;
            size_t size;
        } batch;
    } u;
    tz_cufile_handle fh;
    int32_t opcode; /* TZ_CUFILE_READ */
    void *cookie;
} tz_cufile_io;
#define TZ_CUFILE_MODE 1
#define TZ_CUFILE_READ 0

typedef struct tz_cufile_event {
    void *cookie;
    int32_t status; /* TZ_CUFILE_COMPLETE, ... */
    size_t ret;     /* bytes, or an error as a negative number */
} tz_cufile_event;
#define TZ_CUFILE_WAITING  0x01
#define TZ_CUFILE_PENDING  0x02
#define TZ_CUFILE_INVALID  0x04
#define TZ_CUFILE_CANCELED 0x08
#define TZ_CUFILE_COMPLETE 0x10
#define TZ_CUFILE_TIMEOUT  0x20
#define TZ_CUFILE_FAILED   0x40

/* X(result, name after cuFile, arguments). Closing is DriverClose_v2 in all headers of today. */
#define TZ_CUFILE_FUNCTIONS(X)                                                                     \
    X(tz_cufile_error, GetVersion, (int *))                                                        \
    X(tz_cufile_error, DriverOpen, (void))                                                         \
    X(tz_cufile_error, DriverClose_v2, (void))                                                     \
    X(tz_cufile_error, DriverGetProperties, (tz_cufile_properties *))                              \
    X(tz_cufile_error, HandleRegister, (tz_cufile_handle *, tz_cufile_descr *))                    \
    X(void, HandleDeregister, (tz_cufile_handle))                                                  \
    X(tz_cufile_error, BufRegister, (const void *, size_t, int))                                   \
    X(tz_cufile_error, BufDeregister, (const void *))                                              \
    X(ssize_t, Read, (tz_cufile_handle, void *, size_t, off_t, off_t))                             \
    X(tz_cufile_error, BatchIOSetUp, (tz_cufile_batch *, unsigned))                                \
    X(tz_cufile_error, BatchIOSubmit, (tz_cufile_batch, unsigned, tz_cufile_io *, unsigned))       \
    X(tz_cufile_error, BatchIOGetStatus,                                                           \
      (tz_cufile_batch, unsigned, unsigned *, tz_cufile_event *, struct timespec *))               \
    X(tz_cufile_error, BatchIOCancel, (tz_cufile_batch))                                           \
    X(void, BatchIODestroy, (tz_cufile_batch))

/* Parameters, which are set before the driver is opened; releases before 1.14 may lack them. */
#define TZ_CUFILE_OPTIONAL_FUNCTIONS(X) X(tz_cufile_error, SetParameterBool, (int32_t, bool))
#define TZ_CUFILE_PARAM_ALLOW_COMPAT    1

typedef struct tz_cufile_api {
#define TZ_CUFILE_MEMBER(result, name, arguments) result(*name) arguments;
    TZ_CUFILE_FUNCTIONS(TZ_CUFILE_MEMBER)
    TZ_CUFILE_OPTIONAL_FUNCTIONS(TZ_CUFILE_MEMBER)
#undef TZ_CUFILE_MEMBER
} tz_cufile_api;

#endif
