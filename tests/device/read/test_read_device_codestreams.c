/* SPDX-License-Identifier: Apache-2.0
 * Reads whose tiles nvJPEG2000 decodes, with its fake on that of libcuda: the CPU's pixels;
 * calls that do not grow with tiles but for those that each takes; and what the library is not
 * given, or fails with, by the CPU, each tile on its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_codestreams.h"
#include "support/device/codestream_case.h"
#include "support/plain_read.h"

enum { STATES = 8 };
static const char name[] = "nvJPEG2000 0.11.0";

static tz_read_options with(tz_device *device)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    return how;
}

/* ---- pixels ---- */

typedef struct form {
    tz_dtype dtype;
    uint32_t bands;
    bool strips, planes;
    tz_window window;
    uint64_t tiles; /* under it */
} form;

static const form forms[] = {
    {TZ_DTYPE_UINT8, 1, false, false, {0}, 6},
    {TZ_DTYPE_UINT16, 3, false, false, {0}, 6},
    {TZ_DTYPE_INT16, 4, false, false, {0}, 6},
    {TZ_DTYPE_UINT8, 3, true, false, {0}, 4},
    {TZ_DTYPE_INT16, 1, true, false, {3, 20, 60, 25}, 2},
    {TZ_DTYPE_UINT16, 4, false, true, {10, 5, 20, 20}, 4},
    {TZ_DTYPE_UINT8, 4, false, false, {33, 30, 37, 20}, 4},
    {TZ_DTYPE_UINT16, 1, false, false, {0}, 6},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static codestream_image image_of(const form *f)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_JPEG2000);
    options.strips = f->strips;
    options.tile_width = f->strips ? 0 : options.tile_width;
    options.tile_height = f->strips ? 16 : options.tile_height;
    options.interleave = f->planes ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
    return codestream_write(f->dtype, f->bands, &options, f->window);
}

static void pixels_are_those_of_the_cpu(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = with(device);
    how.strict_device = true;
    for (size_t i = 0; i < 2 * FORMS; i++) {
        const form *f = &forms[i / 2];
        codestream_image image = image_of(f);
        codestream_cuda->reversed = i % 2;
        const plain_report report = codestream_read(&image, &how);
        assert_int_equal(report.device.tiles, report.tiles);
        assert_true(report.tiles >= f->tiles);
        assert_int_equal(report.device.tiles_on_cpu, 0);
        assert_int_equal(report.device.tiles_redone, 0);
        assert_int_equal(report.device.library_calls, 1);
        assert_string_equal(report.device.library, name);
        assert_string_equal(report.device.library_reason, "");
        codestream_free(&image);
    }
    codestream_close(device);
}

/* Files of several codecs in one batch, for memory of the host and of the device. */
static void batches_of_files(void **state)
{
    (void)state;
    codestream_image images[] = {image_of(&forms[0]), codestream_tiles(STREAM_DEFLATE, 3, 2),
                                 image_of(&forms[2]), codestream_tiles(STREAM_NONE, 3, 2),
                                 image_of(&forms[4]), codestream_tiles(STREAM_LERC, 3, 2)};
    enum { COUNT = sizeof images / sizeof images[0] };
    codestream_image *list[COUNT];
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = with(device);
    for (size_t i = 0; i < COUNT; i++)
        list[i] = &images[i];
    for (unsigned i = 0; i < 4; i++) {
        plain_report report;
        tz_error err;
        codestream_cuda->reversed = i % 2;
        assert_int_equal(codestream_try(list, COUNT, &how, i / 2, &report, &err), TZ_OK);
        assert_int_equal(report.device.library_calls, 1);
        assert_int_equal(report.device.tiles_redone, 0);
        assert_int_equal(report.device.tiles_on_cpu, 6); /* of LERC */
        for (size_t k = 0; k < COUNT; k++)
            codestream_check(&images[k]);
    }
    for (size_t i = 0; i < COUNT; i++)
        codestream_free(&images[i]);
    codestream_close(device);
}

