/* SPDX-License-Identifier: Apache-2.0
 * Pictures by the library's own codecs, for fakes of those that decode and encode them. */
#ifndef TESTS_FAKES_NVIDIA_CODESTREAM_H
#define TESTS_FAKES_NVIDIA_CODESTREAM_H

#include "codec/codec.h"
#include "fakes/cuda/cuda_vendor.h"

/* Packed rows of whole pixels, that the caller frees; NULL: they cannot be decoded. */
uint8_t *picture_decode(const tz_decoder *codec, const tz_tile_format *format, const uint8_t *data,
                        size_t size);
/* The other way; rows are used up and freed here. */
uint8_t *picture_encode(const tz_encoder *encoder, const tz_tile_format *format,
                        const tz_encode_options *choice, uint8_t *rows, size_t *size);
/* Rows as encoders take them. */
uint8_t *picture_rows(const tz_tile_format *format);

/* Pixels on a device: planes of one sample each, or one of all samples. */
typedef struct picture_planes {
    uint64_t at[4];
    size_t pitch[4];
    bool interleaved;
} picture_planes;

/* Between packed rows and planes; rows of NULL are garbage. False: the context is broken. */
bool picture_put(cuda_vendor_work *work, const picture_planes *to, const tz_tile_format *format,
                 const uint8_t *rows);
bool picture_get(cuda_vendor_work *work, const picture_planes *from, const tz_tile_format *format,
                 uint8_t *rows);
/* Returns true if pitches hold rows, and addresses are given. */
bool picture_fits(const picture_planes *planes, const tz_tile_format *format);

#endif
