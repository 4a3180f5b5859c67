/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a Cloud Optimized GeoTIFF depend on its pixels and options alone: not on threads, on
 * how rows came, how much memory there was, where the file went, whether room could be made at its
 * front, or where overviews waited. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/sink_syscalls.h"
#include "support/raster_variants.h"
#include "support/scratch.h"

static tz_write_options cog_options(tz_resampling method, tz_interleave interleave)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.cog = true;
    options.overview_resampling = method;
    options.interleave = interleave;
    options.no_sync = true;
    return options;
}

/* The way that pixels are marked as valid. */
typedef enum validity { ALL_VALID, BY_NODATA, BY_MASK } validity;

static raster make_raster(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height,
                          validity by)
{
    raster r = raster_make(dtype, bands, width, height, by == BY_MASK);
    if (by == BY_NODATA)
        r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = 12}};
    return r;
}

/* ---- ways to give rows ---- */

/* Any two of method, interleaving and validity meet once. */
static void rows_may_come_in_any_way(void **state)
{
    (void)state;
    static const tz_resampling methods[] = {TZ_RESAMPLING_NEAREST, TZ_RESAMPLING_AVERAGE,
                                            TZ_RESAMPLING_CUBIC};
    static const tz_interleave interleaves[] = {TZ_INTERLEAVE_PIXEL, TZ_INTERLEAVE_BAND,
                                                TZ_INTERLEAVE_TILE};
    static const tz_dtype dtypes[] = {TZ_DTYPE_FLOAT32, TZ_DTYPE_FLOAT64, TZ_DTYPE_FLOAT32};
    for (unsigned m = 0; m < 3; m++)
        for (unsigned i = 0; i < 3; i++) {
            raster r = make_raster(dtypes[m], 2, 99, 131, (validity)((m + i) % 3));
            raster_check_some_variants(&r, cog_options(methods[m], interleaves[i]), NAN);
            raster_free(&r);
        }
}

static void integers_too(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 131, 99, true);
    tz_write_options options = cog_options(TZ_RESAMPLING_AVERAGE, TZ_INTERLEAVE_PIXEL);
    options.statistics_items = true;
    raster_check_variants(&r, options, NAN);
    options.overview_codec.compression = TZ_COMPRESSION_PACKBITS;
    options.bigtiff = TZ_BIGTIFF_YES;
    options.big_endian = true;
    raster_check_some_variants(&r, options, NAN);
    raster_free(&r);
}

static void and_the_smallest_images(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 70}, {33, 1}, {32, 32}, {65, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        raster r = raster_make(TZ_DTYPE_INT16, 2, sizes[i][0], sizes[i][1], true);
        raster_check_some_variants(&r, cog_options(TZ_RESAMPLING_CUBIC, TZ_INTERLEAVE_PIXEL), NAN);
        raster_free(&r);
    }
}

static void and_files_with_empty_tiles(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 147, 205, false);
    uint16_t *pixels = r.pixels.data;
    for (uint32_t i = 0; i < 147 * 205; i++)
        if (i / 147 >= 40)
            pixels[i] = 7;
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 7}};
    tz_write_options options = cog_options(TZ_RESAMPLING_AVERAGE, TZ_INTERLEAVE_PIXEL);
    options.sparse = true;
    raster_check_some_variants(&r, options, NAN);
    raster_free(&r);
}

/* ---- sinks ---- */

/* Memory that is not the library's. What was in front of an insertion is garbage. */
typedef struct own_sink {
    tz_sink base;
    uint8_t *bytes;
    uint64_t room, size;
    unsigned inserts, commits, closes;
    atomic_flag busy;
    atomic_bool twice; /* two calls at a time */
} own_sink;

static own_sink *enter(tz_sink *sink)
{
    own_sink *s = (own_sink *)sink;
    if (atomic_flag_test_and_set(&s->busy))
        s->twice = true;
    return s;
}

static tz_result leave(own_sink *s)
{
    atomic_flag_clear(&s->busy);
    return TZ_OK;
}

static void make_room(own_sink *s, uint64_t size)
{
    if (size > s->room) {
        s->bytes = realloc(s->bytes, size);
        memset(s->bytes + s->room, 0, size - s->room);
        s->room = size;
    }
    s->size = size > s->size ? size : s->size;
}

