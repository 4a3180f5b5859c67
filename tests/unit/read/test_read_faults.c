/* SPDX-License-Identifier: Apache-2.0
 * Reading when memory runs out, at every allocation in turn, and when the system or the source
 * fails, at every call in turn: a clear error, nothing kept, and the handle is as good as before.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

enum { ACROSS = 3, DOWN = 2, SIZE = ACROSS * DOWN * TILE * TILE };

/* ---- what is read ---- */

/* Bands in an order of their own, as float, with a mask, boundless: all that takes memory. */
static tz_result read_much(const tz_file *file, uint32_t threads, float *pixels, tz_error *err)
{
    static const uint32_t bands[] = {0, 0};
    static uint8_t mask[2 * SIZE];
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = threads;
    how.scaled = true;
    how.nodata_to_nan = true;
    how.boundless = true;
    how.has_fill = true, how.fill = -1;
    const plain_item items[] = {{.file = file,
                                 .window = {-TILE, 0, ACROSS * TILE, DOWN * TILE},
                                 .bands = bands,
                                 .band_count = 2,
                                 .into = {.data = pixels,
                                          .dtype = TZ_DTYPE_FLOAT32,
                                          .bands = 2,
                                          .height = DOWN * TILE,
                                          .width = ACROSS * TILE},
                                 .mask = {.data = mask,
                                          .dtype = TZ_DTYPE_UINT8,
                                          .bands = 2,
                                          .height = DOWN * TILE,
                                          .width = ACROSS * TILE}},
                                {.file = file,
                                 .window = {0, 0, ACROSS * TILE, DOWN * TILE},
                                 .bands = bands,
                                 .band_count = 1,
                                 .into = {.data = pixels + 2 * SIZE,
                                          .dtype = TZ_DTYPE_FLOAT32,
                                          .bands = 1,
                                          .height = DOWN * TILE,
                                          .width = ACROSS * TILE}}};
    return plain_read_batch(items, 2, &how, NULL, err);
}

static void check_pixels(const float *pixels, const tile_stream *stream)
{
    for (uint32_t i = 0; i < 3 * SIZE; i++) {
        const uint32_t row = i / (ACROSS * TILE), column = i % (ACROSS * TILE);
        const bool filled = i < 2 * SIZE && column < TILE;
        assert_true(pixels[i] ==
                    (filled ? -1.0f : (float)tf_pixel(stream, 0, row % TILE, column % TILE)));
    }
}

static void check_much(const tz_file *file, const tile_stream *stream)
{
    float *pixels = calloc(3 * SIZE, sizeof *pixels);
    tz_error err;
    if (read_much(file, 1, pixels, &err) != TZ_OK)
        fail_msg("%s: %s", stream->name, err.message);
    check_pixels(pixels, stream);
    free(pixels);
}

/* ---- memory ---- */

/* Returns whether something was made to fail. */
static bool read_with_failure(const tz_file *file, uint64_t n, bool persistent, uint32_t threads)
{
    float *pixels = calloc(3 * SIZE, sizeof *pixels);
    tz_error err = {.result = TZ_OK};
    alloc_hook_install();
    alloc_hook_fail_at(n, persistent);
    const tz_result result = read_much(file, threads, pixels, &err);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    free(pixels);
    assert_true(alloc_hook_kept_nothing(&stats));
    if (result != TZ_OK) {
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_int_equal(err.result, TZ_ERR_NOMEM);
        assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
        assert_true(err.message[0] != '\0');
        assert_true(stats.failures > 0);
    }
    return stats.failures > 0;
}

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        const tile_stream *stream = &tile_streams[i];
        if (!tf_available(stream))
            continue;
        for (unsigned persistent = 0; persistent < 2; persistent++) {
            for (uint32_t threads = 1; threads <= 2; threads++) {
                tb *b = tf_new(TB_BIG_ENDIAN, stream, ACROSS, DOWN, NULL);
                tz_file *file = tf_open(b);
                uint64_t n = 1;
                while (read_with_failure(file, n, persistent, threads))
                    n++;
                assert_true(n > 4);
                check_much(file, stream);
                tz_close(file);
                tb_free(b);
            }
        }
    }
}

