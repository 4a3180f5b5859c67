/* SPDX-License-Identifier: Apache-2.0
 * The contract of all lossless encoders: every tile comes back, in no more bytes than the bound
 * says, and always the same ones, whatever the state has seen before, in memory that was announced.
 */
#include <pthread.h>

#include "support/codec/encode_run.h"

/* An encoder and its levels: a row of them that matter here, closed by LAST. */
enum { LAST = 1000, SLOW = 6 };
typedef struct encoder_levels {
    const char *name;
    int32_t levels[8];
    int32_t wrong[4];
    const char *reason; /* for wrong levels */
} encoder_levels;

static const encoder_levels table[] = {
    {"none", {0, LAST}, {LAST}, NULL},
    {"packbits", {0, LAST}, {LAST}, NULL},
    {"lzw", {0, LAST}, {LAST}, NULL},
    {"deflate",
     {0, TZ_EFFORT_FAST, 1, 12, LAST},
     {13, -2, INT32_MIN, LAST},
     "Deflate levels are 1 to 12, or fast"},
    {"lzma",
     {0, TZ_EFFORT_FAST, 9, LAST},
     {10, -2, INT32_MAX, LAST},
     "LZMA levels are 1 to 9, or fast"},
    {"lz4", {0, 2, 12, LAST}, {13, -1, LAST}, "LZ4 levels are 1 to 12"},
    {"zstd", {0, 1, 2, 22, LAST}, {23, -1, INT32_MAX, LAST}, "ZSTD levels are 1 to 22"},
};

static const tz_encoder *find_encoder(const char *name)
{
    for (size_t i = 0; i < TZ_CODEC_COUNT; i++)
        if (strcmp(tz_codecs[i].name, name) == 0)
            return tz_codecs[i].encoder;
    return NULL;
}

/* Calls once for every encoder of this build and every one of its levels. */
static void for_each_level(void (*call)(const tz_encoder *encoder, int32_t level))
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const tz_encoder *encoder = find_encoder(table[i].name);
        for (const int32_t *level = table[i].levels; encoder && *level != LAST; level++, count++)
            call(encoder, *level);
    }
    assert_true(count >= 3);
}

static void check_kind(encode_run *run, encode_kind kind)
{
    uint8_t *rows = encode_rows(kind, tz_tile_bytes(&run->format));
    encode_returns(run, rows);
    free(rows);
}

/* Tiles of one size in every kind of content. */
static void check_size(const tz_encoder *encoder, int32_t level, size_t width, size_t height)
{
    tz_tile_format format = encode_format(encoder, width, height);
    encode_run run;
    encode_open(&run, encoder, &format, level);
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++)
        check_kind(&run, kind);
    encode_close(&run);
}

static void check_small_sizes(const tz_encoder *encoder, int32_t level)
{
    static const size_t sizes[] = {1,  2,  3,  4,  5,   7,   8,   9,   15,  16,
                                   17, 31, 64, 65, 127, 129, 255, 257, 300, 599};
    for (size_t i = 0; i<sizeof sizes / sizeof sizes[0]; i += level> SLOW ? 3 : 1)
        check_size(encoder, level, sizes[i], 1 + i % 3);
}

static void small_tiles_come_back(void **state)
{
    (void)state;
    for_each_level(check_small_sizes);
}

static void check_large_sizes(const tz_encoder *encoder, int32_t level)
{
    check_size(encoder, level, 1021, level > SLOW ? 5 : 33);
    if (level > SLOW)
        return;
    tz_tile_format format = encode_format(encoder, 1024, 1024);
    encode_run run;
    encode_open(&run, encoder, &format, level);
    check_kind(&run, ENCODE_RUNS);
    encode_close(&run);
}

static void large_tiles_come_back(void **state)
{
    (void)state;
    for_each_level(check_large_sizes);
}

/* The last strip of an image has fewer rows than init was given. */
static void check_last_strip(const tz_encoder *encoder, int32_t level)
{
    tz_tile_format format = encode_format(encoder, 300, 50);
    encode_run run;
    encode_open(&run, encoder, &format, level);
    uint8_t *rows = encode_rows(ENCODE_RUNS, 300 * 50);
    for (uint32_t missing = 0; missing < 50; missing += 7) {
        run.format.height = 50 - missing;
        encode_returns(&run, rows);
    }
    free(rows);
    encode_close(&run);
}

static void a_last_strip_has_fewer_rows(void **state)
{
    (void)state;
    for_each_level(check_last_strip);
}

static tz_encode_options checked_choice(const tz_encoder *encoder, const tz_tile_format *format,
                                        int32_t level)
{
    tz_encode_options choice = {.level = level};
    bench b;
    bench_init(&b);
    assert_int_equal(tz_encoder_check(encoder, format, &choice, &b.ctx), TZ_OK);
    bench_deinit(&b);
    return choice;
}

static void check_no_memory(const tz_encoder *encoder, int32_t level)
{
    tz_tile_format format = encode_format(encoder, 100, 50);
    tz_encode_options choice = checked_choice(encoder, &format, level);
    uint8_t *rows = encode_rows(ENCODE_STEPS, 100 * 50);
    encode_without_memory(encoder, &format, &choice, rows);
    free(rows);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for_each_level(check_no_memory);
}

