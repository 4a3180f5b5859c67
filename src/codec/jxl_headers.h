/* SPDX-License-Identifier: Apache-2.0
 * What a JPEG XL stream says of itself, read before libjxl sees it: libjxl allocates whatever size
 * a frame claims to have, and there may be frames that no one sees. */
#ifndef TZ_CODEC_JXL_HEADERS_H
#define TZ_CODEC_JXL_HEADERS_H

#include "codec/codec.h"
#include "codec/cursor.h"

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

/* Finds the codestream, bare or in a container, and reads image size and metadata. What a TIFF tile
 * has no use for is refused: animation, preview, orientation, ICC profile. */
tz_result tz_jxl_read_info(tz_jxl_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call);

/* Goes through all frames, of which the first starts at this byte of the codestream. Makes sure
 * that they are complete, that visible ones lie within the image, and that all of them together are
 * within max_codec_bytes. */
tz_result tz_jxl_check_frames(const tz_jxl_info *info, size_t first, const tz_codec_call *call);

/* ---------------------------------------------------------------------------------------------
 * Bits, the lowest first, and the number formats made of them (ISO/IEC 18181-1 section 9.2)
 * ------------------------------------------------------------------------------------------ */

typedef struct tz_jxl_bits {
    const uint8_t *data;
    size_t size;
    size_t position; /* in bits */
    bool overrun;
} tz_jxl_bits;

/* count <= 32 */
uint32_t tz_jxl_read_bits(tz_jxl_bits *bits, unsigned count);
uint64_t tz_jxl_read_u64(tz_jxl_bits *bits);

/* One of four ways, chosen by two bits: offset + a number of so many bits. */
typedef struct tz_jxl_distribution {
    uint8_t bits;
    uint32_t offset;
} tz_jxl_distribution;
uint32_t tz_jxl_read_u32(tz_jxl_bits *bits, const tz_jxl_distribution distributions[4]);

void tz_jxl_skip_name(tz_jxl_bits *bits);

#endif
