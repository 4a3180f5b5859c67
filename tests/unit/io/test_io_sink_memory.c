/* SPDX-License-Identifier: Apache-2.0
 * The memory sink: what it holds, when the caller gets it, and what happens without memory. Also
 * what the functions of a sink do when the sink has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "io/sink.h"
#include "support/alloc_hook.h"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

static tz_sink *opened(tz_memory *into)
{
    tz_sink *sink = NULL;
    assert_int_equal(tz_sink_open_memory(&sink, into, &ctx), TZ_OK);
    return sink;
}

static tz_result put(tz_sink *sink, uint64_t offset, const char *text)
{
    tz_bytes piece = {text, strlen(text)};
    return tz_sink_write(sink, offset, &piece, 1, &ctx);
}

static void what_is_written_comes_out_at_commit_with_zeros_in_the_gaps(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    const tz_bytes pieces[] = {{"ab", 2}, {NULL, 0}, {"cde", 3}};
    assert_int_equal(tz_sink_write(sink, 16, pieces, 3, &ctx), TZ_OK);
    assert_int_equal(put(sink, 24, "far"), TZ_OK);
    assert_int_equal(put(sink, 0, "head"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 30, &ctx), TZ_OK);
    assert_null(memory.data); /* nothing to see before commit */
    char back[3];
    assert_int_equal(tz_sink_read(sink, 24, back, 3, &ctx), TZ_OK);
    assert_memory_equal(back, "far", 3);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(memory.size, 30);
    assert_memory_equal(memory.data, "head\0\0\0\0\0\0\0\0\0\0\0\0abcde\0\0\0far\0\0\0", 30);
    tz_memory_free(&memory);
    assert_null(memory.data);
    assert_int_equal(memory.size, 0);
    tz_memory_free(&memory);
    tz_memory_free(NULL);
}

static void the_size_is_that_of_sync(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    assert_int_equal(put(sink, 0, "too much"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 3, &ctx), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 5, &ctx), TZ_OK); /* what was cut off does not come back */
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(memory.size, 5);
    assert_memory_equal(memory.data, "too\0\0", 5);
    tz_memory_free(&memory);
}

