/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink that fail when a test says so. */
#define _POSIX_C_SOURCE 200809L
#include "support/sink_fault.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>

#include "io/sink_syscalls.h"
#include "support/scratch.h"

sink_fault fault;

/* Returns true if this call fails. */
static bool fails(const char *name)
{
    if (fault.before)
        fault.before(name);
    if (fault.only && strcmp(fault.only, name) != 0)
        return false;
    fault.calls++;
    if (fault.calls == fault.kill_before)
        raise(SIGKILL);
    if (fault.fail_at == 0 || fault.calls < fault.fail_at ||
        (fault.calls > fault.fail_at && !fault.persistent))
        return false;
    if (fault.failures++ == 0)
        fault.failed = name;
    errno = fault.error;
    return true;
}

static void done(void)
{
    int error_number = errno;
    if (fault.calls > 0 && fault.calls == fault.kill_after)
        raise(SIGKILL);
    errno = error_number;
}

/* A call that is made and does not come about. */
static int refuse(int error_number)
{
    errno = error_number;
    done();
    return -1;
}

#define WRAPPED(type, call, name, parameters, arguments)                                           \
    static type hook_##call parameters                                                             \
    {                                                                                              \
        if (fails(name))                                                                           \
            return -1;                                                                             \
        type result = tz_sink_real_syscalls.call arguments;                                        \
        done();                                                                                    \
        return result;                                                                             \
    }

