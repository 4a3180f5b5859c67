/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr, dlinfo, secure_getenv */
#include "device/dynlib.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device_text.h"

void *tz_dynlib_open(const char *name, char *reason, size_t reason_size)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        tz_device_text(reason, reason_size, why ? why : "the library cannot be loaded");
    }
    return handle;
}

const char *tz_dynlib_symbols(void *handle, const tz_dynlib_symbol *symbols, size_t count,
                              void *functions)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address)
            return symbols[i].name;
        /* C has no cast from an object's address to a function's */
        memcpy((char *)functions + symbols[i].member, &address, sizeof address);
    }
    return NULL;
}

/* ---- Python's folders ---- */

/* The part of a path up to and with its folder site-packages; 0: there is none in it. */
static size_t site_length(const char *path)
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(path, names[i]);
        if (at)
            return (size_t)(at - path) + strlen(names[i]) - 1;
    }
    return 0;
}

typedef struct load_attempt {
    const char *name; /* soname */
    const tz_dynlib_search *search;
    char *reason; /* of a library that is there and cannot be loaded */
    size_t reason_size;
} load_attempt;

static void *open_in_site(const load_attempt *a, const char *site, size_t length)
{
    for (const char *const *wheel = a->search->wheels; *wheel; wheel++) {
        char path[PATH_MAX];
        const int size =
            snprintf(path, sizeof path, "%.*s/%s/%s", (int)length, site, *wheel, a->name);
        if (size < 0 || (size_t)size >= sizeof path || access(path, R_OK) != 0)
            continue;
        void *handle = tz_dynlib_open(path, a->reason, a->reason_size);
        if (handle)
            return handle;
    }
    return NULL;
}

/* Beside the Python package that this library came with. */
static void *open_beside(const load_attempt *a)
{
    static const char here = 0; /* an address of this library's */
    Dl_info about;
    if (!dladdr(&here, &about) || !about.dli_fname)
        return NULL;
    const size_t length = site_length(about.dli_fname);
    return length ? open_in_site(a, about.dli_fname, length) : NULL;
}

static int is_python(const struct dirent *entry)
{
    return strncmp(entry->d_name, "python3", 7) == 0;
}

static void *open_in_environment(const load_attempt *a, const char *variable)
{
    const char *prefix = secure_getenv(variable);
    char folder[PATH_MAX], site[PATH_MAX + 300];
    if (!prefix || snprintf(folder, sizeof folder, "%s/lib", prefix) >= (int)sizeof folder)
        return NULL;
    struct dirent **found = NULL;
    const int count = scandir(folder, &found, is_python, alphasort);
    void *handle = NULL;
    for (int i = 0; i < count; i++) {
        const int size =
            snprintf(site, sizeof site, "%s/%s/site-packages", folder, found[i]->d_name);
        if (!handle)
            handle = open_in_site(a, site, (size_t)size);
        free(found[i]);
    }
    free(found);
    return handle;
}

/* ---- the search ---- */

/* The loader's own places. That there is no such library is no reason to tell; that it lacks
 * another one is. */
static void *open_by_loader(const load_attempt *a)
{
    char why[256];
    void *handle = tz_dynlib_open(a->name, why, sizeof why);
    const size_t length = strlen(a->name);
    if (!handle && !(strncmp(why, a->name, length) == 0 && why[length] == ':'))
        tz_device_text(a->reason, a->reason_size, why);
    return handle;
}

static void *open_somewhere(const load_attempt *a)
{
    void *handle = open_by_loader(a);
    if (!handle)
        handle = open_beside(a);
    if (!handle)
        handle = open_in_environment(a, "VIRTUAL_ENV");
    if (!handle)
        handle = open_in_environment(a, "CONDA_PREFIX");
    return handle;
}

static void report_path(void *handle, const char *name, char *path, size_t path_size)
{
    struct link_map *map = NULL;
    const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
    tz_device_text(path, path_size, known ? map->l_name : name);
}

static void report_disabled(const tz_dynlib_search *search, char *reason, size_t reason_size)
{
    if (search->given)
        tz_device_text(reason, reason_size, "it is not to be used");
    else
        tz_device_textf(reason, reason_size, "it is not to be used: %s is empty", search->variable);
}

void *tz_dynlib_find(const tz_dynlib_search *search, char *path, size_t path_size, char *reason,
                     size_t reason_size)
{
    reason[0] = '\0';
    const char *given = search->given ? search->given : secure_getenv(search->variable);
    const char *name = given && given[0] ? given : search->names[0];
    tz_device_text(path, path_size, name);
    void *handle = NULL;
    if (given && given[0] == '\0') {
        report_disabled(search, reason, reason_size);
    } else if (given) {
        handle = tz_dynlib_open(name, reason, reason_size);
    } else {
        for (const char *const *next = search->names; *next && !handle; next++) {
            name = *next;
            handle = open_somewhere(&(load_attempt){name, search, reason, reason_size});
        }
        if (!handle && !reason[0])
            tz_device_text(reason, reason_size, "it is not installed");
    }
    if (handle) {
        reason[0] = '\0';
        report_path(handle, name, path, path_size);
    }
    return handle;
}