/* Memory of libraries is not counted here: see test_encode_memory.c. */
static void check_peak(const tz_encoder *encoder, int32_t level)
{
    static const size_t sides[] = {1, 64, 300};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        tz_tile_format format = encode_format(encoder, sides[i], sides[i]);
        tz_encode_options choice = checked_choice(encoder, &format, level);
        uint8_t *rows = encode_rows(ENCODE_PERIODIC, sides[i] * sides[i]);
        encode_run run;
        encoded tile;
        alloc_hook_install();
        assert_int_equal(encode_start(&run, encoder, &format, &choice), TZ_OK);
        assert_int_equal(encode_once(&run, rows, 0, &tile), TZ_OK);
        int64_t peak = alloc_hook_stats().peak_bytes;
        encode_close(&run);
        alloc_hook_remove();
        uint64_t announced = encoder->memory ? encoder->memory(&format, &choice) : 0;
        assert_true((uint64_t)peak <= announced);
        free(tile.bytes);
        free(rows);
    }
}

static void memory_is_what_was_announced(void **state)
{
    (void)state;
    for_each_level(check_peak);
}

/* Choices -------------------------------------------------------------------------------------- */

static void wrong_levels_are_named(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const tz_encoder *encoder = find_encoder(table[i].name);
        for (const int32_t *level = table[i].wrong; encoder && *level != LAST; level++) {
            tz_tile_format format = encode_format(encoder, 16, 16);
            tz_encode_options choice = {.level = *level};
            assert_int_equal(tz_encoder_check(encoder, &format, &choice, &b.ctx), TZ_ERR_ARG);
            assert_int_equal(b.err.cause, TZ_CAUSE_ARG);
            assert_non_null(strstr(b.err.message, table[i].reason));
        }
    }
    bench_deinit(&b);
}

/* Level 0 is the default, and gives its bytes. */
static void defaults_are_filled_in(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t level;
    } defaults[] = {{"deflate", 6}, {"zstd", 9}, {"lzma", 6}, {"lz4", 1}};
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const tz_encoder *encoder = find_encoder(defaults[i].name);
        if (!encoder)
            continue;
        tz_tile_format format = encode_format(encoder, 16, 16);
        tz_encode_options choice = {.level = 0};
        assert_int_equal(tz_encoder_check(encoder, &format, &choice, &b.ctx), TZ_OK);
        assert_int_equal(choice.level, defaults[i].level);
    }
    bench_deinit(&b);
}

static void every_encoder_is_found_by_each_of_its_numbers(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        if (!codec->encoder)
            continue;
        for (const tz_codec_info *info = codec->infos; info->name; info++) {
            for (int k = -1; k < 3 && (k < 0 || info->other_compressions[k] != 0); k++) {
                const uint16_t number = k < 0 ? info->compression : info->other_compressions[k];
                const tz_encoder *found = NULL;
                const tz_decoder *decoder = NULL;
                assert_int_equal(tz_encoder_find(number, &b.ctx, &found) == TZ_OK, info->can_write);
                assert_ptr_equal(found, info->can_write ? codec->encoder : NULL);
                assert_int_equal(tz_decoder_find(number, &b.ctx, &decoder), TZ_OK);
            }
        }
    }
    const tz_encoder *none = NULL;
    assert_int_equal(tz_encoder_find(4, &b.ctx, &none), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.err.message, "no encoder for compression 4"));
    assert_null(none);
    bench_deinit(&b);
}

/* Threads -------------------------------------------------------------------------------------- */

enum { THREADS = 3, TILES = 9, TILE = 8000 };

typedef struct thread_work {
    const tz_encoder *encoder;
    int32_t level;
    unsigned first; /* the tile to begin with */
    encoded tiles[TILES];
} thread_work;

static void *encode_all(void *opaque)
{
    thread_work *work = opaque;
    tz_tile_format format = encode_format(work->encoder, 200, TILE / 200);
    encode_run run;
    encode_open(&run, work->encoder, &format, work->level);
    for (unsigned i = 0; i < TILES; i++) {
        unsigned tile = (i + work->first) % TILES;
        uint8_t *rows = encode_rows((encode_kind)(tile % ENCODE_KINDS), TILE + tile);
        assert_int_equal(encode_once(&run, rows + tile, 0, &work->tiles[tile]), TZ_OK);
        free(rows);
    }
    encode_close(&run);
    return NULL;
}

static void check_threads(const tz_encoder *encoder, int32_t level)
{
    pthread_t threads[THREADS];
    thread_work work[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        work[i] = (thread_work){.encoder = encoder, .level = level, .first = 5 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, encode_all, &work[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned tile = 0; tile < TILES; tile++) {
        for (unsigned i = 1; i < THREADS; i++) {
            assert_int_equal(work[0].tiles[tile].size, work[i].tiles[tile].size);
            assert_memory_equal(work[0].tiles[tile].bytes, work[i].tiles[tile].bytes,
                                work[0].tiles[tile].size);
        }
    }
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned tile = 0; tile < TILES; tile++)
            free(work[i].tiles[tile].bytes);
}

static void all_threads_make_the_same_bytes(void **state)
{
    (void)state;
    for_each_level(check_threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tiles_come_back),
        cmocka_unit_test(large_tiles_come_back),
        cmocka_unit_test(a_last_strip_has_fewer_rows),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(memory_is_what_was_announced),
        cmocka_unit_test(wrong_levels_are_named),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(every_encoder_is_found_by_each_of_its_numbers),
        cmocka_unit_test(all_threads_make_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
