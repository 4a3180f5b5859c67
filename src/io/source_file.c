/* SPDX-License-Identifier: Apache-2.0
 * A regular file as a source. Reads are preads: they share no position, so any number of
 * threads may read at once, and nothing is mapped, so a file that shrinks is an error and not a
 * SIGBUS.
 *
 * tz_source_read_file reads in the calling thread. A request of submit is first tried from the
 * cache of the system; the ranges that are not cached go to the reader threads of
 * io/reader_threads.h, and wait collects them.
 *
 * The source refuses everything but regular files before it reads a byte, and check compares size
 * and time of modification with those at opening: a file that is written to while it is read is an
 * error. */
#define _GNU_SOURCE       /* preadv2 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/reader_threads.h"
#include "io/source.h"

/* Bytes of one pread: Linux stops a little below 2 GiB, and other systems refuse sizes that do not
 * fit an int. */
#define MAX_READ ((size_t)1 << 30)

/* Requests of up to this many bytes are read in the calling thread if they are cached: that takes
 * less time than waking a reader. */
#define MAX_READ_IN_CALLER ((uint64_t)4 << 20)

typedef struct file_source {
    tz_source base; /* first, so that both have one address */
    int fd;
    struct timespec modified; /* time of modification at opening */
} file_source;

/* ---- system calls ---- */

static int real_open(const char *path, int flags)
{
    return open(path, flags);
}

static ssize_t real_pread_cached(int fd, void *dst, size_t size, int64_t offset)
{
#ifdef RWF_NOWAIT
    const struct iovec to = {dst, size};
    return preadv2(fd, &to, 1, offset, RWF_NOWAIT);
#else
    (void)fd, (void)dst, (void)size, (void)offset;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static int real_prefetch(int fd, int64_t offset, int64_t size)
{
    return posix_fadvise(fd, offset, size, POSIX_FADV_WILLNEED);
}

static const tz_source_syscalls real_syscalls = {
    .open = real_open,
    .fstat = fstat,
    .pread = pread,
    .close = close,
    .prefetch = real_prefetch,
    .pread_cached = real_pread_cached,
};
static const tz_source_syscalls *syscalls = &real_syscalls;

void tz_source_set_syscalls(const tz_source_syscalls *new_syscalls)
{
    syscalls = new_syscalls ? new_syscalls : &real_syscalls;
}

/* ---- reading ---- */

/* Reports that pread met the end of the file earlier than its size at opening. */
static tz_result fail_short_file(const file_source *file, uint64_t offset, uint64_t missing,
                                 const tz_context *ctx)
{
    struct stat now;
    if (syscalls->fstat(file->fd, &now) != 0)
        return tz_fail_errno(ctx, tz_at_offset(offset), errno, "cannot stat the file");
    if ((uint64_t)now.st_size < file->base.size)
        return tz_fail(ctx, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED,
                       tz_expecting(tz_at_offset(offset), file->base.size, (uint64_t)now.st_size),
                       "the file became shorter while it was open");
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                   tz_expecting(tz_at_offset(offset), missing, 0), "the file ends too early");
}

