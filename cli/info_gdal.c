/* SPDX-License-Identifier: Apache-2.0
 * JSON with the keys and the structure of gdalinfo -json, for scripts that read those.
 *
 * Numbers have the digits that GDAL prints, and what GDAL derives is derived in the same way: band
 * types, mask flags, corner coordinates, the unit of heights. Facts without a key of GDAL's follow
 * in one object, "terrazzo" (info_json.c). */
#include <math.h>
#include <string.h>

#include "color_table.h"
#include "info.h"
#include "problem.h"

void info_write_error(json *j, const tz_error *err, const char *path)
{
    json_object(j, NULL);
    json_text(j, "description", path);
    json_object(j, "error");
    problem_write(j, err);
    json_object_end(j);
    json_object_end(j);
}

static void write_files(json *j, const info_file *f)
{
    json_array(j, "files");
    json_text(j, NULL, f->path);
    for (uint32_t i = 0; i < f->info->sidecar_count; i++)
        json_text(j, NULL, tz_file_get_sidecar(f->file, i)->path);
    json_array_end(j);
}

/* Georeferencing ------------------------------------------------------------------------------- */

static void write_coordinate_system(json *j, const info_file *f)
{
    if (f->crs == NULL)
        return;
    json_object(j, "coordinateSystem");
    json_text(j, "wkt", tz_crs_get_wkt(f->crs));
    if (f->axes.count >= 2) {
        json_array_row(j, "dataAxisToSRSAxisMapping");
        json_uint(j, NULL, f->axes.north_first ? 2 : 1);
        json_uint(j, NULL, f->axes.north_first ? 1 : 2);
        if (f->axes.count > 2)
            json_uint(j, NULL, 3);
        json_array_end(j);
    }
    if (!isnan(f->info->geo->coordinate_epoch))
        json_double(j, "coordinateEpoch", f->info->geo->coordinate_epoch);
    json_object_end(j);
}

static void write_gcp(json *j, const tz_gcp *gcp, uint32_t index)
{
    char id[16];
    snprintf(id, sizeof id, "%u", (unsigned)index + 1);
    json_object_row(j, NULL);
    json_text(j, "id", id);
    json_text(j, "info", "");
    json_double(j, "pixel", gcp->column);
    json_double(j, "line", gcp->row);
    json_double(j, "x", gcp->x);
    json_double(j, "y", gcp->y);
    json_double(j, "z", gcp->z);
    json_object_end(j);
}

static void write_gcps(json *j, const info_file *f)
{
    const tz_geo *geo = f->info->geo;
    json_object(j, "gcps");
    write_coordinate_system(j, f);
    json_array(j, "gcpList");
    for (uint32_t i = 0; i < geo->gcp_count; i++)
        write_gcp(j, &geo->gcps[i], i);
    json_array_end(j);
    json_object_end(j);
}

static void write_georeference(json *j, const info_file *f)
{
    const tz_geo *geo = f->info->geo;
    if (geo->gcp_count > 0)
        write_gcps(j, f);
    else
        write_coordinate_system(j, f);
    if (!geo->has_transform)
        return;
    json_array_row(j, "geoTransform");
    for (int i = 0; i < 6; i++)
        json_double(j, NULL, geo->transform[i]);
    json_array_end(j);
}

static void write_point(json *j, const char *key, double x, double y)
{
    json_array_row(j, key);
    json_double(j, NULL, x);
    json_double(j, NULL, y);
    json_array_end(j);
}

static double round_degrees(double value)
{
    return round(value * 1e7) / 1e7;
}

static void write_corners(json *j, const info_file *f)
{
    info_corner corners[INFO_CORNERS];
    info_corners(f, corners);
    json_object(j, "cornerCoordinates");
    bool on_earth = true;
    for (int i = 0; i < INFO_CORNERS; i++) {
        write_point(j, corners[i].key, corners[i].x, corners[i].y);
        on_earth = on_earth && (corners[i].has_lonlat || i == INFO_CORNERS - 1);
    }
    json_object_end(j);
    if (!on_earth)
        return;
    json_object(j, "wgs84Extent");
    json_text(j, "type", "Polygon");
    json_array(j, "coordinates");
    json_array(j, NULL);
    for (int i = 0; i < 5; i++)
        write_point(j, NULL, round_degrees(corners[i % 4].lon), round_degrees(corners[i % 4].lat));
    json_array_end(j);
    json_array_end(j);
    json_object_end(j);
}

/* Bands ---------------------------------------------------------------------------------------- */

static void write_gdal_nodata(json *j, const tz_nodata *nodata)
{
    if (nodata->kind == TZ_NODATA_KIND_INT)
        json_int(j, "noDataValue", nodata->value.i);
    else if (nodata->kind == TZ_NODATA_KIND_UINT)
        json_uint(j, "noDataValue", nodata->value.u);
    else if (nodata->kind == TZ_NODATA_KIND_FLOAT)
        json_double(j, "noDataValue", nodata->value.f);
}

