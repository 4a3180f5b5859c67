/* SPDX-License-Identifier: Apache-2.0
 * Writes whose tiles nvJPEG and nvJPEG2000 encode, with their fakes on that of libcuda: files
 * that the CPU reads as the same pixels, or of a lossy codec as those of a file that the CPU
 * wrote; the same bytes however rows come; and what a library does not encode, the CPU does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/check.h"
#include "support/device/device_rows.h"
#include "support/device/library_report.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"

#define JPEG_NAME "nvJPEG 13.2.3"
#define J2K_NAME  "nvJPEG2000 0.11.0"
enum { BAD = 3, EXECUTION_FAILED = 6 };

static cuda_fake_control *cuda;
static codestreams_fake_control *of_jpeg, *of_j2k;

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(cuda);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return cuda->live != 0 || cuda->fault[0] || of_jpeg->live != 0 || of_j2k->live != 0 ||
           of_jpeg->misuse[0] || of_j2k->misuse[0];
}

#define PICTURES(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_with(const char *jpeg, const char *j2k)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", "");
    library_set(&how, "nvjpeg", jpeg);
    library_set(&how, "nvjpeg2k", j2k);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

static tz_device *open_both(void)
{
    return open_with(NVJPEG_FAKE, NVJPEG2K_FAKE);
}

static void close_it(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static tz_write_options options_of(tz_compression compression, tz_device *device)
{
    tz_write_options options = raster_small_tiles(compression);
    options.tile_width = options.tile_height = 16;
    options.device = device;
    options.allow_vendor_codecs = options.allow_inexact = true;
    options.verify = TZ_VERIFY_ALL;
    options.threads = 1;
    return options;
}

/* ---- what the CPU reads ---- */

