/* SPDX-License-Identifier: Apache-2.0
 * LERC: blobs that are not what the tile says, and blobs broken byte by byte. */
#include "support/codec/lerc_blobs.h"

/* ---------------------------------------------------------------------------------------------
 * Case 55
 * ------------------------------------------------------------------------------------------ */

static void case_55_rows_columns_values_and_type(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } changes[] = {{AT_ROWS, 23},          {AT_ROWS, 25},          {AT_ROWS, 0},
                   {AT_ROWS, UINT32_MAX},  {AT_COLUMNS, 41},       {AT_COLUMNS, 0x80000000},
                   {AT_DEPTH, 2},          {AT_DEPTH, 0},          {AT_DEPTH, 0x80000000},
                   {AT_DEPTH, UINT32_MAX}, {AT_TYPE, 5},           {AT_TYPE, 7},
                   {AT_TYPE, 8},           {AT_TYPE, UINT32_MAX},  {AT_VALID, 961},
                   {AT_VALID, 959},        {AT_VALID, UINT32_MAX}, {AT_BLOCK, 0},
                   {AT_BLOCK, 33},         {AT_BLOCK, UINT32_MAX}, {AT_MASK, 1},
                   {AT_MASK, UINT32_MAX},  {AT_SIZE, 0},           {AT_SIZE, 13},
                   {AT_SIZE, 60},          {AT_SIZE, 100}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fixture f;
        recipe r = plain;
        r.max_error = 0.01; /* blocks, not raw */
        begin(&f, &r);
        put(&f.b, changes[i].at, changes[i].value);
        fix_checksum(&f.b);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
        assert_true(alloc_hook_stats().peak_bytes < 4096);
        alloc_hook_remove();
        end(&f);
    }
}

static void case_55_a_blob_larger_than_the_data(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    for (size_t size = 0; size < f.b.size; size++)
        run_refuses(&f.run, &f.format, f.b.data, size, REFUSED_CODEC);
    put(&f.b, AT_SIZE, (uint32_t)f.b.size + 1);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "cut off");
    put(&f.b, AT_SIZE, UINT32_MAX);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "cut off");
    end(&f);
}

static void case_55_wrong_checksums(void **state)
{
    (void)state;
    for (int version = 3; version <= 6; version++) {
        fixture f;
        recipe r = plain;
        r.version = version;
        begin(&f, &r);
        f.b.data[f.b.size - 1] ^= 1;
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "checksum");
        fix_checksum(&f.b);
        uint8_t *out = run_decode(&f.run, &f.format, f.b.data, f.b.size);
        free(out);
        end(&f);
    }
}

static void case_55_versions(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    put(&f.b, AT_VERSION, 7);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED, "2.7");
    put(&f.b, AT_VERSION, 0);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    put(&f.b, AT_VERSION, UINT32_MAX);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    memcpy(f.b.data, "CntZImage ", 10);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED, "version 1");
    memcpy(f.b.data, "garbage...", 10);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
}

/* 94 bytes that stand for 64 MiB: right for a tile of that size, and for no other. */
static void case_55_constant_bombs(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 4,
                .depth = 1,
                .bands = 1,
                .width = 4096,
                .height = 4096,
                .pattern = CONSTANT};
    fixture f;
    begin(&f, &r);
    assert_true(f.b.size < 100);
    f.format.width = f.format.height = 256;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "4096 x 4096");
    end(&f);
}

/* Deflate or zstd may not bring out more than such a tile can need. */
static void case_55_bombs_of_deflate_and_zstd(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    blob zeros = {calloc(1, 50u << 20), 50u << 20};
    assert_non_null(zeros.data);
    blob packed[2] = {deflated(&zeros), zstd_packed(&zeros)};
    for (int i = 0; i < 2; i++) {
        f.format.lerc_compression = (uint16_t)(i + 1);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, packed[i].data, packed[i].size, REFUSED_CODEC);
        assert_true(alloc_hook_stats().peak_bytes < 65536);
        alloc_hook_remove();
        free(packed[i].data);
    }
    free(zeros.data);
    end(&f);
}

static void case_55_bands(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.bands = 2;
    begin(&f, &r);
    f.format.samples = 1;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "more bands");
    f.format.samples = 3;
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
    r.bands = 1;
    r.depth = 2;
    begin(&f, &r);
    f.format.samples = 3;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "values of a pixel");
    f.format.samples = 1;
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "values of a pixel");
    end(&f);
}

static void case_55_additional_compression_9(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    for (unsigned i = 3; i < 70000; i += 7333) {
        f.format.lerc_compression = (uint16_t)i;
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "additional");
    }
    end(&f);
}

