/* SPDX-License-Identifier: Apache-2.0
 * Contracts of codestreams: nvJPEG2000 decodes those of a batch side by side into one slab, and the
 * host waits for none of them but to use its state again. */
#include <stdlib.h>
#include <string.h>

#include "device/device_codestreams.h"
#include "support/device/codestream_case.h"
#include "support/device/contract.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

enum { STATES = 8, JPEG2000 = 34712 };
#define STEP_DECODE "nvjpeg2kDecodeImage"
#define STEP_JOIN   "cuStreamWaitEvent"

static int begin(void **state)
{
    (void)codestream_begin(state);
    return contract_begin(state);
}

/* Also where a state was used while it was at work. */
static int end(void **state)
{
    const int of_library = codestream_end(state);
    return contract_end(state) || of_library;
}
#define PICTURES(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_device(void)
{
    return contract_open((tz_device_options){.libraries = library_text("nvjpeg2k", NVJPEG2K_FAKE)});
}

static const cuda_fake_step *step_at(size_t index)
{
    return &contract_cuda->steps[index];
}

static bool is_step(size_t index, const char *call)
{
    return strcmp(step_at(index)->call, call) == 0;
}

/* Returns the step of the last decode of a batch. */
static size_t last_decode(const contract_size *size)
{
    return steps_find(contract_cuda, STEP_DECODE, size->tiles - 1);
}

static size_t count_between(const char *call, size_t first, size_t behind)
{
    size_t count = 0;
    for (size_t i = first; i < behind; i++)
        count += is_step(i, call);
    return count;
}

/* ---- side by side: one slab, no allocation and no wait for all in the loop ---- */

static uint64_t bytes_of_library(tz_device *device)
{
    tz_codestream_codec codec;
    assert_true(tz_device_find_codestream_codec(device, JPEG2000, false,
                                                CONTRACT_TILE * CONTRACT_TILE, &codec));
    return codec.bytes;
}

/* The guard knows of the slab and of what the library takes; then all tiles are in one slab. */
static void check_slab(tz_device *device, const contract_size *size, const plain_report *report)
{
    const size_t at = steps_first_allocation(contract_cuda);
    contract_expect(size, "allocations", steps_allocating(contract_cuda), 1);
    contract_expect(size, "allocations of the host", steps_of(contract_cuda, "cuMemHostAlloc"), 1);
    contract_expect(size, "releases", steps_with(contract_cuda, "cuMemFreeAsync"), 1);
    assert_true(steps_find(contract_cuda, STEP_FREE_MEMORY, 0) < at);
    assert_true(at < steps_find(contract_cuda, STEP_DECODE, 0));
    assert_int_equal(step_at(at)->bytes + bytes_of_library(device), report->device.memory);
    assert_true(step_at(at)->bytes >= report->bytes_decoded);
}

/* The host waits in the loop for nothing but the state of the codestream that comes next. */
static void check_loop(const contract_size *size)
{
    size_t waits = 0;
    for (size_t i = steps_find(contract_cuda, STEP_DECODE, 0); i < last_decode(size); i++) {
        if (!is_step(i, STEP_SYNC))
            continue;
        size_t next = i;
        while (!is_step(next, STEP_DECODE))
            next++;
        assert_int_equal(step_at(i)->stream, step_at(next)->stream);
        waits++;
    }
    if (waits > (size->tiles > STATES ? size->tiles - STATES : 0))
        fail_msg("%u tiles: %zu waits for pictures", size->tiles, waits);
    contract_expect(size, "waits for all", steps_blocking(contract_cuda), 0);
}

/* After the last codestream the queue waits once for each state, the host once for the queue. */
static void check_join(const contract_size *size)
{
    const size_t first = last_decode(size), behind = contract_cuda->step_count;
    const size_t states = size->tiles < STATES ? size->tiles : STATES;
    const size_t placed = steps_find(contract_cuda, STEP_LAUNCH, 0);
    const uint64_t queue = step_at(placed)->stream;
    contract_expect(size, "joins", count_between(STEP_JOIN, first, placed), states);
    contract_expect(size, "waits behind the pictures", count_between(STEP_SYNC, first, behind), 1);
    contract_expect(size, "waits before",
                    count_between(STEP_SYNC, 0, steps_find(contract_cuda, STEP_DECODE, 0)), 0);
    for (size_t i = first; i < behind; i++) {
        if (is_step(i, STEP_SYNC) || (is_step(i, STEP_JOIN) && i < placed))
            assert_int_equal(step_at(i)->stream, queue);
        if (is_step(i, STEP_SYNC))
            assert_true(i > placed);
    }
}

