/* SPDX-License-Identifier: Apache-2.0
 * Times GDALDatasetRasterIO with one driver of a given libgdal; see reader.h. */
#include "../tools/oracle/gdal_api.h"
#include "reader.h"

static gdal_api gdal;
static const char *drivers[2];

static void *open_file(const char *path, unsigned threads, shape *what)
{
    char count[32];
    snprintf(count, sizeof count, "NUM_THREADS=%u", threads);
    const char *options[] = {count, NULL};
    void *dataset = gdal.GDALOpenEx(path, GDAL_OF_RASTER, drivers, options, NULL);
    if (dataset == NULL) {
        failed("%s", gdal.CPLGetLastErrorMsg());
        return NULL;
    }
    const int type = gdal.GDALGetRasterDataType(gdal.GDALGetRasterBand(dataset, 1));
    *what = (shape){
        (uint32_t)gdal.GDALGetRasterXSize(dataset), (uint32_t)gdal.GDALGetRasterYSize(dataset),
        (uint32_t)gdal.GDALGetRasterCount(dataset), (size_t)gdal.GDALGetDataTypeSizeBits(type) / 8};
    return dataset;
}

static bool read_window(void *file, const window *w, bool by_pixel, unsigned threads, uint8_t *into)
{
    (void)threads; /* told when it was opened */
    const int type = gdal.GDALGetRasterDataType(gdal.GDALGetRasterBand(file, 1));
    const int bands = gdal.GDALGetRasterCount(file);
    const int64_t size = gdal.GDALGetDataTypeSizeBits(type) / 8;
    const int64_t pixel = by_pixel ? size * bands : size;
    const int64_t line = pixel * w->width;
    const int64_t band = by_pixel ? size : line * w->height;
    const int width = (int)w->width, height = (int)w->height;
    return gdal.GDALDatasetRasterIOEx(file, 0, (int)w->column, (int)w->row, width, height, into,
                                      width, height, type, bands, NULL, pixel, line, band,
                                      NULL) == 0 ||
           failed("%s", gdal.CPLGetLastErrorMsg());
}

static void close_file(void *file)
{
    gdal.GDALClose(file);
}

int main(int argc, char **argv)
{
    const reader by_gdal = {open_file, read_window, close_file, NULL};
    if (argc != 3) {
        fprintf(stderr, "usage: read_gdal LIBGDAL DRIVER\n");
        return 2;
    }
    if (gdal_load(&gdal, argv[1]) != 0)
        return 1;
    drivers[0] = argv[2];
    return reader_main(&by_gdal);
}
