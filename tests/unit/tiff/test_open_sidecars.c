/* SPDX-License-Identifier: Apache-2.0
 * NAME.aux.xml and world files: what they say, what wins, and what is wrong with them. Their values
 * are compared with GDAL's in tests/cli/test_sidecars.py. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

typedef struct beside {
    char image[CHECK_PATH_SIZE], aux[CHECK_PATH_SIZE], world[CHECK_PATH_SIZE];
} beside;

#define ALL (TZ_SIDECAR_OVR | TZ_SIDECAR_MSK | TZ_SIDECAR_AUX | TZ_SIDECAR_WORLD)

static const char rich_aux[] =
    "<PAMDataset><SRS coordinateEpoch=\"2021.5\">EPSG:32634</SRS>"
    "<GeoTransform> 100, 2, 0, 200, 0, -2</GeoTransform>"
    "<Metadata><MDI key=\"A\">aux</MDI><MDI key=\"C\">new</MDI></Metadata>"
    "<Metadata domain=\"xml:D\" format=\"xml\">\n<d e=\"1\"><f/></d>\n</Metadata>"
    "<Subdataset name=\"x\"><PAMDataset><GeoTransform>1,1,1,1,1,1</GeoTransform></PAMDataset>"
    "</Subdataset>"
    "<PAMRasterBand band=\"1\"><NoDataValue>7</NoDataValue><Scale>3</Scale>"
    "<Histograms><HistItem><HistMin>1</HistMin></HistItem></Histograms>"
    "<Metadata><MDI key=\"STATISTICS_MEAN\">4</MDI></Metadata></PAMRasterBand></PAMDataset>";
static const char world[] = "10\n0\n0\n-10\n1005\n1995\n";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void make(beside *paths, bool georeferenced, const char *aux, const char *world_text)
{
    check_path(paths->image, "beside.tif");
    check_path(paths->aux, "beside.tif.aux.xml");
    check_path(paths->world, "beside.tfw");
    tb *b = tb_new(TB_CLASSIC);
    int image = tb_gray(b, 16, 16);
    tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "1");
    tb_set_text(b, image, TZ_TAG_GDAL_METADATA,
                "<GDALMetadata><Item name=\"A\">own</Item><Item name=\"B\">own</Item>"
                "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">2</Item></GDALMetadata>");
    if (georeferenced)
        tb_georeference(b, image, 32633);
    tb_finish(b);
    tb_write_file(b, paths->image);
    tb_free(b);
    if (aux)
        write_text(paths->aux, aux);
    if (world_text)
        write_text(paths->world, world_text);
}

static void clean(const beside *paths)
{
    check_remove(paths->image);
    (void)!unlink(paths->aux);
    (void)!unlink(paths->world);
}

static tz_result open_beside(const beside *paths, uint32_t sidecars, bool strict, tz_file **file,
                             tz_error *err)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.sidecars = sidecars;
    options.strict = strict;
    return tz_open(file, paths->image, &options, err);
}

static const char *find_item(const tz_file *file, const char *domain, const char *name)
{
    const tz_metadata_item *item;
    const char *found = NULL;
    for (uint32_t i = 0; (item = tz_file_get_metadata(file, i)) != NULL; i++) {
        if (strcmp(item->domain, domain) != 0 || strcmp(item->name, name) != 0)
            continue;
        assert_null(found);
        found = item->value;
    }
    return found;
}

/* Said, not passed over. */
static void without_expat_aux_is_a_warning(void **state)
{
    (void)state;
    beside paths;
    tz_file *file = NULL;
    tz_error err;
    if (tz_build_feature("expat"))
        return;
    make(&paths, false, rich_aux, NULL);
    assert_int_equal(open_beside(&paths, TZ_SIDECAR_AUX, false, &file, &err), TZ_OK);
    const tz_info *info = tz_file_get_info(file);
    const tz_error *last = tz_file_get_warning(file, info->warning_count - 1);
    assert_int_equal(info->warning_count, 2); /* of the tag, and of the file */
    assert_int_equal(last->result, TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(last->message, "beside.tif.aux.xml"));
    assert_int_equal(info->sidecar_count, 0);
    tz_close(file);
    clean(&paths);
}

