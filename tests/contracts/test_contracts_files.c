/* SPDX-License-Identifier: Apache-2.0
 * Contracts of how bytes come from files: all reads are submitted before the first is waited for,
 * and eight of a file on disk are under way at once. */
#include "support/device/contract.h"
#include "support/plain_read.h"

/* ---- submit before wait: every read submitted before the first wait ---- */

static void reads_are_submitted_before_the_first_wait(void **state)
{
    (void)state;
    tz_device *device = contract_open((tz_device_options){0});
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        const contract_size *size = &contract_sizes[k];
        contract_file f = contract_spaced_file(size, TZ_COMPRESSION_NONE);
        deferred_source *source = contract_deferred(&f, size->tiles);
        const plain_report report = contract_read(&f, device, 0);
        contract_expect(size, "reads", source->reads, size->tiles);
        contract_expect(size, "reads after a wait", source->late, 0);
        contract_expect(size, "waits", source->waits, 1);
        assert_int_equal(report.device.waves, 1);
        contract_file_free(&f);
    }
    contract_close(device);
}

static void reads_without_tiles(void **state)
{
    (void)state;
    tz_device *device = contract_open((tz_device_options){0});
    contract_file f = contract_spaced_file(&contract_sizes[0], TZ_COMPRESSION_NONE);
    (void)contract_read(&f, device, 0);
    contract_expect(&contract_sizes[0], "calls", steps_asked(contract_cuda), 0);
    contract_file_free(&f);
    contract_close(device);
}

/* ---- files on disk: eight reads are inside the system at once ---- */

enum { READERS = 8 };

static void expect_rounds(const contract_size *size, const gate_result *gate)
{
    if (gate->failed)
        fail_msg("%u tiles: a read waited for others that never came", size->tiles);
    contract_expect(size, "reads", gate->reads, size->tiles);
    contract_expect(size, "rounds", gate->rounds, (size->tiles + READERS - 1) / READERS);
}

static void eight_reads_of_a_file_at_once(void **state)
{
    (void)state;
    static const contract_size sizes[] = {{1, 1, 1}, {10, 5, 2}, {256, 16, 16}, {1000, 40, 25}};
    tz_device *device = contract_open((tz_device_options){0});
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        contract_file f = contract_spaced_file(&sizes[k], TZ_COMPRESSION_NONE);
        contract_gated(&f, sizes[k].tiles, READERS);
        (void)contract_read(&f, device, 0);
        const gate_result gate = gate_end();
        expect_rounds(&sizes[k], &gate);
        contract_file_free(&f);
    }
    contract_close(device);
}

/* A tile each, so each file is a request of its own. */
static void reads_of_several_files_at_once(void **state)
{
    (void)state;
    const contract_size one = {1, 1, 1}, all = {READERS, READERS, 1};
    tz_device *device = contract_open((tz_device_options){0});
    contract_file files[READERS];
    plain_item items[READERS] = {{0}};
    uint8_t pixels[READERS][CONTRACT_TILE * CONTRACT_TILE];
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = device;
    how.strict_device = true;
    for (unsigned i = 0; i < READERS; i++) {
        files[i] = contract_spaced_file(&one, TZ_COMPRESSION_NONE);
        contract_gated(&files[i], 1, READERS);
        items[i] = (plain_item){.file = files[i].file, .into = files[i].raster.pixels};
        items[i].into.data = pixels[i];
    }
    gate_restart(READERS, READERS); /* all have the same bytes */
    assert_int_equal(plain_read_batch(items, READERS, &how, NULL, &err), TZ_OK);
    const gate_result gate = gate_end();
    expect_rounds(&all, &gate);
    for (unsigned i = 0; i < READERS; i++) {
        assert_memory_equal(pixels[i], files[i].raster.pixels.data, sizeof pixels[i]);
        contract_file_free(&files[i]);
    }
    contract_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(reads_are_submitted_before_the_first_wait),
        CONTRACT(reads_without_tiles),
        CONTRACT(eight_reads_of_a_file_at_once),
        CONTRACT(reads_of_several_files_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