static uint8_t *read_level(const tz_memory *memory, const raster *r, uint32_t level, size_t *size)
{
    tz_file *file = NULL;
    tz_error err;
    if (tz_open_memory(&file, memory->data, memory->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tz_file_get_info(file)->warning_count, 0);
    const uint32_t width = (r->spec.width + (1u << level) - 1) >> level;
    const uint32_t height = (r->spec.height + (1u << level) - 1) >> level;
    const int64_t sample = (int64_t)tz_dtype_size(r->spec.dtype);
    *size = (size_t)width * height * r->spec.bands * (size_t)sample;
    const tz_buffer into = {.struct_size = sizeof(tz_buffer),
                            .data = malloc(*size),
                            .dtype = r->spec.dtype,
                            .bands = r->spec.bands,
                            .height = height,
                            .width = width,
                            .band_stride = sample * width * height,
                            .row_stride = sample * width,
                            .column_stride = sample};
    const plain_item item = {.file = file, .level = level, .into = into};
    if (plain_read(&item, NULL, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_close(file);
    return into.data;
}

/* Levels of a file are those of one that the CPU writes with the same options, pixel by pixel:
 * the fakes encode with their encoders. */
static void check_as_cpu(const raster *r, const tz_write_options *options, const tz_memory *file,
                         uint32_t levels)
{
    tz_write_options with_cpu = *options;
    with_cpu.device = NULL;
    with_cpu.strict_device = false;
    tz_memory other = raster_write(r, &with_cpu, NULL, NULL);
    for (uint32_t level = 0; level < levels; level++) {
        size_t size, same;
        uint8_t *mine = read_level(file, r, level, &size);
        uint8_t *cpu = read_level(&other, r, level, &same);
        assert_int_equal(size, same);
        assert_memory_equal(mine, cpu, size);
        free(mine);
        free(cpu);
    }
    tz_memory_free(&other);
}

/* ---- files ---- */

typedef struct kind {
    tz_compression compression;
    tz_dtype dtype;
    uint32_t bands;
    tz_photometric photometric;
    tz_interleave interleave;
    uint32_t quality;
    uint8_t subsampling;
    const char *library;
} kind;

static const kind kinds[] = {
    {TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, JPEG_NAME},
    {TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 3, TZ_PHOTOMETRIC_YCBCR, 0, 90, 0, JPEG_NAME},
    {TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 3, TZ_PHOTOMETRIC_YCBCR, 0, 30, 1, JPEG_NAME},
    {TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 4, TZ_PHOTOMETRIC_AUTO, TZ_INTERLEAVE_BAND, 50, 0,
     JPEG_NAME},
    {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, J2K_NAME},
    {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT8, 3, TZ_PHOTOMETRIC_RGB, 0, 0, 0, J2K_NAME},
    {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT16, 4, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, J2K_NAME},
    {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_INT16, 2, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, J2K_NAME},
    {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 60, 0, J2K_NAME},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_lossless(const kind *is)
{
    return is->compression == TZ_COMPRESSION_JPEG2000 && is->quality == 0;
}

static raster raster_of(const kind *is, uint32_t width, uint32_t height, bool mask)
{
    raster r = raster_make(is->dtype, is->bands, width, height, mask);
    r.spec.photometric = is->photometric;
    return r;
}

static tz_write_options options_for(const kind *is, tz_device *device)
{
    tz_write_options options = options_of(is->compression, device);
    options.interleave = is->interleave;
    options.codec.quality = is->quality;
    options.codec.lossless = is->compression == TZ_COMPRESSION_JPEG2000 && is->quality > 0
                                 ? TZ_CHOICE_NO
                                 : TZ_CHOICE_AUTO;
    options.codec.jpeg_subsampling[0] = options.codec.jpeg_subsampling[1] = is->subsampling;
    return options;
}

static uint64_t tables_size(const tz_memory *memory)
{
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&file, memory->data, memory->size, NULL, &err), TZ_OK);
    const uint64_t size = tz_file_get_level(file, 0)->jpeg_tables_size;
    tz_close(file);
    return size;
}

/* Edges that are not whole tiles, with and without a mask, as plain files and as COGs. */
static void all_kinds(void **state)
{
    (void)state;
    tz_device *device = open_both();
    for (size_t i = 0; i < KINDS; i++) {
        raster r = raster_of(&kinds[i], 45, 37, i % 2 == 0);
        tz_write_options options = options_for(&kinds[i], device);
        for (int cog = 0; cog < 2; cog++) {
            SCOPED_WRITE_REPORT report = NULL;
            options.cog = cog;
            options.overview_resampling = cog ? TZ_RESAMPLING_NEAREST : 0;
            tz_memory out = raster_write(&r, &options, NULL, &report);
            check_use(report, kinds[i].library);
            assert_int_equal(tables_size(&out), 0);
            if (is_lossless(&kinds[i]))
                raster_check(&r, &out, NAN);
            check_as_cpu(&r, &options, &out, report->levels);
            tz_memory_free(&out);
        }
        raster_free(&r);
    }
    close_it(device);
}

/* Rows of the host or of the device, all at once or in batches of all heights: one file. */
static void ways_to_give_rows(void **state)
{
    (void)state;
    static const raster_variant ways[] = {{.batch = 7}, {.ragged = true}, {.pull = true}};
    tz_device *device = open_both();
    for (size_t i = 1; i < KINDS; i += 4) {
        raster r = raster_of(&kinds[i], 40, 50, true);
        tz_write_options options = options_for(&kinds[i], device);
        options.cog = true;
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory eager = raster_write(&r, &options, NULL, &report);
        check_use(report, kinds[i].library);
        options.threads = 3;
        tz_memory other = raster_write(&r, &options, &ways[i % 3], &report);
        raster_check_same(&eager, &other, "rows as they come");
        other = device_rows_write(&r, &options, &ways[(i + 1) % 2], &r.pixels, &report);
        raster_check_same(&eager, &other, "rows of the device");
        check_use(report, kinds[i].library);
        tz_memory_free(&eager);
        raster_free(&r);
    }
    close_it(device);
}

/* Tiles of nothing are left out, and the last strip is shorter. */
static void sparse_and_strips(void **state)
{
    (void)state;
    tz_device *device = open_both();
    for (size_t i = 0; i < KINDS; i += 4) {
        raster r = raster_of(&kinds[i], 64, 80, false);
        memset((uint8_t *)r.pixels.data + 64 * 16, 0, 64 * 48);
        tz_write_options options = options_for(&kinds[i], device);
        SCOPED_WRITE_REPORT report = NULL;
        options.sparse = true;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        assert_int_equal(report->tiles_sparse, 12);
        assert_int_equal(report->device->tiles_redone, 0);
        check_as_cpu(&r, &options, &out, 1);
        tz_memory_free(&out);
        options.sparse = false;
        options.strips = true;
        options.tile_width = 0;
        options.tile_height = 24;
        out = raster_write(&r, &options, NULL, &report);
        check_use(report, kinds[i].library);
        check_as_cpu(&r, &options, &out, 1);
        tz_memory_free(&out);
        raster_free(&r);
    }
    close_it(device);
}

/* Overviews of another codec than the image: each is made by what makes it. */
static void overviews_of_their_own(void **state)
{
    (void)state;
    tz_device *device = open_both();
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 60, 60, true);
    static const tz_compression pairs[][2] = {{TZ_COMPRESSION_JPEG2000, TZ_COMPRESSION_JPEG},
                                              {TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_JPEG},
                                              {TZ_COMPRESSION_JPEG, TZ_COMPRESSION_NONE},
                                              {TZ_COMPRESSION_JPEG2000, TZ_COMPRESSION_PACKBITS}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        tz_write_options options = options_of(pairs[i][0], device);
        options.overview_codec.compression = pairs[i][1];
        options.cog = true;
        options.codec.effort = pairs[i][0] == TZ_COMPRESSION_DEFLATE ? TZ_EFFORT_FAST : 0;
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        assert_string_equal(report->device->id, "cuda:0");
        assert_true(report->device->library_calls > 0);
        check_as_cpu(&r, &options, &out, report->levels);
        tz_memory_free(&out);
    }
    raster_free(&r);
    close_it(device);
}

/* Without the option, with one that it does not have, or without the library, the CPU writes. */
static void what_is_left_to_the_cpu(void **state)
{
    (void)state;
    static const struct {
        kind is;
        const char *why;
        tz_jpeg_tables tables;
        bool other_option;
    } cases[] = {
        {{TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 3, TZ_PHOTOMETRIC_RGB, 0, 0, 0, NULL},
         "the device does not encode jpeg: the library encodes one band, or three as YCbCr",
         0,
         false},
        {{TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, NULL},
         "the device does not encode jpeg: the library does not write tables that tiles share",
         TZ_JPEG_TABLES_BOTH,
         false},
        {{TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT8, 5, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, NULL},
         "the device does not encode jpeg2000: the library encodes up to 4 bands",
         0,
         false},
        {{TZ_COMPRESSION_JPEG2000, TZ_DTYPE_INT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, NULL},
         "the device does not encode jpeg2000: the library does not encode int8",
         0,
         false},
        {{TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT8, 1, TZ_PHOTOMETRIC_AUTO, 0, 0, 0, NULL},
         "the device does not encode jpeg2000",
         0,
         true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_device *device = open_both();
        raster r = raster_of(&cases[i].is, 40, 40, false);
        tz_write_options options = options_for(&cases[i].is, device);
        options.codec.jpeg_tables = cases[i].tables;
        options.allow_vendor_codecs = !cases[i].other_option;
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        assert_string_equal(report->device->reason, cases[i].why);
        assert_string_equal(report->device->library, "");
        options.device = NULL;
        options.allow_vendor_codecs = false;
        tz_memory cpu = raster_write(&r, &options, NULL, NULL);
        raster_check_same(&out, &cpu, "by the CPU");
        tz_memory_free(&out);
        raster_free(&r);
        close_it(device);
    }
}

/* Lossy tiles of a library have other pixels, which takes a permission of its own. */
static void lossy_codecs_take_both_permissions(void **state)
{
    (void)state;
    tz_device *device = open_both();
    for (size_t i = 0; i < KINDS; i++) {
        raster r = raster_of(&kinds[i], 40, 40, false);
        tz_write_options options = options_for(&kinds[i], device);
        SCOPED_WRITE_REPORT report = NULL;
        options.allow_inexact = false;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        const bool lossless = options.codec.compression == TZ_COMPRESSION_JPEG2000 &&
                              options.codec.lossless != TZ_CHOICE_NO;
        assert_string_equal(report->device->library, lossless ? kinds[i].library : "");
        if (!lossless)
            assert_non_null(strstr(report->device->reason, "allow_inexact is not set"));
        tz_memory_free(&out);
        raster_free(&r);
    }
    close_it(device);
}

static void without_the_libraries(void **state)
{
    (void)state;
    tz_device *device = open_with("", "");
    for (size_t i = 0; i < KINDS; i += 4) {
        raster r = raster_of(&kinds[i], 40, 40, false);
        tz_write_options options = options_for(&kinds[i], device);
        SCOPED_WRITE_REPORT report = NULL;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        assert_string_equal(report->device->id, "");
        assert_non_null(strstr(report->device->reason, ": nvJPEG"));
        options.device = NULL;
        tz_memory cpu = raster_write(&r, &options, NULL, NULL);
        raster_check_same(&out, &cpu, "without libraries");
        tz_memory_free(&out);
        options.device = device;
        options.strict_device = true;
        tz_error err;
        assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_UNSUPPORTED);
        raster_free(&r);
    }
    close_it(device);
}

/* ---- what goes wrong ---- */

static void fail_at(const char *function, uint64_t nth, int32_t code)
{
    cuda->fail_function = function;
    cuda->fail_nth = nth;
    cuda->fail_code = code;
}

/* Tiles that the library does not encode come down again, and the CPU encodes them. */
static void tiles_that_fail(void **state)
{
    (void)state;
    static const char *const functions[][2] = {
        {"nvjpegEncodeImage", "nvjpegEncodeRetrieveBitstream"},
        {"nvjpeg2kEncode", "nvjpeg2kEncodeRetrieveBitstream"}};
    tz_device *device = open_both();
    for (size_t i = 0; i < 4; i++) {
        const kind *is = &kinds[i / 2 == 0 ? 1 : 5];
        raster r = raster_of(is, 60, 33, true);
        tz_write_options options = options_for(is, device);
        options.cog = true;
        SCOPED_WRITE_REPORT report = NULL;
        fail_at(functions[i / 2][i % 2], 3, BAD);
        cuda->fail_more = i % 2 == 0 ? 1 : 0;
        tz_memory out = raster_write(&r, &options, NULL, &report);
        assert_int_equal(report->device->tiles_redone, i % 2 == 0 ? 2 : 1);
        assert_string_equal(report->device->library, is->library);
        assert_non_null(strstr(report->device->library_reason, "did not encode all tiles"));
        check_as_cpu(&r, &options, &out, report->levels);
        tz_memory_free(&out);
        options.strict_device = true;
        tz_error err;
        fail_at(functions[i / 2][i % 2], 3, BAD);
        assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_UNSUPPORTED);
        raster_free(&r);
    }
    close_it(device);
}

