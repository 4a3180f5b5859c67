/* SPDX-License-Identifier: Apache-2.0
 * The kernels that encode tiles, in plain C: an item and a group make the same bytes as the
 * encoders of the CPU, in memory of exactly the size that they may use, whatever was in it. */
#include "device/ops/compact_kernels.h"
#include "device/ops/encode_deflate_kernels.h"
#include "device/ops/encode_packbits_kernels.h"
#include "support/check.h"
#include "support/device/encode_batch.h"

/* ---- streams ---- */

/* By one item and by a group, into the room of the bound and after it nothing. */
static void same_stream(const uint8_t *rows, uint32_t size)
{
    const uint32_t bound = TZ_ZLIB_FRAME_BYTES + (uint32_t)tz_deflate_raw_bound(size);
    uint8_t *in = run_alloc(size), *item = run_alloc(bound), *group = run_alloc(bound);
    tz_deflate_scratch *work = malloc(sizeof *work);
    tz_deflate_shared *together = malloc(sizeof *together);
    assert_true(work && together);
    memcpy(in, rows, size);
    memset(work, 0xA7, sizeof *work);
    memset(together, 0x7A, sizeof *together);
    memset(item, 0x11, bound);
    memset(group, 0xEE, bound);
    const uint32_t made = tz_deflate_tile(in, size, item, work);
    assert_int_equal(tz_deflate_tile_work_group(in, size, group, together), made);
    assert_memory_equal(item, group, made);
    tz_tile_format format = encode_format(&tz_encoder_deflate, size, 1);
    encode_run run;
    encode_open(&run, &tz_encoder_deflate, &format, TZ_EFFORT_FAST);
    const encoded tile = {.bytes = group, .size = made};
    encode_decodes(&run, &tile, rows);
    encode_close(&run);
    free(together);
    free(work);
    free(group);
    free(item);
    free(in);
}

static void test_every_size(void **state)
{
    (void)state;
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++) {
        uint8_t *rows = encode_rows(kind, 1200);
        for (uint32_t size = 1; size <= 1200; size += size < 70 ? 1 : 31)
            same_stream(rows, size);
        free(rows);
    }
}

/* Runs of every length around those of matches and of windows, from every place of a group. */
static void test_every_run(void **state)
{
    (void)state;
    uint8_t rows[4200];
    for (uint32_t length = 1; length <= 3300; length += length < 560 ? 7 : 61) {
        for (uint32_t i = 0; i < sizeof rows; i++)
            rows[i] = (uint8_t)(i * 89 >> 2);
        memset(rows + 17 + length % 16, 7, length);
        same_stream(rows, sizeof rows);
        same_stream(rows, 17 + length % 16 + length); /* a run at the end */
        memset(rows, 7, 17 + length % 16);
        same_stream(rows, sizeof rows); /* and at the beginning */
    }
}

/* Literals of few values and runs of many lengths, in random order. */
static void test_random_runs(void **state)
{
    (void)state;
    uint32_t random = 99;
    for (uint32_t round = 0; round < 60; round++) {
        enum { SIZE = 20000 };
        uint8_t *rows = run_alloc(SIZE);
        for (uint32_t at = 0; at < SIZE;) {
            random = random * 1664525u + 1013904223u;
            const uint32_t length = 1 + (random >> 8) % (random >> 30 ? 9 : 2000);
            const uint8_t byte = (uint8_t)(random >> 24 >> round % 8);
            for (uint32_t i = 0; i < length && at < SIZE; i++)
                rows[at++] = byte;
        }
        same_stream(rows, SIZE - round);
        free(rows);
    }
}

/* Codes as long as they can be: counts like Fibonacci's. */
static void test_longest_codes(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    uint8_t *rows = run_alloc(SIZE);
    uint32_t at = 0, count = 1, before = 1;
    for (uint32_t byte = 0; at < SIZE; byte++) {
        for (uint32_t i = 0; i < count && at < SIZE; i++)
            rows[at++] = (uint8_t)byte;
        count += before;
        before = count - before;
    }
    uint32_t random = 5; /* in random order: no runs */
    for (uint32_t i = SIZE - 1; i > 0; i--) {
        random = random * 1664525u + 1013904223u;
        const uint32_t other = (uint32_t)((uint64_t)random * (i + 1) >> 32);
        const uint8_t byte = rows[i];
        rows[i] = rows[other];
        rows[other] = byte;
    }
    same_stream(rows, SIZE);
    free(rows);
}

