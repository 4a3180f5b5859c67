/* SPDX-License-Identifier: Apache-2.0
 * Reads whose tiles nvJPEG2000 decodes at a lower resolution of their own, with its fake on that
 * of libcuda: the CPU's pixels; calls that do not grow with tiles but for those that each takes;
 * and what has no such resolution, or is not for the library, by the CPU. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/device_codestreams.h"
#include "support/device/codestream_case.h"
#include "support/plain_read.h"

static tz_read_options reducing(tz_device *device)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    how.reduced_tiles = true;
    return how;
}

/* From here on the image is wanted smaller, and these are the CPU's pixels. */
static void shrink(codestream_image *image, unsigned times)
{
    const tz_read_options how = reducing(NULL);
    const tz_info *info = tz_file_get_info(image->file);
    tz_buffer *into = &image->item.into;
    tz_error err;
    into->width = (info->width + (1u << times) - 1) >> times;
    into->height = (info->height + (1u << times) - 1) >> times;
    into->data = image->expected;
    image->size = (size_t)into->width * into->height * into->bands * tz_dtype_size(into->dtype);
    if (plain_read(&image->item, &how, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    into->data = image->found;
}

static codestream_image shrunk(tz_dtype dtype, uint32_t bands, const tz_write_options *options,
                               unsigned times)
{
    codestream_image image = codestream_write(dtype, bands, options, (tz_window){0});
    shrink(&image, times);
    return image;
}

/* ---- pixels ---- */

typedef struct form {
    tz_dtype dtype;
    uint32_t bands;
    bool strips, planes;
} form;

static const form forms[] = {
    {TZ_DTYPE_UINT8, 1, false, false}, {TZ_DTYPE_UINT16, 3, false, false},
    {TZ_DTYPE_INT16, 4, false, false}, {TZ_DTYPE_UINT8, 3, true, false},
    {TZ_DTYPE_UINT16, 2, false, true},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static codestream_image image_of(const form *f, unsigned times)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_JPEG2000);
    options.strips = f->strips;
    options.tile_width = f->strips ? 0 : options.tile_width;
    options.tile_height = f->strips ? 16 : options.tile_height;
    options.interleave = f->planes ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
    return shrunk(f->dtype, f->bands, &options, times);
}

/* The last strip has two rows, and one step of wavelets. */
static uint64_t tiles_on_cpu_of(const form *f, unsigned times)
{
    return f->strips && times > 1 ? 1 : 0;
}

static void pixels_are_those_of_the_cpu(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = reducing(device);
    for (unsigned i = 0; i < 4 * 3 * FORMS; i++) {
        const form *f = &forms[i / 4 % FORMS];
        const unsigned times = i / 4 / FORMS + 1;
        codestream_image image = image_of(f, times);
        codestream_image *list = &image;
        plain_report report;
        plain_outcome outcome = {0};
        tz_error err;
        image.item.outcome = &outcome;
        codestream_cuda->reversed = i % 2;
        codestream_keep_steps();
        if (codestream_try(&list, 1, &how, i / 2 % 2, &report, &err) != TZ_OK)
            fail_msg("%s", err.message);
        codestream_check(&image);
        assert_int_equal(outcome.reduction, times);
        assert_false(outcome.resampled);
        assert_int_equal(report.tiles_reduced, report.tiles);
        assert_int_equal(report.device.tiles_on_cpu, tiles_on_cpu_of(f, times));
        assert_int_equal(report.device.tiles, report.tiles - tiles_on_cpu_of(f, times));
        assert_int_equal(report.device.tiles_redone, 0);
        assert_int_equal(report.device.library_calls, 1);
        assert_int_equal(report.device.uploads, 1);
        assert_int_equal(codestream_calls("nvjpeg2kDecodeTile"), report.device.tiles);
        assert_int_equal(codestream_calls("nvjpeg2kDecodeImage"), 0);
        codestream_free(&image);
    }
    codestream_close(device);
}

/* The same file at three resolutions, in one batch and one call. */
static void resolutions_of_one_batch(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    codestream_image images[COUNT];
    codestream_image *list[COUNT];
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = reducing(device);
    for (unsigned i = 0; i < COUNT; i++) {
        images[i] = image_of(&forms[1], 1);
        shrink(&images[i], i);
        list[i] = &images[i];
    }
    for (unsigned i = 0; i < 4; i++) {
        plain_report report;
        tz_error err;
        codestream_cuda->reversed = i % 2;
        assert_int_equal(codestream_try(list, COUNT, &how, i / 2, &report, &err), TZ_OK);
        assert_int_equal(report.device.library_calls, 1);
        assert_int_equal(report.device.tiles, 4 * 6);
        assert_int_equal(report.tiles_reduced, 3 * 6);
        for (size_t k = 0; k < COUNT; k++)
            codestream_check(&images[k]);
    }
    for (size_t i = 0; i < COUNT; i++)
        codestream_free(&images[i]);
    codestream_close(device);
}

/* ---- calls ---- */

typedef struct calls {
    size_t uploads, downloads, allocations, pinned, launches;
} calls;

static calls count_calls(tz_device *device, uint32_t across, uint32_t down)
{
    const size_t tiles = (size_t)across * down;
    const tz_read_options how = reducing(device);
    codestream_image image = codestream_tiles(STREAM_JP2, across, down);
    shrink(&image, 1);
    (void)codestream_read(&image, &how); /* what is made once */
    codestream_keep_steps();
    const plain_report report = codestream_read(&image, &how);
    codestream_cuda->keep_steps = false;
    assert_int_equal(report.device.tiles, tiles);
    assert_int_equal(report.device.syncs, 1);
    assert_int_equal(codestream_calls("nvjpeg2kDecodeTile"), tiles);
    assert_int_equal(codestream_calls("nvjpeg2kStreamParse"), tiles);
    codestream_free(&image);
    return (calls){codestream_calls("cuMemcpyHtoD"), codestream_calls("cuMemcpyDtoH"),
                   codestream_calls("cuMemAlloc"), codestream_calls("cuMemHostAlloc"),
                   codestream_calls("cuLaunchKernel")};
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const calls one = count_calls(device, 1, 1);
    const calls ten = count_calls(device, 5, 2);
    const calls many = count_calls(device, 40, 25);
    assert_int_equal(one.uploads, 1);
    assert_int_equal(one.downloads, 1);
    assert_memory_equal(&ten, &one, sizeof one);
    assert_memory_equal(&many, &one, sizeof one);
    codestream_close(device);
}

/* Rows in the slab, and pixels that come down, are those of small tiles. */
static void less_memory(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = reducing(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 40, 25);
    const plain_report whole = codestream_read(&image, &how);
    shrink(&image, 1);
    const plain_report half = codestream_read(&image, &how);
    assert_int_equal(whole.tiles_reduced, 0);
    assert_int_equal(half.device.download_bytes * 4, whole.device.download_bytes);
    assert_true(half.device.memory < whole.device.memory);
    assert_int_equal(half.bytes_decoded * 4, whole.bytes_decoded);
    codestream_free(&image);
    codestream_close(device);
}

/* ---- what is not for it ---- */

/* Tiles of 16 x 16 have been halved once at most: the rest are means, which the library has not. */
static void too_few_resolutions(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = reducing(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 4, 3);
    codestream_image *list = &image;
    plain_report report;
    tz_error err;
    shrink(&image, 2);
    for (unsigned on_device = 0; on_device < 2; on_device++) {
        assert_int_equal(codestream_try(&list, 1, &how, on_device, &report, &err), TZ_OK);
        codestream_check(&image);
        assert_int_equal(report.device.tiles, 0);
        assert_int_equal(report.device.tiles_on_cpu, 12);
        assert_int_equal(report.tiles_reduced, 12);
        assert_true(report.device.library_reason[0] != '\0');
    }
    assert_int_equal(codestream_library->decoded, 0);
    how.strict_device = true;
    assert_int_equal(codestream_try(&list, 1, &how, false, &report, &err), TZ_ERR_UNSUPPORTED);
    assert_int_equal(err.tile, 0);
    codestream_free(&image);
    codestream_close(device);
}

static void lossy_tiles(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = reducing(device);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_JPEG2000);
    options.codec.lossless = TZ_CHOICE_NO;
    codestream_image image = shrunk(TZ_DTYPE_UINT8, 3, &options, 2);
    plain_report report = codestream_read(&image, &how);
    assert_int_equal(report.device.tiles, 0);
    assert_non_null(strstr(report.device.library_reason, "allow_inexact"));
    how.allow_vendor_codecs = how.allow_inexact = true;
    report = codestream_read(&image, &how);
    assert_int_equal(report.device.tiles, 6);
    assert_int_equal(report.tiles_reduced, 6);
    codestream_free(&image);
    codestream_close(device);
}

