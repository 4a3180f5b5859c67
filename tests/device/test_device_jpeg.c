/* SPDX-License-Identifier: Apache-2.0
 * Tiles in JPEG that the CUDA driver gives to nvJPEG, on the fakes: what comes out is what the
 * CPU makes of them, batches are few, no state is used before the host has waited for it, and what
 * fails is reported image by image. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_codestreams.h"
#include "device/nvidia/nvjpeg.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/codestream.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/check.h"
#include "support/device/library_text.h"

enum {
    SIDE = 32,
    MOST = 200,
    BYTES = SIDE * SIDE * 3,
    ROOM = 2 * BYTES,
    BAD_JPEG = 3,
    EXECUTION_FAILED = 6,
    ARCH_MISMATCH = 7,
    INTERNAL_ERROR = 8
};

static cuda_fake_control *cuda;
static codestreams_fake_control *control;

/* ---- streams: grey, YCbCr, and RGB as it is ---- */

typedef struct sample_stream {
    tz_tile_format format;
    uint8_t *data;
    size_t size;
    uint8_t *pixels; /* as the CPU decodes it */
} sample_stream;

enum { GREY, YCBCR, RGB, KINDS };
static sample_stream streams[KINDS];

static void make_stream(sample_stream *out, uint16_t samples, uint16_t photometric)
{
    const tz_encode_options choice = {.quality = 90, .jpeg_tables = TZ_JPEG_TABLES_NONE};
    const uint16_t factor = photometric == 6 ? 2 : 1;
    out->format = (tz_tile_format){.width = SIDE,
                                   .height = SIDE,
                                   .samples = samples,
                                   .bits = 8,
                                   .sample_format = 1,
                                   .compression = 7,
                                   .photometric = photometric,
                                   .subsampling = {factor, factor}};
    uint8_t *rows = picture_rows(&out->format);
    for (size_t i = 0; i < (size_t)SIDE * SIDE * samples; i++) { /* edges of red and blue */
        const size_t x = i / samples % SIDE, sample = i % samples;
        rows[i] = sample == 1 ? (uint8_t)(x * 5 + 40) : (x / 7 + sample / 2) % 2 ? 30 : 220;
    }
    out->data = picture_encode(&tz_encoder_jpeg, &out->format, &choice, rows, &out->size);
    assert_non_null(out->data);
    out->pixels = picture_decode(&tz_decoder_jpeg, &out->format, out->data, out->size);
    assert_non_null(out->pixels);
}

static int make_streams(void **state)
{
    (void)state;
    make_stream(&streams[GREY], 1, 1);
    make_stream(&streams[YCBCR], 3, 6);
    make_stream(&streams[RGB], 3, 2);
    return 0;
}

static int free_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        free(streams[i].data);
        free(streams[i].pixels);
    }
    return 0;
}

/* ---- a device ---- */

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(cuda);
    control->is_old = control->repeats = false;
    control->decoded = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (control->misuse[0])
        print_message("%s\n", control->misuse);
    return cuda->live != 0 || cuda->fault[0] || control->live != 0 || control->misuse[0];
}

#define JPEG(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_with(const char *library)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvjpeg", library);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

static bool find(tz_device *device, tz_codestream_codec *out)
{
    return tz_device_find_codestream_codec(device, 7, false, BYTES, out);
}

/* ---- a batch ---- */

typedef struct job {
    tz_device *device;
    uint32_t queue, count;
    tz_device_memory *slab;
    tz_codestream codestreams[MOST];
    uint8_t *out;
} job;

/* Kinds in turn, or all of one. */
static void begin_job(job *j, tz_device *device, uint32_t count, int kind)
{
    tz_error err;
    *j = (job){.device = device, .count = count};
    control->decoded = 0; /* but for the trial */
    j->out = malloc(MOST * ROOM);
    assert_int_equal(tz_device_memory_alloc(&j->slab, device, MOST * ROOM, &err), TZ_OK);
    for (uint32_t i = 0; i < count; i++) {
        const sample_stream *is = &streams[kind < 0 ? i % KINDS : (uint32_t)kind];
        j->codestreams[i] = (tz_codestream){.bytes = is->data,
                                            .size = is->size,
                                            .at = (uint64_t)i * ROOM,
                                            .width = SIDE,
                                            .height = SIDE,
                                            .samples = (uint8_t)is->format.samples,
                                            .sample_bytes = 1,
                                            .to_rgb = is->format.photometric == 6};
    }
}

