/* SPDX-License-Identifier: Apache-2.0
 * Room at the front of a sink: whichever way it is made, what was written is found that much
 * further up, gaps are zero, and a failure of any call ends the write without a trace. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/sink.h"
#include "support/alloc_hook.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

enum { MIB = 1 << 20 };

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

/* ---------------------------------------------------------------------------------------------
 * Ways of making room
 * ------------------------------------------------------------------------------------------ */

typedef struct way {
    const char *title;
    bool memory;
    bool no_insert;
    bool no_copy;
    size_t most; /* bytes that one call takes */
} way;

static const way ways[] = {
    {.title = "memory", .memory = true},
    {.title = "by the file system"},
    {.title = "by copies", .no_insert = true},
    {.title = "by short copies", .no_insert = true, .most = 500000},
    {.title = "through a buffer", .no_insert = true, .no_copy = true},
    {.title = "in short steps", .no_insert = true, .no_copy = true, .most = 400001},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static int inserts, copies, reads, write_backs;

static void count_calls(const char *call)
{
    inserts += strcmp(call, "insert_range") == 0;
    copies += strcmp(call, "copy_range") == 0;
    reads += strcmp(call, "pread") == 0;
    write_backs += strcmp(call, "write_back") == 0;
}

static void prepare(const way *how)
{
    sink_fault_install();
    fault.no_disk = true;
    fault.no_insert = how->no_insert;
    fault.no_copy = how->no_copy;
    fault.most_written = fault.most_read = how->most;
    fault.before = count_calls;
    inserts = copies = reads = write_backs = 0;
}

static tz_sink *opened(const way *how, tz_memory *memory)
{
    tz_sink *sink = NULL;
    if (!how->memory)
        return sink_job_open("file", false);
    assert_int_equal(tz_sink_open_memory(&sink, memory, &ctx), TZ_OK);
    return sink;
}

static tz_result put(tz_sink *sink, uint64_t offset, const void *data, size_t size)
{
    tz_bytes piece = {data, size};
    return tz_sink_write(sink, offset, &piece, 1, &ctx);
}

/* ---------------------------------------------------------------------------------------------
 * What is written
 * ------------------------------------------------------------------------------------------ */

/* A file of size bytes with a gap in it, that is moved up by room bytes. */
typedef struct job {
    size_t size;
    size_t gap, gap_end;
    size_t room;
} job;

/* Returns the bytes that the file should hold in the end. */
static unsigned char *expected_of(const job *what)
{
    unsigned char *bytes = calloc(what->size + what->room + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < what->size + what->room; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251 + i / 65521 + 1);
    memset(bytes + what->room + what->gap, 0, what->gap_end - what->gap);
    return bytes;
}

static tz_result write_and_insert(tz_sink *sink, const job *what, const unsigned char *bytes)
{
    const unsigned char *data = bytes + what->room;
    TZ_TRY(put(sink, 0, data, what->gap));
    TZ_TRY(put(sink, what->gap_end, data + what->gap_end, what->size - what->gap_end));
    TZ_TRY(tz_sink_insert(sink, what->room, &ctx));
    TZ_TRY(put(sink, 16, bytes + 16, what->room - 16));
    return put(sink, 0, bytes, 16);
}

static tz_result write_all(tz_sink *sink, const job *what, const unsigned char *bytes)
{
    TZ_TRY(write_and_insert(sink, what, bytes));
    TZ_TRY(tz_sink_sync(sink, what->size + what->room, &ctx));
    return tz_sink_commit(sink, &ctx);
}

static void check_job(const way *how, const job *what)
{
    tz_memory memory = {0};
    unsigned char *bytes = expected_of(what);
    prepare(how);
    tz_sink *sink = opened(how, &memory);
    tz_result result = write_all(sink, what, bytes);
    tz_sink_close(sink);
    if (result != TZ_OK)
        fail_msg("%s, %zu by %zu: %s", how->title, what->size, what->room, err.message);
    bool same = how->memory ? memory.size == what->size + what->room &&
                                  memcmp(memory.data, bytes, memory.size) == 0
                            : scratch_holds("file", bytes, what->size + what->room);
    if (!same)
        fail_msg("%s, %zu by %zu: other bytes", how->title, what->size, what->room);
    tz_memory_free(&memory);
    free(bytes);
}

static void what_was_written_is_found_further_up(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,      1,       15,  4095,    4096,       4097,
                                   100000, MIB - 1, MIB, MIB + 1, 3 * MIB + 5};
    static const size_t rooms[] = {4096, 65536, MIB, 2 * MIB + 4096};
    for (size_t i = 0; i < WAYS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            for (size_t n = 0; n < sizeof rooms / sizeof rooms[0]; n++)
                check_job(&ways[i], &(job){.size = sizes[k], .room = rooms[n]});
}

static void gaps_that_nobody_wrote_are_zero_further_up(void **state)
{
    (void)state;
    static const job jobs[] = {
        {.size = 20000, .gap = 0, .gap_end = 16, .room = 4096},
        {.size = 20000, .gap = 5000, .gap_end = 19999, .room = 4096},
        {.size = 20000, .gap = 100, .gap_end = 12000, .room = 65536},
        {.size = 3 * MIB, .gap = MIB - 1, .gap_end = 2 * MIB + 77, .room = 8192},
        {.size = 3 * MIB, .gap = 0, .gap_end = 2 * MIB, .room = MIB},
        {.size = 3 * MIB, .gap = 4096, .gap_end = 3 * MIB - 1, .room = 4 * MIB},
    };
    for (size_t i = 0; i < WAYS; i++)
        for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++)
            check_job(&ways[i], &jobs[k]);
}

