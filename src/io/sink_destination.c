/* SPDX-License-Identifier: Apache-2.0
 * The destination of a file sink: the directory and the name that a path leads to, and the access
 * rights that a new file inherits from the file it replaces.
 *
 * The directory stays open from the start to the end of a write, so that all steps mean one
 * directory. A path that ends at a link leads to the target of the link: the link stays, its target
 * is replaced.
 *
 * Rights that the system does not let us set are left out, and then permissions become narrower,
 * never wider: the access list names the users of the old file, and its group may be one that we
 * cannot set. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"
#include "io/source.h"

#define PATH_SIZE 4096 /* bytes with the closing NUL, as in Linux */
#define MAX_LINKS 40   /* as in Linux */

#define ACL_ATTRIBUTE "system.posix_acl_access"
#define USER_PREFIX   "user."
#define MAX_XATTR_BYTES                                                                            \
    ((size_t)64 << 10) /* limit of Linux for the list of names, and for a value */
#define SAME_OWNER      ((uid_t)-1)
#define PERMISSION_BITS ((mode_t)0777)
#define OWNER_BITS      ((mode_t)0700)
#define GROUP_BITS      ((mode_t)0070)
#define OTHERS_BITS     ((mode_t)0007)
#define MAX_ACL_BYTES   4096 /* some 500 entries */

bool tz_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

tz_result tz_fail_exists(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_no_location(), EEXIST,
                         "exists already, and is not to be replaced");
}

static tz_result check_regular(const struct stat *status, const tz_context *ctx)
{
    if (S_ISREG(status->st_mode))
        return TZ_OK;
    return tz_fail_not_regular(ctx, "written", S_ISDIR(status->st_mode) ? EISDIR : 0,
                               tz_file_kind_name(status->st_mode));
}

tz_result tz_destination_stat(tz_destination *destination, const tz_context *ctx)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fstatat(destination->dir, destination->name,
                                              &destination->status, AT_SYMLINK_NOFOLLOW));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot stat the destination");
    destination->exists = !failed;
    return destination->exists ? check_regular(&destination->status, ctx) : TZ_OK;
}

/* Opens the directory of a path that starts in destination->dir; its last component becomes the
 * name. */
static tz_result enter_directory_of(tz_destination *destination, const char *path,
                                    const tz_context *ctx)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t dir_size = (size_t)(name - path);
    char dir[PATH_SIZE] = ".";
    if (*name == '\0')
        return tz_fail_not_regular(ctx, "written", EISDIR, "the path of a directory");
    if (strlen(name) > TZ_MAX_NAME_LENGTH || dir_size >= PATH_SIZE)
        return tz_fail_errno(ctx, tz_no_location(), ENAMETOOLONG, "cannot be created");
    if (dir_size > 0) {
        memcpy(dir, path, dir_size);
        dir[dir_size] = '\0';
    }
    int fd;
    TZ_RETRY(fd,
             tz_sink_syscall->openat(destination->dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (fd < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open its directory");
    tz_destination_close(destination);
    destination->dir = fd;
    memcpy(destination->name, name, strlen(name) + 1);
    return TZ_OK;
}

/* Follows links until a name is not one. The system follows the path first: it detects loops, and
 * knows the targets of links in /proc, whose text is not a path. Such a link can lead to a file
 * that was deleted and is still open somewhere. */
static tz_result find_destination(tz_destination *destination, const char *path,
                                  const tz_context *ctx)
{
    struct stat found;
    char target[PATH_SIZE];
    int failed, links = 0;
    TZ_RETRY(failed, tz_sink_syscall->fstatat(AT_FDCWD, path, &found, 0));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot stat the destination");
    if (!failed)
        TZ_TRY(check_regular(&found, ctx));
    TZ_TRY(enter_directory_of(destination, path, ctx));
    for (;; links++) {
        const ssize_t size =
            tz_sink_syscall->readlinkat(destination->dir, destination->name, target, PATH_SIZE);
        if (size < 0 && errno != EINVAL && errno != ENOENT)
            return tz_fail_errno(ctx, tz_no_location(), errno, "cannot follow links");
        if (size <= 0)
            break; /* not a link */
        if (size == PATH_SIZE || links + 1 == MAX_LINKS)
            return tz_fail_errno(ctx, tz_no_location(), size == PATH_SIZE ? ENAMETOOLONG : ELOOP,
                                 "cannot follow links");
        target[size] = '\0';
        TZ_TRY(enter_directory_of(destination, target, ctx));
    }
    TZ_TRY(tz_destination_stat(destination, ctx));
    if (!failed && found.st_nlink == 0 && links > 0 && !destination->exists)
        return tz_fail_not_regular(ctx, "written", 0, "a file that was deleted");
    return TZ_OK;
}

tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx)
{
    if (!path || !*path)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the path is empty");
    out->dir = AT_FDCWD;
    tz_result result = find_destination(out, path, ctx);
    if (result != TZ_OK)
        tz_destination_close(out);
    return result;
}

void tz_destination_close(tz_destination *destination)
{
    if (destination->dir >= 0)
        (void)tz_sink_syscall->close(destination->dir); /* it was not written to */
    destination->dir = AT_FDCWD;
}

/* ---- access of the replaced file: user attributes ---- */

/* True if we are not allowed to, or the file system cannot: not a reason to fail the write. */
static bool is_tolerable(int error_number)
{
    return error_number == EPERM || error_number == EACCES || error_number == ENOTSUP ||
           error_number == ENOSYS || error_number == EINVAL;
}

static tz_result preserve_attribute(int old, int fd, const char *name, void *value,
                                    const tz_context *ctx)
{
    long size = tz_sink_syscall->fgetxattr(old, name, value, MAX_XATTR_BYTES);
    if (size < 0 && (errno == ENODATA || is_tolerable(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno,
                             "cannot read attribute %s of the file that is replaced", name);
    if (tz_sink_syscall->fsetxattr(fd, name, value, (size_t)size, 0) == 0 || is_tolerable(errno))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno, "cannot keep attribute %s", name);
}

static tz_result fail_attribute_list(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_no_location(), errno,
                         "cannot list the attributes of the file that is replaced");
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
    tz_result result = names && value ? TZ_OK : tz_fail_nomem(ctx, MAX_XATTR_BYTES);
    if (result == TZ_OK) {
        size = tz_sink_syscall->flistxattr(old, names, MAX_XATTR_BYTES);
        if (size < 0)
            result = fail_attribute_list(ctx);
    }
    const char *name = names;
    while (result == TZ_OK && name < names + size) {
        if (strncmp(name, USER_PREFIX, strlen(USER_PREFIX)) == 0)
            result = preserve_attribute(old, fd, name, value, ctx);
        name += strlen(name) + 1;
    }
    tz_free(names);
    tz_free(value);
    return result;
}

/* ---- access of the replaced file: owner, access list, permissions ---- */

static int change_owner(int fd, uid_t owner, gid_t group)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fchown(fd, owner, group));
    return failed ? errno : 0;
}

