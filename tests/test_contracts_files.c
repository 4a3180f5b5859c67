/* SPDX-License-Identifier: Apache-2.0
 * Contracts of how bytes come from files: all reads are submitted before the first is waited for.
 * The numbers are those of xarray-spatial's issues, where each was found to matter. */
#include "support/contract.h"

/* ---- xarray-spatial #1688: every read submitted before the first wait ---- */

static void xarray_spatial_1688_submits_before_the_first_wait(void **state)
{
    (void)state;
    tz_device *device = contract_open((tz_device_options){0});
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        const contract_size *size = &contract_sizes[k];
        contract_file f = contract_spaced_file(size, TZ_COMPRESSION_NONE);
        clocked_source *source = contract_with_clock(&f, size->tiles);
        const tz_report report = contract_read(&f, device, 0);
        contract_expect(size, "reads", source->reads, size->tiles);
        contract_expect(size, "reads after a wait", source->late, 0);
        contract_expect(size, "waits", source->waits, 1);
        assert_int_equal(report.device.waves, 1);
        contract_file_free(&f);
    }
    contract_close(device);
}

static void xarray_spatial_1688_without_tiles(void **state)
{
    (void)state;
    tz_device *device = contract_open((tz_device_options){0});
    contract_file f = contract_spaced_file(&contract_sizes[0], TZ_COMPRESSION_NONE);
    (void)contract_read(&f, device, 0);
    contract_expect(&contract_sizes[0], "calls", steps_asked(contract_cuda), 0);
    contract_file_free(&f);
    contract_close(device);
}

/* ---- on a clock: 1 ms a read, 8 at a time ---- */

static void xarray_spatial_1688_six_times_as_fast_as_one_by_one(void **state)
{
    (void)state;
    const contract_size size = {256, 16, 16};
    tz_device *device = contract_open((tz_device_options){0});
    contract_file f = contract_spaced_file(&size, TZ_COMPRESSION_NONE);
    clocked_source *source = contract_with_clock(&f, size.tiles);
    (void)contract_read(&f, device, 0);
    const double batched = source->clock.now;
    contract_expect(&size, "reads", source->reads, size.tiles);
    clocked_source_restart(source);
    clocked_source_one_by_one(source, size.tiles);
    const double single = source->clock.now;
    if (single < 6 * batched)
        fail_msg("%.1f ms one by one, %.1f ms together", single / 1000, batched / 1000);
    contract_file_free(&f);
    contract_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(xarray_spatial_1688_submits_before_the_first_wait),
        CONTRACT(xarray_spatial_1688_without_tiles),
        CONTRACT(xarray_spatial_1688_six_times_as_fast_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
