/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvidia/nvidia_libraries.h"

#include "device/device_text.h"
#include "device/nvidia/cufile.h"
#include "device/nvidia/nvcomp.h"
#include "device/nvidia/nvjpeg.h"
#include "device/nvidia/nvjpeg2k.h"

static void report_library(tz_library_info *out, const char *path, uint32_t major, uint32_t minor,
                           uint32_t patch)
{
    tz_device_text(out->library, sizeof out->library, path);
    if (major + minor + patch > 0)
        tz_device_textf(out->version, sizeof out->version, "%u.%u.%u", major, minor, patch);
}

static void list_nvcomp(tz_library_info *out, const tz_device_options *options)
{
    tz_nvcomp is;
    out->loaded = tz_nvcomp_load(&is, options->nvcomp_library, out->reason, sizeof out->reason);
    report_library(out, is.path, is.version / 1000, is.version / 100 % 10, is.version % 100);
}

static void list_cufile(tz_library_info *out, const tz_device_options *options)
{
    tz_cufile is;
    out->loaded = tz_cufile_load(&is, options->cufile_library, out->reason, sizeof out->reason);
    report_library(out, is.path, is.major, is.minor, is.patch);
}

static void list_nvjpeg2k(tz_library_info *out, const tz_device_options *options)
{
    tz_nvjpeg2k is;
    out->loaded = tz_nvjpeg2k_load(&is, options->nvjpeg2k_library, out->reason, sizeof out->reason);
    report_library(out, is.path, is.major, is.minor, is.patch);
}

static void list_nvjpeg(tz_library_info *out, const tz_device_options *options)
{
    tz_nvjpeg is;
    out->loaded = tz_nvjpeg_load(&is, options->nvjpeg_library, out->reason, sizeof out->reason);
    report_library(out, is.path, is.major, is.minor, is.patch);
}

/* What is given to each of them: nothing but what reads and writes do give it. */
static const struct {
    const char *name, *codecs;
    void (*find)(tz_library_info *out, const tz_device_options *options);
} libraries[TZ_NVIDIA_LIBRARY_COUNT] = {
    {"nvCOMP", "decodes and encodes Deflate, ZSTD and LZ4", list_nvcomp},
    {"cuFile", "reads files into the device's memory", list_cufile},
    {"nvJPEG2000", "decodes and encodes JPEG 2000", list_nvjpeg2k},
    {"nvJPEG", "decodes and encodes JPEG", list_nvjpeg},
};

void tz_nvidia_libraries_find(tz_library_info out[TZ_NVIDIA_LIBRARY_COUNT],
                              const tz_device_options *options)
{
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        tz_device_text(out[i].name, sizeof out[i].name, libraries[i].name);
        libraries[i].find(&out[i], options);
        if (out[i].loaded)
            tz_device_text(out[i].codecs, sizeof out[i].codecs, libraries[i].codecs);
    }
}
