/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a library that takes whole streams in memory of the host (device/driver.h). What
 * it made of them is trusted as far as sizes and types were compared before; what it could not
 * decode is said before anything is launched that would use it. */
#ifndef TZ_DEVICE_DEVICE_CODESTREAMS_H
#define TZ_DEVICE_DEVICE_CODESTREAMS_H

#include "device/device.h"

/* Whether there is a library for pictures of this compression, which, and how much memory of the
 * device it takes for pictures of up to so many samples; or why there is none. */
bool tz_device_find_codestream_codec(const tz_device *device, uint16_t compression, bool encodes,
                                     uint64_t samples, tz_codestream_codec *out);

/* Checks that pictures lie within the slab, one behind the other and at multiples of their samples'
 * size (TZ_ERR_ARG names the picture), and gives them to the library. What it could not decode is
 * noted in the picture. A count of 0 is nothing to do. */
tz_result tz_device_decode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       tz_error *err);

/* The same the other way, and waits for all streams: see tz_driver.encode_pictures. What could not
 * be encoded has no size. */
tz_result tz_device_encode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       const tz_codestream_encoding *how, tz_codestream_output *out,
                                       tz_error *err);

/* Bytes of its samples. */
static inline uint64_t tz_codestream_sample_bytes(const tz_codestream *codestream)
{
    return (uint64_t)codestream->width * codestream->height * codestream->samples *
           codestream->sample_bytes;
}

#endif
