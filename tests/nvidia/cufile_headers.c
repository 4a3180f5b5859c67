/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the header of cuFile: what device/nvidia/cufile_api.h declares
 * is what the vendor declares. */
#include "device/nvidia/cufile_api.h"

#include <cufile.h>

#include "nvidia/same.h"

SAME_SIZE(tz_cufile_error, CUfileError_t);
SAME_PLACE(tz_cufile_error, CUfileError_t, err);
SAME_PLACE(tz_cufile_error, CUfileError_t, cu_err);
#define ERROR(name, number) SAME_VALUE(number, CU_FILE_##name);
TZ_CUFILE_ERRORS(ERROR)

#define PROPERTY(member) SAME_PLACE(tz_cufile_properties, CUfileDrvProps_t, member)
SAME_SIZE(tz_cufile_properties, CUfileDrvProps_t);
PROPERTY(nvfs.major_version);
PROPERTY(nvfs.minor_version);
PROPERTY(nvfs.poll_thresh_size);
PROPERTY(nvfs.max_direct_io_size);
PROPERTY(nvfs.dstatusflags);
PROPERTY(nvfs.dcontrolflags);
PROPERTY(fflags);
PROPERTY(max_device_cache_size);
PROPERTY(per_buffer_cache_size);
PROPERTY(max_device_pinned_mem_size);
PROPERTY(max_batch_io_size);
PROPERTY(max_batch_io_timeout_msecs);
SAME_VALUE(TZ_CUFILE_ALLOW_COMPAT, 1 << CU_FILE_ALLOW_COMPAT_MODE);
SAME_VALUE(TZ_CUFILE_BATCH, 1 << CU_FILE_BATCH_IO_SUPPORTED);

SAME_SIZE(tz_cufile_descr, CUfileDescr_t);
SAME_PLACE(tz_cufile_descr, CUfileDescr_t, type);
SAME_PLACE(tz_cufile_descr, CUfileDescr_t, handle.fd);
SAME_PLACE(tz_cufile_descr, CUfileDescr_t, handle.handle);
SAME_PLACE(tz_cufile_descr, CUfileDescr_t, fs_ops);
SAME_VALUE(TZ_CUFILE_FD, CU_FILE_HANDLE_TYPE_OPAQUE_FD);

#define IO(member) SAME_PLACE(tz_cufile_io, CUfileIOParams_t, member)
SAME_SIZE(tz_cufile_io, CUfileIOParams_t);
IO(mode);
IO(u.batch.devPtr_base);
IO(u.batch.file_offset);
IO(u.batch.devPtr_offset);
IO(u.batch.size);
IO(fh);
IO(opcode);
IO(cookie);
SAME_VALUE(TZ_CUFILE_MODE, CUFILE_BATCH);
SAME_VALUE(TZ_CUFILE_READ, CUFILE_READ);

SAME_SIZE(tz_cufile_event, CUfileIOEvents_t);
SAME_PLACE(tz_cufile_event, CUfileIOEvents_t, cookie);
SAME_PLACE(tz_cufile_event, CUfileIOEvents_t, status);
SAME_PLACE(tz_cufile_event, CUfileIOEvents_t, ret);
SAME_VALUE(TZ_CUFILE_WAITING, CUFILE_WAITING);
SAME_VALUE(TZ_CUFILE_PENDING, CUFILE_PENDING);
SAME_VALUE(TZ_CUFILE_INVALID, CUFILE_INVALID);
SAME_VALUE(TZ_CUFILE_CANCELED, CUFILE_CANCELED);
SAME_VALUE(TZ_CUFILE_COMPLETE, CUFILE_COMPLETE);
SAME_VALUE(TZ_CUFILE_TIMEOUT, CUFILE_TIMEOUT);
SAME_VALUE(TZ_CUFILE_FAILED, CUFILE_FAILED);

/* From here on the list of functions speaks of the vendor's types. */
#define tz_cufile_error      CUfileError_t
#define tz_cufile_properties CUfileDrvProps_t
#define tz_cufile_descr      CUfileDescr_t
#define tz_cufile_handle     CUfileHandle_t
#define tz_cufile_batch      CUfileBatchHandle_t
#define tz_cufile_io         CUfileIOParams_t
#define tz_cufile_event      CUfileIOEvents_t

#define FUNCTION(result, name, arguments) SAME_FUNCTION(cuFile##name, result(*) arguments);
TZ_CUFILE_FUNCTIONS(FUNCTION)
SAME_VALUE(TZ_CUFILE_PARAM_ALLOW_COMPAT, CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE);
SAME_FUNCTION(cuFileSetParameterBool, CUfileError_t (*)(CUFileBoolConfigParameter_t, bool));