static tz_result own_write(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                           tz_error *err)
{
    own_sink *s = enter(sink);
    (void)err;
    for (size_t i = 0; i < count; i++) {
        make_room(s, offset + pieces[i].size);
        memcpy(s->bytes + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    return leave(s);
}

static tz_result own_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    own_sink *s = enter(sink);
    (void)err;
    assert_true(offset + size <= s->size);
    memcpy(dst, s->bytes + offset, size);
    return leave(s);
}

static tz_result own_insert(tz_sink *sink, uint64_t size, tz_error *err)
{
    own_sink *s = enter(sink);
    const uint64_t old = s->size;
    (void)err;
    assert_int_equal(size % 4096, 0);
    make_room(s, old + size);
    memmove(s->bytes + size, s->bytes, old);
    memset(s->bytes, 0xA7, size);
    s->inserts++;
    return leave(s);
}

static tz_result own_sync(tz_sink *sink, uint64_t size, tz_error *err)
{
    own_sink *s = enter(sink);
    (void)err;
    make_room(s, size);
    return leave(s);
}

static tz_result own_commit(tz_sink *sink, tz_error *err)
{
    own_sink *s = enter(sink);
    (void)err;
    s->commits++;
    return leave(s);
}

static void own_close(tz_sink *sink)
{
    ((own_sink *)sink)->closes++;
}

static void check_own_sink(const raster *r, const tz_write_options *options, const tz_memory *first,
                           bool reads, bool inserts)
{
    own_sink sink = {.base = {.struct_size = sizeof(tz_sink),
                              .write = own_write,
                              .read = reads ? own_read : NULL,
                              .insert = inserts ? own_insert : NULL,
                              .sync = own_sync,
                              .commit = own_commit,
                              .close = own_close},
                     .busy = ATOMIC_FLAG_INIT};
    const raster_variant way = {.batch = 11};
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_equal(tz_create_sink(&writer, &sink.base, "mine", &r->spec, options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, r, &way, &err), TZ_OK);
    if (tz_commit(writer, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_writer_close(writer);
    assert_int_equal(sink.commits, 1);
    assert_int_equal(sink.closes, 1);
    assert_false(sink.twice);
    assert_int_equal(sink.inserts, inserts ? 1 : 0);
    assert_int_equal(sink.size, first->size);
    assert_memory_equal(sink.bytes, first->data, first->size);
    free(sink.bytes);
}

/* ---- file systems ---- */

static int no_insert(int fd, int64_t offset, int64_t size)
{
    (void)fd, (void)offset, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

static long no_copy(int from, int64_t from_offset, int to, int64_t to_offset, size_t size)
{
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size;
    errno = EXDEV;
    return -1;
}

static int no_unnamed(int dir, mode_t mode)
{
    (void)dir, (void)mode;
    errno = EOPNOTSUPP;
    return -1;
}

/* A feature that a file system lacks. */
typedef struct system_case {
    bool insert, copy, unnamed;
} system_case;

static void check_path(const raster *r, const tz_write_options *options, const tz_memory *first,
                       const system_case *lacks)
{
    tz_sink_syscalls calls = tz_sink_real_syscalls;
    tz_writer *writer = NULL;
    tz_error err = {0};
    calls.insert_range = lacks->insert ? no_insert : calls.insert_range;
    calls.copy_range = lacks->copy ? no_copy : calls.copy_range;
    calls.open_unnamed = lacks->unnamed ? no_unnamed : calls.open_unnamed;
    tz_sink_set_syscalls(&calls);
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r->spec, options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, r, NULL, &err), TZ_OK);
    if (tz_commit(writer, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_writer_close(writer);
    tz_sink_set_syscalls(NULL);
    assert_true(scratch_holds("a.tif", first->data, first->size));
    assert_null(scratch_other_than("a.tif")); /* nothing else is left */
    remove(scratch_path("a.tif"));
}

static void check_sinks(const raster *r, tz_write_options options)
{
    static const system_case systems[] = {
        {0},
        {.insert = true},
        {.insert = true, .copy = true},
        {.insert = true, .copy = true, .unnamed = true},
        {.unnamed = true},
    };
    static const uint64_t memory[] = {0, 1};
    tz_memory first = raster_write(r, &options, NULL, NULL);
    raster_check(r, &first, NAN);
    for (unsigned m = 0; m < 2; m++) {
        options.max_host_bytes = memory[m];
        for (unsigned form = 0; form < 4; form++)
            check_own_sink(r, &options, &first, (form & 1) != 0, (form & 2) != 0);
        for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
            check_path(r, &options, &first, &systems[i]);
    }
    options.spool_directory = scratch_folder();
    check_own_sink(r, &options, &first, true, false);
    check_path(r, &options, &first, &systems[1]);
    assert_int_equal(scratch_count(), 0);
    tz_memory_free(&first);
}

static void the_file_may_go_anywhere(void **state)
{
    (void)state;
    static const tz_interleave interleaves[] = {TZ_INTERLEAVE_PIXEL, TZ_INTERLEAVE_BAND,
                                                TZ_INTERLEAVE_TILE};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned by = ALL_VALID; by <= BY_MASK; by++) {
            raster r = make_raster(TZ_DTYPE_FLOAT32, 2, 131, 99, (validity)by);
            check_sinks(&r, cog_options(TZ_RESAMPLING_AVERAGE, interleaves[i]));
            raster_free(&r);
        }
}

static void large_files_too(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 700, 500, true);
    tz_write_options options = cog_options(TZ_RESAMPLING_NEAREST, TZ_INTERLEAVE_PIXEL);
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.tile_width = options.tile_height = 128;
    check_sinks(&r, options);
    raster_free(&r);
}

static void without_overviews_it_is_the_same(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 147, 205, true);
    tz_write_options options = cog_options(TZ_RESAMPLING_NONE, TZ_INTERLEAVE_PIXEL);
    options.overview_count = -1;
    raster_check_some_variants(&r, options, NAN);
    check_sinks(&r, options);
    raster_free(&r);
}

/* ---- cancelled ---- */

static bool insert_was_tried;
static int reads_after_insert;

static int notice_insert(int fd, int64_t offset, int64_t size)
{
    insert_was_tried = true;
    return no_insert(fd, offset, size);
}

static ssize_t count_read(int fd, void *dst, size_t size, int64_t offset)
{
    reads_after_insert += insert_was_tried;
    return tz_sink_real_syscalls.pread(fd, dst, size, offset);
}

static bool stop_after_insert(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    assert_true(done <= total);
    return !insert_was_tried;
}

/* Where the file system cannot insert, all bytes are moved. */
static void a_commit_is_cancelled_before_bytes_move(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 300, 200, false);
    tz_write_options options = cog_options(TZ_RESAMPLING_AVERAGE, TZ_INTERLEAVE_PIXEL);
    tz_sink_syscalls calls = tz_sink_real_syscalls;
    tz_writer *writer = NULL;
    tz_error err = {0};
    calls.insert_range = notice_insert;
    calls.copy_range = no_copy;
    calls.pread = count_read;
    insert_was_tried = false;
    reads_after_insert = 0;
    options.progress = (tz_progress){stop_after_insert, NULL};
    tz_sink_set_syscalls(&calls);
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &r, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_CANCELLED);
    tz_writer_close(writer);
    tz_sink_set_syscalls(NULL);
    assert_true(insert_was_tried);
    assert_int_equal(reads_after_insert, 0);
    assert_int_equal(scratch_count(), 0);
    raster_free(&r);
}

