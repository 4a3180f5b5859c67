/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a library that takes batches of chunks (device/driver.h): its arrays are made by
 * a kernel, and what it made is checked by another, so that the number of calls does not depend on
 * that of tiles. What it could not decode is done by the own kernels, which also say what is wrong.
 */
#ifndef TZ_DEVICE_OPS_VENDOR_DECODE_H
#define TZ_DEVICE_OPS_VENDOR_DECODE_H

#include "device/ops/decode.h"

/* Whether tiles of this compression are given to a library, and which; out->reason: why not to one
 * that is there. Devices that are cores have none. */
bool tz_vendor_decode_find(const tz_device *device, uint16_t compression, tz_vendor_decoder *out);

/* What its chunks are: TZ_VENDOR_DEFLATE and others of vendor_array_kernels.h. */
uint32_t tz_vendor_kind(uint16_t compression);

/* Scratch for such a batch, with own_bytes for the own kernels afterwards. */
uint64_t tz_vendor_decode_scratch(const tz_vendor_decoder *decoder, const tz_decode_need *need,
                                  uint64_t own_bytes);

/* Whether some tile of the batch may be for the library. Where it wants frames that say how much
 * they make, one that the host can see has to. */
bool tz_vendor_decode_accepts(const tz_vendor_decoder *decoder, const tz_decode_batch *batch);

/* Launches around the call of the library, the one of the own kernels not counted. */
uint32_t tz_vendor_decode_launches(const tz_vendor_decoder *decoder);

/* All but the own kernels. *left becomes the table of tiles that are left to them, and *scratch
 * what they may use. TZ_ERR_UNSUPPORTED: all of them are. The batch is checked already. */
tz_result tz_vendor_decode_launch(const tz_vendor_decoder *decoder, const tz_decode_batch *batch,
                                  const tz_decode_need *need, uint32_t queue, uint64_t *left,
                                  uint64_t *scratch, tz_error *err);

#endif
