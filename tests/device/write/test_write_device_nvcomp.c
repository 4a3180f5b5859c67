/* SPDX-License-Identifier: Apache-2.0
 * Writes whose tiles nvCOMP encodes, with fakes of three releases on the fake of libcuda: files
 * that the CPU reads as the same pixels, whatever the codec, the tiles, the level and the way rows
 * come; and one call of it for a batch, however many tiles there are. */
#include "support/device/device_rows.h"
#include "support/device/nvcomp_write.h"

/* ---- files ---- */

static void codecs_of_all_releases(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 45, 37, true);
    for (size_t i = 0; i < RELEASES; i++) {
        tz_device *device = open_device(libraries[i]);
        for (size_t k = 0; k < CODECS; k++) {
            const tz_write_options options = options_of(codecs[k], device);
            SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
            check_use(report, names[i]);
        }
        close_it(device);
    }
    raster_free(&r);
}

/* Blocks of LZ4 have codes by their size; tiles of noise are stored as they are. */
static void tiles_of_all_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {16, 48, 272, 1024};
    tz_device *device = open_device(NVCOMP_FAKE_6);
    for (size_t i = 0; i < 4; i++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 1, sizes[i] + 7, 20, false);
        uint8_t *pixels = r.pixels.data;
        uint32_t noise = 1;
        for (uint32_t k = 0; i == 1 && k < r.spec.width * 20; k++)
            pixels[k] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24);
        for (size_t k = 0; k < CODECS; k++) {
            tz_write_options options = options_of(codecs[k], device);
            options.tile_width = sizes[i];
            options.tile_height = sizes[i] == 1024 ? 80 : sizes[i]; /* 80 KiB */
            options.codec.predictor = 1;
            SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
            check_use(report, names[2]);
        }
        raster_free(&r);
    }
    close_it(device);
}

/* Rows of the host or of the device, all at once or in batches of all heights: one file. */
static void ways_to_give_rows(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, 40, 50, true);
    static const raster_variant ways[] = {{.batch = 7}, {.ragged = true}, {.pull = true}};
    tz_device *device = open_device(NVCOMP_FAKE_5);
    for (size_t k = 0; k < CODECS; k++) {
        tz_write_options options = options_of(codecs[k], device);
        options.cog = true;
        options.overview_resampling = TZ_RESAMPLING_NEAREST;
        SCOPED_WRITE_REPORT report = NULL;
        void *before = malloc(40 * 50 * 4);
        memcpy(before, r.pixels.data, 40 * 50 * 4);
        tz_memory eager = raster_write(&r, &options, NULL, &report);
        assert_memory_equal(before, r.pixels.data, 40 * 50 * 4);
        free(before);
        check_use(report, names[1]);
        raster_check(&r, &eager, NAN);
        options.max_device_bytes = report->device->memory / 3 * 2;
        tz_memory other = raster_write(&r, &options, &ways[k], &report);
        assert_true(report->device->waves > report->levels);
        raster_check_same(&eager, &other, "rows as they come");
        other = device_rows_write(&r, &options, &ways[(k + 1) % 2], &r.pixels, &report);
        raster_check_same(&eager, &other, "rows of the device");
        tz_memory_free(&eager);
    }
    close_it(device);
    raster_free(&r);
}

/* Tiles of nothing are left out, the library gets a byte instead. */
static void sparse_files(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 80, false);
    memset((uint8_t *)r.pixels.data + 64 * 16, 0, 64 * 48);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    for (size_t k = 0; k < CODECS; k++) {
        tz_write_options options = options_of(codecs[k], device);
        options.sparse = true;
        SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
        assert_int_equal(report->tiles_sparse, 12);
        assert_string_equal(report->device->library, names[2]);
        assert_int_equal(report->device->tiles_redone, 0);
        options.sparse = false;
        options.strips = true; /* the last one is shorter */
        options.tile_width = 0;
        options.tile_height = 9;
        clear_write_report(&report);
        report = write_right(&r, &options, NULL);
        check_use(report, names[2]);
    }
    memset(r.pixels.data, 0, 64 * 80); /* no tile at all */
    tz_write_options options = options_of(TZ_COMPRESSION_ZSTD, device);
    options.sparse = true;
    SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
    assert_int_equal(report->tiles_sparse, 20);
    assert_int_equal(report->device->downloads, 1); /* results */
    close_it(device);
    raster_free(&r);
}