/* ---- calls ---- */

typedef struct calls {
    size_t uploads, downloads, allocations, pinned, made, of_device;
} calls;

static calls count_calls(tz_device *device, uint32_t across, uint32_t down)
{
    const size_t tiles = (size_t)across * down;
    const tz_read_options how = with(device);
    codestream_image image = codestream_tiles(STREAM_JP2, across, down);
    (void)codestream_read(&image, &how); /* what is made once */
    codestream_keep_steps();
    const plain_report report = codestream_read(&image, &how);
    codestream_cuda->keep_steps = false;
    assert_int_equal(report.device.tiles, tiles);
    assert_int_equal(report.device.syncs, 1);
    assert_int_equal(codestream_calls("nvjpeg2kDecodeImage"), tiles);
    assert_int_equal(codestream_calls("nvjpeg2kStreamParse"), tiles);
    assert_in_range(codestream_calls("cuStreamSynchronize"), 1,
                    1 + (tiles > STATES ? tiles - STATES : 0));
    codestream_free(&image);
    return (calls){codestream_calls("cuMemcpyHtoD"),
                   codestream_calls("cuMemcpyDtoH"),
                   codestream_calls("cuMemAlloc"),
                   codestream_calls("cuMemHostAlloc"),
                   codestream_calls("nvjpeg2kCreate") +
                       codestream_calls("nvjpeg2kDecodeStateCreate") +
                       codestream_calls("nvjpeg2kStreamCreate") +
                       codestream_calls("cuEventCreate") + codestream_calls("cuStreamCreate"),
                   codestream_calls("cuCtxSynchronize")};
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        codestream_cuda->reversed = reversed;
        const calls one = count_calls(device, 1, 1);
        const calls ten = count_calls(device, 5, 2);
        const calls many = count_calls(device, 40, 25);
        assert_int_equal(one.uploads, 1);
        assert_int_equal(one.downloads, 1);
        assert_int_equal(one.made, 0);
        assert_int_equal(one.of_device, 0);
        assert_memory_equal(&ten, &one, sizeof one);
        assert_memory_equal(&many, &one, sizeof one);
    }
    codestream_close(device);
}

/* Without tiles it is not even loaded. */
static void nothing_to_read(void **state)
{
    (void)state;
    tz_read_options how = with(codestream_open(NVJPEG2K_FAKE));
    tz_error err;
    codestream_keep_steps();
    assert_int_equal(plain_read_batch(NULL, 0, &how, NULL, &err), TZ_OK);
    assert_int_equal(codestream_calls("nvjpeg2k"), 0);
    codestream_close(how.device);
}

/* Streams are side by side: none waits for what another decodes. */
static void codestreams_overlap(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = with(device);
    codestream_image image = codestream_tiles(STREAM_JP2, STATES, 1);
    uint64_t streams[STATES];
    size_t count = 0;
    (void)codestream_read(&image, &how);
    codestream_keep_steps();
    (void)codestream_read(&image, &how);
    for (size_t i = 0; i < codestream_cuda->step_count; i++) {
        const cuda_fake_step *step = &codestream_cuda->steps[i];
        if (strcmp(step->call, "nvjpeg2kDecodeImage") == 0)
            streams[count++] = step->stream;
        assert_true(strcmp(step->call, "+nvjpeg2kDecodeImage") != 0 || count == STATES);
    }
    assert_int_equal(count, STATES);
    for (size_t i = 1; i < STATES; i++)
        assert_true(streams[i] != streams[i - 1]);
    assert_int_equal(codestream_calls("cuStreamSynchronize"), 1);
    codestream_free(&image);
    codestream_close(device);
}

/* Little pinned memory: states are used again by the next wave. */
static void many_waves(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = with(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 20, 15);
    how.max_host_bytes = 300000;
    how.threads = 1;
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        codestream_cuda->reversed = reversed;
        const plain_report report = codestream_read(&image, &how);
        assert_true(report.device.waves >= 3);
        assert_int_equal(report.device.library_calls, report.device.waves);
        assert_int_equal(report.device.tiles, 300);
    }
    codestream_free(&image);
    codestream_close(device);
}

