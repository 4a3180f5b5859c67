/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink. A call has a function here if its arguments differ from those of
 * the table, or if some systems lack it. A missing call fails with the error number that Linux
 * gives on file systems without it (ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK): so its callers have one
 * path for both, which tests on Linux cover. */
#define _GNU_SOURCE       /* O_TMPFILE, renameat2, fallocate and others */
#define _FILE_OFFSET_BITS 64
#include "io/sink_syscalls.h"

#include <dirent.h>
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

static long real_readlinkat(int dir, const char *path, char *dst, size_t size)
{
    return readlinkat(dir, path, dst, size);
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

static int real_rename(int dir, const char *from, const char *to)
{
    return renameat(dir, from, dir, to);
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

static int real_unlinkat(int dir, const char *name)
{
    return unlinkat(dir, name, 0);
}

/* ---- bytes ---- */

static long real_pwritev(int fd, const struct iovec *buffers, int count, int64_t offset)
{
    return pwritev(fd, buffers, count, (off_t)offset);
}

static long real_pread(int fd, void *dst, size_t size, int64_t offset)
{
    return pread(fd, dst, size, (off_t)offset);
}

#ifdef __linux__
static long real_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t size)
{
    off64_t source = from_offset;
    off64_t target = to_offset;
    return copy_file_range(from, &source, to, &target, size, 0);
}

static int real_insert_range(int fd, int64_t offset, int64_t size)
{
    return fallocate(fd, FALLOC_FL_INSERT_RANGE, (off_t)offset, (off_t)size);
}
#else
static long real_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t size)
{
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size;
    return fail_with_errno(ENOSYS);
}

static int real_insert_range(int fd, int64_t offset, int64_t size)
{
    (void)fd, (void)offset, (void)size;
    return fail_with_errno(ENOSYS);
}
#endif

static int real_write_back(int fd, int64_t offset, int64_t size)
{
#ifdef SYNC_FILE_RANGE_WRITE
    return sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)offset, (void)size;
    return 0;
#endif
}

static int real_ftruncate(int fd, int64_t size)
{
    return ftruncate(fd, (off_t)size);
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

/* ---- attributes ---- */

#ifdef __linux__
static long real_flistxattr(int fd, char *dst, size_t size)
{
    return flistxattr(fd, dst, size);
}

static long real_fgetxattr(int fd, const char *name, void *dst, size_t size)
{
    return fgetxattr(fd, name, dst, size);
}

static int real_fsetxattr(int fd, const char *name, const void *value, size_t size)
{
    return fsetxattr(fd, name, value, size, 0);
}

static int real_fremovexattr(int fd, const char *name)
{
    return fremovexattr(fd, name);
}
#else
static long real_flistxattr(int fd, char *dst, size_t size)
{
    (void)fd, (void)dst, (void)size;
    return fail_with_errno(ENOTSUP);
}

static long real_fgetxattr(int fd, const char *name, void *dst, size_t size)
{
    (void)fd, (void)name, (void)dst, (void)size;
    return fail_with_errno(ENOTSUP);
}

static int real_fsetxattr(int fd, const char *name, const void *value, size_t size)
{
    (void)fd, (void)name, (void)value, (void)size;
    return fail_with_errno(ENOTSUP);
}

static int real_fremovexattr(int fd, const char *name)
{
    (void)fd, (void)name;
    return fail_with_errno(ENOTSUP);
}
#endif

/* ---- directories ---- */

static void *real_list_open(int fd)
{
    return fdopendir(fd);
}

static const char *real_list_next(void *list)
{
    errno = 0;
    const struct dirent *entry = readdir(list);
    return entry ? entry->d_name : NULL;
}

static int real_list_close(void *list)
{
    return closedir(list);
}

const tz_sink_syscalls tz_sink_real_syscalls = {
    .openat = real_openat,
    .open_unnamed = real_open_unnamed,
    .fstat = fstat,
    .fstatat = fstatat,
    .readlinkat = real_readlinkat,
    .lock = real_lock,
    .pwritev = real_pwritev,
    .pread = real_pread,
    .copy_range = real_copy_range,
    .insert_range = real_insert_range,
    .write_back = real_write_back,
    .ftruncate = real_ftruncate,
    .fsync = real_fsync,
    .fchmod = fchmod,
    .fchown = fchown,
    .flistxattr = real_flistxattr,
    .fgetxattr = real_fgetxattr,
    .fsetxattr = real_fsetxattr,
    .fremovexattr = real_fremovexattr,
    .dup = real_dup,
    .close = close,
    .linkat = linkat,
    .rename = real_rename,
    .rename_new = real_rename_new,
    .unlinkat = real_unlinkat,
    .free_space = real_free_space,
    .list_open = real_list_open,
    .list_next = real_list_next,
    .list_close = real_list_close,
};
const tz_sink_syscalls *tz_sink_syscall = &tz_sink_real_syscalls;

void tz_sink_set_syscalls(const tz_sink_syscalls *syscalls)
{
    tz_sink_syscall = syscalls ? syscalls : &tz_sink_real_syscalls;
}
