/* SPDX-License-Identifier: Apache-2.0
 * Vendors' libraries, found and loaded at run time, each described by one row of data. None is ever
 * unloaded: they have threads, and code that runs at exit. */
#ifndef TZ_DEVICE_DYNLIB_H
#define TZ_DEVICE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of a library, and the member of the structure of functions that its address goes to.
 */
typedef struct tz_dynlib_symbol {
    const char *name;
    size_t member; /* offsetof */
} tz_dynlib_symbol;

/* A library that was loaded, or that was looked for. */
typedef struct tz_dynlib_info {
    char path[256];      /* of the library; of one that was not found, its name */
    uint32_t version[3]; /* major, minor, patch; all 0: not known */
} tz_dynlib_info;

/* A library: its names, the folders it may be in, its functions, and the releases that are known to
 * work as they are declared here. */
typedef struct tz_dynlib {
    const char *name;           /* "nvJPEG" */
    const char *task;           /* "decodes and encodes JPEG" */
    const char *variable;       /* environment variable that names it; NULL: none */
    const char *const *sonames; /* preferred first; NULL at the end */
    const char *const *wheels;  /* folders below site-packages that Python packages install it to,
                                   NULL at the end; NULL: the loader alone looks for it */
    const char *missing_note;   /* ends the message of a function that it lacks; NULL: nothing */
    size_t functions_size;      /* bytes of the structure of functions */
    size_t symbol_count, optional_count;
    const tz_dynlib_symbol *symbols;
    const tz_dynlib_symbol *optional; /* all of these are set, or none */

    /* Reads the version with the functions that were bound; NULL: any release will do. */
    bool (*read_version)(const void *functions, uint32_t version[3]);
    uint32_t first[2], end[2]; /* known releases, major and minor, up to and without end */
    const char *known;         /* the same in words: "releases 12.x and 13.x are" */

    /* Replaces all of the above from symbols on, for a library whose functions depend on its
     * release: binds them, sets the version, or returns false with the reason. */
    bool (*bind)(void *handle, void *functions, uint32_t version[3], char *reason,
                 size_t reason_size);
} tz_dynlib;

/* Loads a library and stores the addresses of its functions in *functions, which is zeroed first.
 * given is a path or a name and the only one that is tried; NULL searches; empty means that the
 * library is not to be used. Without it the environment variable says the same. Else each soname is
 * looked for in turn: by the loader, below the site-packages that terrazzo itself is in, and below
 * those of VIRTUAL_ENV and CONDA_PREFIX.
 *
 * Returns false, with the reason, if no such library is found, or its release is not a known one.
 * *info is set in any case. */
bool tz_dynlib_load(const tz_dynlib *library, const char *given, void *functions,
                    tz_dynlib_info *info, char *reason, size_t reason_size);

/* Stores the addresses of all symbols in *functions. Returns the name of the first one that is
 * missing, or NULL. */
const char *tz_dynlib_symbols(void *handle, const tz_dynlib_symbol *symbols, size_t count,
                              void *functions);

#endif
