/* SPDX-License-Identifier: Apache-2.0
 * JSON: the object "terrazzo" of info, with all facts that gdalinfo has no key for.
 *
 * Lists of any length (tags, tiles) are written while they are read: neither is in memory as a
 * whole. If a table cannot be read, its list ends there and a warning says so. */
#include <math.h>
#include <string.h>

#include "info.h"
#include "limits.h"
#include "problem.h"
#include "sidecars.h"
#include "tag_values.h"
#include "terminal.h"
#include "text.h"

/* Warnings ------------------------------------------------------------------------------------- */

static void write_warnings(json *j, const info_file *f)
{
    json_array(j, "warnings");
    problem_write_warnings(j, f->file);
    problem_write_each(j, f->problems, f->problem_count);
    json_array_end(j);
    json_uint(j, "warnings_dropped", f->info->warnings_dropped);
}

/* The file ------------------------------------------------------------------------------------- */

static void write_format(json *j, const tz_info *info)
{
    json_object(j, "format");
    json_bool(j, "bigtiff", info->bigtiff);
    json_text(j, "byte_order", info->big_endian ? "big" : "little");
    json_uint(j, "file_size", info->file_size);
    json_uint(j, "ifd_count", info->ifd_count);
    json_bool(j, "chain_complete", info->chain_complete);
    json_uint(j, "directory_end", info->directory_end);
    json_uint(j, "bytes_read", info->bytes_read);
    json_uint(j, "reads", info->reads);
    json_object_end(j);
}

