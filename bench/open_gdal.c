/* SPDX-License-Identifier: Apache-2.0
 * Times GDALOpenEx with one driver of a given libgdal; see opener.h. */
#include "../tools/oracle/gdal_api.h"
#include "opener.h"

static gdal_api gdal;
static const char *drivers[2];

static int open_one(const char *path, opened *sums)
{
    void *dataset = gdal.GDALOpenEx(path, GDAL_OF_RASTER, drivers, NULL, NULL);
    if (dataset == NULL) {
        fprintf(stderr, "%s: %s\n", path, gdal.CPLGetLastErrorMsg());
        return 1;
    }
    void *band = gdal.GDALGetRasterBand(dataset, 1);
    sums->pixels += (uint64_t)gdal.GDALGetRasterXSize(dataset) *
                    (uint64_t)gdal.GDALGetRasterYSize(dataset) *
                    (uint64_t)gdal.GDALGetRasterCount(dataset);
    sums->bits += (uint64_t)gdal.GDALGetDataTypeSizeBits(gdal.GDALGetRasterDataType(band));
    double t[6];
    if (gdal.GDALGetGeoTransform(dataset, t) == 0)
        sums->corners += t[0] + t[1] + t[3] + t[5];
    int has_nodata = 0;
    double nodata = gdal.GDALGetRasterNoDataValue(band, &has_nodata);
    if (has_nodata)
        sums->nodata += nodata;
    gdal.GDALClose(dataset);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: open_gdal LIST LIBGDAL DRIVER\n");
        return 2;
    }
    if (gdal_load(&gdal, argv[2]) != 0)
        return 1;
    drivers[0] = argv[3];
    if (gdal.GDALGetDriverByName(argv[3]) == NULL) {
        fprintf(stderr, "%s has no driver %s\n", gdal.GDALVersionInfo("--version"), argv[3]);
        return 1;
    }
    return opener_main(argv[1]);
}