/* Only the administrator may give a file to another user; its owner may give it to groups of his
 * own. */
static tz_result preserve_owner(int fd, const struct stat *old, bool *group_preserved,
                                const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_syscall->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot stat the temporary file");
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

/* A list contains the permissions of the owning group: with another group it would grant them to
 * other people. If we may not read the old file (old is -1), its list is unknown and counts as
 * lost. */
static tz_result preserve_acl(int old, int fd, bool group_preserved, acl_state *state,
                              const tz_context *ctx)
{
    char list[MAX_ACL_BYTES];
    *state = ACL_LOST;
    if (old < 0)
        return TZ_OK;
    long size = tz_sink_syscall->fgetxattr(old, ACL_ATTRIBUTE, list, sizeof list);
    if (size < 0 && (errno == ENODATA || errno == ENOTSUP)) {
        /* The old file has no list, but the new one may have inherited one from the directory. */
        if (tz_sink_syscall->fremovexattr(fd, ACL_ATTRIBUTE) == 0 || errno == ENODATA ||
            errno == ENOTSUP)
            *state = ACL_NONE;
        else if (!is_tolerable(errno))
            return tz_fail_errno(ctx, tz_no_location(), errno, "cannot remove the access list");
        return TZ_OK;
    }
    if (size < 0 && (errno == ERANGE || is_tolerable(errno)))
        return TZ_OK;
    if (size < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno,
                             "cannot read the access list of the file that is replaced");
    if (!group_preserved)
        return TZ_OK;
    if (tz_sink_syscall->fsetxattr(fd, ACL_ATTRIBUTE, list, (size_t)size, 0) == 0)
        *state = ACL_PRESERVED;
    else if (!is_tolerable(errno))
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot keep the access list");
    return TZ_OK;
}

/* Returns the old permissions without those that would apply to other people than before. With an
 * access list, the group bits are the maximum over its entries; without the list, all of the group
 * would get them. Members of a group that was not preserved count among the others now. */
static mode_t narrowed_mode(mode_t mode, bool group_preserved, acl_state acl)
{
    mode_t group = (mode & GROUP_BITS) >> 3;
    if (acl == ACL_LOST)
        return mode & OWNER_BITS;
    if (!group_preserved)
        return mode & (OWNER_BITS | (OTHERS_BITS & group));
    return mode & PERMISSION_BITS;
}

/* A file system without permissions refuses to set them, which is fine unless they should be
 * narrower. */
static tz_result set_mode(int fd, mode_t mode, const tz_context *ctx)
{
    struct stat now;
    if (tz_sink_syscall->fstat(fd, &now) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot stat the temporary file");
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

tz_result tz_preserve_access(int fd, const tz_destination *destination, const tz_context *ctx)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const struct stat *status = &destination->status;
    bool group_preserved = false;
    acl_state acl = ACL_LOST;
    tz_result result = TZ_OK;
    if (!destination->exists)
        return TZ_OK;
    int old;
    TZ_RETRY(old, tz_sink_syscall->openat(destination->dir, destination->name, flags, 0));
    if (old < 0 && errno == ENOENT)
        return TZ_OK; /* somebody has just removed it */
    if (old < 0 && !is_tolerable(errno))
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the file that is replaced");
    if (old >= 0)
        result = preserve_attributes(old, fd, ctx);
    if (result == TZ_OK)
        result = preserve_owner(fd, status, &group_preserved, ctx);
    if (result == TZ_OK)
        result = preserve_acl(old, fd, group_preserved, &acl, ctx);
    if (result == TZ_OK && acl != ACL_PRESERVED)
        result = set_mode(fd, narrowed_mode(status->st_mode, group_preserved, acl), ctx);
    if (old >= 0)
        (void)tz_sink_syscall->close(old);
    return result;
}