static tz_result run_job(job *j)
{
    const tz_codestream_batch batch = {
        .compression = 7, .slab = j->slab, .codestreams = j->codestreams, .count = j->count};
    tz_error err;
    TZ_TRY(tz_device_decode_codestreams(j->queue, &batch, &err));
    TZ_TRY(tz_device_download(j->queue, j->out, j->slab, 0, MOST * ROOM, &err));
    return tz_device_sync(j->device, j->queue, &err);
}

static void end_job(job *j)
{
    (void)tz_device_sync(j->device, j->queue, NULL);
    tz_device_memory_free(j->slab);
    free(j->out);
}

/* Those that did not fail are right; how many. */
static uint32_t check_job(const job *j)
{
    uint32_t good = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        const tz_codestream *p = &j->codestreams[i];
        const sample_stream *is = &streams[p->samples == 1 ? GREY : p->to_rgb ? YCBCR : RGB];
        if (p->failed)
            continue;
        assert_memory_equal(j->out + p->at, is->pixels, (size_t)SIDE * SIDE * p->samples);
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

static void test_find(void **state)
{
    (void)state;
    tz_codestream_codec is;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_int_equal(control->live, 0); /* nothing before it is wanted */
    assert_true(find(device, &is));
    assert_string_equal(is.name, "nvJPEG 13.2.3");
    assert_int_equal(is.bytes, (uint64_t)BYTES * TZ_CU_JPEG_BATCH * TZ_CU_JPEG_STATES *
                                   TZ_CU_JPEG_BYTES_PER_SAMPLE);
    assert_int_equal(control->live, 1 + TZ_CU_JPEG_STATES);
    assert_true(find(device, &is));
    assert_int_equal(control->live, 1 + TZ_CU_JPEG_STATES);
    tz_device_close(device);
    device = open_with("");
    assert_false(find(device, &is));
    tz_device_close(device);
}

static void test_formats(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job j;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    begin_job(&j, device, 7, -1);
    cuda->keep_steps = true;
    assert_int_equal(run_job(&j), TZ_OK);
    assert_int_equal(check_job(&j), 7);
    assert_int_equal(count_calls("nvjpegDecodeBatched"), KINDS);
    assert_int_equal(control->decoded, 7);
    end_job(&j);
    tz_device_close(device);
}

/* The release before lacks the format of RGB as it is. */
static void test_old_release(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job j;
    control->is_old = true;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    assert_string_equal(is.name, "nvJPEG 12.4.0");
    begin_job(&j, device, 6, -1);
    assert_int_equal(run_job(&j), TZ_OK);
    assert_int_equal(check_job(&j), 4);
    assert_true(j.codestreams[RGB].failed);
    end_job(&j);
    tz_device_close(device);
}

/* Calls by the number of batches alone; the host waits for a state that is wanted again, and for
 * nothing else. */
static void test_counts(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 64, 65, 128, 129, 200};
    tz_codestream_codec is;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    cuda->keep_steps = true;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t batches = (counts[i] + TZ_CU_JPEG_BATCH - 1) / TZ_CU_JPEG_BATCH;
        job j;
        begin_job(&j, device, counts[i], GREY);
        const uint32_t before = count_calls("nvjpegDecodeBatched");
        const uint32_t waits = count_calls("cuStreamSynchronize");
        assert_int_equal(run_job(&j), TZ_OK);
        assert_int_equal(check_job(&j), counts[i]);
        assert_int_equal(count_calls("nvjpegDecodeBatched") - before, batches);
        const uint32_t again = count_calls("cuStreamSynchronize") - waits;
        assert_true(again <= 1 + (batches > TZ_CU_JPEG_STATES ? batches - TZ_CU_JPEG_STATES : 0));
        end_job(&j);
    }
    assert_int_equal(count_calls("nvjpegJpegStateCreate"), 0);
    assert_int_equal(count_calls("cuCtxSynchronize"), 0);
    tz_device_close(device);
}

/* Images that do not fit are left out, and the others are decoded. */
static void test_misfits(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job j;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    begin_job(&j, device, 12, -1);
    j.codestreams[0].width = SIDE - 1;
    j.codestreams[1].height = SIDE * 2;
    j.codestreams[2].size = 30;
    j.codestreams[3].samples = 3;    /* it has one */
    j.codestreams[4].to_rgb = false; /* it is subsampled */
    j.codestreams[5].sample_bytes = 2;
    j.codestreams[6].is_signed = true;
    j.codestreams[7].samples = 1; /* it has three */
    assert_int_equal(run_job(&j), TZ_OK);
    for (uint32_t i = 0; i < j.count; i++)
        assert_int_equal(j.codestreams[i].failed, i < 8);
    assert_int_equal(check_job(&j), 4);
    assert_int_equal(control->decoded, 4);
    end_job(&j);
    tz_device_close(device);
}

