/* SPDX-License-Identifier: Apache-2.0
 * Calls of the writer that are wrong: an error that says why, and nothing is written. What a
 * specification may hold is tested in test_image_check.c. */
#include <string.h>

#include "support/raster.h"

static tz_writer *begin(const raster *r, const tz_write_options *options, tz_memory *out)
{
    tz_writer *writer = NULL;
    tz_error err = {0};
    if (tz_create_memory(&writer, out, &r->spec, options, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return writer;
}

static tz_write_options plain(void)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_NONE;
    return options;
}

/* These rows are refused with these words. */
static void refuses(const raster *r, const tz_buffer *rows, const tz_buffer *mask, const char *text)
{
    const tz_write_options options = plain();
    tz_memory out = {0};
    tz_error err = {0};
    tz_writer *writer = begin(r, &options, &out);
    assert_int_equal(tz_write_rows(writer, rows, mask, &err), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_ARG);
    tz_writer_close(writer);
    assert_null(out.data);
}

static void rows_must_be_those_of_the_image(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 20, 30, false);
    tz_buffer rows = r.pixels;
    refuses(&r, NULL, NULL, "no data");
    rows.dtype = TZ_DTYPE_FLOAT32;
    refuses(&r, &rows, NULL, "float32, but the image is of type uint16");
    rows = r.pixels;
    rows.width = 19;
    refuses(&r, &rows, NULL, "another width than the image (expected 20, found 19)");
    rows = r.pixels;
    rows.bands = 1;
    refuses(&r, &rows, NULL, "(expected 2, found 1)");
    rows = r.pixels;
    rows.height = 31;
    refuses(&r, &rows, NULL, "more rows than the image has (expected 30, found 31)");
    refuses(&r, &r.pixels, &r.pixels, "the specification has none");
    raster_free(&r);
}

static void masks_must_fit_their_rows(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 20, 30, true);
    tz_buffer mask = r.mask;
    refuses(&r, &r.pixels, NULL, "is missing");
    mask.dtype = TZ_DTYPE_UINT16;
    refuses(&r, &r.pixels, &mask, "one band of uint8");
    mask = r.mask;
    mask.height = 3;
    refuses(&r, &r.pixels, &mask, "(expected 30, found 3)");
    mask = r.mask;
    mask.width = 3;
    refuses(&r, &r.pixels, &mask, "(expected 20, found 3)");
    raster_free(&r);
}

static void missing_rows_are_an_error(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 20, 30, false);
    const tz_write_options options = plain();
    tz_memory out = {0};
    tz_error err = {0};
    tz_buffer rows = r.pixels;
    rows.height = 29;
    tz_writer *writer = begin(&r, &options, &out);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "rows are missing (expected 30, found 29)"));
    tz_writer_close(writer);
    writer = begin(&r, &options, &out);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_ARG);
    tz_writer_close(writer);
    assert_null(out.data);
    raster_free(&r);
}

static void no_writer_is_an_error(void **state)
{
    (void)state;
    tz_error err = {0};
    const tz_buffer rows = {0};
    assert_int_equal(tz_write_rows(NULL, &rows, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_write_from(NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_commit(NULL, NULL, &err), TZ_ERR_ARG);
    tz_writer_close(NULL);
}

static void sinks_and_sources_need_functions(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 20, 30, false);
    const tz_write_options options = plain();
    tz_sink sink = TZ_SINK_INIT;
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_equal(tz_create_sink(&writer, &sink, NULL, &r.spec, &options, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "no function to write"));
    assert_int_equal(tz_create_sink(&writer, NULL, NULL, &r.spec, &options, &err), TZ_ERR_ARG);
    assert_null(writer);
    tz_memory out = {0};
    writer = begin(&r, &options, &out);
    const tz_row_source source = TZ_ROW_SOURCE_INIT;
    assert_int_equal(tz_write_from(writer, &source, &err), TZ_ERR_ARG);
    tz_writer_close(writer);
    raster_free(&r);
}

static void values_must_fit_narrow_samples(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 50, 40, false);
    tz_write_options options = plain();
    options.tile_width = options.tile_height = 16;
    r.spec.bits_per_sample = 12;
    ((uint16_t *)r.pixels.data)[33 * 50 + 21] = 4095;
    tz_memory out = raster_write(&r, &options, NULL, NULL);
    raster_check(&r, &out, 0);
    tz_memory_free(&out);
    ((uint16_t *)r.pixels.data)[33 * 50 + 21] = 4096;
    tz_error err = {0};
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "column 21, row 33 does not fit 12 bits"));
    raster_free(&r);
}

