/* SPDX-License-Identifier: Apache-2.0
 * What a new file takes over from the one it replaces. What the system does not let us keep is left
 * out, and then permissions become narrower, never wider. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define ACL_ATTRIBUTE   "system.posix_acl_access"
#define USER_PREFIX     "user."
#define MAX_XATTR_BYTES ((size_t)64 << 10) /* Linux: all names of attributes, or one's value */
#define SAME_OWNER      ((uid_t)-1)
#define PERMISSION_BITS ((mode_t)0777)
#define OWNER_BITS      ((mode_t)0700)
#define GROUP_BITS      ((mode_t)0070)
#define OTHERS_BITS     ((mode_t)0007)
#define MAX_ACL_BYTES   4096 /* some 500 entries */

/* Not allowed to us, or not known to the file system: no reason to fail. */
static bool is_tolerable(int error_number)
{
    return error_number == EPERM || error_number == EACCES || error_number == ENOTSUP ||
           error_number == ENOSYS || error_number == EINVAL;
}

/* ---------------------------------------------------------------------------------------------
 * User attributes
 * ------------------------------------------------------------------------------------------ */

static tz_result preserve_attribute(int old, int fd, const char *name, void *value,
                                    const tz_context *ctx)
{
    long size = tz_sink_syscall->fgetxattr(old, name, value, MAX_XATTR_BYTES);
    if (size < 0 && (errno == ENODATA || is_tolerable(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno,
                             "cannot read attribute %s of the file that is replaced", name);
    if (tz_sink_syscall->fsetxattr(fd, name, value, (size_t)size) == 0 || is_tolerable(errno))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno, "cannot keep attribute %s", name);
}

static tz_result fail_attribute_list(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_no_location(), errno,
                         "cannot list the attributes of the file that is replaced");
}

static tz_result preserve_listed_attributes(int old, int fd, char *names, void *value,
                                            const tz_context *ctx)
{
    long size = tz_sink_syscall->flistxattr(old, names, MAX_XATTR_BYTES);
    if (size < 0)
        return fail_attribute_list(ctx);
    for (const char *name = names; name < names + size; name += strlen(name) + 1)
        if (strncmp(name, USER_PREFIX, strlen(USER_PREFIX)) == 0)
            TZ_TRY(preserve_attribute(old, fd, name, value, ctx));
    return TZ_OK;
}

static tz_result preserve_attributes(int old, int fd, const tz_context *ctx)
{
    long size = tz_sink_syscall->flistxattr(old, NULL, 0);
    if (size < 0)
        return is_tolerable(errno) ? TZ_OK : fail_attribute_list(ctx);
    if (size == 0)
        return TZ_OK;
    char *names = tz_alloc(MAX_XATTR_BYTES);
    char *value = tz_alloc(MAX_XATTR_BYTES);
    tz_result result = names && value ? preserve_listed_attributes(old, fd, names, value, ctx)
                                      : tz_fail_nomem(ctx, MAX_XATTR_BYTES);
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
    TZ_RETRY(failed, tz_sink_syscall->fchown(fd, owner, group));
    return failed ? errno : 0;
}

/* Only the system's administrator gives files away; but one's own groups can be given to. */
static tz_result preserve_owner(int fd, const struct stat *old, bool *group_preserved,
                                const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_syscall->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot find out the owner");
    *group_preserved = true;
    if (now.st_uid == old->st_uid && now.st_gid == old->st_gid)
        return TZ_OK;
    int failed = change_owner(fd, old->st_uid, old->st_gid);
    if (is_tolerable(failed) && now.st_gid != old->st_gid) {
        failed = change_owner(fd, SAME_OWNER, old->st_gid);
        *group_preserved = failed == 0;
    }
    if (failed == 0 || is_tolerable(failed))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), failed, "cannot keep owner and group");
}

typedef enum acl_state { ACL_NONE, ACL_PRESERVED, ACL_LOST } acl_state;