/* Old contents of memory must not get into a file. */
static void in_memory_the_room_is_zero(void **state)
{
    (void)state;
    static const unsigned char zeros[8 * 4096];
    static unsigned char back[8 * 4096];
    tz_memory memory = {0};
    tz_sink *sink = opened(&ways[0], &memory);
    assert_int_equal(put(sink, 0, "abc", 3), TZ_OK);
    assert_int_equal(tz_sink_insert(sink, sizeof back, &ctx), TZ_OK);
    assert_int_equal(tz_sink_read(sink, 0, back, sizeof back, &ctx), TZ_OK);
    assert_memory_equal(back, zeros, sizeof back);
    tz_sink_close(sink);
}

static void room_can_be_made_more_than_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        tz_memory memory = {0};
        unsigned char back[4];
        prepare(&ways[i]);
        tz_sink *sink = opened(&ways[i], &memory);
        assert_int_equal(put(sink, 0, "last", 4), TZ_OK);
        assert_int_equal(tz_sink_insert(sink, 8192, &ctx), TZ_OK);
        assert_int_equal(put(sink, 0, "mid", 4), TZ_OK);
        assert_int_equal(tz_sink_insert(sink, 0, &ctx), TZ_OK);
        assert_int_equal(tz_sink_insert(sink, 2 * MIB, &ctx), TZ_OK);
        assert_int_equal(tz_sink_read(sink, 2 * MIB, back, 4, &ctx), TZ_OK);
        assert_memory_equal(back, "mid", 4);
        assert_int_equal(tz_sink_read(sink, 2 * MIB + 8192, back, 4, &ctx), TZ_OK);
        assert_memory_equal(back, "last", 4);
        assert_int_equal(tz_sink_read(sink, 2 * MIB + 8193, back, 4, &ctx), TZ_ERR_IO);
        tz_sink_close(sink);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Which way is taken
 * ------------------------------------------------------------------------------------------ */

static const job large = {.size = 3 * MIB + 100, .room = MIB};
static const job small_step = {.size = 3 * MIB + 100, .room = 4096};

