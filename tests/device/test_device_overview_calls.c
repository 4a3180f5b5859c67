/* SPDX-License-Identifier: Apache-2.0
 * Calls of a reducer: how many there are, what it refuses, and what becomes of it without memory
 * or double precision. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/device_state.h"
#include "device/ops/overview.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/test_device.h"

enum { OLD = 64, NEW = OLD / 2, MOST_ROWS = 8 };

static tz_overview_params plain(tz_resampling method, tz_dtype dtype)
{
    return (tz_overview_params){.method = method,
                                .dtype = dtype,
                                .bits = (uint16_t)(8 * tz_dtype_size(dtype)),
                                .bands = 1,
                                .from_width = OLD,
                                .from_height = OLD,
                                .to_width = NEW,
                                .to_height = NEW};
}

/* A reducer, its rows, and all that they take. */
typedef struct bench {
    tz_overview_params how;
    tz_device_memory *own, *old_rows, *new_rows;
    tz_overview_builder *reducer;
    tz_overview_source from;
    tz_pixel_buffer pixels;
    tz_pixel_buffer mask;
} bench;

static tz_pixel_buffer rows_in(tz_device_memory *memory, uint64_t offset, tz_dtype dtype,
                               uint32_t size, uint32_t rows)
{
    const int64_t sample = (int64_t)tz_dtype_size(dtype);
    return (tz_pixel_buffer){.dtype = dtype,
                             .bands = 1,
                             .height = rows,
                             .width = size,
                             .band_stride = sample * size * rows,
                             .row_stride = sample * size,
                             .column_stride = sample,
                             .memory = memory,
                             .offset = offset};
}

static tz_device_memory *take(uint64_t size)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, test_device, size, &err), TZ_OK);
    return memory;
}

static bench make_bench(const tz_overview_params *how)
{
    tz_error err;
    bench b = {.how = *how};
    const uint64_t bytes = (uint64_t)OLD * OLD * tz_dtype_size(how->dtype);
    b.own = take(tz_overview_builder_bytes(how, MOST_ROWS));
    b.old_rows = take(bytes + OLD * OLD);
    b.new_rows = take(bytes + OLD * OLD);
    b.from.row_ranges[1] = (tz_row_range){.pixels = rows_in(b.old_rows, 0, how->dtype, OLD, OLD)};
    if (how->mask)
        b.from.row_ranges[1].mask = rows_in(b.old_rows, bytes, TZ_DTYPE_UINT8, OLD, OLD);
    b.pixels = rows_in(b.new_rows, 0, how->dtype, NEW, MOST_ROWS);
    b.mask = rows_in(b.new_rows, bytes, TZ_DTYPE_UINT8, NEW, MOST_ROWS);
    assert_int_equal(tz_overview_builder_make(&b.reducer, how, MOST_ROWS, b.own, 0, &err), TZ_OK);
    return b;
}

static void end_bench(bench *b)
{
    tz_error err;
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_overview_builder_free(b->reducer);
    tz_device_memory_free(b->own);
    tz_device_memory_free(b->old_rows);
    tz_device_memory_free(b->new_rows);
}

static tz_result run(const bench *b, uint32_t first, uint32_t rows, tz_error *err)
{
    return tz_overview_builder_run(b->reducer, &b->from, first, rows, &b->pixels, &b->mask, 0, err);
}

/* ---- how many ---- */

static void test_one_launch_a_run(void **state)
{
    (void)state;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        tz_error err;
        tz_device_counts wave;
        tz_overview_params how = plain((tz_resampling)method, TZ_DTYPE_FLOAT32);
        how.mask = method % 2;
        bench b = make_bench(&how);
        tz_device_begin_wave(test_device);
        for (uint32_t row = 0; row < NEW; row += MOST_ROWS)
            assert_int_equal(run(&b, row, MOST_ROWS - row % 3, &err), TZ_OK);
        tz_device_get_counts(test_device, NULL, &wave);
        assert_int_equal(wave.launches, NEW / MOST_ROWS);
        assert_int_equal(wave.uploads, NEW / MOST_ROWS);
        assert_int_equal(wave.events, NEW / MOST_ROWS);
        assert_int_equal(wave.downloads, 0);
        assert_int_equal(wave.allocations, 0);
        assert_true(wave.syncs <= NEW / MOST_ROWS - 2); /* the first two wait for nothing */
        end_bench(&b);
    }
}

