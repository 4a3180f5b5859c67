/* SPDX-License-Identifier: Apache-2.0
 * The tag table, and the numbers and names of TIFF.
 *
 * One row for each known tag drives four things: its name in messages and reports, reading it into
 * a tz_ifd (ifd.c), writing it from tz_ifd_numbers (image/image_tags.c), and copying it from one
 * file to another (image/spec_copy.c). A new tag is one row; only an array that is generated needs
 * a function beside it. Tags without READ are loaded on demand by tz_file_get_tag, and tags without
 * WRITE are written by functions of their own, or as the caller gives them. */
#include "tiff/tags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tiff/ifd.h"

/* Roles and flags without their prefix, for rows that fit a line. */
enum {
    PLAIN = TZ_TAG_ROLE_PLAIN,
    GENERATED = TZ_TAG_ROLE_GENERATED,
    POINTER = TZ_TAG_ROLE_POINTER,
    STRUCTURAL = TZ_TAG_STRUCTURAL,
    TABLE = TZ_TAG_TABLE,
    REQUIRED = TZ_TAG_REQUIRED,
    REQUIRED_TILES = TZ_TAG_REQUIRED_TILES,
    REQUIRED_STRIPS = TZ_TAG_REQUIRED_STRIPS,
    GEOTIFF = TZ_TAG_GEOTIFF
};
#define NEVER UINT32_MAX

#define TAG(number, who, text)                                                                     \
    {                                                                                              \
        .tag = (number), .role = (who), .name = (text)                                             \
    }
#define READ(kind, member, allowed, min, max)                                                      \
    .field = TZ_FIELD_##kind, .offset = offsetof(tz_ifd, member), .types = TZ_TYPES_##allowed,     \
    .min_count = (min), .max_count = (max)
#define WRITE(kind, member, omitted)                                                               \
    .write = TZ_WRITE_##kind, .number = offsetof(tz_ifd_numbers, member), .omit = (omitted)

/* clang-format off */
/* Ascending by tag: looked up by bisection. The columns are the tag, its origin when a file is
 * written, its name, and its flags; then the member of tz_ifd with the types and the counts that
 * are accepted, and the member of tz_ifd_numbers with the value that is not written. */