static void the_first_way_that_the_system_knows_is_taken(void **state)
{
    (void)state;
    check_job(&ways[2], &large);
    assert_true(inserts == 1 && copies == 4 &&
                reads == 0); /* the odd end first, then whole steps */
    check_job(&ways[4], &large);
    assert_true(inserts == 1 && copies == 1 && reads == 13);
    check_job(&ways[2], &small_step); /* 769 copies would be too many */
    assert_true(inserts == 1 && copies == 0 && reads == 13);
    check_job(&ways[4], &(job){.size = 0, .room = 4096}); /* nothing is there to move */
    assert_true(inserts == 0 && copies == 0 && reads == 0);
}

static void whatever_says_that_it_cannot_is_followed_by_the_next_way(void **state)
{
    (void)state;
    static const int errors[] = {EOPNOTSUPP, EINVAL, ENOSYS, EPERM, EXDEV};
    unsigned char *bytes = expected_of(&large);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (int n = 1; n <= 11; n++) { /* copying may stop at any step, and within */
            prepare(&ways[1]);
            tz_sink *sink = sink_job_open("file", false);
            sink_fault_fail(n == 1 ? "insert_range" : "copy_range", n == 1 ? 1 : n - 1, errors[i]);
            fault.no_insert = true;
            fault.most_written = 400000;
            assert_int_equal(write_all(sink, &large, bytes), TZ_OK);
            assert_int_equal(fault.failures, 1);
            tz_sink_close(sink);
            assert_true(scratch_holds("file", bytes, large.size + large.room));
        }
    }
    free(bytes);
}

static void the_disk_begins_with_the_front_as_it_did_with_the_rest(void **state)
{
    (void)state;
    const job what = {.size = 9 * MIB, .room = 17 * MIB};
    unsigned char *bytes = expected_of(&what);
    for (size_t i = 1; i < WAYS; i++) {
        prepare(&ways[i]);
        tz_sink *sink = sink_job_open("file", false);
        assert_int_equal(put(sink, 0, bytes, what.size), TZ_OK);
        assert_int_equal(write_backs, 1);
        assert_int_equal(tz_sink_insert(sink, what.room, &ctx), TZ_OK);
        assert_int_equal(write_backs, 2);
        for (size_t at = 0; at < what.room; at += MIB)
            assert_int_equal(put(sink, at, bytes + at, MIB), TZ_OK);
        assert_int_equal(write_backs, 4);
        tz_sink_close(sink);
    }
    free(bytes);
}

