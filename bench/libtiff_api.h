/* SPDX-License-Identifier: Apache-2.0
 * The few functions and tags of libtiff that reading and writing need, found in a given libtiff at
 * run time. */
#ifndef TZ_BENCH_LIBTIFF_API_H
#define TZ_BENCH_LIBTIFF_API_H

#include <dlfcn.h>

#include "timing.h"

/* Name, result, parameters. */
#define TIFF_FUNCTIONS(F)                                                                          \
    F(TIFFOpen, void *, (const char *, const char *))                                              \
    F(TIFFClose, void, (void *))                                                                   \
    F(TIFFGetField, int, (void *, uint32_t, ...))                                                  \
    F(TIFFGetFieldDefaulted, int, (void *, uint32_t, ...))                                         \
    F(TIFFSetField, int, (void *, uint32_t, ...))                                                  \
    F(TIFFIsTiled, int, (void *))                                                                  \
    F(TIFFTileSize, int64_t, (void *))                                                             \
    F(TIFFStripSize, int64_t, (void *))                                                            \
    F(TIFFWriteEncodedTile, int64_t, (void *, uint32_t, void *, int64_t))                          \
    F(TIFFReadEncodedTile, int64_t, (void *, uint32_t, void *, int64_t))                           \
    F(TIFFReadEncodedStrip, int64_t, (void *, uint32_t, void *, int64_t))                          \
    F(TIFFSetErrorHandler, void *, (void *))                                                       \
    F(TIFFSetWarningHandler, void *, (void *))

enum {
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_SAMPLES = 277,
    TAG_ROWS_PER_STRIP = 278,
    TAG_PLANAR = 284,
    TAG_PREDICTOR = 317,
    TAG_TILE_WIDTH = 322,
    TAG_TILE_HEIGHT = 323,
    TAG_EXTRA_SAMPLES = 338,
    TAG_SAMPLE_FORMAT = 339,
    TAG_JPEG_COLOR_MODE = 65538,
    TAG_JPEG_TABLES_MODE = 65539,
    TAG_ZIP_QUALITY = 65557,
    TAG_LZMA_PRESET = 65562,
    TAG_ZSTD_LEVEL = 65564,
    TAG_WEBP_LOSSLESS = 65569,
    COMPRESSION_JPEG = 7,
    PHOTOMETRIC_MIN_IS_BLACK = 1,
    PHOTOMETRIC_RGB = 2,
    PHOTOMETRIC_YCBCR = 6,
    PLANAR_CONTIGUOUS = 1,
    JPEG_COLOR_MODE_RGB = 1,
    JPEG_TABLES_QUANT = 1
};

static struct {
#define TIFF_MEMBER(name, result, parameters) result(*name) parameters;
    TIFF_FUNCTIONS(TIFF_MEMBER)
#undef TIFF_MEMBER
} tiff;

static bool tiff_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return failed("%s", dlerror());
#define TIFF_FIND(name, result, parameters)                                                        \
    {                                                                                              \
        void *symbol = dlsym(library, #name);                                                      \
        if (symbol == NULL)                                                                        \
            return failed("%s has no %s", path, #name);                                            \
        memcpy(&tiff.name, &symbol, sizeof symbol);                                                \
    }
    TIFF_FUNCTIONS(TIFF_FIND)
#undef TIFF_FIND
    tiff.TIFFSetErrorHandler(NULL);
    tiff.TIFFSetWarningHandler(NULL);
    return true;
}

#endif
