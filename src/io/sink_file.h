/* SPDX-License-Identifier: Apache-2.0
 * The file sink in its parts: the destination, the temporary file that becomes it, and the sink
 * that fills and publishes it. For the sink_*.c files alone. */
#ifndef TZ_IO_SINK_FILE_H
#define TZ_IO_SINK_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---- sink_destination.c: the name to write, and the file that is replaced ---- */

/* Longest name in a directory, of any file system that matters. */
#define TZ_MAX_NAME_LENGTH 255

/* A name in a directory that is held open: renaming the directory, or exchanging a link on the way
 * to it, does not move the destination while it is being written. */
typedef struct tz_destination {
    int dir;
    bool exists;
    struct stat status; /* of the file at the destination, if it exists */
    char name[TZ_MAX_NAME_LENGTH + 1];
} tz_destination;

/* Opens the directory of path. Links are followed to their end, which need not exist. If it exists,
 * it must be a regular file. */
tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx);
void tz_destination_close(tz_destination *destination);

/* Updates exists and status. */
tz_result tz_destination_stat(tz_destination *destination, const tz_context *ctx);

tz_result tz_fail_exists(const tz_context *ctx); /* TZ_ERR_IO with EEXIST */
bool tz_same_file(const struct stat *a, const struct stat *b);

/* Gives fd the owner, group, permissions, access list and user attributes of the file at the
 * destination, as far as the system allows; nobody may do more with the new file than with the old
 * one. Without a file there, fd stays as it is. */
tz_result tz_preserve_access(int fd, const tz_destination *destination, const tz_context *ctx);

/* ---- sink_temporary.c: temporary files from creation to publication or removal ---- */

/* Longest name of a temporary file: the limit of encrypting file systems, which is the lowest. */
#define TZ_MAX_TEMPORARY_NAME_LENGTH 143

typedef struct tz_temporary {
    int fd;
    char name[TZ_MAX_TEMPORARY_NAME_LENGTH + 1]; /* "": none */
} tz_temporary;

/* Creates an empty file for reading and writing on the file system of the destination, and locks
 * it. It has no name if the system can make such files. */
tz_result tz_temporary_open(tz_temporary *out, const tz_destination *destination,
                            const tz_context *ctx);

/* Gives the file the name of the destination instead of its own. exclusive: fails with EEXIST
 * rather than replace a file. */
tz_result tz_temporary_publish(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx);

/* Closes the file, and removes its name if it has one. */
void tz_temporary_close(tz_temporary *temporary, int dir);

/* True if a temporary file of this library may have this name. */
bool tz_is_temporary_name(const char *name);

/* ---- sink_file.c: the sink ---- */

/* A file that will be published, or a spool, which never is. */
typedef struct tz_file_sink {
    tz_sink base; /* first, so that both have one address */
    tz_destination destination;
    tz_temporary temporary;
    const char *display_name;    /* of a spool, for messages; NULL: the writer adds the name */
    uint64_t end;                /* of the bytes written: the size of the file */
    uint64_t written_back;       /* bytes before this offset were passed to write_back */
    const tz_progress *progress; /* of an insertion; NULL: none */
    bool exclusive;
    bool no_sync;
    bool failed; /* a call failed, so the content of the file is in doubt for good */
    bool synced;
    bool committed;
} tz_file_sink;

/* Returns NULL if the sink is NULL or not a file. */
tz_file_sink *tz_file_sink_of(tz_sink *sink);

tz_context tz_file_sink_context(const tz_file_sink *file, tz_error *err);

/* After a failure nothing is published, whatever the caller does: a call that changes the file
 * begins with tz_file_sink_check and passes its result through tz_file_sink_record_failure. */
tz_result tz_file_sink_check(const tz_file_sink *file, const tz_context *ctx);
tz_result tz_file_sink_record_failure(tz_file_sink *file, tz_result result);

/* Transfer bytes and leave the state of the sink alone. After a write the caller passes *end to
 * tz_file_sink_note_written, unless the size of the file stays the same. */
tz_result tz_file_sink_pwrite(const tz_file_sink *file, uint64_t offset, const tz_bytes *buffers,
                              size_t count, uint64_t *end, const tz_context *ctx);
tz_result tz_file_sink_pread(const tz_file_sink *file, uint64_t offset, void *dst, size_t size,
                             const tz_context *ctx);
void tz_file_sink_note_written(tz_file_sink *file, uint64_t end);

/* ---- sink_insert.c: bytes that the system moves ---- */

/* Implements tz_sink.insert. */
tz_result tz_file_sink_insert(tz_sink *sink, uint64_t size, tz_error *err);

/* Lets the system copy bytes between files, or within one if the two ranges do not overlap. *done
 * is less than size if the system cannot, or stops. */
tz_result tz_file_sink_copy_range(const tz_file_sink *to, uint64_t to_offset,
                                  const tz_file_sink *from, uint64_t from_offset, uint64_t size,
                                  uint64_t *done, const tz_context *ctx);

#endif
