/* SPDX-License-Identifier: Apache-2.0
 * The choice between a device that "auto" chose and the CPU. */
#include <math.h>
#include <string.h>

#include "device/cost.h"
#include "support/check.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)
#define GIB (1ull << 30)

static const tz_device_info gpu = {
    .id = "cuda:0", .type = TZ_DEVICE_TYPE_GPU, .compute_units = 108, .clock_mhz = 1410};
static const tz_device_info small_gpu = {.id = "cuda:0",
                                         .type = TZ_DEVICE_TYPE_GPU,
                                         .unified_memory = true,
                                         .compute_units = 16,
                                         .clock_mhz = 1300};
static const tz_device_info unknown_gpu = {.id = "opencl:0", .type = TZ_DEVICE_TYPE_GPU};
static const tz_device_info pocl = {.id = "opencl:0", .type = TZ_DEVICE_TYPE_CPU};

typedef struct cost_case {
    const char *name;
    const tz_device_info *info;
    tz_device_job job;
    bool pays;
} cost_case;

#define TILES_OF(bytes) ((bytes) / (512 * KIB))

static const cost_case cases[] = {
    {"a small uncompressed read to the host",
     &gpu,
     {.bytes_compressed = MIB, .bytes_pixels = MIB, .tiles = 2, .compression = 1, .threads = 8},
     false},
    {"a huge uncompressed read to the host",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 1,
      .threads = 8},
     false},
    {"a huge uncompressed read to the device",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 1,
      .to_device = true,
      .threads = 8},
     true},
    {"one tile of Deflate to the device",
     &gpu,
     {.bytes_compressed = 30 * KIB,
      .bytes_pixels = 64 * KIB,
      .tiles = 1,
      .compression = 8,
      .to_device = true,
      .threads = 8},
     false},
    {"huge Deflate to the device",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 8,
      .to_device = true,
      .threads = 8},
     true},
    {"the same by its older number",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 32946,
      .to_device = true,
      .threads = 8},
     true},
    {"huge Deflate to the host, few cores",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 8,
      .threads = 2},
     true},
    {"huge Deflate to the host, as many cores as one could wish for",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 8,
      .threads = 256},
     false},
    {"threads of 0 are one",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 8},
     true},
    {"Deflate in a handful of tiles: a tile is slow on a device",
     &gpu,
     {.bytes_compressed = 8 * MIB,
      .bytes_pixels = 16 * MIB,
      .tiles = 4,
      .compression = 8,
      .to_device = true,
      .threads = 2},
     false},
    {"LZ4 to the host: the bus is slower than the CPU",
     &gpu,
     {.bytes_compressed = GIB / 2,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 50004,
      .threads = 16},
     false},
    {"LZ4 to the host where memory is shared, on a device that is no faster than a core",
     &small_gpu,
     {.bytes_compressed = GIB / 2,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 50004,
      .threads = 1},
     false},
    {"a codec that no device has, to the host",
     &gpu,
     {.bytes_compressed = GIB / 8,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .tiles_on_cpu = TILES_OF(GIB),
      .compression = 7,
      .threads = 8},
     false},
    {"the same, wanted on the device: it goes up from pinned memory",
     &gpu,
     {.bytes_compressed = GIB / 8,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .tiles_on_cpu = TILES_OF(GIB),
      .compression = 7,
      .to_device = true,
      .threads = 8},
     true},
    {"half of it Deflate, wanted on the device: too few tiles at a time",
     &gpu,
     {.bytes_compressed = GIB / 2,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .tiles_on_cpu = TILES_OF(GIB) / 2,
      .compression = 8,
      .to_device = true,
      .threads = 8},
     false},
    {"encoding Deflate of what is on the device",
     &gpu,
     {.bytes_compressed = GIB / 2,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 8,
      .encodes = true,
      .from_device = true,
      .threads = 8},
     true},
    {"encoding Deflate of the host's rows, few cores",
     &gpu,
     {.bytes_compressed = GIB / 2,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 8,
      .encodes = true,
      .threads = 4},
     true},
    {"writing the host's rows uncompressed",
     &gpu,
     {.bytes_compressed = GIB,
      .bytes_pixels = GIB,
      .tiles = TILES_OF(GIB),
      .compression = 1,
      .encodes = true,
      .threads = 4},
     false},
    {"an OpenCL device that is the CPU, whatever the work",
     &pocl,
     {.bytes_compressed = GIB,
      .bytes_pixels = 2 * GIB,
      .tiles = TILES_OF(2 * GIB),
      .compression = 8,
      .to_device = true,
      .threads = 1},
     false},
    {"nothing", &gpu, {.compression = 8, .to_device = true, .threads = 1}, false},
    {"more than numbers can say",
     &gpu,
     {.bytes_compressed = UINT64_MAX,
      .bytes_pixels = UINT64_MAX,
      .tiles = UINT64_MAX,
      .compression = 8,
      .to_device = true,
      .threads = 8},
     true},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char reason[160] = "";
        const cost_case *c = &cases[i];
        const bool pays = tz_device_pays(c->info, &c->job, reason, sizeof reason);
        if (pays != c->pays)
            print_message("%s: %s %s\n", c->name, pays ? "pays" : "does not pay", reason);
        assert_int_equal(pays, c->pays);
        assert_int_equal(reason[0] == '\0', pays); /* a reason for what is not done, and no other */
    }
}

