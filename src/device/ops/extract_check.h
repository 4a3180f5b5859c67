/* SPDX-License-Identifier: Apache-2.0
 * What kernels that cut would have to trust, and do not have to: all is within memory. */
#ifndef TZ_DEVICE_OPS_EXTRACT_CHECK_H
#define TZ_DEVICE_OPS_EXTRACT_CHECK_H

#include "device/ops/extract.h"

/* TZ_ERR_ARG names the tile. */
tz_result tz_extract_check(const tz_extract_batch *batch, tz_error *err);

#endif
