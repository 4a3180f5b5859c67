/* SPDX-License-Identifier: Apache-2.0
 * Pictures that the CUDA driver gives to nvJPEG and nvJPEG2000 to be encoded, on the fakes:
 * streams come in the order of the images, each with its space around it, and say what was in the
 * slab when the queue had come so far; what fails has no size, and takes no room. */
#include <stdlib.h>
#include <string.h>

#include "device/device_codestreams.h"
#include "device/nvidia/codestreams.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/codestream.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/check.h"
#include "support/device/library_text.h"

enum {
    SIDE = 24,
    ROOM = SIDE * SIDE * 8,
    MOST = 40,
    BEFORE = 4,
    AFTER = 3,
    BAD = 3,
    EXECUTION_FAILED = 6,
    POISON = 0x77
};

static cuda_fake_control *cuda;
static codestreams_fake_control *of_jpeg, *of_j2k;

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(cuda);
    return 0;
}

static bool is_clean(const codestreams_fake_control *control)
{
    if (control->misuse[0])
        print_message("%s\n", control->misuse);
    return control->live == 0 && !control->misuse[0];
}

static int end(void **state)
{
    (void)state;
    return cuda->live != 0 || cuda->fault[0] || !is_clean(of_jpeg) || !is_clean(of_j2k);
}

#define ENCODE(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* ---- what is encoded, and back ---- */

typedef struct kind {
    uint16_t compression;
    uint8_t samples, sample_bytes;
    bool is_signed;
    uint32_t quality;
    uint8_t subsampling;
    const char *call; /* that encodes */
    int tolerance;
} kind;

static const kind kinds[] = {
    {7, 1, 1, false, 90, 1, "nvjpegEncodeYUV", 12},
    {7, 3, 1, false, 95, 1, "nvjpegEncodeImage", 20},
    {7, 3, 1, false, 95, 2, "nvjpegEncodeImage", 60},
    {34712, 1, 1, false, 0, 1, "nvjpeg2kEncode", 0},
    {34712, 3, 1, false, 0, 1, "nvjpeg2kEncode", 0},
    {34712, 4, 2, false, 0, 1, "nvjpeg2kEncode", 0},
    {34712, 2, 2, true, 0, 1, "nvjpeg2kEncode", 0},
    {34712, 3, 1, false, 100, 1, "nvjpeg2kEncode", 12},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct job {
    const kind *is;
    tz_device *device;
    tz_device_memory *slab;
    uint32_t count;
    tz_codestream codestreams[MOST];
    uint8_t *samples; /* as in the slab */
    uint8_t *bytes;
    uint64_t sizes[MOST];
    tz_codestream_output out;
    tz_codestream_encoding how;
} job;

static tz_device *open_both(void)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvjpeg", NVJPEG_FAKE);
    library_set(&how, "nvjpeg2k", NVJPEG2K_FAKE);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

/* Slopes that differ from image to image. */
static void fill(const job *j, uint32_t i, uint8_t *out)
{
    const kind *is = j->is;
    for (size_t k = 0; k < (size_t)SIDE * SIDE * is->samples; k++) {
        const uint32_t value = (uint32_t)(k / is->samples % SIDE * 3 + k % is->samples * 17 + i);
        if (is->sample_bytes == 2)
            ((uint16_t *)(void *)out)[k] = (uint16_t)(is->is_signed ? value - 40 : value * 300);
        else
            out[k] = (uint8_t)value;
    }
}

static void begin_job(job *j, tz_device *device, const kind *is, uint32_t count)
{
    tz_error err;
    *j = (job){.is = is, .device = device, .count = count};
    j->samples = calloc(MOST, ROOM);
    j->bytes = malloc(MOST * ROOM);
    memset(j->bytes, POISON, MOST * ROOM);
    assert_int_equal(tz_device_memory_alloc(&j->slab, device, MOST * ROOM, &err), TZ_OK);
    for (uint32_t i = 0; i < count; i++) {
        fill(j, i, j->samples + (size_t)i * ROOM);
        j->codestreams[i] = (tz_codestream){.at = (uint64_t)i * ROOM,
                                            .width = SIDE,
                                            .height = SIDE,
                                            .samples = is->samples,
                                            .sample_bytes = is->sample_bytes,
                                            .is_signed = is->is_signed};
    }
    j->out = (tz_codestream_output){j->bytes, MOST * ROOM, j->sizes};
    j->how = (tz_codestream_encoding){.quality = is->quality,
                                      .subsampling = {is->subsampling, is->subsampling},
                                      .to_ycbcr = is->samples == 3,
                                      .before = BEFORE,
                                      .after = AFTER,
                                      .max_bytes = ROOM,
                                      .at_once = TZ_CU_CODESTREAM_ENCODERS};
}

static void end_job(job *j)
{
    (void)tz_device_sync(j->device, 0, NULL);
    tz_device_memory_free(j->slab);
    free(j->samples);
    free(j->bytes);
}

static bool find(const job *j)
{
    tz_codestream_codec codec;
    return tz_device_find_codestream_codec(j->device, j->is->compression, true, ROOM, &codec);
}

/* Without waiting for the upload. */
static tz_result run_job(job *j, tz_error *err)
{
    const tz_codestream_batch batch = {j->is->compression, j->slab, j->codestreams, j->count};
    TZ_TRY(tz_device_upload(0, j->slab, 0, j->samples, (uint64_t)MOST * ROOM, err));
    return tz_device_encode_codestreams(0, &batch, &j->how, &j->out, err);
}

static void check_ok(tz_result result, const tz_error *err)
{
    if (result != TZ_OK)
        fail_msg("%s", err->message);
}

static void check_stream(const job *j, uint32_t i, const uint8_t *bytes)
{
    const kind *is = j->is;
    const tz_tile_format format = {.width = SIDE,
                                   .height = j->codestreams[i].height,
                                   .samples = is->samples,
                                   .bits = (uint16_t)(8 * is->sample_bytes),
                                   .sample_format = is->is_signed ? 2 : 1,
                                   .compression = is->compression,
                                   .photometric = is->compression == 7 && is->samples == 3 ? 6 : 1};
    uint8_t *rows = picture_decode(is->compression == 7 ? &tz_decoder_jpeg : &tz_decoder_jp2,
                                   &format, bytes, (size_t)j->sizes[i]);
    assert_non_null(rows);
    const uint8_t *expected = j->samples + (size_t)i * ROOM;
    for (size_t k = 0; k < tz_tile_bytes(&format); k++) {
        const int off = rows[k] - expected[k];
        assert_true(off >= -is->tolerance && off <= is->tolerance);
    }
    free(rows);
}

/* All that have a size are right and where they should be; how many. */
static uint32_t check_job(const job *j)
{
    uint64_t at = 0;
    uint32_t good = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        if (j->sizes[i] == 0)
            continue;
        for (uint64_t k = 0; k < BEFORE; k++)
            assert_int_equal(j->bytes[at + k], POISON);
        check_stream(j, i, j->bytes + at + BEFORE);
        at += BEFORE + j->sizes[i];
        for (uint64_t k = 0; k < AFTER; k++)
            assert_int_equal(j->bytes[at + k], POISON);
        at += AFTER;
        good++;
    }
    return good;
}

