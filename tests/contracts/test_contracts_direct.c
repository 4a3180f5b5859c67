/* SPDX-License-Identifier: Apache-2.0
 * Contracts of files that cuFile reads straight into memory of the device: all reads are submitted
 * before the first is waited for, and what the device cannot decode comes back to the CPU in one
 * download. */
#include <stdlib.h>
#include <string.h>

#include "support/device/bad_tiles.h"
#include "support/device/contract.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

/* ---- files with bad tiles ---- */

/* Who decodes them. */
typedef struct decoder {
    int stream;
    const char *nvcomp; /* "": the own kernels do */
} decoder;

static const decoder decoders[] = {
    {STREAM_PACKBITS, ""}, {STREAM_DEFLATE, ""}, {STREAM_ZSTD, NVCOMP_FAKE_6}};
enum { DECODERS = sizeof decoders / sizeof decoders[0] };

typedef struct bad_read {
    plain_report report;
    size_t calls, launches, downloads, waits;
} bad_read;

static void check_tiles(const bad_tiles *f, const tile_stream *stream, const uint8_t *pixels,
                        const tz_tile_status *statuses)
{
    const size_t row = (size_t)BAD_TILES_ACROSS * TILE;
    for (uint32_t tile = 0; tile < f->image.tiles; tile++) {
        const int64_t number = bad_tiles_number(f->bad, tile);
        const bool lost = number >= 0 && bad_tiles_is_lost(number);
        const uint8_t *at =
            pixels + tile / BAD_TILES_ACROSS * TILE * row + tile % BAD_TILES_ACROSS * TILE;
        assert_int_equal(statuses[tile].result, lost ? TZ_ERR_FORMAT : TZ_OK);
        for (uint32_t k = 0; k < TILE * TILE; k++) {
            const uint8_t is = at[k / TILE * row + k % TILE];
            const uint8_t wanted =
                lost || bad_tiles_is_sparse(tile) ? 0 : tf_pixel(stream, 0, k / TILE, k % TILE);
            if (is != wanted)
                fail_msg("%u bad tiles: pixel %u of tile %u is %u, not %u", f->bad, k, tile, is,
                         wanted);
        }
    }
}

/* With the steps kept; all pixels are right. */
static bad_read read_file(const bad_tiles *f, const tile_stream *stream, direct_read how)
{
    static tz_tile_status statuses[BAD_TILES_MOST];
    plain_outcome outcome = {.tiles = statuses, .tile_room = BAD_TILES_MOST};
    bad_read done;
    uint8_t *pixels;
    tz_error err;
    how.outcome = &outcome;
    steps_keep(direct_cuda);
    if (direct_pixels(&f->image, &how, direct_device, &pixels, &done.report, &err) != TZ_OK)
        fail_msg("%s; %s", err.message, direct_cuda->fault);
    direct_cuda->keep_steps = false;
    check_tiles(f, stream, pixels, statuses);
    free(pixels);
    assert_int_equal(outcome.tiles_failed, f->bad / 2);
    assert_int_equal(done.report.tiles_sparse, f->sparse);
    assert_int_equal(done.report.device.tiles_redone, f->bad);
    assert_true(done.report.device.direct_reads > 0);
    done.calls = steps_asked(direct_cuda);
    done.launches = steps_of(direct_cuda, STEP_LAUNCH);
    done.downloads = steps_of(direct_cuda, STEP_DOWNLOAD);
    done.waits = steps_of(direct_cuda, STEP_SYNC);
    return done;
}

/* ---- one download back: of all tiles that the CPU decodes after all ---- */

/* All memory is planned and asked for before anything is read, and nothing more is taken when tiles
 * turn out to be bad. */
static void check_memory(const contract_size *size, const bad_read *done)
{
    const size_t at = steps_first_allocation(direct_cuda);
    const tz_device_use *use = &done->report.device;
    contract_expect(size, "allocations", steps_allocating(direct_cuda), 1);
    contract_expect(size, "allocations of the host", steps_of(direct_cuda, "cuMemHostAlloc"), 1);
    assert_true(steps_find(direct_cuda, STEP_FREE_MEMORY, 0) < at);
    assert_true(steps_find(direct_cuda, "cuMemHostAlloc", 0) <
                steps_find(direct_cuda, "cuFileBatchIOSubmit", 0));
    assert_true(at < steps_find(direct_cuda, "cuFileBatchIOSubmit", 0));
    assert_int_equal(direct_cuda->steps[at].bytes, use->memory);
    assert_int_equal(use->peak, use->memory);
}

