/* SPDX-License-Identifier: Apache-2.0
 * Times GDALOpenEx and GDALCreateCopy by the driver COG of a given libgdal; see writer.h. Its
 * memory is what GDAL_CACHEMAX says, in the environment. */
#include "../tools/oracle/gdal_api.h"
#include "gdal_options.h"
#include "writer.h"

static gdal_api gdal;

/* Names of codecs are GDAL's, whatever their case. */
static option_list options_of(const job *what)
{
    option_list options = {.count = 0};
    add(&options, "COMPRESS", what->codec);
    add(&options, "OVERVIEW_RESAMPLING", "AVERAGE");
    add_number(&options, "BLOCKSIZE", what->tile);
    add_number(&options, "NUM_THREADS", what->threads);
    if (what->predictor > 1)
        add(&options, "PREDICTOR", "YES");
    if (what->level != 0)
        add_number(&options, "LEVEL", what->level > 0 ? what->level : 1);
    return options;
}

static bool copy(const job *what)
{
    const option_list options = options_of(what);
    void *input = gdal.GDALOpenEx(what->input, GDAL_OF_RASTER, NULL, NULL, NULL);
    void *made = NULL;
    if (input != NULL)
        made = gdal.GDALCreateCopy(gdal.GDALGetDriverByName("COG"), what->out, input, 1,
                                   options.items, NULL, NULL);
    const bool done = made != NULL && gdal.GDALClose(made) == 0;
    if (!done)
        failed("%s", gdal.CPLGetLastErrorMsg());
    if (input != NULL)
        gdal.GDALClose(input);
    return done;
}

int main(int argc, char **argv)
{
    const writer by_gdal = {.copy = copy};
    if (argc != 2) {
        fprintf(stderr, "usage: cog_gdal LIBGDAL\n");
        return 2;
    }
    if (gdal_load(&gdal, argv[1]) != 0)
        return 1;
    return writer_main(&by_gdal);
}
