/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvidia/nvjpeg2k.h"

#include <string.h>

#include "device/device_text.h"
#include "device/dynlib.h"

static const tz_dynlib_symbol symbols[] = {
#define SYMBOL(name, arguments) {"nvjpeg2k" #name, offsetof(tz_nvjpeg2k_api, name)},
    TZ_NVJPEG2K_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static bool read_nvjpeg2k_version(tz_nvjpeg2k *nvjpeg2k, char *reason, size_t reason_size)
{
    int version[3] = {0, 0, 0};
    for (int32_t i = 0; i < 3; i++) {
        if (nvjpeg2k->api.GetProperty(i, &version[i]) != 0 || version[i] < 0)
            version[i] = 0;
    }
    nvjpeg2k->major = (uint32_t)version[0];
    nvjpeg2k->minor = (uint32_t)version[1];
    nvjpeg2k->patch = (uint32_t)version[2];
    if (nvjpeg2k->major == 0 && nvjpeg2k->minor >= 8)
        return true;
    tz_device_textf(reason, reason_size,
                    "nvJPEG2000 %u.%u.%u is not known here: releases 0.8 and later 0.x are",
                    nvjpeg2k->major, nvjpeg2k->minor, nvjpeg2k->patch);
    return false;
}

bool tz_nvjpeg2k_load(tz_nvjpeg2k *nvjpeg2k, const char *library, char *reason, size_t reason_size)
{
    static const char *const names[] = {"libnvjpeg2k.so.0", NULL};
    static const char *const wheels[] = {"nvidia/nvjpeg2k/lib", NULL};
    memset(nvjpeg2k, 0, sizeof *nvjpeg2k);
    const tz_dynlib_search search = {library, "TERRAZZO_NVJPEG2K_LIBRARY", names, wheels};
    void *handle =
        tz_dynlib_find(&search, nvjpeg2k->path, sizeof nvjpeg2k->path, reason, reason_size);
    if (!handle)
        return false;
    const char *missing =
        tz_dynlib_symbols(handle, symbols, sizeof symbols / sizeof symbols[0], &nvjpeg2k->api);
    if (missing) {
        tz_device_textf(reason, reason_size, "it lacks %s", missing);
        return false;
    }
    return read_nvjpeg2k_version(nvjpeg2k, reason, reason_size);
}

const char *tz_nvjpeg2k_status_name(tz_nvjpeg2k_status status)
{
    switch (status) {
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return #name;
        TZ_NVJPEG2K_STATUSES(CASE)
#undef CASE
    default:
        return "a status that is not known here";
    }
}
