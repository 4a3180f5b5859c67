/* SPDX-License-Identifier: Apache-2.0
 * The page of the command about a device, for cases that no fake can produce from the command line:
 * files that went straight to the device, or did not. */
#include "cli/device_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

/* Captures the printed text. */
static void print_to(char *text, size_t size, const device_summary *told)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int own = dup(STDOUT_FILENO);
    assert_true(own >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    device_report_print("Device", told);
    fflush(stdout);
    assert_true(dup2(own, STDOUT_FILENO) >= 0);
    close(own);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void check_line(const tz_device_use *use, const char *line)
{
    tz_device *device = NULL;
    tz_error err;
    char text[2000];
    assert_int_equal(tz_device_open(&device, "cpu", NULL, &err), TZ_OK);
    print_to(text, sizeof text, &(device_summary){.device = device, .use = use, .verb = "decoded"});
    tz_device_close(device);
    const char *found = strstr(text, "\n  Direct ");
    assert_non_null(strstr(text, "cuda:0"));
    if (!line)
        assert_null(found);
    else if (!found || strncmp(found + 1, line, strlen(line)) != 0)
        fail_msg("%s", text);
}

static void test_direct_reads(void **state)
{
    (void)state;
    tz_device_use use = {.id = "cuda:0", .direct_reason = "cuFile is not there"};
    check_line(&use, NULL);
    use = (tz_device_use){.id = "cuda:0", .direct_reads = 1, .direct_bytes = 4096};
    check_line(&use, "  Direct        1 read, 4 KiB\n");
    use.direct_reads = 3;
    use.bounced_bytes = 2048;
    strcpy(use.direct_reason, "some reads are too small for it");
    check_line(&use, "  Direct        3 reads, 4 KiB; 2 KiB through memory of the host: some reads "
                     "are too small for it\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
