/* SPDX-License-Identifier: Apache-2.0
 * Whole writes to a path: every system call fails in turn, takes less than it was given, or is the
 * last thing the process does; every allocation fails in turn. The destination is absent, old or
 * complete; no litter stays that the next write would not remove. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sink_syscalls.h"
#include "support/alloc_hook.h"
#include "support/raster.h"
#include "support/scratch.h"
#include "support/sink_fault.h"

/* The layout of a file: rows that become tiles at once, or a COG, whose overviews wait in a spool.
 * Room for those is made by the file system, or by moving all that is written. */
typedef struct layout {
    const char *title;
    bool cog;
    bool no_insert; /* nor copies between files */
} layout;

static const layout plain = {.title = "plain"};
static const layout layouts[] = {{.title = "plain"},
                                 {.title = "COG, room by the file system", .cog = true},
                                 {.title = "COG, moved", .cog = true, .no_insert = true}};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static tz_write_options small_tiles(const layout *what, uint32_t threads)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.tile_width = options.tile_height = 16;
    options.threads = threads;
    options.cog = what->cog;
    return options;
}

static tz_result write_file(const raster *r, const tz_write_options *options, tz_error *err)
{
    const raster_variant way = {.batch = 5};
    tz_writer *writer = NULL;
    tz_result result = tz_create(&writer, scratch_path("a.tif"), &r->spec, options, err);
    if (result == TZ_OK)
        result = raster_give(writer, r, &way, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

static void is_old_or_absent(bool old)
{
    if (old)
        assert_true(scratch_holds("a.tif", "old", 3));
    else
        assert_false(scratch_exists("a.tif"));
}

/* ---- failing calls ---- */

typedef struct fault_case {
    const layout *what;
    bool old;
    bool no_unnamed;
    int error;
} fault_case;

/* The file system of a case. */
static void install(const fault_case *c)
{
    sink_fault_install();
    fault.no_disk = true;
    fault.no_unnamed = c->no_unnamed;
    fault.no_insert = fault.no_copy = c->what->no_insert;
}

static void set_up(const fault_case *c)
{
    install(c);
    fault.error = c->error;
    if (c->old)
        scratch_write("a.tif", "old", 3);
    else
        (void)unlink(scratch_path("a.tif"));
}

/* Returns whether a call was made to fail. Some failures are bearable: then the file is complete.
 */
static bool fails_cleanly(const raster *r, const tz_memory *expected, const fault_case *c, int n)
{
    const tz_write_options options = small_tiles(c->what, 1);
    tz_error err = {0};
    set_up(c);
    fault.fail_at = n;
    const size_t open_files = scratch_open_files();
    const tz_result result = write_file(r, &options, &err);
    const bool failed = fault.failures > 0;
    const char *call = fault.failed;
    sink_fault_remove();
    assert_int_equal(scratch_open_files(), open_files);
    if (result != TZ_OK) {
        assert_true(failed);
        assert_int_equal(result, TZ_ERR_IO);
        assert_int_equal(err.system_error, c->error);
        assert_non_null(strstr(err.message, "a.tif: "));
    }
    const bool complete = scratch_holds("a.tif", expected->data, expected->size);
    if (result == TZ_OK)
        assert_true(complete);
    else if (!complete)
        is_old_or_absent(c->old);
    if (scratch_other_than("a.tif") && (!call || strcmp(call, "unlinkat") != 0))
        fail_msg("%s: %s failed and left %s", c->what->title, call, scratch_other_than("a.tif"));
    return failed;
}

/* All four kinds of destination for a plain file, then those that differ most. */
static void every_call_fails(const layout *what)
{
    static const int errors[] = {EIO, ENOSPC};
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 50, true);
    const tz_write_options options = small_tiles(what, 1);
    tz_memory expected = raster_write(&r, &options, NULL, NULL);
    for (unsigned kind = 0; kind < 4; kind += what->cog ? 3 : 1)
        for (size_t e = 0; e < 2; e++) {
            const fault_case c = {what, (kind & 1) != 0, (kind & 2) != 0, errors[e]};
            int n = 1;
            while (fails_cleanly(&r, &expected, &c, n))
                n++;
            assert_true(n > (what->cog ? 40 : 20));
        }
    tz_memory_free(&expected);
    raster_free(&r);
}

static void every_system_call_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++)
        every_call_fails(&layouts[i]);
}

