/* SPDX-License-Identifier: Apache-2.0
 * A Cloud Optimized GeoTIFF that is much larger than the memory it may take: what the kernel says
 * of the process, every row asked for once, and the pixels of all levels. With TERRAZZO_LONG it has
 * 40,000 x 40,000 pixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/plain_read.h"
#include "support/raster.h"
#include "support/scratch.h"

#define MIB ((uint64_t)1 << 20)

typedef struct large_case {
    uint32_t size; /* rows and columns */
    uint64_t memory;
} large_case;

static large_case chosen(void)
{
    const char *is_long = getenv("TERRAZZO_LONG");
    if (is_long && *is_long)
        return (large_case){40000, 256 * MIB};
    return (large_case){5000, 48 * MIB};
}

/* Bytes that the kernel says, of a line of /proc/self/status. */
static uint64_t status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kibibytes = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) == 0)
            kibibytes = strtoull(line + strlen(name), NULL, 10);
    }
    if (file)
        fclose(file);
    return kibibytes << 10;
}

/* Something to compress, which four pixels that become one have twice with either sign. */
static float noise_at(int64_t row, int64_t column)
{
    const uint32_t cell = (uint32_t)(row / 2) * 40503u + (uint32_t)(column / 2) * 9973u;
    const uint32_t size = (cell ^ cell >> 7) % 64;
    return (row + column) % 2 == 0 ? (float)size : -(float)size;
}

/* A slope, all of whose means are exact: of a level that is 2^n times smaller. */
static float value_at(uint32_t level, int64_t row, int64_t column)
{
    const float scale = (float)(1u << level);
    const float y = ((float)row + 0.5f) * scale - 0.5f;
    const float x = ((float)column + 0.5f) * scale - 0.5f;
    return 0.25f * y + 0.5f * x + (level == 0 ? noise_at(row, column) : 0);
}

typedef struct asked {
    uint8_t *times; /* by row */
    uint64_t most;  /* bytes of anonymous memory, at any request */
} asked;

static tz_result give(void *user, const tz_window *window, const tz_buffer *pixels,
                      const tz_buffer *mask, tz_error *err)
{
    asked *a = user;
    (void)mask, (void)err;
    for (uint32_t y = 0; y < window->height; y++) {
        float *to = (float *)(void *)((uint8_t *)pixels->data + (int64_t)y * pixels->row_stride);
        a->times[window->row + y]++;
        for (uint32_t x = 0; x < window->width; x++)
            to[x] = value_at(0, window->row + y, window->column + x);
    }
    const uint64_t now = status_of("RssAnon:");
    a->most = now > a->most ? now : a->most;
    return TZ_OK;
}

static void write_it(const large_case *c, asked *a, tz_write_report **report)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = spec.height = c->size;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_FLOAT32;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.cog = true;
    options.overview_resampling = TZ_RESAMPLING_AVERAGE;
    options.codec.compression = TZ_COMPRESSION_LZW;
    if (tz_build_feature("libdeflate")) {
        options.codec.compression = TZ_COMPRESSION_DEFLATE;
        options.codec.effort = -1;
    }
    options.max_host_bytes = c->memory;
    options.threads = 2;
    options.no_sync = true;
    const tz_row_source source = {.struct_size = sizeof source, .read = give, .user = a};
    tz_writer *writer = NULL;
    tz_error err = {0};
    tz_result result = tz_create(&writer, scratch_path("large.tif"), &spec, &options, &err);
    if (result == TZ_OK)
        result = tz_write_from(writer, &source, &err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, &err);
    tz_writer_close(writer);
    if (result != TZ_OK)
        fail_msg("%s", err.message);
}

/* Some rows of a level, from the first to the last. */
static void check_level(const tz_file *file, uint32_t index)
{
    enum { ROWS = 7 };
    const tz_level *level = tz_file_get_level(file, index);
    const uint32_t step = level->height > ROWS ? (level->height - 1) / ROWS : 1;
    float *row = malloc(level->width * sizeof *row);
    for (uint32_t y = 0; y < level->height; y += step) {
        const plain_item item = {
            .file = file,
            .level = index,
            .window = {.column = 0, .row = y, .width = level->width, .height = 1},
            .into = {.data = row,
                     .dtype = TZ_DTYPE_FLOAT32,
                     .bands = 1,
                     .height = 1,
                     .width = level->width}};
        tz_error err = {0};
        if (plain_read(&item, NULL, NULL, &err) != TZ_OK)
            fail_msg("%s", err.message);
        for (uint32_t x = 0; x < level->width; x++)
            if (row[x] != value_at(index, y, x))
                fail_msg("level %u, row %u, column %u: %g, not %g", index, y, x, (double)row[x],
                         (double)value_at(index, y, x));
    }
    free(row);
}

static void check_file(const large_case *c, uint32_t levels)
{
    tz_file *file = NULL;
    tz_error err = {0};
    if (tz_open(&file, scratch_path("large.tif"), NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tz_file_get_info(file)->level_count, levels);
    uint32_t size = c->size;
    for (uint32_t i = 0; i < levels && size << i == c->size; i++, size /= 2)
        check_level(file, i);
    tz_close(file);
}

static void memory_stays_below_the_cap(void **state)
{
    (void)state;
    const large_case c = chosen();
    asked a = {.times = calloc(c.size, 1)};
    SCOPED_WRITE_REPORT report = NULL;
    write_it(&c, &a, &report);
    const uint64_t peak = status_of("VmHWM:") - status_of("RssFile:");
    for (uint32_t row = 0; row < c.size; row++)
        assert_int_equal(a.times[row], 1);
    print_message("# cap %llu MiB, planned %llu, anonymous memory %llu at requests, %llu ever; "
                  "%llu MiB of file, %llu spooled\n",
                  (unsigned long long)(c.memory >> 20),
                  (unsigned long long)(report->peak_host_bytes >> 20),
                  (unsigned long long)(a.most >> 20), (unsigned long long)(peak >> 20),
                  (unsigned long long)(report->file_size >> 20),
                  (unsigned long long)(report->spool_bytes >> 20));
    assert_int_equal(report->max_host_bytes, c.memory); /* it takes no more */
    assert_true(report->peak_host_bytes <= c.memory);
    assert_true(a.most > 0 && a.most <= c.memory);
    assert_true(peak <= c.memory);
    assert_true(report->bytes_pixels > 2 * c.memory);
    check_file(&c, report->levels);
    free(a.times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_stays_below_the_cap, scratch_begin, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