/* After the wait that says which tiles are bad; no more of the slab than cuFile filled. What is
 * left for the last read is too little for cuFile: the host has it. */
static void check_second_download(const bad_tiles *f, const bad_read *done)
{
    const tz_device_use *use = &done->report.device;
    const size_t at = steps_find(direct_cuda, STEP_DOWNLOAD, 1);
    const uint64_t bytes = direct_cuda->steps[at].bytes;
    assert_true(use->bounced_bytes < 4096);
    assert_true(steps_find(direct_cuda, STEP_SYNC, 0) < at);
    assert_true(at < steps_find(direct_cuda, STEP_SYNC, 1));
    assert_true(bytes + use->bounced_bytes >= f->bad_bytes);
    assert_true(bytes <= use->direct_bytes);
}

static void check_bring_back(const decoder *d, const contract_size *size, size_t *launches,
                             size_t *calls)
{
    const tile_stream *stream = &tile_streams[d->stream];
    const size_t some = size->tiles > 0;
    bad_tiles f = bad_tiles_make(stream, size->tiles);
    const bad_read done = read_file(&f, stream, (direct_read){0});
    if (size->tiles == 0)
        *launches = done.launches;
    if (size->tiles == 1)
        *calls = done.calls;
    contract_expect(size, "downloads", done.downloads, 1 + some);
    contract_expect(size, "waits", done.waits, 1 + some);
    contract_expect(size, "waits for all", steps_blocking(direct_cuda), 0);
    contract_expect(size, "uploads", steps_of(direct_cuda, STEP_UPLOAD), 1);
    contract_expect(size, "launches", done.launches, *launches);
    if (some)
        contract_expect(size, "calls", done.calls, *calls);
    check_memory(size, &done);
    if (some)
        check_second_download(&f, &done);
    direct_drop(&f.image);
}

static void one_download_of_bad_tiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < DECODERS; i++) {
        size_t launches = 0, calls = 0;
        direct_open(CUFILE_FAKE, decoders[i].nvcomp);
        check_bring_back(&decoders[i], &contract_sizes[0], &launches, &calls);
        for (size_t k = 0; k < CONTRACT_SIZES; k++) /* modules are loaded by now */
            check_bring_back(&decoders[i], &contract_sizes[k], &launches, &calls);
    }
}

/* And one for each wave, where not all tiles fit. */
static void one_download_a_wave(void **state)
{
    (void)state;
    const tile_stream *stream = &tile_streams[STREAM_PACKBITS];
    const contract_size *size = &contract_sizes[3];
    bad_tiles f = bad_tiles_make(stream, size->tiles);
    const uint64_t whole = read_file(&f, stream, (direct_read){0}).report.device.memory;
    const bad_read done = read_file(&f, stream, (direct_read){.device_bytes = whole / 2});
    const uint64_t waves = done.report.device.waves;
    assert_true(waves >= 3);
    assert_true(done.report.device.peak <= whole / 2);
    contract_expect(size, "downloads", done.downloads, 2 * waves);
    contract_expect(size, "waits", done.waits, 2 * waves);
    direct_drop(&f.image);
}

/* So it is for memory of the device: no byte of a file is read twice. Decoded, tiles go up as rows,
 * as many at a time as the planned slab holds. */
