/* SPDX-License-Identifier: Apache-2.0 */
#include "device/libraries.h"

#include "device/cufile.h"
#include "device/device_text.h"
#include "device/nvcomp.h"
#include "device/nvjpeg.h"
#include "device/nvjpeg2k.h"

static void tell(tz_library_info *out, const char *name, const char *path)
{
    tz_device_text(out->name, sizeof out->name, name);
    tz_device_text(out->library, sizeof out->library, path);
}

static void tell_version(tz_library_info *out, uint32_t major, uint32_t minor, uint32_t patch)
{
    if (major + minor + patch > 0)
        tz_device_textf(out->version, sizeof out->version, "%u.%u.%u", major, minor, patch);
}

static void find_nvcomp(tz_library_info *out, const char *given)
{
    tz_nvcomp is;
    out->loaded = tz_nvcomp_load(&is, given, out->reason, sizeof out->reason);
    tell(out, "nvCOMP", is.path);
    tell_version(out, is.version / 1000, is.version / 100 % 10, is.version % 100);
}

static void find_cufile(tz_library_info *out, const char *given)
{
    tz_cufile is;
    out->loaded = tz_cufile_load(&is, given, out->reason, sizeof out->reason);
    tell(out, "cuFile", is.path);
    tell_version(out, is.major, is.minor, is.patch);
}

static void find_nvjpeg2k(tz_library_info *out, const char *given)
{
    tz_nvjpeg2k is;
    out->loaded = tz_nvjpeg2k_load(&is, given, out->reason, sizeof out->reason);
    tell(out, "nvJPEG2000", is.path);
    tell_version(out, is.major, is.minor, is.patch);
}

static void find_nvjpeg(tz_library_info *out, const char *given)
{
    tz_nvjpeg is;
    out->loaded = tz_nvjpeg_load(&is, given, out->reason, sizeof out->reason);
    tell(out, "nvJPEG", is.path);
    tell_version(out, is.major, is.minor, is.patch);
}

void tz_libraries_find(tz_library_info out[TZ_LIBRARY_COUNT], const tz_device_options *options)
{
    find_nvcomp(&out[0], options->nvcomp_library);
    find_cufile(&out[1], options->cufile_library);
    find_nvjpeg2k(&out[2], options->nvjpeg2k_library);
    find_nvjpeg(&out[3], options->nvjpeg_library);
}
