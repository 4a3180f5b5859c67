/* SPDX-License-Identifier: Apache-2.0
 * PNG files: what is decoded is what was encoded, whatever the size and the bytes, and the memory
 * does not grow with the height. tests/cli/test_png.py decodes with other software. */
#include <stdlib.h>

#include "support/alloc_hook.h"
#include "support/context.h"
#include "support/png_decode.h"

/* Pixels in the order of a PNG. */
static tz_buffer interleaved(uint8_t *data, uint32_t bands, uint32_t height, uint32_t width)
{
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = data,
                       .dtype = TZ_DTYPE_UINT8,
                       .bands = bands,
                       .height = height,
                       .width = width,
                       .band_stride = 1,
                       .row_stride = (int64_t)width * bands,
                       .column_stride = bands};
}

static void check_survives(uint8_t *pixels, uint32_t bands, uint32_t height, uint32_t width,
                           int32_t effort, size_t *size)
{
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    const tz_buffer buffer = interleaved(pixels, bands, height, width);
    tz_memory file;
    options.stretch = TZ_CHOICE_NO;
    options.effort = effort;
    assert_int_equal(tz_image_encode(&file, &buffer, NULL, &options, NULL), TZ_OK);
    png_image found = png_decode(file.data, file.size);
    assert_int_equal(found.width, width);
    assert_int_equal(found.height, height);
    assert_int_equal(found.channels, bands);
    assert_memory_equal(found.pixels, pixels, (size_t)height * width * bands);
    *size = file.size;
    free(found.pixels);
    tz_memory_free(&file);
}

typedef enum kind { ZEROS, NOISE, FEW_BITS, GRADIENT, REPEATING, SKEWED, MIXED, KINDS } kind;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Alpha is never 0, which would take the colours. */
static uint8_t *make_pixels(kind which, uint32_t bands, size_t count)
{
    uint8_t *pixels = malloc(count * bands);
    uint32_t state = 7;
    assert_non_null(pixels);
    for (size_t i = 0; i < count * bands; i++) {
        const uint32_t random = next_random(&state);
        const kind now = which == MIXED ? (kind)(i / 40000 % MIXED) : which;
        uint8_t value = 0;
        if (now == NOISE)
            value = (uint8_t)random;
        else if (now == FEW_BITS)
            value = random & 3;
        else if (now == GRADIENT)
            value = (uint8_t)(i / 7);
        else if (now == REPEATING)
            value = (uint8_t)((i % 1777) * (i % 1777) >> 3);
        else if (now == SKEWED)
            value = random % 64 == 0 ? (uint8_t)(random >> 8) : (uint8_t)(random % 5 == 0);
        pixels[i] = bands % 2 == 0 && i % bands == bands - 1 ? value | 1 : value;
    }
    return pixels;
}

static void every_size_and_channel_count(void **state)
{
    (void)state;
    static const uint32_t sides[][2] = {{1, 1},   {1, 2},   {2, 1},  {3, 5},
                                        {1, 300}, {300, 1}, {17, 31}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        for (uint32_t bands = 1; bands <= 4; bands++)
            for (kind which = ZEROS; which < KINDS; which++) {
                const uint32_t height = sides[i][0], width = sides[i][1];
                size_t size;
                uint8_t *pixels = make_pixels(which, bands, (size_t)height * width);
                check_survives(pixels, bands, height, width, 0, &size);
                check_survives(pixels, bands, height, width, TZ_EFFORT_FAST, &size);
                free(pixels);
            }
}

/* Blocks of Deflate have 64 KiB, and matches reach back 32 KiB: pictures of many blocks. */
static void every_kind_of_bytes(void **state)
{
    (void)state;
    for (kind which = ZEROS; which < KINDS; which++)
        for (uint32_t bands = 1; bands <= 4; bands += 3) {
            const uint32_t height = 301, width = 997;
            const size_t bytes = (size_t)height * width * bands;
            size_t size, fast;
            uint8_t *pixels = make_pixels(which, bands, (size_t)height * width);
            check_survives(pixels, bands, height, width, 0, &size);
            check_survives(pixels, bands, height, width, TZ_EFFORT_FAST, &fast);
            assert_true(size < bytes + bytes / 200 + height + 300); /* noise is stored */
            assert_true(fast < bytes + bytes / 200 + height + 300);
            if (which == ZEROS && bands == 1)
                assert_true(size < 3000);
            if (which == REPEATING)
                assert_true(size < fast && size < bytes / 8);
            free(pixels);
        }
}

/* A filtered row has one byte more than its pixels: pictures whose bytes end with a block, one
 * before and one after it. */
static void the_last_block_may_be_empty(void **state)
{
    (void)state;
    for (uint32_t width = 65534; width <= 65537; width++)
        for (kind which = ZEROS; which <= NOISE; which++)
            for (uint32_t height = 1; height <= 2; height++) {
                size_t size;
                uint8_t *pixels = make_pixels(which, 1, (size_t)width * height);
                check_survives(pixels, 1, height, width, 0, &size);
                free(pixels);
            }
}

/* ---- memory ---- */

static tz_result count_bytes(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                             tz_error *err)
{
    (void)sink;
    (void)offset;
    (void)pieces;
    (void)count;
    (void)err;
    return TZ_OK;
}

/* Rows that all lie in the same place: a stride of 0. */
static int64_t peak_of(uint32_t height, uint32_t width, uint64_t *planned)
{
    uint8_t *row = calloc(4, width);
    tz_buffer buffer = interleaved(row, 4, height, width);
    tz_sink sink = {.struct_size = sizeof sink, .write = count_bytes};
    assert_non_null(row);
    buffer.row_stride = 0;
    assert_int_equal(tz_plan_image(planned, &buffer, NULL, NULL), TZ_OK);
    alloc_hook_install();
    assert_int_equal(tz_image_write(&sink, &buffer, NULL, NULL, NULL), TZ_OK);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(stats.live_bytes, 0);
    assert_true(stats.allocations < 10);
    free(row);
    return stats.peak_bytes;
}

static void memory_does_not_grow_with_the_height(void **state)
{
    (void)state;
    uint64_t planned;
    const int64_t low = peak_of(10, 700, &planned);
    enum { ROUNDING = 64 << 10 }; /* the allocator gives whole pages */
    assert_true((uint64_t)low <= planned + ROUNDING);
    assert_int_equal(peak_of(3000, 700, &planned), low);
    const int64_t wide = peak_of(10, 100000, &planned);
    assert_true((uint64_t)wide <= planned + ROUNDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_channel_count),
        cmocka_unit_test(every_kind_of_bytes),
        cmocka_unit_test(the_last_block_may_be_empty),
        cmocka_unit_test(memory_does_not_grow_with_the_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
