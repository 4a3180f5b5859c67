/* SPDX-License-Identifier: Apache-2.0
 * Contracts of reads: tiles go up to the device together, and libraries decode them there. */
#include "support/device/contract.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

/* Who decodes what. */
typedef struct decoding {
    tz_compression compression;
    const char *nvcomp; /* NULL: the own kernels do */
    const char *decode; /* the call of nvCOMP that decodes a batch */
} decoding;

static const decoding decodings[] = {
    {TZ_COMPRESSION_NONE, NULL, NULL},
    {TZ_COMPRESSION_DEFLATE, NULL, NULL},
    {TZ_COMPRESSION_DEFLATE, NVCOMP_FAKE_6, "nvcompBatchedDeflateDecompressAsync"},
    {TZ_COMPRESSION_LZ4, NVCOMP_FAKE_6, "nvcompBatchedLZ4DecompressAsync"},
    {TZ_COMPRESSION_ZSTD, NVCOMP_FAKE_6, "nvcompBatchedZstdDecompressAsync"},
};
enum { DECODINGS = sizeof decodings / sizeof decodings[0] };
/* The one that an interpreter of PTX has least to do for. */
static const decoding *const by_library = &decodings[DECODINGS - 1];

static tz_device *open_for(const decoding *d)
{
    return contract_open((tz_device_options){.libraries = library_text("nvcomp", d->nvcomp)});
}

/* Modules and questions to libraries happen once for a process or device, and are not counted. */
static void warm_up(const decoding *d, tz_device *device)
{
    contract_file f = contract_file_of(&contract_sizes[1], d->compression);
    (void)contract_read(&f, device, 0);
    contract_file_free(&f);
}

/* ---- one upload: one concatenated upload, pointers by offset; bit exact ---- */

static void check_one_upload(const decoding *d, tz_device *device, const contract_size *size,
                             size_t *of_one)
{
    contract_file f = contract_file_of(size, d->compression);
    const plain_report report = contract_read(&f, device, 0);
    const size_t some = size->tiles > 0;
    if (size->tiles == 1)
        *of_one = steps_asked(contract_cuda);
    contract_expect(size, "uploads", steps_of(contract_cuda, STEP_UPLOAD), some);
    contract_expect(size, "waits", steps_of(contract_cuda, STEP_SYNC), some);
    contract_expect(size, "waits for all", steps_blocking(contract_cuda), 0);
    contract_expect(size, "calls", steps_asked(contract_cuda), some ? *of_one : 0);
    if (size->tiles > 0) {
        const size_t at = steps_find(contract_cuda, STEP_UPLOAD, 0);
        assert_true(contract_cuda->steps[at].bytes >= report.bytes_compressed);
        assert_int_equal(contract_cuda->steps[at].bytes, report.device.upload_bytes);
    }
    contract_file_free(&f);
}

static void one_upload(void **state)
{
    (void)state;
    for (size_t i = 0; i < DECODINGS; i++) {
        tz_device *device = open_for(&decodings[i]);
        size_t of_one = 0;
        warm_up(&decodings[i], device);
        for (size_t k = 0; k < CONTRACT_SIZES; k++)
            check_one_upload(&decodings[i], device, &contract_sizes[k], &of_one);
        contract_close(device);
    }
}

/* And one for each wave, where not all tiles fit. */
static void one_upload_a_wave(void **state)
{
    (void)state;
    tz_device *device = open_for(by_library);
    const contract_size *size = &contract_sizes[3];
    contract_file f = contract_file_of(size, by_library->compression);
    const plain_report whole = contract_read(&f, device, 0);
    const plain_report report = contract_read(&f, device, whole.device.memory / 2);
    assert_true(report.device.waves >= 3);
    contract_expect(size, "uploads", steps_of(contract_cuda, STEP_UPLOAD), report.device.waves);
    contract_expect(size, "waits", steps_of(contract_cuda, STEP_SYNC), report.device.waves);
    contract_expect(size, "waits for all", steps_blocking(contract_cuda), 0);
    contract_file_free(&f);
    contract_close(device);
}

