/* SPDX-License-Identifier: Apache-2.0
 * Hostile cases 73, 74, 76 to 78, 81 and 82, read: files that are damaged, change under the reader,
 * are not files, or are vast; and calls that are wrong. Pixels or an error, never a signal. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { ACROSS = 3, DOWN = 2, PIXELS = ACROSS * DOWN * TILE * TILE, MOST_BYTES = 1 << 20 };

static bool is_whole(const uint8_t *pixels, const tile_stream *stream)
{
    for (uint32_t i = 0; i < PIXELS * stream->bands; i++) {
        const uint32_t at = i % PIXELS;
        const uint8_t wanted =
            tf_pixel(stream, i / PIXELS, at / (ACROSS * TILE) % TILE, at % (ACROSS * TILE) % TILE);
        if (pixels[i] != wanted)
            return false;
    }
    return true;
}

/* ---- 73: truncation ---- */

static void case_73_cut_off_at_every_byte(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW, STREAM_DEFLATE, STREAM_WEBP};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(streams); i++) {
            const tile_stream *stream = &tile_streams[streams[i]];
            if (!tf_available(stream))
                continue;
            tb *b = tf_new(f, stream, ACROSS, DOWN, NULL);
            size_t whole = 0;
            for (size_t size = 0; size <= b->size; size++) {
                uint8_t *copy = malloc(size + 1);
                uint8_t *pixels;
                tz_file *file = NULL;
                tz_error err = {.result = TZ_OK};
                memcpy(copy + 1, b->data, size);
                tz_result result = tz_open_memory(&file, copy + 1, size, NULL, &err);
                if (result == TZ_OK) {
                    result = tf_read(file, (tz_window){0}, 1, 0xA5, &pixels, NULL, &err);
                    if (result == TZ_OK)
                        assert_true(is_whole(pixels, stream));
                    free(pixels);
                }
                if (result == TZ_OK)
                    whole++;
                else
                    assert_true(err.result == result && err.message[0] &&
                                result != TZ_ERR_INTERNAL);
                tz_close(file);
                free(copy);
            }
            assert_true(whole >= 1 && whole < 16); /* what is after the last tile may go */
            tb_free(b);
        }
    }
}

/* ---- 74: bit flips ---- */

/* Whatever the file says of itself now, read the upper left of it over two poisons. */
static void read_twice(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    const uint32_t width = info->width < 48 ? info->width : 48;
    const uint32_t height = info->height < 48 ? info->height : 48;
    const size_t size = (size_t)width * height * info->bands * tz_dtype_size(info->dtype);
    if (size == 0 || size > MOST_BYTES)
        return;
    uint8_t *pixels[2];
    tz_result results[2];
    for (int i = 0; i < 2; i++) {
        tz_error err = {.result = TZ_OK};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        how.threads = 1;
        how.max_host_bytes = 64u << 20;
        pixels[i] = malloc(size);
        memset(pixels[i], i ? 0xFF : 0x00, size);
        const plain_item item = {.file = file,
                                 .window = {0, 0, width, height},
                                 .into = {.data = pixels[i],
                                          .dtype = info->dtype,
                                          .bands = info->bands,
                                          .height = height,
                                          .width = width}};
        results[i] = plain_read(&item, &how, NULL, &err);
        assert_true(results[i] == TZ_OK || (err.result == results[i] && err.message[0]));
        assert_true(results[i] != TZ_ERR_INTERNAL && results[i] != TZ_ERR_ARG);
    }
    assert_int_equal(results[0], results[1]);
    if (results[0] == TZ_OK)
        assert_memory_equal(pixels[0], pixels[1], size);
    free(pixels[0]);
    free(pixels[1]);
}

static void case_74_every_bit_of_header_and_directories(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_JPEG_RGB, STREAM_LERC};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(streams); i++) {
            const tile_stream *stream = &tile_streams[streams[i]];
            if (!tf_available(stream))
                continue;
            tb *b = tf_new(f, stream, ACROSS, DOWN, NULL);
            const size_t end = (size_t)tb_tile_at(b, 0, 0);
            for (size_t bit = 0; bit < end * 8; bit++) {
                tz_file *file = NULL;
                b->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
                if (tz_open_memory(&file, b->data, b->size, NULL, NULL) == TZ_OK)
                    read_twice(file);
                tz_close(file);
                b->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            tb_free(b);
        }
    }
}

