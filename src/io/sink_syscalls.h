/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink and of tz_clean. They go through a table, so that tests can make
 * each of them fail, and so that systems that lack one differ in a single file. */
#ifndef TZ_IO_SINK_SYSCALLS_H
#define TZ_IO_SINK_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct iovec;

/* As the system's calls of these names, unless said otherwise: -1 (NULL) is a failure, with errno.
 */
typedef struct tz_sink_syscalls {
    int (*openat)(int dir, const char *path, int flags, mode_t mode);
    /* A file without a name that linkat can give one; EOPNOTSUPP where there are none. */
    int (*open_unnamed)(int dir, mode_t mode);
    int (*fstat)(int fd, struct stat *out);
    int (*fstatat)(int dir, const char *path, struct stat *out, int flags);
    long (*readlinkat)(int dir, const char *path, char *dst, size_t size);
    int (*lock)(int fd); /* for us alone, without waiting: flock */
    long (*pwritev)(int fd, const struct iovec *buffers, int count, int64_t offset);
    long (*pread)(int fd, void *dst, size_t size, int64_t offset);
    /* Bytes of one file to another, or to another place of it that does not overlap. */
    long (*copy_range)(int from, int64_t from_offset, int to, int64_t to_offset, size_t size);
    /* The file gets a gap of size bytes at offset, and what was there moves up. */
    int (*insert_range)(int fd, int64_t offset, int64_t size);
    /* Begin to bring these bytes to the disk, without waiting for them. */
    int (*write_back)(int fd, int64_t offset, int64_t size);
    int (*ftruncate)(int fd, int64_t size);
    int (*fsync)(int fd);
    int (*fchmod)(int fd, mode_t mode);
    int (*fchown)(int fd, uid_t owner, gid_t group);
    long (*flistxattr)(int fd, char *dst, size_t size);
    long (*fgetxattr)(int fd, const char *name, void *dst, size_t size);
    int (*fsetxattr)(int fd, const char *name, const void *value, size_t size);
    int (*fremovexattr)(int fd, const char *name);
    int (*dup)(int fd); /* closed on exec */
    int (*close)(int fd);
    int (*linkat)(int from_dir, const char *from, int dir, const char *to, int flags);
    int (*rename)(int dir, const char *from, const char *to); /* within dir */
    /* The same, but EEXIST where to exists; ENOSYS or EINVAL where that cannot be had. */
    int (*rename_new)(int dir, const char *from, const char *to);
    int (*unlinkat)(int dir, const char *name);
    int (*free_space)(int fd, uint64_t *out); /* bytes left for this user: fstatvfs */
    /* The names in a directory, one at a time; NULL with errno 0 is the end. list_open keeps fd
     * when it succeeds, and list_close closes it. */
    void *(*list_open)(int fd);
    const char *(*list_next)(void *list);
    int (*list_close)(void *list);
} tz_sink_syscalls;

extern const tz_sink_syscalls tz_sink_real_syscalls; /* the real ones */
extern const tz_sink_syscalls *tz_sink_syscall;      /* those in use */

/* NULL restores the real ones. Not while a sink is open. */
void tz_sink_set_syscalls(const tz_sink_syscalls *syscalls);

/* Make a call again for as long as signals interrupt it. */
#define TZ_RETRY(result, call)                                                                     \
    do {                                                                                           \
        (result) = (call);                                                                         \
    } while ((result) < 0 && errno == EINTR)

#endif
