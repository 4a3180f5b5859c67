/* SPDX-License-Identifier: Apache-2.0
 * Batches of files in seven codecs, with fakes of nvCOMP, cuFile, nvJPEG2000 and nvJPEG at once
 * on that of libcuda: bad tiles are reported one by one among good ones; what a library or the
 * device fails with is done by others, and all that was asked for holds there too; and where the
 * CPU is not to, the error is the one that there was first. */
#include <stdlib.h>
#include <string.h>

#include "support/device/mixed_case.h"
#include "support/plain_read.h"

enum { LAST = MIXED_TILES - 1 };

static mixed_ask ask_for(tz_device *device)
{
    const tz_read_options defaults = TZ_READ_OPTIONS_INIT;
    mixed_ask ask = {.how = defaults};
    ask.how.device = device;
    ask.how.allow_vendor_codecs = ask.how.allow_inexact = true;
    return ask;
}

/* Reads it; all is as the CPU has it. */
static plain_report read_right(const mixed *m, const mixed_ask *ask)
{
    mixed_answer cpu = mixed_read_by_cpu(m, ask);
    mixed_answer found = mixed_read(m, ask);
    mixed_check_same(&found, &cpu);
    const plain_report report = found.report;
    mixed_answer_free(&cpu);
    mixed_answer_free(&found);
    return report;
}

/* Every library had its part, in one call for all tiles of a codec. */
static void check_use(const plain_report *report)
{
    const tz_device_use *use = &report->device;
    if (use->id[0] == '\0')
        fail_msg("the CPU read it: %s", use->reason);
    assert_int_equal(use->library_calls, MIXED_LIBRARIES);
    assert_true(use->direct_bytes > 0);
}

/* ---- damaged tiles ---- */

/* Files with a codec get some tiles of garbage; every second one has a truncated last tile. */
static void damage_some(mixed_damage damage[MIXED_FILES])
{
    for (size_t i = 0; i < MIXED_FILES; i++) {
        damage[i].spoilt =
            i == MIXED_NONE ? 0 : 1u << i % MIXED_TILES | 1u << (i + 3) % MIXED_TILES;
        damage[i].cut = i % 2 == 0;
    }
}

static bool is_bad(const mixed_damage *damage, size_t tile)
{
    return damage->spoilt >> tile & 1 || (damage->cut && tile == LAST);
}

/* Bad ones are masked; good ones of lossless codecs are what was written. */
static void check_pixels(const mixed *m, const mixed_damage *damage, const mixed_answer *a,
                         size_t i)
{
    const raster *r = &m->rasters[i];
    const size_t size = tz_dtype_size(r->spec.dtype);
    const uint8_t *written = r->pixels.data;
    for (size_t k = 0; k < (size_t)MIXED_BANDS * MIXED_HEIGHT * MIXED_WIDTH; k++) {
        const size_t row = k / MIXED_WIDTH % MIXED_HEIGHT, column = k % MIXED_WIDTH;
        const uint8_t *found = a->bytes[2 * i] + k * size;
        if (is_bad(damage, row / 16 * MIXED_ACROSS + column / 16))
            assert_int_equal(a->bytes[2 * i + 1][k], 0);
        else if (!mixed_is_lossy(i) && memcmp(found, written + k * size, size) != 0)
            fail_msg("file %zu, row %zu, column %zu", i, row, column);
    }
}

static void check_told(const mixed *m, const mixed_damage *damage, const mixed_answer *a, size_t i)
{
    uint64_t bad = 0;
    for (size_t k = 0; k < MIXED_TILES; k++) {
        const tz_tile_status *tile = &a->tiles[i][k];
        assert_int_equal(tile->tile, k);
        if ((tile->result != TZ_OK) != is_bad(damage, k))
            fail_msg("file %zu, tile %zu: %s", i, k, tz_result_name(tile->result));
        bad += is_bad(damage, k);
    }
    assert_int_equal(a->outcomes[i].tiles_failed, bad);
    check_pixels(m, damage, a, i);
}

static void bad_tiles_are_reported_one_by_one(void **state)
{
    (void)state;
    mixed_damage damage[MIXED_FILES];
    damage_some(damage);
    mixed m = mixed_make(damage);
    tz_device *device = mixed_open();
    mixed_ask ask = ask_for(device);
    ask.has_list = ask.has_mask = true;
    for (unsigned i = 0; i < 8; i++) {
        mixed_cuda->reversed = i % 2;
        ask.on_device = i / 2 % 2;
        ask.how.strict_device = i / 4; /* there are lists for what the CPU finds wrong */
        mixed_answer cpu = mixed_read_by_cpu(&m, &ask);
        mixed_answer found = mixed_read(&m, &ask);
        mixed_check_same(&found, &cpu);
        check_use(&found.report);
        assert_int_equal(found.report.device.tiles_on_cpu, 4); /* codestreams that are not valid */
        assert_int_equal(found.report.device.tiles_redone, 8);
        for (size_t k = 0; k < MIXED_FILES; k++)
            check_told(&m, &damage[k], &found, k);
        mixed_answer_free(&cpu);
        mixed_answer_free(&found);
    }
    mixed_close(device);
    mixed_free(&m);
}