/* ---- in place: a library decodes from memory of the device ---- */

/* One buffer that all of it is in, nothing left behind, no copy of it made, one call. */
static void check_one_buffer(const decoding *d, tz_device *device, const contract_size *size)
{
    contract_file f = contract_file_of(size, d->compression);
    const size_t some = size->tiles > 0;
    const plain_report report = contract_read(&f, device, 0);
    assert_int_equal(report.device.tiles, size->tiles);
    contract_expect(size, "calls of the library", steps_of(contract_cuda, d->decode), some);
    contract_expect(size, "allocations", steps_allocating(contract_cuda), some);
    contract_expect(size, "releases", steps_of(contract_cuda, "cuMemFreeAsync"), some);
    contract_expect(size, "copies", steps_with(contract_cuda, "DtoD"), 0);
    if (some) {
        const size_t at = steps_first_allocation(contract_cuda);
        assert_int_equal(contract_cuda->steps[at].bytes, report.device.memory);
    }
    contract_file_free(&f);
}

static void one_output_buffer(void **state)
{
    (void)state;
    for (size_t i = 0; i < DECODINGS; i++) {
        if (!decodings[i].nvcomp)
            continue;
        tz_device *device = open_for(&decodings[i]);
        warm_up(&decodings[i], device);
        for (size_t k = 0; k < CONTRACT_SIZES; k++)
            check_one_buffer(&decodings[i], device, &contract_sizes[k]);
        contract_close(device);
    }
}

/* A library is asked for what it takes before there is anything; what it does not take never gets
 * so far. */
static void the_codec_is_checked_before_allocation(void **state)
{
    (void)state;
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        tz_device *device = contract_open_untried(
            (tz_device_options){.libraries = library_text("nvcomp", by_library->nvcomp)});
        contract_file f = contract_file_of(&contract_sizes[k], by_library->compression);
        (void)contract_read(&f, device, 0);
        const size_t asked =
            steps_find(contract_cuda, "nvcompBatchedZstdDecompressGetRequiredAlignments", 0);
        assert_true(asked < steps_first_allocation(contract_cuda));
        assert_true(asked < steps_find(contract_cuda, "cuMemHostAlloc", 0));
        contract_file_free(&f);
        contract_close(device);
    }
}

static void one_output_buffer_with_other_codecs(void **state)
{
    (void)state;
    tz_device *device = open_for(by_library);
    for (size_t k = 0; k < CONTRACT_SIZES; k++) {
        const contract_size *size = &contract_sizes[k];
        contract_file f = contract_file_of(size, TZ_COMPRESSION_LZMA);
        plain_item item = {.file = f.file, .into = f.raster.pixels};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_report report;
        tz_error err;
        how.device = device;
        steps_keep(contract_cuda);
        assert_int_equal(plain_read_batch(&item, size->tiles > 0, &how, &report, &err), TZ_OK);
        contract_expect(size, "calls", steps_asked(contract_cuda), 0);
        assert_string_equal(report.device.id, "");
        contract_file_free(&f);
    }
    contract_close(device);
}

/* The guard knows of all that is needed before the first of it is taken, for two waves at a time:
 * with less, tiles go in more of them, or not at all. */
static void check_guard(const decoding *d, tz_device *device, const contract_size *size)
{
    contract_file f = contract_file_of(size, d->compression);
    const plain_report whole = contract_read(&f, device, 0);
    assert_true(steps_find(contract_cuda, STEP_FREE_MEMORY, 0) <
                steps_first_allocation(contract_cuda));
    const uint64_t sum = whole.device.memory;
    assert_true(sum > whole.bytes_compressed + whole.bytes_decoded);
    assert_int_equal(contract_read(&f, device, 2 * sum).device.waves, 1);
    if (size->tiles > 1) {
        const plain_report less = contract_read(&f, device, 2 * sum - 1);
        assert_true(less.device.waves > 1);
        assert_true(less.device.memory < 2 * sum);
    }
    contract_file_free(&f);
}