/* The remaining scale is resampled by the CPU. */
static void other_sizes(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = reducing(device);
    codestream_image image = image_of(&forms[0], 1);
    codestream_image *list = &image;
    plain_report report;
    tz_error err;
    image.item.into.width = 17;
    image.item.into.height = 11;
    image.size = 17 * 11;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    for (unsigned on_device = 0; on_device < 2; on_device++) {
        how.device = NULL;
        image.item.into.data = image.expected;
        assert_int_equal(plain_read(&image.item, &how, NULL, &err), TZ_OK);
        image.item.into.data = image.found;
        how.device = device;
        assert_int_equal(codestream_try(&list, 1, &how, on_device, &report, &err), TZ_OK);
        codestream_check(&image);
        assert_int_equal(report.tiles_reduced, 6);
        assert_string_equal(report.device.reason, "the CPU resamples the pixels that are read");
    }
    codestream_free(&image);
    codestream_close(device);
}

static void tiles_that_it_fails_with(void **state)
{
    (void)state;
    static const char *const functions[] = {"nvjpeg2kStreamParse", "nvjpeg2kDecodeTile"};
    enum { TILES = 12, BAD_JPEG = 3, NO_MEMORY = 5 };
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = reducing(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 4, 3);
    codestream_image *list = &image;
    shrink(&image, 1);
    (void)codestream_read(&image, &how);
    for (unsigned i = 0; i < 4 * TILES; i++) {
        plain_report report;
        tz_error err;
        codestream_cuda->fail_function = functions[i % 2];
        codestream_cuda->fail_nth = i / 4 + 1;
        codestream_cuda->fail_code = i % 2 ? NO_MEMORY : BAD_JPEG;
        assert_int_equal(codestream_try(&list, 1, &how, i / 2 % 2, &report, &err), TZ_OK);
        codestream_check(&image);
        assert_int_equal(report.device.tiles, TILES - 1);
        assert_int_equal(report.device.tiles_redone, 1);
    }
    codestream_free(&image);
    codestream_close(device);
}