/* All of them. */
static void a_library_that_takes_nothing(void **state)
{
    (void)state;
    tz_device *device = open_both();
    raster r = raster_of(&kinds[0], 60, 33, true);
    tz_write_options options = options_for(&kinds[0], device);
    SCOPED_WRITE_REPORT report = NULL;
    fail_at("nvjpegEncodeYUV", 1, BAD);
    cuda->fail_more = 1000;
    tz_memory out = raster_write(&r, &options, NULL, &report);
    assert_int_equal(report->device->tiles_redone, 12);
    assert_int_equal(report->device->tiles, 0);
    assert_int_equal(report->device->downloads, 3); /* results, samples, and tiles of the mask */
    check_as_cpu(&r, &options, &out, 1);
    tz_memory_free(&out);
    raster_free(&r);
    cuda_fake_reset(cuda);
    close_it(device);
}

/* Memory that the library may take is planned; a write that may have less uses fewer encoders, or
 * none. */
static void memory(void **state)
{
    (void)state;
    tz_device *device = open_both();
    raster r = raster_of(&kinds[4], 60, 60, false);
    tz_write_options options = options_for(&kinds[4], device);
    SCOPED_WRITE_REPORT all = NULL;
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory out = raster_write(&r, &options, NULL, &all);
    assert_true(all->device->memory > 8 << 20); /* a MiB for each of 8 encoders */
    options.max_device_bytes = 6 << 20;
    tz_memory other = raster_write(&r, &options, NULL, &report);
    check_use(report, J2K_NAME);
    assert_true(report->device->memory <= options.max_device_bytes);
    raster_check_same(&out, &other, "with one encoder");
    options.max_device_bytes = 1 << 20;
    other = raster_write(&r, &options, NULL, &report);
    assert_non_null(strstr(report->device->reason, "more memory than the write may hold"));
    tz_memory_free(&other);
    tz_memory_free(&out);
    raster_free(&r);
    close_it(device);
}

