/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvidia/nvjpeg.h"

#include <string.h>

#include "device/device_text.h"
#include "device/dynlib.h"

static const tz_dynlib_symbol symbols[] = {
#define SYMBOL(name, arguments) {"nvjpeg" #name, offsetof(tz_nvjpeg_api, name)},
    TZ_NVJPEG_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static bool read_nvjpeg_version(tz_nvjpeg *nvjpeg, char *reason, size_t reason_size)
{
    int version[3] = {0, 0, 0};
    for (int32_t i = 0; i < 3; i++) {
        if (nvjpeg->api.GetProperty(i, &version[i]) != 0 || version[i] < 0)
            version[i] = 0;
    }
    nvjpeg->major = (uint32_t)version[0];
    nvjpeg->minor = (uint32_t)version[1];
    nvjpeg->patch = (uint32_t)version[2];
    if (nvjpeg->major == 12 || nvjpeg->major == 13)
        return true;
    tz_device_textf(reason, reason_size,
                    "nvJPEG %u.%u.%u is not known here: releases 12.x and 13.x are", nvjpeg->major,
                    nvjpeg->minor, nvjpeg->patch);
    return false;
}

bool tz_nvjpeg_load(tz_nvjpeg *nvjpeg, const char *library, char *reason, size_t reason_size)
{
    static const char *const names[] = {"libnvjpeg.so.13", "libnvjpeg.so.12", NULL};
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/nvjpeg/lib", NULL};
    memset(nvjpeg, 0, sizeof *nvjpeg);
    const tz_dynlib_search search = {library, "TERRAZZO_NVJPEG_LIBRARY", names, wheels};
    void *handle = tz_dynlib_find(&search, nvjpeg->path, sizeof nvjpeg->path, reason, reason_size);
    if (!handle)
        return false;
    const char *missing =
        tz_dynlib_symbols(handle, symbols, sizeof symbols / sizeof symbols[0], &nvjpeg->api);
    if (missing) {
        tz_device_textf(reason, reason_size, "it lacks %s", missing);
        return false;
    }
    return read_nvjpeg_version(nvjpeg, reason, reason_size);
}

const char *tz_nvjpeg_status_name(tz_nvjpeg_status status)
{
    switch (status) {
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return #name;
        TZ_NVJPEG_STATUSES(CASE)
#undef CASE
    default:
        return "a status that is not known here";
    }
}
