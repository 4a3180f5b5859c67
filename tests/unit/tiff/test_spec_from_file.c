/* SPDX-License-Identifier: Apache-2.0
 * A specification taken from a file, and files made of it: random ones come back as they were. */
#include <math.h>

#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_case.h"
#include "support/spec_equal.h"

static tz_image_spec *spec_of(const tz_file *handle)
{
    tz_image_spec *read = NULL;
    tz_error err;
    if (tz_image_spec_from_file(&read, handle, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return read;
}

/* The specification of the file that a builder describes. */
static tz_image_spec *spec_of_built(tb *b)
{
    tz_file *handle = NULL;
    tz_error err;
    tb_finish(b);
    if (tz_open_memory(&handle, b->data, b->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_image_spec *read = spec_of(handle);
    tz_close(handle);
    tb_free(b);
    return read;
}

/* ---- random specifications ---- */

static uint64_t seed;

static uint32_t number(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static double fraction(double size)
{
    return (number(1u << 30) * 0x1p-30 - 0.5) * size * (1 + number(1000) * 0x1p-50);
}

/* Memory of one random specification. */
typedef struct random_parts {
    uint16_t extra[8];
    uint16_t map[3 * 256];
    tz_geo place;
    tz_gcp gcps[5];
    tz_geo_key keys[6];
    uint16_t shorts[4];
    double doubles[92];
    tz_metadata_item items[6];
    tz_tag_value tags[6];
    uint8_t bytes[256];
    char text[64];
} random_parts;

static void random_type(void)
{
    spec.width = 1 + number(70);
    spec.height = 1 + number(70);
    spec.bands = 1 + number(6);
    spec.dtype = (tz_dtype)(1 + number(16));
    if (spec.dtype == TZ_DTYPE_UINT8 && number(2))
        spec.bits_per_sample = (uint16_t)(1 + number(8));
    if (spec.dtype == TZ_DTYPE_INT32 && number(2))
        spec.bits_per_sample = (uint16_t)(17 + number(16));
    spec.orientation = (uint16_t)number(9);
    spec.mask = number(4) == 0;
    options.strips = number(2);
    options.interleave = (tz_interleave)number(3);
    options.tile_height = options.strips ? number(100) : 16 * number(4);
}

static void random_colors(random_parts *parts)
{
    static const tz_photometric choices[] = {
        TZ_PHOTOMETRIC_AUTO, TZ_PHOTOMETRIC_MIN_IS_WHITE, TZ_PHOTOMETRIC_MIN_IS_BLACK,
        TZ_PHOTOMETRIC_RGB,  TZ_PHOTOMETRIC_CMYK,         TZ_PHOTOMETRIC_ICCLAB};
    const uint32_t channels[] = {1, 1, 1, 3, 4, 3};
    const uint32_t choice = number(6);
    if (spec.bands < channels[choice])
        return;
    spec.photometric = choices[choice];
    if (choice > 0 && number(2)) {
        spec.extra_sample_count = spec.bands - channels[choice];
        spec.extra_samples = parts->extra;
        for (unsigned i = 0; i < spec.extra_sample_count; i++)
            parts->extra[i] = (uint16_t)number(3);
    }
    if (spec.dtype <= TZ_DTYPE_INT8 && choice == 0) {
        spec.color_map_size = 1u << (spec.bits_per_sample ? spec.bits_per_sample : 8);
        spec.color_map = parts->map;
        for (unsigned i = 0; i < 3 * spec.color_map_size; i++)
            parts->map[i] = (uint16_t)number(65536);
    }
}

static void random_nodata(void)
{
    const bool real = (spec.dtype >= TZ_DTYPE_FLOAT16 && spec.dtype <= TZ_DTYPE_FLOAT64) ||
                      spec.dtype >= TZ_DTYPE_COMPLEX_FLOAT16;
    static const double values[] = {NAN, INFINITY, -INFINITY, 0.1, -9999, 1.5, -0.0, 65504};
    if (number(2))
        spec.nodata = real ? (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value.f = values[number(8)]}
                           : (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = number(2)};
}

static void random_keys(random_parts *parts)
{
    const uint16_t ids[] = {1026, 2051, 2057, 3073, 40000, 65535};
    parts->place.key_count = 1 + number(6);
    parts->place.keys = parts->keys;
    for (unsigned i = 0; i < parts->place.key_count; i++) {
        tz_geo_key *key = &parts->keys[i];
        *key = (tz_geo_key){.id = ids[i]};
        if (ids[i] == 1026 || ids[i] == 3073) {
            key->type = TZ_TYPE_ASCII, key->count = number(10), key->value.text = "text|of|keys";
        } else if (ids[i] == 2057) {
            key->type = TZ_TYPE_DOUBLE, key->count = 1 + number(3);
            key->value.doubles = parts->doubles;
        } else {
            key->type = TZ_TYPE_SHORT, key->count = ids[i] == 2051 ? 1 : 1 + number(4);
            key->value.shorts = parts->shorts;
        }
    }
}

static void random_place(random_parts *parts)
{
    tz_geo *place = &parts->place;
    *place = (tz_geo){.struct_size = sizeof(tz_geo), .coordinate_epoch = NAN};
    spec.geo = place;
    for (unsigned i = 0; i < 92; i++)
        parts->doubles[i] = fraction(1e6);
    for (unsigned i = 0; i < 4; i++)
        parts->shorts[i] = (uint16_t)number(65536);
    if (number(2)) {
        place->has_transform = true;
        const bool turned = number(2);
        const double t[] = {fraction(1e7), 1 + number(9) / 7.0, turned ? 0.3 : 0,
                            fraction(1e7), turned ? -0.2 : 0,   -1 - number(9) / 7.0};
        memcpy(place->transform, t, sizeof t);
    } else if (number(2)) {
        place->gcp_count = 1 + number(5);
        place->gcps = parts->gcps;
        for (unsigned i = 0; i < place->gcp_count; i++)
            parts->gcps[i] =
                (tz_gcp){number(100), number(100) + 0.25, 0, fraction(1e6), fraction(1e6), 0};
    }
    if (number(2)) {
        random_keys(parts);
    } else if (number(2)) {
        place->epsg = number(2) ? 32633 : 4326;
        place->epsg_vertical = number(2) ? 5773 : 0;
        place->raster_type = (tz_raster_type)number(2);
    }
    if (number(3) == 0)
        place->rpc = parts->doubles;
}

static void random_words(random_parts *parts)
{
    static const char *const words[] = {"plain",      "a<b>&\"c\"", "\xc3\xa4\xc3\xb6",
                                        "two\nlines", " spaces ",   "<doc><a/></doc>"};
    spec.metadata = parts->items;
    spec.metadata_count = number(7);
    for (unsigned i = 0; i < spec.metadata_count; i++)
        parts->items[i] =
            (tz_metadata_item)SIZED_ITEM(number(2) ? "" : "xml:d", words[number(3)],
                                         words[number(6)], "", (int32_t)number(spec.bands + 1) - 1);
    static const uint16_t ids[] = {270, 305, 282, 700, 34675, 65001};
    static const uint16_t types[] = {2, 2, 5, 1, 7, 12};
    spec.tags = parts->tags;
    spec.tag_count = number(7);
    for (unsigned i = 0; i < sizeof parts->bytes; i++)
        parts->bytes[i] = (uint8_t)number(256);
    for (unsigned i = 0; i < spec.tag_count; i++) {
        const uint64_t count = 1 + number(16);
        parts->tags[i] = (tz_tag_value)SIZED_TAG(ids[i], types[i], count, parts->bytes);
        if (types[i] == TZ_TYPE_ASCII)
            parts->tags[i] = (tz_tag_value)SIZED_TAG(ids[i], types[i], 6, words[0]);
    }
}

static void random_spec(random_parts *parts)
{
    start();
    random_type();
    random_colors(parts);
    random_nodata();
    if (number(3))
        random_place(parts);
    random_words(parts);
}

/* Made, read, and made again of what was read: the same specification, and the same bytes. */
static void check_round_trip(unsigned format)
{
    bench b;
    tz_image image;
    emitted first = {0}, second = {0};
    tz_file *handle = NULL;
    tz_error err;
    bench_init(&b);
    options.big_endian = (format & TB_BIG_ENDIAN) != 0;
    if (tz_image_init(&image, &spec, &options, &b.ctx) != TZ_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, b.err.message);
    assert_int_equal(spec_file_emit(&first, &image, NULL, format, &b.ctx), TZ_OK);
    assert_int_equal(tz_open_memory(&handle, first.data, first.size, NULL, &err), TZ_OK);
    tz_image_spec *read = spec_of(handle);
    tz_close(handle); /* what was read needs it no longer */
    const char *what = spec_differs(&image.spec, read);
    if (what)
        fail_msg("seed %llu: %s", (unsigned long long)seed, what);
    assert_int_equal(spec_file_make(&second, read, &options, format, &b.ctx), TZ_OK);
    assert_int_equal(second.size, first.size);
    assert_memory_equal(second.data, first.data, first.size);
    tz_image_spec_free(read);
    tz_image_deinit(&image);
    emitted_free(&first);
    emitted_free(&second);
    bench_deinit(&b);
}

static void random_specifications_come_back(void **state)
{
    (void)state;
    if (!tz_build_feature("expat"))
        return;
    for (unsigned i = 0; i < 2000; i++) {
        random_parts parts = {0};
        seed = i;
        random_spec(&parts);
        check_round_trip(i % TB_FORMATS);
    }
}

/* ---- what is left out or changed ---- */

static void pointers_are_left_out(void **state)
{
    (void)state;
    tb *b = tb_new(TB_BIG_ENDIAN);
    const int image = tb_gray(b, 16, 16);
    TB_SET(b, image, 40965, TZ_TYPE_LONG, 8);
    TB_SET(b, image, 65001, TZ_TYPE_LONG, 8);  /* unknown, and may be an offset */
    TB_SET(b, image, 65002, TZ_TYPE_SHORT, 8); /* too narrow for one */
    TB_SET(b, image, 33723, TZ_TYPE_LONG, 8);  /* IPTC, which is known to be data */
    tb_add_again(b, image, 33723, TZ_TYPE_LONG, 9);
    tb_set_raw(b, image, 65003, 99, 1, 0);
    tb_set_raw(b, image, 65004, TZ_TYPE_IFD, 1, 8);
    tb_set_raw(b, image, 65005, TZ_TYPE_BYTE, 1 << 20, 8); /* not in the file */
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->tag_count, 2);
    assert_int_equal(*(const uint32_t *)read->tags[0].data, 8);
    assert_int_equal(read->tags[0].tag, 33723);
    assert_int_equal(read->tags[1].tag, 65002);
    tz_image_spec_free(read);
}

static void text_gets_its_closing_nul(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    tb_set_bytes(b, tb_gray(b, 16, 16), 305, TZ_TYPE_ASCII, 4, "abcd", 4);
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->tag_count, 1);
    assert_true(read->tags[0].count == 5);
    assert_memory_equal(read->tags[0].data, "abcd", 5);
    tz_image_spec_free(read);
}

/* Keys that the standard does not allow are made to fit, or left out. */
static void odd_keys_are_mended(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    const int image = tb_gray(b, 16, 16);
    TB_SHORTS(b, image, TZ_TAG_GEO_KEYS, 1, 1, 0, 3, 1026, 34737, 5, 0, 2057, 34736, 0, 0, 3072, 0,
              1, 32633);
    TB_DOUBLES(b, image, TZ_TAG_GEO_DOUBLES, 1.5);
    tb_set_bytes(b, image, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 6, "a\0bc|", 6);
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->geo->key_count, 2);
    assert_int_equal(read->geo->keys[0].count, 1);
    assert_int_equal(read->geo->keys[1].id, 3072);
    bench check;
    emitted file;
    bench_init(&check);
    start();
    assert_int_equal(spec_file_make(&file, read, &options, 0, &check.ctx), TZ_OK);
    emitted_free(&file);
    bench_deinit(&check);
    tz_image_spec_free(read);
}

static void check_nodata(const char *text, tz_nodata_kind kind, const char *kept)
{
    tb *b = tb_new(0);
    tb_set_text(b, tb_gray(b, 16, 16), TZ_TAG_GDAL_NODATA, text);
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->nodata.kind, kind);
    assert_true(same_text(read->nodata_text, kept));
    tz_image_spec_free(read);
}

static void nodata_that_no_pixel_has_is_left_out(void **state)
{
    (void)state;
    check_nodata("-9999", TZ_NODATA_KIND_NONE, NULL);
    check_nodata("nan", TZ_NODATA_KIND_NONE, NULL);
    check_nodata("255", TZ_NODATA_KIND_UINT, "255");
    check_nodata("7.000", TZ_NODATA_KIND_UINT, "7.000");
    check_nodata("7 metres", TZ_NODATA_KIND_UINT, NULL);
    check_nodata("7\x01", TZ_NODATA_KIND_UINT, NULL);
}

static void an_orientation_that_is_none_is_the_usual(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    const int image = tb_gray(b, 16, 16);
    TB_SHORTS(b, image, TZ_TAG_ORIENTATION, 9);
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->orientation, 1);
    tz_image_spec_free(read);
}

