/* SPDX-License-Identifier: Apache-2.0
 * Loading of vendors' libraries: a row (tz_dynlib) describes each, and the code here knows no
 * vendor. A load goes through four steps: find the file, bind its functions, read its version,
 * compare that with the known releases.
 *
 * NVIDIA ships most of its libraries as Python packages as well, and many users have them in no
 * other way. So after the loader's own folders the search goes on below site-packages: of the
 * package that this library is part of, then of the virtual environment or Conda's that is active.
 * secure_getenv: a program with more rights than its user does not load libraries that the user
 * names.
 *
 * A failure has one reason, and it is the most useful one. That the loader finds no file of a name
 * says nothing, because other folders follow; that it finds one which it cannot load does, for
 * instance when another library is missing that this one needs. */
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

static void *open_library(const char *name, char *reason, size_t reason_size)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        tz_device_text(reason, reason_size, why ? why : "the library cannot be loaded");
    }
    return handle;
}

/* ---- Python's folders ---- */

/* A search for one soname. */
typedef struct load_attempt {
    const char *soname;
    const char *const *wheels;
    char *reason; /* set if a file exists and cannot be loaded */
    size_t reason_size;
} load_attempt;

static void *open_in_site(const load_attempt *a, const char *site, size_t length)
{
    for (const char *const *wheel = a->wheels; *wheel; wheel++) {
        char path[PATH_MAX];
        const int size =
            snprintf(path, sizeof path, "%.*s/%s/%s", (int)length, site, *wheel, a->soname);
        if (size < 0 || (size_t)size >= sizeof path || access(path, R_OK) != 0)
            continue;
        void *handle = open_library(path, a->reason, a->reason_size);
        if (handle)
            return handle;
    }
    return NULL;
}

/* Looks beside the Python package that this library came with, if it did. */
static void *open_beside(const load_attempt *a)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    static const char here = 0; /* its address is one within this library */
    Dl_info about;
    if (!dladdr(&here, &about) || !about.dli_fname)
        return NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *at = strstr(about.dli_fname, folders[i]);
        if (at)
            return open_in_site(a, about.dli_fname,
                                (size_t)(at - about.dli_fname) + strlen(folders[i]) - 1);
    }
    return NULL;
}

static int is_python(const struct dirent *entry)
{
    return strncmp(entry->d_name, "python3", 7) == 0;
}

/* Looks below lib/python3.x/site-packages of the environment that a variable names. */
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

/* glibc's message begins with the name of the file that is missing: the library itself, of which
 * nothing is said, or another one that it needs. */
static void *search_soname(const load_attempt *a)
{
    char why[256];
    const size_t length = strlen(a->soname);
    void *handle = open_library(a->soname, why, sizeof why);
    if (!handle && !(strncmp(why, a->soname, length) == 0 && why[length] == ':'))
        tz_device_text(a->reason, a->reason_size, why);
    if (!handle)
        handle = open_beside(a);
    if (!handle)
        handle = open_in_environment(a, "VIRTUAL_ENV");
    if (!handle)
        handle = open_in_environment(a, "CONDA_PREFIX");
    return handle;
}

static void *find_library(const tz_dynlib *library, const char *given, char *path, size_t path_size,
                          char *reason, size_t reason_size)
{
    const char *named = given || !library->variable ? given : secure_getenv(library->variable);
    const bool disabled = library->variable && named && named[0] == '\0';
    const char *name = named && !disabled ? named : library->sonames[0];
    void *handle = NULL;
    reason[0] = '\0';
    tz_device_text(path, path_size, name);
    if (disabled && given) {
        tz_device_text(reason, reason_size, "it is not to be used");
    } else if (disabled) {
        tz_device_textf(reason, reason_size, "it is not to be used: %s is empty",
                        library->variable);
    } else if (named || !library->wheels) {
        handle = open_library(name, reason, reason_size);
    } else {
        for (const char *const *next = library->sonames; *next && !handle; next++) {
            name = *next;
            handle = search_soname(&(load_attempt){name, library->wheels, reason, reason_size});
        }
        if (!handle && !reason[0])
            tz_device_text(reason, reason_size, "it is not installed");
    }
    if (handle) {
        struct link_map *map = NULL;
        const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
        tz_device_text(path, path_size, known ? map->l_name : name);
        reason[0] = '\0';
    }
    return handle;
}

/* ---- binding ---- */

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

static bool is_before(const uint32_t version[3], const uint32_t release[2])
{
    return version[0] < release[0] || (version[0] == release[0] && version[1] < release[1]);
}

bool tz_dynlib_load(const tz_dynlib *library, const char *given, void *functions,
                    tz_dynlib_info *info, char *reason, size_t reason_size)
{
    memset(functions, 0, library->functions_size);
    *info = (tz_dynlib_info){.path = ""};
    void *handle = find_library(library, given, info->path, sizeof info->path, reason, reason_size);
    if (!handle)
        return false;
    if (library->bind)
        return library->bind(handle, functions, info->version, reason, reason_size);

    const char *missing =
        tz_dynlib_symbols(handle, library->symbols, library->symbol_count, functions);
    if (missing) {
        const char *subject = library->missing_note ? given ? given : library->sonames[0] : "it";
        tz_device_textf(reason, reason_size, "%s lacks %s%s", subject, missing,
                        library->missing_note ? library->missing_note : "");
        return false;
    }
    if (tz_dynlib_symbols(handle, library->optional, library->optional_count, functions)) {
        for (size_t i = 0; i < library->optional_count; i++)
            memset((char *)functions + library->optional[i].member, 0, sizeof(void *));
    }

    if (!library->read_version)
        return true;
    uint32_t *v = info->version;
    if (library->read_version(functions, v) && !is_before(v, library->first) &&
        is_before(v, library->end))
        return true;
    tz_device_textf(reason, reason_size, "%s %u.%u.%u is not known here: %s", library->name, v[0],
                    v[1], v[2], library->known);
    return false;
}