static void write_pages(json *j, const info_file *f)
{
    const tz_info *info = f->info;
    json_uint(j, "page", info->page);
    json_array(j, "pages");
    for (uint32_t i = 0; i < info->page_count; i++) {
        const tz_page *page = tz_file_get_page(f->file, i);
        json_object_row(j, NULL);
        json_pair(j, "size", page->width, page->height);
        json_uint(j, "bands", page->bands);
        json_uint(j, "bits_per_sample", page->bits_per_sample);
        json_int(j, "ifd", page->ifd);
        json_uint(j, "ifd_offset", page->ifd_offset);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_ghost(json *j, const tz_ghost *ghost)
{
    if (!ghost->present) {
        json_null(j, "ghost");
        return;
    }
    json_object(j, "ghost");
    json_uint(j, "size", ghost->size);
    json_bool(j, "ifds_before_data", ghost->ifds_before_data);
    json_bool(j, "row_major", ghost->row_major);
    json_bool(j, "leaders", ghost->leaders);
    json_bool(j, "trailers", ghost->trailers);
    json_bool(j, "mask_interleaved", ghost->mask_interleaved);
    json_bool(j, "edited", ghost->edited);
    json_text(j, "interleave", tz_interleave_name((tz_interleave)ghost->interleave));
    json_object_end(j);
}

static void write_cog(json *j, const info_file *f)
{
    static const char *const names[] = {
        "not_tiled",  "no_overviews", "ifd_not_first",      "ifd_order",         "data_before_ifds",
        "data_order", "edited",       "external_overviews", "not_georeferenced", "truncated"};
    json_object(j, "cog");
    if (!f->cog_known)
        json_null(j, "is_cog");
    else
        json_bool(j, "is_cog", info_is_cog(f));
    json_array(j, "problems");
    for (size_t i = 0; f->cog_known && i < sizeof names / sizeof names[0]; i++) {
        if (!(f->cog_problems & (uint32_t)1 << i))
            continue;
        json_object_row(j, NULL);
        json_text(j, "name", names[i]);
        json_text(j, "text", tz_cog_problem_text((uint32_t)1 << i));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

/* Levels --------------------------------------------------------------------------------------- */

static void write_tag_info(json *j, info_file *f, const tz_tag *tag)
{
    tz_error err;
    json_object_row(j, NULL);
    json_uint(j, "tag", tag->tag);
    json_text_or_null(j, "name", tz_tag_name(tag->tag));
    json_uint(j, "type", tag->type);
    json_text_or_null(j, "type_name", tz_tag_type_name(tag->type));
    json_uint(j, "count", tag->count);
    json_uint(j, "size", tag->size);
    json_uint(j, "offset", tag->offset);
    if (tag_write(j, f->file, tag, &err) != TZ_OK)
        info_problem(f, &err, false);
    json_object_end(j);
}

static bool write_each_tag(void *user, info_file *f, const tz_tag *tag)
{
    write_tag_info(user, f, tag);
    return !term_is_broken();
}

static void write_directory_tags(json *j, info_file *f, const char *key, uint64_t ifd_offset)
{
    json_array(j, key);
    info_each_tag(f, ifd_offset, write_each_tag, j);
    json_array_end(j);
}

static void write_embedded(json *j, info_file *f)
{
    json_object_row(j, "embedded");
    for (size_t i = 0; i < INFO_EMBEDDED; i++) {
        tz_tag tag = TZ_TAG_INIT;
        bool found =
            tag_find(f->file, tz_file_get_level(f->file, 0), info_embedded_kinds[i].tag, &tag);
        json_uint_or_null(j, info_embedded_kinds[i].key, tag.size, found);
    }
    json_object_end(j);
    if (f->settings->tags && f->info->exif_ifd != TZ_NO_VALUE)
        write_directory_tags(j, f, "exif_tags", f->info->exif_ifd);
    if (f->settings->tags && f->info->gps_ifd != TZ_NO_VALUE)
        write_directory_tags(j, f, "gps_tags", f->info->gps_ifd);
}

static void write_stored(json *j, info_file *f, uint32_t number, bool mask, const tz_level *level)
{
    uint64_t bytes;
    uint64_t sparse;
    bool known = info_stored_size(f, number, mask, &bytes, &sparse);
    json_uint_or_null(j, "stored_size", bytes, known);
    json_uint_or_null(j, "sparse_tiles", sparse, known);
    if (known && bytes > 0)
        json_double(j, "compression_ratio",
                    round(info_raw_size(level) / (double)bytes * 1e4) / 1e4);
    else
        json_null(j, "compression_ratio");
}

static void write_codec(json *j, const tz_level *level)
{
    char codec[TEXT_NUMBER];
    json_uint(j, "compression", level->compression);
    json_text(j, "compression_name", info_codec(level, codec));
    json_uint(j, "predictor", level->predictor);
    json_uint(j, "bits_per_sample", level->bits_per_sample);
    json_uint(j, "samples", level->samples);
    json_uint(j, "photometric", level->photometric);
    json_uint(j, "jpeg_tables_size", level->jpeg_tables_size);
    if (level->lerc_version != 0) {
        json_uint(j, "lerc_version", level->lerc_version);
        json_uint(j, "lerc_compression", level->lerc_compression);
    }
}

static void write_level_info(json *j, info_file *f, uint32_t number, bool mask,
                             const tz_level *level)
{
    json_object(j, NULL);
    json_uint(j, "level", number);
    json_pair(j, "size", level->width, level->height);
    json_bool(j, "tiled", level->tiled);
    json_pair(j, "tile_size", level->tile_width, level->tile_height);
    json_pair(j, "tiles", level->tiles_across, level->tiles_down);
    json_uint(j, "tile_count", level->tile_count);
    write_codec(j, level);
    write_stored(j, f, number, mask, level);
    json_bool(j, "has_mask", level->has_mask);
    json_bool(j, "readable", level->readable);
    json_text_or_null(j, "sidecar", level->sidecar != 0 ? tz_sidecar_name(level->sidecar) : NULL);
    json_int(j, "ifd", level->ifd);
    json_uint(j, "ifd_offset", level->ifd_offset);
    json_int(j, "tag_count", level->tag_count);
    if (f->settings->tags && level->sidecar == 0)
        write_directory_tags(j, f, "tags", level->ifd_offset);
    json_object_end(j);
}

static void write_levels(json *j, info_file *f, const char *key, bool masks)
{
    json_array(j, key);
    for (uint32_t i = 0; i < f->info->level_count; i++) {
        const tz_level *level = info_level(f, i, masks);
        if (level != NULL)
            write_level_info(j, f, i, masks, level);
    }
    json_array_end(j);
}

static bool write_tile(void *user, const info_tile *tile)
{
    json *j = user;
    json_object_row(j, NULL);
    json_uint(j, "level", tile->level);
    json_bool(j, "mask", tile->mask);
    json_uint(j, "tile", tile->tile);
    json_uint(j, "row", tile->row);
    json_uint(j, "column", tile->column);
    json_uint(j, "band", tile->band);
    json_uint(j, "offset", tile->span.offset);
    json_uint(j, "size", tile->span.size);
    json_bool(j, "sparse", tile->span.offset == 0 && tile->span.size == 0);
    json_object_end(j);
    return !term_is_broken();
}

/* The image ------------------------------------------------------------------------------------ */

static void write_image_info(json *j, const tz_info *info)
{
    json_text(j, "dtype", tz_dtype_name(info->dtype));
    json_uint(j, "bits_per_sample", info->bits_per_sample);
    json_uint(j, "sample_format", info->sample_format);
    json_uint(j, "photometric", info->photometric);
    json_text_or_null(j, "photometric_name", tz_photometric_name(info->photometric));
    json_uint(j, "planar", info->planar);
    json_uint(j, "orientation", info->orientation);
    json_uint(j, "fill_order", info->fill_order);
    json_pair(j, "ycbcr_subsampling", info->ycbcr_subsampling[0], info->ycbcr_subsampling[1]);
    json_array_row(j, "extra_samples");
    for (uint32_t i = 0; i < info->extra_sample_count; i++)
        json_uint(j, NULL, info->extra_samples[i]);
    json_array_end(j);
    json_uint(j, "color_map_size", info->color_map != NULL ? info->color_map_size : 0);
    json_uint_or_null(j, "exif_ifd", info->exif_ifd, info->exif_ifd != TZ_NO_VALUE);
    json_uint_or_null(j, "gps_ifd", info->gps_ifd, info->gps_ifd != TZ_NO_VALUE);
}

static void write_nodata_info(json *j, const tz_info *info)
{
    static const char *const kinds[] = {"none", "int", "uint", "float"};
    const tz_nodata *nodata = &info->nodata;
    json_object(j, "nodata");
    json_text(j, "kind", kinds[nodata->kind <= TZ_NODATA_KIND_FLOAT ? nodata->kind : 0]);
    if (nodata->kind == TZ_NODATA_KIND_INT)
        json_int(j, "value", nodata->value.i);
    else if (nodata->kind == TZ_NODATA_KIND_UINT)
        json_uint(j, "value", nodata->value.u);
    else if (nodata->kind == TZ_NODATA_KIND_FLOAT)
        json_double(j, "value", nodata->value.f);
    else
        json_null(j, "value");
    json_text_or_null(j, "text", info->nodata_text);
    json_object_end(j);
}

/* Georeferencing ------------------------------------------------------------------------------- */

static void write_key(json *j, const tz_geo_key *key)
{
    json_object_row(j, NULL);
    json_uint(j, "id", key->id);
    json_text_or_null(j, "name", tz_geo_key_name(key->id));
    json_text_or_null(j, "type", tz_tag_type_name(key->type));
    if (key->type == 2) {
        json_text_sized(j, "value", key->value.text, key->count);
    } else {
        json_array(j, "value");
        for (uint32_t i = 0; i < key->count; i++) {
            if (key->type == 12)
                json_double(j, NULL, key->value.doubles[i]);
            else
                json_uint(j, NULL, key->value.shorts[i]);
        }
        json_array_end(j);
    }
    json_object_end(j);
}

static void write_geo(json *j, const info_file *f)
{
    const tz_geo *geo = f->info->geo;
    json_object(j, "geo");
    json_bool(j, "has_transform", geo->has_transform);
    json_bool(j, "has_crs", geo->has_crs);
    json_text(j, "raster_type", tz_raster_type_name(geo->raster_type));
    json_uint(j, "model_type", geo->model_type);
    json_uint(j, "epsg", geo->epsg);
    json_uint(j, "epsg_vertical", geo->epsg_vertical);
    json_text_or_null(j, "citation", geo->citation);
    json_text_or_null(j, "crs_name", f->crs != NULL ? tz_crs_get_name(f->crs) : NULL);
    json_uint_or_null(j, "crs_epsg", f->crs != NULL ? (uint64_t)tz_crs_get_epsg(f->crs) : 0,
                      f->crs != NULL && tz_crs_get_epsg(f->crs) > 0);
    if (isnan(geo->coordinate_epoch))
        json_null(j, "coordinate_epoch");
    else
        json_double(j, "coordinate_epoch", geo->coordinate_epoch);
    json_uint(j, "gcp_count", geo->gcp_count);
    json_bool(j, "rpc", geo->rpc != NULL);
    json_pair(j, "key_version", geo->key_revision, geo->key_minor);
    json_array(j, "keys");
    for (uint32_t i = 0; i < geo->key_count; i++)
        write_key(j, &geo->keys[i]);
    json_array_end(j);
    json_object_end(j);
}

void info_write_terrazzo(json *j, info_file *f)
{
    json_object(j, "terrazzo");
    json_text(j, "version", tz_version());
    write_format(j, f->info);
    write_pages(j, f);
    write_image_info(j, f->info);
    write_embedded(j, f);
    write_nodata_info(j, f->info);
    write_geo(j, f);
    write_levels(j, f, "levels", false);
    write_levels(j, f, "masks", true);
    write_ghost(j, f->info->ghost);
    write_cog(j, f);
    sidecars_write(j, f->path, f->file);
    if (f->settings->tiles) {
        json_array(j, "tiles");
        info_each_tile(f, write_tile, j);
        json_array_end(j);
    }
    if (f->settings->limits)
        limits_write(j, &f->settings->common.limits);
    write_warnings(j, f);
    json_object_end(j);
}
