/* SPDX-License-Identifier: Apache-2.0
 * The reader threads of the file source: the reads of a request, their ranges, and the state that
 * is left when system calls, threads or memory fail. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "io/reader_threads.h"
#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/gated_file.h"
#include "support/scratch.h"

#define MIB ((size_t)1 << 20)
enum { RANGES = 40, SPREAD = 8192, RANGE = 5000 };
#define SIZE (24 * MIB)

static unsigned char *bytes; /* of the file */

static int make_file(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251);
    scratch_write("file", bytes, SIZE);
    return 0;
}

static int drop_file(void **state)
{
    free(bytes);
    return scratch_end(state);
}

static tz_source *open_file(void)
{
    tz_source *source = NULL;
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    if (tz_source_open_file(&source, scratch_path("file"), false, &ctx) != TZ_OK)
        fail_msg("%s", err.message);
    return source;
}

/* ---- requests ---- */

typedef struct job {
    tz_range ranges[RANGES];
    tz_request request;
    unsigned char *room;
} job;

/* Ranges that lie apart, and one that does not end on a page. */
static job *job_of(size_t count, size_t spread, size_t size)
{
    job *j = calloc(1, sizeof *j);
    j->room = calloc(count, size);
    for (size_t i = 0; i < count; i++)
        j->ranges[i] = (tz_range){100 + i * spread, size, j->room + i * size};
    j->request = (tz_request){j->ranges, count, NULL};
    return j;
}

static bool job_is_read(const job *j)
{
    for (size_t i = 0; i < j->request.count; i++) {
        const tz_range *range = &j->ranges[i];
        if (memcmp(range->dst, bytes + range->offset, range->size) != 0)
            return false;
    }
    return true;
}

static void job_free(job *j)
{
    free(j->room);
    free(j);
}

static tz_result run(tz_source *source, job *j, tz_error *err)
{
    const tz_result result = source->submit(source, &j->request, err);
    return result == TZ_OK ? source->wait(source, &j->request, err) : result;
}

/* ---- overlap ---- */

static void eight_reads_are_under_way_at_once(void **state)
{
    (void)state;
    tz_source *source = open_file();
    job *j = job_of(RANGES, SPREAD, RANGE);
    gate_begin(TZ_READER_COUNT, RANGES, 0, SIZE);
    assert_int_equal(run(source, j, NULL), TZ_OK);
    const gate_result gate = gate_end();
    assert_false(gate.failed);
    assert_int_equal(gate.reads, RANGES);
    assert_int_equal(gate.rounds, RANGES / TZ_READER_COUNT);
    assert_true(job_is_read(j));
    job_free(j);
    tz_source_close(source);
}

static void requests_overlap_before_the_first_wait(void **state)
{
    (void)state;
    tz_source *sources[TZ_READER_COUNT];
    job *jobs[TZ_READER_COUNT];
    gate_begin(TZ_READER_COUNT, TZ_READER_COUNT, 0, SIZE);
    for (unsigned i = 0; i < TZ_READER_COUNT; i++) {
        sources[i] = open_file();
        jobs[i] = job_of(1, SPREAD, RANGE);
        assert_int_equal(sources[i]->submit(sources[i], &jobs[i]->request, NULL), TZ_OK);
    }
    for (unsigned i = 0; i < TZ_READER_COUNT; i++) {
        assert_int_equal(sources[i]->wait(sources[i], &jobs[i]->request, NULL), TZ_OK);
        assert_true(job_is_read(jobs[i]));
        job_free(jobs[i]);
        tz_source_close(sources[i]);
    }
    const gate_result gate = gate_end();
    assert_false(gate.failed);
    assert_int_equal(gate.rounds, 1);
}

static void large_ranges_are_read_in_parts(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t pieces; /* the range begins at byte 100 */
        size_t largest;
    } cases[] = {{MIB - 100, 1, MIB}, {3 * MIB, 4, MIB}, {20 * MIB, 21, MIB}};
    tz_source *source = open_file();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        job *j = job_of(1, 0, cases[i].size);
        gate_begin(TZ_READER_COUNT, cases[i].pieces, 0, SIZE);
        assert_int_equal(run(source, j, NULL), TZ_OK);
        const gate_result gate = gate_end();
        assert_false(gate.failed);
        assert_int_equal(gate.reads, cases[i].pieces);
        assert_in_range(gate.largest, 1, cases[i].largest);
        assert_true(job_is_read(j));
        job_free(j);
    }
    tz_source_close(source);
}

static tz_result add_piece(const void *user, const tz_range *piece, tz_error *err)
{
    atomic_size_t *largest = *(atomic_size_t *const *)user;
    size_t seen = atomic_load(largest);
    (void)err;
    while (piece->size > seen && !atomic_compare_exchange_weak(largest, &seen, piece->size))
        ;
    return TZ_OK;
}

