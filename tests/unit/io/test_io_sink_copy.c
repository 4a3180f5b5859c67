/* SPDX-License-Identifier: Apache-2.0
 * Copies between sinks of all kinds: the same bytes whether the system makes them or not, and an
 * error when it cannot. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "io/sink.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

enum { SIZE = 300000, AT = 5000, FROM = 777, COUNT = 200003 };

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
static unsigned char bytes[SIZE];
static unsigned char buffer[70000];

typedef enum kind { FILE_KIND, SPOOL_KIND, MEMORY_KIND, CALLERS_KIND, KINDS } kind;

/* A sink of the caller's, which holds a part of what is written to it. */
typedef struct callers_sink {
    tz_sink base;
    unsigned char held[AT + SIZE];
} callers_sink;

static tz_result hold(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                      tz_error *out)
{
    (void)out;
    for (size_t i = 0; i < count; i++) {
        memcpy(((callers_sink *)sink)->held + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    return TZ_OK;
}

static tz_result give(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *out)
{
    (void)out;
    memcpy(dst, ((callers_sink *)sink)->held + offset, size);
    return TZ_OK;
}

static callers_sink callers[2];
static tz_memory memories[2];

static tz_sink *opened(kind which, int turn)
{
    tz_sink *sink = NULL;
    callers[turn].base = (tz_sink){.struct_size = sizeof(tz_sink), .write = hold, .read = give};
    if (which == FILE_KIND)
        return sink_job_open(turn == 0 ? "from" : "to", false);
    if (which == CALLERS_KIND)
        return &callers[turn].base;
    if (which == SPOOL_KIND)
        assert_int_equal(tz_sink_open_spool(&sink, NULL, scratch_folder(), &ctx), TZ_OK);
    else
        assert_int_equal(tz_sink_open_memory(&sink, &memories[turn], &ctx), TZ_OK);
    return sink;
}

static tz_sink *filled(kind which)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251 + 1);
    tz_sink *sink = opened(which, 0);
    tz_bytes piece = {bytes, SIZE};
    assert_int_equal(tz_sink_write(sink, 0, &piece, 1, &ctx), TZ_OK);
    return sink;
}

static tz_result copy(tz_sink *to, tz_sink *from, size_t room)
{
    return tz_sink_copy(to, AT, from, FROM, COUNT, buffer, room, &ctx);
}

static void check_copied(tz_sink *to)
{
    static unsigned char back[COUNT];
    assert_int_equal(tz_sink_read(to, AT, back, COUNT, &ctx), TZ_OK);
    assert_memory_equal(back, bytes + FROM, COUNT);
}

static void check_kinds(kind from_kind, kind to_kind, size_t room)
{
    tz_sink *from = filled(from_kind);
    tz_sink *to = opened(to_kind, 1);
    if (copy(to, from, room) != TZ_OK)
        fail_msg("%d to %d: %s", (int)from_kind, (int)to_kind, err.message);
    check_copied(to);
    if (to_kind == FILE_KIND || to_kind == MEMORY_KIND) /* its end is known too */
        assert_int_equal(tz_sink_commit(to, &ctx), TZ_OK);
    tz_sink_close(to);
    tz_sink_close(from);
    if (to_kind == MEMORY_KIND)
        assert_int_equal(memories[1].size, AT + COUNT);
    tz_memory_free(&memories[1]);
    assert_null(scratch_other_than("to"));
}

static void check_all_kinds(void)
{
    fault.no_disk = true;
    for (int from = 0; from < KINDS; from++)
        for (int to = 0; to < KINDS; to++) {
            check_kinds((kind)from, (kind)to, sizeof buffer);
            check_kinds((kind)from, (kind)to, 999);
        }
}

static void any_sink_is_copied_to_any_other(void **state)
{
    (void)state;
    check_all_kinds();
    fault.no_copy = true;
    check_all_kinds();
    fault.most_written = fault.most_read = 12345;
    check_all_kinds();
    fault.no_copy = false;
    check_all_kinds();
}

static int reads, copies;

static void count_calls(const char *call)
{
    reads += strcmp(call, "pread") == 0;
    copies += strcmp(call, "copy_range") == 0;
}

static void of_files_the_system_makes_the_copy(void **state)
{
    (void)state;
    tz_sink *from = filled(SPOOL_KIND);
    tz_sink *to = opened(FILE_KIND, 1);
    fault.before = count_calls;
    reads = copies = 0;
    assert_int_equal(copy(to, from, 1), TZ_OK);
    assert_true(copies == 1 && reads == 0);
    check_copied(to);
    tz_sink_close(from);
    tz_sink_close(to);
}

static void after_a_copy_the_file_is_synced_again(void **state)
{
    (void)state;
    tz_sink *from = filled(SPOOL_KIND);
    tz_sink *to = opened(FILE_KIND, 1);
    sink_fault_fail("fsync", 0, 0);
    assert_int_equal(tz_sink_sync(to, 0, &ctx), TZ_OK);
    assert_int_equal(copy(to, from, sizeof buffer), TZ_OK);
    assert_int_equal(tz_sink_commit(to, &ctx), TZ_OK);
    assert_int_equal(fault.calls, 2);
    tz_sink_close(from);
    tz_sink_close(to);
}