/* Calls fail in turn, in three ways: the write fails, or its file is right. */
static void calls_that_fail(void **state)
{
    (void)state;
    static const int32_t codes[] = {2, EXECUTION_FAILED, 700};
    for (size_t c = 0; c < 6; c++) {
        const kind *is = &kinds[c % 2 == 0 ? 0 : 4];
        raster r = raster_of(is, 20, 20, true);
        for (uint64_t n = 1;; n += 1 + n / 8) {
            tz_device *device = open_both();
            const tz_write_options options = options_for(is, device);
            tz_memory out = {0};
            tz_error err;
            fail_at(NULL, n, codes[c / 2]);
            const tz_result result = raster_try(&r, &options, NULL, &out, NULL, &err);
            const bool failed = cuda->fail_nth == 0;
            cuda->fail_nth = 0;
            if (result == TZ_OK)
                check_as_cpu(&r, &options, &out, 1);
            else
                assert_null(out.data);
            tz_memory_free(&out);
            tz_device_close(device);
            cuda_fake_reset(cuda);
            assert_int_equal(of_jpeg->live + of_j2k->live + cuda->live, 0);
            if (!failed)
                break;
        }
        raster_free(&r);
    }
}

int main(void)
{
    cuda = cuda_fake_load();
    of_jpeg = codestreams_fake_load(NVJPEG_FAKE);
    of_j2k = codestreams_fake_load(NVJPEG2K_FAKE);
    const struct CMUnitTest tests[] = {
        PICTURES(all_kinds),
        PICTURES(ways_to_give_rows),
        PICTURES(sparse_and_strips),
        PICTURES(overviews_of_their_own),
        PICTURES(what_is_left_to_the_cpu),
        PICTURES(lossy_codecs_take_both_permissions),
        PICTURES(without_the_libraries),
        PICTURES(tiles_that_fail),
        PICTURES(a_library_that_takes_nothing),
        PICTURES(memory),
        PICTURES(calls_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
