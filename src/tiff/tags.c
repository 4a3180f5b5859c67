/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/tags.h"

#include <stddef.h>

typedef struct number_name {
    uint16_t number;
    const char *name;
} number_name;

/* clang-format off */
/* Ascending by number: looked up by bisection. */
static const number_name tag_names[] = {
    {254, "NewSubfileType"}, {255, "SubfileType"}, {256, "ImageWidth"}, {257, "ImageLength"},
    {258, "BitsPerSample"}, {259, "Compression"}, {262, "PhotometricInterpretation"},
    {263, "Threshholding"}, {264, "CellWidth"}, {265, "CellLength"}, {266, "FillOrder"},
    {269, "DocumentName"}, {270, "ImageDescription"}, {271, "Make"}, {272, "Model"},
    {273, "StripOffsets"}, {274, "Orientation"}, {277, "SamplesPerPixel"}, {278, "RowsPerStrip"},
    {279, "StripByteCounts"}, {280, "MinSampleValue"}, {281, "MaxSampleValue"},
    {282, "XResolution"}, {283, "YResolution"}, {284, "PlanarConfiguration"}, {285, "PageName"},
    {286, "XPosition"}, {287, "YPosition"}, {288, "FreeOffsets"}, {289, "FreeByteCounts"},
    {290, "GrayResponseUnit"}, {291, "GrayResponseCurve"}, {292, "T4Options"}, {293, "T6Options"},
    {296, "ResolutionUnit"}, {297, "PageNumber"}, {301, "TransferFunction"}, {305, "Software"},
    {306, "DateTime"}, {315, "Artist"}, {316, "HostComputer"}, {317, "Predictor"},
    {318, "WhitePoint"}, {319, "PrimaryChromaticities"}, {320, "ColorMap"}, {321, "HalftoneHints"},
    {322, "TileWidth"}, {323, "TileLength"}, {324, "TileOffsets"}, {325, "TileByteCounts"},
    {326, "BadFaxLines"}, {327, "CleanFaxData"}, {328, "ConsecutiveBadFaxLines"}, {330, "SubIFDs"},
    {332, "InkSet"}, {333, "InkNames"}, {334, "NumberOfInks"}, {336, "DotRange"},
    {337, "TargetPrinter"}, {338, "ExtraSamples"}, {339, "SampleFormat"}, {340, "SMinSampleValue"},
    {341, "SMaxSampleValue"}, {342, "TransferRange"}, {343, "ClipPath"}, {346, "Indexed"},
    {347, "JPEGTables"}, {512, "JPEGProc"}, {513, "JPEGInterchangeFormat"},
    {514, "JPEGInterchangeFormatLength"}, {515, "JPEGRestartInterval"},
    {517, "JPEGLosslessPredictors"}, {518, "JPEGPointTransforms"}, {519, "JPEGQTables"},
    {520, "JPEGDCTables"}, {521, "JPEGACTables"}, {529, "YCbCrCoefficients"},
    {530, "YCbCrSubSampling"}, {531, "YCbCrPositioning"}, {532, "ReferenceBlackWhite"},
    {700, "XMP"}, {32995, "Matteing"}, {32996, "DataType"}, {32997, "ImageDepth"},
    {32998, "TileDepth"}, {33432, "Copyright"}, {33434, "ExposureTime"}, {33437, "FNumber"},
    {33550, "ModelPixelScaleTag"}, {33723, "IPTC"}, {33920, "IntergraphMatrix"},
    {33922, "ModelTiepointTag"}, {34264, "ModelTransformationTag"}, {34377, "Photoshop"},
    {34665, "ExifIFD"}, {34675, "ICCProfile"}, {34735, "GeoKeyDirectoryTag"},
    {34736, "GeoDoubleParamsTag"}, {34737, "GeoAsciiParamsTag"}, {34853, "GPSIFD"},
    {34908, "FaxRecvParams"}, {34909, "FaxSubAddress"}, {34910, "FaxRecvTime"},
    {37724, "ImageSourceData"}, {40965, "InteroperabilityIFD"}, {42112, "GDAL_METADATA"},
    {42113, "GDAL_NODATA"}, {50674, "LercParameters"}, {50706, "DNGVersion"},
    {50707, "DNGBackwardVersion"}, {50844, "RPCCoefficientTag"}, {50908, "TIFF_RSID"},
    {50909, "GEO_METADATA"}, {51125, "DefaultUserCrop"}, {65535, "DCSHueShiftValues"},
};

static const number_name type_names[] = {
    {TZ_TYPE_BYTE, "BYTE"}, {TZ_TYPE_ASCII, "ASCII"}, {TZ_TYPE_SHORT, "SHORT"},
    {TZ_TYPE_LONG, "LONG"}, {TZ_TYPE_RATIONAL, "RATIONAL"}, {TZ_TYPE_SBYTE, "SBYTE"},
    {TZ_TYPE_UNDEFINED, "UNDEFINED"}, {TZ_TYPE_SSHORT, "SSHORT"}, {TZ_TYPE_SLONG, "SLONG"},
    {TZ_TYPE_SRATIONAL, "SRATIONAL"}, {TZ_TYPE_FLOAT, "FLOAT"}, {TZ_TYPE_DOUBLE, "DOUBLE"},
    {TZ_TYPE_IFD, "IFD"}, {TZ_TYPE_LONG8, "LONG8"}, {TZ_TYPE_SLONG8, "SLONG8"},
    {TZ_TYPE_IFD8, "IFD8"},
};

static const uint8_t type_sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *find_number_name(const number_name *list, size_t count, uint16_t number)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low].number == number ? list[low].name : NULL;
}

const char *tz_tag_name(uint16_t tag)
{
    return find_number_name(tag_names, COUNT(tag_names), tag);
}

const char *tz_tag_type_name(uint16_t type)
{
    return find_number_name(type_names, COUNT(type_names), type);
}

unsigned tz_type_size(uint16_t type)
{
    return type < COUNT(type_sizes) ? type_sizes[type] : 0;
}

unsigned tz_type_word_size(uint16_t type)
{
    const unsigned size = tz_type_size(type);
    return type == TZ_TYPE_RATIONAL || type == TZ_TYPE_SRATIONAL ? size / 2 : size;
}

uint32_t tz_photometric_channels(uint16_t photometric)
{
    switch (photometric) {
    case TZ_PHOTOMETRIC_RGB:
    case TZ_PHOTOMETRIC_YCBCR:
    case TZ_PHOTOMETRIC_CIELAB:
    case TZ_PHOTOMETRIC_ICCLAB:
    case TZ_PHOTOMETRIC_ITULAB:
    case 32845: /* LogLuv */
        return 3;
    case TZ_PHOTOMETRIC_CMYK:
        return 4;
    default:
        return 1;
    }
}

tz_location tz_at_tag(uint16_t tag, uint64_t offset)
{
    tz_location location = tz_at_offset(offset);
    location.tag = tag;
    location.tag_name = tz_tag_name(tag);
    return location;
}
