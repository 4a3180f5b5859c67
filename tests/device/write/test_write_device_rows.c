/* SPDX-License-Identifier: Apache-2.0
 * Who makes the tiles, and where rows may be: what the device cannot do is done by the CPU, which
 * gets the rows of the device in one copy, or refused; wrong rows and too little memory are errors;
 * and the report says so. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/device/device_rows.h"
#include "support/device/test_device.h"
#include "support/raster_variants.h"

static tz_write_options on_device(tz_compression compression)
{
    tz_write_options options = raster_small_tiles(compression);
    options.device = test_device;
    return options;
}

static void check_cpu_did_it(const tz_write_report *report, const char *reason)
{
    assert_string_equal(report->device->id, "");
    if (!strstr(report->device->reason, reason))
        fail_msg("'%s' is not in '%s'", reason, report->device->reason);
    assert_int_equal(report->device->tiles, 0);
}

/* ---- what devices cannot ---- */

static void the_cpu_gets_rows_of_the_device_in_one_copy(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 7, 0};
    raster r = raster_make(TZ_DTYPE_INT16, 2, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    tz_memory cpu = raster_write(&r, &options, NULL, NULL);
    options.device = test_device;
    for (size_t i = 0; i < 3; i++) {
        const raster_variant way = {.batch = batches[i]};
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory other = device_rows_write(&r, &options, &way, &r.pixels, &report);
        raster_check_same(&cpu, &other, "rows of the device");
        check_cpu_did_it(report, "lzw");
        assert_int_equal(report->device->downloads, report->tile_rows);
        assert_true(report->device->peak > 0);
    }
    tz_memory_free(&cpu);
    raster_free(&r);
}

static void levels_of_deflate_are_for_the_cpu(void **state)
{
    (void)state;
    if (!raster_can_write(TZ_COMPRESSION_DEFLATE))
        return;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_DEFLATE);
    SCOPED_WRITE_REPORT report = NULL;
    options.codec.effort = 6;
    tz_memory cpu = raster_write(&r, &options, NULL, NULL);
    options.device = test_device;
    tz_memory other = raster_write(&r, &options, NULL, &report);
    check_cpu_did_it(report, "deflate at level 6");
    raster_check_same(&cpu, &other, "level 6");
    tz_memory_free(&cpu);
    raster_free(&r);
}

static void strictness_refuses_what_is_missing(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_write_options options = on_device(TZ_COMPRESSION_LZW);
    tz_writer *writer = NULL;
    tz_memory out = {0};
    SCOPED_WRITE_REPORT report = NULL;
    tz_error err = {0};
    options.strict_device = true;
    assert_int_equal(tz_create_memory(&writer, &out, &r.spec, &options, &err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "lzw"));
    assert_int_equal(tz_plan_write(&report, &r.spec, &options, NULL, &err), TZ_ERR_UNSUPPORTED);
    options.codec.compression = TZ_COMPRESSION_NONE;
    out = raster_write(&r, &options, NULL, &report);
    assert_string_equal(report->device->reason, "");
    tz_memory_free(&out);
    raster_free(&r);
}

static void the_cpu_as_a_device_is_none(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_DEFAULT);
    tz_device *cpu = NULL;
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory first = raster_write(&r, &options, NULL, NULL);
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, NULL), TZ_OK);
    options.device = cpu;
    options.strict_device = true;
    tz_memory other = raster_write(&r, &options, NULL, &report);
    raster_check_same(&first, &other, "the CPU");
    check_cpu_did_it(report, "");
    assert_string_equal(report->device->reason, "");
    tz_device_close(cpu);
    tz_memory_free(&first);
    raster_free(&r);
}

/* ---- rows now here, now there ---- */

static tz_buffer part(const tz_buffer *b, uint32_t row, uint32_t rows)
{
    tz_buffer p = *b;
    p.height = rows;
    p.offset += (uint64_t)(row * b->row_stride);
    return p;
}

