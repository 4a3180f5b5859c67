/* SPDX-License-Identifier: Apache-2.0
 * Every allocation of opening rich files fails in turn, once and for good: TZ_ERR_NOMEM, nothing
 * leaks, and the next open works. An open that gets by without a block must know as much as one
 * that had it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/check.h"

/* ---- rich files ---- */

static char *many_items(int count)
{
    char *xml = malloc((size_t)count * 100 + 100);
    char *end = xml + sprintf(xml, "<GDALMetadata>");
    for (int i = 0; i < count; i++)
        end += sprintf(end, "<Item name=\"N%d\" domain=\"D%d\" sample=\"%d\">value %d</Item>", i,
                       i % 5, i % 9, i);
    sprintf(end, "<Item name=\"S\" sample=\"0\" role=\"scale\">2</Item></GDALMetadata>");
    return xml;
}

static void add_warnings(tb *b, int ifd, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        tb_set_raw(b, ifd, (uint16_t)(60000 + i), 99, 1, 0); /* of an unknown type */
}

/* A palette image with nearly everything a directory can hold. */
static tb *rich_palette(unsigned format)
{
    tb *b = tb_new(format);
    tb_ghost(b, TB_GHOST_COG);
    b->leaders = true;
    int image = tb_image(b, &(tb_spec){.width = 512,
                                       .height = 512,
                                       .tile_width = 64,
                                       .tile_height = 64,
                                       .photometric = 3,
                                       .compression = 8});
    uint64_t map[768];
    for (uint64_t i = 0; i < 768; i++)
        map[i] = i * 85;
    tb_set(b, image, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, map, 768);
    tb_georeference(b, image, 32633);
    TB_SHORTS(b, image, TZ_TAG_GEO_KEYS, 1, 1, 0, 5, 1024, 0, 1, 1, 1025, 0, 1, 2, 1026, 34737, 5,
              0, 2057, 34736, 1, 0, 3072, 0, 1, 32633);
    TB_DOUBLES(b, image, TZ_TAG_GEO_DOUBLES, 6378137);
    tb_set_bytes(b, image, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 6, "here|", 6);
    tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "255");
    char *xml = many_items(200);
    tb_set_text(b, image, TZ_TAG_GDAL_METADATA, xml);
    free(xml);
    add_warnings(b, image, 20);
    int half = tb_overview(b, image, 256, 256);
    int quarter = tb_overview(b, image, 128, 128);
    tb_mask(b, image);
    tb_mask(b, half);
    int eighth = tb_overview(b, image, 64, 64);
    int deep = tb_overview(b, image, 32, 32);
    tb_sub(b, image, eighth);
    tb_sub(b, eighth, deep);
    (void)quarter;
    for (int i = 0; i < 40; i++)
        tb_gray(b, 64, 64); /* pages */
    tb_finish(b);
    tb_patch_next(b, b->ifd_count - 1, b->size + 5); /* a broken chain, and its warning */
    return b;
}

/* Control points, coefficients, extra samples; and directories that do not fit. */
static tb *rich_points(unsigned format)
{
    tb *b = tb_new(format);
    int image = tb_image(
        b, &(tb_spec){.width = 300, .height = 200, .samples = 6, .bits = 16, .rows_per_strip = 20});
    double numbers[600];
    for (int i = 0; i < 600; i++)
        numbers[i] = i;
    tb_set_doubles(b, image, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, numbers, 600);
    tb_set_doubles(b, image, TZ_TAG_RPC, TZ_TYPE_DOUBLE, numbers, 92);
    TB_SHORTS(b, image, TZ_TAG_GEO_KEYS, 1, 1, 0, 3, 3072, 0, 1, 40000, 1024, 0, 1, 9, 1024, 0, 1,
              1);
    TB_SHORTS(b, image, TZ_TAG_EXTRA_SAMPLES, 2, 0);
    tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "70000");
    tb_set_text(b, image, TZ_TAG_GDAL_METADATA,
                "<GDALMetadata><Item name=\"x\" sample=\"9\">1</Item><Item name=\"y\">2</Item>"
                "</GDALMetadata>");
    tb_overview(b, image, 301, 200);
    tb_overview(b, image, 150, 100);
    tb_image(b, &(tb_spec){.width = 20, .height = 20, .bits = 1, .photometric = 4, .subfile = 4});
    tb_finish(b);
    return b;
}

/* ---- what a handle knows, in one number ---- */