/* Returns whether an allocation was made to fail. A few only save time: then the file is complete.
 */
static bool runs_out_cleanly(const raster *r, const tz_memory *expected, const fault_case *c,
                             uint64_t n)
{
    const tz_write_options options = small_tiles(c->what, 1);
    tz_error err = {0};
    set_up(c);
    const size_t open_files = scratch_open_files();
    alloc_hook_install();
    alloc_hook_fail_at(n, false);
    const tz_result result = write_file(r, &options, &err);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    sink_fault_remove();
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(scratch_open_files(), open_files);
    assert_null(scratch_other_than("a.tif"));
    if (result == TZ_OK) {
        assert_true(scratch_holds("a.tif", expected->data, expected->size));
    } else {
        assert_true(stats.failures > 0);
        assert_int_equal(result, TZ_ERR_NOMEM);
        is_old_or_absent(c->old);
    }
    return stats.failures > 0;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 50, true);
    for (size_t i = 0; i < LAYOUTS; i++) {
        const tz_write_options options = small_tiles(&layouts[i], 1);
        tz_memory expected = raster_write(&r, &options, NULL, NULL);
        const fault_case c = {.what = &layouts[i], .old = i % 2 == 0};
        for (uint64_t n = 1; runs_out_cleanly(&r, &expected, &c, n); n++)
            ;
        tz_memory_free(&expected);
    }
    raster_free(&r);
}

static void write_by_short_calls(const layout *what, const raster *r)
{
    static const size_t most[] = {1, 7, 100, 4096};
    const tz_write_options options = small_tiles(what, 2);
    tz_memory expected = raster_write(r, &options, NULL, NULL);
    for (size_t i = 0; i < 4; i++) {
        const fault_case c = {.what = what};
        tz_error err = {0};
        set_up(&c);
        fault.most_written = fault.most_read = most[i];
        if (write_file(r, &options, &err) != TZ_OK)
            fail_msg("%s: %s", what->title, err.message);
        sink_fault_remove();
        assert_true(scratch_holds("a.tif", expected.data, expected.size));
    }
    tz_memory_free(&expected);
}

static void short_writes_and_reads_are_completed(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 70, 60, true);
    for (size_t i = 0; i < LAYOUTS; i++)
        write_by_short_calls(&layouts[i], &r);
    raster_free(&r);
}

/* ---- killed ---- */

/* A child writes and is killed at a call; false when it came to its end. */
static bool dies(const raster *r, const fault_case *c, uint32_t threads, int before, int after)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const tz_write_options options = small_tiles(c->what, threads);
        tz_error err;
        set_up(c);
        fault.kill_before = before;
        fault.kill_after = after;
        _exit(write_file(r, &options, &err) == TZ_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return false;
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    return true;
}

/* An existing file is whole, and the next write succeeds and clears up. */
static void check_after_death(const raster *r, const tz_memory *expected, const fault_case *c)
{
    const tz_write_options options = small_tiles(c->what, 1);
    tz_error err = {0};
    if (!scratch_holds("a.tif", expected->data, expected->size))
        is_old_or_absent(c->old);
    const char *left = scratch_other_than("a.tif");
    assert_true(!left || (strncmp(left, ".a.tif.tz", 9) == 0 && strstr(left, ".part")));
    install(c);
    if (write_file(r, &options, &err) != TZ_OK)
        fail_msg("%s", err.message);
    sink_fault_remove();
    assert_true(scratch_holds("a.tif", expected->data, expected->size));
    assert_null(scratch_other_than("a.tif"));
}

static void die_at_every_call(const layout *what, unsigned kind)
{
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 20, 30, true);
    const tz_write_options options = small_tiles(what, 1);
    tz_memory expected = raster_write(&r, &options, NULL, NULL);
    const fault_case c = {what, (kind & 1) != 0, (kind & 2) != 0, 0};
    for (int n = 1; dies(&r, &c, 1, n, 0); n += SINK_DEATH_STEP)
        check_after_death(&r, &expected, &c);
    for (int n = 1; dies(&r, &c, 1, 0, n); n += SINK_DEATH_STEP)
        check_after_death(&r, &expected, &c);
    tz_memory_free(&expected);
    raster_free(&r);
}

