/* SPDX-License-Identifier: Apache-2.0
 * Tiles that a device extracts from rows: the bytes, findings and statistics that the functions of
 * the CPU give, for all types, strides, predictors, byte orders and odd widths, for what users have
 * done to samples, and for tiles at every edge; in both forms that kernels have. */
#include <stdlib.h>

#include "device/device_state.h"
#include "support/check.h"
#include "support/device/extract_case.h"
#include "support/device/test_device.h"

#define ROUNDS 160

static void compare_random(tz_device_type type)
{
    const tz_device_type own = test_device->info.type;
    test_device->info.type = test_device_form(type);
    for (unsigned i = 0; i < test_device_sample(ROUNDS); i++) {
        extract_case c;
        extract_case_random(&c);
        extract_case_compare(&c);
    }
    test_device->info.type = own;
}

static void test_alone(void **state)
{
    (void)state;
    compare_random(TZ_DEVICE_TYPE_CPU);
}

static void test_groups(void **state)
{
    (void)state;
    compare_random(TZ_DEVICE_TYPE_GPU);
}

/* ---- rows of several ranges, as statistics need them ---- */

static void wide_case(extract_case *c)
{
    extract_case_random(c);
    free(c->tiles);
    c->width = 2000 + extract_below(300);
    c->height = 1 + extract_below(12);
    c->batch.row.width = 1024u << extract_below(2);
    c->batch.wants_stats = !c->batch.is_mask;
    extract_case_strides(c);
    extract_case_lay_out(c);
}

static void test_wide(void **state)
{
    (void)state;
    const tz_device_type own = test_device->info.type;
    for (unsigned i = 0; i < test_device_sample(24); i++) {
        extract_case c;
        test_device->info.type = test_device_form(i % 2 ? TZ_DEVICE_TYPE_CPU : TZ_DEVICE_TYPE_GPU);
        wide_case(&c);
        extract_case_compare(&c);
    }
    test_device->info.type = own;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_wide),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
