/* SPDX-License-Identifier: Apache-2.0
 * CPU quotas, in made-up trees of /proc and /sys. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/terrazzo-quota-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file below the root, with the folders it needs. */
static void put_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void without_proc_there_is_no_quota(void **state)
{
    (void)state;
    assert_int_equal(tz_cpu_quota(root), 0);
    put_file("/proc/self/cgroup", "");
    assert_int_equal(tz_cpu_quota(root), 0);
}

static void a_v2_quota_is_rounded_up(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned cores;
    } rows[] = {
        {"200000 100000\n", 2},
        {"200001 100000\n", 3},
        {"199999 100000\n", 2},
        {"100000 100000\n", 1},
        {"1000 100000\n", 1},
        {"1 100000\n", 1},
        {"50000 50000", 1},
        {"max 100000\n", 0},
        {"0 100000\n", 0},
        {"100000 0\n", 0},
        {"100000\n", 0},
        {"", 0},
        {"many few\n", 0},
        {"-100000 100000\n", 0},
        {"18446744073709551615 1\n", 0xffffffffu},
        {"18446744073709551616 1\n", 0},
    };
    put_file("/proc/self/cgroup", "0::/box\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_file("/sys/fs/cgroup/box/cpu.max", rows[i].text);
        assert_int_equal(tz_cpu_quota(root), rows[i].cores);
    }
}

static void the_smallest_quota_on_the_way_up_wins(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "0::/a/b/c\n");
    put_file("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 8);
    put_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(tz_cpu_quota(root), 8);
    put_file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 3);
    put_file("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 3);
    put_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 2);
    put_file("/sys/fs/cgroup/x/cpu.max", "100000 100000\n"); /* not ours */
    assert_int_equal(tz_cpu_quota(root), 2);
}

static void a_path_of_the_host_ends_at_the_root_of_the_mount(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    put_file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 2);
}

static void the_root_group_may_have_a_quota(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "0::/\n");
    put_file("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 4);
}

static void a_v1_quota_is_that_of_the_cpu_controller(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "5:cpuset:/box\n4:memory:/box\n3:cpu,cpuacct:/box\n");
    put_file("/sys/fs/cgroup/cpuset/box/cpu.cfs_quota_us", "100000\n");
    put_file("/sys/fs/cgroup/cpuset/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(tz_cpu_quota(root), 0);
    put_file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(tz_cpu_quota(root), 0);
    put_file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(tz_cpu_quota(root), 3);
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
    assert_int_equal(tz_cpu_quota(root), 1);
}

static void the_name_cpu_is_found_anywhere_in_the_list_but_whole(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned cores;
    } rows[] = {
        {"3:cpu:/\n", 2},          {"3:cpuacct,cpu:/\n", 2},    {"3:cpu,cpuacct:/\n", 2},
        {"3:cpuacct:/\n", 0},      {"3:cpuset,cpuacct:/\n", 0}, {"3:name=cpu:/\n", 0},
        {"3:name=systemd:/\n", 0},
    };
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_file("/proc/self/cgroup", rows[i].line);
        assert_int_equal(tz_cpu_quota(root), rows[i].cores);
    }
}

static void v1_and_v2_together_give_the_smaller(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "1:cpu:/box\n0::/box\n");
    put_file("/sys/fs/cgroup/unified/box/cpu.max", "600000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 6);
    put_file("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "500000\n");
    put_file("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(tz_cpu_quota(root), 5);
}

static void a_group_outside_of_the_namespace_leads_nowhere_else(void **state)
{
    (void)state;
    put_file("/sys/fs/cpu.max", "100000 100000\n");
    put_file("/sys/fs/cgroup/cpu.max", "700000 100000\n");
    put_file("/proc/self/cgroup", "0::/..\n");
    assert_int_equal(tz_cpu_quota(root), 7);
    put_file("/proc/self/cgroup", "0::/../other\n");
    assert_int_equal(tz_cpu_quota(root), 7);
}

static void broken_lines_are_passed_over(void **state)
{
    (void)state;
    put_file("/sys/fs/cgroup/a:b/cpu.max", "300000 100000\n");
    put_file("/proc/self/cgroup", "nonsense\n:\n::\n0:\n\n0::relative\n0::/a:b\n");
    assert_int_equal(tz_cpu_quota(root), 3);
}

static void files_longer_than_they_can_be_are_read_in_part(void **state)
{
    (void)state;
    static char text[20000];
    memset(text, '0', sizeof text - 1);
    put_file("/proc/self/cgroup", "0::/\n");
    put_file("/sys/fs/cgroup/cpu.max", text);
    assert_int_equal(tz_cpu_quota(root), 0);
    put_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    memcpy(text, "0::/\n", 5);
    put_file("/proc/self/cgroup", text);
    assert_int_equal(tz_cpu_quota(root), 2);
}

static void a_path_beyond_all_bounds_is_passed_over(void **state)
{
    (void)state;
    char line[6000] = "0::/";
    memset(line + 4, 'a', sizeof line - 5);
    put_file("/proc/self/cgroup", line);
    put_file("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    assert_int_equal(tz_cpu_quota(root), 0);
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(without_proc_there_is_no_quota),
        IN_ROOT(a_v2_quota_is_rounded_up),
        IN_ROOT(the_smallest_quota_on_the_way_up_wins),
        IN_ROOT(a_path_of_the_host_ends_at_the_root_of_the_mount),
        IN_ROOT(the_root_group_may_have_a_quota),
        IN_ROOT(a_v1_quota_is_that_of_the_cpu_controller),
        IN_ROOT(the_name_cpu_is_found_anywhere_in_the_list_but_whole),
        IN_ROOT(v1_and_v2_together_give_the_smaller),
        IN_ROOT(a_group_outside_of_the_namespace_leads_nowhere_else),
        IN_ROOT(broken_lines_are_passed_over),
        IN_ROOT(files_longer_than_they_can_be_are_read_in_part),
        IN_ROOT(a_path_beyond_all_bounds_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