/* Nothing is read of these: memory of that size need not be there. */
static void pieces_grow_with_the_request(void **state)
{
    (void)state;
    static const size_t cases[][2] = {{16, 1}, {31, 1}, {32, 2}, {64, 4}, {1000, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tz_range range = {0, cases[i][0] * MIB, NULL};
        atomic_size_t largest = 0;
        atomic_size_t *user = &largest;
        tz_reader_job *reading = tz_reader_job_start(&range, 1, add_piece, &user);
        assert_non_null(reading);
        assert_int_equal(tz_reader_job_wait(reading, NULL), TZ_OK);
        assert_int_equal(atomic_load(&largest), cases[i][1] * MIB);
    }
}

static void empty_requests_and_ranges_are_read(void **state)
{
    (void)state;
    tz_source *source = open_file();
    job *j = job_of(3, SPREAD, RANGE);
    j->ranges[1].size = 0;
    assert_int_equal(run(source, j, NULL), TZ_OK);
    assert_true(job_is_read(j));
    j->request.count = 0;
    assert_int_equal(run(source, j, NULL), TZ_OK);
    job_free(j);
    tz_source_close(source);
}

/* ---- threads ---- */

static atomic_uint started;
static atomic_uint granted; /* starts that succeed */

static int count_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                       void *argument)
{
    if (atomic_load(&granted) == 0)
        return EAGAIN;
    atomic_fetch_sub(&granted, 1);
    atomic_fetch_add(&started, 1);
    return pthread_create(thread, attributes, begin, argument);
}

static int restore_starts(void **state)
{
    tz_set_thread_create(NULL);
    tz_source_set_syscalls(NULL);
    return drop_file(state);
}

/* The first test: no reader is there yet. */
static void threads_that_cannot_be_started_are_done_without(void **state)
{
    (void)state;
    tz_source *source = open_file();
    tz_set_thread_create(count_start);
    for (unsigned i = 0; i <= TZ_READER_COUNT; i++) {
        atomic_store(&granted, i < 2 ? i : 1);
        job *j = job_of(RANGES, SPREAD, RANGE);
        assert_int_equal(run(source, j, NULL), TZ_OK);
        assert_true(job_is_read(j));
        assert_int_equal(atomic_load(&started), i);
        job_free(j);
    }
    tz_source_close(source);
}

static void there_is_one_set_of_readers_for_all_files(void **state)
{
    (void)state;
    const unsigned before = atomic_load(&started);
    atomic_store(&granted, 100);
    tz_set_thread_create(count_start);
    for (int i = 0; i < 5; i++) {
        tz_source *source = open_file();
        job *j = job_of(RANGES, SPREAD, RANGE);
        assert_int_equal(run(source, j, NULL), TZ_OK);
        job_free(j);
        tz_source_close(source);
    }
    assert_int_equal(before, TZ_READER_COUNT);
    assert_int_equal(atomic_load(&started), TZ_READER_COUNT);
}

static atomic_bool elsewhere;
static pthread_t caller;

static long here_pread(int fd, void *dst, size_t size, int64_t offset)
{
    if (!pthread_equal(pthread_self(), caller))
        atomic_store(&elsewhere, true);
    return pread(fd, dst, size, (off_t)offset);
}

static int plain_open(const char *path, int flags)
{
    return open(path, flags);
}

static int plain_fstat(int fd, struct stat *out)
{
    return fstat(fd, out);
}

static int plain_expect(int fd, int64_t offset, int64_t size)
{
    (void)fd, (void)offset, (void)size;
    return 0;
}

static void a_plain_read_stays_in_its_thread(void **state)
{
    (void)state;
    static const tz_source_syscalls calls = {plain_open, plain_fstat,  here_pread,
                                             close,      plain_expect, NULL};
    const tz_context ctx = {.ifd = -1};
    caller = pthread_self();
    tz_source_set_syscalls(&calls);
    tz_source *source = open_file();
    unsigned char *to = malloc(20 * MIB);
    alloc_hook_install();
    assert_int_equal(tz_source_read(source, 100, 20 * MIB, to, &ctx), TZ_OK);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(stats.allocations, 0);
    assert_memory_equal(to, bytes + 100, 20 * MIB);
    assert_false(atomic_load(&elsewhere));
    tz_source_set_syscalls(NULL);
    free(to);
    tz_source_close(source);
}

/* ---- what the system has in memory ---- */

static uint64_t cached_up_to; /* offsets */
static bool cached_half;      /* a read that brings less */