static uint64_t mix(uint64_t digest, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t mix_number(uint64_t digest, uint64_t number)
{
    return mix(digest, &number, sizeof number);
}

static uint64_t mix_text(uint64_t digest, const char *text)
{
    return text ? mix(digest, text, strlen(text) + 1) : mix_number(digest, 77);
}

static uint64_t mix_geo(uint64_t digest, const tz_geo *geo)
{
    digest = mix(digest, geo->transform, sizeof geo->transform);
    digest = mix(digest, geo->gcps, geo->gcp_count * sizeof *geo->gcps);
    for (uint32_t i = 0; i < geo->key_count; i++)
        digest = mix_number(digest, geo->keys[i].id);
    digest = mix_number(digest, geo->epsg);
    digest = mix_text(digest, geo->citation);
    return geo->rpc ? mix(digest, geo->rpc, 92 * sizeof(double)) : digest;
}

static uint64_t mix_image(uint64_t digest, const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    digest = mix(digest, info->extra_samples, info->extra_sample_count * sizeof(uint16_t));
    digest = mix(digest, info->color_map, info->color_map_size * 3 * sizeof(uint16_t));
    for (uint32_t i = 0; i < info->level_count; i++) {
        digest = mix_number(digest, tz_file_get_level(file, i)->width);
        digest = mix_number(digest, tz_file_get_level(file, i)->tile_count);
        digest =
            mix_number(digest, tz_file_get_mask(file, i) ? tz_file_get_mask(file, i)->width : 0);
    }
    for (uint32_t i = 0; i < info->page_count; i++)
        digest = mix_number(digest, tz_file_get_page(file, i)->ifd_offset);
    return digest;
}

static uint64_t digest_of(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    uint64_t digest = mix_geo(mix_image(1, file), info->geo);
    const tz_metadata_item *item;
    for (uint32_t i = 0; (item = tz_file_get_metadata(file, i)) != NULL; i++)
        digest = mix_text(mix_text(digest, item->name), item->value);
    for (uint32_t i = 0; i < info->warning_count; i++) {
        digest = mix_text(digest, tz_file_get_warning(file, i)->message);
        digest = mix_number(digest, tz_file_get_warning(file, i)->count);
    }
    digest = mix_text(digest, info->nodata_text);
    return mix_number(digest, info->chain_complete);
}

/* ---- opening under failure ---- */

typedef tz_result (*opener)(const void *user, tz_file **out, tz_error *err);

/* Questions to a handle do not allocate, or report that they could not. */
static void check_questions(const tz_file *file)
{
    tz_tile_span span;
    tz_tag tag = TZ_TAG_INIT;
    uint32_t problems;
    uint64_t before = alloc_hook_stats().allocations;
    tz_error err;
    const tz_result results[] = {
        tz_file_get_tile_spans(&span, file, 0, false, 0, 1, &err),
        tz_file_locate_tile(&span, file, 0, false, 0, &err),
        tz_file_get_tag(&tag, file, tz_file_get_level(file, 0)->ifd_offset, 0, &err),
        tz_file_get_cog_problems(&problems, file, &err),
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        assert_int_equal(results[i], TZ_OK);
    assert_non_null(tz_file_get_band(file, 0));
    assert_int_equal(alloc_hook_stats().allocations, before);
}

static uint64_t open_once(opener open, const void *user, tz_result *result, tz_error *err)
{
    tz_file *file = NULL;
    uint64_t digest = 0;
    memset(err, 0x5a, sizeof *err);
    *result = open(user, &file, err);
    if (*result == TZ_OK) {
        digest = digest_of(file);
        alloc_hook_fail_at(1, true);
        check_questions(file);
    } else {
        assert_null(file);
        assert_int_equal(err->result, *result);
    }
    tz_close(file);
    return digest;
}

/* Allocation n fails, for every n there is; returns how many there are. other: a result that the
 * file has anyway, or TZ_OK. */
static uint64_t fail_each(opener open, const void *user, bool persistent, tz_result other)
{
    tz_error err;
    tz_result result;
    alloc_hook_install();
    const uint64_t expected = open_once(open, user, &result, &err);
    assert_int_equal(result, other);
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, persistent);
        uint64_t digest = open_once(open, user, &result, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        if (stats.live_bytes != 0)
            fail_msg("allocation %" PRIu64 " failed, and %" PRId64 " bytes are lost", n,
                     stats.live_bytes);
        if (stats.failures == 0) {
            assert_int_equal(result, other);
            return n - 1;
        }
        if (result == TZ_ERR_NOMEM)
            assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
        else if (result != other || digest != expected)
            fail_msg("allocation %" PRIu64 " failed: %s, %s", n, tz_result_name(result),
                     result == TZ_OK ? "and something is missing" : err.message);
    }
}

static void check_every_allocation(opener open, const void *user, tz_result other,
                                   uint64_t at_least)
{
    uint64_t count = fail_each(open, user, false, other);
    if (count < at_least)
        fail_msg("only %" PRIu64 " allocations: the file is not rich enough", count);
    assert_int_equal(fail_each(open, user, true, other), count);
}

static tz_result open_bytes(const void *user, tz_file **out, tz_error *err)
{
    const tb *b = user;
    return tz_open_memory(out, b->data, b->size, NULL, err);
}

static tz_result open_path(const void *user, tz_file **out, tz_error *err)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.sidecars = TZ_SIDECAR_OVR | TZ_SIDECAR_MSK | TZ_SIDECAR_AUX | TZ_SIDECAR_WORLD;
    return tz_open(out, user, &options, err);
}

