/* SPDX-License-Identifier: Apache-2.0
 * What kernels that cut would have to trust, and do not have to: all is within memory. */
#ifndef TZ_DEVICE_CUT_CHECK_H
#define TZ_DEVICE_CUT_CHECK_H

#include "device/cut.h"

/* Words of size bytes with strides on three axes. */
typedef struct tz_strided {
    uint64_t offset;
    uint64_t counts[3]; /* at least 1 */
    int64_t strides[3];
    uint64_t size;
} tz_strided;
bool tz_memory_holds_strided(const tz_device_memory *memory, const tz_strided *words);

/* TZ_ERR_ARG names the tile. */
tz_result tz_cut_check(const tz_cut_batch *batch, tz_error *err);

#endif
