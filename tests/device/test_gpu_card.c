/* SPDX-License-Identifier: Apache-2.0
 * Facts about a card, its driver and NVIDIA's libraries that the fakes cannot show: make test-gpu
 * runs this first, and its report has the lines that begin with "report: ". On the fakes it shows
 * that the checks themselves work. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda_internal.h"
#include "device/device.h"
#include "device/device_codestreams.h"
#include "device/device_state.h"
#include "support/check.h"
#include "support/device/library_text.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"

#define TOLD(...) print_message("report: " __VA_ARGS__)

static const tz_kernel_image none = {NULL, 0};

static const struct {
    const char *name;
    const tz_kernel_image *ptx, *code;
} families[TZ_FAMILY_COUNT] = {
#define FAMILY(family, text) {#text, &tz_kernel_image_##text, &tz_kernel_code_##text},
    TZ_FAMILY_LIST(FAMILY)
#undef FAMILY
};

/* Returns true if the driver accepts an image. */
static bool loads(const tz_kernel_image *image, tz_error *err)
{
    tz_cu_state *s = test_device->state;
    const tz_context ctx = {.err = err, .ifd = -1};
    const tz_kernel_image *const images[TZ_CU_IMAGES] = {&none, image};
    tz_cu_module module = NULL;
    assert_int_equal(tz_cu_enter(s, &ctx), TZ_OK);
    const bool loaded = tz_cu_load_module(&s->api, images, &module, &ctx) == TZ_OK;
    if (loaded)
        (void)s->api.ModuleUnload(module);
    assert_int_equal(tz_cu_leave(s, TZ_OK, &ctx), TZ_OK);
    return loaded;
}

/* The PTX of every family; and code, where the build has some and the driver is as new. */
static void the_driver_takes_the_kernels(void **state)
{
    (void)state;
    tz_error err;
    size_t code = 0;
    for (size_t i = 0; i < TZ_FAMILY_COUNT; i++) {
        if (!loads(families[i].ptx, &err))
            fail_msg("%s: %s", families[i].name, err.message);
        code += families[i].code->size > 0 && loads(families[i].code, &err);
    }
    TOLD("kernels: %s takes the PTX of all %d families, and the code of %zu of them\n",
         test_device->info.api_version, (int)TZ_FAMILY_COUNT, code);
}

/* "auto" is a GPU; where it is not the first choice, that is reported. */
static void auto_is_a_gpu(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", test_device_cuda_library());
    assert_int_equal(tz_device_open(&device, "auto", &how, &err), TZ_OK);
    const tz_device_info *info = tz_device_get_info(device);
    TOLD("auto: %s%s%s\n", info->id, info->reason[0] ? ", since " : "", info->reason);
    assert_int_equal(info->type, TZ_DEVICE_TYPE_GPU);
    tz_device_close(device);
}

/* ---- libraries ---- */

static void skip_without(const char *library)
{
    print_message("skip: %s is not there\n", library);
    skip();
}

static void nvcomp_decodes(void **state)
{
    (void)state;
    static const struct {
        uint16_t compression;
        const char *name;
    } codecs[] = {{8, "Deflate"}, {50000, "ZSTD"}, {50004, "LZ4"}};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        tz_vendor_decoder is;
        const bool works = tz_device_find_vendor_decoder(test_device, codecs[i].compression, &is);
        if (!works && !is.reason[0])
            skip_without("nvCOMP");
        if (!works)
            fail_msg("%s: %s", codecs[i].name, is.reason);
        TOLD("%s: %s is right%s\n", codecs[i].name, is.name,
             codecs[i].compression != 50000 ? ""
             : is.needs_size                ? "; frames without a content size are not for it"
                                            : ", also of frames without a content size");
    }
}

static void codestreams_are_decoded(void **state)
{
    (void)state;
    static const struct {
        uint16_t compression;
        const char *name;
    } codecs[] = {{7, "nvJPEG"}, {34712, "nvJPEG2000"}};
    const tz_cu_state *s = test_device->state;
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        tz_codestream_codec is;
        if (!tz_device_find_codestream_codec(test_device, codecs[i].compression, false, 1, &is)) {
            const char *path = i ? s->j2k.info.path : s->jpeg.info.path;
            if (getenv(i ? "TERRAZZO_TEST_NVJPEG2K" : "TERRAZZO_TEST_NVJPEG"))
                fail_msg("%s: %s", path, is.reason);
            skip_without(codecs[i].name);
        }
        TOLD("%s is right%s\n", is.name,
             i                      ? ""
             : s->jpeg.interpolates ? ", and interpolates chroma"
                                    : "; it repeats chroma: subsampled tiles are the CPU's");
    }
}

/* ---- JPEG ---- */

enum { SIDE = 256, SAMPLES = 3 * SIDE * SIDE };

/* Fields of two colours, with less chroma than pixels. */
static tz_memory coloured_file(void)
{
    raster r = raster_make(TZ_DTYPE_UINT8, 3, SIDE, SIDE, false);
    const tz_buffer *to = &r.pixels;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_JPEG;
    r.spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    options.tile_width = options.tile_height = SIDE;
    options.verify = TZ_VERIFY_NONE;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t band = i % 3, x = i / 3 % SIDE, y = i / 3 / SIDE;
        const bool is_red = (x / 13 + y / 11) % 2 == 1;
        ((uint8_t *)to->data)[band * to->band_stride + y * to->row_stride + x * to->column_stride] =
            band == 1               ? (uint8_t)(60 + x / 4)
            : is_red == (band == 0) ? 220
                                    : 30;
    }
    tz_memory file = raster_write(&r, &options, NULL, NULL);
    raster_free(&r);
    return file;
}

static uint8_t *read_by(tz_device *device, tz_file *file)
{
    uint8_t *pixels = malloc(SAMPLES);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = device;
    how.allow_vendor_codecs = how.allow_inexact = true;
    const plain_item item = {
        .file = file,
        .into = {
            .data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = SIDE, .width = SIDE}};
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    if (device && report.device.tiles != 1)
        fail_msg("the CPU decoded it: %s%s", report.device.reason, report.device.library_reason);
    return pixels;
}

/* Measures the difference from libjpeg. Repeated chroma differs by 50 and more. */
static void jpeg_is_as_by_the_cpu(void **state)
{
    (void)state;
    enum { MOST = 16 };
    tz_codestream_codec is;
    tz_file *file = NULL;
    tz_error err;
    if (!tz_device_find_codestream_codec(test_device, 7, false, SAMPLES, &is))
        skip_without("nvJPEG");
    tz_memory bytes = coloured_file();
    assert_int_equal(tz_open_memory(&file, bytes.data, bytes.size, NULL, &err), TZ_OK);
    uint8_t *expected = read_by(NULL, file), *found = read_by(test_device, file);
    uint64_t sum = 0;
    int most = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        const int by = abs(expected[i] - found[i]);
        sum += (uint64_t)by;
        most = by > most ? by : most;
    }
    TOLD("JPEG 4:2:0 by %s: at most %d from libjpeg, %.3f in the mean\n", is.name, most,
         (double)sum / SAMPLES);
    assert_true(most <= MOST);
    free(found);
    free(expected);
    tz_close(file);
    tz_memory_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_takes_the_kernels),
        cmocka_unit_test(auto_is_a_gpu),
        cmocka_unit_test(nvcomp_decodes),
        cmocka_unit_test(codestreams_are_decoded),
        cmocka_unit_test(jpeg_is_as_by_the_cpu),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
