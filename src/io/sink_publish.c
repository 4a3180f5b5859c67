/* SPDX-License-Identifier: Apache-2.0
 * The step that makes a file visible: one call of the system, before which nothing is seen of the
 * new file under the destination's name, and after which nothing of the old one. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>

#include "io/sink_calls.h"
#include "io/sink_file.h"

static tz_result fail_publish(int error_number, bool exclusive, const tz_context *ctx)
{
    if (error_number == EEXIST && exclusive)
        return tz_fail_exists(ctx);
    return tz_fail_errno(ctx, tz_at_nowhere(), error_number,
                         "cannot give the complete file its name");
}

/* A link is refused where the name exists, and may leave two names if we are killed before the
 * second call: both are of the complete file, and the next write removes ours. */
static int rename_by_link(const char *from, const tz_destination *at)
{
    int failed = tz_sink_call->linkat(at->dir, from, at->dir, at->name, 0);
    if (failed == 0)
        (void)tz_sink_call->unlinkat(at->dir, from); /* published all the same */
    return failed;
}

static int rename_new(const char *from, const tz_destination *at)
{
    int failed = tz_sink_call->rename_new(at->dir, from, at->name);
    if (failed && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP))
        failed = rename_by_link(from, at);
    return failed;
}

/* Between hosts that do not see each other's locks a living write may have been taken for a dead
 * one, and its name may be that of another file. */
static tz_result publish_named(tz_temporary *temporary, const tz_destination *at, bool exclusive,
                               const tz_context *ctx)
{
    int failed = tz_temporary_check(temporary, at->dir);
    if (failed)
        return tz_fail_errno(ctx, tz_at_nowhere(), failed, "the temporary file %s is lost",
                             temporary->name);
    failed = exclusive ? rename_new(temporary->name, at)
                       : tz_sink_call->rename(at->dir, temporary->name, at->name);
    if (failed)
        return fail_publish(errno, exclusive, ctx);
    temporary->name[0] = '\0';
    return TZ_OK;
}

/* A link cannot replace a file: for that it takes a name of its own first. */
static tz_result publish_unnamed(tz_temporary *temporary, const tz_destination *at, bool exclusive,
                                 const tz_context *ctx)
{
    char from[TZ_PROC_NAME_SIZE];
    tz_temporary_proc_name(from, temporary->fd);
    if (tz_sink_call->linkat(AT_FDCWD, from, at->dir, at->name, AT_SYMLINK_FOLLOW) == 0)
        return TZ_OK;
    if (errno != EEXIST || exclusive)
        return fail_publish(errno, exclusive, ctx);
    TZ_TRY(tz_temporary_link(temporary, at, ctx));
    return publish_named(temporary, at, exclusive, ctx);
}

tz_result tz_publish(tz_temporary *temporary, const tz_destination *at, bool exclusive,
                     const tz_context *ctx)
{
    return temporary->name[0] == '\0' ? publish_unnamed(temporary, at, exclusive, ctx)
                                      : publish_named(temporary, at, exclusive, ctx);
}
