/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/compression.h"

#include <stddef.h>
#include <terrazzo/terrazzo.h>

const char *tz_compression_readers(uint16_t compression)
{
    switch (compression) {
    case TZ_COMPRESSION_LZ4:
        return "GDAL, libtiff and tifffile cannot read it; terrazzo can";
    case 33003: /* Aperio's JPEG 2000 */
    case 33005:
    case TZ_COMPRESSION_JPEG2000:
        return "GDAL and libtiff cannot read it; terrazzo and tifffile can";
    default:
        return NULL;
    }
}

bool tz_compression_handled(uint16_t compression)
{
    static const uint16_t handled[] = {
        TZ_COMPRESSION_NONE,
        2, /* CCITT's modified Huffman, and Group 3 */
        3,
        TZ_COMPRESSION_FAX4,
        TZ_COMPRESSION_LZW,
        TZ_COMPRESSION_OLD_JPEG,
        TZ_COMPRESSION_JPEG,
        TZ_COMPRESSION_DEFLATE,
        TZ_COMPRESSION_PACKBITS,
        32946, /* Deflate's first number */
        33003, /* Aperio's JPEG 2000 */
        33005,
        TZ_COMPRESSION_JPEG2000,
        TZ_COMPRESSION_LERC,
        TZ_COMPRESSION_LZMA,
        TZ_COMPRESSION_ZSTD,
        TZ_COMPRESSION_WEBP,
        TZ_COMPRESSION_JXL,
        TZ_COMPRESSION_LZ4,
        52546, /* JPEG XL in DNG 1.7 */
    };
    for (size_t i = 0; i < sizeof handled / sizeof handled[0]; i++) {
        if (handled[i] == compression)
            return true;
    }
    return false;
}