static uint32_t count_calls(const char *name)
{
    uint32_t count = 0;
    for (size_t i = 0; i < cuda->step_count; i++)
        count += strcmp(cuda->steps[i].call, name) == 0;
    return count;
}

/* ---- tests ---- */

static void test_kinds(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = open_both();
    for (size_t k = 0; k < KINDS; k++) {
        for (uint32_t count = 0; count < 30; count += 1 + count * 2) {
            job j;
            begin_job(&j, device, &kinds[k], count);
            assert_true(find(&j));
            cuda->keep_steps = true;
            const uint32_t before = count_calls(kinds[k].call);
            check_ok(run_job(&j, &err), &err);
            assert_int_equal(check_job(&j), count);
            assert_int_equal(count_calls(kinds[k].call) - before, count);
            end_job(&j);
        }
    }
    assert_int_equal(count_calls("cuCtxSynchronize"), 0);
    tz_device_close(device);
}

/* The encoders work side by side: all begin before the host waits for the first. */
static void test_overlap(void **state)
{
    (void)state;
    tz_error err;
    for (size_t k = 0; k < KINDS; k += 3) {
        tz_device *device = open_both();
        job j;
        begin_job(&j, device, &kinds[k], 3 * TZ_CU_CODESTREAM_ENCODERS);
        assert_true(find(&j));
        cuda->keep_steps = true;
        const size_t first = cuda->step_count;
        check_ok(run_job(&j, &err), &err);
        uint32_t begun = 0;
        for (size_t i = first; i < cuda->step_count; i++) {
            begun += strcmp(cuda->steps[i].call, kinds[k].call) == 0;
            if (strcmp(cuda->steps[i].call, "cuStreamSynchronize") == 0)
                break;
        }
        assert_int_equal(begun, TZ_CU_CODESTREAM_ENCODERS);
        end_job(&j);
        tz_device_close(device);
    }
}

/* The last strip has fewer rows. */
static void test_heights(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = open_both();
    for (size_t k = 0; k < KINDS; k++) {
        job j;
        begin_job(&j, device, &kinds[k], 12);
        assert_true(find(&j));
        for (uint32_t i = 0; i < 12; i += 5)
            j.codestreams[i].height = SIDE - 8;
        check_ok(run_job(&j, &err), &err);
        assert_int_equal(check_job(&j), 12);
        end_job(&j);
    }
    tz_device_close(device);
}

