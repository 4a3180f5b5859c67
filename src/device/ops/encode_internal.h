/* SPDX-License-Identifier: Apache-2.0
 * What encode.c and compact.c have in common. */
#ifndef TZ_DEVICE_OPS_ENCODE_INTERNAL_H
#define TZ_DEVICE_OPS_ENCODE_INTERNAL_H

#include "device/ops/encode.h"

/* TZ_ERR_ARG where a batch is not as encode.h says. */
tz_result tz_encode_check(const tz_encode_batch *batch, tz_error *err);
tz_result tz_encode_fail(const tz_encode_batch *batch, tz_location location, const char *text,
                         tz_error *err);
tz_location tz_encode_location(uint64_t offset, uint64_t number);

/* Tiles are stored as they are. */
bool tz_encode_is_plain(const tz_encode_batch *batch);

#endif
