/* SPDX-License-Identifier: Apache-2.0
 * Reads whose tiles nvCOMP decodes, with fakes of three releases on the fake of libcuda: one
 * call of it for a batch, however many tiles there are; what it does not take, fails with or gets
 * wrong is decoded by the own kernels; and what it breaks is reported, or done by the CPU. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/nvcomp_fake.h"
#include "kernels/lz4_frame.h"
#include "kernels/xxhash.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

enum { PIXELS = TILE * TILE };
static const char *const libraries[] = {NVCOMP_FAKE_4, NVCOMP_FAKE_5, NVCOMP_FAKE_6};
static const char *const names[] = {"nvCOMP 4.2.0", "nvCOMP 5.3.0", "nvCOMP 6.0.0"};
enum { RELEASES = 3 };

static cuda_fake_control *control;

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(control);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return control->live != 0 || control->fault[0] != '\0';
}

#define NVCOMP(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_with(const char *library)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", library);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

static void close_it(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static nvcomp_fake_control *control_of(const char *library)
{
    void *address = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), "nvcomp_fake");
    nvcomp_fake_function get = NULL;
    assert_non_null(address);
    memcpy(&get, &address, sizeof get);
    return get();
}

/* ---- a file ---- */

typedef struct image {
    const tile_stream *stream;
    uint32_t across, down;
    tb *built;
    tz_file *file;
    uint8_t *pixels;
} image;

static image image_of(int stream, uint32_t across, uint32_t down)
{
    image i = {.stream = &tile_streams[stream], .across = across, .down = down};
    i.built = tf_new(TB_CLASSIC, i.stream, across, down, NULL);
    i.file = tf_open(i.built);
    i.pixels = malloc((size_t)across * down * TILE * TILE);
    return i;
}

/* Frames with checksums: of Zstandard, bytes as they are, and of LZ4 a block of literals. */
static size_t put_zstd(uint8_t *frame, const uint8_t *pixels)
{
    enum { HEAD = 10 };
    static const uint8_t head[HEAD] = {0x28, 0xb5, 0x2f, 0xfd, 0x64, 0, 0, 1, PIXELS >> 5, 0};
    memcpy(frame, head, HEAD);
    memcpy(frame + HEAD, pixels, PIXELS);
    tz_lz4_put_u32(frame + HEAD + PIXELS, (uint32_t)tz_kernel_xxhash64(pixels, PIXELS));
    return HEAD + PIXELS + 4;
}

static size_t put_lz4(uint8_t *frame, const uint8_t *pixels)
{
    uint8_t *block = frame + TZ_LZ4_HEADER + TZ_LZ4_BLOCK_HEADER;
    size_t size = 0;
    block[size++] = 0xf0;
    for (int left = PIXELS - 15; left >= 0; left -= 255)
        block[size++] = (uint8_t)(left < 255 ? left : 255);
    memcpy(block + size, pixels, PIXELS);
    size += PIXELS;
    tz_lz4_put_header(frame, PIXELS);
    tz_lz4_put_u32(frame + TZ_LZ4_HEADER, (uint32_t)size);
    tz_lz4_put_footer(block + size, tz_kernel_xxhash32(pixels, PIXELS));
    return TZ_LZ4_HEADER + TZ_LZ4_BLOCK_HEADER + size + TZ_LZ4_FOOTER;
}

static image image_with_sums(int stream, uint32_t across, uint32_t down)
{
    image i = {.stream = &tile_streams[stream], .across = across, .down = down};
    uint8_t pixels[PIXELS], frame[PIXELS + 64];
    for (uint32_t k = 0; k < PIXELS; k++)
        pixels[k] = tf_pixel(i.stream, 0, k / TILE, k % TILE);
    const size_t size = stream == STREAM_ZSTD ? put_zstd(frame, pixels) : put_lz4(frame, pixels);
    i.built = tf_new(TB_CLASSIC, i.stream, across, down, NULL);
    for (uint64_t tile = 0; tile < (uint64_t)across * down; tile++)
        tf_put(i.built, tile, frame, size);
    i.file = tf_open(i.built);
    i.pixels = malloc((size_t)across * down * PIXELS);
    return i;
}

