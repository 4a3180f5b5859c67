/* SPDX-License-Identifier: Apache-2.0 */
#include "support/on_device.h"

#include <stdio.h>
#include <unistd.h>

#include "device/device.h"
#include "double/test_device.h"

tz_device *on_device;
_Atomic unsigned on_device_calls;

bool on_device_takes(unsigned number)
{
    enum { ONE_OF = 4 };
    return !test_device_is_slow() || number % ONE_OF == 0;
}

/* Used by threads of a test at once: opened before any of them. */
__attribute__((constructor)) static void open_device(void)
{
    on_device = test_device_open(NULL);
}

/* A program that read or wrote, and gave the device nothing to do, has shown nothing; and what was
 * forgotten is a mistake. */
__attribute__((destructor)) static void close_device(void)
{
    tz_device_counts all;
    tz_error err = {.message = "nothing was launched"};
    tz_device_get_counts(on_device, &all, NULL);
    if (tz_device_close_checked(on_device, &err) == TZ_OK &&
        (all.launches > 0 || on_device_calls == 0))
        return;
    fprintf(stderr, "the device: %s\n", err.message);
    _exit(1);
}
