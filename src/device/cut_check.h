/* SPDX-License-Identifier: Apache-2.0
 * What kernels that cut would have to trust, and do not have to: all is within memory. */
#ifndef TZ_DEVICE_CUT_CHECK_H
#define TZ_DEVICE_CUT_CHECK_H

#include "device/cut.h"

/* TZ_ERR_ARG names the tile. */
tz_result tz_cut_check(const tz_cut_batch *batch, tz_error *err);

#endif
