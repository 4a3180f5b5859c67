/* SPDX-License-Identifier: Apache-2.0
 * Names of enumerations: each is printed, found again in any case, and nothing else is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <terrazzo/dlpack.h>
#include <terrazzo/terrazzo.h>

/* Writes a name in lower or upper case. */
static const char *in_case(char *out, const char *name, bool upper)
{
    size_t i = 0;
    for (; name[i] != '\0'; i++) {
        const bool is_letter =
            upper ? name[i] >= 'a' && name[i] <= 'z' : name[i] >= 'A' && name[i] <= 'Z';
        out[i] = is_letter ? (char)(name[i] ^ 0x20) : name[i];
    }
    out[i] = '\0';
    return out;
}

/* Fails unless the name of a value gives it back, in any case, and unless what is not a name gives
 * false and leaves the value alone. */
#define CHECK_NAME(type, text, value)                                                              \
    do {                                                                                           \
        type found = (type)-1;                                                                     \
        char cased[64];                                                                            \
        assert_true(type##_from_name(&found, text));                                               \
        assert_int_equal(found, value);                                                            \
        for (int upper = 0; upper < 2; upper++) {                                                  \
            found = (type)-1;                                                                      \
            assert_true(type##_from_name(&found, in_case(cased, text, upper)));                    \
            assert_int_equal(found, value);                                                        \
        }                                                                                          \
    } while (0)

#define CHECK_REFUSED(type, text)                                                                  \
    do {                                                                                           \
        type untouched = (type)77;                                                                 \
        assert_false(type##_from_name(&untouched, text));                                          \
        assert_int_equal(untouched, 77);                                                           \
    } while (0)

#define CHECK_NONE(type)                                                                           \
    do {                                                                                           \
        static const char *const wrong[] = {NULL, "", " ", "unknown", "colour", "none ", "1"};     \
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)                                \
            CHECK_REFUSED(type, wrong[i]);                                                         \
    } while (0)

/* Enumerations without gaps, from first to last. */
#define CHECK_NAMES(type, first, last)                                                             \
    do {                                                                                           \
        for (int i = (first); i <= (int)(last); i++)                                               \
            CHECK_NAME(type, type##_name((type)i), i);                                             \
        CHECK_NONE(type);                                                                          \
    } while (0)

static void every_name_gives_its_value_back(void **state)
{
    (void)state;
    CHECK_NAMES(tz_dtype, TZ_DTYPE_UINT8, TZ_DTYPE_COMPLEX_FLOAT64);
    CHECK_NAMES(tz_color, TZ_COLOR_UNDEFINED, TZ_COLOR_CR);
    CHECK_NAMES(tz_resampling, TZ_RESAMPLING_NONE, TZ_RESAMPLING_MEDIAN);
    CHECK_NAMES(tz_interleave, TZ_INTERLEAVE_PIXEL, TZ_INTERLEAVE_TILE);
    CHECK_NAMES(tz_bigtiff, TZ_BIGTIFF_IF_NEEDED, TZ_BIGTIFF_IF_SAFER);
    CHECK_NAMES(tz_choice, TZ_CHOICE_AUTO, TZ_CHOICE_NO);
    CHECK_NAMES(tz_jpeg_tables, TZ_JPEG_TABLES_DEFAULT, TZ_JPEG_TABLES_NONE);
    CHECK_NAMES(tz_verify, TZ_VERIFY_SAMPLE, TZ_VERIFY_NONE);
    CHECK_NAMES(tz_raster_type, TZ_RASTER_TYPE_UNDEFINED, TZ_RASTER_TYPE_POINT);
    CHECK_NAMES(tz_nodata_kind, TZ_NODATA_KIND_NONE, TZ_NODATA_KIND_FLOAT);
    CHECK_NAMES(tz_memory_kind, TZ_MEMORY_KIND_HOST, TZ_MEMORY_KIND_DEVICE);
    CHECK_NAMES(tz_crs_format, TZ_CRS_FORMAT_WKT2, TZ_CRS_FORMAT_PROJ_STRING);
    CHECK_NAMES(tz_image_format, TZ_IMAGE_FORMAT_PNG, TZ_IMAGE_FORMAT_WEBP);
    CHECK_NAMES(tz_image_model, TZ_IMAGE_MODEL_AUTO, TZ_IMAGE_MODEL_CMYK);
}

static void what_is_not_a_value_has_a_name_that_is_not_found(void **state)
{
    (void)state;
    assert_string_equal(tz_dtype_name((tz_dtype)99), "none");
    assert_string_equal(tz_dtype_gdal_name((tz_dtype)99), "Unknown");
    assert_string_equal(tz_color_name((tz_color)99), "Undefined");
    assert_string_equal(tz_resampling_name((tz_resampling)-1), "unknown");
    assert_string_equal(tz_interleave_name((tz_interleave)3), "unknown");
    assert_string_equal(tz_bigtiff_name((tz_bigtiff)4), "unknown");
    assert_string_equal(tz_verify_name((tz_verify)-1), "unknown");
    assert_string_equal(tz_nodata_kind_name((tz_nodata_kind)4), "unknown");
    assert_string_equal(tz_memory_kind_name((tz_memory_kind)-1), "unknown");
    assert_string_equal(tz_crs_format_name((tz_crs_format)5), "unknown");
    CHECK_REFUSED(tz_dtype, "none"); /* the type of no pixel */
}

static void names_of_numpy_and_gdal_are_data_types_too(void **state)
{
    (void)state;
    CHECK_NAME(tz_dtype, "Byte", TZ_DTYPE_UINT8);
    CHECK_NAME(tz_dtype, "CInt16", TZ_DTYPE_COMPLEX_INT16);
    CHECK_NAME(tz_dtype, "CFloat32", TZ_DTYPE_COMPLEX_FLOAT32);
    CHECK_NAME(tz_dtype, "complex64", TZ_DTYPE_COMPLEX_FLOAT32);
    CHECK_NAME(tz_dtype, "complex128", TZ_DTYPE_COMPLEX_FLOAT64);
    for (int i = TZ_DTYPE_UINT8; i <= TZ_DTYPE_COMPLEX_FLOAT64; i++)
        CHECK_NAME(tz_dtype, tz_dtype_gdal_name((tz_dtype)i), i);
    CHECK_REFUSED(tz_dtype, "<f4");
    CHECK_REFUSED(tz_dtype, "float");
}

static void further_spellings_are_understood(void **state)
{
    (void)state;
    CHECK_NAME(tz_color, "grey", TZ_COLOR_GRAY);
    CHECK_NAME(tz_resampling, "near", TZ_RESAMPLING_NEAREST);
    CHECK_NAME(tz_bigtiff, "true", TZ_BIGTIFF_YES);
    CHECK_NAME(tz_bigtiff, "false", TZ_BIGTIFF_NO);
    CHECK_NAME(tz_choice, "on", TZ_CHOICE_YES);
    CHECK_NAME(tz_choice, "off", TZ_CHOICE_NO);
    CHECK_NAME(tz_crs_format, "wkt2_2019", TZ_CRS_FORMAT_WKT2);
    CHECK_NAME(tz_crs_format, "wkt1", TZ_CRS_FORMAT_WKT1_GDAL);
    CHECK_NAME(tz_crs_format, "wkt_esri", TZ_CRS_FORMAT_WKT1_ESRI);
    CHECK_NAME(tz_crs_format, "proj4", TZ_CRS_FORMAT_PROJ_STRING);
}

static void names_of_tiff_numbers_give_their_numbers_back(void **state)
{
    (void)state;
    unsigned compressions = 0, photometrics = 0;
    for (unsigned i = 0; i <= UINT16_MAX; i++) {
        const char *name = tz_compression_name((uint16_t)i);
        tz_compression number;
        if (name) {
            assert_true(tz_compression_from_name(&number, name));
            assert_string_equal(tz_compression_name((uint16_t)number), name);
            compressions++;
        }
        name = tz_photometric_name((uint16_t)i);
        if (name) {
            CHECK_NAME(tz_photometric, name, i != 0 ? i : TZ_PHOTOMETRIC_MIN_IS_WHITE);
            photometrics++;
        }
    }
    assert_int_equal(compressions, 38);
    assert_int_equal(photometrics, 16);
    CHECK_NAME(tz_compression, "deflate", TZ_COMPRESSION_DEFLATE); /* not the older number */
    CHECK_NAME(tz_compression, "jxl", TZ_COMPRESSION_JXL);
    CHECK_NAME(tz_compression, "lerc_deflate", TZ_COMPRESSION_LERC);
    CHECK_NAME(tz_compression, "lerc_zstd", TZ_COMPRESSION_LERC);
    CHECK_NAME(tz_photometric, "minisblack", TZ_PHOTOMETRIC_MIN_IS_BLACK); /* as GDAL has it */
    CHECK_NAME(tz_photometric, "auto", TZ_PHOTOMETRIC_AUTO);
    CHECK_NONE(tz_compression);
    CHECK_NONE(tz_photometric);
}

static void bits_of_sidecars_have_names(void **state)
{
    (void)state;
    for (uint32_t bit = TZ_SIDECAR_OVR; bit <= TZ_SIDECAR_WORLD; bit <<= 1) {
        uint32_t found = 0;
        assert_true(tz_sidecar_from_name(&found, tz_sidecar_name(bit)));
        assert_int_equal(found, bit);
    }
    uint32_t untouched = 77;
    assert_string_equal(tz_sidecar_name(TZ_SIDECAR_OVR | TZ_SIDECAR_MSK), "unknown");
    assert_false(tz_sidecar_from_name(&untouched, "unknown"));
    assert_int_equal(untouched, 77);
}

/* ---- structs ---- */

/* A struct of a caller, with bytes after it that are not the caller's to give. */
#define CHECK_INIT(type)                                                                           \
    do {                                                                                           \
        const type expected = TZ_INIT(type);                                                       \
        unsigned char *bytes = malloc(sizeof(type));                                               \
        assert_non_null(bytes);                                                                    \
        for (size_t size = sizeof(size_t); size <= sizeof(type); size += sizeof(size_t)) {         \
            memset(bytes, 0xa5, sizeof(type));                                                     \
            type##_init((type *)(void *)bytes, size);                                              \
            assert_memory_equal(bytes, &size, sizeof size);                                        \
            assert_memory_equal(bytes + sizeof size,                                               \
                                (const unsigned char *)&expected + sizeof size,                    \
                                size - sizeof size);                                               \
            for (size_t i = size; i < sizeof(type); i++)                                           \
                assert_int_equal(bytes[i], 0xa5);                                                  \
        }                                                                                          \
        free(bytes);                                                                               \
    } while (0)

static void init_functions_set_the_size_and_nothing_beyond_it(void **state)
{
    (void)state;
    CHECK_INIT(tz_device_options);
    CHECK_INIT(tz_dlpack_options);
    CHECK_INIT(tz_image_spec);
    CHECK_INIT(tz_open_options);
    CHECK_INIT(tz_read_options);
    CHECK_INIT(tz_validate_options);
    CHECK_INIT(tz_write_options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_gives_its_value_back),
        cmocka_unit_test(what_is_not_a_value_has_a_name_that_is_not_found),
        cmocka_unit_test(names_of_numpy_and_gdal_are_data_types_too),
        cmocka_unit_test(further_spellings_are_understood),
        cmocka_unit_test(names_of_tiff_numbers_give_their_numbers_back),
        cmocka_unit_test(bits_of_sidecars_have_names),
        cmocka_unit_test(init_functions_set_the_size_and_nothing_beyond_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
