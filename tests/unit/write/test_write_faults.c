/* SPDX-License-Identifier: Apache-2.0
 * Writing when memory runs out, at every allocation in turn; when the sink or the source fails, at
 * every call in turn; when threads cannot be created; when the user stops it, at every call of
 * progress: a clear error, nothing kept, nothing committed. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "support/alloc_hook.h"
#include "support/raster.h"
#include "support/sized.h"

/* The layout of a file: tiles in the order in which they are made, or a COG, of which overviews
 * wait, and with bands apart all bands but the first. A sink of the caller's that cannot make room
 * makes all tiles wait. */
typedef struct layout {
    const char *title;
    bool cog;
    tz_interleave interleave;
    bool no_insert;
} layout;

static const layout layouts[] = {
    {"plain", false, TZ_INTERLEAVE_BAND, false},
    {"COG, bands together", true, TZ_INTERLEAVE_PIXEL, false},
    {"COG, bands apart", true, TZ_INTERLEAVE_BAND, false},
    {"COG, tiles of bands in turn", true, TZ_INTERLEAVE_TILE, false},
    {"COG, no room in front", true, TZ_INTERLEAVE_PIXEL, true},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0], OF_MEMORY = LAYOUTS - 1 };

/* Everything that takes memory: metadata, a mask, statistics, overviews, bands apart. */
static tz_write_options everything(const layout *what)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.tile_width = options.tile_height = 32;
    options.interleave = what->interleave;
    options.statistics_items = true;
    options.cog = what->cog;
    return options;
}

static raster rich_raster(void)
{
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "AUTHOR", "somebody", "", -1),
        SIZED_ITEM("", "DESCRIPTION", "first", "description", 0)};
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 70, 90, true);
    r.spec.metadata = items;
    r.spec.metadata_count = 2;
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -9999}};
    return r;
}

/* ---- memory ---- */

/* A few allocations only save time: without them the same file comes about. */
static bool write_with_failure(const raster *r, const tz_write_options *options,
                               const raster_variant *way, uint64_t n, const tz_memory *expected)
{
    tz_memory out = {0};
    tz_error err = {0};
    alloc_hook_install();
    alloc_hook_fail_at(n, false);
    const tz_result result = raster_try(r, options, way, &out, NULL, &err);
    alloc_stats stats = alloc_hook_stats();
    if (result != TZ_OK) {
        assert_true(stats.failures > 0);
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
        assert_null(out.data);
    } else {
        assert_int_equal(out.size, expected->size);
        assert_memory_equal(out.data, expected->data, out.size);
    }
    tz_memory_free(&out);
    stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(stats.live_bytes, 0);
    return stats.failures > 0;
}

static void every_allocation_fails(const layout *what)
{
    static const raster_variant ways[] = {{0}, {.batch = 5}, {.pull = true}};
    raster r = rich_raster();
    tz_write_options options = everything(what);
    tz_memory expected = raster_write(&r, &options, NULL, NULL);
    for (size_t way = 0; way < 3; way++)
        for (options.threads = 1; options.threads <= 2; options.threads++)
            for (uint64_t n = 1; write_with_failure(&r, &options, &ways[way], n, &expected); n++)
                ;
    tz_memory_free(&expected);
    raster_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < OF_MEMORY; i++)
        every_allocation_fails(&layouts[i]);
}

/* ---- the sink ---- */

typedef struct failing_sink {
    tz_sink base;
    uint64_t calls;
    uint64_t fail_at;
    uint64_t lie_at; /* what is read there is another byte; 0: nowhere */
    bool committed;
    unsigned closes;
    tz_memory bytes; /* of 1 MiB */
} failing_sink;

static tz_result count_call(failing_sink *s, tz_error *err)
{
    if (++s->calls != s->fail_at)
        return TZ_OK;
    return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_IO, 77, "the sink is full");
}

static tz_result sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    for (size_t i = 0; i < count; i++) {
        memcpy((uint8_t *)s->bytes.data + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    return count_call(s, err);
}

static tz_result sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    memcpy(dst, (uint8_t *)s->bytes.data + offset, size);
    return count_call(s, err);
}

static tz_result sink_insert(tz_sink *sink, uint64_t size, tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    uint8_t *bytes = s->bytes.data;
    assert_int_equal(size % 4096, 0);
    memmove(bytes + size, bytes, s->bytes.size - (size_t)size);
    memset(bytes, 0xee, (size_t)size); /* as good as anything */
    return count_call(s, err);
}

static tz_result sink_sync(tz_sink *sink, uint64_t size, tz_error *err)
{
    (void)size;
    return count_call((failing_sink *)sink, err);
}

static tz_result sink_commit(tz_sink *sink, tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    const tz_result result = count_call(s, err);
    s->committed = result == TZ_OK;
    return result;
}