static void plans_fail_cleanly_too(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_LZW], ACROSS, DOWN, NULL);
    tz_file *file = tf_open(b);
    uint8_t pixels[SIZE];
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = DOWN * TILE,
                                      .width = ACROSS * TILE}};
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = plain_plan_read(NULL, &item, 1, NULL, NULL);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_true(alloc_hook_kept_nothing(&stats));
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        /* counting cores takes memory too, and can do without */
        assert_true(result == TZ_ERR_NOMEM || result == TZ_OK);
    }
    tz_close(file);
    tb_free(b);
}

/* ---- system calls ---- */

static struct {
    int number;   /* errno; 0: none */
    bool goes_on; /* the calls after it fail too */
    unsigned pread_at, fstat_at;
    unsigned preads, fstats;
    size_t most; /* bytes of one pread; 0: all */
} faults;

static int plain_open(const char *path, int flags)
{
    return open(path, flags);
}

static bool fails_at(unsigned call, unsigned at)
{
    return at > 0 && (call == at || (faults.goes_on && call > at));
}

static int failing_fstat(int fd, struct stat *out)
{
    if (fails_at(++faults.fstats, faults.fstat_at)) {
        errno = faults.number;
        return -1;
    }
    return fstat(fd, out);
}

static long failing_pread(int fd, void *dst, size_t size, int64_t offset)
{
    if (fails_at(__atomic_add_fetch(&faults.preads, 1, __ATOMIC_SEQ_CST), faults.pread_at)) {
        errno = faults.number;
        return -1;
    }
    return pread(fd, dst, faults.most > 0 && size > faults.most ? faults.most : size,
                 (off_t)offset);
}

static int plain_close(int fd)
{
    return close(fd);
}

/* Prefetch requests of the reader. They are refused: nothing may depend on them. */
static struct {
    unsigned calls;
    int64_t end; /* of the last range */
    bool again;  /* a range was asked for twice */
} expected;

static int refuse_expected(int fd, int64_t offset, int64_t size)
{
    (void)fd;
    expected.calls++;
    expected.again = expected.again || offset < expected.end;
    expected.end = offset + size;
    return EINVAL;
}

static const tz_source_syscalls failing = {plain_open,  failing_fstat,   failing_pread,
                                           plain_close, refuse_expected, NULL};

static tz_file *open_on_disk(const tile_stream *stream, char path[CHECK_PATH_SIZE])
{
    tb *b = tf_new(TB_BIGTIFF, stream, ACROSS, DOWN, NULL);
    tz_file *file = NULL;
    check_path(path, "faults.tif");
    tb_write_file(b, path);
    tb_free(b);
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    return file;
}

static tz_result read_with_faults(const tz_file *file, const tile_stream *stream, tz_error *err)
{
    float *pixels = calloc(3 * SIZE, sizeof *pixels);
    *err = (tz_error){.result = TZ_OK};
    faults.preads = faults.fstats = 0;
    alloc_hook_install();
    tz_source_set_syscalls(&failing);
    const tz_result result = read_much(file, 2, pixels, err);
    tz_source_set_syscalls(NULL);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_true(alloc_hook_kept_nothing(&stats));
    assert_int_equal(err->result, result);
    if (result == TZ_OK)
        check_pixels(pixels, stream);
    free(pixels);
    return result;
}

static void every_pread_fails_in_turn(void **state)
{
    (void)state;
    static const int numbers[] = {EIO, ENOMEM, ESTALE, EAGAIN};
    char path[CHECK_PATH_SIZE];
    for (int s = STREAM_NONE; s <= STREAM_LZW; s++) {
        tz_file *file = open_on_disk(&tile_streams[s], path);
        for (size_t k = 0; k < 2 * (sizeof numbers / sizeof numbers[0]); k++) {
            const size_t i = k / 2;
            const bool goes_on = k % 2;
            for (unsigned at = 1;; at++) {
                tz_error err;
                memset(&faults, 0, sizeof faults);
                faults.number = numbers[i];
                faults.goes_on = goes_on;
                faults.pread_at = at;
                const tz_result result = read_with_faults(file, &tile_streams[s], &err);
                if (faults.preads < at) {
                    assert_int_equal(result, TZ_OK);
                    assert_true(at > 1); /* the tile table may be known already */
                    break;
                }
                assert_int_equal(result, TZ_ERR_IO);
                assert_int_equal(err.cause, TZ_CAUSE_IO);
                assert_int_equal(err.system_error, numbers[i]);
                assert_true(err.offset != TZ_NO_VALUE);
            }
            check_much(file, &tile_streams[s]);
        }
        tz_close(file);
        check_remove(path);
    }
}

