/* SPDX-License-Identifier: Apache-2.0
 * What a JPEG 2000 stream says of itself, read before OpenJPEG sees it. */
#ifndef TZ_CODEC_JP2_MARKERS_H
#define TZ_CODEC_JP2_MARKERS_H

#include <stdint.h>

#include "codec/codec.h"

#define TZ_JP2_MAX_COMPONENTS 64 /* that are described one by one; more are refused */

typedef struct tz_jp2_component {
    uint8_t precision; /* bits */
    bool is_signed;
    uint8_t dx; /* one sample for so many pixels */
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
    uint8_t levels;        /* of wavelets, the fewest of any tile and component: how often it can be
                              halved */
    bool has_other_levels; /* and some have more */
    bool has_offset;       /* image or tiles do not begin at the origin */
    bool is_irreversible;  /* the wavelets of some component are */
    bool is_unusual;       /* regions of interest, other progressions, or packed headers */
    bool has_end;          /* the stream ends with EOC, as it should */
    uint64_t coding_bytes; /* an estimate of what OpenJPEG allocates, pixels apart */
} tz_jp2_info;

/* Finds the codestream, raw or in a JP2 file, and reads its main header: size, tiles, components.
 */
tz_result tz_jp2_read_info(tz_jp2_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call);

/* Goes through all the other headers of a stream whose size was found to be right. Makes sure that
 * there is at least one part of every tile, that parts are complete, that no extension is used, and
 * sums up what memory it takes. */
tz_result tz_jp2_read_headers(tz_jp2_info *info, const tz_codec_call *call);

/* Both, and that the stream is one of such a tile: codec_jp2.c. */
tz_result tz_jp2_read_tile(tz_jp2_info *out, const tz_tile_format *format, const uint8_t *data,
                           size_t size, const tz_codec_call *call);

/* ---------------------------------------------------------------------------------------------
 * What choices mean for JPEG 2000, whoever encodes it.
 * ------------------------------------------------------------------------------------------ */

/* Peak signal to noise in decibels: 25 for the lowest quality, 44 for the usual 75, 50 for the
 * highest. */
static inline float tz_jp2_psnr(uint32_t quality)
{
    return 25.0f + (float)quality / 4;
}

/* Of the wavelets: halves of the picture, as long as they have a pixel. */
static inline uint32_t tz_jp2_resolution_count(uint32_t width, uint32_t height)
{
    enum { MAX_RESOLUTIONS = 6 };
    const uint32_t shorter = width < height ? width : height;
    uint32_t count = 1;
    while (count < MAX_RESOLUTIONS && shorter >> count != 0)
        count++;
    return count;
}

#endif
