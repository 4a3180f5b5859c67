/* SPDX-License-Identifier: Apache-2.0
 * What a new file takes over from the one it replaces. What the system does not let us keep is left
 * out, and then permissions become narrower, never wider. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "io/sink_calls.h"
#include "io/sink_file.h"

#define ACCESS_LIST      "system.posix_acl_access"
#define USER_ATTRIBUTES  "user."
#define LARGEST_LIST     ((size_t)64 << 10) /* Linux: all names of attributes, or one's value */
#define AS_IT_IS         ((uid_t)-1)
#define PERMISSION_BITS  ((mode_t)0777)
#define OWNER_BITS       ((mode_t)0700)
#define GROUP_BITS       ((mode_t)0070)
#define OTHERS_BITS      ((mode_t)0007)
#define LARGEST_ACL_READ 4096 /* some 500 entries */

/* Not allowed to us, or not known to the file system: no reason to fail. */
static bool cannot_be_kept(int error_number)
{
    return error_number == EPERM || error_number == EACCES || error_number == ENOTSUP ||
           error_number == ENOSYS || error_number == EINVAL;
}

/* ---------------------------------------------------------------------------------------------
 * User attributes
 * ------------------------------------------------------------------------------------------ */

static tz_result keep_attribute(int old, int fd, const char *name, void *value,
                                const tz_context *ctx)
{
    long size = tz_sink_call->fgetxattr(old, name, value, LARGEST_LIST);
    if (size < 0 && (errno == ENODATA || cannot_be_kept(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno,
                             "cannot read attribute %s of the file that is replaced", name);
    if (tz_sink_call->fsetxattr(fd, name, value, (size_t)size) == 0 || cannot_be_kept(errno))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot keep attribute %s", name);
}

static tz_result fail_list(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_at_nowhere(), errno,
                         "cannot list the attributes of the file that is replaced");
}

static tz_result keep_listed(int old, int fd, char *names, void *value, const tz_context *ctx)
{
    long size = tz_sink_call->flistxattr(old, names, LARGEST_LIST);
    if (size < 0)
        return fail_list(ctx);
    for (const char *name = names; name < names + size; name += strlen(name) + 1)
        if (strncmp(name, USER_ATTRIBUTES, strlen(USER_ATTRIBUTES)) == 0)
            TZ_TRY(keep_attribute(old, fd, name, value, ctx));
    return TZ_OK;
}

static tz_result keep_attributes(int old, int fd, const tz_context *ctx)
{
    long size = tz_sink_call->flistxattr(old, NULL, 0);
    if (size < 0)
        return cannot_be_kept(errno) ? TZ_OK : fail_list(ctx);
    if (size == 0)
        return TZ_OK;
    char *names = tz_alloc(LARGEST_LIST);
    char *value = tz_alloc(LARGEST_LIST);
    tz_result result =
        names && value ? keep_listed(old, fd, names, value, ctx) : tz_fail_nomem(ctx, LARGEST_LIST);
    tz_free(names);
    tz_free(value);
    return result;
}

/* ---------------------------------------------------------------------------------------------
 * Owner, access list, permissions
 * ------------------------------------------------------------------------------------------ */

static int change_owner(int fd, uid_t owner, gid_t group)
{
    int failed;
    TZ_RETRY(failed, tz_sink_call->fchown(fd, owner, group));
    return failed ? errno : 0;
}

/* Only the system's administrator gives files away; but one's own groups can be given to. */
static tz_result keep_owner(int fd, const struct stat *old, bool *group_kept, const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_call->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot find out the owner");
    *group_kept = true;
    if (now.st_uid == old->st_uid && now.st_gid == old->st_gid)
        return TZ_OK;
    int failed = change_owner(fd, old->st_uid, old->st_gid);
    if (cannot_be_kept(failed) && now.st_gid != old->st_gid) {
        failed = change_owner(fd, AS_IT_IS, old->st_gid);
        *group_kept = failed == 0;
    }
    if (failed == 0 || cannot_be_kept(failed))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_at_nowhere(), failed, "cannot keep owner and group");
}