static const tz_tag_row tag_rows[] = {
    {TZ_TAG_NEW_SUBFILE_TYPE, GENERATED, "NewSubfileType", 0,
     READ(U32, new_subfile_type, INTEGER, 1, 1), WRITE(LONG, subfile_type, 0)},
    {TZ_TAG_SUBFILE_TYPE, GENERATED, "SubfileType", 0, READ(U16, subfile_type, INTEGER, 1, 1)},
    {TZ_TAG_IMAGE_WIDTH, GENERATED, "ImageWidth", STRUCTURAL | REQUIRED,
     READ(U32, width, INTEGER, 1, 1), WRITE(SHORT_OR_LONG, width, 0)},
    {TZ_TAG_IMAGE_LENGTH, GENERATED, "ImageLength", STRUCTURAL | REQUIRED,
     READ(U32, height, INTEGER, 1, 1), WRITE(SHORT_OR_LONG, height, 0)},
    {TZ_TAG_BITS_PER_SAMPLE, GENERATED, "BitsPerSample", STRUCTURAL,
     READ(REF, bits_per_sample, INTEGER, 1, 0), WRITE(SHORT_PER_SAMPLE, bits, 0)},
    {TZ_TAG_COMPRESSION, GENERATED, "Compression", STRUCTURAL | REQUIRED,
     READ(U16, compression, INTEGER, 1, 0), WRITE(SHORT, compression, 0)},
    {TZ_TAG_PHOTOMETRIC, GENERATED, "PhotometricInterpretation", REQUIRED,
     READ(U16, photometric, INTEGER, 1, 1), WRITE(SHORT, photometric, NEVER)},
    TAG(263, PLAIN, "Threshholding"), TAG(264, PLAIN, "CellWidth"),
    TAG(265, PLAIN, "CellLength"),
    {TZ_TAG_FILL_ORDER, GENERATED, "FillOrder", STRUCTURAL, READ(U16, fill_order, INTEGER, 1, 1)},
    TAG(269, PLAIN, "DocumentName"), TAG(270, PLAIN, "ImageDescription"),
    TAG(271, PLAIN, "Make"), TAG(272, PLAIN, "Model"),
    {TZ_TAG_STRIP_OFFSETS, POINTER, "StripOffsets", TABLE | REQUIRED_STRIPS,
     READ(REF, strip_offsets, INTEGER, 1, 0)},
    {TZ_TAG_ORIENTATION, GENERATED, "Orientation", 0,
     READ(U16, orientation, INTEGER, 1, 1), WRITE(SHORT, orientation, 1)},
    {TZ_TAG_SAMPLES_PER_PIXEL, GENERATED, "SamplesPerPixel", STRUCTURAL,
     READ(U16, samples, INTEGER, 1, 1), WRITE(SHORT, samples, 0)},
    {TZ_TAG_ROWS_PER_STRIP, GENERATED, "RowsPerStrip", STRUCTURAL,
     READ(U32, rows_per_strip, INTEGER, 1, 1), WRITE(SHORT_OR_LONG, rows_per_strip, 0)},
    {TZ_TAG_STRIP_BYTE_COUNTS, POINTER, "StripByteCounts", TABLE | REQUIRED_STRIPS,
     READ(REF, strip_sizes, INTEGER, 1, 0)},
    TAG(280, PLAIN, "MinSampleValue"), TAG(281, PLAIN, "MaxSampleValue"),
    TAG(282, PLAIN, "XResolution"), TAG(283, PLAIN, "YResolution"),
    {TZ_TAG_PLANAR, GENERATED, "PlanarConfiguration", STRUCTURAL,
     READ(U16, planar, INTEGER, 1, 1), WRITE(SHORT, planar, 0)},
    TAG(285, PLAIN, "PageName"), TAG(286, PLAIN, "XPosition"), TAG(287, PLAIN, "YPosition"),
    TAG(288, POINTER, "FreeOffsets"), TAG(289, POINTER, "FreeByteCounts"),
    TAG(290, PLAIN, "GrayResponseUnit"), TAG(291, PLAIN, "GrayResponseCurve"),
    {TZ_TAG_T4_OPTIONS, GENERATED, "T4Options", 0, READ(U32, t4_options, INTEGER, 1, 1)},
    {TZ_TAG_T6_OPTIONS, GENERATED, "T6Options", 0, READ(U32, t6_options, INTEGER, 1, 1)},
    TAG(296, PLAIN, "ResolutionUnit"), TAG(297, PLAIN, "PageNumber"),
    TAG(301, PLAIN, "TransferFunction"), TAG(305, PLAIN, "Software"),
    TAG(306, PLAIN, "DateTime"), TAG(315, PLAIN, "Artist"), TAG(316, PLAIN, "HostComputer"),
    {TZ_TAG_PREDICTOR, GENERATED, "Predictor", STRUCTURAL,
     READ(U16, predictor, INTEGER, 1, 1), WRITE(SHORT, predictor, TZ_PREDICTOR_NONE)},
    TAG(318, PLAIN, "WhitePoint"), TAG(319, PLAIN, "PrimaryChromaticities"),
    {TZ_TAG_COLOR_MAP, GENERATED, "ColorMap", 0, READ(REF, color_map, SHORT_ONLY, 1, 0)},
    TAG(321, PLAIN, "HalftoneHints"),
    {TZ_TAG_TILE_WIDTH, GENERATED, "TileWidth", STRUCTURAL | REQUIRED_TILES,
     READ(U32, tile_width, INTEGER, 1, 1), WRITE(SHORT_OR_LONG, tile_width, 0)},
    {TZ_TAG_TILE_LENGTH, GENERATED, "TileLength", STRUCTURAL | REQUIRED_TILES,
     READ(U32, tile_height, INTEGER, 1, 1), WRITE(SHORT_OR_LONG, tile_height, 0)},
    {TZ_TAG_TILE_OFFSETS, POINTER, "TileOffsets", TABLE | REQUIRED_TILES,
     READ(REF, tile_offsets, INTEGER, 1, 0)},
    {TZ_TAG_TILE_BYTE_COUNTS, POINTER, "TileByteCounts", TABLE | REQUIRED_TILES,
     READ(REF, tile_sizes, INTEGER, 1, 0)},
    TAG(326, GENERATED, "BadFaxLines"), TAG(327, GENERATED, "CleanFaxData"),
    TAG(328, GENERATED, "ConsecutiveBadFaxLines"),
    {TZ_TAG_SUB_IFDS, POINTER, "SubIFDs", 0, READ(REF, sub_ifds, UNSIGNED, 1, 0)},
    TAG(332, PLAIN, "InkSet"),
    {TZ_TAG_INK_NAMES, PLAIN, "InkNames", 0, READ(REF, ink_names, TEXT, 1, 0)},
    {TZ_TAG_NUMBER_OF_INKS, PLAIN, "NumberOfInks", 0, READ(U16, ink_count, INTEGER, 1, 1)},
    TAG(336, PLAIN, "DotRange"), TAG(337, PLAIN, "TargetPrinter"),
    {TZ_TAG_EXTRA_SAMPLES, GENERATED, "ExtraSamples", 0, READ(REF, extra_samples, INTEGER, 1, 0)},
    {TZ_TAG_SAMPLE_FORMAT, GENERATED, "SampleFormat", STRUCTURAL,
     READ(REF, sample_formats, INTEGER, 1, 0), WRITE(SHORT_PER_SAMPLE, sample_format, 0)},
    TAG(340, PLAIN, "SMinSampleValue"), TAG(341, PLAIN, "SMaxSampleValue"),
    TAG(342, PLAIN, "TransferRange"), TAG(343, PLAIN, "ClipPath"),
    TAG(346, GENERATED, "Indexed"),
    {TZ_TAG_JPEG_TABLES, GENERATED, "JPEGTables", 0, READ(REF, jpeg_tables, BYTES, 1, 0)},
    TAG(400, POINTER, NULL), /* GlobalParametersIFD; reports have no name for it */
    {TZ_TAG_JPEG_PROCESS, GENERATED, "JPEGProc", 0, READ(U16, old_jpeg.process, INTEGER, 1, 1)},
    {TZ_TAG_JPEG_INTERCHANGE, POINTER, "JPEGInterchangeFormat", 0,
     READ(REF, old_jpeg.interchange, INTEGER, 1, 1)},
    {TZ_TAG_JPEG_INTERCHANGE_SIZE, POINTER, "JPEGInterchangeFormatLength", 0,
     READ(REF, old_jpeg.interchange_size, INTEGER, 1, 1)},
    {TZ_TAG_JPEG_RESTART_INTERVAL, GENERATED, "JPEGRestartInterval", 0,
     READ(U16, old_jpeg.restart_interval, INTEGER, 1, 1)},
    {TZ_TAG_JPEG_PREDICTORS, GENERATED, "JPEGLosslessPredictors", 0,
     READ(REF, old_jpeg.predictors, INTEGER, 1, 0)},
    {TZ_TAG_JPEG_SHIFTS, GENERATED, "JPEGPointTransforms", 0,
     READ(REF, old_jpeg.shifts, INTEGER, 1, 0)},
    {TZ_TAG_JPEG_QUANT_TABLES, POINTER, "JPEGQTables", 0,
     READ(REF, old_jpeg.quant_tables, INTEGER, 1, 0)},
    {TZ_TAG_JPEG_DC_TABLES, POINTER, "JPEGDCTables", 0,
     READ(REF, old_jpeg.dc_tables, INTEGER, 1, 0)},
    {TZ_TAG_JPEG_AC_TABLES, POINTER, "JPEGACTables", 0,
     READ(REF, old_jpeg.ac_tables, INTEGER, 1, 0)},
    TAG(529, GENERATED, "YCbCrCoefficients"),
    {TZ_TAG_YCBCR_SUBSAMPLING, GENERATED, "YCbCrSubSampling", 0,
     READ(REF, subsampling, INTEGER, 2, 2)},
    TAG(531, GENERATED, "YCbCrPositioning"),
    TAG(TZ_TAG_REFERENCE_BLACK_WHITE, GENERATED, "ReferenceBlackWhite"),
    {TZ_TAG_XMP, PLAIN, "XMP", 0, READ(REF, xmp, BYTES, 1, 0)},
    TAG(32995, GENERATED, "Matteing"), TAG(32996, GENERATED, "DataType"),
    TAG(32997, GENERATED, "ImageDepth"), TAG(32998, GENERATED, "TileDepth"),
    TAG(33432, PLAIN, "Copyright"), TAG(33434, PLAIN, "ExposureTime"),
    TAG(33437, PLAIN, "FNumber"),
    {TZ_TAG_PIXEL_SCALE, GENERATED, "ModelPixelScaleTag", GEOTIFF,
     READ(REF, pixel_scale, REAL, 1, 0)},
    TAG(33723, PLAIN, "IPTC"), TAG(33920, GENERATED, "IntergraphMatrix"),
    {TZ_TAG_TIEPOINTS, GENERATED, "ModelTiepointTag", GEOTIFF, READ(REF, tiepoints, REAL, 1, 0)},
    {TZ_TAG_TRANSFORMATION, GENERATED, "ModelTransformationTag", GEOTIFF,
     READ(REF, transformation, REAL, 1, 0)},
    TAG(34377, PLAIN, "Photoshop"),
    {TZ_TAG_EXIF_IFD, POINTER, "ExifIFD", 0, READ(REF, exif, UNSIGNED, 1, 1)},
    {TZ_TAG_ICC_PROFILE, PLAIN, "ICCProfile", 0, READ(REF, icc, BYTES, 1, 0)},
    {TZ_TAG_GEO_KEYS, GENERATED, "GeoKeyDirectoryTag", GEOTIFF,
     READ(REF, geo_keys, SHORT_ONLY, 1, 0)},
    {TZ_TAG_GEO_DOUBLES, GENERATED, "GeoDoubleParamsTag", GEOTIFF,
     READ(REF, geo_doubles, REAL, 1, 0)},
    {TZ_TAG_GEO_ASCII, GENERATED, "GeoAsciiParamsTag", GEOTIFF, READ(REF, geo_ascii, TEXT, 1, 0)},
    {TZ_TAG_GPS_IFD, POINTER, "GPSIFD", 0, READ(REF, gps, UNSIGNED, 1, 1)},
    TAG(34908, PLAIN, "FaxRecvParams"), TAG(34909, PLAIN, "FaxSubAddress"),
    TAG(34910, PLAIN, "FaxRecvTime"), TAG(37724, PLAIN, "ImageSourceData"),
    TAG(40965, POINTER, "InteroperabilityIFD"),
    {TZ_TAG_GDAL_METADATA, GENERATED, "GDAL_METADATA", 0, READ(REF, metadata, TEXT, 1, 0)},
    {TZ_TAG_GDAL_NODATA, GENERATED, "GDAL_NODATA", 0, READ(REF, nodata, TEXT, 1, 0)},
    {TZ_TAG_LERC_PARAMETERS, GENERATED, "LercParameters", 0, READ(REF, lerc, INTEGER, 2, 0)},
    TAG(50706, PLAIN, "DNGVersion"), TAG(50707, PLAIN, "DNGBackwardVersion"),
    {TZ_TAG_RPC, GENERATED, "RPCCoefficientTag", 0, READ(REF, rpc, REAL, 1, 0)},
    TAG(50908, PLAIN, "TIFF_RSID"), TAG(50909, PLAIN, "GEO_METADATA"),
    TAG(51125, PLAIN, "DefaultUserCrop"), TAG(65535, PLAIN, "DCSHueShiftValues"),
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
_Static_assert(COUNT(tag_rows) <= TZ_MAX_TAG_ROWS, "tz_ifd.seen has a bit for each row");

const tz_tag_row *tz_tag_rows(size_t *count)
{
    *count = COUNT(tag_rows);
    return tag_rows;
}

int tz_compare_numbers(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

const tz_tag_row *tz_tag_find(uint16_t tag)
{
    return bsearch(&tag, tag_rows, COUNT(tag_rows), sizeof tag_rows[0], tz_compare_numbers);
}

const char *tz_tag_name(uint16_t tag)
{
    const tz_tag_row *row = tz_tag_find(tag);
    return row ? row->name : NULL;
}

/* Derived from the set of types: a set has one usual member, the one that the standard names. */
uint16_t tz_tag_usual_type(const tz_tag_row *row)
{
    if (row->types == TZ_TYPES_REAL)
        return TZ_TYPE_DOUBLE;
    if (row->types == TZ_TYPES_TEXT)
        return TZ_TYPE_ASCII;
    return row->types & TZ_TYPE_BIT(TZ_TYPE_UNDEFINED) ? TZ_TYPE_UNDEFINED : TZ_TYPE_SHORT;
}

/* ---- field types ---- */

/* By number; gaps (14, 15 and others) have no name and size 0, and are unknown types. */
static const struct {
    const char *name;
    uint8_t size;
} field_types[] = {
    [TZ_TYPE_BYTE] = {"BYTE", 1},
    [TZ_TYPE_ASCII] = {"ASCII", 1},
    [TZ_TYPE_SHORT] = {"SHORT", 2},
    [TZ_TYPE_LONG] = {"LONG", 4},
    [TZ_TYPE_RATIONAL] = {"RATIONAL", 8},
    [TZ_TYPE_SBYTE] = {"SBYTE", 1},
    [TZ_TYPE_UNDEFINED] = {"UNDEFINED", 1},
    [TZ_TYPE_SSHORT] = {"SSHORT", 2},
    [TZ_TYPE_SLONG] = {"SLONG", 4},
    [TZ_TYPE_SRATIONAL] = {"SRATIONAL", 8},
    [TZ_TYPE_FLOAT] = {"FLOAT", 4},
    [TZ_TYPE_DOUBLE] = {"DOUBLE", 8},
    [TZ_TYPE_IFD] = {"IFD", 4},
    [TZ_TYPE_LONG8] = {"LONG8", 8},
    [TZ_TYPE_SLONG8] = {"SLONG8", 8},
    [TZ_TYPE_IFD8] = {"IFD8", 8},
};

const char *tz_tag_type_name(uint16_t type)
{
    return type < COUNT(field_types) ? field_types[type].name : NULL;
}

unsigned tz_type_size(uint16_t type)
{
    return type < COUNT(field_types) ? field_types[type].size : 0;
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
    case TZ_PHOTOMETRIC_NUMBER_LOGLUV:
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

tz_result tz_check_soft_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                              uint64_t value, const char *what, const char *kind, bool *allowed)
{
    tz_error failed;
    const tz_context quiet = tz_quiet_context(ctx, &failed);
    if (tz_check_limit(&quiet, member_offset, location, value, what) == TZ_OK)
        return TZ_OK;
    *allowed = false;
    return tz_warn_from_error(ctx, &failed, kind);
}