/* Calls that do not belong to a codestream, or to its stream. */
static size_t other_calls(void)
{
    return steps_asked(contract_cuda) - steps_with(contract_cuda, "nvjpeg2k") -
           steps_with(contract_cuda, "cuEvent") - steps_of(contract_cuda, STEP_JOIN) -
           steps_of(contract_cuda, STEP_SYNC);
}

static void check_batch(tz_device *device, const contract_size *size, size_t *of_one)
{
    contract_file f = contract_file_of(size, TZ_COMPRESSION_JPEG2000);
    const plain_report report = contract_read(&f, device, 0);
    assert_int_equal(report.device.tiles, size->tiles);
    contract_expect(size, "pictures", steps_of(contract_cuda, STEP_DECODE), size->tiles);
    if (size->tiles == 0) {
        contract_expect(size, "calls", steps_asked(contract_cuda), 0);
        return;
    }
    if (size->tiles == 1)
        *of_one = other_calls();
    contract_expect(size, "other calls", other_calls(), *of_one);
    contract_expect(size, "uploads", steps_of(contract_cuda, STEP_UPLOAD), 1);
    contract_expect(size, "downloads", steps_of(contract_cuda, STEP_DOWNLOAD), 1);
    contract_expect(size, "states made", steps_with(contract_cuda, "Create"), 0);
    check_slab(device, size, &report);
    check_loop(size);
    check_join(size);
    contract_file_free(&f);
}

/* Whatever streams do first. */
static void one_slab_no_wait_in_the_loop_one_at_the_end(void **state)
{
    (void)state;
    tz_device *device = open_device();
    contract_file f = contract_file_of(&contract_sizes[1], TZ_COMPRESSION_JPEG2000);
    (void)contract_read(&f, device, 0); /* what is made once */
    contract_file_free(&f);
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        size_t of_one = 0;
        contract_cuda->reversed = reversed;
        for (size_t k = 0; k < CONTRACT_SIZES; k++)
            check_batch(device, &contract_sizes[k], &of_one);
    }
    contract_close(device);
}

/* As many as there are states: all of them are under way before the first is done. */
static void codestreams_side_by_side(void **state)
{
    (void)state;
    const contract_size size = {STATES, STATES, 1};
    tz_device *device = open_device();
    contract_file f = contract_file_of(&size, TZ_COMPRESSION_JPEG2000);
    (void)contract_read(&f, device, 0);
    (void)contract_read(&f, device, 0);
    assert_true(last_decode(&size) < steps_find(contract_cuda, "+" STEP_DECODE, 0));
    for (size_t i = 0; i < STATES; i++) {
        for (size_t k = 0; k < i; k++)
            assert_true(step_at(steps_find(contract_cuda, STEP_DECODE, i))->stream !=
                        step_at(steps_find(contract_cuda, STEP_DECODE, k))->stream);
    }
    contract_file_free(&f);
    contract_close(device);
}

/* With too little memory nothing is begun. */
static void the_guard_is_before_the_slab(void **state)
{
    (void)state;
    tz_device *device = open_device();
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        contract_file f = contract_file_of(&contract_sizes[k], TZ_COMPRESSION_JPEG2000);
        const plain_item item = {.file = f.file, .into = f.raster.pixels};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_report report;
        tz_error err;
        how.device = device;
        how.strict_device = true;
        how.max_device_bytes = 2 * bytes_of_library(device) - 1;
        steps_keep(contract_cuda);
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_ERR_LIMIT);
        assert_int_equal(steps_allocating(contract_cuda), 0);
        assert_int_equal(steps_of(contract_cuda, "cuMemHostAlloc"), 0);
        assert_int_equal(steps_of(contract_cuda, STEP_DECODE), 0);
        (void)contract_read(&f, device, 2 * bytes_of_library(device));
        contract_file_free(&f);
    }
    contract_close(device);
}

int main(void)
{
    codestream_load();
    const struct CMUnitTest tests[] = {
        PICTURES(one_slab_no_wait_in_the_loop_one_at_the_end),
        PICTURES(codestreams_side_by_side),
        PICTURES(the_guard_is_before_the_slab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
