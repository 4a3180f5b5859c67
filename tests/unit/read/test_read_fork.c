/* SPDX-License-Identifier: Apache-2.0
 * Reading before and after fork: parent, child and grandchild read from a handle that was opened
 * once, with several threads each. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/tile_file.h"

enum { ACROSS = 6, DOWN = 5, PIXELS = ACROSS * DOWN * TILE * TILE };

static const tile_stream *const stream = &tile_streams[STREAM_LZW];

/* No cmocka in here: a child must not go on with the tests. */
static bool reads(const tz_file *file, uint32_t threads)
{
    uint8_t *pixels;
    bool good = tf_read(file, (tz_window){0}, threads, 0xA5, &pixels, NULL, NULL) == TZ_OK;
    for (uint32_t i = 0; good && i < PIXELS; i++) {
        const uint32_t row = i / (ACROSS * TILE), column = i % (ACROSS * TILE);
        good = pixels[i] == tf_pixel(stream, 0, row % TILE, column % TILE);
    }
    free(pixels);
    return good;
}

static bool child_is_good(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static pid_t fork_reader(const tz_file *file, int generations)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    bool good = reads(file, 4);
    if (generations > 1) {
        const pid_t child = fork_reader(file, generations - 1);
        good = reads(file, 3) && child > 0 && child_is_good(child) && good;
    }
    good = reads(file, 0) && good;
    _exit(good ? 0 : 1);
}

static void check_generations(tz_file *file)
{
    assert_true(reads(file, 4));
    for (int round = 0; round < 5; round++) {
        const pid_t pid = fork_reader(file, 3);
        assert_true(pid > 0);
        assert_true(reads(file, 4)); /* while the child reads too */
        assert_true(child_is_good(pid));
    }
    assert_true(reads(file, 4));
    tz_close(file);
}

static void a_file_in_memory(void **state)
{
    (void)state;
    tb *b = tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
    check_generations(tf_open(b));
    tb_free(b);
}

/* The descriptor is shared with the children; its position is of no concern. */
static void a_file_on_disk(void **state)
{
    (void)state;
    tb *b = tf_new(TB_BIGTIFF, stream, ACROSS, DOWN, NULL);
    char path[CHECK_PATH_SIZE];
    tz_file *file = NULL;
    check_path(path, "fork.tif");
    tb_write_file(b, path);
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    check_generations(file);
    check_remove(path);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(a_file_in_memory), CASE(a_file_on_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
