/* SPDX-License-Identifier: Apache-2.0
 * A live oracle: opens every file whose path comes on stdin with the driver of a given libgdal and
 * prints one line of JSON for each, with the fields that the frozen answers of the corpus have.
 *
 *     gdal_helper $(tools/oracle/fetch_gdal.sh) GTiff <paths */
#include <math.h>

#include "gdal_api.h"

static gdal_api gdal;

static void put_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c < 32 || *c > 126 || *c == '"' || *c == '\\')
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void put_double(double value)
{
    if (isfinite(value))
        printf("%.17g", value);
    else
        printf("\"%g\"", value);
}

static void put_bands(void *dataset)
{
    void *band = gdal.GDALGetRasterBand(dataset, 1);
    if (band == NULL)
        return;
    int width, height, has_nodata = 0;
    gdal.GDALGetBlockSize(band, &width, &height);
    double nodata = gdal.GDALGetRasterNoDataValue(band, &has_nodata);
    printf(",\"dtype\":\"%s\",\"block\":[%d,%d],\"mask_flags\":%d,\"nodata\":",
           gdal.GDALGetDataTypeName(gdal.GDALGetRasterDataType(band)), width, height,
           gdal.GDALGetMaskFlags(band));
    if (has_nodata)
        put_double(nodata);
    else
        printf("null");
    printf(",\"overviews\":[");
    for (int i = 0; i < gdal.GDALGetOverviewCount(band); i++) {
        void *overview = gdal.GDALGetOverview(band, i);
        printf("%s[%d,%d]", i > 0 ? "," : "", gdal.GDALGetRasterBandXSize(overview),
               gdal.GDALGetRasterBandYSize(overview));
    }
    putchar(']');
}

static void put_dataset(void *dataset)
{
    printf(",\"width\":%d,\"height\":%d,\"bands\":%d,\"gcps\":%d,\"geotransform\":",
           gdal.GDALGetRasterXSize(dataset), gdal.GDALGetRasterYSize(dataset),
           gdal.GDALGetRasterCount(dataset), gdal.GDALGetGCPCount(dataset));
    double transform[6];
    if (gdal.GDALGetGeoTransform(dataset, transform) == 0) {
        for (int i = 0; i < 6; i++) {
            putchar(i == 0 ? '[' : ',');
            put_double(transform[i]);
        }
        putchar(']');
    } else {
        printf("null");
    }
    put_bands(dataset);
    printf(",\"wkt\":");
    put_text(gdal.GDALGetProjectionRef(dataset));
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: gdal_helper LIBGDAL DRIVER <PATHS\n");
        return 2;
    }
    if (gdal_load(&gdal, argv[1]) != 0)
        return 1;
    const char *const drivers[] = {argv[2], NULL};
    char path[4096];
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        void *dataset = gdal.GDALOpenEx(path, GDAL_OF_RASTER, drivers, NULL, NULL);
        printf("{\"path\":");
        put_text(path);
        printf(",\"open\":%s", dataset != NULL ? "true" : "false");
        if (dataset != NULL) {
            put_dataset(dataset);
            gdal.GDALClose(dataset);
        } else {
            printf(",\"error\":");
            put_text(gdal.CPLGetLastErrorMsg());
        }
        printf("}\n");
        fflush(stdout);
    }
    return 0;
}