static void check_on_device(const contract_size *size)
{
    enum { MOST_ROUNDS = 3 };
    const tile_stream *stream = &tile_streams[STREAM_PACKBITS];
    bad_tiles f = bad_tiles_make(stream, size->tiles);
    const bad_read done = read_file(&f, stream, (direct_read){.to_device = true});
    const tz_device_use *use = &done.report.device;
    const uint64_t rounds = use->waves - 1;
    assert_true(size->tiles > 10 ? rounds <= MOST_ROUNDS : rounds == (size->tiles > 0));
    contract_expect(size, "uploads", use->uploads, 1 + rounds);
    contract_expect(size, "downloads", use->downloads, 1u + (size->tiles > 0));
    contract_expect(size, "waits", use->syncs, 1u + (size->tiles > 0) + rounds);
    assert_int_equal(use->peak, use->memory);
    if (size->tiles > 0)
        check_second_download(&f, &done);
    direct_drop(&f.image);
}

static void one_download_for_device_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < CONTRACT_SIZES; k++)
        check_on_device(&contract_sizes[k]);
}

/* With strict_device the error still says what is wrong with the first bad tile. */
static void strict_reads_name_the_first_bad_tile(void **state)
{
    (void)state;
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        bad_tiles f = bad_tiles_make(&tile_streams[STREAM_PACKBITS], contract_sizes[k].tiles);
        const direct_read how = {.strict = true, .threads = 1};
        uint8_t *pixels;
        tz_error err;
        steps_keep(direct_cuda);
        assert_int_equal(direct_pixels(&f.image, &how, direct_device, &pixels, NULL, &err),
                         TZ_ERR_DEVICE);
        direct_cuda->keep_steps = false;
        assert_int_equal(bad_tiles_number(f.bad, (uint32_t)err.tile), 0);
        contract_expect(&contract_sizes[k], "downloads", steps_of(direct_cuda, STEP_DOWNLOAD), 2);
        free(pixels);
        direct_drop(&f.image);
    }
}

/* ---- submit before wait: every read submitted before the first wait ---- */

/* Tiles of 64 x 64, too far apart to be read together. */
static direct_image spaced_image(const contract_size *size)
{
    tz_write_options how = direct_tiles(TZ_COMPRESSION_NONE);
    how.alignment = 16384;
    return direct_make("spaced", size->across, size->down, &how);
}

/* All of the file goes into one buffer, in groups of what cuFile takes at a time; what is brought
 * last first is at its offset all the same. */
static void check_submits(const contract_size *size)
{
    direct_image image = spaced_image(size);
    uint64_t reads = 0;
    steps_keep(direct_cuda);
    const plain_report report = direct_check(&image, &(direct_read){.strict = true});
    direct_cuda->keep_steps = false;
    for (size_t i = 0; i < direct_cuda->step_count; i++) {
        if (strcmp(direct_cuda->steps[i].call, "cuFileBatchIOSubmit") == 0)
            reads += direct_cuda->steps[i].bytes;
    }
    contract_expect(size, "reads", reads, size->tiles);
    contract_expect(size, "reads of the report", report.device.direct_reads, size->tiles);
    contract_expect(size, "allocations", steps_allocating(direct_cuda), 1);
    contract_expect(size, "buffers", direct_steps("cuFileBufRegister"), 1);
    assert_int_equal(report.device.bounced_bytes, 0);
    assert_int_equal(report.device.peak, report.device.memory);
    assert_true(steps_find(direct_cuda, STEP_FREE_MEMORY, 0) < steps_first_allocation(direct_cuda));
    assert_true(direct_last("cuFileBatchIOSubmit") < direct_first("cuFileBatchIOGetStatus"));
    assert_true(direct_last("cuFileBatchIOGetStatus") < direct_first(STEP_LAUNCH));
    direct_drop(&image);
}

static void cufile_submits_before_the_first_wait(void **state)
{
    (void)state;
    for (size_t k = 1; k < CONTRACT_SIZES; k++)
        check_submits(&contract_sizes[k]);
}

static void cufile_without_tiles(void **state)
{
    (void)state;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = direct_device;
    steps_keep(direct_cuda);
    assert_int_equal(plain_read_batch(NULL, 0, &how, NULL, &err), TZ_OK);
    contract_expect(&contract_sizes[0], "calls", steps_asked(direct_cuda), 0);
}

