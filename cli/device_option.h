/* SPDX-License-Identifier: Apache-2.0
 * --device and the options that need it: commands open their device only here. */
#ifndef CLI_DEVICE_OPTION_H
#define CLI_DEVICE_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

#include "options.h"

/* Values of DEVICE_LIBRARIES by id, from DEVICE_CUDA on; NULL: not given. */
enum { DEVICE_LIBRARY_COUNT = 6 };
typedef struct device_libraries {
    const char *paths[DEVICE_LIBRARY_COUNT];
} device_libraries;

/* As typed. */
typedef struct device_settings {
    const char *name; /* NULL: no device was asked for, and the CPU works */
    device_libraries libraries;
    bool strict;
    bool lossy;      /* the vendor's libraries may decode lossy codecs */
    uint64_t memory; /* 0: the library's choice */
} device_settings;

enum {
    DEVICE_NAME = 201,
    DEVICE_STRICT,
    DEVICE_LOSSY,
    DEVICE_MEMORY,
    DEVICE_CUDA, /* from here on libraries, in the order of library_options */
    DEVICE_OPENCL,
    DEVICE_NVCOMP,
    DEVICE_CUFILE,
    DEVICE_NVJPEG2K,
    DEVICE_NVJPEG
};
/* clang-format off */
#define DEVICE_LIBRARIES                                                                           \
    {"cuda-library", 0, DEVICE_CUDA, "PATH", "the driver of CUDA, libcuda.so.1 by default"},       \
    {"opencl-library", 0, DEVICE_OPENCL, "PATH",                                                   \
     "the ICD loader of OpenCL, libOpenCL.so.1 by default"},                                       \
    {"nvcomp-library", 0, DEVICE_NVCOMP, "PATH",                                                   \
     "NVIDIA's nvCOMP; empty: do not use it. By default it\n"                                      \
     "is looked for, and so are the others"},                                                      \
    {"cufile-library", 0, DEVICE_CUFILE, "PATH", "the same for cuFile"},                            \
    {"nvjpeg2k-library", 0, DEVICE_NVJPEG2K, "PATH", "the same for nvJPEG2000"},                    \
    {"nvjpeg-library", 0, DEVICE_NVJPEG, "PATH", "the same for nvJPEG"}
#define DEVICE_OPTIONS                                                                             \
    {"device", 0, DEVICE_NAME, "NAME", "where pixel work is done: cpu (the default),\n" \
                                       "cuda:N or opencl:N as terrazzo devices lists them, or\n"   \
                                       "auto: a GPU where it is expected to be faster"},           \
    {"strict-device", 0, DEVICE_STRICT, NULL, "what the device cannot do is an error, and not\n"   \
                                              "done by the CPU"},                                \
    {"lossy-on-device", 0, DEVICE_LOSSY, NULL, "let the libraries of the device's vendor decode\n" \
                                               "lossy JPEG and JPEG 2000: samples may differ from\n" \
                                               "those of the CPU by rounding"},                  \
    {"device-memory", 0, DEVICE_MEMORY, "SIZE", "how much of the device's memory to use at most"}, \
    DEVICE_LIBRARIES,                                                                              \
    {"report", 0, OPTION_VERBOSE, NULL, "report each stage, as --verbose does"}
/* clang-format on */

/* Applies one of DEVICE_LIBRARIES. */
void device_set_library(device_libraries *libraries, int id, const char *value);
/* Joins them to a text for tz_device_options.libraries, which the caller frees. A path with a
 * semicolon cannot be written there: TZ_ERR_ARG. */
tz_result device_join_libraries(char **out, const device_libraries *libraries, tz_error *err);
/* Applies one of DEVICE_OPTIONS. false when the value is wrong; then a message was printed. */
bool device_apply(device_settings *settings, int id, const char *value);
/* Returns true if the options go together; otherwise a message was printed. */
bool device_check(const device_settings *settings);

/* Opens the device; *out is NULL when none was asked for. The caller closes it. */
tz_result device_open(tz_device **out, const device_settings *settings, tz_error *err);

/* Returns true for a device other than the CPU. */
bool device_has_memory(const tz_device *device);

/* Rewords an error about the library's option max_device_bytes, which users know as
 * --device-memory. Returns err->result. */
tz_result device_problem(tz_error *err);

#endif