static long cached_pread(int fd, void *dst, size_t size, int64_t offset)
{
    errno = EAGAIN;
    if ((uint64_t)offset + size > cached_up_to)
        return -1;
    return pread(fd, dst, cached_half ? size / 2 : size, (off_t)offset);
}

/* The caller reads the cached ranges of small requests, and readers the rest. */
static void small_requests_are_tried_in_memory_first(void **state)
{
    (void)state;
    static const tz_source_syscalls calls = {plain_open, plain_fstat,  here_pread,
                                             close,      plain_expect, cached_pread};
    static const struct {
        size_t cached; /* ranges */
        bool half;
        uint64_t allocations; /* of readings */
    } cases[] = {{RANGES, false, 0}, {RANGES - 1, false, 1}, {0, false, 1}, {RANGES, true, 1}};
    tz_source_set_syscalls(&calls);
    tz_source *source = open_file();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        job *j = job_of(RANGES, SPREAD, RANGE);
        cached_up_to = cases[i].cached * SPREAD;
        cached_half = cases[i].half;
        alloc_hook_install();
        assert_int_equal(run(source, j, NULL), TZ_OK);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.allocations, cases[i].allocations);
        assert_true(job_is_read(j));
        job_free(j);
    }
    job *large = job_of(1, 0, 5 * MIB);
    cached_up_to = UINT64_MAX;
    alloc_hook_install();
    assert_int_equal(run(source, large, NULL), TZ_OK);
    assert_int_equal(alloc_hook_stats().allocations, 1);
    alloc_hook_remove();
    assert_true(job_is_read(large));
    job_free(large);
    tz_source_set_syscalls(NULL);
    tz_source_close(source);
}

/* ---- many callers ---- */

enum { CALLERS = 6, TIMES = 20 };

static void *read_many(void *argument)
{
    tz_source *source = argument;
    uintptr_t bad = 0;
    for (int i = 0; i < TIMES; i++) {
        job *a = job_of(RANGES, SPREAD, RANGE), *b = job_of(1, 0, 3 * MIB);
        bad += source->submit(source, &a->request, NULL) != TZ_OK;
        bad += source->submit(source, &b->request, NULL) != TZ_OK;
        bad += source->wait(source, &b->request, NULL) != TZ_OK;
        bad += source->wait(source, &a->request, NULL) != TZ_OK;
        bad += !job_is_read(a);
        bad += !job_is_read(b);
        job_free(a);
        job_free(b);
    }
    return (void *)bad;
}

static void several_threads_read_at_once(void **state)
{
    (void)state;
    tz_source *source = open_file();
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, source), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *bad = NULL;
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    tz_source_close(source);
}

/* ---- failures ---- */

/* Failing preads by offset, not by order: threads come in any. */
static struct {
    uint64_t fail_at;  /* the pread that begins there; UINT64_MAX: none */
    uint64_t fail_too; /* and all from there on */
    size_t most;       /* bytes of a pread; 0: all */
    atomic_uint interruptions;
    bool ends; /* the file ends there instead */
    bool fstat_fails;
} faults;

static bool interrupted(void)
{
    unsigned left = atomic_load(&faults.interruptions);
    while (left > 0)
        if (atomic_compare_exchange_weak(&faults.interruptions, &left, left - 1))
            return true;
    return false;
}

static long faulty_pread(int fd, void *dst, size_t size, int64_t offset)
{
    const uint64_t at = (uint64_t)offset;
    if (interrupted()) {
        errno = EINTR;
        return -1;
    }
    if (at == faults.fail_at || at >= faults.fail_too) {
        errno = EIO;
        return faults.ends ? 0 : -1;
    }
    return pread(fd, dst, faults.most && size > faults.most ? faults.most : size, (off_t)offset);
}

static int faulty_fstat(int fd, struct stat *out)
{
    errno = EIO;
    return faults.fstat_fails ? -1 : fstat(fd, out);
}

static int use_faults(void **state)
{
    static const tz_source_syscalls calls = {plain_open, faulty_fstat, faulty_pread,
                                             close,      plain_expect, NULL};
    memset(&faults, 0, sizeof faults);
    faults.fail_at = faults.fail_too = UINT64_MAX;
    tz_source_set_syscalls(&calls);
    return make_file(state);
}

static int use_real_calls(void **state)
{
    tz_source_set_syscalls(NULL);
    return drop_file(state);
}

