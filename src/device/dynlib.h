/* SPDX-License-Identifier: Apache-2.0
 * Vendors' libraries, found at run time. None is ever unloaded: they have threads, and code that
 * runs at exit. */
#ifndef TZ_DEVICE_DYNLIB_H
#define TZ_DEVICE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

/* A function, and where its address goes in the structure of a library's functions. */
typedef struct tz_dynlib_symbol {
    const char *name;
    size_t member; /* offsetof */
} tz_dynlib_symbol;

/* Load a library by its name, or path; NULL, with the reason, when that cannot be done. */
void *tz_dynlib_open(const char *name, char *reason, size_t reason_size);

/* Store the addresses of all symbols in *functions. The answer is the name of the first that is
 * missing; NULL: none is. */
const char *tz_dynlib_symbols(void *handle, const tz_dynlib_symbol *symbols, size_t count,
                              void *functions);

/* Where a library may be. */
typedef struct tz_dynlib_search {
    const char *given;         /* what the caller named: the only place, then; NULL: look for it;
                                  empty: do not use it */
    const char *variable;      /* of the environment: the same of the user, where the caller named
                                  nothing */
    const char *const *names;  /* sonames, the one to prefer first; NULL at the end */
    const char *const *wheels; /* folders below site-packages that Python's packages put it into;
                                  NULL at the end */
} tz_dynlib_search;

/* Without a place that was named, of each name in turn: where the loader looks, then below the
 * site-packages that this library is in, then below those of the environments that VIRTUAL_ENV and
 * CONDA_PREFIX name. *path becomes where the library is; or what was looked for, and *reason why
 * there is none. */
void *tz_dynlib_find(const tz_dynlib_search *search, char *path, size_t path_size, char *reason,
                     size_t reason_size);

#endif