static void free_image(image *i)
{
    tz_close(i->file);
    tb_free(i->built);
    free(i->pixels);
}

static tz_result read_image(image *i, const tz_read_options *how, plain_report *report,
                            tz_error *err)
{
    const plain_item item = {.file = i->file,
                             .into = {.data = i->pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = i->down * TILE,
                                      .width = i->across * TILE}};
    memset(i->pixels, 0xA5, (size_t)i->across * i->down * TILE * TILE);
    return plain_read(&item, how, report, err);
}

static void check_pixels(const image *i)
{
    const uint32_t width = i->across * TILE;
    for (uint32_t k = 0; k < width * i->down * TILE; k++)
        assert_int_equal(i->pixels[k], tf_pixel(i->stream, 0, k / width % TILE, k % TILE));
}

/* Reads it, and all pixels are right. */
static plain_report read_right(image *i, tz_device *device, uint64_t device_bytes)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = device;
    how.max_device_bytes = device_bytes;
    const tz_result result = read_image(i, &how, &report, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    check_pixels(i);
    return report;
}

/* ---- calls ---- */

typedef struct calls {
    size_t of_cuda, of_nvcomp, batches;
} calls;

static calls count_calls(tz_device *device, int stream, uint32_t across, uint32_t down)
{
    image i = image_of(stream, across, down);
    (void)read_right(&i, device, 0); /* what is made once */
    cuda_fake_reset(control);
    control->keep_steps = true;
    const plain_report report = read_right(&i, device, 0);
    const calls c = {steps_with(control, "cu"), steps_with(control, "nvcomp"),
                     steps_with(control, "DecompressAsync")};
    assert_int_equal(report.device.tiles, across * down);
    assert_int_equal(report.device.tiles_redone, 0);
    assert_int_equal(report.device.library_calls, 1);
    free_image(&i);
    return c;
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_DEFLATE, STREAM_ZSTD, STREAM_LZ4};
    for (size_t i = 0; i < 3 * RELEASES; i++) {
        const uint32_t down = streams[i % 3] == STREAM_LZ4 ? 3 : 25;
        tz_device *device = open_with(libraries[i / 3]);
        const calls one = count_calls(device, streams[i % 3], 1, 1);
        const calls ten = count_calls(device, streams[i % 3], 5, 2);
        const calls many = count_calls(device, streams[i % 3], 40, down);
        assert_int_equal(one.batches, 1);
        assert_int_equal(one.of_nvcomp, 2); /* and how much scratch it wants */
        assert_memory_equal(&ten, &one, sizeof one);
        assert_memory_equal(&many, &one, sizeof one);
        close_it(device);
    }
}

/* Without tiles it is not even loaded. */
static void nothing_to_read(void **state)
{
    (void)state;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = open_with(NVCOMP_FAKE_6);
    control->keep_steps = true;
    assert_int_equal(plain_read_batch(NULL, 0, &how, NULL, &err), TZ_OK);
    assert_int_equal(steps_with(control, "nvcomp"), 0);
    close_it(how.device);
}

static void the_report_names_it(void **state)
{
    (void)state;
    image i = image_of(STREAM_DEFLATE, 3, 2);
    for (size_t k = 0; k < RELEASES; k++) {
        tz_device *device = open_with(libraries[k]);
        const plain_report report = read_right(&i, device, 0);
        assert_string_equal(report.device.library, names[k]);
        assert_string_equal(report.device.library_reason, "");
        close_it(device);
    }
    static const char *const none[] = {"", "/nowhere/libnvcomp.so.6", NVCOMP_FAKE_7};
    for (size_t k = 0; k < 3; k++) {
        tz_device *device = open_with(none[k]);
        const plain_report report = read_right(&i, device, 0);
        assert_string_equal(report.device.library, "");
        assert_int_equal(report.device.library_calls, 0);
        assert_int_equal(report.device.tiles, 6);
        close_it(device);
    }
    free_image(&i);
}

/* Threads that want it first at the same time. */
typedef struct reader {
    image image;
    tz_device *device;
    tz_result result;
    plain_report report;
} reader;

