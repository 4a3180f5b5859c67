/* SPDX-License-Identifier: Apache-2.0
 * CPU quotas. /proc/self/cgroup names the control groups of the process, one line each: "0::/path"
 * for v2 and "4:cpu,cpuacct:/path" for v1. A group and all groups above it may have a quota, and
 * the lowest counts; 0 stands for none throughout. In a container the path may be that of the host,
 * of which only the root of the mount exists here: the walk up from the path ends there, and that
 * root is the group of the container. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"

enum { PATH_BYTES = 4096, LIST_BYTES = 8192, VALUE_BYTES = 64 };

/* Reads a small file as a string, cut to size; false if it cannot be read or is empty. */
static bool read_small_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    (void)close(fd);
    return used > 0;
}

static bool read_cgroup_value(const char *directory, const char *name, char *text)
{
    char path[PATH_BYTES + VALUE_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && read_small_file(path, text, VALUE_BYTES);
}

static unsigned cpus_of_quota(const char *quota, const char *period)
{
    uint64_t quota_us, period_us;
    if (!tz_parse_uint64(quota, &quota_us) || !tz_parse_uint64(period, &period_us))
        return 0; /* "max" and "-1" mean no quota */
    if (quota_us == 0 || period_us == 0)
        return 0;
    return (unsigned)tz_min(tz_ceil_div(quota_us, period_us), UINT_MAX);
}

/* cpu.max holds both: "200000 100000" or "max 100000". */
static unsigned quota_v2(const char *directory)
{
    char text[VALUE_BYTES];
    if (!read_cgroup_value(directory, "cpu.max", text))
        return 0;
    char *gap = strchr(text, ' ');
    if (!gap)
        return 0;
    *gap = '\0';
    return cpus_of_quota(text, gap + 1);
}

static unsigned quota_v1(const char *directory)
{
    char quota[VALUE_BYTES], period[VALUE_BYTES];
    if (!read_cgroup_value(directory, "cpu.cfs_quota_us", quota) ||
        !read_cgroup_value(directory, "cpu.cfs_period_us", period))
        return 0;
    return cpus_of_quota(quota, period);
}

static unsigned min_nonzero(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* Walks from the group up to the root of the mount; every level may have a quota. */
static unsigned min_quota_up_to_mount(const char *root, const char *mount, const char *group,
                                      unsigned (*quota)(const char *directory))
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s%s", root, mount, group);
    size_t top = strlen(root) + strlen(mount);
    if (length < 0 || (size_t)length >= sizeof path)
        return 0;
    unsigned lowest = 0;
    for (;;) {
        lowest = min_nonzero(lowest, quota(path));
        char *slash = strrchr(path + top, '/');
        if (!slash)
            return lowest;
        *slash = '\0';
    }
}

static bool lists_cpu(const char *controllers)
{
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == '\0' || at[3] == ','))
            return true;
    }
    return false;
}

/* line is "number:controllers:path"; the path may contain colons. */
static unsigned quota_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *separator = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!separator || separator[1] != '/')
        return 0;
    *separator = '\0';
    controllers++;
    /* The path of a group outside of our namespace starts with "..": only the root is visible here.
     */
    const char *group = separator + 1;
    if (strstr(group, "/.."))
        group = "";
    if (*controllers == '\0')
        return min_nonzero(min_quota_up_to_mount(root, "/sys/fs/cgroup", group, quota_v2),
                           min_quota_up_to_mount(root, "/sys/fs/cgroup/unified", group, quota_v2));
    if (!lists_cpu(controllers))
        return 0;
    return min_nonzero(min_quota_up_to_mount(root, "/sys/fs/cgroup/cpu", group, quota_v1),
                       min_quota_up_to_mount(root, "/sys/fs/cgroup/cpu,cpuacct", group, quota_v1));
}

unsigned tz_cpu_quota(const char *root)
{
    char path[PATH_BYTES];
    char list[LIST_BYTES];
    int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (length < 0 || (size_t)length >= sizeof path || !read_small_file(path, list, sizeof list))
        return 0;
    unsigned lowest = 0;
    char *rest = NULL;
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        lowest = min_nonzero(lowest, quota_of_line(root, line));
    return lowest;
}