typedef struct reader {
    codestream_image image;
    tz_device *device;
    tz_result result;
    plain_report report;
} reader;

static void *read_in_thread(void *user)
{
    reader *r = user;
    codestream_image *image = &r->image;
    tz_read_options how = with(r->device);
    tz_error err;
    how.threads = 1;
    r->result = codestream_try(&image, 1, &how, false, &r->report, &err);
    return NULL;
}

static void threads_share_it(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    reader readers[THREADS];
    pthread_t threads[THREADS];
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){.image = codestream_tiles(STREAM_JP2, 5, 4), .device = device};
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].result, TZ_OK);
        assert_string_equal(readers[i].report.device.library, name);
        codestream_check(&readers[i].image);
        codestream_free(&readers[i].image);
    }
    codestream_close(device);
}

/* ---- what is not for it ---- */

static void lossy_tiles(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = with(device);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_JPEG2000);
    options.codec.lossless = TZ_CHOICE_NO;
    codestream_image image = codestream_write(TZ_DTYPE_UINT8, 3, &options, (tz_window){0});
    codestream_image *list = &image;
    plain_report report;
    tz_error err;
    for (unsigned on_device = 0; on_device < 2; on_device++) {
        assert_int_equal(codestream_try(&list, 1, &how, on_device, &report, &err), TZ_OK);
        codestream_check(&image);
        assert_int_equal(report.device.tiles, 0);
        assert_int_equal(report.device.tiles_on_cpu, 6);
        assert_int_equal(report.device.tiles_redone, 0);
        assert_int_equal(report.device.library_calls, 0);
        assert_non_null(strstr(report.device.library_reason, "allow_inexact"));
    }
    assert_int_equal(codestream_library->decoded, 0);
    how.strict_device = true;
    assert_int_equal(codestream_try(&list, 1, &how, false, &report, &err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "allow_inexact"));
    assert_true(err.tile >= 0);
    how.allow_vendor_codecs = how.allow_inexact = true;
    report = codestream_read(&image, &how);
    assert_int_equal(report.device.tiles, 6);
    assert_int_equal(codestream_library->decoded, 6);
    codestream_free(&image);
    codestream_close(device);
}

static void no_library(void **state)
{
    (void)state;
    static const char *const none[] = {"", "/nowhere/libnvjpeg2k.so.0"};
    codestream_image image = image_of(&forms[1]);
    codestream_image *list = &image;
    for (size_t i = 0; i < 2; i++) {
        tz_device *device = codestream_open(none[i]);
        tz_read_options how = with(device);
        plain_report report = codestream_read(&image, &how);
        tz_error err;
        assert_string_equal(report.device.library, "");
        assert_non_null(strstr(report.device.reason, "nvJPEG2000"));
        if (codestream_try(&list, 1, &how, true, &report, &err) != TZ_OK)
            fail_msg("%s", err.message);
        assert_non_null(strstr(report.device.library_reason, "nvJPEG2000"));
        assert_int_equal(report.device.tiles_on_cpu, 6);
        codestream_check(&image);
        how.strict_device = true;
        assert_int_equal(codestream_try(&list, 1, &how, false, &report, &err), TZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "nvJPEG2000"));
        codestream_close(device);
    }
    codestream_free(&image);
}