typedef enum acl_state { ACL_NONE, ACL_KEPT, ACL_LOST } acl_state;

/* The old file has no list; the new one may have the directory's. */
static tz_result remove_acl(int fd, acl_state *state, const tz_context *ctx)
{
    *state = ACL_NONE;
    if (tz_sink_call->fremovexattr(fd, ACCESS_LIST) == 0 || errno == ENODATA || errno == ENOTSUP)
        return TZ_OK;
    *state = ACL_LOST;
    if (cannot_be_kept(errno))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot remove the access list");
}

/* A list holds the permissions of the owning group: where that is another, it means other people.
 * Of an old file that we may not read (old is -1) nobody knows what list it has. */
static tz_result keep_acl(int old, int fd, bool group_kept, acl_state *state, const tz_context *ctx)
{
    char list[LARGEST_ACL_READ];
    *state = ACL_LOST;
    if (old < 0)
        return TZ_OK;
    long size = tz_sink_call->fgetxattr(old, ACCESS_LIST, list, sizeof list);
    if (size < 0 && (errno == ENODATA || errno == ENOTSUP))
        return remove_acl(fd, state, ctx);
    if (size < 0 && (errno == ERANGE || cannot_be_kept(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno,
                             "cannot read the access list of the file that is replaced");
    if (!group_kept)
        return TZ_OK;
    if (tz_sink_call->fsetxattr(fd, ACCESS_LIST, list, (size_t)size) == 0)
        *state = ACL_KEPT;
    else if (!cannot_be_kept(errno))
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot keep the access list");
    return TZ_OK;
}

/* The old permissions, less those that would be others' than before. With a list the group's bits
 * are the most that any of its entries grants, and without it they would be the group's. Members of
 * a group that was not kept are others now. */
static mode_t narrowed(mode_t mode, bool group_kept, acl_state acl)
{
    mode_t group = (mode & GROUP_BITS) >> 3;
    if (acl == ACL_LOST)
        return mode & OWNER_BITS;
    if (!group_kept)
        return mode & (OWNER_BITS | (OTHERS_BITS & group));
    return mode & PERMISSION_BITS;
}

/* Where files have no permissions of their own, they cannot be set, and differ in nothing. */
static tz_result set_mode(int fd, mode_t mode, const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_call->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot find out the permissions");
    mode_t current = now.st_mode & PERMISSION_BITS;
    if (current == mode)
        return TZ_OK;
    int failed;
    TZ_RETRY(failed, tz_sink_call->fchmod(fd, mode));
    bool wider = (current & ~mode) != 0;
    if (failed == 0 || (cannot_be_kept(errno) && !wider))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot set permissions to %03o",
                         (unsigned)mode);
}

static tz_result keep_of(int old, int fd, const struct stat *status, const tz_context *ctx)
{
    bool group_kept = false;
    acl_state acl = ACL_LOST;
    if (old >= 0)
        TZ_TRY(keep_attributes(old, fd, ctx));
    TZ_TRY(keep_owner(fd, status, &group_kept, ctx));
    TZ_TRY(keep_acl(old, fd, group_kept, &acl, ctx));
    return acl == ACL_KEPT ? TZ_OK : set_mode(fd, narrowed(status->st_mode, group_kept, acl), ctx);
}

tz_result tz_keep_access(int fd, const tz_destination *at, const tz_context *ctx)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    if (!at->exists)
        return TZ_OK;
    int old;
    TZ_RETRY(old, tz_sink_call->openat(at->dir, at->name, flags, 0));
    if (old < 0 && errno == ENOENT)
        return TZ_OK; /* it went away this moment */
    if (old < 0 && !cannot_be_kept(errno))
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot open the file that is replaced");
    tz_result result = keep_of(old, fd, &at->status, ctx);
    if (old >= 0)
        (void)tz_sink_call->close(old);
    return result;
}