/* Room in front moves what was copied as well. */
static void what_was_copied_belongs_to_the_sink(void **state)
{
    (void)state;
    static unsigned char back[COUNT];
    for (int way = 0; way < 2; way++) {
        tz_sink *from = filled(SPOOL_KIND);
        tz_sink *to = opened(FILE_KIND, 1);
        fault.no_insert = way == 1;
        assert_int_equal(copy(to, from, sizeof buffer), TZ_OK);
        assert_int_equal(tz_sink_insert(to, 8192, &ctx), TZ_OK);
        assert_int_equal(tz_sink_read(to, AT + 8192, back, COUNT, &ctx), TZ_OK);
        assert_memory_equal(back, bytes + FROM, COUNT);
        tz_sink_close(from);
        tz_sink_close(to);
    }
}

static void what_the_system_cannot_copy_goes_through_the_buffer(void **state)
{
    (void)state;
    static const int errors[] = {EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (int n = 1; n <= 3; n++) { /* halfway too */
            tz_sink *from = filled(SPOOL_KIND);
            tz_sink *to = opened(FILE_KIND, 1);
            fault.most_written = COUNT / 3;
            sink_fault_fail("copy_range", n, errors[i]);
            assert_int_equal(copy(to, from, sizeof buffer), TZ_OK);
            check_copied(to);
            tz_sink_close(from);
            tz_sink_close(to);
        }
    }
}

/* The sink that was written to can only be discarded; the other is as good as before. */
static void every_call_that_fails_is_an_error(void **state)
{
    (void)state;
    static const int errors[] = {EIO, ENOSPC, EINTR};
    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
            for (int n = 1, failures = 1; failures > 0; n++) {
                sink_fault_install();
                tz_sink *from = filled(SPOOL_KIND);
                tz_sink *to = opened(FILE_KIND, 1);
                fault.no_copy = way == 1;
                fault.most_written = 80000;
                sink_fault_fail(NULL, n, errors[i]);
                tz_result result = copy(to, from, sizeof buffer);
                failures = fault.failures;
                fault.fail_at = 0;
                bool failed = failures > 0 && errors[i] != EINTR;
                assert_int_equal(result, failed ? TZ_ERR_IO : TZ_OK);
                if (failed)
                    assert_int_equal(err.system_error, errors[i]);
                else
                    check_copied(to);
                if (failed && strcmp(fault.failed, "pread") != 0)
                    assert_int_equal(tz_sink_commit(to, &ctx), TZ_ERR_ARG);
                tz_sink_close(to);
                tz_sink_close(from);
                assert_int_equal(scratch_count(), 0);
            }
        }
    }
}

static void more_than_there_is_cannot_be_copied(void **state)
{
    (void)state;
    for (int from_kind = 0; from_kind < CALLERS_KIND; from_kind++) {
        for (int to_kind = 0; to_kind < CALLERS_KIND; to_kind++) {
            tz_sink *from = filled((kind)from_kind);
            tz_sink *to = opened((kind)to_kind, 1);
            tz_result result =
                tz_sink_copy(to, AT, from, SIZE - 100, 200, buffer, sizeof buffer, &ctx);
            assert_int_equal(result, TZ_ERR_IO);
            assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
            tz_sink_close(to);
            tz_sink_close(from);
        }
    }
}

static void offsets_that_no_file_has_are_refused(void **state)
{
    (void)state;
    tz_sink *from = filled(SPOOL_KIND);
    tz_sink *to = opened(FILE_KIND, 1);
    static const uint64_t places[] = {UINT64_MAX - 5, INT64_MAX - 5};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(tz_sink_copy(to, 0, from, places[i], 10, buffer, 10, &ctx), TZ_ERR_IO);
        assert_int_equal(tz_sink_copy(to, 0, from, 0, 0, buffer, 10, &ctx), TZ_OK);
    }
    assert_int_equal(tz_sink_copy(to, 0, from, 0, 10, buffer, 0, &ctx), TZ_ERR_ARG);
    assert_int_equal(tz_sink_copy(to, places[1], from, 0, 10, buffer, 10, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, EFBIG);
    assert_int_equal(copy(to, from, 10), TZ_ERR_ARG); /* discarded only */
    tz_sink_close(to);
    tz_sink_close(from);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(any_sink_is_copied_to_any_other),
        CASE(of_files_the_system_makes_the_copy),
        CASE(after_a_copy_the_file_is_synced_again),
        CASE(what_was_copied_belongs_to_the_sink),
        CASE(what_the_system_cannot_copy_goes_through_the_buffer),
        CASE(every_call_that_fails_is_an_error),
        CASE(more_than_there_is_cannot_be_copied),
        CASE(offsets_that_no_file_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
