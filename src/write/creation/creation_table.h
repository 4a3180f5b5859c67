/* SPDX-License-Identifier: Apache-2.0
 * The tables of creation options: those of GDAL's GTiff and COG drivers, and a few of our own. */
#ifndef TZ_WRITE_CREATION_CREATION_TABLE_H
#define TZ_WRITE_CREATION_CREATION_TABLE_H

#include <terrazzo/terrazzo.h>

/* The meanings of options. A driver may have another name for one, or none. */
typedef enum tz_creation_id {
    CO_TILED,
    CO_BLOCKXSIZE,
    CO_BLOCKYSIZE,
    CO_BLOCKSIZE,
    CO_COMPRESS,
    CO_LEVEL,
    CO_QUALITY,
    CO_PREDICTOR,
    CO_ZLEVEL,
    CO_ZSTD_LEVEL,
    CO_LZMA_PRESET,
    CO_LZ4_LEVEL,
    CO_JPEG_QUALITY,
    CO_JPEGTABLESMODE,
    CO_WEBP_LEVEL,
    CO_WEBP_LOSSLESS,
    CO_JXL_LOSSLESS,
    CO_JXL_EFFORT,
    CO_JXL_DISTANCE,
    CO_JXL_ALPHA_DISTANCE,
    CO_JPEG2000_LOSSLESS,
    CO_JPEG2000_QUALITY,
    CO_MAX_Z_ERROR,
    CO_MAX_Z_ERROR_OVERVIEW,
    CO_OVERVIEWS,
    CO_OVERVIEW_COUNT,
    CO_OVERVIEW_RESAMPLING,
    CO_RESAMPLING,
    CO_OVERVIEW_COMPRESS,
    CO_OVERVIEW_QUALITY,
    CO_OVERVIEW_PREDICTOR,
    CO_DISCARD_LSB,
    CO_NBITS,
    CO_PIXELTYPE,
    CO_INTERLEAVE,
    CO_PHOTOMETRIC,
    CO_ALPHA,
    CO_BIGTIFF,
    CO_SPARSE_OK,
    CO_NUM_THREADS,
    CO_PROFILE,
    CO_TFW,
    CO_WORLDFILE,
    CO_ENDIANNESS,
    CO_COPY_SRC_MDD,
    CO_SRC_MDD,
    CO_GEOTIFF_VERSION,
    CO_ALIGN,
    CO_STATISTICS,
    /* from here on, any driver accepts only the default */
    CO_COPY_SRC_OVERVIEWS,
    CO_STREAMABLE_OUTPUT,
    CO_APPEND_SUBDATASET,
    CO_RPB,
    CO_RPCTXT,
    CO_GEOTIFF_KEYS_FLAVOR,
    CO_COLOR_TABLE_MULTIPLIER,
    CO_JPEG_DIRECT_COPY,
    CO_SOURCE_ICC_PROFILE,
    CO_SOURCE_PRIMARIES_RED,
    CO_SOURCE_PRIMARIES_GREEN,
    CO_SOURCE_PRIMARIES_BLUE,
    CO_SOURCE_WHITEPOINT,
    CO_TRANSFERFUNCTION_RED,
    CO_TRANSFERFUNCTION_GREEN,
    CO_TRANSFERFUNCTION_BLUE,
    CO_TRANSFERRANGE_BLACK,
    CO_TRANSFERRANGE_WHITE,
    CO_TILING_SCHEME,
    CO_ZOOM_LEVEL,
    CO_ZOOM_LEVEL_STRATEGY,
    CO_ALIGNED_LEVELS,
    CO_TARGET_SRS,
    CO_RES,
    CO_EXTENT,
    CO_WARP_RESAMPLING,
    CO_ADD_ALPHA,
    CO_COUNT
} tz_creation_id;

/* Values that are words of their own. */
enum { CREATION_LERC_DEFLATE = 100001, CREATION_LERC_ZSTD }; /* of COMPRESS */
enum { CREATION_FAST = -1 };                                 /* of ZLEVEL and LEVEL */
enum { STATISTICS_AUTO, STATISTICS_YES, STATISTICS_NO };     /* auto: those of the source stay */
enum { OVERVIEWS_AUTO, OVERVIEWS_NEW, OVERVIEWS_NONE };
enum { PROFILE_GDAL, PROFILE_GEOTIFF, PROFILE_BASELINE };
enum { ENDIAN_NATIVE, ENDIAN_INVERTED, ENDIAN_LITTLE, ENDIAN_BIG };

/* A word that may be a value. */
typedef struct tz_creation_word {
    const char *text; /* NULL ends a list */
    double value;
    const char *refused; /* why it is refused; NULL: it is not */
} tz_creation_word;

/* Kinds of values. */
typedef enum tz_creation_kind {
    CREATION_WORD,   /* words only */
    CREATION_NUMBER, /* also a whole number from min to max */
    CREATION_REAL,   /* also any number from min to max */
    CREATION_BITS,   /* whole numbers with commas between */
    CREATION_TEXT    /* any text */
} tz_creation_kind;

/* Bits of tz_creation_row.codecs. */
enum {
    FOR_LZW = 1,
    FOR_DEFLATE = 2,
    FOR_ZSTD = 4,
    FOR_LZMA = 8,
    FOR_LZ4 = 16,
    FOR_JPEG = 32,
    FOR_WEBP = 64,
    FOR_JXL = 128,
    FOR_LERC = 256,
    FOR_LERC_DEFLATE = 512,
    FOR_LERC_ZSTD = 1024,
    FOR_JPEG2000 = 2048,
    FOR_OVERVIEWS = 4096, /* the codec is that of the overviews */
    FOR_PREDICTED = FOR_LZW | FOR_DEFLATE | FOR_ZSTD | FOR_LZMA | FOR_LZ4,
    FOR_ANY_LERC = FOR_LERC | FOR_LERC_DEFLATE | FOR_LERC_ZSTD
};

typedef struct tz_creation_row {
    tz_creation_option shown;      /* first: the two share their address. name NULL: the driver has
                                      none of this meaning */
    const tz_creation_word *words; /* NULL: none */
    tz_creation_kind kind;
    double min, max;
    unsigned codecs;     /* that it is for; 0: all */
    const char *refused; /* why only the default is accepted; NULL: others are, too */
} tz_creation_row;

typedef struct tz_creation_driver {
    const char *name;            /* GDAL's */
    const tz_creation_row *rows; /* CO_COUNT, by their meaning */
} tz_creation_driver;
extern const tz_creation_driver tz_creation_gtiff;
extern const tz_creation_driver tz_creation_cog;

/* The profiles of rio-cogeo, as a row of their own. */
extern const tz_creation_row tz_creation_profiles;

#endif