static void write_overviews(json *j, const info_file *f, bool of_mask)
{
    json_array(j, "overviews");
    for (uint32_t i = 1; i < f->info->level_count; i++) {
        const tz_level *level = info_level(f, i, of_mask);
        if (level == NULL)
            continue;
        json_object_row(j, NULL);
        json_pair(j, "size", level->width, level->height);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Returns true for a colour band of 2 or 4 whose last one is alpha: GDAL uses that as the mask. */
static bool has_alpha(const info_file *f, uint32_t band)
{
    const tz_info *info = f->info;
    return (info->bands == 2 || info->bands == 4) && band + 1 < info->bands &&
           (info->dtype == TZ_DTYPE_UINT8 || info->dtype == TZ_DTYPE_UINT16) &&
           tz_file_get_band(f->file, info->bands - 1)->color == TZ_COLOR_ALPHA;
}

static void write_mask(json *j, const info_file *f, uint32_t band)
{
    bool own_mask = tz_file_get_level(f->file, 0)->has_mask;
    bool alpha = !own_mask && f->info->nodata.kind == TZ_NODATA_KIND_NONE && has_alpha(f, band);
    if (!own_mask && !alpha)
        return;
    json_object(j, "mask");
    json_array_row(j, "flags");
    json_text(j, NULL, "PER_DATASET");
    if (alpha)
        json_text(j, NULL, "ALPHA");
    json_array_end(j);
    write_overviews(j, f, own_mask);
    json_object_end(j);
}

static bool is_nodata_entry(const tz_nodata *nodata, uint32_t value)
{
    if (nodata->kind == TZ_NODATA_KIND_INT)
        return nodata->value.i == value;
    return nodata->kind == TZ_NODATA_KIND_UINT && nodata->value.u == value;
}

static void write_color_table(json *j, const tz_info *info)
{
    const color_table colors = color_table_of(info);
    json_object(j, "colorTable");
    json_text(j, "palette", "RGB");
    json_uint(j, "count", colors.size);
    json_array(j, "entries");
    for (uint32_t i = 0; i < colors.size; i++) {
        unsigned char rgb[3];
        color_table_get(&colors, i, rgb);
        json_array_row(j, NULL);
        for (int part = 0; part < 3; part++)
            json_uint(j, NULL, rgb[part]);
        json_uint(j, NULL, is_nodata_entry(&info->nodata, i) ? 0 : 255);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

/* The unit is that of the band, else, as in GDAL, that of heights in the CRS. */
static void write_scaling(json *j, const info_file *f, const tz_band *band)
{
    if (band->unit != NULL && band->unit[0] != '\0')
        json_text(j, "unit", band->unit);
    else if (f->axes.vertical_unit[0] != '\0')
        json_text(j, "unit", f->axes.vertical_unit);
    if (!band->has_scale && !band->has_offset)
        return;
    json_double(j, "offset", band->offset);
    json_double(j, "scale", band->scale);
}

static void write_band(json *j, const info_file *f, uint32_t index)
{
    const tz_info *info = f->info;
    const tz_level *level = tz_file_get_level(f->file, 0);
    const tz_band *band = tz_file_get_band(f->file, index);
    json_object(j, NULL);
    json_uint(j, "band", (uint64_t)index + 1);
    json_pair(j, "block", level->tile_width, level->tile_height);
    json_text(j, "type", tz_dtype_gdal_name(info->dtype));
    json_text(j, "colorInterpretation",
              band->color_text != NULL ? band->color_text : tz_color_name(band->color));
    if (band->description != NULL && band->description[0] != '\0')
        json_text(j, "description", band->description);
    info_write_statistics(j, f, index);
    write_gdal_nodata(j, &info->nodata);
    write_scaling(j, f, band);
    if (info->level_count > 1)
        write_overviews(j, f, false);
    write_mask(j, f, index);
    info_write_band_metadata(j, f, index);
    if (index == 0 && info->color_map != NULL)
        write_color_table(j, info);
    json_object_end(j);
}

void info_write_json(json *j, info_file *f)
{
    const tz_info *info = f->info;
    json_object(j, NULL);
    json_text(j, "description", f->path);
    json_text(j, "driverShortName", "GTiff");
    json_text(j, "driverLongName", "GeoTIFF");
    write_files(j, f);
    json_pair(j, "size", info->width, info->height);
    write_georeference(j, f);
    info_write_metadata(j, f);
    write_corners(j, f);
    json_array(j, "bands");
    for (uint32_t i = 0; i < info->bands; i++)
        write_band(j, f, i);
    json_array_end(j);
    info_write_terrazzo(j, f);
    json_object_end(j);
}
