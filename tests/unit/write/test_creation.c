/* SPDX-License-Identifier: Apache-2.0
 * Creation options of GDAL by name: what is understood, refused and suggested, and what they mean
 * for an image. The texts as the command prints them are tested in tests/cli. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/raster.h"

static tz_creation *creation_of(const char *driver)
{
    tz_creation *creation = NULL;
    tz_error err;
    if (tz_creation_create(&creation, driver, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return creation;
}

static void set(tz_creation *creation, const char *key, const char *value)
{
    tz_error err;
    if (tz_creation_set(creation, key, value, &err) != TZ_OK)
        fail_msg("%s", err.message);
}

static void refuses(const char *driver, const char *key, const char *value, const char *text)
{
    tz_creation *creation = creation_of(driver);
    tz_error err = {.result = TZ_OK};
    const char *before = tz_creation_get_value(creation, key);
    assert_int_equal(tz_creation_set(creation, key, value, &err), TZ_ERR_ARG);
    assert_int_equal(err.cause, TZ_CAUSE_ARG);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
    assert_ptr_equal(tz_creation_get_value(creation, key), before);
    assert_int_equal(tz_creation_check(creation, &err), TZ_OK); /* all is as before */
    tz_creation_free(creation);
}

/* An image of bands and a type, and options, as creation options leave them. */
typedef struct applied {
    tz_creation *creation;
    tz_image_spec spec;
    tz_write_options options;
    tz_error err;
    tz_result result;
} applied;

static applied apply_to(const char *driver, const char *const *pairs, tz_image_spec spec,
                        const tz_file *source)
{
    applied a = {.creation = creation_of(driver), .spec = spec, .options = TZ_WRITE_OPTIONS_INIT};
    for (; pairs[0]; pairs += 2)
        set(a.creation, pairs[0], pairs[1]);
    a.result = tz_creation_apply(a.creation, &a.spec, &a.options, source, &a.err);
    return a;
}

static tz_image_spec spec_of(tz_dtype dtype, uint32_t bands)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 100, spec.height = 80, spec.bands = bands, spec.dtype = dtype;
    return spec;
}

/* The options as a list that ends with NULL. */
#define APPLY(driver, spec, ...)                                                                   \
    apply_to(driver, (const char *const[]){__VA_ARGS__, NULL}, spec, NULL)

/* ---- names and values ---- */

static void drivers_have_names(void **state)
{
    (void)state;
    tz_creation *creation = NULL;
    tz_error err;
    assert_int_equal(tz_creation_create(&creation, "PNG", &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "no driver 'PNG'; there are GTiff and COG"));
    assert_int_equal(tz_creation_create(&creation, NULL, &err), TZ_ERR_ARG);
    assert_null(creation);
    tz_creation_free(creation_of("gtiff"));
    tz_creation_free(creation_of("COG"));
    tz_creation_free(NULL);
}

static void names_and_words_are_in_any_case(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("COG");
    set(creation, "compress", "Lzw");
    assert_string_equal(tz_creation_get_value(creation, "Compress"), "Lzw");
    assert_string_equal(tz_creation_get_value(creation, "BLOCKSIZE"), "512");
    assert_null(tz_creation_get_value(creation, "NBITS"));
    assert_null(tz_creation_get_value(creation, "NOTHING"));
    tz_creation_free(creation);
}

static void what_was_meant_is_suggested(void **state)
{
    (void)state;
    refuses("GTiff", "COMPRES", "LZW",
            "unknown creation option 'COMPRES'; did you mean 'COMPRESS'?");
    refuses("GTiff", "Q", "1", "unknown creation option 'Q'");
    refuses("COG", "COMPRESS", "DEFLAT", "COMPRESS cannot be 'DEFLAT'; did you mean 'DEFLATE'?");
    refuses("COG", "BLOCKSIZE", "8", "BLOCKSIZE cannot be '8': from 16 on");
    refuses("GTiff", "ZLEVEL", "13", "ZLEVEL cannot be '13': 1 to 12, FAST");
    refuses("GTiff", "ZLEVEL", "1.5", "1 to 12, FAST");
    refuses("GTiff", "ZLEVEL", " 5", "1 to 12, FAST");
    refuses("GTiff", "JXL_DISTANCE", "inf", "0.01 to 25");
    refuses("GTiff", "DISCARD_LSB", "1,2,", "a number of bits, or one for each band");
    refuses("GTiff", "DISCARD_LSB", "64", "a number of bits");
    refuses("GTiff", "DISCARD_LSB", "", "a number of bits");
}

