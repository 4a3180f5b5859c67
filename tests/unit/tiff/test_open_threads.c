/* SPDX-License-Identifier: Apache-2.0
 * One handle in many threads at once: every answer is the one that a single thread gets. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/check.h"

enum { THREADS = 8, ROUNDS = 60 };

typedef struct shared {
    const tz_file *file;
    const tb *b;
    int image, overview, mask;
    atomic_int wrong; /* cmocka's checks belong to the main thread */
} shared;

typedef struct worker {
    shared *all;
    unsigned number;
} worker;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            atomic_store(&all->wrong, __LINE__);                                                   \
    } while (0)

static void ask_tiles(shared *all, uint64_t seed)
{
    tz_tile_span spans[40];
    tz_error err;
    uint64_t bytes = 0, sparse = 1;
    uint64_t first = seed * 37 % 1500;
    EXPECT(tz_file_get_tile_spans(spans, all->file, 0, false, first, 40, &err) == TZ_OK);
    for (uint64_t i = 0; i < 40; i++)
        EXPECT(spans[i].offset == tb_tile_at(all->b, all->image, first + i));
    EXPECT(tz_file_locate_tile(spans, all->file, 1, false, seed % 400, &err) == TZ_OK);
    EXPECT(spans[0].offset == tb_tile_at(all->b, all->overview, seed % 400));
    EXPECT(tz_file_locate_tile(spans, all->file, 0, true, seed % 1600, &err) == TZ_OK);
    EXPECT(spans[0].offset == tb_tile_at(all->b, all->mask, seed % 1600));
    EXPECT(tz_file_locate_tile(spans, all->file, 0, false, 1600 + seed, &err) == TZ_ERR_ARG);
    EXPECT(tz_level_stored_size(&bytes, &sparse, all->file, 0, false, NULL, &err) == TZ_OK);
    EXPECT(bytes == 1600 * 16 && sparse == 0);
}

static void ask_tags(shared *all, uint64_t seed)
{
    const tz_info *info = tz_file_get_info(all->file);
    char text[100] = "";
    for (uint32_t i = 0; i < (uint32_t)tz_file_get_level(all->file, 0)->tag_count; i++) {
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        EXPECT(tz_file_get_tag(&tag, all->file, tz_file_get_level(all->file, 0)->ifd_offset, i,
                               &err) == TZ_OK);
        if (tag.tag == 65000) {
            EXPECT(tz_tag_read(text, sizeof text, all->file, &tag, &err) == TZ_OK);
            EXPECT(strcmp(text, "a text for everyone") == 0);
        }
    }
    uint32_t problems = 0;
    EXPECT(tz_file_get_band(all->file, (uint32_t)(seed % 3))->color ==
           (tz_color)(TZ_COLOR_RED + seed % 3));
    EXPECT(tz_file_get_cog_problems(&problems, all->file, NULL) == TZ_OK);
    EXPECT(info->geo->epsg == 32633 && info->level_count == 2);
}

static void *work(void *user)
{
    const worker *self = user;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        ask_tiles(self->all, round * THREADS + self->number);
        ask_tags(self->all, round + self->number);
    }
    return NULL;
}

static void use_from_threads(shared *all)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){all, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&all->wrong), 0);
}

static tb *build(unsigned format, shared *all)
{
    tb *b = tb_new(format);
    all->image = tb_image(
        b,
        &(tb_spec){.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .samples = 3});
    all->overview = tb_overview(b, all->image, 320, 320);
    all->mask = tb_mask(b, all->image);
    tb_georeference(b, all->image, 32633);
    tb_set_text(b, all->image, 65000, "a text for everyone");
    tb_finish(b);
    all->b = b;
    return b;
}

static void a_file_in_eight_threads(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE];
    check_path(path, "threads.tif");
    FORMATS(f)
    {
        shared all = {0};
        tz_file *file = NULL;
        tb *b = build(f, &all);
        tb_write_file(b, path);
        assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
        all.file = file;
        use_from_threads(&all);
        tz_close(file);
        tb_free(b);
    }
    check_remove(path);
}

static void memory_in_eight_threads(void **state)
{
    (void)state;
    FORMATS(f)
    {
        shared all = {0};
        tz_file *file = NULL;
        tb *b = build(f, &all);
        assert_int_equal(tz_open_memory(&file, b->data, b->size, NULL, NULL), TZ_OK);
        all.file = file;
        use_from_threads(&all);
        tz_close(file);
        tb_free(b);
    }
}

/* Opening shares nothing: good and bad files, each in its own thread. */
static void *open_and_close(void *user)
{
    const worker *self = user;
    shared *all = self->all;
    for (int round = 0; round < ROUNDS; round++) {
        tz_file *file = NULL;
        tz_error err;
        size_t size = self->number % 2 ? all->b->size : 40;
        tz_result result = tz_open_memory(&file, all->b->data, size, NULL, &err);
        EXPECT(result == (self->number % 2 ? TZ_OK : TZ_ERR_FORMAT));
        EXPECT(self->number % 2 || err.cause == TZ_CAUSE_TRUNCATED);
        tz_close(file);
    }
    return NULL;
}

static void opening_in_eight_threads(void **state)
{
    (void)state;
    shared all = {0};
    tb *b = build(TB_CLASSIC, &all);
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){&all, i};
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&all.wrong), 0);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_in_eight_threads),
        CASE(memory_in_eight_threads),
        CASE(opening_in_eight_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
