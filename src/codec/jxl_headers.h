/* SPDX-License-Identifier: Apache-2.0
 * The headers of a JPEG XL stream, read before libjxl sees it: libjxl allocates any size that a
 * frame claims to have, and there may be frames that are never shown. */
#ifndef TZ_CODEC_JXL_HEADERS_H
#define TZ_CODEC_JXL_HEADERS_H

#include "codec/codec.h"

typedef struct tz_jxl_info {
    const uint8_t *stream; /* the codestream within the input */
    size_t stream_size;
    uint32_t width;
    uint32_t height;
    uint32_t bits;     /* of a colour sample */
    uint32_t exponent; /* bits of it; 0: integers */
    uint32_t extra_channels;
    bool xyb; /* colours are not those of the input */
} tz_jxl_info;

/* Finds the codestream, bare or in a container, and reads image size and metadata. Refuses features
 * that a TIFF tile has no use for: animation, preview, orientation, ICC profile. */
tz_result tz_jxl_read_info(tz_jxl_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call);

/* Goes through all frames, of which the first starts at this byte of the codestream. Makes sure
 * that they are complete, that visible ones lie within the image, and that all of them together are
 * within max_codec_bytes. */
tz_result tz_jxl_check_frames(const tz_jxl_info *info, size_t first, const tz_codec_call *call);

#endif
