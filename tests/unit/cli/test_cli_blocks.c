/* SPDX-License-Identifier: Apache-2.0
 * Blocks of the command: together they are the whole, each once, within the memory that was given,
 * and along tiles where a tile fits. */
#include "cli/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static uint32_t next_random(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % most + 1;
}

static void mark(unsigned char *seen, const block_shape *s, const block *b)
{
    for (uint32_t band = b->band; band < b->band + b->bands; band++) {
        for (uint32_t row = b->row; row < b->row + b->height; row++) {
            for (uint32_t column = b->column; column < b->column + b->width; column++)
                seen[((size_t)band * s->height + row) * s->width + column]++;
        }
    }
}

static uint64_t place_of(const block_shape *s, const block *b)
{
    return ((uint64_t)b->band * s->height + b->row) * s->width + b->column;
}

/* For a stream, a block begins at the end of the one before, and is one range of bytes. */
static void check_order(const block_shape *s, const block *b, uint64_t written)
{
    assert_int_equal(place_of(s, b), written);
    assert_int_equal(b->width, s->width);
    assert_true(b->bands == 1 || b->height == s->height);
}

static void check_edges(const block_shape *s, const blocks *all, const block *b)
{
    int64_t bottom = (int64_t)b->row + b->height;
    int64_t right = (int64_t)b->column + b->width;
    if (all->row_step % s->tile_height == 0 && bottom < s->height)
        assert_int_equal((bottom + s->row_phase) % s->tile_height, 0);
    if (all->column_step % s->tile_width == 0 && right < s->width)
        assert_int_equal((right + s->column_phase) % s->tile_width, 0);
}

static void check_blocks(const block_shape *s, uint64_t room)
{
    size_t count = (size_t)s->bands * s->height * s->width;
    unsigned char *seen = calloc(count, 1);
    uint64_t written = 0;
    blocks all;
    block b;
    assert_non_null(seen);
    blocks_start(&all, s, room);
    while (blocks_next(&all, &b)) {
        uint64_t samples = (uint64_t)b.bands * b.height * b.width;
        assert_true(samples > 0 && samples <= blocks_largest(&all));
        check_edges(s, &all, &b);
        if (s->in_order)
            check_order(s, &b, written);
        written += samples;
        mark(seen, s, &b);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
    bool smallest =
        all.row_step == 1 && (all.column_step == 1 || s->in_order || all.column_step == s->width);
    assert_true(blocks_largest(&all) * s->sample_size <= room || smallest);
    free(seen);
}

static void test_blocks_make_up_the_whole(void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (int round = 0; round < 3000; round++) {
        block_shape s = {.bands = next_random(&seed, 4),
                         .height = next_random(&seed, 40),
                         .width = next_random(&seed, 40),
                         .tile_height = next_random(&seed, 20),
                         .tile_width = next_random(&seed, 20),
                         .row_phase = (int64_t)next_random(&seed, 100) - 50,
                         .column_phase = (int64_t)next_random(&seed, 100) - 50,
                         .sample_size = next_random(&seed, 9),
                         .by_band = next_random(&seed, 2) == 1,
                         .in_order = next_random(&seed, 2) == 1};
        check_blocks(&s, next_random(&seed, 20000));
    }
}

/* If the samples of a pixel lie together, a block of a stream is some whole rows. */
static void test_blocks_of_all_bands(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 500; round++) {
        const block_shape s = {.bands = next_random(&seed, 9),
                               .height = next_random(&seed, 40),
                               .width = next_random(&seed, 40),
                               .tile_height = next_random(&seed, 20),
                               .tile_width = next_random(&seed, 20),
                               .sample_size = next_random(&seed, 9),
                               .by_band = next_random(&seed, 2) == 1,
                               .all_bands = true,
                               .in_order = next_random(&seed, 2) == 1};
        uint32_t row = 0;
        blocks all;
        block b;
        for (blocks_start(&all, &s, next_random(&seed, 20000)); blocks_next(&all, &b);) {
            assert_int_equal(b.bands, s.bands);
            if (!s.in_order)
                continue;
            assert_int_equal(b.width, s.width);
            assert_int_equal(b.row, row);
            row += b.height;
        }
        assert_true(!s.in_order || row == s.height);
    }
}

static void test_all_fits(void **state)
{
    (void)state;
    const block_shape s = {.bands = 65535,
                           .height = UINT32_MAX,
                           .width = UINT32_MAX,
                           .tile_height = 256,
                           .tile_width = 256,
                           .sample_size = 1};
    blocks all;
    block b;
    blocks_start(&all, &s, UINT64_MAX);
    assert_true(blocks_next(&all, &b));
    assert_int_equal(b.width, UINT32_MAX);
    const block_shape small = {
        .bands = 3, .height = 9, .width = 9, .tile_height = 4, .tile_width = 4, .sample_size = 17};
    blocks_start(&all, &small, UINT64_MAX);
    assert_true(blocks_next(&all, &b));
    assert_int_equal(b.bands * b.height * b.width, 243);
    assert_false(blocks_next(&all, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_make_up_the_whole),
        cmocka_unit_test(test_blocks_of_all_bands),
        cmocka_unit_test(test_all_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
