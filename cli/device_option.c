/* SPDX-License-Identifier: Apache-2.0
 * --device and the options that need it. The paths of libraries are kept by the id of the option,
 * and joined to one text for the library. */
#include "device_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "problem.h"
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
    const char *name; /* in tz_device_options.libraries */
} library_options[DEVICE_LIBRARY_COUNT] = {
    {"--cuda-library needs --device", "cuda"},
    {"--opencl-library needs --device", "opencl"},
    {"--nvcomp-library needs --device", "nvcomp"},
    {"--cufile-library needs --device", "cufile"},
    {"--nvjpeg2k-library needs --device", "nvjpeg2k"},
    {"--nvjpeg-library needs --device", "nvjpeg"},
};

void device_set_library(device_libraries *libraries, int id, const char *value)
{
    libraries->paths[id - DEVICE_CUDA] = value;
}

tz_result device_join_libraries(char **out, const device_libraries *libraries, tz_error *err)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < DEVICE_LIBRARY_COUNT; i++) {
        const char *path = libraries->paths[i];
        if (path != NULL && strchr(path, ';') != NULL)
            return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                "the path of a library has a semicolon: %s", path);
        if (path != NULL)
            size += strlen(library_options[i].name) + strlen(path) + 2;
    }
    char *text = malloc(size);
    if (text == NULL)
        return problem_nomem(err, "the paths of libraries");
    text[0] = '\0';
    for (size_t i = 0; i < DEVICE_LIBRARY_COUNT; i++) {
        if (libraries->paths[i] != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s=%s;", library_options[i].name,
                                     libraries->paths[i]);
    }
    *out = text;
    return TZ_OK;
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
    if (s->name != NULL)
        return true;
    if (s->strict)
        problem = "--strict-device needs --device";
    else if (s->lossy)
        problem = "--lossy-on-device needs --device";
    else if (s->memory > 0)
        problem = "--device-memory needs --device";
    for (size_t i = 0; i < DEVICE_LIBRARY_COUNT && problem == NULL; i++) {
        if (s->libraries.paths[i] != NULL)
            problem = library_options[i].needs;
    }
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}

tz_result device_open(tz_device **out, const device_settings *s, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    char *text = NULL;
    *out = NULL;
    if (s->name == NULL)
        return TZ_OK;
    tz_result result = device_join_libraries(&text, &s->libraries, err);
    how.libraries = text;
    if (result == TZ_OK)
        result = tz_device_open(out, s->name, &how, err);
    free(text);
    return result;
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
        strcmp(limit, "max_device_bytes") == 0)
        snprintf(err->message, sizeof err->message,
                 "the device needs %s bytes of its memory, and --device-memory allows less",
                 text_count(needed, err->found));
    return err->result;
}