/* A block that stores fewer numbers than it has pixels, or more: liblerc reads on after them. */
static void case_55_blocks_with_a_wrong_count_of_numbers(void **state)
{
    (void)state;
    fixture f;
    recipe r = {.type = TZ_LERC_INT16,
                .version = 4,
                .depth = 1,
                .bands = 1,
                .width = 8,
                .height = 8,
                .pattern = NOISY,
                .max_error = 0.5};
    begin(&f, &r);
    size_t block = AT_MASK + 4 + 4 + 1; /* after ranges and the way to store */
    assert_int_equal(f.b.data[block] & 3, 1);
    size_t count = block + 2 + (f.b.data[block] >> 6 ? 1 : 2); /* after offset and bits */
    assert_int_equal(f.b.data[count], 64);
    static const uint8_t counts[] = {0, 1, 63, 65, 255};
    for (size_t i = 0; i < sizeof counts; i++) {
        f.b.data[count] = counts[i];
        fix_checksum(&f.b);
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "numbers");
    }
    f.b.data[count] = 64;
    fix_checksum(&f.b);
    free(run_decode(&f.run, &f.format, f.b.data, f.b.size));
    end(&f);
}

/* Values that end too early, in every way to store them. */
static void case_55_values_cut_short(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.type = TZ_LERC_UINT8, .version = 4, .depth = 1, .pattern = SKEWED, .max_error = 0.5},
        {.type = TZ_LERC_UINT8, .version = 4, .depth = 3, .pattern = WIDE},
        {.type = TZ_LERC_INT16, .version = 4, .depth = 1, .pattern = NOISY, .max_error = 0.5},
        {.type = TZ_LERC_FLOAT, .version = 6, .depth = 1, .pattern = SMOOTH}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        recipe r = recipes[i];
        r.bands = 1;
        r.width = r.height = 64;
        begin(&f, &r);
        for (size_t size = f.b.size - 8; size > 110; size -= size / 9) {
            f.b.size = size;
            put(&f.b, AT_SIZE, (uint32_t)size);
            fix_checksum(&f.b);
            run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC,
                               "cannot be decoded");
        }
        end(&f);
    }
}

static void case_55_masks(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.mask = 1;
    begin(&f, &r);
    uint32_t stored = get(&f.b, AT_MASK);
    assert_true(stored > 4);
    static const uint32_t sizes[] = {0, 1, 2, UINT32_MAX, 0x7fffffff};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put(&f.b, AT_MASK, sizes[i]);
        fix_checksum(&f.b);
        run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "mask");
    }
    put(&f.b, AT_MASK, stored);
    f.b.data[AT_MASK + 4] ^= 0x40; /* a run that is too long or too short */
    fix_checksum(&f.b);
    run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC);
    end(&f);
}

/* The first of several bands has no mask before it, even when an earlier tile had one. */
static void case_55_a_mask_that_was_never_there(void **state)
{
    (void)state;
    fixture f;
    recipe r = plain;
    r.mask = 1;
    begin(&f, &r);
    uint8_t *out = run_decode(&f.run, &f.format, f.b.data, f.b.size);
    free(out);
    uint32_t stored = get(&f.b, AT_MASK);
    memmove(f.b.data + AT_MASK + 4, f.b.data + AT_MASK + 4 + stored,
            f.b.size - AT_MASK - 4 - stored);
    f.b.size -= stored;
    put(&f.b, AT_MASK, 0);
    put(&f.b, AT_SIZE, (uint32_t)f.b.size);
    fix_checksum(&f.b);
    run_refuses_saying(&f.run, &f.format, f.b.data, f.b.size, REFUSED_CODEC, "mask");
    end(&f);
}

static void values_that_mean_no_data_within_a_pixel_are_refused(void **state)
{
    (void)state;
    recipe r = plain;
    r.depth = 2;
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
    uint8_t *values = make_values(&r);
    unsigned char uses = 1;
    double nodata = -9999;
    tz_lerc_store(values, r.type, nodata);
    blob b = {run_alloc(1 << 20), 0};
    unsigned size = 0;
    assert_int_equal(lerc_encode_4D(values, r.type, 2, r.width, r.height, 1, 0, NULL, 0, b.data,
                                    1 << 20, &size, &uses, &nodata),
                     0);
    tz_tile_format format = format_of(&r);
    run_refuses_saying(&run, &format, b.data, size, REFUSED_UNSUPPORTED, "no data");
    free(values);
    free(b.data);
    run_close(&run);
}

