/* SPDX-License-Identifier: Apache-2.0
 * Changes of a specification, seen in files that are written of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_equal.h"

static tz_error err;

#define WORKS(call)                                                                                \
    do {                                                                                           \
        if ((call) != TZ_OK)                                                                       \
            fail_msg("line %d: %s", __LINE__, err.message);                                        \
    } while (0)

/* The call fails as one with a wrong argument, and changes nothing. */
#define REFUSES(spec, call)                                                                        \
    do {                                                                                           \
        const tz_image_spec before_ = *(spec);                                                     \
        assert_int_equal(call, TZ_ERR_ARG);                                                        \
        assert_int_equal(err.cause, TZ_CAUSE_ARG);                                                 \
        assert_memory_equal(&before_, spec, sizeof before_);                                       \
    } while (0)

/* 100 x 50 pixels of uint8. */
static tz_image_spec *new_spec(uint32_t bands)
{
    tz_image_spec *spec = NULL;
    WORKS(tz_image_spec_create(&spec, &err));
    spec->width = 100, spec->height = 50, spec->bands = bands, spec->dtype = TZ_DTYPE_UINT8;
    return spec;
}

static void set_item(tz_image_spec *spec, const char *name, const char *value, const char *role,
                     int32_t band)
{
    const tz_metadata_item item = SIZED_ITEM("", name, value, role, band);
    WORKS(tz_image_spec_set_metadata(spec, &item, &err));
}

static const tz_metadata_item *find_item(const tz_image_spec *spec, const char *name, int32_t band)
{
    for (uint32_t i = 0; i < spec->metadata_count; i++)
        if (spec->metadata[i].band == band && strcmp(spec->metadata[i].name, name) == 0)
            return &spec->metadata[i];
    return NULL;
}

/* A file that was written of a specification. */
typedef struct written {
    tz_memory memory;
    tz_file *file;
    const tz_info *info;
} written;

static written write_spec(const tz_image_spec *spec)
{
    written w = {0};
    tz_writer *writer = NULL;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_NONE;
    WORKS(tz_create_memory(&writer, &w.memory, spec, &options, &err));
    const size_t pixel = tz_dtype_size(spec->dtype) * spec->bands;
    tz_buffer rows = TZ_BUFFER_INIT;
    rows.data = calloc((size_t)spec->width * spec->height, pixel);
    rows.dtype = spec->dtype, rows.bands = spec->bands;
    rows.width = spec->width, rows.height = spec->height;
    rows.band_stride = (int64_t)tz_dtype_size(spec->dtype);
    rows.column_stride = (int64_t)pixel;
    rows.row_stride = (int64_t)(pixel * spec->width);
    WORKS(tz_write_rows(writer, &rows, NULL, &err));
    WORKS(tz_commit(writer, NULL, &err));
    tz_writer_close(writer);
    free(rows.data);
    WORKS(tz_open_memory(&w.file, w.memory.data, w.memory.size, NULL, &err));
    w.info = tz_file_get_info(w.file);
    if (tz_build_feature("expat")) /* without it, metadata is a warning */
        assert_null(tz_file_get_warning(w.file, 0));
    return w;
}

static void close_written(written *w)
{
    tz_close(w->file);
    tz_memory_free(&w->memory);
}

/* Writes the specification, and takes it from the file again. */
static tz_image_spec *rewritten(tz_image_spec *spec)
{
    tz_image_spec *read = NULL;
    written w = write_spec(spec);
    WORKS(tz_image_spec_from_file(&read, w.file, &err));
    close_written(&w);
    tz_image_spec_free(spec);
    return read;
}

/* ---- grid ---- */

static void an_empty_specification_is_owned(void **state)
{
    (void)state;
    tz_image_spec *spec = NULL;
    WORKS(tz_image_spec_create(&spec, NULL));
    assert_int_equal(spec->struct_size, sizeof *spec);
    assert_int_equal(spec->width, 0);
    assert_null(spec->geo);
    tz_image_spec_free(spec);
}

static void a_transform_follows_the_window(void **state)
{
    (void)state;
    const double turned[6] = {1000, 2, 0.5, 5000, -0.25, -4};
    const tz_window window = {.column = -8, .row = 20, .width = 64, .height = 100};
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_image_spec_set_transform(spec, turned, &err));
    WORKS(tz_image_spec_set_grid(spec, &window, 16, 200, &err));
    written w = write_spec(spec);
    assert_int_equal(w.info->width, 16);
    assert_int_equal(w.info->height, 200);
    const double expected[6] = {1000 - 16 + 10, 8, 0.25, 5000 + 2 - 80, -1, -2};
    assert_true(w.info->geo->has_transform);
    assert_memory_equal(w.info->geo->transform, expected, sizeof expected);
    close_written(&w);
    tz_image_spec_free(spec);
}

static void control_points_and_rpc_follow_the_window(void **state)
{
    (void)state;
    const tz_gcp points[] = {
        {0.1, 0.3, 0, 10, 20, 0}, {100, 50, 0, 11, 19, 0}, {7, 9, 0, 12, 20, 1}};
    double rpc[92] = {0};
    rpc[2] = 24.5, rpc[3] = 49.5, rpc[7] = 25, rpc[8] = 50, rpc[9] = 3;
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_image_spec_set_gcps(spec, points, 3, &err));
    tz_geo geo = *spec->geo;
    geo.rpc = rpc;
    spec->geo = &geo;
    const tz_window window = {.column = 10, .row = -5, .width = 40, .height = 20};
    WORKS(tz_image_spec_set_grid(spec, &window, 20, 40, &err));
    assert_true(rpc[2] == 24.5); /* the caller's is not touched */
    spec = rewritten(spec);
    assert_int_equal(spec->geo->gcp_count, 3);
    assert_true(spec->geo->gcps[1].column == 45 && spec->geo->gcps[1].row == 110);
    assert_true(spec->geo->gcps[0].column == (0.1 - 10) * 20 / 40);
    assert_true(spec->geo->gcps[2].z == 1);
    assert_true(spec->geo->rpc[2] == (24.5 + 5 + 0.5) * 2 - 0.5);
    assert_true(spec->geo->rpc[3] == (49.5 - 10 + 0.5) / 2 - 0.5);
    assert_true(spec->geo->rpc[7] == 50 && spec->geo->rpc[8] == 25 && spec->geo->rpc[9] == 3);
    const tz_window shift = {.column = 1, .row = 2, .width = 13, .height = 3};
    const double column = spec->geo->gcps[0].column, line = spec->geo->rpc[2];
    WORKS(tz_image_spec_set_grid(spec, &shift, 13, 3, &err));
    assert_true(spec->geo->gcps[0].column == column - 1); /* without rounding */
    assert_true(spec->geo->rpc[2] == line - 2 && spec->geo->rpc[7] == 50);
    tz_image_spec_free(spec);
}

