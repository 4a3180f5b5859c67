/* SPDX-License-Identifier: Apache-2.0
 * nvCOMP through device/nvidia/nvcomp.h, with fakes of three releases on the fake of libcuda. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvidia/nvcomp.h"
#include "device/nvidia/nvidia_libraries.h"
#include "fakes/cuda/cuda_calls.h"
#include "fakes/nvidia/nvcomp_fake.h"
#include "support/check.h"

enum { COUNT = 5, CHUNK = 3000, SLACK = 16 };

static const char *const libraries[] = {NVCOMP_FAKE_4, NVCOMP_FAKE_5, NVCOMP_FAKE_6};
static cuda_fake_control *control;
static CUcontext context;
static CUstream stream;
static tz_error failed;
static const tz_context ctx = {.err = &failed, .ifd = -1};

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(control);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)cu.cuStreamDestroy(stream);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    (void)cu.cuDevicePrimaryCtxRelease(0);
    assert_int_equal(control->live, 0);
    return 0;
}

static void load(tz_nvcomp *nvcomp, const char *library)
{
    char reason[256] = "";
    if (!tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVCOMP], library, nvcomp, &nvcomp->info,
                        reason, sizeof reason))
        fail_msg("%s: %s", library, reason);
}

static nvcomp_fake_control *control_of(const char *library)
{
    void *address = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), "nvcomp_fake");
    nvcomp_fake_function get = NULL;
    assert_non_null(address);
    memcpy(&get, &address, sizeof get);
    return get();
}

/* ---- a batch in the memory of the device ---- */

/* Tables first, each of COUNT times 8 bytes; then chunks as they are, compressed, and back. */
enum { PLAIN, PLAIN_SIZES, PACKED, PACKED_SIZES, PACKED_STATUSES, BACK, ROOM, SIZES, STATUSES };
enum { TABLES = STATUSES + 1, TABLE = COUNT * 8 };

typedef struct rig {
    tz_nvcomp nvcomp;
    tz_nvcomp_batch pack, unpack;
    CUdeviceptr at, temp;
    uint64_t bound; /* of a compressed chunk */
    uint64_t packed, back, size;
    size_t temp_bytes;
    uint8_t plain[COUNT][CHUNK];
} rig;

static uint64_t table(const rig *r, unsigned which)
{
    return r->at + which * TABLE;
}

static void make_pixels(rig *r)
{
    for (unsigned i = 0; i < COUNT; i++) {
        for (unsigned j = 0; j < CHUNK; j++)
            r->plain[i][j] = (uint8_t)(j / (i + 3) + i * (j % 7));
    }
}

/* Asks the library for the memory that both directions need. */
static void ask(rig *r, tz_nvcomp_codec codec, int32_t algorithm)
{
    r->pack = (tz_nvcomp_batch){.codec = codec,
                                .algorithm = algorithm,
                                .count = COUNT,
                                .max_chunk = CHUNK,
                                .total = (size_t)COUNT * CHUNK};
    r->unpack = r->pack;
    size_t bound = 0, pack = 0, unpack = 0;
    assert_int_equal(tz_nvcomp_max_output(&r->nvcomp, &r->pack, &bound, &ctx), TZ_OK);
    assert_int_equal(tz_nvcomp_temp_bytes(&r->nvcomp, &r->pack, true, stream, &pack, &ctx), TZ_OK);
    assert_int_equal(tz_nvcomp_temp_bytes(&r->nvcomp, &r->unpack, false, stream, &unpack, &ctx),
                     TZ_OK);
    r->bound = (bound + 7) / 8 * 8;
    r->temp_bytes = pack > unpack ? pack : unpack;
}