static void what_only_gdal_has_is_refused(void **state)
{
    (void)state;
    refuses("GTiff", "COMPRESS", "CCITTFAX4", "CCITT codes are read, not written");
    refuses("COG", "TILING_SCHEME", "GoogleMapsCompatible", "the image keeps its own grid");
    refuses("COG", "ZLEVEL", "3", "for effort there is LEVEL");
    refuses("GTiff", "COPY_SRC_OVERVIEWS", "YES", "overviews are not written");
    tz_creation *creation = creation_of("GTiff");
    set(creation, "COPY_SRC_OVERVIEWS", "NO"); /* the default */
    tz_creation_free(creation);
}

/* A text of the caller is one line of a message, whatever it holds. */
static void words_in_messages_are_harmless(void **state)
{
    (void)state;
    char text[400];
    refuses("GTiff", "TILED", "a\x1b\n\x7f", "TILED cannot be 'a\\x1b\\n\\x7f'");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    refuses("GTiff", "TILED", text, "xxx...': YES, NO");
    refuses("GTiff", text, "1", "xxx...'");
    memset(text, 0xc3, sizeof text - 1);
    refuses("GTiff", "TILED", text, "...': YES, NO");
}

static void an_option_is_set_once(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("GTiff");
    tz_error err;
    set(creation, "TILED", "YES");
    assert_int_equal(tz_creation_set(creation, "tiled", "YES", &err), TZ_ERR_ARG);
    assert_string_equal(err.message, "TILED is given twice");
    for (int i = 0; i < 16; i++)
        set(creation, "SRC_MDD", "a"); /* but this one */
    assert_int_equal(tz_creation_set(creation, "SRC_MDD", "b", &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "given too often"));
    assert_int_equal(tz_creation_set(NULL, "TILED", "YES", &err), TZ_ERR_ARG);
    assert_int_equal(tz_creation_set(creation, NULL, "YES", &err), TZ_ERR_ARG);
    assert_int_equal(tz_creation_set(creation, "ALPHA", NULL, &err), TZ_ERR_ARG);
    tz_creation_free(creation);
}

static void profiles_choose_the_compression(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("COG");
    tz_error err;
    assert_int_equal(tz_creation_set_profile(creation, "lerc_zstd", &err), TZ_OK);
    assert_string_equal(tz_creation_get_value(creation, "COMPRESS"), "LERC_ZSTD");
    set(creation, "COMPRESS", "LZW"); /* wins, before and after */
    assert_int_equal(tz_creation_set_profile(creation, "raw", &err), TZ_OK);
    assert_string_equal(tz_creation_get_value(creation, "COMPRESS"), "LZW");
    assert_int_equal(tz_creation_set_profile(creation, "jpg", &err), TZ_ERR_ARG);
    assert_string_equal(err.message, "profile cannot be 'jpg'; did you mean 'jpeg'?");
    assert_int_equal(tz_creation_set_profile(creation, "qqqqqq", &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "profile cannot be 'qqqqqq': jpeg, webp, zstd"));
    tz_creation_free(creation);
}

/* ---- options together ---- */

static void options_of_other_codecs_are_warnings(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("GTiff");
    tz_error err;
    assert_null(tz_creation_get_warning(creation, 0));
    set(creation, "ZLEVEL", "9");
    set(creation, "JPEG_QUALITY", "30");
    set(creation, "WEBP_LEVEL", "75"); /* the default changes nothing */
    set(creation, "COMPRESS", "LZW");
    for (int i = 0; i < 2; i++) { /* the same again */
        assert_int_equal(tz_creation_check(creation, &err), TZ_OK);
        assert_string_equal(tz_creation_get_warning(creation, 0)->message,
                            "ZLEVEL has no effect with COMPRESS=LZW");
        assert_string_equal(tz_creation_get_warning(creation, 1)->message,
                            "JPEG_QUALITY has no effect with COMPRESS=LZW");
        assert_null(tz_creation_get_warning(creation, 2));
    }
    set(creation, "BLOCKXSIZE", "64");
    assert_int_equal(tz_creation_check(creation, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "BLOCKXSIZE needs TILED=YES"));
    assert_non_null(tz_creation_get_warning(creation, 1)); /* also then */
    tz_creation_free(creation);
}

