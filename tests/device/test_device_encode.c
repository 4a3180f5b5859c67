/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded on a device, by one item and by a group each: the bytes of the CPU's
 * encoders, moved together, with the same number of launches for any number of tiles. */
#include <stdlib.h>
#include <string.h>

#include "device/ops/encode.h"
#include "support/check.h"
#include "support/device/encode_batch.h"
#include "support/device/test_device.h"

/* ---- the device ---- */

static void run(encode_batch *b, tz_device_type type)
{
    tz_error err;
    tz_device_memory *slab = NULL;
    batch_lay_out(b, NULL);
    assert_int_equal(tz_device_memory_alloc(&slab, test_device, b->size, &err), TZ_OK);
    batch_lay_out(b, slab);
    b->slab = batch_fill(b);
    const tz_device_type own = test_device->info.type;
    test_device->info.type = test_device_form(type); /* which chooses the form of kernels */
    assert_int_equal(tz_device_upload(0, slab, 0, b->slab, b->size, &err), TZ_OK);
    assert_int_equal(tz_encode_launch(&b->device, 0, &err), TZ_OK);
    assert_int_equal(tz_compact_launch(&b->compact, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, b->slab, slab, 0, b->size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    test_device->info.type = own;
    tz_device_memory_free(slab);
}

/* Both forms; frees the batch. */
static void compare(encode_batch *b)
{
    run(b, TZ_DEVICE_TYPE_CPU);
    batch_check(b);
    free(b->slab);
    run(b, TZ_DEVICE_TYPE_GPU);
    batch_check(b);
    batch_free(b);
}

/* ---- tiles ---- */

enum { SMALL = 67 };

/* Every size from 0 on, of every kind. */
static void compare_small(const tz_encoder *encoder)
{
    encode_batch b = batch_of(encoder, (SMALL + 1) * ENCODE_KINDS, 0);
    for (uint64_t i = 0; i < b.count; i++)
        batch_set(&b, i, (encode_kind)(i % ENCODE_KINDS), (uint32_t)(i / ENCODE_KINDS));
    compare(&b);
}

static void compare_large(const tz_encoder *encoder)
{
    static const uint32_t sizes[] = {255, 1024, 1040, 4096, 65537, 131072, 1 << 20};
    const uint64_t all = sizeof sizes / sizeof sizes[0], some = test_device_is_slow() ? 4 : all;
    encode_batch b = batch_of(encoder, some * ENCODE_KINDS, 0);
    for (uint64_t i = 0; i < b.count; i++)
        batch_set(&b, i, (encode_kind)(i / some), sizes[i % some]);
    compare(&b);
}

static void test_deflate(void **state)
{
    (void)state;
    compare_small(&tz_encoder_deflate);
    compare_large(&tz_encoder_deflate);
}

/* Blocks are of 1 MiB: the second one goes on where the first one ends, whatever kinds they are. */
static void test_deflate_several_blocks(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 20, KINDS = 3, SIZE = BLOCK + 30011 };
    static const encode_kind kinds[KINDS] = {ENCODE_NOISE, ENCODE_EQUAL, ENCODE_STEPS};
    encode_batch b = batch_of(&tz_encoder_deflate, test_device_sample(KINDS * KINDS), 0);
    for (uint64_t i = 0; i < b.count; i++) {
        uint8_t *second = encode_rows(kinds[i % KINDS], SIZE - BLOCK);
        batch_set(&b, i, kinds[i / KINDS], SIZE);
        memcpy(b.rows[i] + BLOCK, second, SIZE - BLOCK);
        free(second);
    }
    compare(&b);
}

/* Rows of every size, a few of them and more than there are items in a group. */
static void test_packbits(void **state)
{
    (void)state;
    for (uint32_t row_bytes = 1; row_bytes <= 5000;
         row_bytes += row_bytes < SMALL && !test_device_is_slow() ? 1 : row_bytes) {
        encode_batch b = batch_of(&tz_encoder_packbits, 3 * ENCODE_KINDS, row_bytes);
        for (uint64_t i = 0; i < b.count; i++) {
            const uint32_t rows[] = {0, 1, 130};
            batch_set(&b, i, (encode_kind)(i / 3), row_bytes * rows[i % 3]);
        }
        compare(&b);
    }
}

static void test_none(void **state)
{
    (void)state;
    compare_small(&tz_encoder_none);
    compare_large(&tz_encoder_none);
}

/* ---- batches ---- */

static encode_batch many(const tz_encoder *encoder, uint64_t count)
{
    encode_batch b = batch_of(encoder, count, encoder == &tz_encoder_packbits);
    for (uint64_t i = 0; i < count; i++) {
        batch_set(&b, i, (encode_kind)(i % ENCODE_KINDS), (uint32_t)(1 + i * 37 % 300));
        b.skipped[i] = i % 5 == 3;
    }
    return b;
}

static void test_launches_do_not_depend_on_tiles(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 7, 64, 65, 1000};
    const tz_encoder *const encoders[] = {&tz_encoder_none, &tz_encoder_packbits,
                                          &tz_encoder_deflate};
    for (size_t e = 0; e < 3; e++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            tz_device_counts wave;
            encode_batch b = many(encoders[e], counts[i]);
            tz_device_begin_wave(test_device);
            compare(&b);
            tz_device_get_counts(test_device, NULL, &wave);
            assert_int_equal(wave.launches, 2 * 3);
            assert_int_equal(wave.allocations, 2);
            assert_int_equal(wave.uploads, 2);
            assert_int_equal(wave.downloads, 2);
            assert_int_equal(wave.syncs, 2);
        }
    }
}