static void fill_tables(rig *r)
{
    uint64_t tables[TABLES][COUNT];
    memset(tables, 0, sizeof tables);
    for (unsigned i = 0; i < COUNT; i++) {
        tables[PLAIN][i] = r->at + TABLES * TABLE + i * CHUNK;
        tables[PACKED][i] = r->packed + i * r->bound;
        tables[BACK][i] = r->back + i * CHUNK;
        tables[PLAIN_SIZES][i] = tables[ROOM][i] = CHUNK;
    }
    assert_int_equal(cu.cuMemcpyHtoDAsync(r->at, tables, sizeof tables, stream), 0);
    assert_int_equal(
        cu.cuMemcpyHtoDAsync(r->at + TABLES * TABLE, r->plain, sizeof r->plain, stream), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
}

static void set_up(rig *r, const char *library, tz_nvcomp_codec codec, int32_t algorithm)
{
    load(&r->nvcomp, library);
    make_pixels(r);
    ask(r, codec, algorithm);
    r->size = TABLES * TABLE + COUNT * (CHUNK + r->bound + CHUNK) + SLACK;
    assert_int_equal(cu.cuMemAlloc(&r->at, r->size), 0);
    assert_int_equal(cu.cuMemAlloc(&r->temp, r->temp_bytes > 0 ? r->temp_bytes : 1), 0);
    r->packed = r->at + TABLES * TABLE + sizeof r->plain;
    r->back = r->packed + COUNT * r->bound + SLACK;
    fill_tables(r);
    r->pack.in = table(r, PLAIN);
    r->pack.in_sizes = table(r, PLAIN_SIZES);
    r->pack.out = r->unpack.in = table(r, PACKED);
    r->pack.out_sizes = r->unpack.in_sizes = table(r, PACKED_SIZES);
    r->pack.statuses = table(r, PACKED_STATUSES);
    r->unpack.out = table(r, BACK);
    r->unpack.capacity = table(r, ROOM);
    r->unpack.out_sizes = table(r, SIZES);
    r->unpack.statuses = table(r, STATUSES);
    r->pack.temp = r->unpack.temp = r->temp;
    r->pack.temp_bytes = r->unpack.temp_bytes = r->temp_bytes;
}

static void tear_down(rig *r)
{
    (void)cu.cuMemFree(r->at);
    (void)cu.cuMemFree(r->temp);
}

static const void *see(const rig *r, unsigned which)
{
    const void *bytes = cuda_fake_bytes(table(r, which), TABLE);
    assert_non_null(bytes);
    return bytes;
}

static void pack(const rig *r)
{
    assert_int_equal(tz_nvcomp_compress(&r->nvcomp, &r->pack, stream, &ctx), TZ_OK);
}

static void unpack(const rig *r)
{
    assert_int_equal(tz_nvcomp_decompress(&r->nvcomp, &r->unpack, stream, &ctx), TZ_OK);
}

/* All chunks but one, or COUNT, are what they were. */
static void check_back(const rig *r, unsigned but, int32_t status)
{
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    const int32_t *statuses = see(r, STATUSES);
    const uint64_t *sizes = see(r, SIZES);
    for (unsigned i = 0; i < COUNT; i++) {
        const void *bytes = cuda_fake_bytes(r->back + i * CHUNK, CHUNK);
        assert_int_equal(statuses[i], i == but ? status : 0);
        assert_int_equal(sizes[i], i == but && status != 0 ? 0 : CHUNK);
        if (i != but)
            assert_memory_equal(bytes, r->plain[i], CHUNK);
        else
            assert_memory_not_equal(bytes, r->plain[i], CHUNK);
    }
}

/* ---- loading ---- */

static void test_releases(void **state)
{
    (void)state;
    tz_nvcomp nvcomp;
    static const uint32_t versions[] = {4200, 5300, 6000};
    for (size_t i = 0; i < 3; i++) {
        load(&nvcomp, libraries[i]);
        assert_int_equal(nvcomp.version, versions[i]);
        assert_string_equal(nvcomp.info.path, libraries[i]);
    }
}

static void refuses(const char *library, const char *why)
{
    tz_nvcomp nvcomp;
    char reason[256] = "";
    assert_false(tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVCOMP], library, &nvcomp,
                                &nvcomp.info, reason, sizeof reason));
    if (!strstr(reason, why))
        fail_msg("'%s' is not in: %s", why, reason);
}

static void test_refused(void **state)
{
    (void)state;
    refuses(NVCOMP_FAKE_7, "nvCOMP 7.0.0 is not known here");
    refuses(NVCOMP_FAKE_LIAR,
            "claims to be nvCOMP 5.3.0 and lacks nvcompBatchedDeflateCompressGet");
    refuses(CUDA_FAKE, "does not report its version");
    refuses("/nowhere/libnvcomp.so.6", "cannot open shared object file");
    refuses("", "not to be used");
}

/* ---- batches ---- */

static void test_round_trips(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (tz_nvcomp_codec codec = 0; codec < TZ_NVCOMP_CODEC_COUNT; codec++) {
            for (int32_t algorithm = 0; algorithm < 6; algorithm++) {
                rig r;
                set_up(&r, libraries[i], codec, algorithm);
                pack(&r);
                unpack(&r); /* the stream keeps the order */
                assert_int_equal(((const uint64_t *)see(&r, PACKED_SIZES))[0], 0); /* lazy */
                check_back(&r, COUNT, 0);
                for (unsigned j = 0; j < COUNT; j++) {
                    assert_in_range(((const uint64_t *)see(&r, PACKED_SIZES))[j], 1, CHUNK - 1);
                    assert_int_equal(((const int32_t *)see(&r, PACKED_STATUSES))[j], 0);
                }
                tear_down(&r);
            }
        }
    }
}

static void put(uint64_t address, uint64_t value)
{
    assert_int_equal(cu.cuMemcpyHtoDAsync(address, &value, sizeof value, stream), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
}

/* A chunk that begins elsewhere than it may has that as its status; the others are as they were. */
static void test_alignment(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rig r;
        set_up(&r, libraries[i], TZ_NVCOMP_DEFLATE, 1);
        tz_nvcomp_alignments is;
        assert_int_equal(tz_nvcomp_align(&r.nvcomp, &r.unpack, false, &is, &ctx), TZ_OK);
        assert_int_equal(is.input, 4);
        pack(&r);
        put(table(&r, PACKED) + 8, r.packed + r.bound + 2);
        unpack(&r);
        check_back(&r, 1, TZ_NVCOMP_Alignment);
        tear_down(&r);
    }
}

