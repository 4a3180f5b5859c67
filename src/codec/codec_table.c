/* SPDX-License-Identifier: Apache-2.0
 * The table of codecs, and all that is answered from it: the decoder and the encoder of a TIFF
 * number, the name of a compression, the features of this build, and to callers what each codec can
 * do. Readers and writers ask by TIFF's number; a number belongs to one row.
 *
 * Rows of codecs that this build lacks stay in the table without decoder and encoder, so that the
 * error can name the library that is missing. */
#include <string.h>

#include "base/names.h"
#include "codec/codec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Efforts of 8 and 9 need libjxl 0.12: codec_jxl.c says why. */
#ifdef TZ_HAVE_JXL
#include <jxl/types.h>
#include <jxl/version.h>
#define JXL_MAX_EFFORT (JPEGXL_MINOR_VERSION >= 12 || JPEGXL_MAJOR_VERSION > 0 ? 9 : 7)
#else
#define JXL_MAX_EFFORT 9
#endif

/* Members of infos[i] that a build with the library adds. */
#define BUILT(i, version, writes)                                                                  \
    .infos[i].library_version = (version), .infos[i].built = true, .infos[i].can_read = true,      \
    .infos[i].can_write = (writes)

/* clang-format off */
const tz_codec tz_codecs[] = {
    {
        .name = "none",
        .infos = {{.name = "NONE", .title = "no compression", .compression = TZ_COMPRESSION_NONE,
                   .can_read = true, .can_write = true, .built = true, .lossless = true}},
        .decoder = &tz_decoder_none,
        .encoder = &tz_encoder_none,
    },
    {
        .name = "packbits",
        .infos = {{.name = "PACKBITS", .title = "PackBits", .compression = TZ_COMPRESSION_PACKBITS,
                   .can_read = true, .can_write = true, .built = true, .lossless = true}},
        .decoder = &tz_decoder_packbits,
        .encoder = &tz_encoder_packbits,
    },
    {
        .name = "lzw",
        .infos = {{.name = "LZW", .title = "LZW", .compression = TZ_COMPRESSION_LZW,
                   .can_read = true, .can_write = true, .built = true, .lossless = true,
                   .takes_predictor = true}},
        .options = TZ_OPTION_PREDICTOR,
        .decoder = &tz_decoder_lzw,
        .encoder = &tz_encoder_lzw,
    },
    {
        .name = "ccitt",
        .infos = {{.name = "CCITTRLE", .title = "CCITT modified Huffman",
                   .compression = TZ_COMPRESSION_CCITT_RLE,
                   .can_read = true, .built = true, .lossless = true},
                  {.name = "CCITTFAX3", .title = "CCITT Group 3", .compression = TZ_COMPRESSION_FAX3,
                   .can_read = true, .built = true, .lossless = true},
                  {.name = "CCITTFAX4", .title = "CCITT Group 4", .compression = TZ_COMPRESSION_FAX4,
                   .can_read = true, .built = true, .lossless = true}},
        .decoder = &tz_decoder_ccitt,
    },
    {
        .name = "deflate",
        .feature = "libdeflate",
        .infos = {{.name = "DEFLATE", .title = "Deflate", .compression = TZ_COMPRESSION_DEFLATE,
                   .other_compressions = {TZ_COMPRESSION_OLD_DEFLATE},
                   .lossless = true, .takes_predictor = true,
                   .has_effort = true, .has_fast_effort = true,
                   .min_effort = 1, .max_effort = 12, .default_effort = 6,
                   .library = "libdeflate"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LIBDEFLATE
        BUILT(0, TZ_LIBDEFLATE_VERSION, true),
        .decoder = &tz_decoder_deflate,
        .encoder = &tz_encoder_deflate,
#endif
    },
    {
        .name = "zstd",
        .feature = "zstd",
        .infos = {{.name = "ZSTD", .title = "ZSTD", .compression = TZ_COMPRESSION_ZSTD,
                   .lossless = true, .takes_predictor = true,
                   .has_effort = true, .min_effort = 1, .max_effort = 22, .default_effort = 9,
                   .library = "libzstd"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_ZSTD
        BUILT(0, TZ_ZSTD_VERSION, true),
        .decoder = &tz_decoder_zstd,
        .encoder = &tz_encoder_zstd,
#endif
    },
    {
        .name = "lzma",
        .feature = "lzma",
        .infos = {{.name = "LZMA", .title = "LZMA", .compression = TZ_COMPRESSION_LZMA,
                   .lossless = true, .takes_predictor = true,
                   .has_effort = true, .has_fast_effort = true,
                   .min_effort = 1, .max_effort = 9, .default_effort = 6,
                   .library = "liblzma"}},
        .options = TZ_OPTION_PREDICTOR | TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LZMA
        BUILT(0, TZ_LZMA_VERSION, true),
        .decoder = &tz_decoder_lzma,
        .encoder = &tz_encoder_lzma,
#endif
    },
    {
        .name = "lz4",
        .feature = "lz4",
        .readers = "GDAL, libtiff and tifffile cannot read it; terrazzo can",
        .infos = {{.name = "LZ4", .title = "LZ4", .compression = TZ_COMPRESSION_LZ4,
                   .lossless = true,
                   .has_effort = true, .min_effort = 1, .max_effort = 12, .default_effort = 1,
                   .library = "liblz4"}},
        .options = TZ_OPTION_LEVEL,
#ifdef TZ_HAVE_LZ4
        BUILT(0, TZ_LZ4_VERSION, true),
        .decoder = &tz_decoder_lz4,
        .encoder = &tz_encoder_lz4,
#endif
    },
    {
        .name = "lerc",
        .feature = "lerc",
        .infos = {{.name = "LERC", .title = "LERC", .compression = TZ_COMPRESSION_LERC,
                   .can_read = true, /* reading needs no library */
                   .lossy = true, .lossless = true, .has_max_error = true,
                   .library = "liblerc"}},
        .options = TZ_OPTION_INNER_LEVEL | TZ_OPTION_LOSSLESS | TZ_OPTION_MAX_ERROR,
        .decoder = &tz_decoder_lerc,
#ifdef TZ_HAVE_LERC
        .infos[0].library_version = TZ_LERC_VERSION,
        .infos[0].built = true,
        .infos[0].can_write = true,
        .encoder = &tz_encoder_lerc,
#endif
    },
    {
        .name = "jpeg",
        .feature = "jpeg",
        .infos = {{.name = "JPEG", .title = "JPEG", .compression = TZ_COMPRESSION_JPEG,
                   .lossy = true,
                   .has_quality = true, .min_quality = 1, .max_quality = 100, .default_quality = 75,
                   .library = "libjpeg-turbo"},
                  {.name = "OJPEG", .title = "old-style JPEG", .compression = TZ_COMPRESSION_OLD_JPEG,
                   .lossy = true, .library = "libjpeg-turbo"}},
        .options = TZ_OPTION_QUALITY | TZ_OPTION_LOSSLESS | TZ_OPTION_JPEG_TABLES,
#ifdef TZ_HAVE_JPEG
        BUILT(0, TZ_JPEG_VERSION, true),
        BUILT(1, TZ_JPEG_VERSION, false),
        .decoder = &tz_decoder_jpeg,
        .encoder = &tz_encoder_jpeg,
#endif
    },
    {
        .name = "webp",
        .feature = "webp",
        .infos = {{.name = "WEBP", .title = "WebP", .compression = TZ_COMPRESSION_WEBP,
                   .lossy = true, .lossless = true,
                   .has_quality = true, .min_quality = 1, .max_quality = 100, .default_quality = 75,
                   .library = "libwebp"}},
        .options = TZ_OPTION_LOSSY_QUALITY | TZ_OPTION_LOSSLESS,
#ifdef TZ_HAVE_WEBP
        BUILT(0, TZ_WEBP_VERSION, true),
        .decoder = &tz_decoder_webp,
        .encoder = &tz_encoder_webp,
#endif
    },
    {
        .name = "jpeg2000",
        .feature = "openjpeg",
        .readers = "GDAL and libtiff cannot read it; terrazzo and tifffile can",
        .infos = {{.name = "JPEG2000", .title = "JPEG 2000", .compression = TZ_COMPRESSION_JPEG2000,
                   .lossy = true, .lossless = true,
                   .has_quality = true, .min_quality = 1, .max_quality = 100, .default_quality = 75,
                   .library = "OpenJPEG"},
                  {.name = "APERIO_JP2_YCBC", .title = "JPEG 2000",
                   .compression = TZ_COMPRESSION_APERIO_YCBCR,
                   .lossy = true, .lossless = true, .library = "OpenJPEG"},
                  {.name = "APERIO_JP2_RGB", .title = "JPEG 2000",
                   .compression = TZ_COMPRESSION_APERIO_RGB,
                   .lossy = true, .lossless = true, .library = "OpenJPEG"}},
        .options = TZ_OPTION_QUALITY | TZ_OPTION_LOSSLESS,
        .is_lossless_by_default = true,
#ifdef TZ_HAVE_OPENJPEG
        BUILT(0, TZ_OPENJPEG_VERSION, true),
        BUILT(1, TZ_OPENJPEG_VERSION, false),
        BUILT(2, TZ_OPENJPEG_VERSION, false),
        .decoder = &tz_decoder_jp2,
        .encoder = &tz_encoder_jp2,
#endif
    },
    {
        .name = "jpegxl",
        .feature = "jxl",
        .infos = {{.name = "JXL", .title = "JPEG XL", .compression = TZ_COMPRESSION_JXL,
                   .other_compressions = {TZ_COMPRESSION_DNG_JXL},
                   .lossy = true, .lossless = true,
                   .has_effort = true, .has_fast_effort = true,
                   .min_effort = 1, .max_effort = JXL_MAX_EFFORT, .default_effort = 5,
                   .has_distance = true, .min_distance = 0.01, .max_distance = 25,
                   .default_distance = 1,
                   .library = "libjxl"}},
        .options = TZ_OPTION_LEVEL | TZ_OPTION_LOSSLESS | TZ_OPTION_DISTANCE,
        .is_lossless_by_default = true,
#ifdef TZ_HAVE_JXL
        BUILT(0, TZ_JXL_VERSION, true),
        .decoder = &tz_decoder_jxl,
        .encoder = &tz_encoder_jxl,
#endif
    },
};
/* clang-format on */

/* ---------------------------------------------------------------------------------------------
 * Codecs by TIFF's number
 * ------------------------------------------------------------------------------------------ */

static bool has_number(const tz_codec_info *info, uint16_t compression)
{
    bool found = info->compression == compression;
    for (size_t i = 0; !found && i < COUNT(info->other_compressions); i++)
        found = compression != 0 && info->other_compressions[i] == compression;
    return found;
}

/* Finds the row, and sets *info to the entry of its list. */
static const tz_codec *find_number(uint16_t compression, const tz_codec_info **info)
{
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        for (*info = codec->infos; (*info)->name; (*info)++)
            if (has_number(*info, compression))
                return codec;
    }
    return NULL;
}

const tz_codec *tz_codec_find(uint16_t compression)
{
    const tz_codec_info *info;
    return find_number(compression, &info);
}

static tz_result fail_missing_library(const tz_codec_info *info, uint16_t compression,
                                      const char *direction, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "%s%s (%u) needs %s, which this build does not have", info->title, direction,
                   (unsigned)compression, info->library);
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
    const tz_codec_info *info;
    const tz_codec *codec = find_number(compression, &info);
    if (!codec)
        return fail_no_codec(compression, "decoder", ctx);
    if (!codec->decoder)
        return fail_missing_library(info, compression, "", ctx);
    *out = codec->decoder;
    return TZ_OK;
}

tz_result tz_encoder_find(uint16_t compression, const tz_context *ctx, const tz_encoder **out)
{
    const tz_codec_info *info;
    const tz_codec *codec = find_number(compression, &info);
    if (!codec || info != codec->infos || (info->built && !info->can_write))
        return fail_no_codec(compression, "encoder", ctx);
    if (!codec->encoder)
        return fail_missing_library(info, compression, codec->decoder ? " writing" : "", ctx);
    *out = codec->encoder;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Introspection
 * ------------------------------------------------------------------------------------------ */

const tz_codec_info *tz_codec_get(size_t index)
{
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        for (const tz_codec_info *info = codec->infos; info->name; info++)
            if (index-- == 0)
                return info;
    }
    return NULL;
}

size_t tz_codec_count(void)
{
    size_t count = 0;
    while (tz_codec_get(count))
        count++;
    return count;
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
    const tz_codec_info *info;
    if (find_number(compression, &info))
        return info->name;
    for (size_t i = 0; i < COUNT(other_compressions); i++)
        if (other_compressions[i].number == compression)
            return other_compressions[i].name;
    return NULL;
}

/* GDAL has a name of its own for LERC with another codec around it. */
static const char *const lerc_names[] = {"LERC_DEFLATE", "LERC_ZSTD"};

bool tz_compression_from_name(tz_compression *out, const char *name)
{
    unsigned found = 0;
    for (size_t i = 0; !found && i < tz_codec_count(); i++)
        found = tz_names_are_equal(tz_codec_get(i)->name, name) ? tz_codec_get(i)->compression : 0;
    for (size_t i = 0; !found && i < COUNT(other_compressions); i++)
        found =
            tz_names_are_equal(other_compressions[i].name, name) ? other_compressions[i].number : 0;
    for (size_t i = 0; !found && i < COUNT(lerc_names); i++)
        found = tz_names_are_equal(lerc_names[i], name) ? TZ_COMPRESSION_LERC : 0;
    if (found)
        *out = (tz_compression)found;
    return found != 0;
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
            return tz_codecs[i].infos[0].library_version;
    for (const build_feature *feature = other_features; feature->name; feature++)
        if (strcmp(feature->name, name) == 0)
            return feature->version;
    return NULL;
}
