/* SPDX-License-Identifier: Apache-2.0
 * Marker codes of JPEG streams (ITU-T T.81 table B.1): the byte after FF. */
#ifndef TZ_CODEC_JPEG_MARKER_CODES_H
#define TZ_CODEC_JPEG_MARKER_CODES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TZ_MARKER_TEM = 0x01,
    TZ_MARKER_SOF0 = 0xC0,
    TZ_MARKER_SOF2 = 0xC2,
    TZ_MARKER_SOF3 = 0xC3,
    TZ_MARKER_DHT = 0xC4,
    TZ_MARKER_JPG = 0xC8,
    TZ_MARKER_DAC = 0xCC,
    TZ_MARKER_SOF15 = 0xCF,
    TZ_MARKER_RST0 = 0xD0,
    TZ_MARKER_RST7 = 0xD7,
    TZ_MARKER_SOI = 0xD8,
    TZ_MARKER_EOI = 0xD9,
    TZ_MARKER_SOS = 0xDA,
    TZ_MARKER_DQT = 0xDB,
    TZ_MARKER_DNL = 0xDC,
    TZ_MARKER_DRI = 0xDD,
    TZ_MARKER_APP0 = 0xE0,
    TZ_MARKER_APP14 = 0xEE,
    TZ_MARKER_APP15 = 0xEF,
    TZ_MARKER_JPEG_LS = 0xF7,
    TZ_MARKER_COM = 0xFE
};

static inline bool tz_marker_is_frame(uint8_t marker)
{
    return (marker >= TZ_MARKER_SOF0 && marker <= TZ_MARKER_SOF15 && marker != TZ_MARKER_DHT &&
            marker != TZ_MARKER_JPG && marker != TZ_MARKER_DAC) ||
           marker == TZ_MARKER_JPEG_LS;
}

static inline bool tz_marker_is_restart(uint8_t marker)
{
    return marker >= TZ_MARKER_RST0 && marker <= TZ_MARKER_RST7;
}

#endif