static void options_must_go_together(void **state)
{
    (void)state;
    static const struct {
        const char *driver, *first, *first_value, *second, *second_value, *text;
    } cases[] = {
        {"GTiff", "TFW", "YES", "WORLDFILE", "YES", "one world file is enough"},
        {"GTiff", "STATISTICS", "YES", "PROFILE", "BASELINE", "needs PROFILE=GDALGeoTIFF"},
        {"GTiff", "SRC_MDD", "a", "COPY_SRC_MDD", "NO", "do not go together"},
        {"COG", "OVERVIEWS", "NONE", "OVERVIEW_COUNT", "2", "do not go together"},
        {"COG", "COMPRESS", "LZMA", "LEVEL", "10", "LEVEL is 0 to 9 with COMPRESS=LZMA"},
        {"COG", "COMPRESS", "LERC", "OVERVIEW_COMPRESS", "LERC_ZSTD", "where both are LERC"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int turn = 0; turn < 2; turn++) { /* in any order */
            tz_creation *creation = creation_of(cases[i].driver);
            tz_error err;
            if (turn)
                set(creation, cases[i].second, cases[i].second_value);
            set(creation, cases[i].first, cases[i].first_value);
            if (!turn)
                set(creation, cases[i].second, cases[i].second_value);
            assert_int_equal(tz_creation_check(creation, &err), TZ_ERR_ARG);
            if (!strstr(err.message, cases[i].text))
                fail_msg("%s", err.message);
            tz_creation_free(creation);
        }
}

/* ---- what they mean ---- */

static void defaults_are_those_of_the_driver(void **state)
{
    (void)state;
    applied a = APPLY("GTiff", spec_of(TZ_DTYPE_UINT16, 1), "BIGTIFF", "IF_NEEDED");
    assert_int_equal(a.result, TZ_OK);
    assert_int_equal(a.options.codec.compression, TZ_COMPRESSION_NONE);
    assert_true(a.options.strips && !a.options.cog);
    tz_creation_free(a.creation);
    a = APPLY("COG", spec_of(TZ_DTYPE_UINT16, 1), "BIGTIFF", "IF_NEEDED");
    assert_int_equal(a.options.codec.compression, TZ_COMPRESSION_DEFLATE);
    assert_int_equal(a.options.codec.effort, 0); /* the library's, which may be a device's */
    assert_int_equal(a.options.tile_width, 512);
    assert_true(!a.options.strips && a.options.cog);
    tz_creation_free(a.creation);
}

/* Members that no creation option is about are the caller's. */
static void other_members_stay(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("GTiff");
    tz_image_spec spec = spec_of(TZ_DTYPE_UINT8, 1);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.threads = 3;
    options.no_sync = true;
    options.mask_codec.compression = TZ_COMPRESSION_LZW;
    options.codec.effort = 9; /* of no option: it is the codec's */
    assert_int_equal(tz_creation_apply(creation, &spec, &options, NULL, NULL), TZ_OK);
    assert_int_equal(options.threads, 3);
    assert_true(options.no_sync);
    assert_int_equal(options.mask_codec.compression, TZ_COMPRESSION_LZW);
    assert_int_equal(options.codec.effort, 0);
    set(creation, "NUM_THREADS", "2");
    assert_int_equal(tz_creation_apply(creation, &spec, &options, NULL, NULL), TZ_OK);
    assert_int_equal(options.threads, 2);
    tz_creation_free(creation);
}

static void codecs_of_image_and_overviews(void **state)
{
    (void)state;
    applied a = APPLY("COG", spec_of(TZ_DTYPE_UINT8, 3), "OVERVIEW_QUALITY", "100", "QUALITY", "40",
                      "COMPRESS", "WEBP", "OVERVIEW_RESAMPLING", "CUBIC", "OVERVIEW_COUNT", "0");
    assert_int_equal(a.result, TZ_OK);
    assert_int_equal(a.options.codec.compression, TZ_COMPRESSION_WEBP);
    assert_int_equal(a.options.codec.quality, 40);
    assert_int_equal(a.options.codec.lossless, TZ_CHOICE_NO);
    assert_int_equal(a.options.overview_codec.lossless, TZ_CHOICE_YES);
    assert_int_equal(a.options.overview_codec.quality, 0);
    assert_int_equal(a.options.overview_resampling, TZ_RESAMPLING_CUBIC);
    assert_int_equal(a.options.overview_count, -1);
    tz_creation_free(a.creation);
    a = APPLY("COG", spec_of(TZ_DTYPE_FLOAT32, 1), "COMPRESS", "ZSTD", "LEVEL", "3",
              "OVERVIEW_COMPRESS", "LERC_DEFLATE", "MAX_Z_ERROR_OVERVIEW", "0.5");
    assert_int_equal(a.options.codec.effort, 3);
    assert_int_equal(a.options.codec.lerc_compression, 0);
    assert_int_equal(a.options.overview_codec.compression, TZ_COMPRESSION_LERC);
    assert_int_equal(a.options.overview_codec.lerc_compression, 1);
    assert_true(a.options.overview_codec.max_error == 0.5);
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec_of(TZ_DTYPE_UINT8, 3), "DISCARD_LSB", "1,2,3", "COMPRESS", "LZW",
              "PREDICTOR", "2", "SPARSE_OK", "ON", "ENDIANNESS", "BIG", "ALIGN", "64");
    assert_int_equal(a.options.discard_count, 3);
    assert_int_equal(a.options.discard_bits[2], 3);
    assert_int_equal(a.options.codec.predictor, 2);
    assert_true(a.options.sparse && a.options.big_endian);
    assert_int_equal(a.options.alignment, 64);
    tz_creation_free(a.creation);
}