/* The numbers are those of gdal_translate 3.12 with -srcwin and -outsize, GDAL's RPC rounded to 15
 * digits as it prints them. */
static void control_points_and_rpc_are_those_of_gdal(void **state)
{
    (void)state;
    const struct {
        tz_window window;
        uint32_t width, height;
        double line, sample, line_scale, sample_scale, column, row;
    } cases[] = {
        {{10, 5, 40, 20}, 40, 20, 19.5, 39.25, 25, 50, -9.9, -4.7},
        {{10, -5, 40, 20}, 40, 20, 29.5, 39.25, 25, 50, -9.9, 5.3},
        {{10, 5, 40, 20}, 20, 40, 39.5, 19.375, 50, 25, -4.95, -9.4},
        {{10, 5, 40, 20}, 20, 20, 19.5, 19.375, 25, 25, -4.95, -4.7},
        {{10, 5, 13, 3},
         7,
         11,
         72.8333333333333,
         20.9038461538462,
         91.6666666666667,
         26.9230769230769,
         -5.3307692307692305,
         -17.233333333333334},
        {{0, 0, 100, 50}, 33, 17, 8, 15.9175, 8.5, 16.5, 0.033, 0.10200000000000001},
    };
    const tz_gcp points[] = {{0.1, 0.3, 0, 10, 20, 0}, {100, 50, 0, 11, 19, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double rpc[92] = {0};
        rpc[2] = 24.5, rpc[3] = 49.25, rpc[7] = 25, rpc[8] = 50;
        tz_image_spec *spec = new_spec(1);
        WORKS(tz_image_spec_set_gcps(spec, points, 2, &err));
        tz_geo geo = *spec->geo;
        geo.rpc = rpc;
        spec->geo = &geo;
        WORKS(
            tz_image_spec_set_grid(spec, &cases[i].window, cases[i].width, cases[i].height, &err));
        const double *moved = spec->geo->rpc;
        assert_true(fabs(moved[2] - cases[i].line) < 1e-13 * cases[i].line);
        assert_true(fabs(moved[3] - cases[i].sample) < 1e-13 * cases[i].sample);
        assert_true(fabs(moved[7] - cases[i].line_scale) < 1e-13 * cases[i].line_scale);
        assert_true(fabs(moved[8] - cases[i].sample_scale) < 1e-13 * cases[i].sample_scale);
        assert_true(spec->geo->gcps[0].column == cases[i].column);
        assert_true(spec->geo->gcps[0].row == cases[i].row);
        tz_image_spec_free(spec);
    }
}

static void add_statistics(tz_image_spec *spec)
{
    static const uint16_t extremes[] = {9};
    static const tz_tag_value tags[] = {SIZED_TAG(281, 3, 1, extremes), SIZED_TAG(305, 2, 2, "x")};
    spec->tags = tags;
    spec->tag_count = 2;
    set_item(spec, "STATISTICS_MEAN", "3", "", 0);
    set_item(spec, "AREA", "3", "", -1);
}

static bool has_statistics(const tz_image_spec *spec)
{
    const bool item = find_item(spec, "STATISTICS_MEAN", 0) != NULL;
    assert_int_equal(spec->tag_count, item ? 2 : 1);
    assert_int_equal(spec->tags[spec->tag_count - 1].tag, 305);
    assert_non_null(find_item(spec, "AREA", -1));
    return item;
}

static void statistics_stay_on_the_same_grid(void **state)
{
    (void)state;
    const tz_window whole = {.width = 100, .height = 50};
    tz_image_spec *spec = new_spec(1);
    add_statistics(spec);
    WORKS(tz_image_spec_set_grid(spec, &whole, 100, 50, &err));
    assert_true(has_statistics(spec));
    WORKS(tz_image_spec_set_grid(spec, &whole, 50, 50, &err));
    assert_false(has_statistics(spec));
    tz_image_spec_free(spec);
}

static void an_empty_grid_is_refused(void **state)
{
    (void)state;
    tz_window window = {.width = 10};
    tz_image_spec *spec = new_spec(1);
    REFUSES(spec, tz_image_spec_set_grid(spec, &window, 10, 10, &err));
    window.height = 10;
    REFUSES(spec, tz_image_spec_set_grid(spec, &window, 0, 10, &err));
    REFUSES(spec, tz_image_spec_set_grid(spec, &window, 10, 0, &err));
    tz_image_spec_free(spec);
}

/* ---- bands ---- */

/* The colour that readers show: an item before the interpretation. */
static tz_color shown_color(const tz_file *file, uint32_t band)
{
    const tz_band *found = tz_file_get_band(file, band);
    tz_color color = found->color;
    if (found->color_text)
        assert_true(tz_color_from_name(&color, found->color_text));
    return color;
}

/* True if bands are grey and without a colour by their places alone. */
static bool have_colors_of_places(const tz_file *file, const uint32_t *bands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const tz_band *band = tz_file_get_band(file, bands[i]);
        if (band->color_text || (band->color != TZ_COLOR_GRAY && band->color != TZ_COLOR_UNDEFINED))
            return false;
    }
    return true;
}