tz_result tz_source_read_file(const tz_source *source, const tz_range *range, tz_error *err)
{
    const file_source *file = (const file_source *)source;
    const tz_context ctx = {.err = err, .ifd = -1};
    unsigned char *dst = range->dst;
    uint64_t offset = range->offset;
    size_t left = range->size;
    while (left > 0) {
        const size_t size = tz_min_size(left, MAX_READ);
        ssize_t got = syscalls->pread(file->fd, dst, size, (int64_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tz_fail_errno(&ctx, tz_at_offset(offset), errno, "cannot read %zu bytes", size);
        if (got == 0)
            return fail_short_file(file, offset, left, &ctx);
        dst += got;
        offset += (uint64_t)got;
        left -= (size_t)got;
    }
    return TZ_OK;
}

static tz_result read_subrange(const void *user, const tz_range *subrange, tz_error *err)
{
    return tz_source_read_file(user, subrange, err);
}

/* Ranges that the system has cached are read here, up to the first that it has not. If memory for a
 * reader job ran out, the calling thread reads the others too. */
static tz_result submit_file(tz_source *source, tz_request *request, tz_error *err)
{
    const int fd = ((const file_source *)source)->fd;
    uint64_t bytes = 0;
    size_t done = 0;
    TZ_TRY(tz_source_check_ranges(source, request, err));
    for (size_t i = 0; i < request->count; i++)
        bytes = tz_add_capped(bytes, request->ranges[i].size);
    const bool try_cached = syscalls->pread_cached && bytes <= MAX_READ_IN_CALLER;
    for (; try_cached && done < request->count; done++) {
        const tz_range *range = &request->ranges[done];
        const ssize_t got =
            syscalls->pread_cached(fd, range->dst, range->size, (int64_t)range->offset);
        if (got < 0 || (size_t)got != range->size)
            break;
    }
    request->state = NULL;
    if (done < request->count)
        request->state = tz_reader_job_start(request->ranges + done, request->count - done,
                                             read_subrange, source);
    for (size_t i = done; !request->state && i < request->count; i++)
        TZ_TRY(tz_source_read_file(source, &request->ranges[i], err));
    return TZ_OK;
}

static tz_result wait_file(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source;
    return request->state ? tz_reader_job_wait(request->state, err) : TZ_OK;
}

/* The descriptor holds the file itself, so device and inode cannot change; a write to the file
 * shows in its size or its time of modification. The time of status change is not evidence: chmod,
 * link, rename and unlink set it too, and leave the bytes alone. */
static tz_result check_file_unchanged(tz_source *source, tz_error *err)
{
    const file_source *file = (const file_source *)source;
    tz_context ctx = {.err = err, .ifd = -1};
    struct stat now;
    if (syscalls->fstat(file->fd, &now) != 0)
        return tz_fail_errno(&ctx, tz_no_location(), errno, "cannot stat the file");
    if ((uint64_t)now.st_size != source->size)
        return tz_fail(&ctx, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED,
                       tz_expecting(tz_no_location(), source->size, (uint64_t)now.st_size),
                       "the file's size changed while it was open");
    if (now.st_mtim.tv_sec != file->modified.tv_sec ||
        now.st_mtim.tv_nsec != file->modified.tv_nsec)
        return tz_fail(&ctx, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED, tz_no_location(),
                       "the file was written to while it was open");
    return TZ_OK;
}

static void close_file_source(tz_source *source)
{
    /* Nothing was written, so a failure loses nothing; after EINTR the descriptor is closed, too.
     */
    (void)syscalls->close(((file_source *)source)->fd);
    tz_free(source);
}

/* ---- opening ---- */

/* O_NONBLOCK: opening a FIFO without a writer would block before it can be refused. It means
 * nothing to regular files. O_NOCTTY: a terminal must not become that of this process. */
static tz_result open_fd(int *out, const char *path, bool no_follow, const tz_context *ctx)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (no_follow ? O_NOFOLLOW : 0);
    int fd;
    do {
        fd = syscalls->open(path, flags);
    } while (fd < 0 && errno == EINTR);
    if (fd >= 0) {
        *out = fd;
        return TZ_OK;
    }
    if (errno == ELOOP && no_follow)
        return tz_fail_not_regular(ctx, "read", ELOOP, "a symbolic link");
    if (errno == ENXIO)
        return tz_fail_not_regular(ctx, "read", ENXIO, "a socket, or a device that does not exist");
    return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open");
}

static tz_result make_file_source(tz_source **out, int fd, const tz_context *ctx)
{
    struct stat status;
    if (syscalls->fstat(fd, &status) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot stat the file");
    if (!S_ISREG(status.st_mode))
        return tz_fail_not_regular(ctx, "read", 0, tz_file_kind_name(status.st_mode));
    file_source *file = tz_alloc(sizeof *file);
    if (!file)
        return tz_fail_nomem(ctx, sizeof *file);
    *file = (file_source){.base = {.struct_size = sizeof file->base,
                                   .size = (uint64_t)status.st_size,
                                   .submit = submit_file,
                                   .wait = wait_file,
                                   .check = check_file_unchanged,
                                   .close = close_file_source},
                          .fd = fd,
                          .modified = status.st_mtim};
    *out = &file->base;
    return TZ_OK;
}

bool tz_source_is_file(const tz_source *source)
{
    return source->submit == submit_file;
}

void tz_source_prefetch(tz_source *source, const tz_range *ranges, size_t count)
{
    if (!tz_source_is_file(source)) {
        const tz_source members = tz_source_members(source);
        if (members.prefetch && count > 0)
            members.prefetch(source, ranges, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        (void)syscalls->prefetch(((const file_source *)source)->fd, (int64_t)ranges[i].offset,
                                 (int64_t)ranges[i].size);
}

bool tz_source_is_cached(const tz_source *source, uint64_t offset, uint64_t size)
{
    unsigned char bytes[16384];
    const size_t probe_size = (size_t)tz_min(size, sizeof bytes);
    return tz_source_is_file(source) && syscalls->pread_cached && probe_size > 0 &&
           offset < source->size && probe_size <= source->size - offset &&
           syscalls->pread_cached(((const file_source *)source)->fd, bytes, probe_size,
                                  (int64_t)offset) == (long)probe_size;
}

int tz_source_descriptor(const tz_source *source)
{
    return tz_source_is_file(source) ? ((const file_source *)source)->fd : -1;
}

tz_result tz_source_open_file(tz_source **out, const char *path, bool no_follow,
                              const tz_context *ctx)
{
    if (!path || !*path)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the path is empty");
    tz_context named = *ctx;
    if (!named.name)
        named.name = path;
    int fd = -1;
    TZ_TRY(open_fd(&fd, path, no_follow, &named));
    tz_result result = make_file_source(out, fd, &named);
    if (result != TZ_OK)
        (void)syscalls->close(fd);
    return result;
}