/* A row of one sample of 7 bits takes a byte, packed or not. */
static void values_must_fit_where_packing_saves_nothing(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 1, 4, false);
    tz_write_options options = plain();
    options.strips = true;
    r.spec.bits_per_sample = 7;
    memcpy(r.pixels.data, "\x01\x7f\x00\x80", 4);
    tz_memory out = {0};
    tz_error err = {0};
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "column 0, row 3 does not fit 7 bits"));
    raster_free(&r);
}

static void bigtiff_is_chosen_by_size_or_by_wish(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 50, 40, false);
    static const tz_bigtiff wishes[] = {TZ_BIGTIFF_IF_NEEDED, TZ_BIGTIFF_YES, TZ_BIGTIFF_NO,
                                        TZ_BIGTIFF_IF_SAFER};
    for (size_t i = 0; i < 4; i++) {
        tz_write_options options = plain();
        options.bigtiff = wishes[i];
        for (int big = 0; big < 2; big++) {
            options.big_endian = big == 1;
            SCOPED_WRITE_REPORT report = NULL;
            tz_memory out = raster_write(&r, &options, NULL, &report);
            assert_int_equal(report->bigtiff, i == 1);
            assert_int_equal(report->file_size, out.size);
            assert_memory_equal(out.data, big ? "MM" : "II", 2);
            assert_int_equal(((uint8_t *)out.data)[big ? 3 : 2], i == 1 ? 43 : 42);
            raster_check(&r, &out, 0);
            tz_memory_free(&out);
        }
    }
    raster_free(&r);
}

/* A sink without memory, for a file beyond 4 GiB: the decision comes with the commit. */
static tz_result forget(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                        tz_error *err)
{
    (void)err;
    uint64_t *end = (uint64_t *)(sink + 1);
    for (size_t i = 0; i < count; i++)
        offset += pieces[i].size;
    *end = offset > *end ? offset : *end;
    return TZ_OK;
}

static tz_result write_huge(tz_bigtiff bigtiff, tz_write_report **report, tz_error *err)
{
    struct {
        tz_sink base;
        uint64_t end;
    } sink = {.base = {.struct_size = sizeof(tz_sink), .write = forget}};
    static uint8_t row[1 << 16];
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 1 << 16;
    spec.height = 1 << 16;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    tz_write_options options = plain();
    options.bigtiff = bigtiff;
    options.tile_width = options.tile_height = 4096;
    /* the same row again and again: 64 KiB of pixels stand for 4 GiB */
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = row,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 1 << 16,
                            .width = 1 << 16,
                            .band_stride = 1,
                            .column_stride = 1};
    tz_writer *writer = NULL;
    tz_result result = tz_create_sink(&writer, &sink.base, NULL, &spec, &options, err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, &rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, err);
    tz_writer_close(writer);
    return result;
}

static void four_gigabytes_make_a_bigtiff(void **state)
{
    (void)state;
    SCOPED_WRITE_REPORT report = NULL;
    tz_error err = {0};
    if (write_huge(TZ_BIGTIFF_IF_NEEDED, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_true(report->bigtiff);
    assert_true(report->file_size > UINT32_MAX);
    assert_int_equal(write_huge(TZ_BIGTIFF_NO, &report, &err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "too large for a classic TIFF"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_must_be_those_of_the_image),
        cmocka_unit_test(masks_must_fit_their_rows),
        cmocka_unit_test(missing_rows_are_an_error),
        cmocka_unit_test(no_writer_is_an_error),
        cmocka_unit_test(sinks_and_sources_need_functions),
        cmocka_unit_test(values_must_fit_narrow_samples),
        cmocka_unit_test(values_must_fit_where_packing_saves_nothing),
        cmocka_unit_test(bigtiff_is_chosen_by_size_or_by_wish),
        cmocka_unit_test(four_gigabytes_make_a_bigtiff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