/* Selects bands, and checks that they have the colours of the source's, or of their places. */
static tz_image_spec *selected(const tz_image_spec *source, const uint32_t *bands, uint32_t count)
{
    tz_image_spec *spec = NULL;
    written from = write_spec(source);
    WORKS(tz_image_spec_from_file(&spec, from.file, &err));
    WORKS(tz_image_spec_select_bands(spec, bands, count, &err));
    assert_int_equal(spec->bands, count);
    const bool by_place = have_colors_of_places(from.file, bands, count);
    written to = write_spec(spec);
    for (uint32_t i = 0; i < count && tz_build_feature("expat"); i++) {
        const tz_band *a = tz_file_get_band(from.file, bands[i]);
        const tz_band *b = tz_file_get_band(to.file, i);
        assert_int_equal(shown_color(to.file, i), !by_place ? shown_color(from.file, bands[i])
                                                  : i == 0  ? TZ_COLOR_GRAY
                                                            : TZ_COLOR_UNDEFINED);
        assert_true(same_text(a->description, b->description));
        assert_true(a->scale == b->scale && a->has_scale == b->has_scale);
    }
    close_written(&to);
    close_written(&from);
    return spec;
}

#define SELECTED(source, ...)                                                                      \
    selected(source, (const uint32_t[]){__VA_ARGS__},                                              \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void check_colors(tz_image_spec *spec, tz_photometric photometric, uint32_t colors,
                         int last_extra)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < spec->metadata_count; i++)
        found += strcmp(spec->metadata[i].role, "colorinterp") == 0;
    assert_int_equal(spec->photometric, photometric);
    assert_int_equal(found, colors);
    assert_int_equal(spec->extra_sample_count,
                     spec->bands - (photometric == TZ_PHOTOMETRIC_RGB ? 3 : 1));
    if (last_extra >= 0)
        assert_int_equal(spec->extra_samples[spec->extra_sample_count - 1], last_extra);
    tz_image_spec_free(spec);
}

static void colours_follow_their_bands(void **state)
{
    (void)state;
    tz_image_spec *rgba = new_spec(4);
    const tz_photometric grey = TZ_PHOTOMETRIC_MIN_IS_BLACK, rgb = TZ_PHOTOMETRIC_RGB;
    check_colors(SELECTED(rgba, 0, 1, 2, 3), rgb, 0, 2);
    check_colors(SELECTED(rgba, 0, 1, 2), rgb, 0, -1);
    check_colors(SELECTED(rgba, 0, 1, 2, 2), rgb, 1, 0);
    check_colors(SELECTED(rgba, 0, 1, 2, 3, 3), rgb, 1, 2);
    check_colors(SELECTED(rgba, 2, 1, 0), grey, 3, 0);
    check_colors(SELECTED(rgba, 2, 1, 0, 3), grey, 3, 2);
    check_colors(SELECTED(rgba, 3, 0), grey, 2, 0);
    check_colors(SELECTED(rgba, 3), grey, 1, -1);
    check_colors(SELECTED(rgba, 1), grey, 1, -1);
    const uint16_t premultiplied[] = {1};
    rgba->photometric = rgb, rgba->extra_samples = premultiplied, rgba->extra_sample_count = 1;
    check_colors(SELECTED(rgba, 0, 3), grey, 1, 1);
    rgba->dtype = TZ_DTYPE_FLOAT32;
    check_colors(SELECTED(rgba, 0, 1, 2), grey, 3, 0);
    rgba->dtype = TZ_DTYPE_UINT16;
    check_colors(SELECTED(rgba, 0, 1, 2), rgb, 0, -1);
    rgba->photometric = TZ_PHOTOMETRIC_CMYK, rgba->extra_sample_count = 0;
    rgba->extra_samples = NULL;
    check_colors(SELECTED(rgba, 0, 1, 3), grey, 3, 0);
    tz_image_spec_free(rgba);
}

static void colours_of_items_follow_their_bands(void **state)
{
    (void)state;
    tz_image_spec *bgr = new_spec(3);
    if (!tz_build_feature("expat")) {
        tz_image_spec_free(bgr);
        return;
    }
    bgr->photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
    set_item(bgr, "COLORINTERP", "Blue", "colorinterp", 0);
    set_item(bgr, "COLORINTERP", "Green", "colorinterp", 1);
    set_item(bgr, "COLORINTERP", "Red", "colorinterp", 2);
    check_colors(SELECTED(bgr, 2, 1, 0), TZ_PHOTOMETRIC_RGB, 0, -1);
    check_colors(SELECTED(bgr, 1, 1), TZ_PHOTOMETRIC_MIN_IS_BLACK, 2, 0);
    tz_image_spec_free(bgr);
}

static void other_colours_stay_as_text(void **state)
{
    (void)state;
    const uint32_t swap[] = {1, 0};
    tz_image_spec *spec = new_spec(2);
    set_item(spec, "COLORINTERP", "Thermal", "colorinterp", 1);
    WORKS(tz_image_spec_select_bands(spec, swap, 2, &err));
    assert_string_equal(find_item(spec, "COLORINTERP", 0)->value, "Thermal");
    assert_string_equal(find_item(spec, "COLORINTERP", 1)->value, "Gray");
    tz_image_spec_free(spec);
}

static void a_palette_is_kept_by_one_band(void **state)
{
    (void)state;
    static uint16_t map[3 * 256];
    map[255] = 7;
    tz_image_spec *spec = new_spec(2);
    spec->photometric = TZ_PHOTOMETRIC_PALETTE;
    spec->color_map = map, spec->color_map_size = 256;
    tz_image_spec *one = SELECTED(spec, 0);
    assert_int_equal(one->color_map_size, 256);
    assert_int_equal(one->color_map[255], 7);
    check_colors(one, TZ_PHOTOMETRIC_PALETTE, 0, -1);
    tz_image_spec *two = SELECTED(spec, 0, 0);
    assert_int_equal(two->color_map_size, 0);
    check_colors(two, TZ_PHOTOMETRIC_MIN_IS_BLACK, 2, 0);
    tz_image_spec_free(spec);
}

