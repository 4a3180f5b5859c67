/* SPDX-License-Identifier: Apache-2.0
 * Memory that libraries take by themselves: it is what the encoders announce, and it may run out.
 * The linker puts these functions in front of the libraries': --wrap=libdeflate_alloc_compressor
 * --wrap=ZSTD_createCCtx --wrap=ZSTD_compress2. */
#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "support/codec/encode_run.h"

static bool no_memory;

/* Shared libraries that use libdeflate or libzstd themselves must find them too. */
#define SEEN_BY_ALL __attribute__((visibility("default")))

struct libdeflate_compressor *__real_libdeflate_alloc_compressor(int level);
SEEN_BY_ALL struct libdeflate_compressor *__wrap_libdeflate_alloc_compressor(int level);
ZSTD_CCtx *__real_ZSTD_createCCtx(void);
SEEN_BY_ALL ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
size_t __real_ZSTD_compress2(ZSTD_CCtx *context, void *out, size_t room, const void *in,
                             size_t size);
SEEN_BY_ALL size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *out, size_t room, const void *in,
                                         size_t size);

struct libdeflate_compressor *__wrap_libdeflate_alloc_compressor(int level)
{
    return no_memory ? NULL : __real_libdeflate_alloc_compressor(level);
}

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
    return no_memory ? NULL : __real_ZSTD_createCCtx();
}

size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *out, size_t room, const void *in,
                             size_t size)
{
    return no_memory ? (size_t)0 - ZSTD_error_memory_allocation
                     : __real_ZSTD_compress2(context, out, room, in, size);
}

/* Bytes that libdeflate allocates. */
static size_t taken;

static void *count_alloc(size_t size)
{
    taken += size;
    return malloc(size);
}

/* The announcement holds, and is not much more than what is taken. */
static void check_announced(const encode_run *run, size_t taken_bytes)
{
    uint64_t announced = run->encoder->memory(&run->format, &run->choice);
    assert_true(taken_bytes <= announced);
    assert_true(announced <= 3 * (uint64_t)taken_bytes + (256 << 10));
}

static void libdeflate_takes_what_was_announced(void **state)
{
    (void)state;
    tz_tile_format format = encode_format(&tz_encoder_deflate, 16, 16);
    libdeflate_set_memory_allocator(count_alloc, free);
    for (int32_t level = TZ_EFFORT_FAST; level <= 12; level++) {
        encode_run run;
        taken = 0;
        alloc_hook_install(); /* or it comes from here, in versions that can */
        encode_open(&run, &tz_encoder_deflate, &format, level);
        check_announced(&run, taken + (size_t)alloc_hook_stats().peak_bytes);
        encode_close(&run);
        alloc_hook_remove();
    }
    libdeflate_set_memory_allocator(malloc, free);
}

static void libzstd_takes_what_was_announced(void **state)
{
    (void)state;
    for (size_t side = 16; side <= 2048; side *= 4) {
        tz_tile_format format = encode_format(&tz_encoder_zstd, side, side);
        uint8_t *rows = encode_rows(ENCODE_PERIODIC, side * side);
        for (int32_t level = 1; level <= 22; level++) {
            encode_run run;
            encoded tile;
            encode_open(&run, &tz_encoder_zstd, &format, level);
            assert_int_equal(encode_once(&run, rows, 0, &tile), TZ_OK);
            ZSTD_CCtx *const *context = run.state; /* its only member */
            check_announced(&run, ZSTD_sizeof_CCtx(*context));
            free(tile.bytes);
            encode_close(&run);
        }
        free(rows);
    }
}

static void check_init_fails(const tz_encoder *encoder, const char *text)
{
    tz_tile_format format = encode_format(encoder, 16, 16);
    tz_encode_options choice = {.level = 1};
    encode_run run;
    no_memory = true;
    alloc_hook_install();
    alloc_hook_fail_at(1, true);
    tz_result result = encode_start(&run, encoder, &format, &choice);
    alloc_hook_remove();
    no_memory = false;
    assert_int_equal(result, TZ_ERR_NOMEM);
    assert_int_equal(run.bench.err.cause, TZ_CAUSE_NOMEM);
    assert_non_null(strstr(run.bench.err.message, text));
    encode_close(&run);
}

static void contexts_may_find_no_memory(void **state)
{
    (void)state;
    check_init_fails(&tz_encoder_deflate, "libdeflate");
    check_init_fails(&tz_encoder_zstd, "ZSTD");
}

static void libzstd_may_find_no_memory_for_a_tile(void **state)
{
    (void)state;
    tz_tile_format format = encode_format(&tz_encoder_zstd, 16, 16);
    uint8_t *rows = encode_rows(ENCODE_NOISE, 256);
    encode_run run;
    encoded tile;
    encode_open(&run, &tz_encoder_zstd, &format, 5);
    no_memory = true;
    assert_int_equal(encode_once(&run, rows, 0, &tile), TZ_ERR_NOMEM);
    no_memory = false;
    assert_int_equal(run.bench.err.tile, 7);
    assert_non_null(strstr(run.bench.err.message, "ZSTD at level 5"));
    free(tile.bytes);
    encode_returns(&run, rows);
    encode_close(&run);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libdeflate_takes_what_was_announced),
        cmocka_unit_test(libzstd_takes_what_was_announced),
        cmocka_unit_test(contexts_may_find_no_memory),
        cmocka_unit_test(libzstd_may_find_no_memory_for_a_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