static void sink_close(tz_sink *sink)
{
    ((failing_sink *)sink)->closes++;
}

static failing_sink make_sink(const layout *what, uint64_t fail_at)
{
    return (failing_sink){.base = {.struct_size = sizeof(tz_sink),
                                   .write = sink_write,
                                   .read = sink_read,
                                   .insert = what->no_insert ? NULL : sink_insert,
                                   .sync = sink_sync,
                                   .commit = sink_commit,
                                   .close = sink_close},
                          .fail_at = fail_at,
                          .bytes = {calloc(1, 1 << 20), 1 << 20}};
}

/* Returns whether a call failed. */
static bool write_to_failing(const raster *r, const layout *what, uint64_t fail_at,
                             uint32_t threads, const tz_memory *expected)
{
    tz_write_options options = everything(what);
    options.threads = threads;
    failing_sink sink = make_sink(what, fail_at);
    tz_writer *writer = NULL;
    tz_error err = {0};
    const raster_variant way = {.batch = 33};
    tz_result result = tz_create_sink(&writer, &sink.base, "mine", &r->spec, &options, &err);
    if (result == TZ_OK)
        result = raster_give(writer, r, &way, &err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, &err);
    if (result != TZ_OK) {
        assert_int_equal(result, TZ_ERR_IO);
        assert_non_null(strstr(err.message, "mine: "));
        assert_non_null(strstr(err.message, "the sink is full"));
        assert_false(sink.committed);
        const tz_result again = tz_commit(writer, NULL, &err);
        assert_int_equal(again, TZ_ERR_ARG);
    } else {
        assert_memory_equal(sink.bytes.data, expected->data, expected->size);
    }
    tz_writer_close(writer);
    assert_int_equal(sink.closes, 1);
    free(sink.bytes.data);
    return result != TZ_OK;
}

static void every_call_of_the_sink_may_fail(void **state)
{
    (void)state;
    raster r = rich_raster();
    for (size_t i = 0; i < LAYOUTS; i++) {
        const tz_write_options options = everything(&layouts[i]);
        tz_memory expected = raster_write(&r, &options, NULL, NULL);
        for (uint32_t threads = 1; threads <= 3; threads++) {
            uint64_t n = 1;
            while (write_to_failing(&r, &layouts[i], n, threads, &expected))
                n++;
            assert_true(n > 8); /* tiles, directories, header, sync, reads, commit */
        }
        tz_memory_free(&expected);
    }
    raster_free(&r);
}

/* A sink that changes what it was given is found out before the file is published. */
static tz_result lying_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    (void)err;
    memcpy(dst, (uint8_t *)s->bytes.data + offset, size);
    for (size_t i = 0; i < size; i++)
        if (offset + i == s->lie_at)
            ((uint8_t *)dst)[i] ^= 1;
    return TZ_OK;
}

static void lie_at(const raster *r, const layout *what, uint64_t offset)
{
    tz_write_options options = everything(what);
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.verify = TZ_VERIFY_ALL;
    failing_sink sink = make_sink(what, 0);
    sink.base.read = lying_read;
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_equal(tz_create_sink(&writer, &sink.base, NULL, &r->spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, r, NULL, &err), TZ_OK);
    sink.lie_at = offset;
    if (tz_commit(writer, NULL, &err) != TZ_ERR_IO || !strstr(err.message, "differently"))
        fail_msg("%s, byte %llu: %s", what->title, (unsigned long long)offset, err.message);
    assert_false(sink.committed);
    tz_writer_close(writer);
    free(sink.bytes.data);
}

/* In every tile of every level: near its start, since what is beyond the edge nobody reads. */
static void lie_everywhere(const raster *r, const layout *what)
{
    tz_write_options options = everything(what);
    options.codec.compression = TZ_COMPRESSION_NONE;
    tz_memory memory = raster_write(r, &options, NULL, NULL);
    tz_file *file = NULL;
    tz_error err = {0};
    assert_int_equal(tz_open_memory(&file, memory.data, memory.size, NULL, &err), TZ_OK);
    const tz_info *info = tz_file_get_info(file);
    assert_true((info->level_count > 1) == what->cog);
    for (uint32_t level = 0; level < info->level_count; level++)
        for (uint64_t tile = 0; tile < tz_file_get_level(file, level)->tile_count; tile++) {
            tz_tile_span where;
            assert_int_equal(tz_file_locate_tile(&where, file, level, false, tile, &err), TZ_OK);
            lie_at(r, what, where.offset);
            lie_at(r, what, where.offset + 9);
        }
    tz_close(file);
    tz_memory_free(&memory);
}

static void what_reads_back_differently_is_not_published(void **state)
{
    (void)state;
    raster r = rich_raster();
    for (size_t i = 0; i < LAYOUTS; i++)
        lie_everywhere(&r, &layouts[i]);
    raster_free(&r);
}

