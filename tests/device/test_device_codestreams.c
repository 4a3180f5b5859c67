/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG2000 and nvJPEG as device/nvidia/nvidia_libraries.h loads them, with their fakes on that of
 * libcuda: what users of them may rely on, and what tests of them will find. */
#include <stdlib.h>
#include <string.h>

#include "device/nvidia/nvidia_libraries.h"
#include "device/nvidia/nvjpeg.h"
#include "device/nvidia/nvjpeg2k.h"
#include "fakes/cuda/cuda_calls.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/tile_file.h"

enum { PITCH = 100 };

static cuda_fake_control *cuda;
static codestreams_fake_control *control; /* of the one at hand */
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;

static void take_control(const char *library)
{
    control = codestreams_fake_load(library);
    assert_non_null(control);
    memset(control, 0, sizeof *control);
}

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(cuda);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cu.cuMemAlloc(&memory, 4 * TILE * PITCH), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)cu.cuMemFree(memory);
    (void)cu.cuStreamDestroy(stream);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    (void)cu.cuDevicePrimaryCtxRelease(0);
    assert_int_equal(cuda->live, 0);
    assert_int_equal(control->live, 0);
    return 0;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* A sample of a row that was decoded to memory. */
static uint8_t sample(size_t offset)
{
    return *(const uint8_t *)cuda_fake_bytes(memory + offset, 1);
}

#ifdef NVJPEG2K_FAKE
typedef struct loaded_nvjpeg2k {
    tz_dynlib_info info;
    tz_nvjpeg2k_api api;
} loaded_nvjpeg2k;

static loaded_nvjpeg2k j2k;
static tz_nvjpeg2k_handle handle;
static tz_nvjpeg2k_decode_state state_of;
static tz_nvjpeg2k_stream parsed;

static bool load_nvjpeg2k(loaded_nvjpeg2k *out, const char *library, char *reason,
                          size_t reason_size)
{
    return tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVJPEG2K], library, &out->api, &out->info,
                          reason, reason_size);
}

static int begin_j2k(void **state)
{
    char reason[256] = "";
    begin(state);
    take_control(NVJPEG2K_FAKE);
    if (!load_nvjpeg2k(&j2k, NVJPEG2K_FAKE, reason, sizeof reason))
        fail_msg("%s", reason);
    assert_int_equal(j2k.api.CreateSimple(&handle), 0);
    assert_int_equal(j2k.api.DecodeStateCreate(handle, &state_of), 0);
    assert_int_equal(j2k.api.StreamCreate(&parsed), 0);
    return 0;
}

static int end_j2k(void **state)
{
    assert_int_equal(j2k.api.StreamDestroy(parsed), 0);
    assert_int_equal(j2k.api.DecodeStateDestroy(state_of), 0);
    assert_int_equal(j2k.api.Destroy(handle), 0);
    return end(state);
}

static int32_t decode_j2k(size_t pitch, int32_t type)
{
    void *planes[] = {at(memory)};
    size_t pitches[] = {pitch};
    tz_nvjpeg2k_image image = {planes, pitches, type, 1};
    return j2k.api.DecodeImage(handle, state_of, parsed, NULL, &image, stream);
}

static int32_t parse_j2k(const uint8_t *data, size_t size)
{
    return j2k.api.StreamParse(handle, data, size, 0, 0, parsed);
}

static void test_loading(void **state)
{
    (void)state;
    loaded_nvjpeg2k other;
    char reason[256];
    assert_int_equal(j2k.info.version[0], 0);
    assert_int_equal(j2k.info.version[1], 11);
    assert_false(load_nvjpeg2k(&other, CUDA_FAKE, reason, sizeof reason));
    assert_string_equal(reason, "it lacks nvjpeg2kGetProperty");
    assert_string_equal(tz_nvjpeg2k_status_name(3), "BAD_JPEG");
    assert_string_equal(tz_nvjpeg2k_status_name(77), "a status that is not known here");
}

