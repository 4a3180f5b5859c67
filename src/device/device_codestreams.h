/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded and encoded by a library that takes whole codestreams in host memory
 * (device/driver.h). Its samples are trusted because the caller has compared sizes and types of the
 * stream before. A codestream that could not be decoded is marked when the call returns, before
 * anything is launched that would use its samples. */
#ifndef TZ_DEVICE_DEVICE_CODESTREAMS_H
#define TZ_DEVICE_DEVICE_CODESTREAMS_H

#include "device/device.h"

/* Finds the library for this compression, and the device memory that it takes for codestreams of up
 * to `samples` samples. False if there is none; out->reason says why. */
bool tz_device_find_codestream_codec(const tz_device *device, uint16_t compression, bool encodes,
                                     uint64_t samples, tz_codestream_codec *out);

/* Checks that the samples of all codestreams lie within the slab, one after the other and at
 * multiples of their size (TZ_ERR_ARG names the codestream), and calls the library. A codestream
 * that cannot be decoded gets `failed`. A count of 0 calls nothing. */
tz_result tz_device_decode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       tz_error *err);

/* The same for encoding; waits for all streams: see tz_driver.encode_codestreams. A codestream that
 * cannot be encoded has a size of 0. */
tz_result tz_device_encode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       const tz_codestream_encoding *how, tz_codestream_output *out,
                                       tz_error *err);

/* Bytes of the samples of a codestream. */
static inline uint64_t tz_codestream_sample_bytes(const tz_codestream *codestream)
{
    return (uint64_t)codestream->width * codestream->height * codestream->samples *
           codestream->sample_bytes;
}

#endif
