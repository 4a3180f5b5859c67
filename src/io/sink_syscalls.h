/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink and of tz_clean. They go through a table, so that tests can make
 * each of them fail, and so that systems that lack one differ in a single file. */
#ifndef TZ_IO_SINK_SYSCALLS_H
#define TZ_IO_SINK_SYSCALLS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct iovec;

/* Like the system calls of these names, unless said otherwise: -1 (NULL) is a failure, with errno.
 * Offsets are int64_t, which is the type of off_t where files may be large. */
typedef struct tz_sink_syscalls {
    int (*openat)(int dir, const char *path, int flags, mode_t mode);
    /* Makes a file without a name, which linkat can give one; EOPNOTSUPP: the system cannot. */
    int (*open_unnamed)(int dir, mode_t mode);
    int (*fstat)(int fd, struct stat *out);
    int (*fstatat)(int dir, const char *path, struct stat *out, int flags);
    ssize_t (*readlinkat)(int dir, const char *path, char *dst, size_t size);
    int (*lock)(int fd); /* exclusive, without waiting: flock */
    ssize_t (*pwritev)(int fd, const struct iovec *buffers, int count, int64_t offset);
    ssize_t (*pread)(int fd, void *dst, size_t size, int64_t offset);
    /* Copies bytes between files, or within one if the ranges do not overlap. */
    ssize_t (*copy_range)(int from, int64_t from_offset, int to, int64_t to_offset, size_t size);
    /* Inserts a gap of size bytes at offset; the bytes from there on move up. */
    int (*insert_range)(int fd, int64_t offset, int64_t size);
    /* Starts to write these bytes to disk, without waiting for them. */
    int (*write_back)(int fd, int64_t offset, int64_t size);
    int (*ftruncate)(int fd, int64_t size);
    int (*fsync)(int fd);
    int (*fchmod)(int fd, mode_t mode);
    int (*fchown)(int fd, uid_t owner, gid_t group);
    ssize_t (*flistxattr)(int fd, char *dst, size_t size);
    ssize_t (*fgetxattr)(int fd, const char *name, void *dst, size_t size);
    int (*fsetxattr)(int fd, const char *name, const void *value, size_t size, int flags);
    int (*fremovexattr)(int fd, const char *name);
    int (*dup)(int fd); /* closed on exec */
    int (*close)(int fd);
    int (*linkat)(int from_dir, const char *from, int dir, const char *to, int flags);
    int (*renameat)(int from_dir, const char *from, int dir, const char *to);
    /* Fails with EEXIST if `to` exists; ENOSYS or EINVAL: the system cannot. */
    int (*rename_new)(int dir, const char *from, const char *to);
    int (*unlinkat)(int dir, const char *name, int flags);
    int (*free_space)(int fd, uint64_t *out); /* bytes left for this user: fstatvfs */
    DIR *(*fdopendir)(int fd);                /* owns fd if it succeeds */
    struct dirent *(*readdir)(DIR *list);
    int (*closedir)(DIR *list);
} tz_sink_syscalls;

extern const tz_sink_syscalls tz_sink_real_syscalls;
extern const tz_sink_syscalls *tz_sink_syscall; /* the table in use */

/* Replaces the table; NULL restores the real one. Not while a sink is open. */
void tz_sink_set_syscalls(const tz_sink_syscalls *syscalls);

/* Repeats a call while signals interrupt it. */
#define TZ_RETRY(result, call)                                                                     \
    do {                                                                                           \
        (result) = (call);                                                                         \
    } while ((result) < 0 && errno == EINTR)

#endif