/* The bytes of the code stream are the caller's, until the stream has come to it. */
static void test_decode(void **state)
{
    (void)state;
    const tile_stream *tile = &tile_streams[STREAM_JP2];
    uint8_t *data = malloc(tile->size);
    memcpy(data, tile->data, tile->size);
    assert_int_equal(parse_j2k(data, tile->size), 0);
    assert_int_equal(decode_j2k(TILE - 1, TZ_NVJPEG2K_UINT8), 2);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT16), 2);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    assert_int_equal(control->decoded, 0); /* lazy */
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    for (uint32_t y = 0; y < TILE; y++) {
        for (uint32_t x = 0; x < TILE; x++)
            assert_int_equal(sample(y * PITCH + x), tf_pixel(tile, 0, y, x));
        assert_int_equal(sample(y * PITCH + TILE), 0xA5); /* as it was */
    }
    /* damage that is not reported */
    memset(data + tile->size / 2, 0x11, tile->size / 2 - 4);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    assert_int_equal(control->decoded, 2);
    assert_string_equal(control->misuse, "");
    free(data);
}

static int32_t decode_tile(uint32_t tile, uint32_t resolutions, size_t pitch)
{
    void *planes[] = {at(memory)};
    size_t pitches[] = {pitch};
    tz_nvjpeg2k_image image = {planes, pitches, TZ_NVJPEG2K_UINT8, 1};
    return j2k.api.DecodeTile(handle, state_of, parsed, NULL, tile, resolutions, &image, stream);
}

/* As the library itself answers: tests/check_nvidia.py. */
static void test_resolutions(void **state)
{
    (void)state;
    const tile_stream *tile = &tile_streams[STREAM_JP2];
    uint32_t count = 0, width, height;
    assert_int_equal(j2k.api.StreamGetResolutionsInTile(parsed, 0, &count), 2); /* not parsed */
    assert_int_equal(parse_j2k(tile->data, tile->size), 0);
    assert_int_equal(j2k.api.StreamGetResolutionsInTile(parsed, 1, &count), 2);
    assert_int_equal(j2k.api.StreamGetResolutionsInTile(parsed, 0, &count), 0);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(j2k.api.StreamGetResolutionComponentDim(parsed, 0, 0, i, &width, &height),
                         0);
        assert_int_equal(width, i == 0 ? TILE / 2 : TILE);
        assert_int_equal(height, width);
    }
    assert_int_equal(j2k.api.StreamGetResolutionComponentDim(parsed, 0, 0, count, &width, &height),
                     2);
    assert_int_equal(j2k.api.StreamGetResolutionComponentDim(parsed, 1, 0, 0, &width, &height), 2);
    assert_int_equal(j2k.api.StreamGetResolutionComponentDim(parsed, 0, 1, 0, &width, &height), 2);
    assert_int_equal(decode_tile(1, 1, PITCH), 2);
    assert_int_equal(decode_tile(0, 3, PITCH), 2);
    assert_int_equal(decode_tile(0, 2, TILE - 1), 2);
    assert_int_equal(decode_tile(0, 1, TILE / 2 - 1), 2);
    assert_int_equal(decode_tile(0, 1, PITCH), 0);
    assert_int_equal(decode_tile(0, 1, PITCH), 2);
    assert_non_null(strstr(control->misuse, "a state is used again"));
    control->misuse[0] = '\0';
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    for (uint32_t y = 0; y < TILE; y++) {
        for (uint32_t x = 0; x < TILE; x++)
            assert_true((sample(y * PITCH + x) != 0xA5) == (x < TILE / 2 && y < TILE / 2));
    }
    for (uint32_t resolutions = 0; resolutions <= 2; resolutions += 2) { /* both are all of them */
        assert_int_equal(decode_tile(0, resolutions, PITCH), 0);
        assert_int_equal(cu.cuStreamSynchronize(stream), 0);
        for (uint32_t i = 0; i < TILE * TILE; i++)
            assert_int_equal(sample(i / TILE * PITCH + i % TILE),
                             tf_pixel(tile, 0, i / TILE, i % TILE));
    }
}

static void misused(const char *what)
{
    if (!strstr(control->misuse, what))
        fail_msg("'%s' is not in: %s", what, control->misuse);
    control->misuse[0] = '\0';
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    const tile_stream *tile = &tile_streams[STREAM_JP2];
    assert_int_equal(parse_j2k(tile->data, tile->size), 0);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 2);
    misused("a state is used again");
    assert_int_equal(parse_j2k(tile->data, tile->size), 2);
    misused("a code stream is parsed again");
    assert_int_equal(j2k.api.StreamDestroy(parsed), 2);
    misused("a code stream is destroyed");
    assert_int_equal(j2k.api.DecodeStateDestroy(state_of), 2);
    misused("a state is destroyed");
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    /* a device that breaks leaves nothing in use */
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    cuda->fail_function = "nvjpeg2kDecodeImage";
    cuda->fail_nth = 1;
    cuda->fail_code = 8;
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 8);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    cuda->fail_function = "cuStreamSynchronize";
    cuda->fail_nth = 1;
    cuda->fail_code = 700;
    assert_int_equal(cu.cuStreamSynchronize(stream), 700);
    cuda_fake_reset(cuda);
}

