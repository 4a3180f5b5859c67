/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/on_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "support/device/test_device.h"

tz_device *on_device;
_Atomic unsigned on_device_calls;

bool on_device_takes(unsigned number)
{
    enum { ONE_OF = 4 };
    return !test_device_is_slow() || on_device_needs_libraries() || number % ONE_OF == 0;
}

/* ---- libraries ---- */

typedef struct need {
    const char *word;
    _Atomic uint64_t met;
} need;

enum { MOST_NEEDS = 8 };
static need needs[MOST_NEEDS];
static size_t need_count;

static void take_needs(void)
{
    static char text[100];
    const char *given = getenv("TERRAZZO_TEST_NEEDED");
    snprintf(text, sizeof text, "%s", given ? given : "");
    for (char *word = strtok(text, " "); word && need_count < MOST_NEEDS; word = strtok(NULL, " "))
        needs[need_count++].word = word;
}

bool on_device_needs_libraries(void)
{
    return need_count > 0;
}

static void meet(const char *word, uint64_t times)
{
    for (size_t i = 0; i < need_count; i++) {
        if (strcmp(needs[i].word, word) == 0)
            needs[i].met += times;
    }
}

void on_device_count(uint16_t compression, const tz_device_use *use)
{
    char number[8];
    snprintf(number, sizeof number, "%u", compression);
    meet(number, use->library_calls);
    meet("cufile", use->direct_bytes);
}

/* Returns the misuse, or NULL. */
static const char *wrong_use(void)
{
    static char text[100];
    for (size_t i = 0; i < need_count; i++) {
        if (needs[i].met > 0)
            continue;
        snprintf(text, sizeof text, "no library did anything for %s", needs[i].word);
        return text;
    }
    return test_device_misuse();
}

/* ---- the device ---- */

/* Used by threads of a test at once: opened before any of them. */
__attribute__((constructor)) static void open_device(void)
{
    on_device = test_device_open(NULL);
    take_needs();
}

/* A program that read or wrote, and gave the device or a library nothing to do, has shown nothing;
 * and what was forgotten is a mistake. */
__attribute__((destructor)) static void close_device(void)
{
    tz_device_counts all;
    tz_error err = {.message = "nothing was launched"};
    tz_device_get_counts(on_device, &all, NULL);
    const bool is_closed = tz_device_close_checked(on_device, &err) == TZ_OK;
    const char *wrong = on_device_calls > 0 ? wrong_use() : NULL;
    if (is_closed && !wrong && (all.launches > 0 || on_device_calls == 0))
        return;
    fprintf(stderr, "the device: %s\n", is_closed && wrong ? wrong : err.message);
    _exit(1);
}