static void ycbcr_of_jpeg_becomes_rgb(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    tb_image(
        b, &(tb_spec){.width = 16, .height = 16, .samples = 3, .photometric = 6, .compression = 7});
    tz_image_spec *read = spec_of_built(b);
    assert_int_equal(read->photometric, TZ_PHOTOMETRIC_RGB);
    tz_image_spec_free(read);
}

static void odd_colors_become_grey(void **state)
{
    (void)state;
    static const uint16_t numbers[] = {4, 6, 32803, 34892, 3, 5};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        tb *b = tb_new(0);
        tb_image(b, &(tb_spec){.width = 16, .height = 16, .samples = 3, .photometric = numbers[i]});
        tz_image_spec *read = spec_of_built(b);
        assert_int_equal(read->photometric, TZ_PHOTOMETRIC_MIN_IS_BLACK);
        assert_int_equal(read->extra_sample_count, 2);
        tz_image_spec_free(read);
    }
}

/* A file whose map contradicts its interpretation becomes one that does not. */
static void a_colour_map_makes_a_palette(void **state)
{
    (void)state;
    for (uint16_t photometric = 0; photometric < 2; photometric++) {
        tb *b = tb_new(0);
        tb_image(b, &(tb_spec){.width = 16, .height = 16, .samples = 2, .bits = 1});
        TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, photometric);
        TB_SHORTS(b, 0, TZ_TAG_EXTRA_SAMPLES, 2);
        TB_SHORTS(b, 0, TZ_TAG_COLOR_MAP, 1, 2, 3, 4, 5, 6);
        tz_image_spec *read = spec_of_built(b);
        assert_int_equal(read->photometric, TZ_PHOTOMETRIC_PALETTE);
        assert_int_equal(read->color_map_size, 2);
        assert_int_equal(read->color_map[5], 6);
        assert_int_equal(read->extra_sample_count, 1);
        assert_int_equal(read->extra_samples[0], 2);
        tz_image_spec_free(read);
    }
}

