/* SPDX-License-Identifier: Apache-2.0
 * Times GDALCreate to GDALClose of the driver GTiff of a given libgdal; see writer.h. Its
 * memory is what GDAL_CACHEMAX says, in the environment. */
#include "../tools/oracle/gdal_api.h"
#include "gdal_options.h"
#include "writer.h"

static gdal_api gdal;

/* Name here, value of COMPRESS, and what else it wants. */
static const struct {
    const char *name, *compress, *level, *extra, *value;
} codecs[] = {
    {"none", "NONE", NULL, NULL, NULL},          {"deflate", "DEFLATE", "ZLEVEL", NULL, NULL},
    {"zstd", "ZSTD", "ZSTD_LEVEL", NULL, NULL},  {"lzw", "LZW", NULL, NULL, NULL},
    {"packbits", "PACKBITS", NULL, NULL, NULL},  {"lerc", "LERC", NULL, "MAX_Z_ERROR", "0"},
    {"lzma", "LZMA", "LZMA_PRESET", NULL, NULL}, {"jpeg", "JPEG", NULL, "PHOTOMETRIC", "YCBCR"},
    {"webp", "WEBP", NULL, NULL, NULL},          {"webpll", "WEBP", NULL, "WEBP_LOSSLESS", "YES"}};

static bool add_codec(option_list *list, const job *what)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(codecs[i].name, what->codec) != 0)
            continue;
        add(list, "COMPRESS", codecs[i].compress);
        if (what->level != 0 && codecs[i].level != NULL)
            add_number(list, codecs[i].level, what->level > 0 ? what->level : 1);
        if (codecs[i].extra != NULL)
            add(list, codecs[i].extra, codecs[i].value);
        return true;
    }
    return failed("no codec %s", what->codec);
}

static int type_of(const job *what)
{
    static const struct {
        const char *name;
        int type;
    } types[] = {{"uint8", 1}, {"uint16", 2}, {"int16", 3}, {"float32", 6}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, what->dtype) == 0)
            return types[i].type;
    }
    return 0;
}

static void *create(const job *what)
{
    option_list options = {.count = 0};
    if (!add_codec(&options, what))
        return NULL;
    add(&options, "TILED", "YES");
    add_number(&options, "BLOCKXSIZE", what->tile);
    add_number(&options, "BLOCKYSIZE", what->tile);
    add(&options, "INTERLEAVE", "PIXEL");
    add_number(&options, "NUM_THREADS", what->threads);
    if (what->predictor > 1)
        add_number(&options, "PREDICTOR", what->predictor);
    void *dataset =
        gdal.GDALCreate(gdal.GDALGetDriverByName("GTiff"), what->out, (int)what->width,
                        (int)what->height, (int)what->bands, type_of(what), options.items);
    if (dataset == NULL)
        failed("%s", gdal.CPLGetLastErrorMsg());
    return dataset;
}

static bool write_rows(void *file, const job *what, uint32_t row, uint32_t rows,
                       const uint8_t *pixels)
{
    const int width = (int)what->width, height = (int)rows, bands = (int)what->bands;
    const int64_t sample = (int64_t)what->sample_size, pixel = sample * bands;
    return gdal.GDALDatasetRasterIOEx(file, 1, 0, (int)row, width, height,
                                      (void *)(uintptr_t)pixels, width, height, type_of(what),
                                      bands, NULL, pixel, pixel * width, sample, NULL) == 0 ||
           failed("%s", gdal.CPLGetLastErrorMsg());
}

static bool close_file(void *file)
{
    return gdal.GDALClose(file) == 0 || failed("%s", gdal.CPLGetLastErrorMsg());
}

int main(int argc, char **argv)
{
    const writer by_gdal = {.create = create, .write = write_rows, .close = close_file};
    if (argc != 2) {
        fprintf(stderr, "usage: write_gdal LIBGDAL\n");
        return 2;
    }
    if (gdal_load(&gdal, argv[1]) != 0)
        return 1;
    return writer_main(&by_gdal);
}