static void interrupted_and_short_preads_change_nothing(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE];
    tz_file *file = open_on_disk(&tile_streams[STREAM_LZW], path);
    for (unsigned at = 1; at < 9; at++) {
        tz_error err;
        memset(&faults, 0, sizeof faults);
        faults.number = EINTR;
        faults.pread_at = at;
        faults.most = at;
        assert_int_equal(read_with_faults(file, &tile_streams[STREAM_LZW], &err), TZ_OK);
    }
    check_much(file, &tile_streams[STREAM_LZW]);
    tz_close(file);
    check_remove(path);
}

static void every_fstat_fails_in_turn(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE];
    tz_file *file = open_on_disk(&tile_streams[STREAM_LZW], path);
    for (unsigned at = 1;; at++) {
        tz_error err;
        memset(&faults, 0, sizeof faults);
        faults.number = EIO;
        faults.fstat_at = at;
        const tz_result result = read_with_faults(file, &tile_streams[STREAM_LZW], &err);
        if (faults.fstats < at) {
            assert_int_equal(result, TZ_OK);
            assert_true(at > 1);
            break;
        }
        assert_int_equal(result, TZ_ERR_IO);
        assert_int_equal(err.system_error, EIO);
    }
    tz_close(file);
    check_remove(path);
}

/* ---- sources of the caller's ---- */

typedef struct moody_source {
    tz_source source;
    const tb *b;
    unsigned calls;
    unsigned fail_at;
    bool goes_on;
    unsigned pending; /* submitted with success and not waited for */
} moody_source;

static bool fails_now(moody_source *self)
{
    const unsigned call = __atomic_add_fetch(&self->calls, 1, __ATOMIC_SEQ_CST);
    return self->fail_at > 0 && (call == self->fail_at || (self->goes_on && call > self->fail_at));
}

static tz_result moody_submit(tz_source *source, tz_request *request, tz_error *err)
{
    moody_source *self = (moody_source *)source;
    if (fails_now(self))
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, request->ranges[0].offset,
                            "submit does not feel like it");
    __atomic_add_fetch(&self->pending, 1, __ATOMIC_SEQ_CST);
    return TZ_OK;
}

/* Bytes arrive here, not before. */
static tz_result moody_wait(tz_source *source, tz_request *request, tz_error *err)
{
    moody_source *self = (moody_source *)source;
    __atomic_sub_fetch(&self->pending, 1, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset > source->size || range->size > source->size - range->offset)
            return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, range->offset, "too far");
        memcpy(range->dst, self->b->data + range->offset, range->size);
    }
    if (fails_now(self))
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, request->ranges[0].offset,
                            "wait gave up");
    return TZ_OK;
}

static tz_result moody_check(tz_source *source, tz_error *err)
{
    if (fails_now((moody_source *)source))
        return tz_error_set(err, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED, TZ_NO_VALUE,
                            "it is another one");
    return TZ_OK;
}

static void moody_close(tz_source *source)
{
    (void)source;
}

static void every_call_of_a_source_fails_in_turn(void **state)
{
    (void)state;
    for (int s = STREAM_NONE; s <= STREAM_LZW; s++) {
        tb *b = tf_new(TB_CLASSIC, &tile_streams[s], ACROSS, DOWN, NULL);
        moody_source moody = {.source = {.struct_size = sizeof(tz_source),
                                         .size = b->size,
                                         .submit = moody_submit,
                                         .wait = moody_wait,
                                         .check = moody_check,
                                         .close = moody_close},
                              .b = b};
        tz_file *file = NULL;
        float *pixels = calloc(3 * SIZE, sizeof *pixels);
        assert_int_equal(tz_open_source(&file, &moody.source, "moody", NULL, NULL), TZ_OK);
        for (uint32_t k = 0; k < 6; k++) {
            const uint32_t threads = 1 + k / 2;
            moody.goes_on = k % 2;
            for (unsigned at = 1;; at++) {
                tz_error err = {.result = TZ_OK};
                moody.calls = 0;
                moody.fail_at = at;
                alloc_hook_install();
                const tz_result result = read_much(file, threads, pixels, &err);
                const alloc_stats stats = alloc_hook_stats();
                alloc_hook_remove();
                assert_true(alloc_hook_kept_nothing(&stats));
                assert_int_equal(moody.pending, 0);
                if (moody.calls < at) {
                    assert_int_equal(result, TZ_OK);
                    assert_true(at > 3);
                    break;
                }
                if (result == TZ_OK && !moody.goes_on) {
                    check_pixels(pixels, &tile_streams[s]);
                    continue;
                }
                const bool told = (result == TZ_ERR_IO && err.cause == TZ_CAUSE_REMOTE) ||
                                  (result == TZ_ERR_CHANGED && err.cause == TZ_CAUSE_CHANGED);
                assert_true(told && err.result == result && err.message[0]);
            }
        }
        moody.fail_at = 0;
        check_much(file, &tile_streams[s]);
        free(pixels);
        tz_close(file);
        tb_free(b);
    }
}

