/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvidia/cufile.h"

#include <string.h>

#include "device/device_text.h"
#include "device/dynlib.h"

#define SYMBOL(result, name, arguments) {"cuFile" #name, offsetof(tz_cufile_api, name)},
static const tz_dynlib_symbol symbols[] = {TZ_CUFILE_FUNCTIONS(SYMBOL)};
static const tz_dynlib_symbol optional[] = {TZ_CUFILE_OPTIONAL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

bool tz_cufile_load(tz_cufile *cufile, const char *library, char *reason, size_t reason_size)
{
    static const char *const names[] = {"libcufile.so.0", NULL};
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/cufile/lib", NULL};
    memset(cufile, 0, sizeof *cufile);
    const tz_dynlib_search search = {library, "TERRAZZO_CUFILE_LIBRARY", names, wheels};
    void *handle = tz_dynlib_find(&search, cufile->path, sizeof cufile->path, reason, reason_size);
    if (!handle)
        return false;
    const char *missing =
        tz_dynlib_symbols(handle, symbols, sizeof symbols / sizeof symbols[0], &cufile->api);
    if (missing) {
        tz_device_textf(reason, reason_size, "it lacks %s", missing);
        return false;
    }
    (void)tz_dynlib_symbols(handle, optional, sizeof optional / sizeof optional[0], &cufile->api);
    int version = 0;
    if (cufile->api.GetVersion(&version).err != 0 || version < 1000 || version >= 2000) {
        tz_device_textf(reason, reason_size, "cuFile %d.%d is not known here: releases 1.x are",
                        version / 1000, version / 10 % 100);
        return false;
    }
    cufile->major = (uint32_t)version / 1000;
    cufile->minor = (uint32_t)version / 10 % 100;
    cufile->patch = (uint32_t)version % 10;
    return true;
}

const char *tz_cufile_error_name(int32_t err)
{
    switch (err) {
    case 0:
        return "SUCCESS";
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return #name;
        TZ_CUFILE_ERRORS(CASE)
#undef CASE
    default:
        return "a code that is not known here";
    }
}
