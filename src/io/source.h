/* SPDX-License-Identifier: Apache-2.0
 * Byte sources: see tz_source in the public header for the contract. */
#ifndef TZ_IO_SOURCE_H
#define TZ_IO_SOURCE_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* A regular file, read with pread; no shared position, no mmap. Directories, FIFOs, devices and
 * sockets are refused at once (TZ_CAUSE_UNSAFE), without blocking. no_follow refuses a symbolic
 * link as the last part of the path (sidecars). A missing file is TZ_ERR_IO with system_error
 * ENOENT. */
tz_result tz_source_open_file(tz_source **out, const char *path, bool no_follow,
                              const tz_context *ctx);

/* Bytes of the caller's, which outlive the source. */
tz_result tz_source_open_memory(tz_source **out, const void *data, size_t size,
                                const tz_context *ctx);

/* Reads one range: a file in the calling thread, other sources by submit and wait. Errors carry
 * ctx's name and directory. */
tz_result tz_source_read(tz_source *source, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx);

/* After reading: TZ_ERR_CHANGED when these are no longer the bytes that were opened. */
tz_result tz_source_check(tz_source *source, const tz_context *ctx);

void tz_source_close(tz_source *source); /* NULL is fine */

/* These bytes will be read soon: a file that is not in memory yet may start to fetch them. */
void tz_source_prefetch(tz_source *source, uint64_t offset, uint64_t size);

/* For tz_source_read: a source of tz_source_open_file, and one range of it that lies within. */
bool tz_source_is_file(const tz_source *source);
tz_result tz_source_read_file(const tz_source *source, const tz_range *range, tz_error *err);

/* Whether the system has these bytes of a file in memory: the first 16 KiB stand for all. False
 * where that cannot be found out. */
bool tz_source_is_cached(const tz_source *source, uint64_t offset, uint64_t size);

/* The descriptor of a file that is there as long as the source, for others to read from; -1: these
 * are no bytes of a local file. */
int tz_source_descriptor(const tz_source *source);

/* For the submit of a source: TZ_ERR_FORMAT with TZ_CAUSE_TRUNCATED when a range leaves the source.
 */
tz_result tz_source_check_ranges(const tz_source *source, const tz_request *request, tz_error *err);

/* System calls of the file source go through this table, so that tests can make each of them fail.
 * NULL restores the real ones. */
struct stat;
typedef struct tz_source_syscalls {
    int (*open)(const char *path, int flags);
    int (*fstat)(int fd, struct stat *out);
    long (*pread)(int fd, void *dst, size_t size, int64_t offset);
    int (*close)(int fd);
    int (*prefetch)(int fd, int64_t offset,
                    int64_t size); /* posix_fadvise; its failure is no harm */
    /* As pread, of bytes that are in the system's memory only: preadv2 with RWF_NOWAIT. NULL: the
     * system cannot say. */
    long (*pread_cached)(int fd, void *dst, size_t size, int64_t offset);
} tz_source_syscalls;
void tz_source_set_syscalls(const tz_source_syscalls *syscalls);

#endif
