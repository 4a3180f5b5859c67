/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest user of an installed terrazzo: the version, and an error that names the file. */
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

int main(void)
{
    tz_file *file = NULL;
    tz_error err;
    tz_result result = tz_open(&file, "does-not-exist.tif", NULL, &err);
    if (result != TZ_ERR_IO || strstr(err.message, "does-not-exist.tif") == NULL) {
        fprintf(stderr, "expected an I/O error, got %s\n", tz_result_name(result));
        tz_close(file);
        return 1;
    }
    printf("terrazzo %s\n", tz_version());
    return 0;
}
