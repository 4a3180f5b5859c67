/* SPDX-License-Identifier: Apache-2.0
 * The stages of a write overlap: while the source is asked for the next rows, tiles of the rows
 * before are encoded and written. The source here does not give its second slab until a tile of
 * the first has reached the sink; if they did not overlap, that would never be. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "support/raster.h"

typedef struct stage {
    tz_sink sink;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned writes;
    unsigned reads;
    bool waited_in_vain;
} stage;

static tz_result on_write(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                          tz_error *err)
{
    stage *s = (stage *)sink;
    (void)offset, (void)pieces, (void)count, (void)err;
    pthread_mutex_lock(&s->lock);
    s->writes++;
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    return TZ_OK;
}

static tz_result on_read(void *user, const tz_window *window, const tz_buffer *pixels,
                         const tz_buffer *mask, tz_error *err)
{
    stage *s = user;
    (void)window, (void)mask, (void)err;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60; /* for ever, but a test that fails should end */
    memset(pixels->data, 1, (size_t)pixels->row_stride * pixels->height);
    pthread_mutex_lock(&s->lock);
    while (s->reads == 1 && s->writes == 0 && !s->waited_in_vain)
        s->waited_in_vain = pthread_cond_timedwait(&s->moved, &s->lock, &end) == ETIMEDOUT;
    s->reads++;
    pthread_mutex_unlock(&s->lock);
    return TZ_OK;
}

static void rows_are_taken_while_tiles_are_written(void **state)
{
    (void)state;
    stage s = {.sink = {.struct_size = sizeof(tz_sink), .write = on_write},
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .moved = PTHREAD_COND_INITIALIZER};
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 1 << 14;
    spec.height = 2048;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.threads = 2;
    const tz_row_source source = {.struct_size = sizeof source, .read = on_read, .user = &s};
    tz_writer *writer = NULL;
    tz_error err = {0};
    assert_int_equal(tz_create_sink(&writer, &s.sink, NULL, &spec, &options, &err), TZ_OK);
    assert_int_equal(tz_write_from(writer, &source, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    assert_false(s.waited_in_vain);
    assert_true(s.reads >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_taken_while_tiles_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