/* ---- the source ---- */

static tz_result bad_read(void *user, const tz_window *window, const tz_buffer *pixels,
                          const tz_buffer *mask, tz_error *err)
{
    (void)mask;
    memset(pixels->data, 0, (size_t)pixels->row_stride * pixels->height);
    if (window->row < *(const int64_t *)user)
        return TZ_OK;
    return tz_error_set(err, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED, TZ_NO_VALUE, "no more rows");
}

static void fail_at_row(const raster *r, const layout *what, int64_t row)
{
    tz_write_options options = everything(what);
    options.max_host_bytes = 1;
    const tz_row_source source = {.struct_size = sizeof source, .read = bad_read, .user = &row};
    tz_memory out = {0};
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_equal(tz_create_memory(&writer, &out, &r->spec, &options, &err), TZ_OK);
    assert_int_equal(tz_write_from(writer, &source, &err), TZ_ERR_CHANGED);
    assert_non_null(strstr(err.message, "no more rows"));
    tz_writer_close(writer);
    assert_null(out.data);
}

static void a_source_may_fail(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 400, false);
    for (size_t i = 0; i < OF_MEMORY; i++)
        for (int64_t row = 0; row < 400; row += 50)
            fail_at_row(&r, &layouts[i], row);
    raster_free(&r);
}

/* ---- progress ---- */

typedef struct stopper {
    uint64_t calls, stop_at, last, total;
} stopper;

static bool on_progress(void *user, uint64_t done, uint64_t total)
{
    stopper *s = user;
    assert_true(done >= s->last && done <= total);
    s->last = done;
    s->total = total;
    return ++s->calls != s->stop_at;
}

/* Returns whether the n-th call stopped it. */
static bool is_stopped(const raster *r, const layout *what, uint32_t threads, uint64_t n)
{
    stopper s = {.stop_at = n};
    tz_write_options options = everything(what);
    options.threads = threads;
    options.progress = (tz_progress){on_progress, &s};
    tz_memory out = {0};
    tz_error err = {0};
    const tz_result result = raster_try(r, &options, NULL, &out, NULL, &err);
    if (result != TZ_OK) {
        assert_int_equal(result, TZ_ERR_CANCELLED);
        assert_null(out.data);
        return true;
    }
    assert_true(s.calls < n && s.last == 90 && s.total == 90 && n > 3);
    tz_memory_free(&out);
    return false;
}

static void it_can_be_stopped_at_any_time(void **state)
{
    (void)state;
    raster r = rich_raster();
    for (size_t i = 0; i < OF_MEMORY; i++)
        for (uint32_t threads = 1; threads <= 2; threads++)
            for (uint64_t n = 1; is_stopped(&r, &layouts[i], threads, n); n++)
                ;
    raster_free(&r);
}

/* ---- threads and processes ---- */

static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                     void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    return EAGAIN;
}

static void it_works_without_threads(void **state)
{
    (void)state;
    raster r = rich_raster();
    for (size_t i = 0; i < OF_MEMORY; i++) {
        tz_write_options options = everything(&layouts[i]);
        options.threads = 1;
        tz_memory one = raster_write(&r, &options, NULL, NULL);
        options.threads = 4;
        tz_set_thread_create(no_thread);
        tz_memory none = raster_write(&r, &options, NULL, NULL);
        tz_set_thread_create(NULL);
        assert_int_equal(one.size, none.size);
        assert_memory_equal(one.data, none.data, one.size);
        tz_memory_free(&one);
        tz_memory_free(&none);
    }
    raster_free(&r);
}

/* A child has neither the writer's threads nor its file. */
static void fork_while_writing(const raster *r, const layout *what)
{
    tz_write_options options = everything(what);
    options.threads = 3;
    tz_memory out = {0};
    tz_writer *writer = NULL;
    tz_error err = {0};
    const raster_variant way = {.batch = 10};
    assert_int_equal(tz_create_memory(&writer, &out, &r->spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, r, &way, &err), TZ_OK);
    const pid_t child = fork();
    if (child == 0) {
        const tz_result result = tz_commit(writer, NULL, &err);
        tz_writer_close(writer);
        _exit(result == TZ_ERR_ARG && strstr(err.message, "process") ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    tz_memory_free(&out);
}

static void a_child_leaves_the_writer_alone(void **state)
{
    (void)state;
    raster r = rich_raster();
    for (size_t i = 0; i < OF_MEMORY; i++)
        fork_while_writing(&r, &layouts[i]);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_call_of_the_sink_may_fail),
        cmocka_unit_test(what_reads_back_differently_is_not_published),
        cmocka_unit_test(a_source_may_fail),
        cmocka_unit_test(it_can_be_stopped_at_any_time),
        cmocka_unit_test(it_works_without_threads),
        cmocka_unit_test(a_child_leaves_the_writer_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