static void white_stays_the_least_value(void **state)
{
    (void)state;
    tz_image_spec *spec = new_spec(2);
    spec->photometric = TZ_PHOTOMETRIC_MIN_IS_WHITE;
    check_colors(SELECTED(spec, 0), TZ_PHOTOMETRIC_MIN_IS_WHITE, 0, -1);
    check_colors(SELECTED(spec, 1), TZ_PHOTOMETRIC_MIN_IS_BLACK, 0, -1);
    tz_image_spec_free(spec);
}

static void items_follow_their_bands(void **state)
{
    (void)state;
    static const uint8_t profile[] = {1, 2, 3};
    static const tz_tag_value tags[] = {SIZED_TAG(34675, 7, 3, profile)};
    const uint32_t bands[] = {2, 0, 2};
    tz_image_spec *spec = new_spec(3);
    spec->tags = tags, spec->tag_count = 1;
    set_item(spec, "DESCRIPTION", "first", "description", 0);
    set_item(spec, "SCALE", "0.5", "scale", 2);
    set_item(spec, "STATISTICS_MEAN", "5", "", 2);
    set_item(spec, "GONE", "5", "", 1);
    set_item(spec, "ALL", "5", "", -1);
    if (tz_build_feature("expat"))
        tz_image_spec_free(SELECTED(spec, 2, 0, 2));
    WORKS(tz_image_spec_select_bands(spec, bands, 3, &err));
    assert_int_equal(spec->tag_count, 0); /* a profile of RGB is not one of grey */
    assert_string_equal(find_item(spec, "DESCRIPTION", 1)->value, "first");
    assert_string_equal(find_item(spec, "SCALE", 0)->value, "0.5");
    assert_string_equal(find_item(spec, "STATISTICS_MEAN", 2)->value, "5");
    assert_non_null(find_item(spec, "ALL", -1));
    for (int32_t band = -1; band < 3; band++)
        assert_null(find_item(spec, "GONE", band));
    REFUSES(spec, tz_image_spec_select_bands(spec, bands, 0, &err));
    REFUSES(spec, tz_image_spec_select_bands(spec, NULL, 1, &err));
    REFUSES(spec, tz_image_spec_select_bands(spec, (const uint32_t[]){0, 3}, 2, &err));
    REFUSES(spec, tz_image_spec_select_bands(spec, bands, 65536, &err));
    tz_image_spec_free(spec);
}

/* ---- type and nodata ---- */

static void check_cast_nodata(tz_dtype from, const char *text, tz_dtype to, const char *kept)
{
    tz_image_spec *spec = new_spec(1);
    spec->dtype = from;
    WORKS(tz_image_spec_set_nodata(spec, text, &err));
    WORKS(tz_image_spec_set_dtype(spec, to, &err));
    assert_int_equal(spec->dtype, to);
    written w = write_spec(spec);
    assert_int_equal(w.info->dtype, to);
    assert_true(same_text(w.info->nodata_text, kept));
    close_written(&w);
    tz_image_spec_free(spec);
}

static void nodata_stays_if_the_type_has_it(void **state)
{
    (void)state;
    check_cast_nodata(TZ_DTYPE_UINT8, "255", TZ_DTYPE_FLOAT32, "255");
    check_cast_nodata(TZ_DTYPE_INT16, "-9999", TZ_DTYPE_UINT16, NULL);
    check_cast_nodata(TZ_DTYPE_FLOAT32, "-9999.0", TZ_DTYPE_INT32, "-9999.0");
    check_cast_nodata(TZ_DTYPE_FLOAT32, "nan", TZ_DTYPE_UINT8, NULL);
    check_cast_nodata(TZ_DTYPE_FLOAT32, "nan", TZ_DTYPE_FLOAT64, "nan");
    check_cast_nodata(TZ_DTYPE_FLOAT32, "0.1", TZ_DTYPE_FLOAT64, "0.10000000149011612");
    check_cast_nodata(TZ_DTYPE_UINT64, "18446744073709551615", TZ_DTYPE_FLOAT64, NULL);
    check_cast_nodata(TZ_DTYPE_FLOAT64, "-1.7976931348623157e308", TZ_DTYPE_FLOAT32, "-inf");
    check_cast_nodata(TZ_DTYPE_FLOAT64, "1e300", TZ_DTYPE_INT64, NULL);
    check_cast_nodata(TZ_DTYPE_NONE, "7", TZ_DTYPE_UINT8, "7");
    check_cast_nodata(TZ_DTYPE_NONE, "-7", TZ_DTYPE_UINT8, NULL);
}

static void the_type_changes_bits_and_statistics(void **state)
{
    (void)state;
    tz_image_spec *spec = new_spec(1);
    spec->bits_per_sample = 5;
    add_statistics(spec);
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT8, &err));
    assert_int_equal(spec->bits_per_sample, 5);
    assert_true(has_statistics(spec));
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT16, &err));
    assert_int_equal(spec->bits_per_sample, 16);
    assert_false(has_statistics(spec));
    add_statistics(spec);
    WORKS(tz_image_spec_drop_statistics(spec, &err));
    assert_false(has_statistics(spec));
    REFUSES(spec, tz_image_spec_set_dtype(spec, TZ_DTYPE_NONE, &err));
    REFUSES(spec, tz_image_spec_set_dtype(spec, (tz_dtype)99, &err));
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_COMPLEX_FLOAT32, &err));
    written w = write_spec(spec);
    assert_int_equal(w.info->dtype, TZ_DTYPE_COMPLEX_FLOAT32);
    close_written(&w);
    tz_image_spec_free(spec);
}