/* The library's own refusal is of one batch, and of no later one; a device that fails is reported.
 */
static void test_refusals(void **state)
{
    (void)state;
    static const char *const functions[] = {"nvjpegDecodeBatched", "nvjpegDecodeBatchedInitialize"};
    tz_codestream_codec is;
    for (size_t f = 0; f < 2; f++) {
        job j;
        tz_device *device = open_with(NVJPEG_FAKE);
        assert_true(find(device, &is));
        begin_job(&j, device, 100, GREY);
        cuda->fail_function = functions[f];
        cuda->fail_nth = 1;
        cuda->fail_code = BAD_JPEG;
        assert_int_equal(run_job(&j), TZ_OK);
        assert_int_equal(check_job(&j), 100 - TZ_CU_JPEG_BATCH);
        assert_true(j.codestreams[0].failed);
        assert_int_equal(run_job(&j), TZ_OK);
        assert_int_equal(check_job(&j), 100);
        end_job(&j);
        tz_device_close(device);
        cuda_fake_reset(cuda);
    }
}

static void fail_at(const char *function, uint64_t nth, int32_t code)
{
    cuda->fail_function = function;
    cuda->fail_nth = nth;
    cuda->fail_code = code;
}

/* An error of its own, while the device works, is the end of it and not of the device. */
static void test_it_misbehaves(void **state)
{
    (void)state;
    static const int32_t codes[] = {EXECUTION_FAILED, ARCH_MISMATCH, INTERNAL_ERROR};
    static const char *const functions[] = {"nvjpegDecodeBatched", "nvjpegDecodeBatchedInitialize"};
    tz_codestream_codec is;
    for (size_t c = 0; c < 6; c++) {
        job j;
        tz_device *device = open_with(NVJPEG_FAKE);
        assert_true(find(device, &is));
        begin_job(&j, device, 100, GREY);
        fail_at(functions[c % 2], 2, codes[c / 2]);
        assert_int_equal(run_job(&j), TZ_OK);
        assert_int_equal(check_job(&j), TZ_CU_JPEG_BATCH);
        assert_false(find(device, &is));
        assert_non_null(strstr(is.reason, "nvJPEG: nvjpegDecodeBatched"));
        cuda->keep_steps = true;
        assert_int_equal(run_job(&j), TZ_OK); /* and it is not asked again */
        assert_int_equal(check_job(&j), 0);
        assert_int_equal(count_calls("nvjpegDecodeBatched"), 0);
        end_job(&j);
        tz_device_close(device);
        cuda_fake_reset(cuda);
    }
}

/* The context is broken: that is the device's. */
static void test_the_device_fails(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job j;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    begin_job(&j, device, 10, GREY);
    fail_at("nvjpegDecodeBatched", 1, 700);
    assert_int_equal(run_job(&j), TZ_ERR_DEVICE);
    end_job(&j);
    tz_device_close(device);
    cuda_fake_reset(cuda);
}

/* It is tried before any tile is given to it. */
static void test_trial(void **state)
{
    (void)state;
    static const int32_t codes[] = {BAD_JPEG, EXECUTION_FAILED, ARCH_MISMATCH};
    tz_codestream_codec is;
    for (size_t c = 0; c < 3; c++) {
        tz_device *device = open_with(NVJPEG_FAKE);
        fail_at("nvjpegDecodeBatched", 1, codes[c]);
        assert_false(find(device, &is));
        assert_memory_equal(is.reason, "nvJPEG: ", 8);
        assert_int_equal(control->live, 0);
        assert_false(find(device, &is));
        tz_device_close(device);
        cuda_fake_reset(cuda);
    }
}

/* A library that cannot make its objects, or a context that cannot be entered, has a reason of its
 * own. The library is not asked again. One that lacks the first way of decoding has the second. */