static void samples_without_a_type_are_an_error(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    tb_image(b, &(tb_spec){.width = 16, .height = 16, .bits = 33});
    tb_finish(b);
    tz_file *handle = NULL;
    tz_image_spec *read = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&handle, b->data, b->size, NULL, &err), TZ_OK);
    assert_int_equal(tz_image_spec_from_file(&read, handle, &err), TZ_ERR_UNSUPPORTED);
    assert_null(read);
    tz_close(handle);
    tb_free(b);
    tz_image_spec_free(NULL);
}

/* Many tags of one large value must not cost many times the file. */
static void shared_data_is_bounded(void **state)
{
    (void)state;
    tb *b = tb_new(0);
    const int image = tb_gray(b, 16, 16);
    for (uint16_t tag = 65001; tag < 65041; tag++)
        tb_set_raw(b, image, tag, TZ_TYPE_BYTE, 500, 8);
    tb_finish(b);
    tz_file *handle = NULL;
    tz_image_spec *read = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&handle, b->data, b->size, NULL, &err), TZ_OK);
    assert_int_equal(tz_image_spec_from_file(&read, handle, &err), TZ_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the tags share their data"));
    tz_close(handle);
    tb_free(b);
}

/* The work of one random specification: made, emitted, and taken from the file again. */
static tz_result make_and_take(const tz_file *handle)
{
    bench b;
    tz_image image;
    emitted file = {0};
    tz_image_spec *read = NULL;
    bench_init(&b);
    tz_result result = tz_image_init(&image, &spec, &options, &b.ctx);
    if (result == TZ_OK)
        result = spec_file_emit(&file, &image, NULL, 0, &b.ctx);
    if (result == TZ_OK)
        result = tz_image_spec_from_file(&read, handle, &b.err);
    if (result != TZ_OK)
        assert_int_equal(b.err.cause, TZ_CAUSE_NOMEM);
    tz_image_spec_free(read);
    emitted_free(&file);
    tz_image_deinit(&image);
    bench_deinit(&b);
    return result;
}

