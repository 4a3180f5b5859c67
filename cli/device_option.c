/* SPDX-License-Identifier: Apache-2.0 */
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
    case DEVICE_CUDA:
        s->cuda_library = value;
        return true;
    case DEVICE_OPENCL:
        s->opencl_library = value;
        return true;
    default: /* DEVICE_MEMORY */
        return (parse_bytes(value, &s->memory) && s->memory > 0) ||
               value_wrong("--device-memory needs a number of bytes, also with K, M, G or T; not",
                           value);
    }
}

bool device_check(const device_settings *s)
{
    const char *problem = NULL;
    if (s->name == NULL && s->strict)
        problem = "--strict-device needs --device";
    else if (s->name == NULL && s->memory > 0)
        problem = "--device-memory needs --device";
    else if (s->name == NULL && s->cuda_library != NULL)
        problem = "--cuda-library needs --device";
    else if (s->name == NULL && s->opencl_library != NULL)
        problem = "--opencl-library needs --device";
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}

tz_result device_open(tz_device **out, const device_settings *s, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    *out = NULL;
    if (s->name == NULL)
        return TZ_OK;
    how.cuda_library = s->cuda_library;
    how.opencl_library = s->opencl_library;
    return tz_device_open(out, s->name, &how, err);
}

bool device_has_memory(const tz_device *device)
{
    return device != NULL && strcmp(tz_device_get_info(device)->driver, "cores") != 0;
}

tz_result device_problem(tz_error *err)
{
    char needed[TEXT_NUMBER];
    const char *limit = err->limit != NULL ? err->limit : "";
    if (err->result == TZ_ERR_LIMIT && err->found != TZ_NONE &&
        (strcmp(limit, "device_bytes") == 0 || strcmp(limit, "device_buffer_bytes") == 0))
        snprintf(err->message, sizeof err->message,
                 "the device needs %s bytes of its memory, and --device-memory allows less",
                 text_count(needed, err->found));
    return err->result;
}
