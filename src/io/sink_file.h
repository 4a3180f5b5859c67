/* SPDX-License-Identifier: Apache-2.0
 * The parts of the file sink: where a file is to appear, the temporary file that becomes it, what
 * it takes over from the file it replaces, and the step that makes it visible. */
#ifndef TZ_IO_SINK_FILE_H
#define TZ_IO_SINK_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---------------------------------------------------------------------------------------------
 * Destination (sink_path.c)
 * ------------------------------------------------------------------------------------------ */

/* Longest name in a directory, of any file system that matters. */
#define TZ_LONGEST_NAME 255

/* A name in a directory that is held open: renaming the directory, or exchanging a link on the way
 * to it, does not move the destination while it is being written. */
typedef struct tz_destination {
    int dir;
    bool exists;
    struct stat status; /* of what is there, when something is */
    char name[TZ_LONGEST_NAME + 1];
} tz_destination;

/* Links are followed to their end, which need not exist. What exists must be a regular file. */
tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx);
void tz_destination_close(tz_destination *at);

/* See what is there now. */
tz_result tz_destination_look(tz_destination *at, const tz_context *ctx);

/* TZ_ERR_IO with EEXIST. */
tz_result tz_fail_exists(const tz_context *ctx);

bool tz_same_file(const struct stat *a, const struct stat *b);

/* ---------------------------------------------------------------------------------------------
 * Temporary files (sink_temp.c)
 * ------------------------------------------------------------------------------------------ */

/* Longest name of a temporary file: what the stingiest file systems (encrypting ones) grant. */
#define TZ_LONGEST_TEMPORARY 143

typedef struct tz_temporary {
    int fd;
    char name[TZ_LONGEST_TEMPORARY + 1]; /* "": none, or none any more */
} tz_temporary;

/* An empty file for reading and writing, locked, on the destination's file system; without a name
 * where that can be had. */
tz_result tz_temporary_open(tz_temporary *out, const tz_destination *at, const tz_context *ctx);

/* Give a name to one that has none. */
tz_result tz_temporary_link(tz_temporary *temporary, const tz_destination *at,
                            const tz_context *ctx);

/* 0 when its name still is its own, ENOENT when it is gone or another's, else errno. */
int tz_temporary_check(const tz_temporary *temporary, int dir);

/* Close it, and remove its name when it has one. */
void tz_temporary_close(tz_temporary *temporary, int dir);

/* "/proc/self/fd/N": a file without a name can be linked by this one. */
#define TZ_PROC_NAME_SIZE 32
void tz_temporary_proc_name(char name[TZ_PROC_NAME_SIZE], int fd);

/* Whether a file of this name may be a temporary file of ours. */
bool tz_is_temporary_name(const char *name);

/* A temporary file that a write left behind, locked by us: nobody else removes it or takes it for
 * one. Returns its descriptor; -1 when it is in use, gone, not ours or not to be told. */
int tz_claim_leftover(int dir, const char *name, struct stat *status);

/* ---------------------------------------------------------------------------------------------
 * What is kept of a replaced file (sink_access.c)
 * ------------------------------------------------------------------------------------------ */

/* Owner, group, permissions, access list and user attributes of the file at the destination, as far
 * as the system lets us; nobody may do more with the new file than with the old one. Without a file
 * there, fd stays as it was made. */
tz_result tz_keep_access(int fd, const tz_destination *at, const tz_context *ctx);

/* ---------------------------------------------------------------------------------------------
 * Publication (sink_publish.c)
 * ------------------------------------------------------------------------------------------ */

/* The temporary file gets the destination's name and loses its own. */
tz_result tz_publish(tz_temporary *temporary, const tz_destination *at, bool exclusive,
                     const tz_context *ctx);

#endif
