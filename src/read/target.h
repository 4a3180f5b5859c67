/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TZ_READ_TARGET_H
#define TZ_READ_TARGET_H

#include "read/plan.h"

/* Resolve and check one item; level with TZ_MASK_OF makes the target that fills its mask. */
tz_result tz_target_make(tz_plan *plan, const tz_item *item, uint32_t level, tz_target *out,
                         const tz_context *ctx);

#endif
