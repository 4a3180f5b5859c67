/* SPDX-License-Identifier: Apache-2.0
 * The parts of the file sink: where a file is to appear, the temporary file that becomes it, its
 * bytes, what it takes over from the file it replaces, and the step that makes it visible. */
#ifndef TZ_IO_SINK_FILE_H
#define TZ_IO_SINK_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---------------------------------------------------------------------------------------------
 * Destination (sink_destination.c)
 * ------------------------------------------------------------------------------------------ */

/* Longest name in a directory, of any file system that matters. */
#define TZ_MAX_NAME_LENGTH 255

/* A name in a directory that is held open: renaming the directory, or exchanging a link on the way
 * to it, does not move the destination while it is being written. */
typedef struct tz_destination {
    int dir;
    bool exists;
    struct stat status; /* of what is there, when something is */
    char name[TZ_MAX_NAME_LENGTH + 1];
} tz_destination;

/* Links are followed to their end, which need not exist. What exists must be a regular file. */
tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx);
void tz_destination_close(tz_destination *destination);

/* See what is there now. */
tz_result tz_destination_stat(tz_destination *destination, const tz_context *ctx);

/* TZ_ERR_IO with EEXIST. */
tz_result tz_fail_exists(const tz_context *ctx);

bool tz_same_file(const struct stat *a, const struct stat *b);

/* ---------------------------------------------------------------------------------------------
 * Temporary files (sink_temporary.c)
 * ------------------------------------------------------------------------------------------ */

/* Longest name of a temporary file: what the stingiest file systems (encrypting ones) grant. */
#define TZ_MAX_TEMPORARY_NAME_LENGTH 143

typedef struct tz_temporary {
    int fd;
    char name[TZ_MAX_TEMPORARY_NAME_LENGTH + 1]; /* "": none, or none any more */
} tz_temporary;

/* An empty file for reading and writing, locked, on the destination's file system; without a name
 * where that can be had. */
tz_result tz_temporary_open(tz_temporary *out, const tz_destination *destination,
                            const tz_context *ctx);

/* Give a name to one that has none. */
tz_result tz_temporary_link(tz_temporary *temporary, const tz_destination *destination,
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
 * The sink and its bytes (sink_bytes.c, sink_insert.c, sink_copy.c)
 * ------------------------------------------------------------------------------------------ */

/* A file that will be published, or one that only waits (sink_spool.c): that one never gets a name.
 * It is as long as end says. */
typedef struct tz_file_sink {
    tz_sink base; /* first: the two share their address */
    tz_destination destination;
    tz_temporary temporary;
    const char *display_name; /* for messages: of a spool; NULL: the name of the write says it */
    uint64_t end;             /* of what was written */
    uint64_t written_back;    /* up to here the disk was asked to begin */
    bool exclusive;
    bool no_sync;
    bool failed; /* some call did: what is in the file is in doubt for good */
    bool synced;
    bool committed;
} tz_file_sink;

/* NULL when it is no file. */
tz_file_sink *tz_file_sink_of(tz_sink *sink);

tz_context tz_file_sink_context(const tz_file_sink *file, tz_error *err);

/* After a failure nothing is published any more, whatever the caller does: calls that change the
 * file begin with the one and end with the other. */
tz_result tz_file_sink_check(const tz_file_sink *file, const tz_context *ctx);
tz_result tz_file_sink_record_failure(tz_file_sink *file, tz_result result);

/* The functions of tz_sink. */
tz_result tz_file_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                             tz_error *err);
tz_result tz_file_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err);
tz_result tz_file_sink_insert(tz_sink *sink, uint64_t size, tz_error *err);
void tz_file_sink_close(tz_sink *sink);

/* The bytes alone, whatever happened before; of those written, tz_file_sink_note_written is to take
 * note.
 */
tz_result tz_file_sink_pwrite(const tz_file_sink *file, uint64_t offset, const tz_bytes *buffers,
                              size_t count, uint64_t *end, const tz_context *ctx);
tz_result tz_file_sink_pread(const tz_file_sink *file, uint64_t offset, void *dst, size_t size,
                             const tz_context *ctx);
/* Bytes were written that end here. */
void tz_file_sink_note_written(tz_file_sink *file, uint64_t end);
uint64_t tz_file_sink_free_space(const tz_file_sink *file); /* TZ_NONE: unknown */

/* Let the system copy bytes between files, or within one when the two ranges do not overlap. *done
 * is less than size where it does not do so (any further). */
tz_result tz_file_sink_copy_range(const tz_file_sink *to, uint64_t to_offset,
                                  const tz_file_sink *from, uint64_t from_offset, uint64_t size,
                                  uint64_t *done, const tz_context *ctx);

/* Whether a call failed because this system or this file system has no such thing. */
bool tz_errno_is_unsupported(int error_number);

/* ---------------------------------------------------------------------------------------------
 * What is kept of a replaced file (sink_access.c)
 * ------------------------------------------------------------------------------------------ */

/* Owner, group, permissions, access list and user attributes of the file at the destination, as far
 * as the system lets us; nobody may do more with the new file than with the old one. Without a file
 * there, fd stays as it was made. */
tz_result tz_preserve_access(int fd, const tz_destination *destination, const tz_context *ctx);

/* ---------------------------------------------------------------------------------------------
 * Publication (sink_publish.c)
 * ------------------------------------------------------------------------------------------ */

/* The temporary file gets the destination's name and loses its own. */
tz_result tz_temporary_publish(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx);

#endif