static void samples_change_their_type(void **state)
{
    (void)state;
    applied a = APPLY("GTiff", spec_of(TZ_DTYPE_FLOAT32, 1), "NBITS", "16");
    assert_int_equal(a.spec.dtype, TZ_DTYPE_FLOAT16);
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec_of(TZ_DTYPE_UINT16, 1), "NBITS", "12");
    assert_int_equal(a.spec.bits_per_sample, 12);
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec_of(TZ_DTYPE_UINT8, 1), "PIXELTYPE", "SIGNEDBYTE");
    assert_int_equal(a.spec.dtype, TZ_DTYPE_INT8);
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec_of(TZ_DTYPE_FLOAT64, 1), "NBITS", "16");
    assert_int_equal(a.result, TZ_ERR_ARG);
    assert_string_equal(a.err.message, "NBITS=16 is not for float64");
    assert_int_equal(a.spec.dtype, TZ_DTYPE_FLOAT64); /* as before */
    assert_int_equal(a.options.codec.compression, TZ_COMPRESSION_DEFAULT);
    tz_creation_free(a.creation);
}

/* As GDAL's COG driver does. */
static void jpeg_of_a_cog_has_ycbcr_and_a_mask(void **state)
{
    (void)state;
    applied a = APPLY("COG", spec_of(TZ_DTYPE_UINT8, 4), "COMPRESS", "JPEG");
    assert_int_equal(a.spec.bands, 3);
    assert_true(a.spec.mask);
    assert_int_equal(a.spec.photometric, TZ_PHOTOMETRIC_YCBCR);
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec_of(TZ_DTYPE_UINT8, 4), "COMPRESS", "JPEG", "ALPHA", "PREMULTIPLIED");
    assert_int_equal(a.spec.bands, 4);
    assert_true(!a.spec.mask && a.spec.extra_sample_count == 1 && a.spec.extra_samples[0] == 1);
    tz_creation_free(a.creation);
}

