/* SPDX-License-Identifier: Apache-2.0
 * Transfer of file bytes to a device, on whatever device there is: make test-gpu runs this
 * first on a card, and prints what it found. Eight reads of a file are under way at once; memory
 * that was pinned is there for the next read; cuFile reads files that are not in memory, where it
 * can, leaves those that are to the host, and leaves no log behind. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "support/check.h"
#include "support/device/test_device.h"
#include "support/gated_file.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/scratch.h"

enum { TILE = 64, ACROSS = 8, DOWN = 4, TILES = ACROSS * DOWN, READERS = 8 };

static raster image;
static tz_file *file;

static int begin(void **state)
{
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_error err;
    if (scratch_begin(state) != 0 || test_device_begin(state) != 0)
        return -1;
    image = raster_make(TZ_DTYPE_UINT8, 1, ACROSS * TILE, DOWN * TILE, false);
    how.codec.compression = TZ_COMPRESSION_NONE;
    how.tile_width = how.tile_height = TILE;
    how.alignment = 16384; /* so far apart that reads are not merged */
    tz_memory bytes = raster_write(&image, &how, NULL, NULL);
    scratch_write("file", bytes.data, bytes.size);
    tz_memory_free(&bytes);
    if (tz_open(&file, scratch_path("file"), NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int end(void **state)
{
    tz_close(file);
    raster_free(&image);
    return test_device_end(state) | scratch_end(state);
}

static plain_report read_all(void)
{
    plain_item item = {.file = file, .into = image.pixels};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    const size_t size = (size_t)image.pixels.width * image.pixels.height;
    how.device = test_device;
    how.strict_device = true;
    item.into.data = calloc(1, size);
    if (plain_read(&item, &how, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(item.into.data, image.pixels.data, size);
    free(item.into.data);
    return report;
}

static bool is_direct(void)
{
    char name[64], reason[200];
    return tz_device_find_files(test_device, name, sizeof name, reason, sizeof reason);
}

/* Bytes that cuFile reads are not reads of the host. */
static void eight_reads_are_under_way_at_once(void **state)
{
    (void)state;
    tz_tile_span first, last;
    tz_error err;
    assert_int_equal(tz_file_locate_tile(&first, file, 0, false, 0, &err), TZ_OK);
    assert_int_equal(tz_file_locate_tile(&last, file, 0, false, TILES - 1, &err), TZ_OK);
    gate_begin(READERS, TILES, first.offset, last.offset + last.size);
    const plain_report report = read_all();
    const gate_result gate = gate_end();
    print_message("report: reads of a file: %u by the host in %u rounds, %u by cuFile\n",
                  (unsigned)gate.reads, (unsigned)gate.rounds,
                  (unsigned)report.device.direct_reads);
    if (is_direct())
        return;
    assert_false(gate.failed);
    assert_int_equal(gate.reads, TILES);
    assert_int_equal(gate.rounds, TILES / READERS);
}

static void the_second_read_pins_nothing(void **state)
{
    (void)state;
    tz_device_counts before, after;
    (void)read_all();
    tz_device_get_counts(test_device, &before, NULL);
    (void)read_all();
    tz_device_get_counts(test_device, &after, NULL);
    print_message("report: pieces of pinned memory: %u in all reads, %u in the last\n",
                  (unsigned)after.pinned, (unsigned)(after.pinned - before.pinned));
    assert_int_equal(after.pinned, before.pinned);
    assert_int_equal(after.shares, before.shares);
}

/* Forgotten by the page cache, as far as the file system does so. */
static void forget_file(void)
{
    const int fd = open(scratch_path("file"), O_RDONLY);
    assert_true(fd >= 0);
    (void)fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static void cufile_reads_what_is_not_in_memory(void **state)
{
    (void)state;
    const bool had_log = access("cufile.log", F_OK) == 0;
    forget_file();
    const plain_report cold = read_all();
    gate_uncached();
    const plain_report uncached = read_all();
    (void)gate_end();
    print_message(
        "report: cuFile: %u reads of a file that was dropped from memory, %u of one that counts as "
        "such; %s\n",
        (unsigned)cold.device.direct_reads, (unsigned)uncached.device.direct_reads,
        uncached.device.direct_reason[0] ? uncached.device.direct_reason : "directly");
    assert_true((uncached.device.direct_reads > 0) != (uncached.device.direct_reason[0] != '\0'));
    assert_true(had_log || access("cufile.log", F_OK) != 0);
}

static void cufile_leaves_cached_files_to_the_host(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    const int fd = open(scratch_path("file"), O_RDONLY);
    assert_true(fd >= 0);
    while (read(fd, bytes, sizeof bytes) > 0)
        ;
    close(fd);
    const plain_report report = read_all();
    print_message("report: cuFile: %u reads of a file in memory; %s\n",
                  (unsigned)report.device.direct_reads, report.device.direct_reason);
    assert_int_equal(report.device.direct_reads, 0);
    assert_true(report.device.direct_reason[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_reads_are_under_way_at_once),
        cmocka_unit_test(the_second_read_pins_nothing),
        cmocka_unit_test(cufile_reads_what_is_not_in_memory),
        cmocka_unit_test(cufile_leaves_cached_files_to_the_host),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
