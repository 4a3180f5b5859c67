/* SPDX-License-Identifier: Apache-2.0
 * What both ways of DLPack share. */
#ifndef TZ_DEVICE_DLPACK_INTERNAL_H
#define TZ_DEVICE_DLPACK_INTERNAL_H

#include <terrazzo/dlpack.h>

#include "base/error.h"

/* What a dimension of a tensor can be. */
enum { TZ_BAND_AXIS, TZ_ROW_AXIS, TZ_COLUMN_AXIS, TZ_AXES };

/* Which dimension of a tensor each axis is; TZ_AXES: none. */
void tz_dl_order(tz_dl_axes axes, int order[TZ_AXES]);

/* A type of samples as DLPack tells it; false: it does not. */
bool tz_dl_from_dtype(tz_dtype dtype, tz_dl_dtype *out);
bool tz_dl_to_dtype(tz_dl_dtype dtype, tz_dtype *out);

/* Of tensors in its memory: TZ_DL_CUDA, TZ_DL_OPENCL; TZ_DL_CPU: the cores have none. */
int32_t tz_dl_type_of(const tz_device *device);

tz_result tz_dl_fail(const tz_context *ctx, tz_result result, const char *text);
tz_result tz_dl_copy_options(tz_dlpack_options *out, const tz_dlpack_options *given,
                             const tz_context *ctx);

#endif