/* A tile that has no room alone: nothing is taken for it. Where the device itself has too little,
 * the CPU reads unless that is not allowed. */
static void check_refused(const contract_file *f, tz_device *device, uint64_t device_bytes,
                          uint64_t needed)
{
    const plain_item item = {.file = f->file, .into = f->raster.pixels};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = device;
    how.max_device_bytes = device_bytes;
    steps_keep(contract_cuda);
    if (device_bytes == 0) {
        assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
        assert_string_equal(report.device.id, "");
        assert_true(report.device.reason[0] != '\0');
        how.strict_device = true;
    }
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_ERR_LIMIT);
    assert_int_equal(err.found, needed);
    contract_expect(&contract_sizes[1], "allocations", steps_allocating(contract_cuda), 0);
    contract_expect(&contract_sizes[1], "allocations of the host",
                    steps_of(contract_cuda, "cuMemHostAlloc"), 0);
}

/* By what the caller allows, and by what a device has, of which some is left to others. */
static void check_no_room(const decoding *d, tz_device *device)
{
    contract_file f = contract_file_of(&contract_sizes[1], d->compression);
    const uint64_t least = contract_read(&f, device, 0).device.memory;
    const uint64_t memory = contract_cuda->memory;
    check_refused(&f, device, least - 1, least);
    contract_cuda->memory = least;
    tz_device *small = open_for(d);
    check_refused(&f, small, 0, least);
    contract_close(small);
    contract_cuda->memory = memory;
    contract_file_free(&f);
}

static void the_guard_is_on_the_sum(void **state)
{
    (void)state;
    tz_device *device = open_for(by_library);
    warm_up(by_library, device);
    for (size_t k = 1; k < CONTRACT_SIZES; k++)
        check_guard(by_library, device, &contract_sizes[k]);
    check_no_room(by_library, device);
    contract_close(device);
}

/* ---- pinned memory is made once ---- */

static vclock_sum allocations(void)
{
    return vclock_of(contract_cuda, &vclock_usual, VCLOCK_ALLOCATION);
}

/* Pinning takes its time by the mebibyte: a device that keeps it pays for the first read alone. */
static void the_second_read_pins_nothing(void **state)
{
    (void)state;
    const uint64_t kept = (uint64_t)64 << 20;
    tz_device *device = contract_open((tz_device_options){
        .libraries = library_text("nvcomp", by_library->nvcomp), .max_pinned_bytes = kept});
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        const contract_size *size = &contract_sizes[k];
        contract_file f = contract_file_of(size, by_library->compression);
        const plain_report first = contract_read(&f, device, 0);
        contract_expect(size, "pieces of the host", steps_of(contract_cuda, "cuMemHostAlloc"), 1);
        const double before = allocations().microseconds;
        const plain_report second = contract_read(&f, device, 0);
        contract_expect(size, "pieces of the host", steps_of(contract_cuda, "cuMemHostAlloc"), 0);
        contract_expect(size, "releases", steps_of(contract_cuda, "cuMemFreeHost"), 0);
        assert_true(allocations().microseconds < before);
        assert_int_equal(second.peak_host_bytes, first.peak_host_bytes);
        assert_int_equal(second.device.peak, first.device.peak);
        contract_file_free(&f);
    }
    contract_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(the_second_read_pins_nothing),
        CONTRACT(one_upload),
        CONTRACT(one_upload_a_wave),
        CONTRACT(one_output_buffer),
        CONTRACT(the_codec_is_checked_before_allocation),
        CONTRACT(one_output_buffer_with_other_codecs),
        CONTRACT(the_guard_is_on_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