/* Blocks of memory end at other offsets with every specification. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 150; i++) {
        random_parts parts = {0};
        bench b;
        emitted file;
        tz_file *handle = NULL;
        seed = i;
        random_spec(&parts);
        bench_init(&b);
        assert_int_equal(spec_file_make(&file, &spec, &options, 0, &b.ctx), TZ_OK);
        assert_int_equal(tz_open_memory(&handle, file.data, file.size, NULL, &b.err), TZ_OK);
        bench_deinit(&b);
        alloc_stats stats = {.failures = 1};
        for (uint64_t n = 1; stats.failures > 0; n++) {
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            const tz_result result = make_and_take(handle);
            stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_int_equal(stats.live_bytes, 0);
            assert_int_equal(result, stats.failures ? TZ_ERR_NOMEM : TZ_OK);
        }
        tz_close(handle);
        emitted_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(random_specifications_come_back),
        CASE(pointers_are_left_out),
        CASE(text_gets_its_closing_nul),
        CASE(odd_keys_are_mended),
        CASE(an_orientation_that_is_none_is_the_usual),
        CASE(nodata_that_no_pixel_has_is_left_out),
        CASE(ycbcr_of_jpeg_becomes_rgb),
        CASE(odd_colors_become_grey),
        CASE(a_colour_map_makes_a_palette),
        CASE(samples_without_a_type_are_an_error),
        CASE(shared_data_is_bounded),
        CASE(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
