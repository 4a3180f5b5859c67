/* SPDX-License-Identifier: Apache-2.0
 * Loads cuFile, nvJPEG2000 or nvJPEG, which the first argument says, from the path of the second,
 * and prints what it answers where there is no GPU: a line each, the question and the answer. With
 * more arguments nvJPEG2000 is asked of streams: see parse_streams. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvidia/cufile.h"
#include "device/nvidia/nvidia_libraries.h"
#include "device/nvidia/nvjpeg.h"
#include "device/nvidia/nvjpeg2k.h"
#include "support/tile_file.h"

static tz_dynlib_info loaded_from; /* of the library at hand */

static bool load(int index, const char *library, void *functions, char *reason, size_t reason_size)
{
    return tz_dynlib_load(&tz_nvidia_libraries[index], library, functions, &loaded_from, reason,
                          reason_size);
}

static void print_library(void)
{
    printf("path: %s\nversion: %u.%u.%u\n", loaded_from.path, loaded_from.version[0],
           loaded_from.version[1], loaded_from.version[2]);
}

/* Opening the driver, and what needs it open, is left out: some releases never return from it where
 * the kernel has no modules. */
static bool ask_cufile(const char *library, char *reason, size_t reason_size)
{
    tz_cufile_api cufile;
    if (!load(TZ_NVIDIA_CUFILE, library, &cufile, reason, reason_size))
        return false;
    print_library();
    tz_cufile_properties is;
    memset(&is, 0, sizeof is);
    printf("properties: %d", cufile.DriverGetProperties(&is).err);
    printf(" nvfs %u.%u poll %zu direct %zu status %u control %u cache %u buffer %u batch %u %u\n",
           is.nvfs.major_version, is.nvfs.minor_version, is.nvfs.poll_thresh_size,
           is.nvfs.max_direct_io_size, is.nvfs.dstatusflags, is.nvfs.dcontrolflags,
           is.max_device_cache_size, is.per_buffer_cache_size, is.max_batch_io_size,
           is.max_batch_io_timeout_msecs);
    errno = 0;
    char byte;
    const long long size = (long long)cufile.Read(NULL, &byte, 1, 0, 0);
    printf("read of no file: %lld %s\n", size, errno == EINVAL ? "EINVAL" : "");
    printf("close: %d\n", cufile.DriverClose_v2().err);
    return true;
}

/* ---- nvJPEG2000 ---- */

static tz_nvjpeg2k_api j2k;

/* Resolutions of the first tile, from the lowest on, and what is answered of one more. */
static void ask_resolutions(tz_nvjpeg2k_stream stream)
{
    uint32_t count = 0;
    if (j2k.StreamGetResolutionsInTile(stream, 0, &count) != 0)
        return;
    printf(" resolutions %u", count);
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t width = 0, height = 0;
        const tz_nvjpeg2k_status status =
            j2k.StreamGetResolutionComponentDim(stream, 0, 0, i, &width, &height);
        if (status == 0)
            printf(" %ux%u", width, height);
        else
            printf(" %d", status);
    }
}

static void ask_parse(tz_nvjpeg2k_handle handle, const char *what, const uint8_t *data, size_t size)
{
    tz_nvjpeg2k_stream stream = NULL;
    if (j2k.StreamCreate(&stream) != 0)
        return;
    const tz_nvjpeg2k_status parsed = j2k.StreamParse(handle, data, size, 0, 0, stream);
    printf("parse %s: %s", what, tz_nvjpeg2k_status_name(parsed));
    tz_nvjpeg2k_image_info image = {0};
    tz_nvjpeg2k_component_info is;
    if (parsed == 0 && j2k.StreamGetImageInfo(stream, &image) == 0)
        printf(" %ux%u tile %ux%u tiles %ux%u components %u", image.image_width, image.image_height,
               image.tile_width, image.tile_height, image.num_tiles_x, image.num_tiles_y,
               image.num_components);
    for (uint32_t i = 0; i < image.num_components; i++) {
        if (j2k.StreamGetImageComponentInfo(stream, &is, i) == 0)
            printf(" %ux%u precision %u signed %u", is.component_width, is.component_height,
                   is.precision, is.sgn);
    }
    if (parsed == 0)
        ask_resolutions(stream);
    printf("\n");
    (void)j2k.StreamDestroy(stream);
}

static void ask_parses(tz_nvjpeg2k_handle handle)
{
    const tile_stream *whole = &tile_streams[STREAM_JP2];
    uint8_t bad[1024] = {0};
    memcpy(bad, whole->data, whole->size);
    bad[0] = 0;
    ask_parse(handle, "whole", whole->data, whole->size);
    ask_parse(handle, "cut", whole->data, 40);
    ask_parse(handle, "other", bad, whole->size);
    static const uint8_t comment[] = {0xFF, 0x64, 0, 4, 0, 1};
    static const uint8_t part[] = {0xFF, 0x90};
    const uint8_t *at = memmem(whole->data, whole->size, part, sizeof part);
    const size_t before = (size_t)(at - whole->data);
    memcpy(bad, whole->data, before);
    memcpy(bad + before, comment, sizeof comment);
    memcpy(bad + before + sizeof comment, at, whole->size - before);
    ask_parse(handle, "empty comment", bad, whole->size + sizeof comment);
}