static void it_may_die_at_every_system_call(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++)
        die_at_every_call(&layouts[0], kind);
    die_at_every_call(&layouts[1], 0);
    die_at_every_call(&layouts[2], 3);
}

static void die_at_any_instant(const layout *what, unsigned rounds)
{
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 500, 600, true);
    const tz_write_options options = small_tiles(what, 1);
    tz_memory expected = raster_write(&r, &options, NULL, NULL);
    uint32_t random = 12345;
    for (unsigned round = 0; round < rounds; round++) {
        const fault_case c = {what, (round & 1) != 0, (round & 2) != 0, 0};
        random = random * 1664525 + 1013904223;
        if (dies(&r, &c, 2, 1 + (int)(random >> 8) % 400, 0))
            check_after_death(&r, &expected, &c);
    }
    tz_memory_free(&expected);
    raster_free(&r);
}

static void it_may_die_at_any_instant_of_a_large_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++)
        die_at_any_instant(&layouts[i], SINK_DEATH_STEP > 1 ? 4 : 12);
}

/* ---- offsets ---- */

static void refused(const char *path, const tz_image_spec *spec, bool exclusive)
{
    tz_write_options options = small_tiles(&plain, 1);
    options.exclusive = exclusive;
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_not_equal(tz_create(&writer, path, spec, &options, &err), TZ_OK);
    assert_null(writer);
    assert_true(err.message[0] != '\0');
}

static void bad_destinations_are_refused_before_anything_is_made(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 50, false);
    char name[300];
    memset(name, 'n', sizeof name);
    memcpy(name + 280, ".tif", 5);
    refused(NULL, &r.spec, false);
    refused("", &r.spec, false);
    refused(scratch_folder(), &r.spec, false);
    refused(scratch_path("no/such/folder.tif"), &r.spec, false);
    refused(scratch_path(name), &r.spec, false);
    refused("/dev/full", &r.spec, false);
    scratch_write("a.tif", "old", 3);
    refused(scratch_path("a.tif"), &r.spec, true);
    r.spec.width = 0; /* a bad specification does not even look at the place */
    refused(scratch_path("b.tif"), &r.spec, false);
    assert_int_equal(scratch_count(), 1);
    assert_true(scratch_holds("a.tif", "old", 3));
    raster_free(&r);
}

static int little_space(int fd, uint64_t *out)
{
    (void)fd;
    *out = 1000;
    return 0;
}

static void too_little_space_is_found_out_at_once(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 50, false);
    tz_sink_syscalls calls = tz_sink_real_syscalls;
    calls.free_space = little_space;
    tz_write_options options = small_tiles(&plain, 1);
    options.codec.compression = TZ_COMPRESSION_NONE;
    tz_writer *writer = NULL;
    tz_error err = {0};
    tz_sink_set_syscalls(&calls);
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r.spec, &options, &err), TZ_ERR_IO);
    tz_sink_set_syscalls(NULL);
    assert_int_equal(err.system_error, ENOSPC);
    assert_non_null(strstr(err.message, "takes 3072 bytes, and 1000 are free"));
    assert_int_equal(scratch_count(), 0);
    raster_free(&r);
}

static void discarding_leaves_the_old_file(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 50, false);
    const tz_write_options options = small_tiles(&plain, 2);
    tz_writer *writer = NULL;
    tz_error err = {0};
    scratch_write("a.tif", "old", 3);
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &r, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    assert_true(scratch_holds("a.tif", "old", 3));
    assert_int_equal(scratch_count(), 1);
    raster_free(&r);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_begin, scratch_end)
    const struct CMUnitTest tests[] = {
        FILE_TEST(every_system_call_may_fail),
        FILE_TEST(every_allocation_may_fail),
        FILE_TEST(short_writes_and_reads_are_completed),
        FILE_TEST(it_may_die_at_every_system_call),
        FILE_TEST(it_may_die_at_any_instant_of_a_large_write),
        FILE_TEST(bad_destinations_are_refused_before_anything_is_made),
        FILE_TEST(too_little_space_is_found_out_at_once),
        FILE_TEST(discarding_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