static void test_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rig r;
        set_up(&r, libraries[i], TZ_NVCOMP_ZSTD, 0);
        pack(&r);
        put(r.packed + 3 * r.bound, 0);
        unpack(&r);
        check_back(&r, 3, TZ_NVCOMP_CannotDecompress);
        /* what the library may not notice itself */
        pack(&r);
        *control_of(libraries[i]) = (nvcomp_fake_control){.fail_chunk = COUNT + 1};
        unpack(&r);
        assert_int_equal(control_of(libraries[i])->batches, 0);
        check_back(&r, 0, 0);
        assert_int_equal(control_of(libraries[i])->batches, 2);
        assert_int_equal(control_of(libraries[i])->chunks, 2 * COUNT);
        tear_down(&r);
    }
}

/* ---- failures ---- */

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        int32_t code;
        tz_result result;
        const char *text;
    } cases[] = {{11, TZ_ERR_UNSUPPORTED, "NotSupported (11)"},
                 {18, TZ_ERR_UNSUPPORTED, "ChunkSizeTooLarge (18)"},
                 {21, TZ_ERR_UNSUPPORTED, "BatchSizeTooLarge (21)"},
                 {10, TZ_ERR_DEVICE, "InvalidValue (10)"},
                 {1000, TZ_ERR_DEVICE, "CudaError (1000)"},
                 {77, TZ_ERR_DEVICE, "does not know (77)"}};
    rig r;
    set_up(&r, NVCOMP_FAKE_6, TZ_NVCOMP_LZ4, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        control->fail_function = "nvcompBatchedLZ4DecompressAsync";
        control->fail_nth = 1;
        control->fail_code = cases[i].code;
        assert_int_equal(tz_nvcomp_decompress(&r.nvcomp, &r.unpack, stream, &ctx), cases[i].result);
        assert_non_null(strstr(failed.message, "nvcompBatchedLZ4DecompressAsync of 5 chunks of up "
                                               "to 3000 bytes: "));
        assert_non_null(strstr(failed.message, cases[i].text));
    }
    pack(&r);
    unpack(&r);
    check_back(&r, COUNT, 0);
    tear_down(&r);
}

/* Work in memory that is not there breaks the context, as the real device does. */
static void test_outside(void **state)
{
    (void)state;
    rig r;
    set_up(&r, NVCOMP_FAKE_5, TZ_NVCOMP_DEFLATE, 1);
    put(table(&r, PACKED) + 16, r.at + r.size / 8 * 8);
    pack(&r);
    assert_int_equal(cu.cuStreamSynchronize(stream), 700);
    assert_non_null(strstr(control->fault, "nvcompBatchedDeflateCompressAsync"));
    assert_int_equal(tz_nvcomp_compress(&r.nvcomp, &r.pack, stream, &ctx), TZ_ERR_DEVICE);
    tear_down(&r);
}

static void test_no_context(void **state)
{
    (void)state;
    rig r;
    set_up(&r, NVCOMP_FAKE_6, TZ_NVCOMP_ZSTD, 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    size_t bytes = 0;
    assert_int_equal(tz_nvcomp_temp_bytes(&r.nvcomp, &r.pack, true, stream, &bytes, &ctx),
                     TZ_ERR_DEVICE);
    assert_int_equal(tz_nvcomp_compress(&r.nvcomp, &r.pack, stream, &ctx), TZ_ERR_DEVICE);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    tear_down(&r);
}

/* The timeline has one call and one task for a whole batch. */
static void test_timeline(void **state)
{
    (void)state;
    rig r;
    set_up(&r, NVCOMP_FAKE_6, TZ_NVCOMP_DEFLATE, 1);
    control->keep_steps = true;
    pack(&r);
    unpack(&r);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    static const char *const expected[] = {
        "nvcompBatchedDeflateCompressAsync", "nvcompBatchedDeflateDecompressAsync",
        "cuStreamSynchronize", "+nvcompBatchedDeflateCompressAsync",
        "+nvcompBatchedDeflateDecompressAsync"};
    assert_int_equal(control->step_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(control->steps[i].call, expected[i]);
    tear_down(&r);
}

int main(void)
{
    control = cuda_calls_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_releases),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_round_trips, begin, end),
        cmocka_unit_test_setup_teardown(test_alignment, begin, end),
        cmocka_unit_test_setup_teardown(test_damage, begin, end),
        cmocka_unit_test_setup_teardown(test_answers, begin, end),
        cmocka_unit_test_setup_teardown(test_outside, begin, end),
        cmocka_unit_test_setup_teardown(test_no_context, begin, end),
        cmocka_unit_test_setup_teardown(test_timeline, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