static tz_result open_strictly(const void *user, tz_file **out, tz_error *err)
{
    const tb *b = user;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.strict = true;
    return tz_open_memory(out, b->data, b->size, &options, err);
}

static void a_palette_image_with_everything(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = rich_palette(f);
        check_every_allocation(open_bytes, b, TZ_OK, 20);
        tb_free(b);
    }
}

static void a_grey_image_with_a_colour_map(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        uint64_t map[768] = {0};
        tb_set(b, image, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, map, 768);
        tb_finish(b);
        check_every_allocation(open_bytes, b, TZ_OK, 6);
        tb_free(b);
    }
}

static void control_points_and_misfits(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = rich_points(f);
        check_every_allocation(open_bytes, b, TZ_OK, 12);
        tb_free(b);
    }
}

static void a_file_with_sidecars(void **state)
{
    (void)state;
    static const char xml[] =
        "<PAMDataset><SRS>LOCAL_CS[\"x\"]</SRS><Metadata><MDI key=\"k\">v</MDI></Metadata>"
        "<GCPList Projection=\"EPSG:32633\"><GCP Pixel=\"1\" Line=\"2\" X=\"3\" Y=\"4\"/>"
        "</GCPList><PAMRasterBand band=\"1\"><NoDataValue>3</NoDataValue></PAMRasterBand>"
        "</PAMDataset>";
    static const char numbers[] = "1\n0\n0\n-1\n5\n6\n";
    char path[CHECK_PATH_SIZE], ovr[CHECK_PATH_SIZE], msk[CHECK_PATH_SIZE];
    char aux[CHECK_PATH_SIZE], world[CHECK_PATH_SIZE];
    check_path(aux, "rich.tif.aux.xml");
    check_path(world, "rich.tfw");
    tb *text = tb_raw(0, xml, sizeof xml - 1);
    tb_write_file(text, aux);
    tb_free(text);
    text = tb_raw(0, numbers, sizeof numbers - 1);
    tb_write_file(text, world);
    tb_free(text);
    check_path(path, "rich.tif");
    check_path(ovr, "rich.tif.ovr");
    check_path(msk, "rich.tif.msk");
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 128, 128);
    tb_finish(b);
    tb_write_file(b, path);
    tb_free(b);
    b = tb_new(TB_BIGTIFF);
    tb_image(b, &(tb_spec){.width = 64, .height = 64, .subfile = 1});
    tb_image(b, &(tb_spec){.width = 32, .height = 32, .subfile = 1});
    tb_finish(b);
    tb_write_file(b, ovr);
    tb_free(b);
    b = tb_raw(0, "no TIFF, for a warning", 22);
    tb_write_file(b, msk);
    tb_free(b);
    check_every_allocation(open_path, path, TZ_OK, 18);
    check_remove(path);
    check_remove(aux);
    check_remove(world);
    check_remove(ovr);
    check_remove(msk);
}

/* An error that the file has anyway is the file's, unless memory ran out first. */
static void files_that_do_not_open(void **state)
{
    (void)state;
    tb *b = rich_palette(TB_CLASSIC);
    check_every_allocation(open_strictly, b, TZ_ERR_FORMAT, 3);
    tb_patch_type(b, 0, TZ_TAG_SAMPLE_FORMAT, 99);
    check_every_allocation(open_bytes, b, TZ_ERR_FORMAT, 3);
    tb_free(b);
}

static void warnings_that_overflow(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    int image = tb_gray(b, 64, 64);
    add_warnings(b, image, 60);
    tb_finish(b);
    check_every_allocation(open_bytes, b, TZ_OK, 8);
    tb_free(b);
}

/* PROJ's own memory is its own; ours fails around it. */
static tz_result open_crs(const void *user, tz_file **out, tz_error *err)
{
    tz_crs *crs = NULL;
    tz_result result = tz_crs_from_file(&crs, user, err);
    tz_crs_close(crs);
    *out = NULL;
    return result;
}

static void a_coordinate_reference_system(void **state)
{
    (void)state;
    if (!tz_build_feature("proj"))
        return;
    tb *b = rich_palette(TB_CLASSIC);
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, NULL, NULL), TZ_OK);
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_file *none;
        tz_result result = open_crs(file, &none, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(result, stats.failures ? TZ_ERR_NOMEM : TZ_OK);
        if (stats.failures == 0) {
            assert_true(n > 1);
            break;
        }
    }
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_palette_image_with_everything), CASE(a_grey_image_with_a_colour_map),
        CASE(control_points_and_misfits),      CASE(a_file_with_sidecars),
        CASE(files_that_do_not_open),          CASE(warnings_that_overflow),
        CASE(a_coordinate_reference_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