static void a_palette_fits_its_type(void **state)
{
    (void)state;
    static uint16_t map[3 * 256];
    for (unsigned i = 0; i < 3 * 256; i++)
        map[i] = (uint16_t)(i + 1);
    tz_image_spec *spec = new_spec(1);
    spec->photometric = TZ_PHOTOMETRIC_PALETTE;
    spec->color_map = map, spec->color_map_size = 256;
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT16, &err));
    spec = rewritten(spec);
    assert_int_equal(spec->color_map_size, 65536);
    assert_int_equal(spec->color_map[65536 + 255], map[256 + 255]);
    assert_int_equal(spec->color_map[256], 0);
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT8, &err));
    assert_memory_equal(spec->color_map, map, sizeof map);
    set_item(spec, "COLORINTERP", "Palette", "colorinterp", 0);
    WORKS(tz_image_spec_set_dtype(spec, TZ_DTYPE_INT16, &err));
    assert_null(find_item(spec, "COLORINTERP", 0));
    spec = rewritten(spec);
    assert_int_equal(spec->photometric, TZ_PHOTOMETRIC_MIN_IS_BLACK);
    assert_int_equal(spec->color_map_size, 0);
    spec->color_map = NULL, spec->color_map_size = 4;
    REFUSES(spec, tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT8, &err));
    tz_image_spec_free(spec);
}

static void nodata_is_set_and_removed(void **state)
{
    (void)state;
    tz_image_spec *spec = new_spec(1);
    set_item(spec, "STATISTICS_MEAN", "3", "", 0);
    char text[] = "007";
    WORKS(tz_image_spec_set_nodata(spec, text, &err));
    text[2] = '8'; /* a copy was made */
    assert_int_equal(spec->nodata.value.u, 7);
    assert_string_equal(spec->nodata_text, "007");
    assert_null(find_item(spec, "STATISTICS_MEAN", 0));
    set_item(spec, "STATISTICS_MEAN", "3", "", 0);
    WORKS(tz_image_spec_set_nodata(spec, "7", &err));
    assert_non_null(find_item(spec, "STATISTICS_MEAN", 0)); /* the same value */
    REFUSES(spec, tz_image_spec_set_nodata(spec, "256", &err));
    REFUSES(spec, tz_image_spec_set_nodata(spec, "", &err));
    REFUSES(spec, tz_image_spec_set_nodata(spec, "seven", &err));
    written w = write_spec(spec);
    assert_string_equal(w.info->nodata_text, "7");
    close_written(&w);
    WORKS(tz_image_spec_set_nodata(spec, NULL, &err));
    w = write_spec(spec);
    assert_int_equal(w.info->nodata.kind, TZ_NODATA_KIND_NONE);
    close_written(&w);
    tz_image_spec_free(spec);
}

/* ---- metadata ---- */

