/* SPDX-License-Identifier: Apache-2.0
 * The transform of a result is composed of four: pixels of the result to those of the window, of
 * the upright level to the stored one, of the level to full resolution, and the file's own. */
#include "georeference.h"

#include <stdio.h>

#include "page.h"
#include "text.h"

#define USER_DEFINED 32767

/* Transform ------------------------------------------------------------------------------------ */

/* Composes two transforms: b is applied first, then a. */
static void compose_transforms(const double a[6], const double b[6], double out[6])
{
    out[0] = a[0] + a[1] * b[0] + a[2] * b[3];
    out[1] = a[1] * b[1] + a[2] * b[4];
    out[2] = a[1] * b[2] + a[2] * b[5];
    out[3] = a[3] + a[4] * b[0] + a[5] * b[3];
    out[4] = a[4] * b[1] + a[5] * b[4];
    out[5] = a[4] * b[2] + a[5] * b[5];
}

/* Makes the transform from pixels of the upright image to those of the stored one, which has width
 * x height pixels. */
static void upright_to_stored(unsigned orientation, double width, double height, double out[6])
{
    const bool swapped = orientation >= 5;
    const bool from_right = orientation == 2 || orientation == 3 || orientation >= 7;
    const bool from_bottom =
        orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const double x = from_right ? -1 : 1;
    const double y = from_bottom ? -1 : 1;
    out[0] = from_right ? width : 0;
    out[1] = swapped ? 0 : x;
    out[2] = swapped ? x : 0;
    out[3] = from_bottom ? height : 0;
    out[4] = swapped ? y : 0;
    out[5] = swapped ? 0 : y;
}

bool georeference_transform(const request *r, double out[6])
{
    const tz_info *info = r->info;
    const tz_level *level = request_level(r);
    const unsigned orientation = r->how.oriented ? info->orientation : 1;
    const double in_window[6] = {(double)r->window.column,
                                 (double)r->window.width / r->width,
                                 0,
                                 (double)r->window.row,
                                 0,
                                 (double)r->window.height / r->height};
    const double to_full[6] = {0, (double)info->width / level->width,  0, 0,
                               0, (double)info->height / level->height};
    double turn[6];
    double in_level[6];
    double in_image[6];
    if (!info->geo->has_transform)
        return false;
    upright_to_stored(orientation, level->width, level->height, turn);
    compose_transforms(turn, in_window, in_level);
    compose_transforms(to_full, in_level, in_image);
    compose_transforms(info->geo->transform, in_image, out);
    return true;
}

/* Coordinate reference system ------------------------------------------------------------------ */

/* Returns the EPSG code of the keys, else the one that PROJ finds; 0: none. */
static int code_of(const tz_geo *geo, const tz_crs *crs)
{
    if (geo->epsg != 0 && geo->epsg != USER_DEFINED)
        return geo->epsg;
    return crs != NULL ? tz_crs_get_epsg(crs) : 0;
}

/* Returns NULL if there is no CRS, or PROJ does not understand it: `info` says why. */
static tz_crs *open_crs(const request *r)
{
    tz_crs *crs = NULL;
    tz_error err;
    if (r->info->geo->has_crs && tz_crs_from_file(&crs, r->file, &err) != TZ_OK)
        return NULL;
    return crs;
}

/* A user-defined vertical CRS has no code to show. */
static bool has_vertical(const tz_geo *geo)
{
    return geo->epsg_vertical != 0 && geo->epsg_vertical != USER_DEFINED;
}

static void print_result_crs(const request *r)
{
    const tz_geo *geo = r->info->geo;
    tz_crs *crs = open_crs(r);
    int code = code_of(geo, crs);
    page_label("CRS");
    if (code != 0)
        printf("EPSG:%d", code);
    if (code != 0 && has_vertical(geo))
        printf("+%u", geo->epsg_vertical);
    if (code != 0 && crs != NULL)
        printf(", ");
    if (crs != NULL)
        text_put_string(stdout, tz_crs_get_name(crs), 0);
    else if (code == 0)
        printf("not known by a code");
    putchar('\n');
    tz_crs_close(crs);
}

void georeference_print(const request *r)
{
    double t[6];
    char number[TEXT_NUMBER];
    if (georeference_transform(r, t)) {
        page_label("Transform");
        for (int i = 0; i < 6; i++)
            printf("%s%s", i > 0 ? ", " : "", text_double(number, t[i]));
        putchar('\n');
    }
    if (r->info->geo->has_crs)
        print_result_crs(r);
}

void georeference_write(json *j, const request *r)
{
    const tz_geo *geo = r->info->geo;
    tz_crs *crs = open_crs(r);
    int code = code_of(geo, crs);
    double t[6];
    json_object(j, "geo");
    if (georeference_transform(r, t)) {
        json_array_row(j, "transform");
        for (int i = 0; i < 6; i++)
            json_double(j, NULL, t[i]);
        json_array_end(j);
    } else {
        json_null(j, "transform");
    }
    json_uint_or_null(j, "epsg", (uint64_t)code, code > 0);
    json_uint_or_null(j, "epsg_vertical", geo->epsg_vertical, has_vertical(geo));
    json_text_or_null(j, "wkt", crs != NULL ? tz_crs_get_wkt(crs) : NULL);
    json_object_end(j);
    tz_crs_close(crs);
}
