/* SPDX-License-Identifier: Apache-2.0
 * --co KEY=VALUE: the creation options of GDAL's GTiff and COG drivers, and a few of our own.
 * Tables know their names, values and defaults; parsing, suggestions and help are made from them.
 */
#ifndef CLI_CREATION_H
#define CLI_CREATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum creation_id {
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
} creation_id;

/* Values that are words of their own. */
enum { CREATION_LERC_DEFLATE = 100001, CREATION_LERC_ZSTD }; /* of COMPRESS */
enum { CREATION_FAST = -1 };                                 /* of ZLEVEL and LEVEL */
enum { STATISTICS_AUTO, STATISTICS_YES, STATISTICS_NO };     /* auto: those of the source stay */
enum { OVERVIEWS_AUTO, OVERVIEWS_NEW, OVERVIEWS_NONE };
enum { PROFILE_GDAL, PROFILE_GEOTIFF, PROFILE_BASELINE };
enum { ENDIAN_NATIVE, ENDIAN_INVERTED, ENDIAN_LITTLE, ENDIAN_BIG };

#define CREATION_LIST    64 /* values of DISCARD_LSB */
#define CREATION_DOMAINS 16 /* times SRC_MDD may be given */

/* The options that a driver has. */
typedef struct creation_driver creation_driver;
extern const creation_driver creation_gtiff;
extern const creation_driver creation_cog;

/* Options as given; others have their defaults. */
typedef struct creation {
    const creation_driver *driver;
    bool given[CO_COUNT];
    double value[CO_COUNT];
    uint8_t discard[CREATION_LIST];
    uint32_t discard_count;
    const char *domains[CREATION_DOMAINS];
    uint32_t domain_count;
} creation;

void creation_start(creation *c, const creation_driver *driver);
/* Sets "KEY=VALUE"; text must outlive c. false, with a message, when it is not understood or is
 * refused. */
bool creation_set(creation *c, const char *text);
/* Sets the compression of a profile of rio-cogeo, unless COMPRESS is given. false, with a message,
 * when no profile has that name. */
bool creation_set_profile(creation *c, const char *name);
/* Returns true if the options go together; otherwise a message was printed. Warns of options that
 * the chosen compression does not use, and removes them. */
bool creation_check(creation *c);

/* Returns a value that is a whole number. */
int64_t creation_number(const creation *c, creation_id id);
/* Returns a compression as TIFF's number: LERC with Deflate or ZSTD inside is LERC. */
uint16_t creation_compression(const creation *c, creation_id id);

/* Finds an option by its name, in any case and with '-' for '_'; NULL: there is none. */
const char *creation_key(const creation_driver *driver, const char *name, size_t size);

void creation_print_help(const creation_driver *driver);

#endif