/* Lossless to a code stream, and back. */
static void test_encode_j2k(void **state)
{
    (void)state;
    tz_nvjpeg2k_encoder encoder;
    tz_nvjpeg2k_encode_state encode_state;
    tz_nvjpeg2k_encode_params params;
    tz_nvjpeg2k_component_info info = {TILE, TILE, 8, 0};
    tz_nvjpeg2k_encode_config config = {.color_space = TZ_NVJPEG2K_GRAY,
                                        .image_width = TILE,
                                        .image_height = TILE,
                                        .num_components = 1,
                                        .image_comp_info = &info,
                                        .num_layers = 1,
                                        .num_resolutions = 1,
                                        .code_block_w = 64,
                                        .code_block_h = 64};
    uint8_t rows[TILE * TILE];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)(i * 7 / 3);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, rows, sizeof rows, stream), 0);
    assert_int_equal(j2k.api.EncoderCreateSimple(&encoder), 0);
    assert_int_equal(j2k.api.EncodeStateCreate(encoder, &encode_state), 0);
    assert_int_equal(j2k.api.EncodeParamsCreate(&params), 0);
    assert_int_equal(j2k.api.EncodeParamsSetEncodeConfig(params, &config), 0);
    void *planes[] = {at(memory)};
    size_t pitches[] = {TILE};
    const tz_nvjpeg2k_image image = {planes, pitches, TZ_NVJPEG2K_UINT8, 1};
    assert_int_equal(j2k.api.Encode(encoder, encode_state, params, &image, stream), 0);
    uint8_t data[4096];
    size_t size = 0;
    assert_int_equal(j2k.api.EncodeRetrieveBitstream(encoder, encode_state, NULL, &size, stream),
                     0);
    assert_in_range(size, 1, sizeof data);
    assert_int_equal(j2k.api.EncodeRetrieveBitstream(encoder, encode_state, data, &size, stream),
                     0);
    assert_int_equal(parse_j2k(data, size), 0);
    assert_int_equal(decode_j2k(PITCH, TZ_NVJPEG2K_UINT8), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    for (uint32_t y = 0; y < TILE; y++)
        assert_memory_equal(cuda_fake_bytes(memory + y * PITCH, TILE), rows + y * TILE, TILE);
    assert_int_equal(j2k.api.EncodeParamsDestroy(params), 0);
    assert_int_equal(j2k.api.EncodeStateDestroy(encode_state), 0);
    assert_int_equal(j2k.api.EncoderDestroy(encoder), 0);
}
#endif

#ifdef NVJPEG_FAKE
static tz_nvjpeg_api nvjpeg;
static tz_nvjpeg_handle jpeg_handle;
static tz_nvjpeg_state jpeg_state;

static int begin_jpeg(void **state)
{
    char reason[256] = "";
    begin(state);
    take_control(NVJPEG_FAKE);
    tz_dynlib_info info;
    if (!tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVJPEG], NVJPEG_FAKE, &nvjpeg, &info, reason,
                        sizeof reason))
        fail_msg("%s", reason);
    assert_int_equal(info.version[0], 13);
    assert_int_equal(nvjpeg.CreateEx(TZ_NVJPEG_BACKEND_GPU_HYBRID, NULL, NULL, 0, &jpeg_handle), 0);
    assert_int_equal(nvjpeg.JpegStateCreate(jpeg_handle, &jpeg_state), 0);
    return 0;
}

static int end_jpeg(void **state)
{
    assert_int_equal(nvjpeg.JpegStateDestroy(jpeg_state), 0);
    assert_int_equal(nvjpeg.Destroy(jpeg_handle), 0);
    return end(state);
}

