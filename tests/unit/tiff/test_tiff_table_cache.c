/* SPDX-License-Identifier: Apache-2.0
 * Pages of tile tables in a handle: the same answers, fewer reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/source.h"
#include "support/alloc_hook.h"
#include "tiff/tile_table.h"

/* A source whose bytes are known and whose reads are counted. */
enum { SIZE = 1000003 };

typedef struct counting {
    tz_source source;
    uint8_t *bytes;
    unsigned reads;
    unsigned fail; /* all reads from this one on; 0: none */
} counting;

static tz_result submit(tz_source *source, tz_request *request, tz_error *err)
{
    counting *c = (counting *)(void *)source;
    const tz_context ctx = {.err = err, .ifd = -1};
    c->reads++;
    if (c->fail && c->reads >= c->fail)
        return tz_fail(&ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_no_location(), "no");
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        assert_true(range->offset + range->size <= SIZE);
        memcpy(range->dst, c->bytes + range->offset, range->size);
    }
    return TZ_OK;
}

static tz_result wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source;
    (void)request;
    (void)err;
    return TZ_OK;
}

static counting *new_source(void)
{
    counting *c = calloc(1, sizeof *c);
    c->source =
        (tz_source){.struct_size = sizeof(tz_source), .size = SIZE, .submit = submit, .wait = wait};
    c->bytes = malloc(SIZE);
    for (uint32_t i = 0; i < SIZE; i++)
        c->bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    return c;
}

static void free_source(counting *c)
{
    free(c->bytes);
    free(c);
}

static const tz_context quiet = {.ifd = -1};

static void check(tz_table_cache *cache, counting *c, unsigned container, uint64_t offset,
                  size_t size)
{
    uint8_t found[64];
    assert_int_equal(
        tz_table_cache_read(cache, &c->source, SIZE, container, offset, size, found, &quiet),
        TZ_OK);
    assert_memory_equal(found, c->bytes + offset, size);
}

static void any_bytes_are_those_of_the_file(void **state)
{
    (void)state;
    counting *c = new_source();
    tz_table_cache cache;
    tz_table_cache_init(&cache);
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t size = 1 + random % 64;
        random = random * 1664525u + 1013904223u;
        /* mostly a few neighbouring pages, with their seams, and the very end */
        const uint64_t offset = i % 5 == 0   ? (random >> 8) % (SIZE - size)
                                : i % 7 == 0 ? SIZE - size
                                             : 500000 + (random >> 8) % 30000;
        check(&cache, c, 0, offset, size);
    }
    assert_true(c->reads < 10000);
    tz_table_cache_deinit(&cache);
    free_source(c);
}

static void a_page_is_read_once(void **state)
{
    (void)state;
    counting *c = new_source();
    tz_table_cache cache;
    tz_table_cache_init(&cache);
    for (int i = 0; i < 70; i++)
        check(&cache, c, 0, 8192, 8); /* the first few go to the file */
    const unsigned before = c->reads;
    for (int i = 0; i < 500; i++)
        check(&cache, c, 0, 8192 + (uint64_t)i * 8, 8);
    assert_int_equal(c->reads, before);
    tz_table_cache_deinit(&cache);
    free_source(c);
}

static void sources_of_one_handle_are_distinguished(void **state)
{
    (void)state;
    counting *a = new_source();
    counting *b = new_source();
    for (uint32_t i = 0; i < SIZE; i++)
        b->bytes[i] = (uint8_t)~a->bytes[i];
    tz_table_cache cache;
    tz_table_cache_init(&cache);
    for (int i = 0; i < 100; i++) {
        check(&cache, a, 0, 12345, 16);
        check(&cache, b, 1, 12345, 16);
    }
    tz_table_cache_deinit(&cache);
    free_source(b);
    free_source(a);
}

static void a_failed_read_is_an_error_and_leaves_no_page(void **state)
{
    (void)state;
    counting *c = new_source();
    tz_table_cache cache;
    tz_table_cache_init(&cache);
    for (int i = 0; i < 70; i++)
        check(&cache, c, 0, 0, 8);
    c->fail = 1;
    uint8_t found[8];
    for (int i = 0; i < 3; i++)
        assert_int_equal(tz_table_cache_read(&cache, &c->source, SIZE, 0, 70000, 8, found, &quiet),
                         TZ_ERR_IO);
    c->fail = 0;
    check(&cache, c, 0, 70000, 8);
    tz_table_cache_deinit(&cache);
    free_source(c);
}

static void without_memory_and_while_busy_the_file_is_read(void **state)
{
    (void)state;
    counting *c = new_source();
    tz_table_cache cache;
    tz_table_cache_init(&cache);
    alloc_hook_install();
    alloc_hook_fail_at(1, true);
    for (int i = 0; i < 100; i++)
        check(&cache, c, 0, 4090, 16);
    alloc_hook_remove();
    assert_int_equal(c->reads, 100);
    pthread_mutex_lock(&cache.lock);
    check(&cache, c, 0, 4090, 16);
    pthread_mutex_unlock(&cache.lock);
    assert_int_equal(c->reads, 101);
    tz_table_cache_deinit(&cache);
    free_source(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_are_those_of_the_file),
        cmocka_unit_test(a_page_is_read_once),
        cmocka_unit_test(sources_of_one_handle_are_distinguished),
        cmocka_unit_test(a_failed_read_is_an_error_and_leaves_no_page),
        cmocka_unit_test(without_memory_and_while_busy_the_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