/* Without lists, strict or not: the error is that of the CPU, about this tile of this file. */
static void check_tile_error(tz_device *device, const mixed_damage damage[MIXED_FILES],
                             int64_t tile)
{
    mixed m = mixed_make(damage);
    mixed_ask ask = ask_for(device);
    mixed_answer cpu = mixed_read_by_cpu(&m, &ask);
    assert_int_equal(cpu.result, TZ_ERR_FORMAT);
    assert_int_equal(cpu.err.tile, tile);
    for (unsigned i = 0; i < 4; i++) {
        ask.how.strict_device = i % 2;
        ask.on_device = i / 2;
        mixed_answer found = mixed_read(&m, &ask);
        mixed_check_same(&found, &cpu);
        mixed_answer_free(&found);
    }
    mixed_answer_free(&cpu);
    mixed_free(&m);
}

static void the_error_is_that_of_the_tile(void **state)
{
    (void)state;
    tz_device *device = mixed_open();
    for (size_t i = 0; i < MIXED_FILES; i++) {
        mixed_damage damage[MIXED_FILES] = {0};
        damage[i].cut = true;
        check_tile_error(device, damage, LAST);
        damage[i] = (mixed_damage){.spoilt = 1u << 4};
        if (i != MIXED_NONE)
            check_tile_error(device, damage, 4);
    }
    mixed_close(device);
}

/* ---- libraries that fail ---- */

/* The harm to a read: none, since another codec of the device does the work; single tiles, which
 * the CPU does; or the device cannot be used afterwards. */
typedef enum harm { NO_HARM, HARMS_TILES, HARMS_DEVICE } harm;

typedef struct fault {
    const char *function; /* or */
    uint64_t chunk;       /* of nvCOMP's */
    int32_t code;
    harm harm;
    const char *message; /* of the error where the CPU may not */
} fault;