static void *read_in_thread(void *user)
{
    reader *r = user;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = r->device;
    how.threads = 1;
    r->result = read_image(&r->image, &how, &r->report, &err);
    return NULL;
}

static void threads_look_for_it(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    reader readers[THREADS];
    pthread_t threads[THREADS];
    tz_device *device = open_with(NVCOMP_FAKE_5);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){.image = image_of(STREAM_DEFLATE, 3, 2), .device = device};
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].result, TZ_OK);
        assert_string_equal(readers[i].report.device.library, names[1]);
        check_pixels(&readers[i].image);
        free_image(&readers[i].image);
    }
    close_it(device);
}

/* Its scratch is part of the plan. */
static void waves_have_room_for_it(void **state)
{
    (void)state;
    image i = image_of(STREAM_ZSTD, 8, 4);
    for (size_t k = 0; k < RELEASES; k++) {
        tz_device *device = open_with(libraries[k]);
        const plain_report whole = read_right(&i, device, 0);
        const plain_report report = read_right(&i, device, whole.device.memory / 2);
        assert_true(report.device.memory <= whole.device.memory / 2);
        assert_true(report.device.waves > 1);
        assert_int_equal(report.device.library_calls, report.device.waves);
        assert_int_equal(report.device.tiles, 32);
        close_it(device);
    }
    free_image(&i);
}

/* ---- tiles that it fails with ---- */