/* The old file has no list; the new one may have the directory's. */
static tz_result remove_acl(int fd, acl_state *state, const tz_context *ctx)
{
    *state = ACL_NONE;
    if (tz_sink_syscall->fremovexattr(fd, ACL_ATTRIBUTE) == 0 || errno == ENODATA ||
        errno == ENOTSUP)
        return TZ_OK;
    *state = ACL_LOST;
    if (is_tolerable(errno))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno, "cannot remove the access list");
}

/* A list holds the permissions of the owning group: where that is another, it means other people.
 * Of an old file that we may not read (old is -1) nobody knows what list it has. */
static tz_result preserve_acl(int old, int fd, bool group_preserved, acl_state *state,
                              const tz_context *ctx)
{
    char list[MAX_ACL_BYTES];
    *state = ACL_LOST;
    if (old < 0)
        return TZ_OK;
    long size = tz_sink_syscall->fgetxattr(old, ACL_ATTRIBUTE, list, sizeof list);
    if (size < 0 && (errno == ENODATA || errno == ENOTSUP))
        return remove_acl(fd, state, ctx);
    if (size < 0 && (errno == ERANGE || is_tolerable(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno,
                             "cannot read the access list of the file that is replaced");
    if (!group_preserved)
        return TZ_OK;
    if (tz_sink_syscall->fsetxattr(fd, ACL_ATTRIBUTE, list, (size_t)size) == 0)
        *state = ACL_PRESERVED;
    else if (!is_tolerable(errno))
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot keep the access list");
    return TZ_OK;
}

/* The old permissions, less those that would be others' than before. With a list the group's bits
 * are the most that any of its entries grants, and without it they would be the group's. Members of
 * a group that was not kept are others now. */
static mode_t narrowed_mode(mode_t mode, bool group_preserved, acl_state acl)
{
    mode_t group = (mode & GROUP_BITS) >> 3;
    if (acl == ACL_LOST)
        return mode & OWNER_BITS;
    if (!group_preserved)
        return mode & (OWNER_BITS | (OTHERS_BITS & group));
    return mode & PERMISSION_BITS;
}

/* Where files have no permissions of their own, they cannot be set, and differ in nothing. */
static tz_result set_mode(int fd, mode_t mode, const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_syscall->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot find out the permissions");
    mode_t current = now.st_mode & PERMISSION_BITS;
    if (current == mode)
        return TZ_OK;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fchmod(fd, mode));
    bool wider = (current & ~mode) != 0;
    if (failed == 0 || (is_tolerable(errno) && !wider))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno, "cannot set permissions to %03o",
                         (unsigned)mode);
}

static tz_result preserve_all(int old, int fd, const struct stat *status, const tz_context *ctx)
{
    bool group_preserved = false;
    acl_state acl = ACL_LOST;
    if (old >= 0)
        TZ_TRY(preserve_attributes(old, fd, ctx));
    TZ_TRY(preserve_owner(fd, status, &group_preserved, ctx));
    TZ_TRY(preserve_acl(old, fd, group_preserved, &acl, ctx));
    return acl == ACL_PRESERVED
               ? TZ_OK
               : set_mode(fd, narrowed_mode(status->st_mode, group_preserved, acl), ctx);
}

tz_result tz_preserve_access(int fd, const tz_destination *destination, const tz_context *ctx)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    if (!destination->exists)
        return TZ_OK;
    int old;
    TZ_RETRY(old, tz_sink_syscall->openat(destination->dir, destination->name, flags, 0));
    if (old < 0 && errno == ENOENT)
        return TZ_OK; /* it went away this moment */
    if (old < 0 && !is_tolerable(errno))
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the file that is replaced");
    tz_result result = preserve_all(old, fd, &destination->status, ctx);
    if (old >= 0)
        (void)tz_sink_syscall->close(old);
    return result;
}
