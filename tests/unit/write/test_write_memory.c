/* SPDX-License-Identifier: Apache-2.0
 * The memory of a write, counted at every allocation: not more than buffer_bytes, or than the least
 * it takes where that is more; and not more than its own plan says. Pixels are made up as they are
 * given, so that nothing but the writer holds any. */
#include "support/write_memory.h"

static void the_cap_holds(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 100, 1000, 5000, 20000};
    static const uint64_t caps[] = {4 * MIB, 16 * MIB, 64 * MIB};
    static const tz_compression codecs[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW};
    for (size_t w = 0; w < 5; w++)
        for (size_t cap = 0; cap < 3; cap++)
            for (size_t codec = 0; codec < 2; codec++)
                for (unsigned kind = 0; kind < 8; kind++) {
                    const write_memory c = {.width = widths[w],
                                            .height = 600,
                                            .bands = 1 + kind % 2,
                                            .dtype = TZ_DTYPE_UINT8,
                                            .compression = codecs[codec],
                                            .threads = 1 + kind % 3,
                                            .buffer_bytes = caps[cap],
                                            .mask = (kind & 1) != 0,
                                            .pull = (kind & 2) != 0,
                                            .strips = (kind & 4) != 0};
                    const tz_write_report report = write_memory_run(&c);
                    const uint64_t least = 600 * KIB + (uint64_t)widths[w] * 256 * 3;
                    assert_true(report.max_host_bytes == caps[cap] || least > caps[cap] / 4);
                }
}

static void one_byte_means_the_least(void **state)
{
    (void)state;
    write_memory c = {.width = 20000,
                      .height = 600,
                      .bands = 1,
                      .dtype = TZ_DTYPE_UINT8,
                      .compression = TZ_COMPRESSION_LZW,
                      .threads = 4,
                      .buffer_bytes = 1};
    const tz_write_report pushed = write_memory_run(&c);
    const uint64_t tile_row = (uint64_t)20000 * 256;
    assert_true(pushed.max_host_bytes >= tile_row);
    assert_true(pushed.max_host_bytes < tile_row + 1 * MIB);
    assert_int_equal(pushed.threads, 1);
    assert_int_equal(pushed.rows_per_tile_row, 256);

    c.pull = true;
    const tz_write_report pulled = write_memory_run(&c);
    assert_int_equal(pulled.max_host_bytes, pushed.max_host_bytes);

    c.columns = true; /* one column of tiles is enough then */
    const tz_write_report narrow = write_memory_run(&c);
    assert_true(narrow.max_host_bytes < 1 * MIB);
    assert_int_equal(narrow.tile_rows, 79 * 3);
}

static void memory_does_not_grow_with_the_height(void **state)
{
    (void)state;
    write_memory c = {.width = 300,
                      .bands = 1,
                      .dtype = TZ_DTYPE_UINT16,
                      .height = 1000,
                      .compression = TZ_COMPRESSION_NONE,
                      .threads = 2,
                      .buffer_bytes = 8 * MIB};
    const uint64_t low = write_memory_run(&c).peak_host_bytes;
    c.height = 50000;
    const uint64_t high = write_memory_run(&c).peak_host_bytes;
    assert_true(high <= 8 * MIB && high < low + 8 * MIB);
}

static void a_plan_says_the_same(void **state)
{
    (void)state;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 3000;
    spec.height = 700;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.threads = 2;
    options.max_host_bytes = 4 * MIB;
    SCOPED_WRITE_REPORT planned = NULL;
    assert_int_equal(tz_plan_write(&planned, &spec, &options, NULL, NULL), TZ_OK);
    const write_memory c = {.width = 3000,
                            .height = 700,
                            .bands = 1,
                            .dtype = TZ_DTYPE_UINT8,
                            .compression = TZ_COMPRESSION_LZW,
                            .threads = 2,
                            .buffer_bytes = 4 * MIB};
    const tz_write_report done = write_memory_run(&c);
    assert_int_equal(planned->tiles, done.tiles);
    assert_int_equal(planned->threads, done.threads);
    assert_int_equal(planned->tile_rows, done.tile_rows);
    assert_int_equal(planned->rows_per_tile_row, done.rows_per_tile_row);
    assert_int_equal(planned->bytes_pixels, done.bytes_pixels);
    assert_true(planned->file_size >= done.file_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(one_byte_means_the_least),
        cmocka_unit_test(memory_does_not_grow_with_the_height),
        cmocka_unit_test(a_plan_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
