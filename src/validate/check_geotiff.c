/* SPDX-License-Identifier: Apache-2.0
 * OGC 19-008, GeoTIFF 1.1: its nine abstract tests, applied to the full-resolution image (the suite
 * itself would have keys on overviews, knows no BigTIFF and allows a single tiepoint), and the
 * requirements on single keys. */
#include "tiff/tags.h"
#include "validate/checker.h"

static const tz_ifd_entry *find_image_entry(const tz_checker *checker, uint16_t tag)
{
    return tz_checked_ifd_find(&checker->directories[0], tag);
}

static bool is_geotiff(const tz_checker *checker)
{
    size_t count;
    const tz_tag_row *rows = tz_tag_rows(&count);
    for (size_t i = 0; i < count; i++)
        if ((rows[i].flags & TZ_TAG_GEOTIFF) && find_image_entry(checker, rows[i].tag))
            return true;
    return false;
}

static tz_result skip_without_geotiff_tags(tz_checker *checker)
{
    return tz_checker_skip(checker, "the image has no GeoTIFF tags");
}

static tz_location at_missing_tag(const tz_checker *checker, uint16_t tag)
{
    return tz_at_tag(tag, checker->info->levels[0].ifd_offset);
}

/* Core: a key directory, and a way from raster to model space. */
static tz_result check_geotiff_core(tz_checker *checker)
{
    if (!is_geotiff(checker))
        return skip_without_geotiff_tags(checker);
    checker->ctx.ifd = checker->info->levels[0].ifd;
    if (!find_image_entry(checker, TZ_TAG_GEO_KEYS))
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       at_missing_tag(checker, TZ_TAG_GEO_KEYS), "the key directory is missing");
    if (!find_image_entry(checker, TZ_TAG_TIEPOINTS) &&
        !find_image_entry(checker, TZ_TAG_TRANSFORMATION))
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       at_missing_tag(checker, TZ_TAG_TIEPOINTS),
                       "there is neither a tiepoint nor a transformation");
    return TZ_OK;
}

static tz_result check_geotiff_tags(tz_checker *checker)
{
    size_t count;
    const tz_tag_row *rows = tz_tag_rows(&count);
    uint64_t before = 0;
    if (!is_geotiff(checker))
        return skip_without_geotiff_tags(checker);
    checker->ctx.ifd = checker->info->levels[0].ifd;
    for (size_t i = 0; i < count; i++) {
        const uint16_t usual = tz_tag_usual_type(&rows[i]);
        const tz_ifd_entry *entry = find_image_entry(checker, rows[i].tag);
        if (!(rows[i].flags & TZ_TAG_GEOTIFF) || !entry)
            continue;
        const tz_location location = tz_at_tag(entry->tag, entry->entry_offset);
        if (entry->type != usual)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(location, usual, entry->type),
                           "the tag has the wrong type");
        if (entry->entry_offset < before)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, location,
                           "the tags are not in ascending order");
        before = entry->entry_offset;
    }
    return TZ_OK;
}

/* ---- from raster to model space ---- */

static tz_result check_transform_tag(tz_checker *checker, uint16_t tag)
{
    TZ_TRY(tz_checker_add_open_warnings(checker));
    if (!find_image_entry(checker, tag))
        return tz_checker_skip(checker, "the image has no such tag");
    return TZ_OK;
}

static tz_result check_tiepoint_tag(tz_checker *checker)
{
    return check_transform_tag(checker, TZ_TAG_TIEPOINTS);
}

static tz_result check_scale_tag(tz_checker *checker)
{
    return check_transform_tag(checker, TZ_TAG_PIXEL_SCALE);
}

static tz_result check_matrix_tag(tz_checker *checker)
{
    return check_transform_tag(checker, TZ_TAG_TRANSFORMATION);
}

/* clang-format off */
static const tz_check_row geotiff_rows[] = {
    {"geotiff.core", NULL, "there are keys, and a tiepoint or a transformation (1)",
     check_geotiff_core, 0, false, false},
    {"geotiff.tags", NULL, "GeoTIFF tags have their types and their order (1)",
     check_geotiff_tags, 0, false, false},
    {"geotiff.directory", NULL, "the key directory has its form, and keys ascend (2)",
     tz_check_key_directory, 0, false, false},
    {"geotiff.short", NULL, "values of SHORT keys are where they should be (3, 4)",
     tz_check_short_key_values, 0, false, false},
    {"geotiff.double", NULL, "values of DOUBLE keys are in tag GeoDoubleParams (5)",
     tz_check_double_key_values, 0, false, false},
    {"geotiff.ascii", NULL, "texts of keys are in tag GeoAsciiParams and end in a bar (6)",
     tz_check_ascii_key_values, 0, false, false},
    {"geotiff.tiepoints", NULL, "tiepoints are six numbers each (9)",
     check_tiepoint_tag, 0, false, false},
    {"geotiff.scale", NULL, "the pixel scale is three numbers, and has a tiepoint (10)",
     check_scale_tag, 0, false, false},
    {"geotiff.matrix", NULL, "the transformation is sixteen numbers, without a scale (11)",
     check_matrix_tag, 0, false, false},
    {"geotiff.raster-type", NULL, "the raster type is area or point (7)",
     tz_check_raster_type, 0, false, false},
    {"geotiff.model-type", NULL, "there is a model type, and the key of its CRS (8)",
     tz_check_model_type, 0, false, false},
    {"geotiff.crs", NULL, "codes of coordinate reference systems, and what they need (12, 13)",
     tz_check_crs_codes, 0, false, false},
    {"geotiff.vertical", NULL, "vertical keys, and what they need (14, 25)",
     tz_check_vertical_keys, 0, false, false},
    {"geotiff.citations", NULL, "citations are texts (15)", tz_check_citation_keys, 0, false, false},
    {"geotiff.units", NULL, "units, and the sizes of those that are user-defined (16, 17)",
     tz_check_unit_keys, 0, false, false},
    {"geotiff.datum", NULL, "datum, prime meridian and ellipsoid, and what they need (18 to 24)",
     tz_check_datum_keys, 0, false, false},
    {"geotiff.projection", NULL, "projection, its method and its parameters (26 to 31)",
     tz_check_projection_keys, 0, false, false},
};
/* clang-format on */
const tz_check_list tz_geotiff_checks = {geotiff_rows,
                                         sizeof geotiff_rows / sizeof geotiff_rows[0]};