enum { PART = 16 << 20 }; /* bytes that are copied without a look at progress */

static bool stop_after_part(void *user, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ((const own_sink *)user)->size <= PART;
}

/* All tiles are in the spool, and follow each other there as in the file. */
static void a_long_copy_is_cancelled_on_the_way(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 4096, 8192, false);
    tz_write_options options = cog_options(TZ_RESAMPLING_NONE, TZ_INTERLEAVE_PIXEL);
    own_sink sink = {.base = {.struct_size = sizeof(tz_sink),
                              .write = own_write,
                              .commit = own_commit,
                              .close = own_close},
                     .busy = ATOMIC_FLAG_INIT};
    tz_writer *writer = NULL;
    tz_error err = {0};
    options.overview_count = -1;
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.tile_width = options.tile_height = 512;
    options.progress = (tz_progress){stop_after_part, &sink};
    assert_int_equal(tz_create_sink(&writer, &sink.base, "mine", &r.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &r, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_CANCELLED);
    tz_writer_close(writer);
    assert_true(sink.size > PART && sink.size < PART + (1 << 20));
    assert_int_equal(sink.commits, 0);
    free(sink.bytes);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_may_come_in_any_way),
        cmocka_unit_test(integers_too),
        cmocka_unit_test(and_the_smallest_images),
        cmocka_unit_test(and_files_with_empty_tiles),
        cmocka_unit_test_setup_teardown(the_file_may_go_anywhere, scratch_begin, scratch_end),
        cmocka_unit_test_setup_teardown(large_files_too, scratch_begin, scratch_end),
        cmocka_unit_test_setup_teardown(without_overviews_it_is_the_same, scratch_begin,
                                        scratch_end),
        cmocka_unit_test_setup_teardown(a_commit_is_cancelled_before_bytes_move, scratch_begin,
                                        scratch_end),
        cmocka_unit_test(a_long_copy_is_cancelled_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