/* ---- 76: files that change ---- */

typedef struct on_disk {
    char path[CHECK_PATH_SIZE];
    const tile_stream *stream;
    tb *b;
    tz_file *file;
} on_disk;

static on_disk put_on_disk(const tile_stream *stream)
{
    on_disk d = {.stream = stream, .b = tf_new(TB_BIGTIFF, stream, ACROSS, DOWN, NULL)};
    tz_error err;
    check_path(d.path, "changing.tif");
    tb_write_file(d.b, d.path);
    if (tz_open(&d.file, d.path, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return d;
}

static void take_from_disk(on_disk *d)
{
    tz_close(d->file);
    tb_free(d->b);
    check_remove(d->path);
}

static tz_result read_disk(const on_disk *d, uint32_t threads, tz_error *err)
{
    uint8_t *pixels;
    *err = (tz_error){.result = TZ_OK};
    const tz_result result = tf_read(d->file, (tz_window){0}, threads, 0xA5, &pixels, NULL, err);
    if (result == TZ_OK)
        assert_true(is_whole(pixels, d->stream));
    free(pixels);
    return result;
}

static void reads_on(const on_disk *d)
{
    tz_error err;
    if (read_disk(d, 1, &err) != TZ_OK)
        fail_msg("%s", err.message);
}

static void sees_the_change(const on_disk *d)
{
    tz_error err;
    const tz_result result = read_disk(d, 2, &err);
    const bool told = (result == TZ_ERR_CHANGED && err.cause == TZ_CAUSE_CHANGED) ||
                      (result == TZ_ERR_FORMAT && err.cause == TZ_CAUSE_TRUNCATED);
    if (!told)
        fail_msg("%d: %s", (int)result, err.message);
}

static void case_76_the_file_shrinks(void **state)
{
    (void)state;
    for (unsigned part = 0; part < 4; part++) {
        on_disk d = put_on_disk(&tile_streams[STREAM_LZW]);
        assert_int_equal(truncate(d.path, (off_t)(d.b->size / 4 * part)), 0);
        sees_the_change(&d);
        take_from_disk(&d);
    }
}

static void case_76_the_file_grows(void **state)
{
    (void)state;
    on_disk d = put_on_disk(&tile_streams[STREAM_NONE]);
    FILE *file = fopen(d.path, "ab");
    fputc(1, file);
    fclose(file);
    sees_the_change(&d);
    take_from_disk(&d);
}

static void case_76_the_file_is_written_to(void **state)
{
    (void)state;
    on_disk d = put_on_disk(&tile_streams[STREAM_NONE]);
    reads_on(&d);
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, d.path, times, 0), 0); /* as a write would */
    sees_the_change(&d);
    take_from_disk(&d);
}

static void case_76_the_file_is_deleted_or_replaced(void **state)
{
    (void)state;
    on_disk d = put_on_disk(&tile_streams[STREAM_PACKBITS]);
    char other[CHECK_PATH_SIZE];
    check_path(other, "other.tif");
    tb_truncate(d.b, 100);
    tb_write_file(d.b, other);
    assert_int_equal(rename(other, d.path), 0);
    reads_on(&d); /* the file that was opened is still there */
    assert_int_equal(unlink(d.path), 0);
    reads_on(&d);
    tz_close(d.file);
    tb_free(d.b);
}

/* The n-th pread finds that the file has been cut to a size just before it. */
static struct {
    const char *path;
    off_t size;
    unsigned calls, at;
} change;

static int plain_open(const char *path, int flags)
{
    return open(path, flags);
}

static int plain_fstat(int fd, struct stat *out)
{
    return fstat(fd, out);
}

static long changing_pread(int fd, void *dst, size_t size, int64_t offset)
{
    if (++change.calls == change.at)
        assert_int_equal(truncate(change.path, change.size), 0);
    return pread(fd, dst, size, (off_t)offset);
}

static int plain_close(int fd)
{
    return close(fd);
}