/* ---- hostile streams ---- */

/* Bytes changed at random: what the library is given has the headers that it should have, and all
 * else is the CPU's. Those may take what the fake has decoded to garbage, so that pixels are not
 * compared; results are. */
static void damaged_streams(void **state)
{
    (void)state;
    const tile_stream *stream = &tile_streams[STREAM_JP2];
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = reducing(device);
    uint32_t random = 3;
    for (unsigned i = 0; i < 300; i++) {
        uint8_t *bytes = malloc(stream->size);
        memcpy(bytes, stream->data, stream->size);
        random = random * 1664525u + 1013904223u;
        bytes[(random >> 8) % (i % 2 ? stream->size : 70)] ^= (uint8_t)(1u << (random >> 5 & 7));
        tb *b = tf_new(TB_CLASSIC, stream, 2, 1, NULL);
        tf_put(b, 1, bytes, stream->size);
        free(bytes);
        codestream_image image = {.built = b, .file = tf_open(b)};
        tz_tile_status statuses[2];
        plain_outcome outcome = {.tiles = statuses, .tile_room = 2};
        tz_error err;
        uint8_t pixels[16 * 8];
        image.item = (plain_item){
            .file = image.file,
            .into = {.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .width = 16, .height = 8},
            .outcome = &outcome};
        assert_int_equal(plain_read(&image.item, &how, NULL, &err), TZ_OK);
        const uint64_t failed = outcome.tiles_failed;
        const tz_read_options cpu = reducing(NULL);
        assert_int_equal(plain_read(&image.item, &cpu, NULL, &err), TZ_OK);
        assert_true(failed <= outcome.tiles_failed);
        assert_int_equal(statuses[0].result, TZ_OK);
        codestream_free(&image);
    }
    codestream_close(device);
}

/* ---- the call itself ---- */

static void what_a_batch_may_ask_for(void **state)
{
    (void)state;
    const tile_stream *stream = &tile_streams[STREAM_JP2];
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_device_memory *slab;
    tz_error err;
    tz_codestream picture = {.bytes = stream->data,
                             .size = stream->size,
                             .width = 8,
                             .height = 8,
                             .decode_reduction = 1,
                             .samples = 1,
                             .sample_bytes = 1};
    tz_codestream_batch batch = {.compression = 34712, .codestreams = &picture, .count = 1};
    assert_int_equal(tz_device_memory_alloc(&slab, device, 64, &err), TZ_OK);
    batch.slab = slab;
    assert_int_equal(tz_device_decode_codestreams(0, &batch, &err), TZ_OK);
    assert_false(picture.failed);
    picture.decode_reduction = 2; /* the stream has no such resolution */
    picture.width = picture.height = 4;
    assert_int_equal(tz_device_decode_codestreams(0, &batch, &err), TZ_OK);
    assert_true(picture.failed);
    picture.decode_reduction = 1; /* and this one has another size */
    assert_int_equal(tz_device_decode_codestreams(0, &batch, &err), TZ_OK);
    assert_true(picture.failed);
    picture.decode_reduction = 33;
    assert_int_equal(tz_device_decode_codestreams(0, &batch, &err), TZ_ERR_ARG);
    picture.decode_reduction = 1;
    batch.compression = 7;
    assert_int_equal(tz_device_decode_codestreams(0, &batch, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_OK);
    assert_int_equal(codestream_library->decoded, 1);
    tz_device_memory_free(slab);
    codestream_close(device);
}

int main(void)
{
    codestream_load();
    const struct CMUnitTest tests[] = {
        CODESTREAM_TEST(pixels_are_those_of_the_cpu),
        CODESTREAM_TEST(resolutions_of_one_batch),
        CODESTREAM_TEST(calls_do_not_depend_on_tiles),
        CODESTREAM_TEST(less_memory),
        CODESTREAM_TEST(too_few_resolutions),
        CODESTREAM_TEST(lossy_tiles),
        CODESTREAM_TEST(other_sizes),
        CODESTREAM_TEST(tiles_that_it_fails_with),
        CODESTREAM_TEST(damaged_streams),
        CODESTREAM_TEST(what_a_batch_may_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
