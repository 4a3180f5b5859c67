/* SPDX-License-Identifier: Apache-2.0
 * --device and the options that need it. The paths of libraries are members of tz_device_options,
 * which a table finds by the id of the option. */
#include "device_option.h"

#include <stdio.h>
#include <string.h>

#include "parse.h"
#include "terminal.h"
#include "text.h"
#include "value.h"

static bool is_name(const char *text)
{
    static const char *const prefixes[] = {"cuda:", "opencl:"};
    uint64_t number;
    if (strcmp(text, "cpu") == 0 || strcmp(text, "auto") == 0)
        return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const size_t length = strlen(prefixes[i]);
        const char *at = text + length;
        if (strncmp(text, prefixes[i], length) == 0)
            return parse_uint(&at, UINT32_MAX, &number) && *at == '\0';
    }
    return false;
}

/* By id, from DEVICE_CUDA on. */
static const struct {
    const char *needs;
    size_t member; /* of tz_device_options */
} device_libraries[] = {
    {"--cuda-library needs --device", offsetof(tz_device_options, cuda_library)},
    {"--opencl-library needs --device", offsetof(tz_device_options, opencl_library)},
    {"--nvcomp-library needs --device", offsetof(tz_device_options, nvcomp_library)},
    {"--cufile-library needs --device", offsetof(tz_device_options, cufile_library)},
    {"--nvjpeg2k-library needs --device", offsetof(tz_device_options, nvjpeg2k_library)},
    {"--nvjpeg-library needs --device", offsetof(tz_device_options, nvjpeg_library)},
};
enum { LIBRARY_COUNT = sizeof device_libraries / sizeof device_libraries[0] };

static const char **library_at(tz_device_options *how, size_t index)
{
    return (const char **)((char *)how + device_libraries[index].member);
}

void device_set_library(tz_device_options *how, int id, const char *value)
{
    *library_at(how, (size_t)(id - DEVICE_CUDA)) = value;
}

bool device_apply(device_settings *s, int id, const char *value)
{
    switch (id) {
    case DEVICE_NAME:
        s->name = value;
        return is_name(value) ||
               value_wrong("--device is cpu, auto, cuda:N or opencl:N (see terrazzo devices), not",
                           value);
    case DEVICE_STRICT:
        s->strict = true;
        return true;
    case DEVICE_LOSSY:
        s->lossy = true;
        return true;
    case DEVICE_MEMORY:
        return (parse_bytes(value, &s->memory) && s->memory > 0) ||
               value_wrong("--device-memory needs a number of bytes, also with K, M, G or T; not",
                           value);
    default:
        device_set_library(&s->libraries, id, value);
        return true;
    }
}

bool device_check(const device_settings *s)
{
    const char *problem = NULL;
    tz_device_options libraries = s->libraries;
    if (s->name != NULL)
        return true;
    if (s->strict)
        problem = "--strict-device needs --device";
    else if (s->lossy)
        problem = "--lossy-on-device needs --device";
    else if (s->memory > 0)
        problem = "--device-memory needs --device";
    for (size_t i = 0; i < LIBRARY_COUNT && problem == NULL; i++) {
        if (*library_at(&libraries, i) != NULL)
            problem = device_libraries[i].needs;
    }
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}

tz_result device_open(tz_device **out, const device_settings *s, tz_error *err)
{
    tz_device_options how = s->libraries;
    *out = NULL;
    if (s->name == NULL)
        return TZ_OK;
    how.struct_size = sizeof how;
    return tz_device_open(out, s->name, &how, err);
}

bool device_has_memory(const tz_device *device)
{
    return device != NULL && strcmp(tz_device_get_info(device)->driver, "cpu") != 0;
}

tz_result device_problem(tz_error *err)
{
    char needed[TEXT_NUMBER];
    const char *limit = err->limit != NULL ? err->limit : "";
    if (err->result == TZ_ERR_LIMIT && err->found != TZ_NO_VALUE &&
        strcmp(limit, "device_bytes") == 0)
        snprintf(err->message, sizeof err->message,
                 "the device needs %s bytes of its memory, and --device-memory allows less",
                 text_count(needed, err->found));
    return err->result;
}
