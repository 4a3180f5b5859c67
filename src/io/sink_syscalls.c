/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink. A call has a function here if its arguments differ from those of
 * the table, or if some systems lack it. A missing call fails with the error number that Linux
 * gives on file systems without it (ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK): so its callers have one
 * path for both, which tests on Linux cover. */
#define _GNU_SOURCE       /* O_TMPFILE, renameat2, fallocate and others */
#define _FILE_OFFSET_BITS 64
#include "io/sink_syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "base/mem.h"

/* Stands in for calls that the system lacks; unused on a recent Linux. */
static __attribute__((unused)) int fail_with_errno(int error_number)
{
    errno = error_number;
    return -1;
}

/* ---- names and descriptors ---- */

static int real_openat(int dir, const char *path, int flags, mode_t mode)
{
    return openat(dir, path, flags, mode);
}

static int real_open_unnamed(int dir, mode_t mode)
{
#ifdef O_TMPFILE
    return openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
#else
    (void)dir, (void)mode;
    return fail_with_errno(EOPNOTSUPP);
#endif
}

static int real_lock(int fd)
{
#ifdef LOCK_EX
    return flock(fd, LOCK_EX | LOCK_NB);
#else
    (void)fd;
    return fail_with_errno(ENOLCK);
#endif
}

static int real_dup(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int real_rename_new(int dir, const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    return renameat2(dir, from, dir, to, RENAME_NOREPLACE);
#else
    (void)dir, (void)from, (void)to;
    return fail_with_errno(ENOSYS);
#endif
}

/* ---- bytes ---- */

static ssize_t real_copy_range(int from, int64_t from_offset, int to, int64_t to_offset,
                               size_t size)
{
#ifdef __linux__
    return copy_file_range(from, &from_offset, to, &to_offset, size, 0);
#else
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size;
    return fail_with_errno(ENOSYS);
#endif
}

static int real_insert_range(int fd, int64_t offset, int64_t size)
{
#ifdef FALLOC_FL_INSERT_RANGE
    return fallocate(fd, FALLOC_FL_INSERT_RANGE, offset, size);
#else
    (void)fd, (void)offset, (void)size;
    return fail_with_errno(ENOSYS);
#endif
}

static int real_write_back(int fd, int64_t offset, int64_t size)
{
#ifdef SYNC_FILE_RANGE_WRITE
    return sync_file_range(fd, offset, size, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)offset, (void)size;
    return 0;
#endif
}

/* On macOS fsync stops at the cache of the drive; F_FULLFSYNC flushes that as well. */
static int real_fsync(int fd)
{
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) == 0)
        return 0;
#endif
    return fsync(fd);
}

static int real_free_space(int fd, uint64_t *out)
{
    struct statvfs space;
    if (fstatvfs(fd, &space) != 0)
        return -1;
    if (!tz_mul(space.f_bavail, space.f_frsize, out))
        *out = UINT64_MAX - 1;
    return 0;
}

/* Other systems have no extended attributes, or functions with other parameters. */
#ifndef __linux__
static ssize_t flistxattr(int fd, char *dst, size_t size)
{
    (void)fd, (void)dst, (void)size;
    return fail_with_errno(ENOTSUP);
}

static ssize_t fgetxattr(int fd, const char *name, void *dst, size_t size)
{
    (void)fd, (void)name, (void)dst, (void)size;
    return fail_with_errno(ENOTSUP);
}

static int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    (void)fd, (void)name, (void)value, (void)size, (void)flags;
    return fail_with_errno(ENOTSUP);
}

static int fremovexattr(int fd, const char *name)
{
    (void)fd, (void)name;
    return fail_with_errno(ENOTSUP);
}
#endif

const tz_sink_syscalls tz_sink_real_syscalls = {
    .openat = real_openat,
    .open_unnamed = real_open_unnamed,
    .fstat = fstat,
    .fstatat = fstatat,
    .readlinkat = readlinkat,
    .lock = real_lock,
    .pwritev = pwritev,
    .pread = pread,
    .copy_range = real_copy_range,
    .insert_range = real_insert_range,
    .write_back = real_write_back,
    .ftruncate = ftruncate,
    .fsync = real_fsync,
    .fchmod = fchmod,
    .fchown = fchown,
    .flistxattr = flistxattr,
    .fgetxattr = fgetxattr,
    .fsetxattr = fsetxattr,
    .fremovexattr = fremovexattr,
    .dup = real_dup,
    .close = close,
    .linkat = linkat,
    .renameat = renameat,
    .rename_new = real_rename_new,
    .unlinkat = unlinkat,
    .free_space = real_free_space,
    .fdopendir = fdopendir,
    .readdir = readdir,
    .closedir = closedir,
};
const tz_sink_syscalls *tz_sink_syscall = &tz_sink_real_syscalls;

void tz_sink_set_syscalls(const tz_sink_syscalls *syscalls)
{
    tz_sink_syscall = syscalls ? syscalls : &tz_sink_real_syscalls;
}