static void what_aux_says_wins(void **state)
{
    (void)state;
    if (!tz_build_feature("expat"))
        return;
    beside paths;
    tz_file *file = NULL;
    tz_error err;
    make(&paths, true, rich_aux, world);
    assert_int_equal(open_beside(&paths, 0, true, &file, &err), TZ_OK);
    assert_int_equal(tz_file_get_info(file)->sidecar_count, 0);
    assert_int_equal(tz_file_get_info(file)->geo->epsg, 32633);
    tz_close(file);
    assert_int_equal(open_beside(&paths, ALL, true, &file, &err), TZ_OK);
    const tz_info *info = tz_file_get_info(file);
    assert_int_equal(info->geo->epsg, 32634);
    assert_true(info->geo->has_crs && info->geo->has_transform);
    assert_true(info->geo->coordinate_epoch == 2021.5);
    assert_true(info->geo->transform[0] == 100 && info->geo->transform[5] == -2);
    assert_int_equal(info->nodata.value.u, 7);
    assert_string_equal(info->nodata_text, "7");
    assert_string_equal(find_item(file, "", "A"), "aux");
    assert_string_equal(find_item(file, "", "B"), "own");
    assert_string_equal(find_item(file, "", "C"), "new");
    assert_string_equal(find_item(file, "xml:D", "doc"), "<d e=\"1\"><f/></d>");
    assert_string_equal(find_item(file, "", "STATISTICS_MEAN"), "4");
    assert_true(tz_file_get_band(file, 0)->scale == 3);
    assert_int_equal(info->sidecar_count, 1); /* the world file has nothing to add */
    assert_int_equal(tz_file_get_sidecar(file, 0)->sidecar, TZ_SIDECAR_AUX);
    assert_int_equal(tz_file_get_sidecar(file, 0)->values,
                     TZ_SIDECAR_VALUE_TRANSFORM | TZ_SIDECAR_VALUE_CRS | TZ_SIDECAR_VALUE_NODATA |
                         TZ_SIDECAR_VALUE_METADATA | TZ_SIDECAR_VALUE_BANDS);
    assert_string_equal(tz_file_get_sidecar(file, 0)->path, paths.aux);
    tz_close(file);
    clean(&paths);
}

static void a_world_file_serves_where_there_is_no_transform(void **state)
{
    (void)state;
    beside paths;
    tz_file *file = NULL;
    tz_error err;
    for (int georeferenced = 0; georeferenced < 2; georeferenced++) {
        make(&paths, georeferenced != 0, NULL, world);
        assert_int_equal(open_beside(&paths, ALL, false, &file, &err), TZ_OK);
        const tz_info *info = tz_file_get_info(file);
        assert_true(info->geo->has_transform);
        assert_int_equal(info->sidecar_count, georeferenced ? 0 : 1);
        if (!georeferenced) {
            assert_true(info->geo->transform[0] == 1000 && info->geo->transform[3] == 2000);
            assert_int_equal(tz_file_get_sidecar(file, 0)->sidecar, TZ_SIDECAR_WORLD);
            assert_int_equal(tz_file_get_sidecar(file, 0)->values, TZ_SIDECAR_VALUE_TRANSFORM);
        }
        tz_close(file);
        clean(&paths);
    }
}

