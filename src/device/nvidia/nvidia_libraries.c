/* SPDX-License-Identifier: Apache-2.0
 * The table of NVIDIA's libraries. To support a new release of one, compare its headers with the
 * declarations of its *_api.h (tests/check_nvidia.py does), then extend its sonames, wheels and
 * known releases here. Releases that were not compared are refused: a function whose arguments
 * changed would be called in the wrong way, and nothing would notice. */
#include "device/nvidia/nvidia_libraries.h"

#include "device/device_text.h"
#include "device/nvidia/cufile_api.h"
#include "device/nvidia/nvcomp.h"
#include "device/nvidia/nvjpeg2k_api.h"
#include "device/nvidia/nvjpeg_api.h"

/* ---- functions ---- */

static const tz_dynlib_symbol nvjpeg_symbols[] = {
#define SYMBOL(name, arguments) {"nvjpeg" #name, offsetof(tz_nvjpeg_api, name)},
    TZ_NVJPEG_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const tz_dynlib_symbol nvjpeg2k_symbols[] = {
#define SYMBOL(name, arguments) {"nvjpeg2k" #name, offsetof(tz_nvjpeg2k_api, name)},
    TZ_NVJPEG2K_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

#define SYMBOL(result, name, arguments) {"cuFile" #name, offsetof(tz_cufile_api, name)},
static const tz_dynlib_symbol cufile_symbols[] = {TZ_CUFILE_FUNCTIONS(SYMBOL)};
static const tz_dynlib_symbol cufile_optional[] = {TZ_CUFILE_OPTIONAL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

/* ---- versions ---- */

/* nvJPEG and nvJPEG2000 answer in the same way: one number for each property. */
static bool read_properties(int32_t (*get)(int32_t property, int *value), uint32_t version[3])
{
    for (int32_t i = 0; i < 3; i++) {
        int value = 0;
        version[i] = get(i, &value) == 0 && value > 0 ? (uint32_t)value : 0;
    }
    return true;
}

static bool read_nvjpeg_version(const void *functions, uint32_t version[3])
{
    return read_properties(((const tz_nvjpeg_api *)functions)->GetProperty, version);
}

static bool read_nvjpeg2k_version(const void *functions, uint32_t version[3])
{
    return read_properties(((const tz_nvjpeg2k_api *)functions)->GetProperty, version);
}

/* 1190 is 1.19.0. */
static bool read_cufile_version(const void *functions, uint32_t version[3])
{
    int number = 0;
    if (((const tz_cufile_api *)functions)->GetVersion(&number).err != 0 || number < 0)
        return false;
    version[0] = (uint32_t)number / 1000;
    version[1] = (uint32_t)number / 10 % 100;
    version[2] = (uint32_t)number % 10;
    return true;
}

/* ---- the table ---- */

#define LIST(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define FUNCTIONS(type, list)                                                                      \
    .functions_size = sizeof(type), .symbols = (list), .symbol_count = COUNT(list)

const tz_dynlib tz_nvidia_libraries[TZ_NVIDIA_LIBRARY_COUNT] = {
    [TZ_NVIDIA_NVCOMP] = {.name = "nvCOMP",
                          .task = "decodes and encodes Deflate, ZSTD and LZ4",
                          .variable = "TERRAZZO_NVCOMP_LIBRARY",
                          .sonames = LIST("libnvcomp.so.6", "libnvcomp.so.5", "libnvcomp.so.4",
                                          "libnvcomp.so"),
                          .wheels = LIST("nvidia/libnvcomp/lib64", "nvidia/nvcomp"),
                          .functions_size = sizeof(tz_nvcomp),
                          .bind = tz_nvcomp_bind},
    [TZ_NVIDIA_CUFILE] = {.name = "cuFile",
                          .task = "reads files into the device's memory",
                          .variable = "TERRAZZO_CUFILE_LIBRARY",
                          .sonames = LIST("libcufile.so.0"),
                          .wheels = LIST("nvidia/cu13/lib", "nvidia/cufile/lib"),
                          FUNCTIONS(tz_cufile_api, cufile_symbols),
                          .optional = cufile_optional,
                          .optional_count = COUNT(cufile_optional),
                          .read_version = read_cufile_version,
                          .first = {1, 0},
                          .end = {2, 0},
                          .known = "releases 1.x are"},
    [TZ_NVIDIA_NVJPEG2K] = {.name = "nvJPEG2000",
                            .task = "decodes and encodes JPEG 2000",
                            .variable = "TERRAZZO_NVJPEG2K_LIBRARY",
                            .sonames = LIST("libnvjpeg2k.so.0"),
                            .wheels = LIST("nvidia/nvjpeg2k/lib"),
                            FUNCTIONS(tz_nvjpeg2k_api, nvjpeg2k_symbols),
                            .read_version = read_nvjpeg2k_version,
                            .first = {0, 8},
                            .end = {1, 0},
                            .known = "releases 0.8 and later 0.x are"},
    [TZ_NVIDIA_NVJPEG] = {.name = "nvJPEG",
                          .task = "decodes and encodes JPEG",
                          .variable = "TERRAZZO_NVJPEG_LIBRARY",
                          .sonames = LIST("libnvjpeg.so.13", "libnvjpeg.so.12"),
                          .wheels = LIST("nvidia/cu13/lib", "nvidia/nvjpeg/lib"),
                          FUNCTIONS(tz_nvjpeg_api, nvjpeg_symbols),
                          .read_version = read_nvjpeg_version,
                          .first = {12, 0},
                          .end = {14, 0},
                          .known = "releases 12.x and 13.x are"},
};

/* ---- the list ---- */

void tz_nvidia_libraries_find(tz_found_library out[TZ_NVIDIA_LIBRARY_COUNT],
                              const tz_device_setup *setup)
{
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        const tz_dynlib *library = &tz_nvidia_libraries[i];
        tz_found_library *to = &out[i];
        tz_dynlib_info info;
        union {
            tz_nvcomp nvcomp;
            tz_cufile_api cufile;
            tz_nvjpeg2k_api nvjpeg2k;
            tz_nvjpeg_api nvjpeg;
        } unused;
        const bool loaded = tz_dynlib_load(library, tz_nvidia_library_given(setup, i), &unused,
                                           &info, to->reason, sizeof to->reason);
        tz_device_text(to->library, sizeof to->library, info.path);
        const uint32_t *v = info.version;
        if (v[0] + v[1] + v[2] > 0)
            tz_device_textf(to->version, sizeof to->version, "%u.%u.%u", v[0], v[1], v[2]);
        to->info = (tz_library_info){.name = library->name,
                                     .library = to->library,
                                     .loaded = loaded,
                                     .version = to->version,
                                     .codecs = loaded ? library->task : "",
                                     .reason = to->reason};
    }
}