/* More cores never make the device better, and pixels that are wanted there never make it worse. */
static void test_order(void **state)
{
    (void)state;
    char reason[160];
    static const uint16_t codecs[] = {1, 5, 8, 32773, 50000, 50004};
    for (size_t codec = 0; codec < 6; codec++) {
        for (unsigned log = 12; log < 36; log++) {
            const uint64_t bytes = 1ull << log;
            tz_device_job job = {.bytes_compressed = bytes / 2,
                                 .bytes_pixels = bytes,
                                 .tiles = 1 + TILES_OF(bytes),
                                 .compression = codecs[codec]};
            bool before = true;
            for (job.threads = 1; job.threads <= 128; job.threads *= 2) {
                const bool pays = tz_device_pays(&gpu, &job, reason, sizeof reason);
                job.to_device = true;
                assert_true(!pays || tz_device_pays(&gpu, &job, reason, sizeof reason));
                job.to_device = false;
                assert_true(before || !pays);
                before = pays;
            }
        }
    }
}

/* 8 MiB of Deflate on an A100, less on a slower clock, more of what is decoded faster. */
static void test_the_largest_tile(void **state)
{
    (void)state;
    assert_true(tz_device_max_tile(&gpu, 8) / MIB == 8);
    assert_true(tz_device_max_tile(&unknown_gpu, 8) / MIB == 8);
    assert_int_equal(tz_device_max_tile(&gpu, 8), tz_device_max_tile(&gpu, 32946));
    assert_true(tz_device_max_tile(&small_gpu, 8) < tz_device_max_tile(&gpu, 8));
    assert_true(tz_device_max_tile(&gpu, 50004) > tz_device_max_tile(&gpu, 8));
    assert_true(tz_device_max_tile(&gpu, 1) == UINT64_MAX);
    assert_true(tz_device_max_tile(&pocl, 8) == UINT64_MAX);
}

/* A device with more units or a higher clock is never slower, and memory that has to be pinned
 * never makes it faster. */
static void test_larger_devices(void **state)
{
    (void)state;
    tz_device_info info = unknown_gpu;
    tz_device_job job = {.bytes_compressed = GIB,
                         .bytes_pixels = 2 * GIB,
                         .tiles = TILES_OF(2 * GIB),
                         .compression = 8,
                         .threads = 8};
    double last = HUGE_VAL;
    for (uint32_t units = 8; units <= 256; units *= 2) {
        info.compute_units = units;
        for (info.clock_mhz = 500; info.clock_mhz <= 3000; info.clock_mhz += 500) {
            const double device = tz_device_estimate(&info, &job).device;
            assert_true(info.clock_mhz == 500 || device <= last);
            last = device;
            job.bytes_pinned = 128 * MIB;
            assert_true(tz_device_estimate(&info, &job).device > device);
            job.bytes_pinned = 0;
        }
    }
}

static void test_the_reason_is_short(void **state)
{
    (void)state;
    char reason[16];
    assert_false(tz_device_pays(&gpu, &cases[0].job, reason, sizeof reason));
    assert_true(strlen(reason) == 15);
    assert_memory_equal(reason, "the CPU is", 10);
}

static void test_named_devices_are_not_auto(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = NULL;
    assert_int_equal(tz_device_open(&device, "cpu", NULL, &err), TZ_OK);
    assert_false(tz_device_is_auto(device));
    tz_device_close(device);
    assert_int_equal(tz_device_open(&device, "auto", NULL, &err), TZ_OK);
    assert_true(tz_device_is_auto(device));
    tz_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_the_largest_tile),
        cmocka_unit_test(test_larger_devices),
        cmocka_unit_test(test_the_reason_is_short),
        cmocka_unit_test(test_named_devices_are_not_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