static void after_room_was_made_the_file_is_synced_again(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("file", false);
    sink_fault_fail("fsync", 0, 0);
    assert_int_equal(put(sink, 0, "abc", 3), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 3, &ctx), TZ_OK);
    assert_int_equal(tz_sink_insert(sink, 4096, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(fault.calls, 2);
    tz_sink_close(sink);
}

/* ---------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------ */

/* Writes until calls begin to fail. After a failure the sink can only be closed. */
static tz_result insert_with_failure(const way *how, const job *what, const unsigned char *bytes,
                                     const char *call, int n, int error_number)
{
    prepare(how);
    size_t open_files = scratch_open_files();
    tz_sink *sink = sink_job_open("file", false);
    assert_int_equal(put(sink, 0, bytes + what->room, what->size), TZ_OK);
    sink_fault_fail(call, n, error_number);
    tz_result result = tz_sink_insert(sink, what->room, &ctx);
    fault.fail_at = 0;
    if (result != TZ_OK) {
        assert_int_equal(put(sink, 0, "x", 1), TZ_ERR_ARG);
        assert_int_equal(tz_sink_insert(sink, 4096, &ctx), TZ_ERR_ARG);
        assert_int_equal(tz_sink_sync(sink, 1, &ctx), TZ_ERR_ARG);
        assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
    } else {
        assert_int_equal(put(sink, 0, bytes, what->room), TZ_OK);
        assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    }
    tz_sink_close(sink);
    assert_int_equal(scratch_open_files(), open_files);
    assert_null(scratch_other_than("file"));
    return result;
}

static bool is_bearable(const char *call)
{
    return strcmp(call, "write_back") == 0 || strcmp(call, "free_space") == 0;
}

static void each_call_fails_in_turn(const way *how, const job *what, int error_number)
{
    unsigned char *bytes = expected_of(what);
    for (int n = 1;; n++) {
        sink_job_make_old("file");
        err = (tz_error){.result = TZ_OK};
        tz_result result = insert_with_failure(how, what, bytes, NULL, n, error_number);
        bool borne = error_number == EINTR || fault.failures == 0 || is_bearable(fault.failed);
        if ((result == TZ_OK) != borne)
            fail_msg("%s: call %d, %s: %s", how->title, n, fault.failed, err.message);
        assert_true(result == TZ_OK ? scratch_holds("file", bytes, what->size + what->room)
                                    : sink_job_is_old("file"));
        if (fault.failures == 0)
            break;
    }
    free(bytes);
}

static void every_call_that_fails_ends_the_write(void **state)
{
    (void)state;
    static const int errors[] = {EIO, ENOSPC, EINTR};
    for (size_t i = 1; i < WAYS; i++)
        for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
            each_call_fails_in_turn(&ways[i], &large, errors[k]);
            each_call_fails_in_turn(&ways[i], &small_step, errors[k]);
        }
}

/* Stops at a call, if it comes to that. */
typedef struct stopper {
    uint64_t calls, stop, done;
} stopper;

static bool stop_at(void *user, uint64_t done, uint64_t total)
{
    stopper *s = user;
    assert_int_equal(total, large.size);
    assert_true(s->calls == 0 ? done == 0 : done >= s->done && done < total);
    s->done = done;
    return ++s->calls != s->stop;
}

/* Each step comes after a look at progress; after the last of them nothing is moved. */
static void moving_bytes_can_be_cancelled(void **state)
{
    (void)state;
    const job *const jobs[] = {&large, &small_step};
    for (size_t i = 2; i < WAYS; i++)
        for (size_t k = 0; k < 2; k++) {
            unsigned char *bytes = expected_of(jobs[k]);
            tz_result result = TZ_ERR_CANCELLED;
            for (uint64_t n = 1; result != TZ_OK; n++) {
                stopper s = {.stop = n};
                const tz_progress progress = {stop_at, &s};
                sink_job_make_old("file");
                prepare(&ways[i]);
                tz_sink *sink = sink_job_open("file", false);
                assert_int_equal(put(sink, 0, bytes, jobs[k]->size), TZ_OK);
                tz_sink_set_progress(sink, &progress);
                result = tz_sink_insert(sink, jobs[k]->room, &ctx);
                assert_int_equal(result, s.calls == n ? TZ_ERR_CANCELLED : TZ_OK);
                if (n == 1)
                    assert_true(copies == 0 && reads == 0);
                if (result != TZ_OK)
                    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
                else
                    assert_true(s.calls >= (jobs[k] == &large ? 4 : 13));
                tz_sink_close(sink);
                assert_true(sink_job_is_old("file"));
                assert_null(scratch_other_than("file"));
            }
            free(bytes);
        }
}

static void the_message_says_what_could_not_be_done(void **state)
{
    (void)state;
    static const struct {
        const char *call, *text;
        size_t way;
    } cases[] = {
        {"insert_range", "n: cannot insert 1048576 bytes at the front", 1},
        {"copy_range", "n: cannot copy 100 bytes", 2},
        {"pread", "n: cannot read 262144 bytes back", 4},
        {"pwritev", "n: cannot write 262144 bytes", 4},
    };
    unsigned char *bytes = expected_of(&large);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        prepare(&ways[cases[i].way]);
        tz_sink *sink = sink_job_open("file", false);
        assert_int_equal(put(sink, 0, bytes, large.size), TZ_OK);
        sink_fault_fail(cases[i].call, 1, ENOSPC);
        assert_int_equal(tz_sink_insert(sink, large.room, &ctx), TZ_ERR_IO);
        assert_int_equal(err.system_error, ENOSPC);
        if (!strstr(err.message, cases[i].text))
            fail_msg("%s", err.message);
        tz_sink_close(sink);
    }
    free(bytes);
}