static void profiles_leave_out(void **state)
{
    (void)state;
    const double rpc[92] = {0};
    const tz_geo geo = {
        .struct_size = sizeof geo, .has_transform = true, .epsg = 32632, .rpc = rpc};
    const tz_metadata_item items[] = {
        {.struct_size = sizeof(tz_metadata_item), .name = "A", .value = "1", .band = -1},
        {.struct_size = sizeof(tz_metadata_item),
         .domain = "d",
         .name = "B",
         .value = "2",
         .role = "",
         .band = -1},
        {.struct_size = sizeof(tz_metadata_item),
         .name = "STATISTICS_MEAN",
         .value = "3",
         .role = "",
         .band = 0},
        {.struct_size = sizeof(tz_metadata_item),
         .name = "units",
         .value = "m",
         .role = "unittype",
         .band = 0},
        {.struct_size = sizeof(tz_metadata_item), .name = "of no band", .value = "4", .band = 7}};
    const tz_tag_value tags[] = {{sizeof(tz_tag_value), 305, 2, 5, "mine"},
                                 {sizeof(tz_tag_value), 700, 1, 3, "xmp"}};
    tz_image_spec spec = spec_of(TZ_DTYPE_UINT8, 1);
    spec.geo = &geo;
    spec.metadata = items, spec.metadata_count = 5;
    spec.tags = tags, spec.tag_count = 2;
    spec.nodata = (tz_nodata){TZ_NODATA_KIND_INT, {.i = 3}};
    applied a = APPLY("GTiff", spec, "TFW", "YES");
    assert_int_equal(a.spec.metadata_count, 4);
    assert_string_equal(tz_creation_get_world_file(a.creation), ".tfw");
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec, "SRC_MDD", "_default_");
    assert_int_equal(a.spec.metadata_count, 3); /* that of the band itself, too */
    assert_null(tz_creation_get_world_file(a.creation));
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec, "PROFILE", "GeoTIFF", "WORLDFILE", "YES");
    assert_int_equal(a.spec.metadata_count, 0);
    assert_int_equal(a.spec.nodata.kind, TZ_NODATA_KIND_NONE);
    assert_true(a.spec.geo && !a.spec.geo->rpc && a.spec.geo->epsg == 32632);
    assert_int_equal(a.spec.tag_count, 2);
    assert_string_equal(tz_creation_get_world_file(a.creation), ".wld");
    tz_creation_free(a.creation);
    a = APPLY("GTiff", spec, "PROFILE", "BASELINE");
    assert_null(a.spec.geo);
    assert_int_equal(a.spec.tag_count, 1);
    tz_creation_free(a.creation);
    spec.geo = NULL;
    a = APPLY("GTiff", spec, "TFW", "YES");
    assert_int_equal(a.result, TZ_ERR_ARG);
    assert_non_null(strstr(a.err.message, "needs a transform"));
    tz_creation_free(a.creation);
    /* statistics of pixels that change are dropped, and in a COG computed again */
    a = APPLY("COG", spec, "NBITS", "4");
    assert_int_equal(a.spec.metadata_count, 3);
    assert_true(a.options.statistics_items);
    tz_creation_free(a.creation);
}

/* The layout of a file without compression is kept. */
static void the_source_decides_about_interleave(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 60, 50, false);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    tz_file *file = NULL;
    options.interleave = TZ_INTERLEAVE_BAND;
    options.codec.compression = TZ_COMPRESSION_NONE;
    tz_memory memory = raster_write(&r, &options, NULL, NULL);
    assert_int_equal(tz_open_memory(&file, memory.data, memory.size, NULL, NULL), TZ_OK);
    const char *const none[] = {NULL};
    const char *const lzw[] = {"COMPRESS", "LZW", NULL};
    applied a = apply_to("GTiff", none, r.spec, file);
    assert_int_equal(a.options.interleave, TZ_INTERLEAVE_BAND);
    tz_creation_free(a.creation);
    a = apply_to("GTiff", lzw, r.spec, file);
    assert_int_equal(a.options.interleave, TZ_INTERLEAVE_PIXEL);
    tz_creation_free(a.creation);
    tz_close(file);
    tz_memory_free(&memory);
    raster_free(&r);
}

