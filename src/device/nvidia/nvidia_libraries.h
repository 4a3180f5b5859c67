/* SPDX-License-Identifier: Apache-2.0
 * NVIDIA's libraries: one row for each (device/dynlib.h), and the entries of the list of devices.
 *
 *     nvidia_libraries.c      the table: names, functions, known releases
 *     nvcomp.c                nvCOMP's releases by one interface
 *     nvcomp_codecs.c         batches of Deflate, ZSTD and LZ4 chunks with it
 *     codestreams.c           JPEG and JPEG 2000: the choice of the library, and encoding
 *     nvjpeg.c, nvjpeg2k.c    the two libraries
 *     cufile.c                files read straight into device memory
 *     self_test.c             tests of a library before it is given tiles
 *     *_api.h                 declarations, compared with NVIDIA's headers by tests/check_nvidia.py
 *
 * Every library is optional. One that is missing or fails its test has a reason, which reports
 * show, and the engine's own kernels or the CPU do its work. */
#ifndef TZ_DEVICE_NVIDIA_NVIDIA_LIBRARIES_H
#define TZ_DEVICE_NVIDIA_NVIDIA_LIBRARIES_H

#include "device/driver.h"
#include "device/dynlib.h"

/* In the order of the list. The structure of functions of each is named after it. */
enum {
    TZ_NVIDIA_NVCOMP,   /* tz_nvcomp */
    TZ_NVIDIA_CUFILE,   /* tz_cufile_api */
    TZ_NVIDIA_NVJPEG2K, /* tz_nvjpeg2k_api */
    TZ_NVIDIA_NVJPEG,   /* tz_nvjpeg_api */
    TZ_NVIDIA_LIBRARY_COUNT
};
extern const tz_dynlib tz_nvidia_libraries[TZ_NVIDIA_LIBRARY_COUNT];

/* The caller's name of a library; NULL: look for it. */
static inline const char *tz_nvidia_library_given(const tz_device_setup *setup, size_t library)
{
    return setup->libraries[TZ_LIBRARY_NVCOMP + library];
}

/* The description of a library with the memory of its texts, which must not move. */
typedef struct tz_found_library {
    tz_library_info info;
    char library[256];
    char version[32];
    char reason[256];
} tz_found_library;

/* Loads each library, or says why that is not possible. *out is zeroed. */
void tz_nvidia_libraries_find(tz_found_library out[TZ_NVIDIA_LIBRARY_COUNT],
                              const tz_device_setup *setup);

#endif
