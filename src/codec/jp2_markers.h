/* SPDX-License-Identifier: Apache-2.0
 * The headers of a JPEG 2000 stream, read before OpenJPEG sees it; and the meaning of options for
 * all encoders of JPEG 2000, ours and those of devices. */
#ifndef TZ_CODEC_JP2_MARKERS_H
#define TZ_CODEC_JP2_MARKERS_H

#include <stdint.h>

#include "base/minmax.h"
#include "codec/codec.h"

#define TZ_JP2_MAX_COMPONENTS 64 /* that are described one by one; more are refused */

typedef struct tz_jp2_component {
    uint8_t precision; /* bits */
    bool is_signed;
    uint8_t dx; /* pixels of one sample, across and down */
    uint8_t dy;
} tz_jp2_component;

typedef struct tz_jp2_info {
    const uint8_t *stream; /* the codestream within the input */
    size_t stream_size;
    uint32_t width;
    uint32_t height;
    uint32_t tile_width; /* of the largest tile, and within the image */
    uint32_t tile_height;
    uint64_t tile_count;
    uint16_t component_count;
    tz_jp2_component components[TZ_JP2_MAX_COMPONENTS];
    /* Levels of wavelets, the fewest of any tile and component: the reductions it can be decoded
     * with. */
    uint8_t levels;
    bool has_other_levels; /* some tile or component has more */
    bool has_offset;       /* image or tiles do not begin at the origin */
    bool is_irreversible;  /* the wavelets of some component */
    bool is_unusual;       /* regions of interest, other progressions, or packed headers */
    bool has_end;          /* the stream ends with EOC, as it should */
    uint64_t coding_bytes; /* estimate of OpenJPEG's memory, without that of pixels */
} tz_jp2_info;

/* Finds the codestream, raw or in a JP2 file, and reads its main header: size, tiles, components.
 */
tz_result tz_jp2_read_info(tz_jp2_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call);

/* Goes through all other headers of a stream whose size was found to be right. Makes sure that
 * there is at least one part of every tile, that parts are complete and that no extension is used,
 * and estimates the memory. */
tz_result tz_jp2_read_headers(tz_jp2_info *info, const tz_codec_call *call);

/* Does both, and checks that the stream is one of such a tile (in codec_jp2.c). */
tz_result tz_jp2_read_tile(tz_jp2_info *out, const tz_tile_format *format, const uint8_t *data,
                           size_t size, const tz_codec_call *call);

/* Peak signal to noise in decibels: 25 for the lowest quality, 44 for the usual 75, 50 for the
 * highest. */
static inline float tz_jp2_psnr(uint32_t quality)
{
    return 25.0f + (float)quality / 4;
}

/* Resolutions of the wavelets: the image is halved as long as it has a pixel. */
static inline uint32_t tz_jp2_resolution_count(uint32_t width, uint32_t height)
{
    enum { MAX_RESOLUTIONS = 6 };
    const uint32_t shorter = tz_min_u32(width, height);
    uint32_t count = 1;
    while (count < MAX_RESOLUTIONS && shorter >> count != 0)
        count++;
    return count;
}

#endif