/* The device's own kernels decode such a tile: nothing goes back to the CPU. */
static void wrong_chunks(void **state)
{
    (void)state;
    static const struct {
        int stream;
        int32_t status; /* 0: it does not notice, and the checksum does */
    } cases[] = {{STREAM_DEFLATE, 0}, {STREAM_DEFLATE, 12}, {STREAM_ZSTD, 0},
                 {STREAM_ZSTD, 12},   {STREAM_LZ4, 0},      {STREAM_LZ4, 12}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    for (size_t i = 0; i < CASES * RELEASES; i++) {
        const char *library = libraries[i / CASES];
        const bool lacks_sums = cases[i % CASES].stream != STREAM_DEFLATE;
        tz_device *device = open_with(library);
        steps_try_libraries(device);
        image read = lacks_sums && cases[i % CASES].status == 0
                         ? image_with_sums(cases[i % CASES].stream, 4, 2)
                         : image_of(cases[i % CASES].stream, 4, 2);
        for (uint64_t chunk = 1; chunk <= 8; chunk++) {
            *control_of(library) =
                (nvcomp_fake_control){.fail_chunk = chunk, .fail_status = cases[i % CASES].status};
            const plain_report report = read_right(&read, device, 0);
            assert_int_equal(control_of(library)->chunks, 8);
            assert_int_equal(control_of(library)->fail_chunk, 0);
            assert_int_equal(report.device.tiles, 8);
            assert_int_equal(report.device.tiles_redone, 0);
        }
        free_image(&read);
        close_it(device);
    }
}

/* ---- calls that fail ---- */

static void fail_at(const char *function, uint64_t nth, int32_t code)
{
    control->fail_function = function;
    control->fail_nth = nth;
    control->fail_code = code;
}

static void batches_that_it_does_not_take(void **state)
{
    (void)state;
    static const char *const functions[] = {"nvcompBatchedDeflateDecompressAsync",
                                            "nvcompBatchedDeflateDecompressGetTempSize"};
    image i = image_of(STREAM_DEFLATE, 3, 2);
    tz_device *device = open_with(NVCOMP_FAKE_6);
    (void)read_right(&i, device, 0);
    for (size_t k = 0; k < 2; k++) {
        fail_at(functions[k], 1, 11);
        plain_report report = read_right(&i, device, 0);
        assert_string_equal(report.device.library, "");
        assert_non_null(strstr(report.device.library_reason, "NotSupported (11)"));
        assert_int_equal(report.device.tiles, 6);
        report = read_right(&i, device, 0); /* the next may do */
        assert_string_equal(report.device.library, names[2]);
    }
    close_it(device);
    free_image(&i);
}

/* While it is looked for: it is not used then, and all else works. */
static void questions_that_fail(void **state)
{
    (void)state;
    static const char *const functions[] = {"nvcompBatchedDeflateDecompressGetRequiredAlignments",
                                            "nvcompBatchedDeflateDecompressGetTempSize"};
    image i = image_of(STREAM_DEFLATE, 3, 2);
    image other = image_of(STREAM_ZSTD, 3, 2);
    for (size_t k = 0; k < 4; k++) {
        tz_device *device = open_with(NVCOMP_FAKE_6);
        fail_at(functions[k > 0], k > 0 ? k : 1, 10);
        plain_report report = read_right(&i, device, 0);
        assert_string_equal(report.device.library, "");
        assert_int_equal(report.device.tiles, 6);
        report = read_right(&other, device, 0);
        assert_string_equal(report.device.library, names[2]);
        close_it(device);
    }
    free_image(&i);
    free_image(&other);
}

/* Answers of its own, while the device works: it is not used any more, and the device is. */
static void it_misbehaves(void **state)
{
    (void)state;
    static const int32_t codes[] = {10, 1000, 10000};
    image i = image_of(STREAM_DEFLATE, 3, 2);
    image other = image_of(STREAM_LZ4, 3, 2);
    image not_its = image_of(STREAM_LZW, 3, 2);
    for (size_t k = 0; k < 3 * RELEASES; k++) {
        tz_device *device = open_with(libraries[k / 3]);
        (void)read_right(&i, device, 0);
        fail_at("nvcompBatchedDeflateDecompressAsync", 1, codes[k % 3]);
        plain_report report = read_right(&i, device, 0);
        assert_int_equal(control->fail_nth, 0);
        assert_string_equal(report.device.id, "cuda:0");
        assert_int_equal(report.device.tiles, 6);
        assert_string_equal(report.device.library, "");
        assert_non_null(
            strstr(report.device.library_reason, "nvcompBatchedDeflateDecompressAsync"));
        control->keep_steps = true;
        report = read_right(&i, device, 0);
        assert_non_null(strstr(report.device.library_reason, "is not used: "));
        report = read_right(&other, device, 0);
        assert_int_equal(report.device.tiles, 6);
        assert_string_equal(report.device.library, "");
        report = read_right(&not_its, device, 0);
        assert_string_equal(report.device.library_reason, "");
        assert_int_equal(steps_with(control, "nvcomp"), 0);
        close_it(device);
        cuda_fake_reset(control);
    }
    free_image(&i);
    free_image(&other);
    free_image(&not_its);
}

/* As a release for a later driver does: all questions are answered, and the first chunk is not
 * decoded. No tile is given to it then. */
static void it_fails_its_trial(void **state)
{
    (void)state;
    static const int32_t statuses[] = {0, 12};
    image i = image_of(STREAM_DEFLATE, 3, 2);
    image other = image_of(STREAM_ZSTD, 3, 2);
    for (size_t k = 0; k < 4; k++) {
        tz_device *device = open_with(NVCOMP_FAKE_5);
        *control_of(NVCOMP_FAKE_5) =
            (nvcomp_fake_control){.fail_chunk = k < 2, .fail_status = statuses[k % 2]};
        if (k == 2)
            fail_at("nvcompBatchedDeflateDecompressAsync", 1, 1000);
        if (k == 3)
            fail_at("cuMemAlloc_v2", 1, 2);
        plain_report report = read_right(&i, device, 0);
        assert_string_equal(report.device.id, "cuda:0");
        assert_int_equal(report.device.tiles, 6);
        assert_string_equal(report.device.library, "");
        assert_non_null(strstr(report.device.library_reason, "nvCOMP 5.3.0 is not used: "));
        assert_int_equal(control_of(NVCOMP_FAKE_5)->chunks, k < 2);
        report = read_right(&other, device, 0); /* another codec may do */
        assert_string_equal(report.device.library, names[1]);
        close_it(device);
        cuda_fake_reset(control);
    }
    free_image(&i);
    free_image(&other);
}

/* The context is broken: that is the device's failure. */
static void it_breaks_the_device(void **state)
{
    (void)state;
    image i = image_of(STREAM_DEFLATE, 3, 2);
    for (unsigned strict = 0; strict < 2; strict++) {
        tz_device *device = open_with(NVCOMP_FAKE_5);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_report report;
        tz_error err;
        steps_try_libraries(device);
        how.device = device;
        how.strict_device = strict;
        fail_at("nvcompBatchedDeflateDecompressAsync", 1, 700);
        const tz_result result = read_image(&i, &how, &report, &err);
        assert_int_equal(result, strict ? TZ_ERR_DEVICE : TZ_OK);
        if (!strict)
            check_pixels(&i);
        assert_non_null(strstr(strict ? err.message : report.device.reason, "DecompressAsync"));
        close_it(device);
        cuda_fake_reset(control);
    }
    free_image(&i);
}

/* ---- frames that do not say how much they make ---- */

/* Bytes as they are; with a size in every other tile, or in none. */
static image image_without_sizes(uint32_t across, uint32_t down, bool some)
{
    enum { HEAD = 9 };
    static const uint8_t head[HEAD] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x60, 1, PIXELS >> 5 & 0xff, 0};
    image i = {.stream = &tile_streams[STREAM_ZSTD], .across = across, .down = down};
    uint8_t pixels[PIXELS], frame[PIXELS + 64], plain[PIXELS + 64];
    for (uint32_t k = 0; k < PIXELS; k++)
        pixels[k] = tf_pixel(i.stream, 0, k / TILE, k % TILE);
    memcpy(plain, head, HEAD);
    memcpy(plain + HEAD, pixels, PIXELS);
    const size_t sized = put_zstd(frame, pixels);
    i.built = tf_new(TB_CLASSIC, i.stream, across, down, NULL);
    for (uint64_t tile = 0; tile < (uint64_t)across * down; tile++) {
        const bool has_size = some && tile % 2 == 0;
        tf_put(i.built, tile, has_size ? frame : plain, has_size ? sized : HEAD + PIXELS);
    }
    i.file = tf_open(i.built);
    i.pixels = malloc((size_t)across * down * PIXELS);
    return i;
}