static void items_are_replaced_by_their_key(void **state)
{
    (void)state;
    tz_image_spec *spec = new_spec(2);
    char value[] = "one";
    set_item(spec, "NAME", value, "", -1);
    value[0] = 'x'; /* a copy was made */
    assert_string_equal(spec->metadata[0].value, "one");
    set_item(spec, "NAME", "band", "", 1);
    set_item(spec, "NAME", "role", "description", 1);
    const tz_metadata_item other = SIZED_ITEM("xml:d", "NAME", "domain", NULL, 1);
    WORKS(tz_image_spec_set_metadata(spec, &other, &err));
    assert_int_equal(spec->metadata_count, 4);
    set_item(spec, "NAME", "new", NULL, 1);
    assert_int_equal(spec->metadata_count, 4);
    assert_string_equal(spec->metadata[1].value, "new");
    if (tz_build_feature("expat")) {
        written w = write_spec(spec);
        assert_string_equal(tz_file_get_band(w.file, 1)->description, "role");
        assert_string_equal(tz_file_get_metadata(w.file, 0)->value, "one");
        close_written(&w);
    }
    set_item(spec, "NAME", NULL, "", -1);
    set_item(spec, "ABSENT", NULL, "scale", -1);
    assert_int_equal(spec->metadata_count, 3);
    assert_null(find_item(spec, "NAME", -1));
    const tz_metadata_item wrong[] = {SIZED_ITEM("", NULL, "v", "", -1),
                                      SIZED_ITEM("", "A", "", "", -1),
                                      SIZED_ITEM("", "A", "v", "", 2),
                                      SIZED_ITEM("", "A", "v", "", -2),
                                      SIZED_ITEM("", "A", "v", "scale", 0),
                                      SIZED_ITEM("", "A", "\x01", "", 0),
                                      {0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSES(spec, tz_image_spec_set_metadata(spec, &wrong[i], &err));
    tz_image_spec_free(spec);
}

/* Sets an item, writes a file, and returns the specification of that. */
static tz_image_spec *written_with(tz_image_spec *spec, const char *name, const char *value)
{
    set_item(spec, name, value, "", -1);
    assert_int_equal(spec->metadata_count, 0);
    return rewritten(spec);
}

static const tz_tag_value *find_tag(const tz_image_spec *spec, uint16_t tag)
{
    for (uint32_t i = 0; i < spec->tag_count; i++)
        if (spec->tags[i].tag == tag)
            return &spec->tags[i];
    return NULL;
}

static void items_of_text_are_tags(void **state)
{
    (void)state;
    static const uint16_t tags[] = {269, 270, 305, 306, 315, 316, 33432, 50908, 50909};
    tz_image_spec *spec = new_spec(1);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        char value[] = "gr\xc3\xbc\xc3\x9f Gott";
        const bool bytes = tags[i] == 50909;
        set_item(spec, tz_tag_gdal_name(tags[i]), "before", NULL, -1);
        set_item(spec, tz_tag_gdal_name(tags[i]), value, NULL, -1);
        value[0] = 'x'; /* a copy was made */
        assert_int_equal(spec->tag_count, i + 1);
        spec = rewritten(spec);
        const tz_tag_value *tag = find_tag(spec, tags[i]);
        assert_non_null(tag);
        assert_int_equal(tag->type, bytes ? 1 : 2);
        assert_int_equal(tag->count, bytes ? 11 : 12);
        assert_memory_equal(tag->data, "gr\xc3\xbc\xc3\x9f Gott", (size_t)tag->count);
        assert_int_equal(spec->metadata_count, 0);
    }
    spec = written_with(spec, "TIFFTAG_SOFTWARE", NULL);
    assert_null(find_tag(spec, 305));
    assert_non_null(find_tag(spec, 306));
    spec = written_with(spec, "tifftag_software", "GDAL finds this, too");
    assert_non_null(find_tag(spec, 305));
    assert_null(tz_tag_gdal_name(256));
    assert_null(tz_tag_gdal_name(271)); /* Make: GDAL does not write it */
    tz_image_spec_free(spec);
}

static void check_resolution(const char *text, uint32_t above, uint32_t below)
{
    tz_image_spec *spec = written_with(new_spec(1), "TIFFTAG_XRESOLUTION", text);
    const tz_tag_value *tag = find_tag(spec, 282);
    uint32_t fraction[2];
    assert_int_equal(tag->type, 5);
    assert_int_equal(tag->count, 1);
    memcpy(fraction, tag->data, sizeof fraction);
    if (fraction[0] != above || fraction[1] != below)
        fail_msg("%s is %u/%u", text, fraction[0], fraction[1]);
    tz_image_spec_free(spec);
}

static void items_of_numbers_are_tags(void **state)
{
    (void)state;
    check_resolution("72", 72, 1);
    check_resolution("72.5", 145, 2);
    check_resolution("118.11", 11811, 100);
    check_resolution("0.3333333", 3333333, 10000000);
    check_resolution("0", 0, 1);
    check_resolution("4294967295", UINT32_MAX, 1);
    check_resolution("1e-9", 1, 1000000000);
    tz_image_spec *spec = new_spec(3);
    spec = written_with(spec, "TIFFTAG_RESOLUTIONUNIT", "3 (pixels/cm)");
    assert_int_equal(*(const uint16_t *)find_tag(spec, 296)->data, 3);
    spec = written_with(spec, "TIFFTAG_RESOLUTIONUNIT", "2");
    assert_int_equal(find_tag(spec, 296)->type, 3);
    assert_int_equal(find_tag(spec, 296)->count, 1);
    assert_int_equal(*(const uint16_t *)find_tag(spec, 296)->data, 2);
    spec = written_with(spec, "TIFFTAG_MAXSAMPLEVALUE", "65535");
    const uint16_t most[] = {65535, 65535, 65535}; /* one for each band, as GDAL writes them */
    assert_int_equal(find_tag(spec, 281)->type, 3);
    assert_int_equal(find_tag(spec, 281)->count, 3);
    assert_memory_equal(find_tag(spec, 281)->data, most, sizeof most);
    tz_image_spec_free(spec);
}

static void values_that_a_tag_cannot_have_are_refused(void **state)
{
    (void)state;
    const tz_metadata_item wrong[] = {SIZED_ITEM("", "TIFFTAG_RESOLUTIONUNIT", "abc", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_RESOLUTIONUNIT", "4", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_RESOLUTIONUNIT", "2 inches", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_XRESOLUTION", "72dpi", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_XRESOLUTION", "-1", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_XRESOLUTION", "nan", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_YRESOLUTION", "4294967296", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_YRESOLUTION", "1e-12", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_MINSAMPLEVALUE", "1.5", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_MAXSAMPLEVALUE", "65536", "", -1),
                                      SIZED_ITEM("", "AREA_OR_POINT", "foo", "", -1),
                                      SIZED_ITEM("", "AREA_OR_POINT", "undefined", "", -1),
                                      SIZED_ITEM("", "TIFFTAG_SOFTWARE", "", "", -1)};
    tz_image_spec *spec = new_spec(1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        REFUSES(spec, tz_image_spec_set_metadata(spec, &wrong[i], &err));
        assert_non_null(strstr(err.message, wrong[i].name));
    }
    tz_image_spec_free(spec);
}

static void items_of_bands_and_domains_stay_items(void **state)
{
    (void)state;
    const tz_metadata_item domain = SIZED_ITEM("other", "TIFFTAG_SOFTWARE", "x", "", -1);
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_image_spec_set_metadata(spec, &domain, &err));
    set_item(spec, "TIFFTAG_SOFTWARE", "x", "", 0);
    set_item(spec, "AREA_OR_POINT", "x", "description", -1);
    set_item(spec, "TIFFTAG_MAKE", "x", "", -1);
    assert_int_equal(spec->metadata_count, 4);
    assert_int_equal(spec->tag_count, 0);
    assert_null(spec->geo);
    tz_image_spec_free(spec);
}

/* A file may have the item beside the tag; afterwards it has the tag. */
static void items_of_that_name_are_dropped(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {SIZED_ITEM("", "TIFFTAG_ARTIST", "old", NULL, -1),
                                             SIZED_ITEM(NULL, "AREA_OR_POINT", "Area", "", -1),
                                             SIZED_ITEM("", "TIFFTAG_ARTIST", "band", "", 0)};
    tz_image_spec *spec = new_spec(1);
    spec->metadata = items, spec->metadata_count = 3;
    set_item(spec, "TIFFTAG_ARTIST", "new", "", -1);
    assert_null(find_item(spec, "TIFFTAG_ARTIST", -1));
    assert_string_equal(find_tag(spec, 315)->data, "new");
    set_item(spec, "AREA_OR_POINT", NULL, "", -1);
    assert_int_equal(spec->metadata_count, 1);
    assert_string_equal(spec->metadata[0].value, "band");
    tz_image_spec_free(spec);
}

static uint32_t count_keys(const tz_image_spec *spec, uint16_t id, uint16_t *value)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->geo->key_count; i++) {
        count += spec->geo->keys[i].id == id;
        if (spec->geo->keys[i].id == id)
            *value = spec->geo->keys[i].value.shorts[0];
    }
    return count;
}

/* ---- georeferencing ---- */