/* The first and every third batch are on the device. */
static tz_memory write_mixed(const raster *r, const tz_write_options *options, uint32_t batch)
{
    const tz_buffer pixels = device_rows_copy(options->device, &r->pixels);
    const tz_buffer mask = device_rows_copy(options->device, &r->mask);
    const uint32_t height = r->spec.height;
    tz_writer *writer = NULL;
    tz_memory out = {0};
    tz_error err = {0};
    assert_int_equal(tz_create_memory(&writer, &out, &r->spec, options, &err), TZ_OK);
    for (uint32_t row = 0, n = 0; row < height; row += batch, n++) {
        const uint32_t rows = batch < height - row ? batch : height - row;
        const bool there = n % 3 == 0;
        const tz_buffer some = part(there ? &pixels : &r->pixels, row, rows);
        const tz_buffer valid = part(there ? &mask : &r->mask, row, rows);
        if (tz_write_rows(writer, &some, &valid, &err) != TZ_OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    tz_device_memory_free(pixels.data);
    tz_device_memory_free(mask.data);
    return out;
}

static void rows_may_be_anywhere(void **state)
{
    (void)state;
    static const tz_compression both[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW};
    static const uint32_t batches[] = {1, 5, 64};
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 147, 205, true);
    for (size_t i = 0; i < 2; i++) {
        tz_write_options options = raster_small_tiles(both[i]);
        tz_memory cpu = raster_write(&r, &options, NULL, NULL);
        options.device = test_device;
        for (size_t k = 0; k < 3; k++) {
            tz_memory other = write_mixed(&r, &options, batches[k]);
            raster_check_same(&cpu, &other, "rows now here, now there");
        }
        tz_memory_free(&cpu);
    }
    raster_free(&r);
}

typedef struct copier {
    tz_buffer pixels; /* all of the image, packed like the writer's own */
    const tz_buffer *host;
} copier;

/* Fills device memory by a plain copy, row by row. */
static tz_result fill_device(void *user, const tz_window *window, const tz_buffer *pixels,
                             const tz_buffer *mask, tz_error *err)
{
    const copier *c = user;
    assert_int_equal(pixels->memory, TZ_MEMORY_KIND_DEVICE);
    assert_null(mask->data);
    assert_int_equal(pixels->column_stride, c->host->column_stride);
    for (uint32_t y = 0; y < window->height; y++) {
        const uint8_t *from = (const uint8_t *)c->host->data +
                              (window->row + y) * c->host->row_stride +
                              window->column * c->host->column_stride;
        const tz_result result =
            tz_device_copy_in(pixels->data, pixels->offset + (uint64_t)(y * pixels->row_stride),
                              from, window->width * tz_dtype_size(pixels->dtype), err);
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

static void a_source_may_fill_the_device(void **state)
{
    (void)state;
    static const tz_compression both[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW};
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 147, 205, false);
    copier c = {.host = &r.pixels};
    const tz_row_source source = {
        .struct_size = sizeof source, .read = fill_device, .user = &c, .on_device = true};
    for (size_t i = 0; i < 2; i++) {
        tz_write_options options = raster_small_tiles(both[i]);
        tz_memory cpu = raster_write(&r, &options, NULL, NULL), other = {0};
        tz_writer *writer = NULL;
        tz_error err = {0};
        assert_int_equal(tz_create_memory(&writer, &other, &r.spec, &options, &err), TZ_OK);
        assert_int_equal(tz_write_from(writer, &source, &err), TZ_ERR_ARG); /* of no device */
        tz_writer_close(writer);
        options.device = test_device;
        assert_int_equal(tz_create_memory(&writer, &other, &r.spec, &options, &err), TZ_OK);
        if (tz_write_from(writer, &source, &err) != TZ_OK)
            fail_msg("%s", err.message);
        SCOPED_WRITE_REPORT report = NULL;
        assert_int_equal(tz_commit(writer, &report, &err), TZ_OK);
        tz_writer_close(writer);
        raster_check_same(&cpu, &other, "filled by the source");
        assert_int_equal(report->device->uploads,
                         report->device->waves); /* tables, and not its rows */
        tz_memory_free(&cpu);
    }
    raster_free(&r);
}

/* ---- wrong rows ---- */

static void refuse(const raster *r, const tz_buffer *rows, const tz_buffer *mask, const char *text)
{
    const tz_write_options options = on_device(TZ_COMPRESSION_NONE);
    tz_writer *writer = NULL;
    tz_memory out = {0};
    tz_error err = {0};
    assert_int_equal(tz_create_memory(&writer, &out, &r->spec, &options, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, rows, mask, &err), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in '%s'", text, err.message);
    tz_writer_close(writer);
    assert_null(out.data);
}

static void wrong_rows_are_refused(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 50, 60, true);
    tz_device *other = test_device_open(NULL);
    const tz_buffer pixels = device_rows_copy(test_device, &r.pixels);
    const tz_buffer mask = device_rows_copy(test_device, &r.mask);
    const tz_buffer foreign = device_rows_copy(other, &r.pixels);
    tz_buffer wrong = pixels;
    refuse(&r, &foreign, &mask, "another device");
    refuse(&r, &pixels, &r.mask, "both be in device memory");
    wrong.offset += 5;
    refuse(&r, &wrong, &mask, "past the end");
    wrong = pixels;
    wrong.row_stride = -wrong.row_stride;
    refuse(&r, &wrong, &mask, "past the end");
    wrong = pixels;
    wrong.band_stride = INT64_MAX;
    refuse(&r, &wrong, &mask, "past the end");
    wrong = pixels;
    wrong.offset = UINT64_MAX;
    refuse(&r, &wrong, &mask, "past the end");
    wrong = pixels;
    wrong.memory = (tz_memory_kind)(TZ_MEMORY_KIND_DEVICE + 1);
    refuse(&r, &wrong, &mask, "of a kind that does not exist");
    wrong = pixels;
    wrong.struct_size = 0;
    refuse(&r, &wrong, &mask, "struct_size");
    tz_device_memory_free(foreign.data);
    tz_device_close(other);
    tz_device_memory_free(pixels.data);
    tz_device_memory_free(mask.data);
    raster_free(&r);
}

static void pixels_that_do_not_fit_are_named_as_by_the_cpu(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 70, 90, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    tz_memory out = {0};
    tz_error cpu = {0}, device = {0};
    r.spec.bits_per_sample = 12;
    ((uint16_t *)r.pixels.data)[70 * 90 + 43 * 70 + 61] = 4096; /* of the second band */
    ((uint16_t *)r.pixels.data)[70 * 90 + 77 * 70 + 5] = 65535;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &cpu), TZ_ERR_ARG);
    options.device = test_device;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &device), TZ_ERR_ARG);
    assert_non_null(strstr(cpu.message, "column 61, row 43 does not fit 12 bits"));
    assert_string_equal(device.message, cpu.message);
    assert_null(out.data);
    raster_free(&r);
}