static int ignore_expected(int fd, int64_t offset, int64_t size)
{
    (void)fd;
    (void)offset;
    (void)size;
    return 0;
}

static const tz_source_syscalls changing = {plain_open,  plain_fstat,     changing_pread,
                                            plain_close, ignore_expected, NULL};

static void case_76_the_file_changes_during_a_read(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW};
    for (size_t i = 0; i < COUNT(streams); i++) {
        for (unsigned size = 0; size < 5; size++) { /* the last one makes it longer */
            for (unsigned at = 1;; at++) {
                on_disk d = put_on_disk(&tile_streams[streams[i]]);
                tz_error err;
                change.path = d.path;
                change.size = (off_t)(d.b->size * size / 4 + (size == 4));
                change.at = at;
                change.calls = 0;
                tz_source_set_syscalls(&changing);
                const tz_result result = read_disk(&d, 1, &err);
                tz_source_set_syscalls(NULL);
                const unsigned calls = change.calls;
                take_from_disk(&d);
                if (calls < at) {
                    assert_int_equal(result, TZ_OK);
                    assert_true(at > 2);
                    break;
                }
                assert_true(result == TZ_ERR_CHANGED ||
                            (result == TZ_ERR_FORMAT && err.cause == TZ_CAUSE_TRUNCATED));
            }
        }
    }
}

/* ---- 77: no files ---- */

static void case_77_what_is_no_file_is_refused_at_once(void **state)
{
    (void)state;
    char fifo[CHECK_PATH_SIZE], loop[CHECK_PATH_SIZE];
    check_path(fifo, "fifo");
    check_path(loop, "loop");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symlink(loop, loop), 0);
    const char *const paths[] = {"/", "/dev/zero", "/dev/null", fifo, loop, "/no/such/file"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        tz_file *file = NULL;
        tz_error err = {.result = TZ_OK};
        assert_int_equal(tz_open(&file, paths[i], NULL, &err), TZ_ERR_IO);
        assert_true(err.message[0] && !file);
    }
    check_remove(fifo);
    check_remove(loop);
}

/* ---- 78: far away ---- */

static void case_78_a_tile_at_8_gib_of_a_sparse_file(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW};
    for (size_t i = 0; i < COUNT(streams); i++) {
        const tile_stream *stream = &tile_streams[streams[i]];
        const uint64_t far = (UINT64_C(8) << 30) + 3;
        char path[CHECK_PATH_SIZE];
        check_path(path, "vast.tif");
        tb *b = tf_new(TB_BIGTIFF | TB_BIG_ENDIAN, stream, ACROSS, DOWN, NULL);
        tb_patch_tile(b, 0, 4, far, stream->size);
        tb_write_file(b, path);
        const int fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, (off_t)(UINT64_C(9) << 30)), 0);
        assert_int_equal(pwrite(fd, stream->data, stream->size, (off_t)far), stream->size);
        close(fd);
        tz_file *file = NULL;
        tz_error err;
        uint8_t *pixels;
        assert_int_equal(tz_open(&file, path, NULL, &err), TZ_OK);
        if (tf_read(file, (tz_window){0}, 2, 0xA5, &pixels, NULL, &err) != TZ_OK)
            fail_msg("%s", err.message);
        assert_true(is_whole(pixels, stream));
        free(pixels);
        tz_close(file);
        tb_free(b);
        check_remove(path);
    }
}

/* A source whose bytes from FAR on are the tile's, over and over. */
#define FAR (UINT64_C(1) << 60)

static const tb *near_part;

static tz_result far_submit(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)err;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        const bool is_far = range->offset >= FAR;
        const uint64_t at = is_far ? range->offset - FAR : range->offset;
        const uint64_t there = is_far ? sizeof stream_none : near_part->size;
        assert_true(at <= there);
        memset(range->dst, 0, range->size);
        memcpy(range->dst, (is_far ? stream_none : near_part->data) + at,
               there - at < range->size ? (size_t)(there - at) : range->size);
    }
    return TZ_OK;
}

static tz_result far_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK;
}

static void far_close(tz_source *source)
{
    (void)source;
}

