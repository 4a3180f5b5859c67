/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a library that takes batches of chunks (device/driver.h): its arrays are made by
 * a kernel, and what it made is checked by another, so that the number of calls does not depend on
 * that of tiles. What it could not decode is done by the own kernels, which also say what is wrong.
 */
#ifndef TZ_DEVICE_CHUNKS_H
#define TZ_DEVICE_CHUNKS_H

#include "device/decode.h"

/* Whether tiles of this compression are given to a library, and which; out->reason: why not to one
 * that is there. Devices that are cores have none. */
bool tz_chunks_find(const tz_device *device, uint16_t compression, tz_chunk_decoder *out);

/* What its chunks are: TZ_CHUNK_DEFLATE and others of chunk_array_kernels.h. */
uint32_t tz_chunk_kind(uint16_t compression);

/* Scratch for such a batch, with own_bytes for the own kernels afterwards. */
uint64_t tz_chunks_scratch(const tz_chunk_decoder *decoder, const tz_decode_need *need,
                           uint64_t own_bytes);

/* Whether some tile of the batch may be for the library. Where it wants frames that say how much
 * they make, one that the host can see has to. */
bool tz_chunks_take(const tz_chunk_decoder *decoder, const tz_decode_batch *batch);

/* Launches around the call of the library, the one of the own kernels not counted. */
uint32_t tz_chunks_launches(const tz_chunk_decoder *decoder);

/* All but the own kernels. *left becomes the table of tiles that are left to them, and *scratch
 * what they may use. TZ_ERR_UNSUPPORTED: all of them are. The batch is checked already. */
tz_result tz_chunks_launch(const tz_chunk_decoder *decoder, const tz_decode_batch *batch,
                           const tz_decode_need *need, uint32_t queue, uint64_t *left,
                           uint64_t *scratch, tz_error *err);

#endif
