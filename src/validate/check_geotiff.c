/* SPDX-License-Identifier: Apache-2.0
 * OGC 19-008, GeoTIFF 1.1: its nine abstract tests, and the requirements on single keys. The
 * numbers in the texts are those of the requirements.
 *
 * The tests apply to the full-resolution image, although the suite of the standard would have keys
 * on overviews. BigTIFF, which the standard does not know, and several tiepoints, of which it
 * allows one, are accepted. */
#include "tiff/tags.h"
#include "validate/checker.h"

static const tz_ifd_entry *find_image_entry(const tz_checker *checker, uint16_t tag)
{
    return tz_checked_ifd_find(&checker->directories[0], tag);
}

/* Returns false, and marks the check as not applicable, if the image has no GeoTIFF tags. */
static bool begin_geotiff_check(tz_checker *checker)
{
    size_t count;
    const tz_tag_row *rows = tz_tag_rows(&count);
    for (size_t i = 0; i < count; i++)
        if ((rows[i].flags & TZ_TAG_GEOTIFF) && find_image_entry(checker, rows[i].tag))
            return true;
    (void)tz_checker_skip(checker, "the image has no GeoTIFF tags");
    return false;
}

/* Requires a key directory, and a way from raster to model space. */
static tz_result check_geotiff_core(tz_checker *checker)
{
    const uint64_t offset = tz_checker_level(checker, 0)->ifd_offset;
    if (!begin_geotiff_check(checker))
        return TZ_OK;
    if (!find_image_entry(checker, TZ_TAG_GEO_KEYS))
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_at_tag(TZ_TAG_GEO_KEYS, offset), "the key directory is missing");
    if (!find_image_entry(checker, TZ_TAG_TIEPOINTS) &&
        !find_image_entry(checker, TZ_TAG_TRANSFORMATION))
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_at_tag(TZ_TAG_TIEPOINTS, offset),
                       "there is neither a tiepoint nor a transformation");
    return TZ_OK;
}

/* The table of tags ascends, so that entries must ascend with it. */
static tz_result check_geotiff_tags(tz_checker *checker)
{
    size_t count;
    const tz_tag_row *rows = tz_tag_rows(&count);
    uint64_t before = 0;
    if (!begin_geotiff_check(checker))
        return TZ_OK;
    (void)tz_checker_level(checker, 0);
    for (size_t i = 0; i < count; i++) {
        const uint16_t usual = tz_tag_usual_type(&rows[i]);
        const tz_ifd_entry *entry = find_image_entry(checker, rows[i].tag);
        if (!(rows[i].flags & TZ_TAG_GEOTIFF) || !entry)
            continue;
        const tz_location location = tz_at_tag(entry->tag, entry->entry_offset);
        if (entry->type != usual)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(location, usual, entry->type),
                           "the tag has the wrong type");
        if (entry->entry_offset < before)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO, location,
                           "the tags are not in ascending order");
        before = entry->entry_offset;
    }
    return TZ_OK;
}

/* Opening has checked the values of the tag that the argument of the row names. */
static tz_result check_transform_tag(tz_checker *checker)
{
    TZ_TRY(tz_checker_add_open_warnings(checker));
    if (!find_image_entry(checker, checker->row->argument))
        return tz_checker_skip(checker, "the image has no such tag");
    return TZ_OK;
}

/* clang-format off */
static const tz_check_row geotiff_rows[] = {
    {"geotiff.core", NULL, "there are keys, and a tiepoint or a transformation (1)",
     check_geotiff_core, 0, 0, 0},
    {"geotiff.tags", NULL, "GeoTIFF tags have their types and their order (1)",
     check_geotiff_tags, 0, 0, 0},
    {"geotiff.directory", NULL, "the key directory has its form, and keys ascend (2)",
     tz_check_key_directory, 0, 0, 0},
    {"geotiff.short", NULL, "values of SHORT keys are where they should be (3, 4)",
     tz_check_short_key_values, 0, 0, 0},
    {"geotiff.double", NULL, "values of DOUBLE keys are in tag GeoDoubleParams (5)",
     tz_check_double_key_values, 0, 0, 0},
    {"geotiff.ascii", NULL, "texts of keys are in tag GeoAsciiParams and end in a bar (6)",
     tz_check_ascii_key_values, 0, 0, 0},
    {"geotiff.tiepoints", NULL, "tiepoints are six numbers each (9)",
     check_transform_tag, 0, 0, TZ_TAG_TIEPOINTS},
    {"geotiff.scale", NULL, "the pixel scale is three numbers, and has a tiepoint (10)",
     check_transform_tag, 0, 0, TZ_TAG_PIXEL_SCALE},
    {"geotiff.matrix", NULL, "the transformation is sixteen numbers, without a scale (11)",
     check_transform_tag, 0, 0, TZ_TAG_TRANSFORMATION},
    {"geotiff.raster-type", NULL, "the raster type is area or point (7)",
     tz_check_keys, 0, 0, TZ_KEYS_RASTER_TYPE},
    {"geotiff.model-type", NULL, "there is a model type, and the key of its CRS (8)",
     tz_check_keys, 0, 0, TZ_KEYS_MODEL_TYPE},
    {"geotiff.crs", NULL, "codes of coordinate reference systems, and what they need (12, 13)",
     tz_check_keys, 0, 0, TZ_KEYS_CRS},
    {"geotiff.vertical", NULL, "vertical keys, and what they need (14, 25)",
     tz_check_keys, 0, 0, TZ_KEYS_VERTICAL},
    {"geotiff.citations", NULL, "citations are texts (15)",
     tz_check_keys, 0, 0, TZ_KEYS_CITATIONS},
    {"geotiff.units", NULL, "units, and the sizes of those that are user-defined (16, 17)",
     tz_check_keys, 0, 0, TZ_KEYS_UNITS},
    {"geotiff.datum", NULL, "datum, prime meridian and ellipsoid, and what they need (18 to 24)",
     tz_check_keys, 0, 0, TZ_KEYS_DATUM},
    {"geotiff.projection", NULL, "projection, its method and its parameters (26 to 31)",
     tz_check_keys, 0, 0, TZ_KEYS_PROJECTION},
};
/* clang-format on */
const tz_check_list tz_geotiff_checks = {geotiff_rows,
                                         sizeof geotiff_rows / sizeof geotiff_rows[0]};
