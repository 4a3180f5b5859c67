/* SPDX-License-Identifier: Apache-2.0
 * What encode.c and encode_compact.c have in common. */
#ifndef TZ_DEVICE_ENCODE_CHECK_H
#define TZ_DEVICE_ENCODE_CHECK_H

#include "device/encode.h"

/* TZ_ERR_ARG where a batch is not as encode.h says. */
tz_result tz_encode_check(const tz_encode_batch *batch, tz_error *err);
tz_result tz_encode_refuse(const tz_encode_batch *batch, tz_location place, const char *text,
                           tz_error *err);
tz_location tz_encode_place(uint64_t offset, uint64_t number);

/* Tiles are stored as they are. */
bool tz_encode_is_plain(const tz_encode_batch *batch);

#endif