/* The second block goes on where the first one ends, at any bit of a word. */
static void test_several_blocks(void **state)
{
    (void)state;
    enum { SIZE = TZ_DEFLATE_BLOCK + 70003 };
    static const encode_kind kinds[] = {ENCODE_NOISE, ENCODE_EQUAL, ENCODE_STEPS};
    for (uint32_t i = 0; i < 9; i++) {
        uint8_t *rows = encode_rows(kinds[i / 3], SIZE);
        uint8_t *second = encode_rows(kinds[i % 3], SIZE);
        memcpy(rows + TZ_DEFLATE_BLOCK, second, SIZE - TZ_DEFLATE_BLOCK);
        same_stream(rows, SIZE - i);
        free(second);
        free(rows);
    }
}

/* ---- batches ---- */

static void encode_all(encode_batch *b, bool by_group)
{
    tz_encode_deflate_scratch *item = malloc(sizeof *item);
    tz_encode_deflate_group_scratch *group = malloc(sizeof *group);
    uint64_t sums[TZ_SCAN_WORDS];
    const tz_encode_batch *d = &b->device;
    assert_true(item && group);
    for (uint64_t i = 0; i < b->count; i++) {
        if (d->compression == 1)
            tz_encode_none_work_item(b->slab, d->table, d->sizes, i);
        else if (d->compression == 8 && by_group)
            tz_encode_deflate_work_group(b->slab, d->table, d->sizes, i, group);
        else if (d->compression == 8)
            tz_encode_deflate_work_item(b->slab, d->table, d->sizes, i, item);
        else if (by_group)
            tz_encode_packbits_work_group(b->slab, d->table, d->sizes, d->row_bytes, i, sums);
        else
            tz_encode_packbits_work_item(b->slab, d->table, d->sizes, d->row_bytes, i);
    }
    free(group);
    free(item);
}

static void compact_all(encode_batch *b, uint32_t items)
{
    uint64_t sums[TZ_SCAN_WORDS];
    const tz_encode_batch *d = &b->device;
    tz_compact_scan_work_group(b->slab, d->sizes, b->compact.offsets, d->count, b->compact.before,
                               b->compact.after, sums);
    for (uint64_t i = 0; i < d->count; i++)
        for (uint32_t chunk = 0; chunk < 1 + b->row_sizes[i] / (TZ_COMPACT_BLOCK / 2); chunk++)
            for (uint32_t item = 0; item < TZ_WORK_GROUP_SIZE; item++)
                tz_compact_move(b->slab, d->table, d->sizes, b->compact.offsets, b->compact.to,
                                d->compression == 1, i, chunk, item, items);
}

static void compare(encode_batch *b)
{
    for (int by_group = 0; by_group < 2; by_group++) {
        batch_lay_out(b, NULL);
        b->slab = batch_fill(b);
        encode_all(b, by_group);
        compact_all(b, by_group ? TZ_WORK_GROUP_SIZE : 1);
        batch_check(b);
        free(b->slab);
        b->slab = NULL;
    }
    batch_free(b);
}

static void test_batches(void **state)
{
    (void)state;
    const tz_encoder *const encoders[] = {&tz_encoder_none, &tz_encoder_packbits,
                                          &tz_encoder_deflate};
    static const uint64_t counts[] = {0, 1, 7, 64, 200};
    for (uint32_t e = 0; e < 3; e++) {
        for (uint32_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            encode_batch b = batch_of(encoders[e], counts[n], e == 1 ? 5 : 0);
            for (uint64_t i = 0; i < b.count; i++) {
                batch_set(&b, i, (encode_kind)(i % ENCODE_KINDS), (uint32_t)(i * i % 4001 * 5));
                b.skipped[i] = i % 6 == 5;
            }
            compare(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),     cmocka_unit_test(test_every_run),
        cmocka_unit_test(test_random_runs),    cmocka_unit_test(test_longest_codes),
        cmocka_unit_test(test_several_blocks), cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