static void tiles_that_lerc_cannot_hold(void **state)
{
    (void)state;
    static const uint16_t kinds[][2] = {{16, 3}, {64, 1}, {64, 2}, {12, 1}, {32, 5}, {64, 6}};
    fixture f;
    begin(&f, &plain);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        f.format.bits = kinds[i][0];
        f.format.sample_format = kinds[i][1];
        run_refuses(&f.run, &f.format, f.b.data, f.b.size, REFUSED_UNSUPPORTED);
    }
    end(&f);
}

static void bytes_after_the_blob_are_a_warning(void **state)
{
    (void)state;
    fixture f;
    begin(&f, &plain);
    f.b.data[f.b.size] = 0;
    free(run_warns(&f.run, &f.format, f.b.data, f.b.size + 1, "after the end"));
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------------------------ */

/* Bytes after the header changed, and the checksum with them. */
static unsigned decode_damaged(fixture *f, const blob *whole, unsigned rounds)
{
    unsigned decoded = 0;
    size_t row = tz_tile_row_bytes(&f->format);
    for (unsigned i = 0; i < rounds; i++) {
        uint8_t *outs[2];
        tz_result results[2];
        memcpy(f->b.data, whole->data, whole->size);
        for (unsigned k = 0; k <= i % 3; k++)
            f->b.data[42 + any_number() % (whole->size - 42)] ^= (uint8_t)(1 << any_number() % 8);
        fix_checksum(&f->b);
        for (int k = 0; k < 2; k++)
            results[k] = run_once(&f->run, &f->format, f->b.data, f->b.size, row,
                                  (uint8_t)(0x11 + k * 0xDD), &outs[k]);
        assert_int_equal(results[0], results[1]);
        if (results[0] == TZ_OK) {
            decoded++;
            assert_memory_equal(outs[0], outs[1], row * f->format.height);
        }
        free(outs[0]);
        free(outs[1]);
    }
    return decoded;
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.type = TZ_LERC_UINT8,
         .version = 4,
         .depth = 3,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5,
         .mask = 1},
        {.type = TZ_LERC_INT8,
         .version = 2,
         .depth = 1,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5},
        {.type = TZ_LERC_INT16,
         .version = 5,
         .depth = 2,
         .bands = 1,
         .pattern = SMOOTH,
         .max_error = 0.5},
        {.type = TZ_LERC_UINT16,
         .version = 3,
         .depth = 1,
         .bands = 1,
         .pattern = FEW_VALUES,
         .max_error = 0.5,
         .mask = 1},
        {.type = TZ_LERC_FLOAT,
         .version = 2,
         .depth = 1,
         .bands = 1,
         .pattern = NOISY,
         .max_error = 0.1,
         .mask = 1},
        {.type = TZ_LERC_FLOAT, .version = 6, .depth = 1, .bands = 1, .pattern = SMOOTH},
        {.type = TZ_LERC_DOUBLE, .version = 6, .depth = 2, .bands = 1, .pattern = SMOOTH},
        {.type = TZ_LERC_FLOAT, .version = 5, .depth = 1, .bands = 3, .pattern = NOISY, .mask = 2}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        recipe r = recipes[i];
        r.width = 40;
        r.height = 33;
        begin(&f, &r);
        blob whole = {run_alloc(f.b.size), f.b.size};
        memcpy(whole.data, f.b.data, f.b.size);
        uint8_t *expected = reference(&r, &whole);
        unsigned decoded = decode_damaged(&f, &whole, 3000);
        assert_true(decoded > 0);
        uint8_t *out = run_decode(&f.run, &f.format, whole.data, whole.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        free(out);
        free(expected);
        free(whole.data);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_55_rows_columns_values_and_type),
        cmocka_unit_test(case_55_a_blob_larger_than_the_data),
        cmocka_unit_test(case_55_wrong_checksums),
        cmocka_unit_test(case_55_versions),
        cmocka_unit_test(case_55_constant_bombs),
        cmocka_unit_test(case_55_bombs_of_deflate_and_zstd),
        cmocka_unit_test(case_55_bands),
        cmocka_unit_test(case_55_additional_compression_9),
        cmocka_unit_test(case_55_blocks_with_a_wrong_count_of_numbers),
        cmocka_unit_test(case_55_values_cut_short),
        cmocka_unit_test(case_55_masks),
        cmocka_unit_test(case_55_a_mask_that_was_never_there),
        cmocka_unit_test(values_that_mean_no_data_within_a_pixel_are_refused),
        cmocka_unit_test(tiles_that_lerc_cannot_hold),
        cmocka_unit_test(bytes_after_the_blob_are_a_warning),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