/* Deflate at any level; levels that it does not have are reported, once. */
static void levels(void **state)
{
    (void)state;
    static const struct {
        tz_compression compression;
        int32_t level;
        const char *warning;
    } cases[] = {{TZ_COMPRESSION_DEFLATE, TZ_EFFORT_FAST, NULL},
                 {TZ_COMPRESSION_DEFLATE, 1, NULL},
                 {TZ_COMPRESSION_DEFLATE, 6, NULL},
                 {TZ_COMPRESSION_DEFLATE, 9, NULL},
                 {TZ_COMPRESSION_DEFLATE, 12, "nvCOMP 5.3.0 has no level 12 of DEFLATE"},
                 {TZ_COMPRESSION_ZSTD, 9, NULL},
                 {TZ_COMPRESSION_ZSTD, 3, "nvCOMP 5.3.0 has no level 3 of ZSTD"},
                 {TZ_COMPRESSION_LZ4, 1, NULL},
                 {TZ_COMPRESSION_LZ4, 12, "nvCOMP 5.3.0 has no level 12 of LZ4"}};
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, false);
    tz_device *device = open_device(NVCOMP_FAKE_5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_write_options options = options_of(cases[i].compression, device);
        options.codec.effort = cases[i].level;
        options.cog = true;
        SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
        assert_string_equal(report->device->library, names[1]);
        const uint32_t rare = cases[i].compression == TZ_COMPRESSION_LZ4; /* reported before */
        assert_int_equal(report->warning_count, rare + (cases[i].warning != NULL));
        const tz_error *warning = tz_write_report_get_warning(report, rare);
        if (cases[i].warning && !strstr(warning->message, cases[i].warning))
            fail_msg("%s", warning->message);
    }
    close_it(device);
    raster_free(&r);
}

/* Levels of Deflate are different algorithms, which their scratch memory shows: of tiles as small
 * as these those of the middle take most. */
static void algorithms(void **state)
{
    (void)state;
    static const int32_t levels[] = {TZ_EFFORT_FAST, 6, 9, 1, 3};
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    uint64_t before = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
        options.codec.effort = levels[i];
        SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
        assert_true(report->device->memory > before);
        before = report->device->memory;
    }
    close_it(device);
    raster_free(&r);
}

/* Without the option, bytes are those of the CPU. */
static void the_option_is_needed(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 50, 50, false);
    tz_device *device = open_device(NVCOMP_FAKE_6);
    for (size_t k = 0; k < CODECS; k++) {
        tz_write_options options = options_of(codecs[k], device);
        options.codec.effort = k == 0 ? TZ_EFFORT_FAST : 0;
        options.allow_vendor_codecs = false;
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory mine = raster_write(&r, &options, NULL, &report);
        assert_string_equal(report->device->library, "");
        assert_int_equal(report->device->library_calls, 0);
        options.device = NULL;
        options.allow_vendor_codecs = true; /* of no device */
        tz_memory cpu = raster_write(&r, &options, NULL, NULL);
        raster_check_same(&mine, &cpu, "without libraries");
        tz_memory_free(&mine);
    }
    close_it(device);
    raster_free(&r);
}

/* ---- calls ---- */

typedef struct calls {
    size_t of_nvcomp, compress, launches, up, down, pinned, allocations, syncs;
} calls;

static calls count_calls(tz_device *device, tz_compression compression, uint32_t across,
                         uint32_t down)
{
    raster r = raster_make(TZ_DTYPE_UINT8, 1, across * 16, down * 16, false);
    tz_write_options options = options_of(compression, device);
    options.verify = TZ_VERIFY_NONE;
    (void)write_right(&r, &options, NULL); /* what is made once */
    cuda_fake_reset(control);
    control->keep_steps = true;
    SCOPED_WRITE_REPORT report = write_right(&r, &options, NULL);
    assert_int_equal(report->device->waves, 1);
    assert_int_equal(report->device->tiles, across * down);
    assert_int_equal(report->device->downloads, 2); /* results, and tiles */
    const calls c = {.of_nvcomp = steps_with(control, "nvcomp"),
                     .compress = steps_with(control, "CompressAsync"),
                     .launches = steps_with(control, "cuLaunchKernel"),
                     .up = steps_with(control, "cuMemcpyHtoD"),
                     .down = steps_with(control, "cuMemcpyDtoH"),
                     .pinned = steps_with(control, "cuMemHostAlloc"),
                     .allocations = steps_with(control, "cuMemAlloc"),
                     .syncs = steps_with(control, "Synchronize")};
    raster_free(&r);
    return c;
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    for (size_t k = 0; k < CODECS; k++) {
        tz_device *device = open_device(libraries[k]);
        const calls one = count_calls(device, codecs[k], 1, 1);
        const calls ten = count_calls(device, codecs[k], 5, 2);
        const calls many = count_calls(device, codecs[k], 40, k == 0 ? 25 : 2);
        assert_int_equal(one.compress, 1);
        assert_int_equal(one.of_nvcomp, 6); /* alignment, room, scratch of one, some, the batch */
        assert_int_equal(one.up, 2);
        assert_int_equal(one.down, 2);
        assert_memory_equal(&ten, &one, sizeof one);
        assert_memory_equal(&many, &one, sizeof one);
        close_it(device);
    }
}

int main(void)
{
    control = cuda_fake_load();
    const struct CMUnitTest tests[] = {
        NVCOMP(codecs_of_all_releases),
        NVCOMP(tiles_of_all_sizes),
        NVCOMP(ways_to_give_rows),
        NVCOMP(sparse_files),
        NVCOMP(levels),
        NVCOMP(algorithms),
        NVCOMP(the_option_is_needed),
        NVCOMP(calls_do_not_depend_on_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
