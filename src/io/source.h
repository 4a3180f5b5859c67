/* SPDX-License-Identifier: Apache-2.0
 * Byte sources: see tz_source in the public header for the contract. */
#ifndef TZ_IO_SOURCE_H
#define TZ_IO_SOURCE_H

#include <sys/types.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Opens a regular file, read with pread; no shared position, no mmap. Directories, FIFOs, devices
 * and sockets are refused at once (TZ_CAUSE_UNSAFE), without blocking. no_follow refuses a symbolic
 * link as the last component of the path (sidecars). A missing file is TZ_ERR_IO with system_error
 * ENOENT. */
tz_result tz_source_open_file(tz_source **out, const char *path, bool no_follow,
                              const tz_context *ctx);

/* Memory of the caller, which outlives the source. */
tz_result tz_source_open_memory(tz_source **out, const void *data, size_t size,
                                const tz_context *ctx);

/* The smallest struct_size of a source: the hints after close came with no older version, but a
 * source may leave them out. */
#define TZ_SOURCE_MIN_SIZE (offsetof(tz_source, close) + sizeof(((tz_source *)0)->close))

/* Checks the struct of a source of the caller, before it belongs to a file: its size and its
 * functions. *is_usable: its struct_size is right, so that close may be called after a failure. */
tz_result tz_source_check_struct(const tz_source *source, bool *is_usable, const tz_context *ctx);

/* Returns a copy of the members of a source; those that its struct does not have are 0. Members
 * after close are read through this function only. */
tz_source tz_source_members(const tz_source *source);

/* Reads one range: a file in the calling thread, other sources by submit and wait. Errors get the
 * name and the directory of ctx. */
tz_result tz_source_read(tz_source *source, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx);

/* The two halves of a read by submit and wait, with errors as those of tz_source_read. A request
 * whose submit succeeded must be waited for once. */
tz_result tz_source_submit(tz_source *source, tz_request *request, const tz_context *ctx);
tz_result tz_source_wait(tz_source *source, tz_request *request, const tz_context *ctx);

/* After reading: fails with TZ_ERR_CHANGED if the bytes have changed since the source was opened.
 */
tz_result tz_source_check(tz_source *source, const tz_context *ctx);

void tz_source_close(tz_source *source); /* accepts NULL */

/* Announces reads: the system may start to fetch bytes of a file that it has not cached, and a
 * source of the caller bytes that it will be asked for. dst of the ranges is NULL. */
void tz_source_prefetch(tz_source *source, const tz_range *ranges, size_t count);

/* For tz_source_read: true for a source of tz_source_open_file, and a read of a range within it. */
bool tz_source_is_file(const tz_source *source);
tz_result tz_source_read_file(const tz_source *source, const tz_range *range, tz_error *err);

/* True if the system has cached these bytes of a file, judged by the first 16 KiB. False if it
 * cannot say. */
bool tz_source_is_cached(const tz_source *source, uint64_t offset, uint64_t size);

/* Returns the descriptor of a file, which lives as long as the source, for others to read from; -1
 * if the source is not a local file. */
int tz_source_descriptor(const tz_source *source);

/* For the submit of a source: fails with TZ_ERR_FORMAT and TZ_CAUSE_TRUNCATED if a range exceeds
 * the source. */
tz_result tz_source_check_ranges(const tz_source *source, const tz_request *request, tz_error *err);

/* Fails with TZ_CAUSE_UNSAFE: "is KIND; only regular files are VERB". */
tz_result tz_fail_not_regular(const tz_context *ctx, const char *verb, int error_number,
                              const char *kind);

const char *tz_file_kind_name(unsigned mode); /* of a st_mode: "a FIFO", ...; never NULL */

/* System calls of the file source go through this table, so that tests can make each of them fail.
 * NULL restores the real ones. */
struct stat;
typedef struct tz_source_syscalls {
    int (*open)(const char *path, int flags);
    int (*fstat)(int fd, struct stat *out);
    ssize_t (*pread)(int fd, void *dst, size_t size, int64_t offset);
    int (*close)(int fd);
    int (*prefetch)(int fd, int64_t offset, int64_t size); /* posix_fadvise; may fail */
    /* pread of bytes that the system has cached: preadv2 with RWF_NOWAIT. NULL: the system cannot.
     */
    ssize_t (*pread_cached)(int fd, void *dst, size_t size, int64_t offset);
} tz_source_syscalls;
void tz_source_set_syscalls(const tz_source_syscalls *syscalls);

#endif