static void case_78_offsets_beyond_2_to_the_53(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tf_new(f, &tile_streams[STREAM_NONE], ACROSS, DOWN, NULL);
        tz_source source = {.struct_size = sizeof source,
                            .size = FAR + 256,
                            .submit = far_submit,
                            .wait = far_wait,
                            .close = far_close};
        tz_file *file = NULL;
        tz_error err;
        uint8_t *pixels;
        tb_patch_tile(b, 0, 5, FAR, 256);
        near_part = b;
        assert_int_equal(tz_open_source(&file, &source, "far", NULL, &err), TZ_OK);
        assert_int_equal(tf_read(file, (tz_window){0}, 1, 0xA5, &pixels, NULL, &err), TZ_OK);
        assert_true(is_whole(pixels, &tile_streams[STREAM_NONE]));
        free(pixels);
        tz_close(file);
        tb_free(b);
    }
}

/* ---- 81: a million tiles that are not there ---- */

static void case_81_a_million_sparse_tiles(void **state)
{
    (void)state;
    enum { SIDE = 1000 };
    tb *b = tb_new(TB_BIGTIFF);
    tb_image(b, &(tb_spec){.width = SIDE * TILE,
                           .height = SIDE * TILE,
                           .tile_width = TILE,
                           .tile_height = TILE,
                           .compression = 5,
                           .sparse = true});
    tb_finish(b);
    tz_file *file = tf_open(b);
    plain_report report;
    tz_error err;
    uint8_t *row = malloc((size_t)SIDE * TILE * TILE);
    plain_item item = {.file = file,
                       .into = {.data = row, /* never written to by a plan */
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = SIDE * TILE,
                                .width = SIDE * TILE}};
    alloc_hook_install();
    if (plain_plan_read(&report, &item, 1, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(report.tiles, SIDE * SIDE);
    assert_int_equal(report.tiles_sparse, SIDE * SIDE);
    assert_true(alloc_hook_stats().peak_bytes < 16 * SIDE * SIDE);
    item.into.height = TILE;
    for (uint32_t i = 0; i < SIDE; i += 10) {
        item.window = (tz_window){0, (int64_t)i * TILE, SIDE * TILE, TILE};
        memset(row, 0xA5, (size_t)SIDE * TILE * TILE);
        assert_int_equal(plain_read(&item, NULL, &report, &err), TZ_OK);
        assert_int_equal(report.tiles_sparse, SIDE);
        assert_int_equal(row[0] | row[SIDE * TILE * TILE - 1], 0);
    }
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(stats.live_bytes, 0);
    free(row);
    tz_close(file);
    tb_free(b);
}

/* ---- 82: wrong calls ---- */

static void case_82_wrong_arguments_cost_no_read(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tf_new(f, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
        check_reads reads = {0};
        tz_file *file = NULL;
        uint16_t pixels[TILE * TILE];
        const uint32_t bands[] = {0, 1}, far_band[] = {UINT32_MAX};
        tz_error err;
        assert_int_equal(
            tz_open_source(&file, check_source_memory(b->data, b->size, &reads), "b", NULL, &err),
            TZ_OK);
        const check_reads before = reads;
        const plain_item good = {
            .file = file,
            .window = {0, 0, TILE, TILE},
            .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, 1, TILE, TILE, 0, 0, 0}};
        plain_item bad[24];
        size_t count = 0;
#define BAD(...) (bad[count] = good, __VA_ARGS__, count++)
        BAD(bad[count].window.column = -1);
        BAD(bad[count].window.row = -1);
        BAD(bad[count].window.column = ACROSS * TILE);
        BAD(bad[count].window.column = ACROSS * TILE - TILE + 1);
        BAD(bad[count].window.row = DOWN * TILE - TILE + 1);
        BAD(bad[count].window.column = INT64_MAX);
        BAD(bad[count].window.row = INT64_MIN);
        BAD(bad[count].window.width = UINT32_MAX, bad[count].into.width = UINT32_MAX);
        BAD(bad[count].window.width = 0);
        BAD(bad[count].window.height = 0);
        BAD(bad[count].bands = bands, bad[count].band_count = 2, bad[count].into.bands = 2);
        BAD(bad[count].bands = far_band, bad[count].band_count = 1);
        BAD(bad[count].bands = bands, bad[count].band_count = 0);
        BAD(bad[count].into.bands = 0);
        BAD(bad[count].into.bands = 2);
        BAD(bad[count].into.data = NULL);
        BAD(bad[count].into.dtype = TZ_DTYPE_NONE);
        BAD(bad[count].into.dtype = (tz_dtype)99);
        BAD(bad[count].level = 1);
        BAD(bad[count].mask_itself = true);
        BAD(bad[count].file = NULL);
        BAD(bad[count].mask = good.into);
#undef BAD
        for (size_t i = 0; i < count; i++) {
            memset(pixels, 0x77, sizeof pixels);
            err = (tz_error){.result = TZ_OK};
            if (plain_read(&bad[i], NULL, NULL, &err) != TZ_ERR_ARG || err.cause != TZ_CAUSE_ARG)
                fail_msg("item %zu: %s", i, err.message);
            assert_int_equal(plain_plan_read(NULL, &bad[i], 1, NULL, NULL), TZ_ERR_ARG);
            const plain_item two[] = {good, bad[i]}; /* nor does the good one before it */
            assert_int_equal(plain_read_batch(two, 2, NULL, NULL, NULL), TZ_ERR_ARG);
            assert_int_equal(pixels[0], 0x7777);
        }
        assert_int_equal(plain_read_batch(NULL, 1, NULL, NULL, &err), TZ_ERR_ARG);
        tz_read_options how = {.struct_size = 1};
        assert_int_equal(plain_read(&good, &how, NULL, &err), TZ_ERR_ARG);
        how.struct_size = (size_t)1 << 20;
        assert_int_equal(plain_read(&good, &how, NULL, &err), TZ_ERR_ARG);
        assert_int_equal(reads.ranges, before.ranges);
        assert_int_equal(plain_read_batch(NULL, 0, NULL, NULL, &err), TZ_OK);
        assert_int_equal(plain_read(&good, NULL, NULL, &err), TZ_OK);
        assert_true(reads.ranges > before.ranges);
        tz_close(file);
        tb_free(b);
    }
}

/* A buffer that no type is aligned to. */
static void case_82_unaligned_buffers_are_fine(void **state)
{
    (void)state;
    static const tz_dtype types[] = {TZ_DTYPE_UINT16, TZ_DTYPE_INT32, TZ_DTYPE_FLOAT64,
                                     TZ_DTYPE_COMPLEX_FLOAT32, TZ_DTYPE_FLOAT16};
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    for (size_t i = 0; i < COUNT(types); i++) {
        for (size_t shift = 1; shift < 8; shift++) {
            const size_t size = tz_dtype_size(types[i]);
            uint8_t *aligned = malloc(PIXELS * size);
            uint8_t *memory = malloc(PIXELS * size + shift);
            plain_item item = {.file = file,
                               .into = {.data = aligned,
                                        .dtype = types[i],
                                        .bands = 1,
                                        .height = DOWN * TILE,
                                        .width = ACROSS * TILE}};
            assert_int_equal(plain_read(&item, NULL, NULL, NULL), TZ_OK);
            item.into.data = memory + shift;
            assert_int_equal(plain_read(&item, NULL, NULL, NULL), TZ_OK);
            assert_memory_equal(aligned, memory + shift, PIXELS * size);
            free(aligned);
            free(memory);
        }
    }
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_73_cut_off_at_every_byte),
        CASE(case_74_every_bit_of_header_and_directories),
        CASE(case_76_the_file_shrinks),
        CASE(case_76_the_file_grows),
        CASE(case_76_the_file_is_written_to),
        CASE(case_76_the_file_is_deleted_or_replaced),
        CASE(case_76_the_file_changes_during_a_read),
        CASE(case_77_what_is_no_file_is_refused_at_once),
        CASE(case_78_a_tile_at_8_gib_of_a_sparse_file),
        CASE(case_78_offsets_beyond_2_to_the_53),
        CASE(case_81_a_million_sparse_tiles),
        CASE(case_82_wrong_arguments_cost_no_read),
        CASE(case_82_unaligned_buffers_are_fine),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