/* Its device memory is planned, and a read that needs too much is not begun. */
static void its_memory_is_planned(void **state)
{
    (void)state;
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_codestream_codec codec;
    tz_read_options how = with(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 3, 2);
    codestream_image *list = &image;
    assert_true(tz_device_find_codestream_codec(device, 34712, false, TILE * TILE, &codec));
    assert_string_equal(codec.name, name);
    plain_report report = codestream_read(&image, &how);
    assert_true(report.device.memory > codec.bytes);
    how.max_device_bytes = 2 * codec.bytes;
    report = codestream_read(&image, &how);
    assert_int_equal(report.device.tiles, 6);
    assert_true(report.device.memory <= 2 * codec.bytes);
    how.max_device_bytes = 2 * codec.bytes - 1;
    report = codestream_read(&image, &how);
    assert_int_equal(report.device.tiles, 0);
    assert_non_null(strstr(report.device.reason, "more than half"));
    tz_error err;
    how.strict_device = true;
    assert_int_equal(codestream_try(&list, 1, &how, false, &report, &err), TZ_ERR_LIMIT);
    codestream_free(&image);
    codestream_close(device);
}

/* ---- broken tiles ---- */

enum { TRUNCATED, NO_END, OTHER_SIZE, FIVE_COMPONENTS, GARBAGE, KINDS };
enum { SIZ_WIDTH = 8, SIZ_COMPONENTS = 40 };

static void break_tile(tb *b, uint64_t tile, int kind)
{
    const tile_stream *stream = &tile_streams[STREAM_JP2];
    uint8_t *bytes = malloc(stream->size);
    size_t size = stream->size;
    memcpy(bytes, stream->data, size);
    size -= kind == TRUNCATED ? 40 : kind == NO_END ? 2 : 0;
    bytes[SIZ_WIDTH + 3] = (uint8_t)(kind == OTHER_SIZE ? 17 : TILE);
    bytes[SIZ_COMPONENTS + 1] = kind == FIVE_COMPONENTS ? 5 : 1;
    if (kind == GARBAGE)
        memset(bytes, 0x5A, size);
    tf_put(b, tile, bytes, size);
    free(bytes);
}

/* Returns true if the CPU can read such a tile. */
static bool is_bearable(int kind)
{
    return kind == NO_END;
}

static void check_tiles(const codestream_image *image, const tz_tile_status *statuses,
                        uint64_t count)
{
    const uint32_t width = image->item.into.width;
    for (uint64_t i = 0; i < count; i++) {
        const bool is_broken = i >= 1 && i <= KINDS && !is_bearable((int)i - 1);
        assert_int_equal(statuses[i].result, is_broken ? TZ_ERR_FORMAT : TZ_OK);
        for (uint32_t k = 0; k < TILE * TILE; k++) {
            const size_t x = i % (width / TILE) * TILE + k % TILE;
            const size_t y = i / (width / TILE) * TILE + k / TILE;
            assert_int_equal(
                image->found[y * width + x],
                is_broken ? 0 : tf_pixel(&tile_streams[STREAM_JP2], 0, k / TILE, k % TILE));
        }
    }
}

static void broken_tiles(void **state)
{
    (void)state;
    enum { ACROSS = 5, TILES = 15 };
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    const tz_read_options how = with(device);
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_JP2], ACROSS, TILES / ACROSS, NULL);
    for (int kind = 0; kind < KINDS; kind++)
        break_tile(b, (uint64_t)kind + 1, kind);
    codestream_image image = codestream_take(b);
    codestream_image *list = &image;
    for (unsigned i = 0; i < 4; i++) {
        tz_tile_status statuses[TILES];
        plain_outcome outcome = {.tiles = statuses, .tile_room = TILES};
        plain_report report;
        tz_error err;
        image.item.outcome = &outcome;
        codestream_cuda->reversed = i % 2;
        assert_int_equal(codestream_try(&list, 1, &how, i / 2, &report, &err), TZ_OK);
        assert_int_equal(outcome.tiles_failed, KINDS - 1);
        assert_int_equal(report.device.tiles, TILES - KINDS);
        assert_int_equal(report.device.tiles_on_cpu, KINDS);
        check_tiles(&image, statuses, TILES);
        image.item.outcome = NULL;
        assert_int_equal(codestream_try(&list, 1, &how, i / 2, &report, &err), TZ_ERR_FORMAT);
        assert_int_equal(err.tile, 1);
    }
    codestream_free(&image);
    codestream_close(device);
}