static void paths_are_found_without_opening(void **state)
{
    (void)state;
    beside paths;
    char found[CHECK_PATH_SIZE];
    make(&paths, false, rich_aux, world);
    assert_true(tz_sidecar_get_path(found, sizeof found, paths.image, TZ_SIDECAR_AUX));
    assert_string_equal(found, paths.aux);
    assert_true(tz_sidecar_get_path(found, sizeof found, paths.image, TZ_SIDECAR_WORLD));
    assert_string_equal(found, paths.world);
    assert_false(tz_sidecar_get_path(found, sizeof found, paths.image, TZ_SIDECAR_OVR));
    assert_false(tz_sidecar_get_path(found, strlen(paths.aux), paths.image, TZ_SIDECAR_AUX));
    assert_false(tz_sidecar_get_path(found, sizeof found, paths.image, 0));
    assert_false(tz_sidecar_get_path(found, sizeof found, "", TZ_SIDECAR_WORLD));
    assert_string_equal(tz_sidecar_value_name(TZ_SIDECAR_VALUE_MASKS), "masks");
    assert_string_equal(tz_sidecar_value_name(3), "unknown");
    clean(&paths);
}

static void defects_are_warnings_and_strict_errors(void **state)
{
    (void)state;
    if (!tz_build_feature("expat"))
        return;
    static const struct {
        const char *aux, *world;
        tz_cause cause;
    } rows[] = {
        {"<PAMDataset>", NULL, TZ_CAUSE_META},
        {"<!DOCTYPE x [<!ENTITY e \"eeee\">]><PAMDataset><SRS>&e;</SRS></PAMDataset>", NULL,
         TZ_CAUSE_META},
        {"<PAMDataset><SRS>+proj=utm +zone=33</SRS></PAMDataset>", NULL, TZ_CAUSE_GEO},
        {"<PAMDataset><GeoTransform>1 2</GeoTransform></PAMDataset>", NULL, TZ_CAUSE_GEO},
        {"<PAMDataset><PAMRasterBand band=\"9\"/></PAMDataset>", NULL, TZ_CAUSE_META},
        {NULL, "1\n", TZ_CAUSE_GEO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        beside paths;
        tz_file *file = NULL;
        tz_error err;
        make(&paths, false, rows[i].aux, rows[i].world);
        assert_int_equal(open_beside(&paths, ALL, false, &file, &err), TZ_OK);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->warning_count, 1);
        assert_int_equal(tz_file_get_warning(file, 0)->cause, rows[i].cause);
        assert_int_equal(tz_file_get_warning(file, 0)->tag, -1);
        assert_int_equal(info->sidecar_count, 0);
        assert_int_equal(info->nodata.value.u, 1);
        tz_close(file);
        assert_int_not_equal(open_beside(&paths, ALL, true, &file, &err), TZ_OK);
        assert_int_equal(err.cause, rows[i].cause);
        assert_non_null(strstr(err.message, rows[i].aux ? "beside.tif.aux.xml" : "beside.tfw"));
        clean(&paths);
    }
}

/* A validation does not report them: it is about the image. */
static void defects_of_aux_are_not_findings(void **state)
{
    (void)state;
    if (!tz_build_feature("expat"))
        return;
    beside paths;
    tz_file *file = NULL;
    tz_error err;
    tz_validation *validation = NULL;
    make(&paths, true, "<PAMDataset>", NULL);
    assert_int_equal(open_beside(&paths, ALL, false, &file, &err), TZ_OK);
    assert_int_equal(tz_file_get_info(file)->warning_count, 1);
    assert_int_equal(tz_validate_file(&validation, file, NULL, &err), TZ_OK);
    for (uint32_t i = 0; i < validation->check_count; i++) {
        const tz_check *check = tz_validation_get_check(validation, i);
        for (uint32_t k = 0; k < check->finding_count; k++)
            assert_null(strstr(check->findings[k].message, "aux.xml"));
    }
    tz_validation_free(validation);
    tz_close(file);
    clean(&paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_aux_says_wins),
        CASE(a_world_file_serves_where_there_is_no_transform),
        CASE(paths_are_found_without_opening),
        CASE(defects_are_warnings_and_strict_errors),
        CASE(defects_of_aux_are_not_findings),
        CASE(without_expat_aux_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