/* Streams in a file: arguments are its path, and the offset and size of each. */
static bool parse_streams(int count, char **arguments)
{
    tz_nvjpeg2k_handle handle = NULL;
    FILE *file = fopen(arguments[0], "rb");
    if (!file || j2k.CreateSimple(&handle) != 0)
        return false;
    for (int i = 1; i + 1 < count; i += 2) {
        const size_t size = (size_t)strtoul(arguments[i + 1], NULL, 10);
        uint8_t *data = malloc(size);
        if (!data || fseek(file, strtol(arguments[i], NULL, 10), SEEK_SET) != 0 ||
            fread(data, 1, size, file) != size)
            return false;
        ask_parse(handle, arguments[i], data, size);
        free(data);
    }
    fclose(file);
    return j2k.Destroy(handle) == 0;
}

static void ask_encode(uint32_t components, uint32_t irreversible, const char *what)
{
    tz_nvjpeg2k_encode_params params = NULL;
    tz_nvjpeg2k_component_info info[5];
    for (size_t i = 0; i < 5; i++)
        info[i] = (tz_nvjpeg2k_component_info){64, 64, 8, 0};
    tz_nvjpeg2k_encode_config config = {.color_space =
                                            components == 1 ? TZ_NVJPEG2K_GRAY : TZ_NVJPEG2K_SRGB,
                                        .image_width = 64,
                                        .image_height = 64,
                                        .num_components = components,
                                        .image_comp_info = info,
                                        .num_layers = 1,
                                        .mct_mode = components == 3,
                                        .num_resolutions = 3,
                                        .code_block_w = 64,
                                        .code_block_h = 64,
                                        .irreversible = irreversible};
    if (j2k.EncodeParamsCreate(&params) != 0)
        return;
    printf("quality before %s: %d\n", what,
           j2k.EncodeParamsSpecifyQuality(params, TZ_NVJPEG2K_TARGET_PSNR, 40.0));
    printf("config %s: %d\n", what, j2k.EncodeParamsSetEncodeConfig(params, &config));
    printf("quality of %s: %d\n", what,
           j2k.EncodeParamsSpecifyQuality(params, TZ_NVJPEG2K_TARGET_PSNR, 40.0));
    printf("format of %s: %d\n", what,
           j2k.EncodeParamsSetInputFormat(params, TZ_NVJPEG2K_INTERLEAVED));
    (void)j2k.EncodeParamsDestroy(params);
}

static bool ask_nvjpeg2k(const char *library, char *reason, size_t reason_size)
{
    if (!load(TZ_NVIDIA_NVJPEG2K, library, &j2k, reason, reason_size))
        return false;
    print_library();
    tz_nvjpeg2k_handle handle = NULL;
    tz_nvjpeg2k_decode_state state = NULL;
    tz_nvjpeg2k_decode_params params = NULL;
    printf("create: %d\n", j2k.CreateSimple(&handle));
    ask_parses(handle);
    printf("decode state: %d\n", j2k.DecodeStateCreate(handle, &state));
    printf("decode params: %d\n", j2k.DecodeParamsCreate(&params));
    printf("decode format: %d\n", j2k.DecodeParamsSetOutputFormat(params, TZ_NVJPEG2K_INTERLEAVED));
    printf("decode colours: %d\n", j2k.DecodeParamsSetRGBOutput(params, 0));
    ask_encode(1, 0, "lossless");
    ask_encode(3, 1, "lossy");
    ask_encode(5, 0, "five");
    (void)j2k.DecodeParamsDestroy(params);
    (void)j2k.Destroy(handle);
    return true;
}

static bool ask_nvjpeg(const char *library, char *reason, size_t reason_size)
{
    tz_nvjpeg_api nvjpeg;
    if (!load(TZ_NVIDIA_NVJPEG, library, &nvjpeg, reason, reason_size))
        return false;
    print_library();
    tz_nvjpeg_handle handle = NULL;
    for (int32_t backend = TZ_NVJPEG_BACKEND_DEFAULT; backend <= TZ_NVJPEG_BACKEND_GPU_HYBRID;
         backend += 2) {
        const tz_nvjpeg_status status =
            nvjpeg.CreateEx(backend, NULL, NULL, TZ_NVJPEG_FLAG_INTERPOLATE, &handle);
        printf("create %d: %s\n", (int)backend, tz_nvjpeg_status_name(status));
    }
    return true;
}

int main(int argc, char **argv)
{
    char reason[256];
    if (argc > 4 && strcmp(argv[1], "nvjpeg2k") == 0)
        return !load(TZ_NVIDIA_NVJPEG2K, argv[2], &j2k, reason, sizeof reason) ||
               !parse_streams(argc - 3, argv + 3);
    if (argc != 3)
        return 2;
    const char *library = argv[2][0] ? argv[2] : NULL;
    const bool loaded = strcmp(argv[1], "cufile") == 0 ? ask_cufile(library, reason, sizeof reason)
                        : strcmp(argv[1], "nvjpeg2k") == 0
                            ? ask_nvjpeg2k(library, reason, sizeof reason)
                            : ask_nvjpeg(library, reason, sizeof reason);
    if (!loaded)
        printf("refused: %s\n", reason);
    return 0;
}