static void nothing_written_is_an_empty_memory(void **state)
{
    (void)state;
    tz_memory memory = {&memory, 7};
    tz_sink *sink = opened(&memory);
    assert_int_equal(tz_sink_write(sink, 100, NULL, 0, &ctx), TZ_OK);
    assert_int_equal(tz_sink_write(sink, 100, &(tz_bytes){NULL, 0}, 1, &ctx), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 0, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(memory.size, 0);
    tz_memory_free(&memory);
}

static void without_commit_the_caller_gets_nothing(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    assert_int_equal(put(sink, 0, "lost"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 4, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_null(memory.data);
}

static void after_commit_nothing_more_can_be_done(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    char byte;
    assert_int_equal(put(sink, 0, "once"), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
    assert_int_equal(put(sink, 0, "more"), TZ_ERR_ARG);
    assert_int_equal(tz_sink_sync(sink, 1, &ctx), TZ_ERR_ARG);
    assert_int_equal(tz_sink_read(sink, 0, &byte, 1, &ctx), TZ_ERR_ARG);
    tz_sink_close(sink);
    assert_memory_equal(memory.data, "once", 4);
    tz_memory_free(&memory);
}

static void reading_back_more_than_was_written_is_an_error(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    char bytes[8];
    assert_int_equal(put(sink, 0, "four"), TZ_OK);
    assert_int_equal(tz_sink_read(sink, 4, bytes, 0, &ctx), TZ_OK);
    assert_int_equal(tz_sink_read(sink, 2, bytes, 3, &ctx), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(err.expected, 3);
    assert_int_equal(err.found, 2);
    assert_int_equal(tz_sink_read(sink, UINT64_MAX, bytes, 1, &ctx), TZ_ERR_IO);
    tz_sink_close(sink);
}

static void what_does_not_fit_into_memory_is_nomem(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    assert_int_equal(put(sink, UINT64_MAX, "x"), TZ_ERR_NOMEM);
    assert_int_equal(put(sink, UINT64_MAX - 1, "x"), TZ_ERR_NOMEM);
    assert_int_equal(put(sink, (uint64_t)PTRDIFF_MAX, "x"), TZ_ERR_NOMEM);
    assert_int_equal(tz_sink_sync(sink, UINT64_MAX, &ctx), TZ_ERR_NOMEM);
    assert_int_equal(put(sink, 0, "as before"), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(memory.size, 9);
    tz_memory_free(&memory);
}

static void growing_byte_by_byte_takes_few_allocations(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    alloc_hook_install();
    tz_memory memory = {0};
    tz_sink *sink = opened(&memory);
    for (uint64_t i = 0; i < SIZE; i++) {
        unsigned char byte = (unsigned char)(i * 7);
        tz_bytes piece = {&byte, 1};
        assert_int_equal(tz_sink_write(sink, i, &piece, 1, &ctx), TZ_OK);
    }
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(alloc_hook_stats().allocations < 20);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(((unsigned char *)memory.data)[i], (unsigned char)(i * 7));
    tz_memory_free(&memory);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
}

static tz_result write_in_steps(tz_sink *sink)
{
    static const char block[50000];
    tz_bytes piece = {block, sizeof block};
    for (uint64_t i = 0; i < 8; i++)
        TZ_TRY(tz_sink_write(sink, i * sizeof block, &piece, 1, &ctx));
    TZ_TRY(tz_sink_sync(sink, 8 * sizeof block, &ctx));
    return tz_sink_commit(sink, &ctx);
}

static tz_result write_memory_file(tz_memory *memory)
{
    tz_sink *sink = NULL;
    TZ_TRY(tz_sink_open_memory(&sink, memory, &ctx));
    tz_result result = write_in_steps(sink);
    tz_sink_close(sink);
    return result;
}

/* Only the last allocation, which makes the block as small as it can be, may fail unnoticed. */
static void every_failing_allocation_is_nomem_and_nothing_leaks(void **state)
{
    (void)state;
    uint64_t borne = 0;
    for (uint64_t n = 1;; n++) {
        tz_memory memory = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = write_memory_file(&memory);
        uint64_t failures = alloc_hook_stats().failures;
        if (result != TZ_OK) {
            assert_int_equal(result, TZ_ERR_NOMEM);
            assert_null(memory.data);
        } else {
            borne += failures;
            assert_int_equal(memory.size, 400000);
        }
        tz_memory_free(&memory);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (failures == 0)
            break;
    }
    assert_int_equal(borne, 1);
}

static void no_memory_to_fill_is_a_mistake_of_the_caller(void **state)
{
    (void)state;
    tz_sink *sink = NULL;
    assert_int_equal(tz_sink_open_memory(&sink, NULL, &ctx), TZ_ERR_ARG);
    assert_null(sink);
}

/* ---------------------------------------------------------------------------------------------
 * Sinks of callers
 * ------------------------------------------------------------------------------------------ */

static void a_sink_without_functions_does_nothing(void **state)
{
    (void)state;
    tz_sink sink = TZ_SINK_INIT;
    char byte = 7;
    assert_int_equal(put(&sink, 0, "x"), TZ_OK);
    assert_int_equal(tz_sink_read(&sink, 0, &byte, 1, &ctx), TZ_OK);
    assert_int_equal(byte, 7);
    assert_int_equal(tz_sink_sync(&sink, 1, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(&sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_free_space(&sink), TZ_NO_VALUE);
    tz_sink_close(&sink);
    tz_sink_close(NULL);
}

static tz_result silent_commit(tz_sink *sink, tz_error *out)
{
    (void)sink, (void)out;
    return TZ_ERR_CANCELLED;
}

static tz_result spoken_commit(tz_sink *sink, tz_error *out)
{
    (void)sink;
    return tz_error_set(out, TZ_ERR_LIMIT, TZ_CAUSE_REMOTE, 5, "the bucket is full");
}

static void errors_get_the_name_and_a_text_where_there_is_none(void **state)
{
    (void)state;
    tz_sink sink = {.struct_size = sizeof sink, .commit = silent_commit};
    assert_int_equal(tz_sink_commit(&sink, &ctx), TZ_ERR_CANCELLED);
    assert_int_equal(err.result, TZ_ERR_CANCELLED);
    assert_string_equal(err.message, "n: the sink failed");
    sink.commit = spoken_commit;
    assert_int_equal(tz_sink_commit(&sink, &ctx), TZ_ERR_LIMIT);
    assert_int_equal(err.cause, TZ_CAUSE_REMOTE);
    assert_int_equal(err.offset, 5);
    assert_non_null(strstr(err.message, "n: the bucket is full"));
    tz_context deaf = {.ifd = -1};
    assert_int_equal(tz_sink_commit(&sink, &deaf), TZ_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_comes_out_at_commit_with_zeros_in_the_gaps),
        cmocka_unit_test(the_size_is_that_of_sync),
        cmocka_unit_test(nothing_written_is_an_empty_memory),
        cmocka_unit_test(without_commit_the_caller_gets_nothing),
        cmocka_unit_test(after_commit_nothing_more_can_be_done),
        cmocka_unit_test(reading_back_more_than_was_written_is_an_error),
        cmocka_unit_test(what_does_not_fit_into_memory_is_nomem),
        cmocka_unit_test(growing_byte_by_byte_takes_few_allocations),
        cmocka_unit_test(every_failing_allocation_is_nomem_and_nothing_leaks),
        cmocka_unit_test(no_memory_to_fill_is_a_mistake_of_the_caller),
        cmocka_unit_test(a_sink_without_functions_does_nothing),
        cmocka_unit_test(errors_get_the_name_and_a_text_where_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