static bool is_directory(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

static size_t at_most(size_t size, size_t most)
{
    return most > 0 && size > most ? most : size;
}

WRAPPED(int, openat, "openat", (int dir, const char *path, int flags, mode_t mode),
        (dir, path, flags, mode))
WRAPPED(int, fstat, "fstat", (int fd, struct stat *out), (fd, out))
WRAPPED(int, fstatat, strncmp(path, "/proc/", 6) == 0 ? "fstatat of /proc" : "fstatat",
        (int dir, const char *path, struct stat *out, int flags), (dir, path, out, flags))
WRAPPED(ssize_t, readlinkat, "readlinkat", (int dir, const char *path, char *dst, size_t size),
        (dir, path, dst, size))
WRAPPED(ssize_t, pread, "pread", (int fd, void *dst, size_t size, int64_t offset),
        (fd, dst, at_most(size, fault.most_read), offset))
WRAPPED(int, ftruncate, "ftruncate", (int fd, int64_t size), (fd, size))
WRAPPED(int, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode))
WRAPPED(int, fchown, "fchown", (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAPPED(ssize_t, flistxattr, "flistxattr", (int fd, char *dst, size_t size), (fd, dst, size))
WRAPPED(ssize_t, fgetxattr, "fgetxattr", (int fd, const char *name, void *dst, size_t size),
        (fd, name, dst, size))
WRAPPED(int, fsetxattr, "fsetxattr",
        (int fd, const char *name, const void *value, size_t size, int flags),
        (fd, name, value, size, flags))
WRAPPED(int, fremovexattr, "fremovexattr", (int fd, const char *name), (fd, name))
WRAPPED(int, linkat, "linkat", (int from_dir, const char *from, int dir, const char *to, int flags),
        (from_dir, from, dir, to, flags))
WRAPPED(int, renameat, "rename", (int from_dir, const char *from, int dir, const char *to),
        (from_dir, from, dir, to))
WRAPPED(int, unlinkat, "unlinkat", (int dir, const char *name, int flags), (dir, name, flags))
WRAPPED(int, free_space, "free_space", (int fd, uint64_t *out), (fd, out))

static int hook_write_back(int fd, int64_t offset, int64_t size)
{
    if (fails("write_back"))
        return -1;
    int failed = fault.no_disk ? 0 : tz_sink_real_syscalls.write_back(fd, offset, size);
    done();
    return failed;
}

static int hook_fsync(int fd)
{
    if (fails(is_directory(fd) ? "fsync of the directory" : "fsync"))
        return -1;
    int failed = fault.no_disk ? 0 : tz_sink_real_syscalls.fsync(fd);
    done();
    return failed;
}

static int hook_open_unnamed(int dir, mode_t mode)
{
    if (fails("open_unnamed"))
        return -1;
    if (fault.no_unnamed)
        return refuse(EOPNOTSUPP);
    int fd = tz_sink_real_syscalls.open_unnamed(dir, mode);
    done();
    return fd;
}

static int hook_rename_new(int dir, const char *from, const char *to)
{
    if (fails("rename_new"))
        return -1;
    if (fault.no_rename_new)
        return refuse(EINVAL);
    int failed = tz_sink_real_syscalls.rename_new(dir, from, to);
    done();
    return failed;
}

static int hook_insert_range(int fd, int64_t offset, int64_t size)
{
    if (fails("insert_range"))
        return -1;
    if (fault.no_insert)
        return refuse(EOPNOTSUPP);
    int failed = tz_sink_real_syscalls.insert_range(fd, offset, size);
    done();
    return failed;
}

static ssize_t hook_copy_range(int from, int64_t from_offset, int to, int64_t to_offset,
                               size_t size)
{
    if (fails("copy_range"))
        return -1;
    if (fault.no_copy)
        return refuse(EXDEV);
    size = at_most(size, fault.most_written);
    long copied = tz_sink_real_syscalls.copy_range(from, from_offset, to, to_offset, size);
    done();
    return copied;
}

static int hook_lock(int fd)
{
    if (fails("lock"))
        return -1;
    if (fault.no_locks)
        return refuse(ENOLCK);
    int failed = tz_sink_real_syscalls.lock(fd);
    done();
    return failed;
}

static int copy = -1; /* the descriptor that dup gave of a file */

static int hook_dup(int fd)
{
    if (fails("dup"))
        return -1;
    int given = tz_sink_real_syscalls.dup(fd);
    done();
    if (!is_directory(fd))
        copy = given;
    return given;
}

/* A close that fails has closed all the same. */
static int hook_close(int fd)
{
    bool failing = fails(fd == copy ? "close of the copy" : "close");
    copy = fd == copy ? -1 : copy;
    int error_number = errno;
    int failed = tz_sink_real_syscalls.close(fd);
    done();
    if (failing)
        errno = error_number;
    return failing ? -1 : failed;
}

/* As much of the buffers as one write takes. */
static ssize_t hook_pwritev(int fd, const struct iovec *pieces, int count, int64_t offset)
{
    if (fails("pwritev"))
        return -1;
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    if (count > fault.largest_count)
        fault.largest_count = count;
    if (size > fault.largest_size)
        fault.largest_size = size;
    if (fault.no_bytes)
        return (long)size;
    struct iovec less[1024];
    size_t room = fault.most_written > 0 ? fault.most_written : SIZE_MAX;
    int taken = 0;
    for (; taken < count && taken < 1024 && room > 0; taken++) {
        less[taken] = pieces[taken];
        if (less[taken].iov_len > room)
            less[taken].iov_len = room;
        room -= less[taken].iov_len;
    }
    long written = tz_sink_real_syscalls.pwritev(fd, less, taken, offset);
    done();
    return written;
}

static DIR *hook_fdopendir(int fd)
{
    return fails("list_open") ? NULL : tz_sink_real_syscalls.fdopendir(fd);
}

static struct dirent *hook_readdir(DIR *list)
{
    return fails("list_next") ? NULL : tz_sink_real_syscalls.readdir(list);
}

void sink_fault_install(void)
{
    static const tz_sink_syscalls calls = {
        .openat = hook_openat,
        .open_unnamed = hook_open_unnamed,
        .fstat = hook_fstat,
        .fstatat = hook_fstatat,
        .readlinkat = hook_readlinkat,
        .lock = hook_lock,
        .pwritev = hook_pwritev,
        .pread = hook_pread,
        .copy_range = hook_copy_range,
        .insert_range = hook_insert_range,
        .write_back = hook_write_back,
        .ftruncate = hook_ftruncate,
        .fsync = hook_fsync,
        .fchmod = hook_fchmod,
        .fchown = hook_fchown,
        .flistxattr = hook_flistxattr,
        .fgetxattr = hook_fgetxattr,
        .fsetxattr = hook_fsetxattr,
        .fremovexattr = hook_fremovexattr,
        .dup = hook_dup,
        .close = hook_close,
        .linkat = hook_linkat,
        .renameat = hook_renameat,
        .rename_new = hook_rename_new,
        .unlinkat = hook_unlinkat,
        .free_space = hook_free_space,
        .fdopendir = hook_fdopendir,
        .readdir = hook_readdir,
        .closedir = closedir,
    };
    fault = (sink_fault){0};
    tz_sink_set_syscalls(&calls);
}

void sink_fault_remove(void)
{
    tz_sink_set_syscalls(NULL);
}

int sink_fault_begin(void **state)
{
    sink_fault_install();
    return scratch_begin(state);
}

int sink_fault_end(void **state)
{
    sink_fault_remove();
    return scratch_end(state);
}

void sink_fault_fail(const char *call, int n, int error_number)
{
    fault.only = call;
    fault.calls = 0;
    fault.fail_at = n;
    fault.error = error_number;
}

void sink_fault_both_ways(void (*check)(void))
{
    check();
    fault.fail_at = 0;
    fault.no_unnamed = true;
    check();
}
