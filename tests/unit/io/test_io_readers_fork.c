/* SPDX-License-Identifier: Apache-2.0
 * The reader threads across fork. Apart from their other tests, because the thread sanitizer does
 * not support threads in a child of a process that had some. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/reader_threads.h"
#include "io/source.h"
#include "support/gated_file.h"
#include "support/scratch.h"

enum { RANGES = 16, SIZE = RANGES * 8192, CHILD_WENT_WELL = 42, CHILDREN = 20 };

static unsigned char bytes[SIZE];

static tz_source *open_file(void)
{
    tz_source *source = NULL;
    const tz_context ctx = {.ifd = -1};
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 255);
    scratch_write("file", bytes, SIZE);
    assert_int_equal(tz_source_open_file(&source, scratch_path("file"), false, &ctx), TZ_OK);
    return source;
}

/* Without asserts, which would end the child in the parent's test. */
static bool reads(tz_source *source)
{
    static _Thread_local unsigned char to[SIZE];
    tz_range ranges[RANGES];
    tz_request request = {ranges, RANGES, NULL};
    memset(to, 0, SIZE);
    for (unsigned i = 0; i < RANGES; i++)
        ranges[i] = (tz_range){i * 8192u, 8192, to + i * 8192u};
    return source->submit(source, &request, NULL) == TZ_OK &&
           source->wait(source, &request, NULL) == TZ_OK && memcmp(to, bytes, SIZE) == 0;
}

static bool child_went_well(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == CHILD_WENT_WELL;
}

static bool reads_eight_at_once(tz_source *source)
{
    gate_begin(TZ_READER_COUNT, RANGES, 0, SIZE);
    const bool good = reads(source);
    const gate_result gate = gate_end();
    return good && !gate.failed && gate.rounds == RANGES / TZ_READER_COUNT;
}

/* All readers of the parent run before it forks: the address sanitizer holds locks while threads
 * start. */
static void a_child_has_eight_readers_of_its_own(void **state)
{
    (void)state;
    tz_source *source = open_file();
    assert_true(reads_eight_at_once(source));
    const pid_t child = fork();
    if (child == 0)
        _exit(reads_eight_at_once(source) ? CHILD_WENT_WELL : 1);
    assert_true(child_went_well(child));
    assert_true(reads_eight_at_once(source));
    tz_source_close(source);
}

static atomic_bool enough;

static void *keep_reading(void *argument)
{
    uintptr_t bad = 0;
    while (!atomic_load(&enough))
        bad += !reads(argument);
    return (void *)bad;
}

/* A reader may hold the lock at that moment. */
static void fork_while_others_read(void **state)
{
    (void)state;
    gate_uncached();
    tz_source *source = open_file();
    pthread_t thread;
    void *bad = NULL;
    atomic_store(&enough, false);
    assert_int_equal(pthread_create(&thread, NULL, keep_reading, source), 0);
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(reads(source) ? CHILD_WENT_WELL : 1);
        assert_true(child_went_well(child));
    }
    atomic_store(&enough, true);
    assert_int_equal(pthread_join(thread, &bad), 0);
    assert_null(bad);
    (void)gate_end();
    tz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_child_has_eight_readers_of_its_own, scratch_begin,
                                        scratch_end),
        cmocka_unit_test_setup_teardown(fork_while_others_read, scratch_begin, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
