/* SPDX-License-Identifier: Apache-2.0
 * The memory of the write of a Cloud Optimized GeoTIFF, counted at every allocation: all levels
 * together not more than buffer_bytes, or than the least it takes where that is more; and not more
 * than its own plan says. */
#include "support/write_memory.h"

enum { TILE = 512 };

/* The least that any memory makes of it. */
static uint64_t least_of(write_memory c)
{
    tz_image_spec spec;
    tz_write_options options;
    SCOPED_WRITE_REPORT report = NULL;
    tz_error err = {0};
    c.buffer_bytes = 1;
    write_memory_describe(&c, &spec, &options);
    if (tz_plan_write(&report, &spec, &options, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return report->max_host_bytes;
}

static void the_cap_holds(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 100, 1000, 4000, 9000};
    static const uint64_t caps[] = {4 * MIB, 16 * MIB, 64 * MIB};
    static const tz_resampling methods[] = {TZ_RESAMPLING_NEAREST, TZ_RESAMPLING_AVERAGE,
                                            TZ_RESAMPLING_CUBIC};
    for (unsigned w = 0; w < 5; w++)
        for (unsigned cap = 0; cap < 3; cap++)
            for (unsigned kind = 0; kind < 6; kind++) {
                const write_memory c = {.width = widths[w],
                                        .height = 600,
                                        .bands = 1 + kind % 2,
                                        .dtype = TZ_DTYPE_UINT8,
                                        .compression =
                                            kind < 3 ? TZ_COMPRESSION_NONE : TZ_COMPRESSION_LZW,
                                        .threads = 1 + (kind + cap) % 3,
                                        .buffer_bytes = caps[cap],
                                        .mask = kind == 2 || kind == 5,
                                        .pull = (kind & 2) != 0,
                                        .cog = true,
                                        .inserts = kind % 2 == 0,
                                        .method = methods[(kind + w) % 3],
                                        .interleave = (tz_interleave)(kind % 3)};
                const tz_write_report report = write_memory_run(&c);
                assert_true(report.max_host_bytes == caps[cap] || least_of(c) > caps[cap]);
                assert_true(report.levels == 2 || widths[w] > 1000);
            }
}

static void of_every_type_and_method(void **state)
{
    (void)state;
    static const tz_dtype dtypes[] = {TZ_DTYPE_UINT16, TZ_DTYPE_FLOAT32, TZ_DTYPE_FLOAT64,
                                      TZ_DTYPE_INT64};
    for (unsigned method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        const write_memory c = {.width = 1601,
                                .height = 703,
                                .bands = 1 + method % 2,
                                .dtype = dtypes[method % 4],
                                .compression = TZ_COMPRESSION_PACKBITS,
                                .threads = 1 + method % 3,
                                .buffer_bytes = 1,
                                .mask = method % 2 == 0,
                                .pull = true,
                                .cog = true,
                                .inserts = true,
                                .method = (tz_resampling)method};
        const tz_write_report report = write_memory_run(&c);
        assert_int_equal(report.levels, 3);
    }
}

/* Rows of tiles of all levels: twice those of the image, and what the next level needs again. */
static void the_least_is_little(void **state)
{
    (void)state;
    const write_memory c = {.width = 12000,
                            .height = 1100,
                            .bands = 1,
                            .dtype = TZ_DTYPE_UINT8,
                            .compression = TZ_COMPRESSION_LZW,
                            .threads = 4,
                            .buffer_bytes = 1,
                            .cog = true};
    const uint64_t tile_row = (uint64_t)c.width * TILE;
    const tz_write_report report = write_memory_run(&c);
    assert_int_equal(report.threads, 1);
    assert_true(report.max_host_bytes >= tile_row);
    assert_true(report.max_host_bytes < 2 * tile_row + 4 * MIB);
}

static void memory_does_not_grow_with_the_height(void **state)
{
    (void)state;
    write_memory c = {.width = 300,
                      .height = 1000,
                      .bands = 1,
                      .dtype = TZ_DTYPE_UINT16,
                      .compression = TZ_COMPRESSION_NONE,
                      .threads = 2,
                      .buffer_bytes = 8 * MIB,
                      .cog = true,
                      .inserts = true};
    const tz_write_report low = write_memory_run(&c);
    c.height = 50000;
    const tz_write_report high = write_memory_run(&c);
    assert_int_equal(high.levels, 8);
    assert_true(low.peak_host_bytes <= 8 * MIB && high.peak_host_bytes <= 8 * MIB);
}

static void a_plan_says_the_same(void **state)
{
    (void)state;
    const write_memory c = {.width = 3000,
                            .height = 1700,
                            .bands = 2,
                            .dtype = TZ_DTYPE_UINT8,
                            .compression = TZ_COMPRESSION_LZW,
                            .threads = 2,
                            .buffer_bytes = 16 * MIB,
                            .mask = true,
                            .cog = true,
                            .inserts = true};
    tz_image_spec spec;
    tz_write_options options;
    SCOPED_WRITE_REPORT planned = NULL;
    write_memory_describe(&c, &spec, &options);
    assert_int_equal(tz_plan_write(&planned, &spec, &options, NULL, NULL), TZ_OK);
    const tz_write_report done = write_memory_run(&c);
    assert_int_equal(planned->levels, 4);
    assert_int_equal(planned->levels, done.levels);
    assert_int_equal(planned->tiles, done.tiles);
    assert_int_equal(planned->threads, done.threads);
    assert_int_equal(planned->tile_rows, done.tile_rows);
    assert_int_equal(planned->rows_per_tile_row, done.rows_per_tile_row);
    assert_int_equal(planned->peak_host_bytes, done.peak_host_bytes);
    assert_true(planned->file_size >= done.file_size);
    assert_true(planned->spool_bytes >= done.spool_bytes);
    assert_true(done.spool_bytes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(of_every_type_and_method),
        cmocka_unit_test(the_least_is_little),
        cmocka_unit_test(memory_does_not_grow_with_the_height),
        cmocka_unit_test(a_plan_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
