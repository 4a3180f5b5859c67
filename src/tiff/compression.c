/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/compression.h"

#include <stddef.h>
#include <terrazzo/terrazzo.h>

typedef struct compression_row {
    uint16_t number;
    bool handled;
    const char *name; /* as GDAL spells it where GDAL knows it */
} compression_row;

/* clang-format off */
static const compression_row rows[] = {
    {1, true, "NONE"},           {2, true, "CCITTRLE"},      {3, true, "CCITTFAX3"},
    {4, true, "CCITTFAX4"},      {5, true, "LZW"},           {6, true, "OJPEG"},
    {7, true, "JPEG"},           {8, true, "DEFLATE"},       {9, false, "T85"},
    {10, false, "T43"},          {32766, false, "NEXT"},     {32771, false, "CCITTRLEW"},
    {32773, true, "PACKBITS"},   {32809, false, "THUNDERSCAN"}, {32895, false, "IT8CTPAD"},
    {32896, false, "IT8LW"},     {32897, false, "IT8MP"},    {32898, false, "IT8BL"},
    {32908, false, "PIXARFILM"}, {32909, false, "PIXARLOG"}, {32946, true, "DEFLATE"},
    {32947, false, "DCS"},       {33003, true, "APERIO_JP2_YCBC"}, {33005, true, "APERIO_JP2_RGB"},
    {34661, false, "JBIG"},      {34676, false, "SGILOG"},   {34677, false, "SGILOG24"},
    {34712, true, "JPEG2000"},   {34887, true, "LERC"},      {34892, false, "LOSSY_JPEG"},
    {34925, true, "LZMA"},       {34933, false, "PNG"},      {34934, false, "JPEGXR"},
    {50000, true, "ZSTD"},       {50001, true, "WEBP"},      {50002, true, "JXL"},
    {50004, true, "LZ4"},        {52546, true, "JXL"},
};
/* clang-format on */

static const compression_row *find_compression(uint16_t compression)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].number == compression)
            return &rows[i];
    }
    return NULL;
}

const char *tz_compression_name(uint16_t compression)
{
    const compression_row *row = find_compression(compression);
    return row ? row->name : NULL;
}

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
    const compression_row *row = find_compression(compression);
    return row && row->handled;
}