/* If the library takes them, it gets them; if not, one trial shows it, and no call is wasted on
 * them. */
static void frames_without_sizes(void **state)
{
    (void)state;
    image none = image_without_sizes(4, 2, false), some = image_without_sizes(4, 2, true);
    for (size_t k = 0; k < 2 * RELEASES; k++) {
        const char *library = libraries[k / 2];
        const bool needs = k % 2;
        tz_device *device = open_with(library);
        *control_of(library) = (nvcomp_fake_control){.needs_size = needs};
        for (unsigned turn = 0; turn < 2; turn++) {
            plain_report report = read_right(&none, device, 0);
            assert_int_equal(report.device.tiles, 8);
            assert_int_equal(report.device.library_calls, !needs);
            assert_int_equal(report.device.library_reason[0] != '\0', needs);
        }
        assert_int_equal(control_of(library)->batches, needs ? 1 : 3);
        control_of(library)->chunks = 0;
        const plain_report report = read_right(&some, device, 0);
        assert_int_equal(report.device.tiles, 8);
        assert_int_equal(report.device.library_calls, 1);
        assert_int_equal(control_of(library)->chunks, 8);
        close_it(device);
        *control_of(library) = (nvcomp_fake_control){.needs_size = false};
    }
    free_image(&none);
    free_image(&some);
}

int main(void)
{
    control = cuda_fake_load();
    const struct CMUnitTest tests[] = {
        NVCOMP(calls_do_not_depend_on_tiles),
        NVCOMP(nothing_to_read),
        NVCOMP(the_report_names_it),
        NVCOMP(threads_look_for_it),
        NVCOMP(waves_have_room_for_it),
        NVCOMP(wrong_chunks),
        NVCOMP(batches_that_it_does_not_take),
        NVCOMP(questions_that_fail),
        NVCOMP(it_misbehaves),
        NVCOMP(it_fails_its_trial),
        NVCOMP(it_breaks_the_device),
        NVCOMP(frames_without_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