/* ---- memory ---- */

/* From less than it takes at least, where that is taken all the same and reported, up to more than
 * it needs: the floor of a streamed write. */
static void write_with_little(const raster *r, tz_write_options options)
{
    tz_memory cpu = raster_write(r, &options, NULL, NULL);
    const raster_variant way = {.batch = 9};
    uint64_t different = 0, floored = 0, least = 0, last = 0;
    options.device = test_device;
    for (uint64_t cap = 10 << 10; cap < 3 << 20; cap += cap / 2) {
        SCOPED_WRITE_REPORT plan = NULL;
        SCOPED_WRITE_REPORT report = NULL;
        tz_device_counts wave;
        options.max_device_bytes = cap;
        assert_int_equal(tz_plan_write(&plan, &r->spec, &options, NULL, NULL), TZ_OK);
        tz_device_begin_wave(test_device);
        tz_memory other = raster_write(r, &options, &way, &report);
        raster_check_same(&cpu, &other, "with little memory");
        tz_device_get_counts(test_device, NULL, &wave);
        least = least ? least : wave.bytes_peak;
        floored += wave.bytes_peak > cap;
        assert_true(wave.bytes_peak <= cap || wave.bytes_peak == least);
        assert_int_equal(wave.bytes_peak, report->device->memory);
        assert_int_equal(wave.bytes_peak, plan->device->memory);
        assert_int_equal(wave.bytes_now, 0);
        assert_true(report->peak_host_bytes <= report->max_host_bytes);
        different += report->device->memory != last;
        last = report->device->memory;
    }
    assert_true(floored > 0 && different > 4);
    tz_memory_free(&cpu);
}

static void little_memory_is_enough(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    write_with_little(&r, options);
    options.cog = true;
    write_with_little(&r, options);
    options.codec.compression = TZ_COMPRESSION_PACKBITS;
    options.interleave = TZ_INTERLEAVE_BAND;
    write_with_little(&r, options);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_gets_rows_of_the_device_in_one_copy),
        cmocka_unit_test(levels_of_deflate_are_for_the_cpu),
        cmocka_unit_test(strictness_refuses_what_is_missing),
        cmocka_unit_test(the_cpu_as_a_device_is_none),
        cmocka_unit_test(rows_may_be_anywhere),
        cmocka_unit_test(a_source_may_fill_the_device),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(pixels_that_do_not_fit_are_named_as_by_the_cpu),
        cmocka_unit_test(little_memory_is_enough),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