/* A short read counts as nothing: the host reads those bytes, and all of them go up together. */
static void cufile_reads_that_come_short(void **state)
{
    (void)state;
    for (size_t k = 1; k < CONTRACT_SIZES; k++) {
        direct_image image = spaced_image(&contract_sizes[k]);
        direct_control->short_read = 4000;
        const plain_report report = direct_check(&image, &(direct_read){0});
        contract_expect(&contract_sizes[k], "bytes by the host", report.device.bounced_bytes,
                        image.tiles * 64 * 64);
        contract_expect(&contract_sizes[k], "uploads", report.device.uploads, 2);
        direct_drop(&image);
    }
}

/* On a clock: 1 ms a read, 8 at a time. */
static void cufile_six_times_as_fast_as_one_by_one(void **state)
{
    (void)state;
    const contract_size size = {256, 16, 16};
    direct_image image = spaced_image(&size);
    steps_keep(direct_cuda);
    (void)direct_check(&image, &(direct_read){0});
    direct_cuda->keep_steps = false;
    const vclock_sum batched = vclock_of(direct_cuda, &vclock_usual, VCLOCK_READ);
    const double single = size.tiles * (vclock_usual.read + vclock_usual.call);
    if (batched.calls == 0 || single < 6 * batched.microseconds)
        fail_msg("%.1f ms one by one, %.1f ms together", single / 1000,
                 batched.microseconds / 1000);
    direct_drop(&image);
}

/* ---- registered memory is made once ---- */

static void the_second_read_registers_no_memory(void **state)
{
    (void)state;
    const contract_size size = {10, 5, 2};
    direct_open_keeping(CUFILE_FAKE, "", (uint64_t)64 << 20);
    direct_image image = spaced_image(&size);
    for (size_t made = 1; made < 2; made--) {
        steps_keep(direct_cuda);
        const plain_report report = direct_check(&image, &(direct_read){0});
        direct_cuda->keep_steps = false;
        assert_true(report.device.direct_reads > 0);
        contract_expect(&size, "registrations", steps_of(direct_cuda, "cuFileBufRegister"), made);
        contract_expect(&size, "slabs", steps_of(direct_cuda, "cuMemAlloc_v2"), made);
        contract_expect(&size, "pieces of the host", steps_of(direct_cuda, "cuMemHostAlloc"), made);
        contract_expect(&size, "ends", steps_of(direct_cuda, "cuFileBufDeregister"), 0);
    }
    direct_drop(&image);
}

/* Idle memory does not stand in the way of other requests, nor exceed the cap. */
static void kept_memory_is_given_up_for_the_cap(void **state)
{
    (void)state;
    const contract_size size = {10, 5, 2};
    direct_image image = spaced_image(&size);
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_device_memory *all = NULL;
    uint8_t *pixels;
    plain_report report;
    tz_error err;
    uint64_t before, after;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "cufile", CUFILE_FAKE);
    library_set(&how, "nvcomp", "");
    library_set(&how, "nvjpeg2k", "");
    library_set(&how, "nvjpeg", "");
    how.max_device_bytes = 1 << 20;
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    assert_int_equal(tz_device_free_memory(device, &before, &err), TZ_OK);
    assert_int_equal(direct_pixels(&image, &(direct_read){0}, device, &pixels, &report, &err),
                     TZ_OK);
    free(pixels);
    assert_true(report.device.direct_reads > 0);
    assert_int_equal(direct_control->buffers, 1);
    assert_int_equal(tz_device_free_memory(device, &after, &err), TZ_OK);
    assert_int_equal(after, before);
    assert_int_equal(tz_device_memory_alloc(&all, device, how.max_device_bytes, &err), TZ_OK);
    assert_int_equal(direct_control->buffers, 0);
    tz_device_memory_free(all);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    direct_drop(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(kept_memory_is_given_up_for_the_cap),
        DIRECT(the_second_read_registers_no_memory),
        DIRECT(one_download_of_bad_tiles),
        DIRECT(one_download_a_wave),
        DIRECT(one_download_for_device_memory),
        DIRECT(strict_reads_name_the_first_bad_tile),
        DIRECT(cufile_submits_before_the_first_wait),
        DIRECT(cufile_without_tiles),
        DIRECT(cufile_reads_that_come_short),
        DIRECT(cufile_six_times_as_fast_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, direct_begin_all, direct_end_all);
}