static void each_read_fails_in_turn(void **state)
{
    (void)state;
    tz_source *source = open_file();
    for (size_t i = 0; i < RANGES; i++) {
        job *j = job_of(RANGES, SPREAD, RANGE);
        tz_error err = {.result = TZ_OK};
        faults.fail_at = j->ranges[i].offset;
        assert_int_equal(run(source, j, &err), TZ_ERR_IO);
        assert_int_equal(err.result, TZ_ERR_IO);
        assert_int_equal(err.cause, TZ_CAUSE_IO);
        assert_int_equal(err.system_error, EIO);
        assert_int_equal(err.offset, j->ranges[i].offset);
        assert_int_equal(run(source, j, NULL), TZ_ERR_IO); /* nobody asks why */
        faults.fail_at = UINT64_MAX;
        assert_int_equal(run(source, j, &err), TZ_OK);
        assert_true(job_is_read(j));
        job_free(j);
    }
    tz_source_close(source);
}

static void of_many_failures_the_first_in_the_request_is_reported(void **state)
{
    (void)state;
    tz_source *source = open_file();
    for (int i = 0; i < 50; i++) {
        job *j = job_of(RANGES, SPREAD, RANGE);
        tz_error err = {.result = TZ_OK};
        faults.fail_too = j->ranges[i % 10].offset;
        assert_int_equal(run(source, j, &err), TZ_ERR_IO);
        assert_int_equal(err.offset, faults.fail_too);
        job_free(j);
    }
    tz_source_close(source);
}

static void reads_that_bring_less_and_interruptions_go_on(void **state)
{
    (void)state;
    tz_source *source = open_file();
    job *j = job_of(RANGES, SPREAD, RANGE);
    faults.most = 777;
    atomic_store(&faults.interruptions, 100);
    assert_int_equal(run(source, j, NULL), TZ_OK);
    assert_true(job_is_read(j));
    assert_int_equal(atomic_load(&faults.interruptions), 0);
    job_free(j);
    tz_source_close(source);
}

static void an_early_end_is_reported_with_its_offset(void **state)
{
    (void)state;
    tz_source *source = open_file();
    job *j = job_of(1, 0, 3 * MIB);
    tz_error err = {.result = TZ_OK};
    faults.ends = true;
    faults.fail_too = MIB + 10;
    faults.most = MIB / 2 + 5; /* some read begins past it */
    assert_int_equal(run(source, j, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_in_range(err.offset, MIB + 10, 2 * MIB);
    faults.fstat_fails = true;
    assert_int_equal(run(source, j, &err), TZ_ERR_IO);
    job_free(j);
    tz_source_close(source);
}

static void ranges_past_the_end_are_refused(void **state)
{
    (void)state;
    tz_source *source = open_file();
    job *j = job_of(3, SPREAD, RANGE);
    tz_error err = {.result = TZ_OK};
    j->ranges[2].offset = SIZE - 10;
    assert_int_equal(source->submit(source, &j->request, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.offset, SIZE - 10);
    job_free(j);
    tz_source_close(source);
}

static void without_memory_the_caller_reads(void **state)
{
    (void)state;
    tz_source *source = open_file();
    for (uint64_t n = 1;; n++) {
        job *j = job_of(RANGES, SPREAD, RANGE);
        alloc_hook_install();
        alloc_hook_fail_at(n, true);
        const tz_result result = run(source, j, NULL);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(result, TZ_OK);
        assert_true(job_is_read(j));
        assert_int_equal(stats.live_bytes, 0);
        job_free(j);
        if (stats.failures == 0)
            break;
        assert_true(n < 10);
    }
    tz_source_close(source);
}

#define WITH_FILE(test)   cmocka_unit_test_setup_teardown(test, make_file, drop_file)
#define WITH_FAULTS(test) cmocka_unit_test_setup_teardown(test, use_faults, use_real_calls)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_that_cannot_be_started_are_done_without, use_faults,
                                        restore_starts),
        cmocka_unit_test_setup_teardown(there_is_one_set_of_readers_for_all_files, use_faults,
                                        restore_starts),
        WITH_FILE(eight_reads_are_under_way_at_once),
        WITH_FILE(requests_overlap_before_the_first_wait),
        WITH_FILE(large_ranges_are_read_in_parts),
        cmocka_unit_test(pieces_grow_with_the_request),
        WITH_FILE(empty_requests_and_ranges_are_read),
        WITH_FILE(a_plain_read_stays_in_its_thread),
        WITH_FILE(small_requests_are_tried_in_memory_first),
        WITH_FILE(several_threads_read_at_once),
        WITH_FAULTS(each_read_fails_in_turn),
        WITH_FAULTS(of_many_failures_the_first_in_the_request_is_reported),
        WITH_FAULTS(reads_that_bring_less_and_interruptions_go_on),
        WITH_FAULTS(an_early_end_is_reported_with_its_offset),
        WITH_FILE(ranges_past_the_end_are_refused),
        WITH_FAULTS(without_memory_the_caller_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