/* Two images in one batch; all pixels of both are 100. */
static void test_batch(void **state)
{
    (void)state;
    const tile_stream *tile = &tile_streams[STREAM_JPEG];
    const unsigned char *data[] = {tile->data, tile->data};
    const size_t sizes[] = {tile->size, tile->size};
    tz_nvjpeg_image to[2] = {{{at(memory)}, {PITCH}}, {{at(memory + TILE * PITCH)}, {PITCH}}};
    int components, widths[4], heights[4];
    tz_nvjpeg_sampling sampling;
    assert_int_equal(nvjpeg.GetImageInfo(jpeg_handle, tile->data, tile->size, &components,
                                         &sampling, widths, heights),
                     0);
    assert_int_equal(components, 1);
    assert_int_equal(sampling, TZ_NVJPEG_SAMPLING_GRAY);
    assert_int_equal(widths[0], TILE);
    assert_int_equal(nvjpeg.DecodeBatched(jpeg_handle, jpeg_state, data, sizes, to, stream), 1);
    assert_int_equal(
        nvjpeg.DecodeBatchedInitialize(jpeg_handle, jpeg_state, 2, 1, TZ_NVJPEG_OUTPUT_Y), 0);
    assert_int_equal(nvjpeg.DecodeBatched(jpeg_handle, jpeg_state, data, sizes, to, stream), 0);
    assert_int_equal(nvjpeg.DecodeBatched(jpeg_handle, jpeg_state, data, sizes, to, stream), 2);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    for (uint32_t y = 0; y < 2 * TILE; y++) {
        for (uint32_t x = 0; x < TILE; x++)
            assert_int_equal(sample(y * PITCH + x), 100);
    }
    assert_int_equal(control->decoded, 2);
    const size_t cut[] = {tile->size, 20};
    assert_int_equal(nvjpeg.DecodeBatched(jpeg_handle, jpeg_state, data, cut, to, stream), 3);
}

/* Colours, encoded and decoded: within a few of what they were. */
static void test_colours(void **state)
{
    (void)state;
    tz_nvjpeg_encoder_state encoder;
    tz_nvjpeg_encoder_params params;
    uint8_t rows[TILE * TILE * 3], data[8192];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)(60 + 50 * (i % 3));
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, rows, sizeof rows, stream), 0);
    assert_int_equal(nvjpeg.EncoderStateCreate(jpeg_handle, &encoder, stream), 0);
    assert_int_equal(nvjpeg.EncoderParamsCreate(jpeg_handle, &params, stream), 0);
    assert_int_equal(nvjpeg.EncoderParamsSetQuality(params, 95, stream), 0);
    assert_int_equal(nvjpeg.EncoderParamsSetSamplingFactors(params, TZ_NVJPEG_SAMPLING_420, stream),
                     0);
    tz_nvjpeg_image image = {{at(memory)}, {3 * TILE}};
    assert_int_equal(nvjpeg.EncodeImage(jpeg_handle, encoder, params, &image, TZ_NVJPEG_INPUT_RGBI,
                                        TILE, TILE, stream),
                     0);
    size_t size = sizeof data;
    assert_int_equal(nvjpeg.EncodeRetrieveBitstream(jpeg_handle, encoder, data, &size, stream), 0);
    const unsigned char *all[] = {data};
    assert_int_equal(
        nvjpeg.DecodeBatchedInitialize(jpeg_handle, jpeg_state, 1, 1, TZ_NVJPEG_OUTPUT_RGBI), 0);
    image.pitch[0] = PITCH;
    assert_int_equal(nvjpeg.DecodeBatched(jpeg_handle, jpeg_state, all, &size, &image, stream), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    for (uint32_t y = 0; y < TILE; y++) {
        for (uint32_t x = 0; x < 3 * TILE; x++)
            assert_in_range(sample(y * PITCH + x), 57 + 50 * (x % 3), 63 + 50 * (x % 3));
    }
    assert_int_equal(nvjpeg.EncoderParamsDestroy(params), 0);
    assert_int_equal(nvjpeg.EncoderStateDestroy(encoder), 0);
}
#endif

int main(void)
{
    cuda = cuda_calls_load();
    const struct CMUnitTest tests[] = {
#ifdef NVJPEG2K_FAKE
        cmocka_unit_test_setup_teardown(test_loading, begin_j2k, end_j2k),
        cmocka_unit_test_setup_teardown(test_decode, begin_j2k, end_j2k),
        cmocka_unit_test_setup_teardown(test_resolutions, begin_j2k, end_j2k),
        cmocka_unit_test_setup_teardown(test_one_at_a_time, begin_j2k, end_j2k),
        cmocka_unit_test_setup_teardown(test_encode_j2k, begin_j2k, end_j2k),
#endif
#ifdef NVJPEG_FAKE
        cmocka_unit_test_setup_teardown(test_batch, begin_jpeg, end_jpeg),
        cmocka_unit_test_setup_teardown(test_colours, begin_jpeg, end_jpeg),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