/* ---- a slow disk ---- */

/* Slower than memory for a fetch of any size here: what comes next is then asked for ahead. */
enum { SLOW_NANOSECONDS = 5000000 };

static long slow_pread(int fd, void *dst, size_t size, int64_t offset)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000L + (now.tv_nsec - start.tv_nsec) <
             SLOW_NANOSECONDS);
    return pread(fd, dst, size, (off_t)offset);
}

static void slow_reads_ask_ahead_for_the_next(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    const tz_source_syscalls slow = {plain_open,  fstat,           slow_pread,
                                     plain_close, refuse_expected, NULL};
    const tile_stream *stream = &tile_streams[STREAM_NONE];
    const size_t size = (size_t)SIDE * TILE * SIDE * TILE;
    tb *b = tf_new(TB_CLASSIC, stream, SIDE, SIDE, NULL);
    char path[CHECK_PATH_SIZE];
    tz_file *file = NULL;
    uint8_t *pixels = NULL;
    plain_report report;
    check_path(path, "slow.tif");
    tb_write_file(b, path);
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    memset(&expected, 0, sizeof expected);
    tz_source_set_syscalls(&slow);
    assert_int_equal(
        tf_read(file, (tz_window){0, 0, SIDE * TILE, SIDE * TILE}, 1, 0xA5, &pixels, &report, NULL),
        TZ_OK);
    tz_source_set_syscalls(NULL);
    assert_true(report.requests > 2);
    /* each once, and all but the first ones that the workers begin with */
    assert_false(expected.again);
    assert_true(expected.calls < report.requests);
    assert_true(expected.calls + report.threads >= report.requests);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(pixels[i], tf_pixel(stream, 0, (uint32_t)(i / (SIDE * TILE) % TILE),
                                             (uint32_t)(i % TILE)));
    free(pixels);
    tz_close(file);
    tb_free(b);
}

/* ---- warnings ---- */

/* Uncompressed tiles that could be copied together, if each had not bytes after its pixels. */
static void tiles_with_extra_bytes_are_counted_once(void **state)
{
    (void)state;
    static const uint8_t longer[TILE * TILE + 3];
    const tile_stream *stream = &tile_streams[STREAM_NONE];
    tb *b = tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
    char path[CHECK_PATH_SIZE];
    tz_file *file = NULL;
    uint8_t *pixels = NULL;
    plain_report report;
    for (uint64_t i = 0; i < ACROSS * DOWN; i++)
        tf_put(b, i, longer, sizeof longer);
    check_path(path, "longer.tif");
    tb_write_file(b, path);
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    assert_int_equal(tf_read(file, (tz_window){0, 0, ACROSS * TILE, DOWN * TILE}, 1, 0xA5, &pixels,
                             &report, NULL),
                     TZ_OK);
    assert_int_equal(report.warning_count, 1);
    assert_int_equal(report.warnings[0].count, ACROSS * DOWN);
    free(pixels);
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_allocation_fails_in_turn),    CASE(plans_fail_cleanly_too),
        CASE(every_pread_fails_in_turn),         CASE(interrupted_and_short_preads_change_nothing),
        CASE(every_fstat_fails_in_turn),         CASE(every_call_of_a_source_fails_in_turn),
        CASE(slow_reads_ask_ahead_for_the_next), CASE(tiles_with_extra_bytes_are_counted_once),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