static void fail_both(const char *call)
{
    if (strcmp(call, "insert_range") == 0 || strcmp(call, "fstat") == 0)
        fault.fail_at = fault.calls + 1;
}

/* The system may have stopped after it had begun: another try would move the bytes twice. */
static void an_interruption_that_may_have_moved_bytes_is_an_error(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("file", false);
    assert_int_equal(put(sink, 0, "abc", 3), TZ_OK);
    fault.before = fail_both; /* the size is not known, either */
    fault.error = EINTR;
    assert_int_equal(tz_sink_insert(sink, 4096, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, EINTR);
    fault.before = NULL;
    tz_sink_close(sink);
}

static void every_allocation_that_fails_is_nomem(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        uint64_t failures = 1;
        for (uint64_t n = 1; failures > 0; n++) {
            tz_memory memory = {0};
            prepare(&ways[i]);
            alloc_hook_install();
            tz_sink *sink = opened(&ways[i], &memory);
            assert_int_equal(put(sink, 0, "abc", 3), TZ_OK);
            alloc_hook_fail_at(n, false);
            tz_result result = tz_sink_insert(sink, 8 * MIB, &ctx);
            failures = alloc_hook_stats().failures;
            assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
            tz_sink_close(sink);
            assert_int_equal(alloc_hook_stats().live_bytes, 0);
            alloc_hook_remove();
        }
    }
}

static void room_that_no_file_has_is_refused(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {UINT64_MAX - 4095, (uint64_t)INT64_MAX - 4095, UINT64_MAX};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            tz_memory memory = {0};
            prepare(&ways[i]);
            tz_sink *sink = opened(&ways[i], &memory);
            assert_int_equal(put(sink, 4096, "x", 1), TZ_OK);
            tz_result result = tz_sink_insert(sink, sizes[k], &ctx);
            assert_int_equal(result, ways[i].memory ? TZ_ERR_NOMEM : TZ_ERR_IO);
            assert_true(ways[i].memory || err.system_error == EFBIG);
            tz_sink_close(sink);
        }
    }
}

static void after_commit_no_room_is_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tz_memory memory = {0};
        tz_sink *sink = opened(&ways[i], &memory);
        assert_int_equal(put(sink, 0, "once", 4), TZ_OK);
        assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
        assert_int_equal(tz_sink_insert(sink, 4096, &ctx), TZ_ERR_ARG);
        tz_sink_close(sink);
        tz_memory_free(&memory);
    }
    assert_true(scratch_holds("file", "once", 4));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_is_found_further_up),
        CASE(gaps_that_nobody_wrote_are_zero_further_up),
        CASE(in_memory_the_room_is_zero),
        CASE(room_can_be_made_more_than_once),
        CASE(the_first_way_that_the_system_knows_is_taken),
        CASE(whatever_says_that_it_cannot_is_followed_by_the_next_way),
        CASE(the_disk_begins_with_the_front_as_it_did_with_the_rest),
        CASE(after_room_was_made_the_file_is_synced_again),
        CASE(every_call_that_fails_ends_the_write),
        CASE(moving_bytes_can_be_cancelled),
        CASE(the_message_says_what_could_not_be_done),
        CASE(an_interruption_that_may_have_moved_bytes_is_an_error),
        CASE(every_allocation_that_fails_is_nomem),
        CASE(room_that_no_file_has_is_refused),
        CASE(after_commit_no_room_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
