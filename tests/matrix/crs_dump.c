/* SPDX-License-Identifier: Apache-2.0
 * Writes an image of one pixel for each line of stdin, "PATH<tab>DEFINITION", with the GeoKeys of
 * that CRS, for check_crs.py. Prints "ok" or "error MESSAGE" for each. */
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

static tz_result write_pixel(const char *path, const tz_geo *geo, tz_error *err)
{
    static uint8_t pixel[1];
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = pixel,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 1,
                            .width = 1};
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_writer *writer = NULL;
    spec.width = spec.height = spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    spec.geo = geo;
    tz_result result = tz_create(&writer, path, &spec, NULL, err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, &rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

static tz_result write_crs(const char *path, const char *definition, tz_error *err)
{
    static const double transform[6] = {100, 10, 0, 200, 0, -10};
    tz_crs *crs = NULL;
    tz_geo *geo = NULL;
    tz_result result = tz_crs_create(&crs, definition, err);
    if (result == TZ_OK)
        result = tz_crs_to_geo(&geo, crs, TZ_RASTER_TYPE_AREA, err);
    if (result == TZ_OK) {
        tz_geo_set_transform(geo, transform);
        result = write_pixel(path, geo, err);
    }
    tz_geo_free(geo);
    tz_crs_close(crs);
    return result;
}

int main(void)
{
    static char line[70000];
    while (fgets(line, sizeof line, stdin)) {
        tz_error err;
        char *definition = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (!definition)
            return 2;
        *definition++ = '\0';
        if (write_crs(line, definition, &err) == TZ_OK)
            puts("ok");
        else
            printf("error %s\n", err.message);
        fflush(stdout);
    }
    return 0;
}