static void test_it_cannot_begin(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        uint64_t nth, more;
    } failures[] = {{"nvjpegCreateEx", 1, 1},
                    {"nvjpegJpegStateCreate", 1, 0},
                    {"nvjpegJpegStateCreate", 2, 0},
                    {"cuStreamCreate", 1, 0},
                    {"cuCtxPushCurrent_v2", 1, 0}};
    tz_codestream_codec is;
    job j;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        tz_device *device = open_with(NVJPEG_FAKE);
        begin_job(&j, device, 3, GREY);
        fail_at(failures[i].function, failures[i].nth, ARCH_MISMATCH);
        cuda->fail_more = failures[i].more;
        assert_false(find(device, &is));
        assert_int_equal(cuda->fail_nth, 0);
        assert_string_equal(is.reason, "nvJPEG: it cannot begin on this device");
        assert_int_equal(control->live, 0);
        assert_false(find(device, &is));
        assert_string_equal(is.reason, "nvJPEG: it cannot begin on this device");
        assert_int_equal(run_job(&j), TZ_OK);
        assert_int_equal(check_job(&j), 0);
        end_job(&j);
        tz_device_close(device);
        cuda_fake_reset(cuda);
    }
    tz_device *device = open_with(NVJPEG_FAKE);
    fail_at("nvjpegCreateEx", 1, ARCH_MISMATCH);
    assert_true(find(device, &is));
    assert_int_equal(cuda->fail_nth, 0);
    tz_device_close(device);
    cuda_fake_reset(cuda);
}

/* One that repeats chroma, whatever its options say, gets no images with subsampled chroma. */
static void test_chroma_that_is_repeated(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job j;
    control->repeats = true;
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    begin_job(&j, device, 6, -1);
    assert_int_equal(run_job(&j), TZ_OK);
    assert_int_equal(check_job(&j), 4);
    assert_true(j.codestreams[YCBCR].failed);
    end_job(&j);
    tz_device_close(device);
}

/* Every call fails in turn, in three ways: nothing leaks, and pixels that are said to be right are.
 */
static void test_every_call_fails(void **state)
{
    (void)state;
    static const int32_t codes[] = {2, EXECUTION_FAILED, 700};
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++) {
        for (uint64_t n = 1;; n++) {
            tz_codestream_codec is;
            job j;
            cuda_fake_reset(cuda);
            tz_device *device = open_with(NVJPEG_FAKE);
            begin_job(&j, device, 9, -1);
            cuda->fail_nth = n;
            cuda->fail_code = codes[c];
            if (find(device, &is) && run_job(&j) == TZ_OK)
                (void)check_job(&j);
            const bool failed = cuda->fail_nth == 0;
            cuda->fail_nth = 0;
            end_job(&j);
            tz_device_close(device);
            if (control->misuse[0] || control->live)
                fail_msg("call %u answers %d: %s", (unsigned)n, codes[c], control->misuse);
            if (!failed)
                break;
        }
        cuda_fake_reset(cuda);
        assert_int_equal(cuda->live, 0);
    }
}

static void *run_many(void *state)
{
    job *j = state;
    for (int i = 0; i < 8; i++) {
        for (uint32_t k = 0; k < j->count; k++)
            j->codestreams[k].failed = true;
        if (run_job(j) != TZ_OK)
            return NULL;
    }
    return state;
}

/* Two threads with a queue each. */
static void test_threads(void **state)
{
    (void)state;
    tz_codestream_codec is;
    job jobs[2];
    pthread_t threads[2];
    tz_device *device = open_with(NVJPEG_FAKE);
    assert_true(find(device, &is));
    for (uint32_t i = 0; i < 2; i++) {
        begin_job(&jobs[i], device, 10 + i, -1);
        jobs[i].queue = i;
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &jobs[i]), 0);
    for (uint32_t i = 0; i < 2; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
        assert_int_equal(check_job(&jobs[i]), 10 + i);
        end_job(&jobs[i]);
    }
    tz_device_close(device);
}

int main(void)
{
    cuda = cuda_fake_load();
    control = codestreams_fake_load(NVJPEG_FAKE);
    const struct CMUnitTest tests[] = {JPEG(test_find),
                                       JPEG(test_formats),
                                       JPEG(test_old_release),
                                       JPEG(test_counts),
                                       JPEG(test_misfits),
                                       JPEG(test_refusals),
                                       JPEG(test_it_misbehaves),
                                       JPEG(test_the_device_fails),
                                       JPEG(test_trial),
                                       JPEG(test_it_cannot_begin),
                                       JPEG(test_chroma_that_is_repeated),
                                       JPEG(test_threads),
                                       JPEG(test_every_call_fails)};
    return cmocka_run_group_tests(tests, make_streams, free_streams);
}