static void area_or_point_leaves_the_transform(void **state)
{
    (void)state;
    const double transform[6] = {10, 0.01, 0, 20, 0, -0.02};
    uint16_t value = 0;
    tz_crs *crs = NULL;
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_crs_create(&crs, "EPSG:4326", &err));
    WORKS(tz_image_spec_set_crs(spec, crs, &err));
    WORKS(tz_image_spec_set_transform(spec, transform, &err));
    tz_crs_close(crs);
    set_item(spec, "AREA_OR_POINT", "Point", "", -1);
    written w = write_spec(spec);
    double tiepoint[6];
    tz_tag tag = TZ_TAG_INIT;
    for (uint32_t i = 0; tag.tag != 33922; i++)
        WORKS(tz_file_get_tag(&tag, w.file, tz_file_get_level(w.file, 0)->ifd_offset, i, &err));
    WORKS(tz_tag_read(tiepoint, sizeof tiepoint, w.file, &tag, &err));
    assert_true(tiepoint[3] == 10.005 && tiepoint[4] == 19.99); /* as GDAL writes it */
    close_written(&w);
    spec = rewritten(spec);
    assert_int_equal(spec->geo->raster_type, TZ_RASTER_TYPE_POINT);
    assert_memory_equal(spec->geo->transform, transform, sizeof transform);
    spec = written_with(spec, "area_or_point", "AREA");
    assert_int_equal(count_keys(spec, 1025, &value), 1);
    assert_int_equal(value, 1);
    assert_int_equal(spec->geo->epsg, 4326);
    assert_memory_equal(spec->geo->transform, transform, sizeof transform);
    spec = written_with(spec, "AREA_OR_POINT", NULL);
    assert_int_equal(count_keys(spec, 1025, &value), 0);
    assert_int_equal(spec->geo->epsg, 4326);
    spec = written_with(spec, "AREA_OR_POINT", "Point"); /* a key between those that are there */
    assert_int_equal(count_keys(spec, 1025, &value), 1);
    assert_int_equal(value, 2);
    assert_memory_equal(spec->geo->transform, transform, sizeof transform);
    tz_image_spec_free(spec);
}

/* GDAL writes the key for Point, and nothing for Area. */
static void area_or_point_needs_no_crs(void **state)
{
    (void)state;
    tz_image_spec *spec = written_with(new_spec(1), "AREA_OR_POINT", "Area");
    assert_null(spec->geo);
    spec = written_with(spec, "AREA_OR_POINT", "Point");
    assert_int_equal(spec->geo->raster_type, TZ_RASTER_TYPE_POINT);
    assert_int_equal(spec->geo->key_count, 1);
    WORKS(tz_image_spec_set_crs(spec, NULL, &err));
    assert_int_equal(spec->geo->raster_type, TZ_RASTER_TYPE_POINT);
    spec = written_with(spec, "AREA_OR_POINT", NULL);
    assert_null(spec->geo);
    tz_image_spec_free(spec);
}

static void a_crs_is_set_and_removed(void **state)
{
    (void)state;
    const double transform[6] = {10, 1, 0, 20, 0, -1};
    tz_crs *crs = NULL;
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_crs_create(&crs, "EPSG:32633", &err));
    WORKS(tz_image_spec_set_transform(spec, transform, &err));
    WORKS(tz_image_spec_set_crs(spec, crs, &err));
    tz_crs_close(crs);
    spec = rewritten(spec);
    assert_int_equal(spec->geo->epsg, 32633);
    assert_memory_equal(spec->geo->transform, transform, sizeof transform);
    WORKS(tz_crs_create(&crs, "EPSG:4326", &err));
    WORKS(tz_image_spec_set_crs(spec, crs, &err));
    tz_crs_close(crs);
    spec = rewritten(spec);
    assert_int_equal(spec->geo->epsg, 4326);
    WORKS(tz_image_spec_set_crs(spec, NULL, &err));
    spec = rewritten(spec);
    assert_false(spec->geo->has_crs);
    assert_memory_equal(spec->geo->transform, transform, sizeof transform);
    WORKS(tz_image_spec_set_transform(spec, NULL, &err));
    WORKS(tz_image_spec_set_crs(spec, NULL, &err));
    assert_null(spec->geo);
    tz_image_spec_free(spec);
}

static void transform_and_control_points_replace_each_other(void **state)
{
    (void)state;
    const double transform[6] = {10, 1, 0, 20, 0, -1};
    const double wrong[6] = {10, NAN, 0, 20, 0, -1};
    tz_gcp points[] = {{0, 0, 0, 10, 20, 0}, {100, 50, 0, 11, 19, 0}};
    tz_image_spec *spec = new_spec(1);
    WORKS(tz_image_spec_set_transform(spec, transform, &err));
    WORKS(tz_image_spec_set_gcps(spec, points, 2, &err));
    spec = rewritten(spec);
    assert_false(spec->geo->has_transform);
    assert_int_equal(spec->geo->gcp_count, 2);
    assert_memory_equal(spec->geo->gcps, points, sizeof points);
    REFUSES(spec, tz_image_spec_set_transform(spec, wrong, &err));
    points[1].z = INFINITY;
    REFUSES(spec, tz_image_spec_set_gcps(spec, points, 2, &err));
    REFUSES(spec, tz_image_spec_set_gcps(spec, NULL, 2, &err));
    WORKS(tz_image_spec_set_transform(spec, transform, &err));
    spec = rewritten(spec);
    assert_true(spec->geo->has_transform);
    assert_int_equal(spec->geo->gcp_count, 0);
    WORKS(tz_image_spec_set_gcps(spec, NULL, 0, &err));
    assert_true(!spec->geo || !spec->geo->has_transform);
    tz_image_spec_free(spec);
}

/* ---- memory ---- */

static tz_crs *some_crs;

enum { CHANGES = 12 };

