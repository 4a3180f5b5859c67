/* SPDX-License-Identifier: Apache-2.0
 * Writes a hill of 2000 x 1500 pixels, row by row, as a Cloud Optimized GeoTIFF: write [FILE]. The
 * overviews are made of the rows as they pass; the file appears when it is complete. */
#include <math.h>
#include <stdio.h>
#include <terrazzo/terrazzo.h>

enum { WIDTH = 2000, HEIGHT = 1500 };

static void make_row(float *row, int y)
{
    for (int x = 0; x < WIDTH; x++) {
        const double across = (x - WIDTH / 2) / 400.0, down = (y - HEIGHT / 2) / 300.0;
        row[x] = (float)(800.0 * exp(-across * across - down * down));
    }
}

static tz_result write_hill(tz_writer *writer, tz_write_report **report, tz_error *err)
{
    static float row[WIDTH];
    tz_buffer rows = TZ_BUFFER_INIT;
    rows.data = row;
    rows.dtype = TZ_DTYPE_FLOAT32;
    rows.bands = 1;
    rows.height = 1;
    rows.width = WIDTH;
    for (int y = 0; y < HEIGHT; y++) {
        make_row(row, y);
        const tz_result result = tz_write_rows(writer, &rows, NULL, err);
        if (result != TZ_OK)
            return result;
    }
    return tz_commit(writer, report, err);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hill.tif";
    const tz_geo geo = {.struct_size = sizeof(tz_geo),
                        .has_transform = true,
                        .transform = {500000, 10, 0, 5200000, 0, -10},
                        .model_type = 1,
                        .epsg = 32632};
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = WIDTH;
    spec.height = HEIGHT;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_FLOAT32;
    spec.geo = &geo;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.cog = true;
    tz_writer *writer = NULL;
    tz_write_report *report = NULL;
    tz_error err;
    tz_result result = tz_create(&writer, path, &spec, &options, &err);
    if (result == TZ_OK)
        result = write_hill(writer, &report, &err);
    tz_writer_close(writer);
    if (result != TZ_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%s: %llu bytes, %u levels\n", path, (unsigned long long)report->file_size,
           report->levels);
    tz_write_report_free(report);
    return 0;
}