/* The specification may point to memory of the application before. */
static void options_can_be_applied_again(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("GTiff");
    tz_image_spec spec = spec_of(TZ_DTYPE_UINT8, 4);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    const tz_metadata_item item = {
        .struct_size = sizeof(tz_metadata_item), .name = "A", .value = "1", .band = -1};
    spec.metadata = &item, spec.metadata_count = 1;
    set(creation, "ALPHA", "PREMULTIPLIED");
    set(creation, "DISCARD_LSB", "1");
    set(creation, "COMPRESS", "LZW");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tz_creation_apply(creation, &spec, &options, NULL, NULL), TZ_OK);
        assert_int_equal(spec.metadata_count, 1);
        assert_string_equal(spec.metadata[0].name, "A");
        assert_int_equal(spec.extra_samples[0], 1);
    }
    raster r = raster_make(TZ_DTYPE_UINT8, 4, 100, 80, false);
    r.spec = spec;
    tz_memory memory = raster_write(&r, &options, NULL, NULL);
    assert_true(memory.size > 0);
    tz_memory_free(&memory);
    raster_free(&r);
    tz_creation_free(creation);
}

static void structs_of_other_versions_are_taken(void **state)
{
    (void)state;
    tz_creation *creation = creation_of("COG");
    struct {
        tz_write_options options;
        uint64_t more;
    } newer = {.options = {.struct_size = sizeof newer}};
    tz_image_spec older = spec_of(TZ_DTYPE_UINT8, 1);
    tz_error err;
    older.struct_size = offsetof(tz_image_spec, metadata);
    assert_int_equal(tz_creation_apply(creation, &older, &newer.options, NULL, &err), TZ_OK);
    assert_int_equal(older.struct_size, offsetof(tz_image_spec, metadata));
    assert_int_equal(newer.options.struct_size, sizeof newer);
    assert_true(newer.options.cog);
    newer.more = 1;
    assert_int_equal(tz_creation_apply(creation, &older, &newer.options, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_creation_apply(creation, NULL, &newer.options, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_creation_apply(creation, &older, NULL, NULL, &err), TZ_ERR_ARG);
    tz_creation_free(creation);
}

/* ---- help ---- */

static void options_can_be_listed(void **state)
{
    (void)state;
    const char *const drivers[] = {"GTiff", "COG"};
    char text[300];
    for (int i = 0; i < 2; i++) {
        size_t shown = 0, all = 0;
        const tz_creation_option *option;
        for (; (option = tz_creation_option_get(drivers[i], all)); all++) {
            tz_creation *creation = creation_of(drivers[i]);
            const size_t size = tz_creation_option_values(text, sizeof text, option);
            assert_int_equal(size, strlen(text));
            assert_true(size < 240); /* not cut */
            shown += option->help != NULL;
            if (option->default_value[0] != '\0') /* the default is a value */
                set(creation, option->name, option->default_value);
            tz_creation_free(creation);
        }
        assert_true(shown > 20 && all > shown);
    }
    assert_null(tz_creation_option_get("PNG", 0));
    const tz_creation_option *first = tz_creation_option_get("GTiff", 0);
    assert_string_equal(first->name, "TILED");
    assert_int_equal(tz_creation_option_values(text, 4, first), strlen("YES, NO"));
    assert_string_equal(text, "YES");
    assert_int_equal(tz_creation_option_values(NULL, 0, first), strlen("YES, NO"));
}

static const char *colour(const void *list, size_t index)
{
    return ((const char *const *)list)[index];
}

static void the_nearest_name_is_found(void **state)
{
    (void)state;
    static const char *const list[] = {"green", "grey", "red", NULL};
    assert_string_equal(tz_nearest_name("gren", colour, list), "green");
    assert_string_equal(tz_nearest_name("rde", colour, list), "red");
    assert_string_equal(tz_nearest_name("gre", colour, list), "green");
    assert_null(tz_nearest_name("violet", colour, list));
    assert_null(tz_nearest_name("", colour, list));
}

/* ---- memory ---- */

/* A caller of an older version has a shorter tz_geo, and nothing after it. */
static void georeferencing_may_be_of_another_size(void **state)
{
    (void)state;
    struct {
        tz_geo known;
        uint64_t later;
    } *newer = calloc(1, sizeof *newer);
    const size_t older_size = offsetof(tz_geo, rpc);
    tz_geo *older = calloc(1, older_size);
    assert_true(newer && older);
    const tz_geo known = {.struct_size = older_size, .has_transform = true, .epsg = 32632};
    memcpy(older, &known, older_size);
    newer->known = known;
    newer->known.struct_size = sizeof *newer;
    for (int i = 0; i < 2; i++) {
        tz_image_spec spec = spec_of(TZ_DTYPE_UINT8, 1);
        spec.geo = i == 0 ? older : &newer->known;
        applied a = APPLY("GTiff", spec, "PROFILE", "GeoTIFF");
        assert_int_equal(a.result, TZ_OK);
        assert_int_equal(a.spec.geo->struct_size, sizeof(tz_geo));
        assert_int_equal(a.spec.geo->epsg, 32632);
        assert_null(a.spec.geo->rpc);
        tz_creation_free(a.creation);
    }
    free(older);
    free(newer);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const tz_metadata_item item = {
        .struct_size = sizeof(tz_metadata_item), .name = "A", .value = "1", .band = -1};
    const tz_tag_value tag = {sizeof tag, 305, 2, 5, "mine"};
    const tz_geo geo = {.struct_size = sizeof geo, .has_transform = true};
    for (uint64_t n = 1;; n++) {
        static const char *const profiles[] = {"GDALGeoTIFF", "GeoTIFF", "BASELINE"};
        tz_result result = TZ_OK;
        tz_error err;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        for (int i = 0; i < 3 && result == TZ_OK; i++) {
            tz_creation *creation = NULL;
            tz_image_spec spec = spec_of(TZ_DTYPE_UINT8, 4);
            tz_write_options options = TZ_WRITE_OPTIONS_INIT;
            spec.metadata = &item, spec.metadata_count = 1;
            spec.tags = &tag, spec.tag_count = 1;
            spec.geo = &geo;
            result = tz_creation_create(&creation, "GTiff", &err);
            const char *const pairs[][2] = {{"PROFILE", profiles[i]},
                                            {"ZLEVEL", "9"},
                                            {"DISCARD_LSB", "1"},
                                            {"ALPHA", "YES"},
                                            {"COMPRESS", "LZW"}};
            for (int k = 0; k < 5 && result == TZ_OK; k++)
                result = tz_creation_set(creation, pairs[k][0], pairs[k][1], &err);
            if (result == TZ_OK)
                result = tz_creation_apply(creation, &spec, &options, NULL, &err);
            if (result != TZ_OK) /* nothing was changed */
                assert_true(spec.geo == &geo && spec.metadata == &item &&
                            options.codec.compression == TZ_COMPRESSION_DEFAULT);
            tz_creation_free(creation);
        }
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (stats.failures == 0)
            break;
        if (result != TZ_ERR_NOMEM)
            fail_msg("allocation %u: result %d", (unsigned)n, (int)result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_have_names),
        cmocka_unit_test(names_and_words_are_in_any_case),
        cmocka_unit_test(what_was_meant_is_suggested),
        cmocka_unit_test(what_only_gdal_has_is_refused),
        cmocka_unit_test(words_in_messages_are_harmless),
        cmocka_unit_test(an_option_is_set_once),
        cmocka_unit_test(profiles_choose_the_compression),
        cmocka_unit_test(options_of_other_codecs_are_warnings),
        cmocka_unit_test(options_must_go_together),
        cmocka_unit_test(defaults_are_those_of_the_driver),
        cmocka_unit_test(other_members_stay),
        cmocka_unit_test(codecs_of_image_and_overviews),
        cmocka_unit_test(samples_change_their_type),
        cmocka_unit_test(jpeg_of_a_cog_has_ycbcr_and_a_mask),
        cmocka_unit_test(profiles_leave_out),
        cmocka_unit_test(the_source_decides_about_interleave),
        cmocka_unit_test(options_can_be_applied_again),
        cmocka_unit_test(structs_of_other_versions_are_taken),
        cmocka_unit_test(options_can_be_listed),
        cmocka_unit_test(the_nearest_name_is_found),
        cmocka_unit_test(georeferencing_may_be_of_another_size),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