static const fault faults[] = {
    {NULL, 0, 0, NO_HARM, NULL},
    {NULL, 2, 12, NO_HARM, NULL}, /* it cannot decompress it: of Deflate, of Zstandard, of LZ4 */
    {NULL, 10, 12, NO_HARM, NULL},
    {NULL, 19, 12, NO_HARM, NULL},
    {"cuFileBatchIOSubmit", 0, 5008, NO_HARM, NULL},
    {"cuFileHandleRegister", 0, 5008, NO_HARM, NULL},
    {"nvcompBatchedDeflateDecompressAsync", 0, 11, NO_HARM, NULL}, /* it does not support it */
    {"nvcompBatchedZstdDecompressAsync", 0, 11, NO_HARM, NULL},
    {"nvcompBatchedLZ4DecompressAsync", 0, 11, NO_HARM, NULL},
    {"nvjpeg2kStreamParse", 0, 3, HARMS_TILES, "the CPU may not"},
    {"nvjpeg2kDecodeImage", 0, 5, HARMS_TILES, "the CPU may not"},
    {"nvjpegDecodeBatchedInitialize", 0, 5, HARMS_TILES, "the CPU may not"},
    {"nvjpegDecodeBatched", 0, 4, HARMS_TILES, "the CPU may not"},
    {"nvcompBatchedDeflateDecompressAsync", 0, 1000, NO_HARM, NULL}, /* it misbehaves */
    {"nvcompBatchedZstdDecompressAsync", 0, 1000, NO_HARM, NULL},
    {"nvcompBatchedLZ4DecompressAsync", 0, 10000, NO_HARM, NULL},
    {"nvjpegDecodeBatched", 0, 6, HARMS_TILES, "the CPU may not"},
    {"nvjpeg2kDecodeImage", 0, 6, HARMS_TILES, "the CPU may not"},
    {"nvjpeg2kDecodeImage", 0, 7, HARMS_TILES, "the CPU may not"},
    {"nvjpeg2kDecodeImage", 0, 8, HARMS_TILES, "the CPU may not"},
    {"nvcompBatchedDeflateDecompressAsync", 0, 700, HARMS_DEVICE, "700"},
    {"cuMemcpyHtoDAsync_v2", 0, 700, HARMS_DEVICE, "700"},
    {"cuLaunchKernel", 0, 719, HARMS_DEVICE, "719"},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static void set_fault(mixed_ask *ask, const fault *f)
{
    ask->fail_function = f->function;
    ask->fail_chunk = f->chunk;
    ask->fail_code = f->code;
}

/* A device that may be broken is closed, and what it did forgotten. */
static void close_faulty(tz_device *device)
{
    mixed_close(device);
    cuda_fake_reset(mixed_cuda);
}

/* With strict_device, the device's own kernels suffice, or the fault is reported. */
static void faults_with_strict_device(void **state)
{
    (void)state;
    mixed m = mixed_make(NULL);
    for (size_t i = 0; i < 2 * FAULTS; i++) {
        const fault *f = &faults[i / 2];
        tz_device *device = mixed_open();
        mixed_ask ask = ask_for(device);
        set_fault(&ask, f);
        ask.how.strict_device = true;
        ask.on_device = i % 2;
        if (f->harm == NO_HARM) {
            (void)read_right(&m, &ask);
        } else {
            mixed_answer found = mixed_read(&m, &ask);
            assert_int_equal(found.result, TZ_ERR_DEVICE);
            if (!strstr(found.err.message, f->message))
                fail_msg("%s: %s", f->function, found.err.message);
            mixed_answer_free(&found);
        }
        close_faulty(device);
    }
    mixed_free(&m);
}

/* ---- all that was asked for ---- */

static const uint32_t two_bands[] = {2, 0};

/* Windows that reach into tiles, and beyond the image; bands in another order; samples that become
 * others; masks; gaps between samples, which stay as they are. */
static mixed_ask ask_for_much(tz_device *device, unsigned number)
{
    mixed_ask ask = ask_for(device);
    ask.window = (tz_window){5, 9, 34, 26};
    ask.bands = two_bands;
    ask.is_scattered = true;
    ask.has_mask = ask.has_list = true;
    ask.how.scaled = ask.how.nodata_to_nan = true;
    ask.dtype = TZ_DTYPE_FLOAT64;
    if (number % 2) {
        ask.window = (tz_window){-3, 12, 40, 26};
        ask.how.boundless = true;
        ask.how.has_fill = number % 4 == 1, ask.how.fill = 5.5;
        ask.how.nodata_to_nan = number % 8 < 4;
        ask.dtype = TZ_DTYPE_FLOAT32;
    }
    return ask;
}

/* Who is left does all of it, damaged tiles and all, wherever the buffers are; but for pixels in
 * the memory of a device that is broken. */
static void arguments_hold_whoever_reads(void **state)
{
    (void)state;
    mixed_damage damage[MIXED_FILES];
    damage_some(damage);
    mixed m = mixed_make(damage);
    for (unsigned i = 0; i < 2 * FAULTS; i++) {
        const fault *f = &faults[i / 2];
        tz_device *device = mixed_open();
        mixed_ask ask = ask_for_much(device, i + i / 2);
        set_fault(&ask, f);
        ask.on_device = i % 2;
        mixed_cuda->reversed = i / 2 % 2;
        if (ask.on_device && f->harm == HARMS_DEVICE) {
            mixed_answer found = mixed_read(&m, &ask);
            assert_int_equal(found.result, TZ_ERR_DEVICE);
            mixed_answer_free(&found);
        } else {
            const plain_report report = read_right(&m, &ask);
            assert_true((report.device.reason[0] != '\0') == (f->harm == HARMS_DEVICE));
        }
        close_faulty(device);
    }
    mixed_free(&m);
}

/* Codestream libraries want more memory than there is: the CPU decodes these, and the device the
 * rest, in many batches. */
static void little_memory(void **state)
{
    (void)state;
    mixed_damage damage[MIXED_FILES];
    damage_some(damage);
    mixed m = mixed_make(damage);
    tz_device *device = mixed_open();
    for (unsigned i = 0; i < 4; i++) {
        mixed_ask ask = ask_for_much(device, i);
        ask.on_device = i / 2;
        ask.how.max_device_bytes = 300000;
        const plain_report report = read_right(&m, &ask);
        assert_non_null(strstr(report.device.library_reason, "more than half"));
        assert_true(report.device.waves > 1);
        assert_true(report.device.memory <= ask.how.max_device_bytes);
        ask.how.strict_device = true;
        mixed_answer found = mixed_read(&m, &ask);
        assert_int_equal(found.result, TZ_ERR_LIMIT);
        mixed_answer_free(&found);
    }
    mixed_close(device);
    mixed_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MIXED(bad_tiles_are_reported_one_by_one),
        MIXED(the_error_is_that_of_the_tile),
        MIXED(faults_with_strict_device),
        MIXED(arguments_hold_whoever_reads),
        MIXED(little_memory),
    };
    return cmocka_run_group_tests(tests, mixed_begin_all, mixed_end_all);
}