/* Images that the library refuses or makes too large have no size; the others are not affected. */
static void test_failures(void **state)
{
    (void)state;
    tz_error err;
    for (size_t k = 0; k < KINDS; k++) {
        static const char *const retrieves[] = {"nvjpegEncodeRetrieveBitstream",
                                                "nvjpeg2kEncodeRetrieveBitstream"};
        tz_device *device = open_both();
        job j;
        begin_job(&j, device, &kinds[k], 20);
        assert_true(find(&j));
        for (int way = 0; way < 3; way++) {
            memset(j.bytes, POISON, MOST * ROOM);
            cuda->fail_function = way == 0 ? kinds[k].call : retrieves[kinds[k].compression != 7];
            cuda->fail_nth = way == 2 ? 0 : 5;
            cuda->fail_code = BAD;
            j.out.capacity =
                way == 2 ? j.sizes[0] + j.sizes[1] + 2 * (BEFORE + AFTER) : MOST * ROOM;
            check_ok(run_job(&j, &err), &err);
            const uint32_t good = check_job(&j);
            assert_int_equal(good, way == 2 ? 2 : 19);
        }
        j.how.max_bytes = 10;
        check_ok(run_job(&j, &err), &err);
        assert_int_equal(check_job(&j), 0);
        j.codestreams[3].samples = 2;
        j.codestreams[3].sample_bytes = 1;
        j.codestreams[3].is_signed = true; /* no library has these */
        j.how.max_bytes = ROOM;
        j.out.capacity = MOST * ROOM;
        memset(j.bytes, POISON, MOST * ROOM);
        check_ok(run_job(&j, &err), &err);
        assert_int_equal(check_job(&j), 19);
        assert_int_equal(j.sizes[3], 0);
        cuda->fail_function = kinds[k].call;
        cuda->fail_nth = 3;
        cuda->fail_code = EXECUTION_FAILED; /* as long as the device works, of the image alone */
        memset(j.bytes, POISON, MOST * ROOM);
        check_ok(run_job(&j, &err), &err);
        assert_int_equal(check_job(&j), 18);
        cuda->fail_nth = 3;
        cuda->fail_code = 700;
        assert_int_equal(run_job(&j, &err), TZ_ERR_DEVICE);
        end_job(&j);
        tz_device_close(device);
        cuda_fake_reset(cuda);
    }
}

/* Every call fails in turn, in three ways. */
static void test_every_call_fails(void **state)
{
    (void)state;
    static const int32_t codes[] = {2, EXECUTION_FAILED, 700};
    static const size_t some[] = {0, 5};
    for (size_t c = 0; c < 2 * sizeof codes / sizeof codes[0]; c++) {
        for (uint64_t n = 1;; n++) {
            tz_error err;
            job j;
            cuda_fake_reset(cuda);
            tz_device *device = open_both();
            begin_job(&j, device, &kinds[some[c % 2]], TZ_CU_CODESTREAM_ENCODERS + 1);
            cuda->fail_nth = n;
            cuda->fail_code = codes[c / 2];
            if (find(&j) && run_job(&j, &err) == TZ_OK)
                (void)check_job(&j);
            const bool failed = cuda->fail_nth == 0;
            cuda->fail_nth = 0;
            end_job(&j);
            tz_device_close(device);
            if (!is_clean(of_jpeg) || !is_clean(of_j2k))
                fail_msg("call %u answers %d", (unsigned)n, codes[c / 2]);
            if (!failed)
                break;
        }
        cuda_fake_reset(cuda);
    }
}

/* Without the libraries there is nothing, and why. */
static void test_none(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_codestream_codec codec;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvjpeg", "");
    library_set(&how, "nvjpeg2k", "");
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    assert_false(tz_device_find_codestream_codec(device, 7, true, 1, &codec));
    assert_memory_equal(codec.reason, "nvJPEG: ", 8);
    assert_false(tz_device_find_codestream_codec(device, 34712, true, 1, &codec));
    assert_memory_equal(codec.reason, "nvJPEG2000: ", 12);
    assert_false(tz_device_find_codestream_codec(device, 8, true, 1, &codec));
    tz_device_close(device);
}

int main(void)
{
    cuda = cuda_fake_load();
    of_jpeg = codestreams_fake_load(NVJPEG_FAKE);
    of_j2k = codestreams_fake_load(NVJPEG2K_FAKE);
    const struct CMUnitTest tests[] = {ENCODE(test_kinds),   ENCODE(test_overlap),
                                       ENCODE(test_heights), ENCODE(test_failures),
                                       ENCODE(test_none),    ENCODE(test_every_call_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
