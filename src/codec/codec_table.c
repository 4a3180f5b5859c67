/* SPDX-License-Identifier: Apache-2.0
 * The table of codecs, and all that is answered from it: the decoder and the encoder of a TIFF
 * number, the name of a compression, the features of this build. Readers and writers ask by TIFF's
 * number; a number belongs to one row.
 *
 * Rows of codecs that this build lacks stay in the table without decoder and encoder, so that the
 * error can name the library that is missing. */
#include <string.h>

#include "codec/codec.h"

const tz_codec tz_codecs[] = {
    {
        .name = "none",
        .numbers = {{.number = TZ_COMPRESSION_NONE, .name = "NONE"}},
        .decoder = &tz_decoder_none,
        .encoder = &tz_encoder_none,
    },
    {
        .name = "packbits",
        .numbers = {{.number = TZ_COMPRESSION_PACKBITS, .name = "PACKBITS"}},
        .decoder = &tz_decoder_packbits,
        .encoder = &tz_encoder_packbits,
    },
    {
        .name = "lzw",
        .numbers = {{.number = TZ_COMPRESSION_LZW, .name = "LZW"}},
        .options = TZ_OPTION_PREDICTOR,
        .decoder = &tz_decoder_lzw,
        .encoder = &tz_encoder_lzw,
    },
    {
        .name = "ccitt",
        .numbers = {{.number = TZ_COMPRESSION_CCITT_RLE, .name = "CCITTRLE", .is_read_only = true},
                    {.number = TZ_COMPRESSION_FAX3, .name = "CCITTFAX3", .is_read_only = true},
                    {.number = TZ_COMPRESSION_FAX4, .name = "CCITTFAX4", .is_read_only = true}},
        .decoder = &tz_decoder_ccitt,
    },
    {
        .name = "deflate",
        .label = "Deflate",
        .library = "libdeflate",
        .feature = "libdeflate",
        .numbers = {{.number = TZ_COMPRESSION_DEFLATE, .name = "DEFLATE"},
                    {.number = TZ_COMPRESSION_OLD_DEFLATE, .name = "DEFLATE"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LIBDEFLATE
        .version = TZ_LIBDEFLATE_VERSION,
        .decoder = &tz_decoder_deflate,
        .encoder = &tz_encoder_deflate,
#endif
    },
    {
        .name = "zstd",
        .label = "ZSTD",
        .library = "libzstd",
        .feature = "zstd",
        .numbers = {{.number = TZ_COMPRESSION_ZSTD, .name = "ZSTD"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_ZSTD
        .version = TZ_ZSTD_VERSION,
        .decoder = &tz_decoder_zstd,
        .encoder = &tz_encoder_zstd,
#endif
    },
    {
        .name = "lzma",
        .label = "LZMA",
        .library = "liblzma",
        .feature = "lzma",
        .numbers = {{.number = TZ_COMPRESSION_LZMA, .name = "LZMA"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LZMA
        .version = TZ_LZMA_VERSION,
        .decoder = &tz_decoder_lzma,
        .encoder = &tz_encoder_lzma,
#endif
    },
    {
        .name = "lz4",
        .label = "LZ4",
        .library = "liblz4",
        .feature = "lz4",
        .readers = "GDAL, libtiff and tifffile cannot read it; terrazzo can",
        .numbers = {{.number = TZ_COMPRESSION_LZ4, .name = "LZ4"}},
        .options = TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LZ4
        .version = TZ_LZ4_VERSION,
        .decoder = &tz_decoder_lz4,
        .encoder = &tz_encoder_lz4,
#endif
    },
    {
        .name = "lerc",
        .label = "LERC writing", /* reading needs no library */
        .encoder_library = "liblerc",
        .feature = "lerc",
        .numbers = {{.number = TZ_COMPRESSION_LERC, .name = "LERC"}},
        .options = TZ_OPTION_INNER_LEVEL | TZ_OPTION_LOSSLESS | TZ_OPTION_MAX_ERROR,
        .decoder = &tz_decoder_lerc,
#ifdef TZ_HAVE_LERC
        .version = TZ_LERC_VERSION,
        .encoder = &tz_encoder_lerc,
#endif
    },
    {
        .name = "jpeg",
        .label = "JPEG",
        .library = "libjpeg-turbo",
        .feature = "jpeg",
        .numbers = {{.number = TZ_COMPRESSION_JPEG, .name = "JPEG"},
                    {.number = TZ_COMPRESSION_OLD_JPEG,
                     .name = "OJPEG",
                     .label = "old-style JPEG",
                     .is_read_only = true}},
        .options = TZ_OPTION_QUALITY | TZ_OPTION_LOSSLESS | TZ_OPTION_JPEG_TABLES,
#ifdef TZ_HAVE_JPEG
        .version = TZ_JPEG_VERSION,
        .decoder = &tz_decoder_jpeg,
        .encoder = &tz_encoder_jpeg,
#endif
    },
    {
        .name = "webp",
        .label = "WebP",
        .library = "libwebp",
        .feature = "webp",
        .numbers = {{.number = TZ_COMPRESSION_WEBP, .name = "WEBP"}},
        .options = TZ_OPTION_LOSSY_QUALITY | TZ_OPTION_LOSSLESS,
#ifdef TZ_HAVE_WEBP
        .version = TZ_WEBP_VERSION,
        .decoder = &tz_decoder_webp,
        .encoder = &tz_encoder_webp,
#endif
    },
    {
        .name = "jpeg2000",
        .label = "JPEG 2000",
        .library = "OpenJPEG",
        .feature = "openjpeg",
        .readers = "GDAL and libtiff cannot read it; terrazzo and tifffile can",
        .numbers = {{.number = TZ_COMPRESSION_JPEG2000, .name = "JPEG2000"},
                    {.number = TZ_COMPRESSION_APERIO_YCBCR,
                     .name = "APERIO_JP2_YCBC",
                     .is_read_only = true},
                    {.number = TZ_COMPRESSION_APERIO_RGB,
                     .name = "APERIO_JP2_RGB",
                     .is_read_only = true}},
        .options = TZ_OPTION_QUALITY | TZ_OPTION_LOSSLESS,
        .is_lossless_by_default = true,
#ifdef TZ_HAVE_OPENJPEG
        .version = TZ_OPENJPEG_VERSION,
        .decoder = &tz_decoder_jp2,
        .encoder = &tz_encoder_jp2,
#endif
    },
    {
        .name = "jpegxl",
        .label = "JPEG XL",
        .library = "libjxl",
        .feature = "jxl",
        .numbers = {{.number = TZ_COMPRESSION_JXL, .name = "JXL"},
                    {.number = TZ_COMPRESSION_DNG_JXL, .name = "JXL"}},
        .options = TZ_OPTION_LEVEL | TZ_OPTION_LOSSLESS | TZ_OPTION_DISTANCE,
        .is_lossless_by_default = true,
#ifdef TZ_HAVE_JXL
        .version = TZ_JXL_VERSION,
        .decoder = &tz_decoder_jxl,
        .encoder = &tz_encoder_jxl,
#endif
    },
};

/* ---------------------------------------------------------------------------------------------
 * Codecs by TIFF's number
 * ------------------------------------------------------------------------------------------ */

/* Finds the row, and sets *number to the entry of its list. */
static const tz_codec *find_number(uint16_t compression, const tz_codec_number **number)
{
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        for (*number = codec->numbers; (*number)->number != 0; (*number)++)
            if ((*number)->number == compression)
                return codec;
    }
    return NULL;
}

const tz_codec *tz_codec_find(uint16_t compression)
{
    const tz_codec_number *number;
    return find_number(compression, &number);
}

static tz_result fail_missing_library(const char *label, uint16_t compression, const char *library,
                                      const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "%s (%u) needs %s, which this build does not have", label, (unsigned)compression,
                   library);
}

/* Also for compressions of which only the name is known. */
static tz_result fail_no_codec(uint16_t compression, const char *direction, const tz_context *ctx)
{
    const char *name = tz_compression_name(compression);
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "no %s for compression %u (%s)", direction, (unsigned)compression,
                   name ? name : "unknown");
}

tz_result tz_decoder_find(uint16_t compression, const tz_context *ctx, const tz_decoder **out)
{
    const tz_codec_number *number;
    const tz_codec *codec = find_number(compression, &number);
    if (!codec)
        return fail_no_codec(compression, "decoder", ctx);
    if (!codec->decoder)
        return fail_missing_library(number->label ? number->label : codec->label, compression,
                                    codec->library, ctx);
    *out = codec->decoder;
    return TZ_OK;
}

tz_result tz_encoder_find(uint16_t compression, const tz_context *ctx, const tz_encoder **out)
{
    const tz_codec_number *number;
    const tz_codec *codec = find_number(compression, &number);
    if (!codec || number->is_read_only)
        return fail_no_codec(compression, "encoder", ctx);
    if (!codec->encoder)
        return fail_missing_library(
            codec->label, compression,
            codec->encoder_library ? codec->encoder_library : codec->library, ctx);
    *out = codec->encoder;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Names and features
 * ------------------------------------------------------------------------------------------ */

/* Compressions that are known by name only. */
typedef struct other_compression {
    uint16_t number;
    const char *name;
} other_compression;

/* clang-format off */
static const other_compression other_compressions[] = {
    {9, "T85"},             {10, "T43"},          {32766, "NEXT"},     {32771, "CCITTRLEW"},
    {32809, "THUNDERSCAN"}, {32895, "IT8CTPAD"},  {32896, "IT8LW"},    {32897, "IT8MP"},
    {32898, "IT8BL"},       {32908, "PIXARFILM"}, {32909, "PIXARLOG"}, {32947, "DCS"},
    {34661, "JBIG"},        {34676, "SGILOG"},    {34677, "SGILOG24"}, {34892, "LOSSY_JPEG"},
    {34933, "PNG"},         {34934, "JPEGXR"},
};
/* clang-format on */

const char *tz_compression_name(uint16_t compression)
{
    const tz_codec_number *number;
    if (find_number(compression, &number))
        return number->name;
    for (size_t i = 0; i < sizeof other_compressions / sizeof other_compressions[0]; i++)
        if (other_compressions[i].number == compression)
            return other_compressions[i].name;
    return NULL;
}

const char *tz_compression_readers(uint16_t compression)
{
    const tz_codec *codec = tz_codec_find(compression);
    return codec ? codec->readers : NULL;
}

/* Libraries that are not a codec's. The build defines TZ_X_VERSION together with TZ_HAVE_X. */
typedef struct build_feature {
    const char *name;
    const char *version;
} build_feature;

static const build_feature other_features[] = {
#ifdef TZ_HAVE_EXPAT
    {"expat", TZ_EXPAT_VERSION},
#endif
#ifdef TZ_HAVE_PROJ
    {"proj", TZ_PROJ_VERSION},
#endif
#ifdef TZ_HAVE_ISAL
    {"isal", TZ_ISAL_VERSION},
#endif
#ifdef TZ_HAVE_CUDA
    {"cuda", TZ_CUDA_VERSION},
#endif
    {NULL, NULL},
};

const char *tz_build_feature(const char *name)
{
    if (!name)
        return NULL;
    for (size_t i = 0; i < TZ_CODEC_COUNT; i++)
        if (tz_codecs[i].feature && strcmp(tz_codecs[i].feature, name) == 0)
            return tz_codecs[i].version;
    for (const build_feature *feature = other_features; feature->name; feature++)
        if (strcmp(feature->name, name) == 0)
            return feature->version;
    return NULL;
}