/* Tiles that it does not take, or that it has no memory for. */
static void tiles_that_it_fails_with(void **state)
{
    (void)state;
    static const char *const functions[] = {"nvjpeg2kStreamParse", "nvjpeg2kDecodeImage"};
    static const int32_t codes[] = {5, 6, 7, 8}; /* all of them are of the codestream */
    enum { TILES = 12, BAD_JPEG = 3 };
    tz_device *device = codestream_open(NVJPEG2K_FAKE);
    tz_read_options how = with(device);
    codestream_image image = codestream_tiles(STREAM_JP2, 4, 3);
    codestream_image *list = &image;
    plain_report report;
    tz_error err;
    (void)codestream_read(&image, &how);
    for (unsigned i = 0; i < 4 * TILES; i++) {
        codestream_cuda->fail_function = functions[i % 2];
        codestream_cuda->fail_nth = i / 4 + 1;
        codestream_cuda->fail_code = i % 2 ? codes[i / 2 % 4] : BAD_JPEG;
        assert_int_equal(codestream_try(&list, 1, &how, i / 2 % 2, &report, &err), TZ_OK);
        codestream_check(&image);
        assert_int_equal(report.device.tiles, TILES - 1);
        assert_int_equal(report.device.tiles_redone, 1);
    }
    how.strict_device = true;
    codestream_cuda->fail_nth = 3;
    assert_int_equal(codestream_try(&list, 1, &how, false, &report, &err), TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, "the CPU may not"));
    codestream_free(&image);
    codestream_close(device);
}

/* It is tried on a known codestream, once, and then given tiles or not. */
static void it_fails_its_trial(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        int32_t code;
    } cases[] = {{"nvjpeg2kDecodeImage", 6},
                 {"nvjpeg2kDecodeImage", 7},
                 {"nvjpeg2kDecodeImage", 3},
                 {"nvjpeg2kStreamParse", 8},
                 {"nvjpeg2kCreateSimple", 7}};
    codestream_image image = image_of(&forms[1]);
    codestream_image *list = &image;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_device *device = codestream_open_untried(NVJPEG2K_FAKE);
        const tz_read_options how = with(device);
        plain_report report;
        tz_error err;
        codestream_cuda->fail_function = cases[i].function;
        codestream_cuda->fail_nth = 1;
        codestream_cuda->fail_code = cases[i].code;
        for (unsigned turn = 0; turn < 2; turn++) {
            codestream_keep_steps();
            assert_int_equal(codestream_try(&list, 1, &how, true, &report, &err), TZ_OK);
            codestream_check(&image);
            assert_string_equal(report.device.id, "cuda:0");
            assert_int_equal(report.device.tiles_on_cpu, 6);
            assert_non_null(strstr(report.device.library_reason, "nvJPEG2000"));
        }
        assert_int_equal(codestream_calls("nvjpeg2k"), 0); /* of the second turn */
        codestream_close(device);
        cuda_fake_reset(codestream_cuda);
    }
    codestream_free(&image);
}

int main(void)
{
    codestream_load();
    const struct CMUnitTest tests[] = {
        CODESTREAM_TEST(pixels_are_those_of_the_cpu),
        CODESTREAM_TEST(batches_of_files),
        CODESTREAM_TEST(calls_do_not_depend_on_tiles),
        CODESTREAM_TEST(nothing_to_read),
        CODESTREAM_TEST(codestreams_overlap),
        CODESTREAM_TEST(many_waves),
        CODESTREAM_TEST(threads_share_it),
        CODESTREAM_TEST(lossy_tiles),
        CODESTREAM_TEST(no_library),
        CODESTREAM_TEST(its_memory_is_planned),
        CODESTREAM_TEST(broken_tiles),
        CODESTREAM_TEST(tiles_that_it_fails_with),
        CODESTREAM_TEST(it_fails_its_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