/* One of the changes; each needs memory for all that it can. */
static tz_result change(tz_image_spec *spec, unsigned which)
{
    static const double transform[6] = {10, 1, 0, 20, 0, -1};
    static const tz_gcp points[200] = {{0, 0, 0, 10, 20, 0}};
    static const uint32_t bands[] = {2, 0, 1, 1, 0, 0, 0, 0, 0, 0};
    static const tz_window window = {.column = 1, .row = 1, .width = 7, .height = 9};
    static const tz_metadata_item item = SIZED_ITEM("d", "NAME", "value", "", 1);
    static const tz_metadata_item text = SIZED_ITEM("", "TIFFTAG_SOFTWARE", "value", "", -1);
    static const tz_metadata_item number = SIZED_ITEM("", "TIFFTAG_XRESOLUTION", "7.5", "", -1);
    static const tz_metadata_item extreme = SIZED_ITEM("", "TIFFTAG_MINSAMPLEVALUE", "7", "", -1);
    static const tz_metadata_item point = SIZED_ITEM("", "AREA_OR_POINT", "Point", "", -1);
    switch (which) {
    case 0:
        return tz_image_spec_set_grid(spec, &window, 10, 10, &err);
    case 1:
        return tz_image_spec_select_bands(spec, bands, 10, &err);
    case 2:
        return tz_image_spec_set_dtype(spec, TZ_DTYPE_UINT16, &err);
    case 3:
        return tz_image_spec_set_nodata(spec, "200", &err);
    case 4:
        return tz_image_spec_set_metadata(spec, &item, &err);
    case 5:
        return tz_image_spec_set_crs(spec, some_crs, &err);
    case 6:
        return tz_image_spec_set_transform(spec, transform, &err);
    case 7:
        return tz_image_spec_set_metadata(spec, &text, &err);
    case 8:
        return tz_image_spec_set_metadata(spec, &number, &err);
    case 9:
        return tz_image_spec_set_metadata(spec, &extreme, &err);
    case 10:
        return tz_image_spec_set_metadata(spec, &point, &err);
    default:
        return tz_image_spec_set_gcps(spec, points, 200, &err);
    }
}

/* Fills a specification with everything, and uses up bytes of its first blocks of memory, so that
 * any of the allocations may be the one that needs a new block. */
static tz_result fill_spec(tz_image_spec *spec, unsigned filler)
{
    static uint16_t map[3 * 256];
    static const uint16_t extremes[] = {9};
    static const tz_tag_value tags[] = {SIZED_TAG(281, 3, 1, extremes), SIZED_TAG(305, 2, 2, "x")};
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "STATISTICS_MEAN", "1", "", 0),
        SIZED_ITEM("", "DESCRIPTION", "one", "description", 1)};
    static double rpc[92];
    static const tz_gcp points[] = {{0, 0, 0, 10, 20, 0}};
    static tz_geo geo = TZ_GEO_INIT;
    char text[200];
    static const uint16_t model_type[] = {7};
    static const tz_geo_key keys[] = {{1024, 3, 1, {.shorts = model_type}}};
    geo.rpc = rpc, geo.gcps = points, geo.gcp_count = 1;
    geo.keys = keys, geo.key_count = 1;
    spec->width = 100, spec->height = 50, spec->bands = 3, spec->dtype = TZ_DTYPE_UINT8;
    spec->photometric = TZ_PHOTOMETRIC_PALETTE, spec->color_map = map, spec->color_map_size = 256;
    spec->tags = tags, spec->tag_count = 2;
    spec->metadata = items, spec->metadata_count = 2;
    spec->geo = &geo;
    memset(text, '0', sizeof text);
    text[sizeof text - 1] = '\0';
    for (unsigned i = 0; i < filler; i++) {
        const tz_result result = tz_image_spec_set_nodata(spec, text + 199 - 16, &err);
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    WORKS(tz_crs_create(&some_crs, "EPSG:32633", &err));
    for (unsigned round = 0; round < CHANGES * 40; round++) {
        alloc_stats stats = {.failures = 1};
        for (uint64_t n = 1; stats.failures > 0; n++) {
            tz_image_spec *spec = NULL;
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            tz_result result = tz_image_spec_create(&spec, &err);
            if (result == TZ_OK)
                result = fill_spec(spec, round / CHANGES);
            if (result == TZ_OK) {
                const tz_image_spec before = *spec;
                result = change(spec, round % CHANGES);
                if (result != TZ_OK)
                    assert_memory_equal(&before, spec, sizeof before);
            }
            tz_image_spec_free(spec);
            stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_int_equal(stats.live_bytes, 0);
            assert_int_equal(result, stats.failures ? TZ_ERR_NOMEM : TZ_OK);
        }
    }
    tz_crs_close(some_crs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_specification_is_owned),
        CASE(a_transform_follows_the_window),
        CASE(control_points_and_rpc_follow_the_window),
        CASE(control_points_and_rpc_are_those_of_gdal),
        CASE(statistics_stay_on_the_same_grid),
        CASE(an_empty_grid_is_refused),
        CASE(colours_follow_their_bands),
        CASE(colours_of_items_follow_their_bands),
        CASE(other_colours_stay_as_text),
        CASE(a_palette_is_kept_by_one_band),
        CASE(white_stays_the_least_value),
        CASE(items_follow_their_bands),
        CASE(nodata_stays_if_the_type_has_it),
        CASE(the_type_changes_bits_and_statistics),
        CASE(a_palette_fits_its_type),
        CASE(nodata_is_set_and_removed),
        CASE(items_are_replaced_by_their_key),
        CASE(items_of_text_are_tags),
        CASE(items_of_numbers_are_tags),
        CASE(values_that_a_tag_cannot_have_are_refused),
        CASE(items_of_bands_and_domains_stay_items),
        CASE(items_of_that_name_are_dropped),
        CASE(area_or_point_leaves_the_transform),
        CASE(area_or_point_needs_no_crs),
        CASE(a_crs_is_set_and_removed),
        CASE(transform_and_control_points_replace_each_other),
        CASE(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