static void test_no_rows_are_nothing_to_do(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts wave;
    const tz_overview_params how = plain(TZ_RESAMPLING_CUBIC, TZ_DTYPE_UINT8);
    bench b = make_bench(&how);
    tz_device_begin_wave(test_device);
    assert_int_equal(run(&b, 0, 0, &err), TZ_OK);
    assert_int_equal(run(&b, NEW, 0, &err), TZ_OK);
    tz_device_get_counts(test_device, NULL, &wave);
    assert_int_equal(wave.launches + wave.uploads + wave.syncs, 0);
    tz_overview_builder_free(NULL);
    end_bench(&b);
}

/* ---- what a kernel would have to trust ---- */

static void refuse(const bench *b, uint32_t first, uint32_t rows, const char *text)
{
    tz_error err;
    tz_device_counts wave;
    tz_device_begin_wave(test_device);
    assert_int_equal(run(b, first, rows, &err), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        fail_msg("%s", err.message);
    tz_device_get_counts(test_device, NULL, &wave);
    assert_int_equal(wave.launches + wave.uploads, 0);
}

static void test_wrong_rows(void **state)
{
    (void)state;
    const tz_overview_params how = plain(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_UINT16);
    const bench good = make_bench(&how);
    refuse(&good, 0, MOST_ROWS + 1, "more new rows");
    refuse(&good, NEW - 1, 2, "more new rows");
    refuse(&good, UINT32_MAX, 2, "more new rows");
    bench b = good;
    b.from.row_ranges[1].row = 1;
    refuse(&b, 0, 1, "missing");
    b = good;
    b.from.row_ranges[1].pixels.height = 7;
    refuse(&b, 0, 4, "missing");
    b.from.row_ranges[0] = good.from.row_ranges[1]; /* a gap between both */
    b.from.row_ranges[0].pixels.height = 3;
    b.from.row_ranges[1].row = 4;
    refuse(&b, 0, 2, "missing");
    b = good;
    b.from.column = 1;
    refuse(&b, 0, 1, "columns");
    b = good;
    b.from.row_ranges[1].pixels.width = OLD - 1;
    refuse(&b, 0, 1, "columns");
    b = good;
    b.pixels.width = NEW + 1;
    refuse(&b, 0, 1, "width");
    b = good;
    b.pixels.height = 3;
    refuse(&b, 0, 4, "room");
    b = good;
    b.mask.height = 3;
    refuse(&b, 0, 4, "room");
    b = good;
    end_bench(&b);
}

static void test_wrong_memory(void **state)
{
    (void)state;
    tz_overview_params how = plain(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_UINT16);
    how.mask = true;
    const bench good = make_bench(&how);
    bench b = good;
    b.pixels.memory = NULL;
    refuse(&b, 0, 1, "memory");
    b = good;
    b.from.row_ranges[1].pixels.memory = NULL;
    refuse(&b, 0, 1, "memory");
    b = good;
    b.pixels.dtype = TZ_DTYPE_UINT8;
    refuse(&b, 0, 1, "type");
    b = good;
    b.from.row_ranges[1].pixels.bands = 2;
    refuse(&b, 0, 1, "bands");
    b = good;
    b.from.row_ranges[1].pixels.row_stride = INT64_MAX;
    refuse(&b, 0, 1, "within");
    b.from.row_ranges[1].pixels.row_stride = INT64_MIN;
    refuse(&b, 0, 1, "within");
    b.from.row_ranges[1].pixels.row_stride = -2;
    refuse(&b, 0, 1, "within");
    b = good;
    b.pixels.offset = UINT64_MAX;
    refuse(&b, 0, 1, "within");
    b = good;
    b.mask.offset = b.new_rows->size - NEW * MOST_ROWS + 1;
    refuse(&b, 0, 1, "within");
    b = good;
    b.from.row_ranges[1].mask.offset = b.old_rows->size;
    refuse(&b, 0, 1, "within");
    b = good;
    b.from.row_ranges[1].mask.width--;
    refuse(&b, 0, 1, "another size");
    b = good;
    end_bench(&b);
}

static void refuse_make(const tz_overview_params *how, uint32_t rows, tz_device_memory *memory,
                        uint64_t offset, const char *text)
{
    tz_error err;
    tz_overview_builder *reducer = NULL;
    assert_int_equal(tz_overview_builder_make(&reducer, how, rows, memory, offset, &err),
                     TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
    assert_null(reducer);
}

static void test_wrong_reducers(void **state)
{
    (void)state;
    const tz_overview_params good = plain(TZ_RESAMPLING_CUBIC, TZ_DTYPE_UINT8);
    const uint64_t bytes = tz_overview_builder_bytes(&good, 4);
    tz_device_memory *memory = take(bytes + 64);
    refuse_make(&good, 0, memory, 0, "no rows");
    refuse_make(&good, 4, memory, 32, "64");
    refuse_make(&good, 4, memory, 128, "within");
    refuse_make(&good, UINT32_MAX, memory, 0, "within");
    tz_overview_params how = good;
    how.method = TZ_RESAMPLING_NONE;
    refuse_make(&how, 4, memory, 0, "cannot");
    how = good;
    how.dtype = TZ_DTYPE_NONE;
    refuse_make(&how, 4, memory, 0, "cannot");
    how = good;
    how.alpha = 2;
    refuse_make(&how, 4, memory, 0, "cannot");
    how = good;
    how.to_width = OLD + 1;
    refuse_make(&how, 4, memory, 0, "cannot");
    how = good;
    how.to_height = 0;
    refuse_make(&how, 4, memory, 0, "cannot");
    how = plain(TZ_RESAMPLING_MEDIAN, TZ_DTYPE_UINT8);
    how.from_width = how.from_height = 100; /* too many to sort */
    how.to_width = how.to_height = 1;
    refuse_make(&how, 1, memory, 0, "cannot");
    tz_device_memory_free(memory);
}

/* ---- less than others have ---- */

static void test_without_doubles(void **state)
{
    (void)state;
    uint32_t count = 0;
    test_device->info.fp64 = false;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        for (int dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
            const tz_overview_params how = plain((tz_resampling)method, (tz_dtype)dtype);
            count += tz_device_makes_overviews(test_device, &how);
        }
    }
    tz_overview_params odd = plain(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_UINT8);
    odd.from_width--;
    assert_false(tz_device_makes_overviews(test_device, &odd));
    test_device->info.fp64 = true;
    assert_int_equal(count, TZ_DTYPE_COMPLEX_FLOAT64 + 3);
}

static void test_the_cpu_is_not_a_device(void **state)
{
    (void)state;
    tz_error err;
    tz_device *cpu = NULL;
    const tz_overview_params how = plain(TZ_RESAMPLING_NEAREST, TZ_DTYPE_UINT8);
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    assert_false(tz_device_makes_overviews(cpu, &how));
    tz_device_close(cpu);
}

/* One reducer and three runs, the n-th allocation failing. */
static tz_result try_all(bench *b, uint64_t n, bool *failed)
{
    tz_error err;
    tz_overview_builder *reducer = NULL;
    alloc_hook_install();
    alloc_hook_fail_at(n, false);
    tz_result result = tz_overview_builder_make(&reducer, &b->how, MOST_ROWS, b->own, 0, &err);
    for (uint32_t i = 0; i < 3 && result == TZ_OK; i++)
        result =
            tz_overview_builder_run(reducer, &b->from, i, MOST_ROWS, &b->pixels, &b->mask, 0, &err);
    assert_int_equal(tz_device_sync(test_device, 0, NULL), TZ_OK);
    tz_overview_builder_free(reducer);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    *failed = stats.failures > 0;
    assert_int_equal(stats.live_bytes, 0);
    assert_true((uint64_t)stats.peak_bytes <=
                tz_overview_builder_host_bytes(&b->how, MOST_ROWS) + 64 * stats.allocations);
    return result;
}

static void test_without_memory(void **state)
{
    (void)state;
    const tz_overview_params how = plain(TZ_RESAMPLING_CUBIC, TZ_DTYPE_FLOAT32);
    bench b = make_bench(&how);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        const tz_result result = try_all(&b, n, &failed);
        assert_int_equal(result, failed ? TZ_ERR_NOMEM : TZ_OK);
    }
    end_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_launch_a_run),
        cmocka_unit_test(test_no_rows_are_nothing_to_do),
        cmocka_unit_test(test_wrong_rows),
        cmocka_unit_test(test_wrong_memory),
        cmocka_unit_test(test_wrong_reducers),
        cmocka_unit_test(test_without_doubles),
        cmocka_unit_test(test_the_cpu_is_not_a_device),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