static void test_none_at_all(void **state)
{
    (void)state;
    encode_batch empty = batch_of(&tz_encoder_deflate, 0, 0);
    compare(&empty);
    encode_batch skipped = many(&tz_encoder_deflate, 70);
    memset(skipped.skipped, true, 70 * sizeof skipped.skipped[0]);
    compare(&skipped);
}

/* ---- what devices do, and what a kernel would have to trust ---- */

static void test_what_is_encoded(void **state)
{
    (void)state;
    tz_error err;
    tz_device *cpu = NULL;
    tz_encode_options fast = {.level = TZ_EFFORT_FAST}, six = {.level = 6};
    tz_tile_format format = encode_format(&tz_encoder_deflate, 64, 64);
    assert_true(tz_device_encodes(test_device, &format, &fast));
    assert_false(tz_device_encodes(test_device, &format, &six));
    format.compression = 32946;
    assert_true(tz_device_encodes(test_device, &format, &fast));
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    assert_false(tz_device_encodes(cpu, &format, &fast));
    tz_device_close(cpu);
    static const uint16_t others[] = {1, 32773}, not_here[] = {5, 50000, 34887, 7, 0};
    for (size_t i = 0; i < 2; i++) {
        format.compression = others[i];
        assert_true(tz_device_encodes(test_device, &format, &six));
    }
    for (size_t i = 0; i < 5; i++) {
        format.compression = not_here[i];
        assert_false(tz_device_encodes(test_device, &format, &fast));
    }
    format = encode_format(&tz_encoder_none, 1 << 16, (1 << 14) + 1); /* more than kernels count */
    assert_false(tz_device_encodes(test_device, &format, &six));
}

static tz_encode_batch good;
static tz_encode_entry entry;

static void refuse(const tz_encode_batch *batch, const char *text)
{
    tz_error err;
    assert_int_equal(tz_encode_launch(batch, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
}

static void refuse_entry(tz_encode_entry wrong, const char *text)
{
    const tz_encode_entry right = entry;
    entry = wrong;
    refuse(&good, text);
    entry = right;
}

static void test_wrong_batches(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *slab = NULL;
    assert_int_equal(tz_device_memory_alloc(&slab, test_device, 1000, &err), TZ_OK);
    const tz_encode_entry right = {
        .from = 100, .to = 200, .size = 100, .capacity = 130, .skip = TZ_NO_VALUE};
    entry = right;
    good = (tz_encode_batch){.compression = 8, .slab = slab, .tiles = &entry, .count = 1};
    good.sizes = 40;
    tz_encode_entry wrong = right;
    wrong.from = 901;
    refuse_entry(wrong, "not within the slab");
    wrong = right;
    wrong.from = UINT64_MAX;
    refuse_entry(wrong, "not within the slab");
    wrong = right;
    wrong.to = 204;
    refuse_entry(wrong, "room of the tile");
    wrong = right;
    wrong.to = 872;
    refuse_entry(wrong, "room of the tile");
    wrong = right;
    wrong.capacity = 124;
    refuse_entry(wrong, "more room");
    wrong = right;
    wrong.skip = 997;
    refuse_entry(wrong, "flag to skip");
    tz_encode_batch batch = good;
    batch.compression = 5;
    refuse(&batch, "do not encode");
    batch.compression = 32773;
    refuse(&batch, "do not encode");
    batch.row_bytes = 33;
    refuse(&batch, "whole number of rows");
    batch = good;
    batch.table = 4;
    refuse(&batch, "table");
    batch.table = 976;
    refuse(&batch, "table");
    batch = good;
    batch.sizes = 1000;
    refuse(&batch, "sizes");
    tz_device_memory_free(slab);
}

static void refuse_compact(const tz_compact_batch *batch, const char *text)
{
    tz_error err;
    assert_int_equal(tz_compact_launch(batch, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
}

static void test_wrong_rooms(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *slab = NULL;
    assert_int_equal(tz_device_memory_alloc(&slab, test_device, 1000, &err), TZ_OK);
    entry = (tz_encode_entry){
        .from = 100, .to = 200, .size = 100, .capacity = 130, .skip = TZ_NO_VALUE};
    good = (tz_encode_batch){.compression = 8, .slab = slab, .tiles = &entry, .count = 1};
    good.sizes = 40;
    const tz_compact_batch right = {.tiles = &good,
                                    .to = 400,
                                    .capacity = 130 + BATCH_BEFORE + BATCH_AFTER,
                                    .offsets = 48,
                                    .before = BATCH_BEFORE,
                                    .after = BATCH_AFTER};
    assert_int_equal(tz_compact_capacity(&right), right.capacity);
    tz_compact_batch batch = right;
    batch.capacity--;
    refuse_compact(&batch, "more room");
    batch = right;
    batch.to = 860;
    refuse_compact(&batch, "room for all");
    batch = right;
    batch.offsets = 52;
    refuse_compact(&batch, "offsets");
    batch.offsets = 992;
    refuse_compact(&batch, "offsets");
    batch = right;
    entry.from = 901;
    refuse_compact(&batch, "not within the slab");
    good.compression = 1; /* what is stored as it is needs no view */
    entry = (tz_encode_entry){.from = 100, .size = 100, .skip = TZ_NO_VALUE};
    assert_int_equal(tz_compact_capacity(&right), 100 + BATCH_BEFORE + BATCH_AFTER);
    assert_int_equal(tz_encode_check(&good, &err), TZ_OK);
    tz_device_memory_free(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deflate),
        cmocka_unit_test(test_deflate_several_blocks),
        cmocka_unit_test(test_packbits),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_launches_do_not_depend_on_tiles),
        cmocka_unit_test(test_none_at_all),
        cmocka_unit_test(test_what_is_encoded),
        cmocka_unit_test(test_wrong_batches),
        cmocka_unit_test(test_wrong_rooms),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
