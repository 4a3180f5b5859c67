/* SPDX-License-Identifier: Apache-2.0
 * The step that makes a file visible: one call of the system, before which nothing is seen of the
 * new file under the destination's name, and after which nothing of the old one. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>

#include "io/sink_file.h"
#include "io/sink_syscalls.h"

static tz_result fail_publish(int error_number, bool exclusive, const tz_context *ctx)
{
    if (error_number == EEXIST && exclusive)
        return tz_fail_exists(ctx);
    return tz_fail_errno(ctx, tz_no_location(), error_number,
                         "cannot give the complete file its name");
}

/* A link is refused where the name exists, and may leave two names if we are killed before the
 * second call: both are of the complete file, and the next write removes ours. */
static int rename_by_link(const char *from, const tz_destination *destination)
{
    int failed =
        tz_sink_syscall->linkat(destination->dir, from, destination->dir, destination->name, 0);
    if (failed == 0)
        (void)tz_sink_syscall->unlinkat(destination->dir, from); /* published all the same */
    return failed;
}

static int rename_without_replacing(const char *from, const tz_destination *destination)
{
    int failed = tz_sink_syscall->rename_new(destination->dir, from, destination->name);
    if (failed && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP))
        failed = rename_by_link(from, destination);
    return failed;
}

/* Between hosts that do not see each other's locks a living write may have been taken for a dead
 * one, and its name may be that of another file. */
static tz_result publish_named(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx)
{
    int failed = tz_temporary_check(temporary, destination->dir);
    if (failed)
        return tz_fail_errno(ctx, tz_no_location(), failed, "the temporary file %s is lost",
                             temporary->name);
    failed = exclusive
                 ? rename_without_replacing(temporary->name, destination)
                 : tz_sink_syscall->rename(destination->dir, temporary->name, destination->name);
    if (failed)
        return fail_publish(errno, exclusive, ctx);
    temporary->name[0] = '\0';
    return TZ_OK;
}

/* A link cannot replace a file: for that it takes a name of its own first. */
static tz_result publish_unnamed(tz_temporary *temporary, const tz_destination *destination,
                                 bool exclusive, const tz_context *ctx)
{
    char from[TZ_PROC_NAME_SIZE];
    tz_temporary_proc_name(from, temporary->fd);
    if (tz_sink_syscall->linkat(AT_FDCWD, from, destination->dir, destination->name,
                                AT_SYMLINK_FOLLOW) == 0)
        return TZ_OK;
    if (errno != EEXIST || exclusive)
        return fail_publish(errno, exclusive, ctx);
    TZ_TRY(tz_temporary_link(temporary, destination, ctx));
    return publish_named(temporary, destination, exclusive, ctx);
}

tz_result tz_temporary_publish(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx)
{
    return temporary->name[0] == '\0' ? publish_unnamed(temporary, destination, exclusive, ctx)
                                      : publish_named(temporary, destination, exclusive, ctx);
}
