/* SPDX-License-Identifier: Apache-2.0
 * Loads the nvCOMP that is named and prints what it answers through device/nvidia/nvcomp.h, a line
 * each: the question and the answer, which is numbers or an error. No GPU is needed to ask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvidia/nvcomp.h"
#include "device/nvidia/nvidia_libraries.h"

static tz_error failed;
static const tz_context ctx = {.err = &failed, .ifd = -1};
static tz_nvcomp nvcomp;

static const char *const codec_names[] = {"deflate", "zstd", "lz4"};
static const char *const ways[] = {"decompress", "compress"};
/* multiples of 1 KiB, for which what is known of temporary sizes holds, and others */
static const size_t sizes[] = {1024, 4096, 65536, 66560, 131072, 262144, 524288, 1048576, 4194304};
static const size_t odd_sizes[] = {1, 255, 256, 65791, 65792, 1000003};
static const size_t counts[] = {1, 2, 3, 64, 1024};
#define LENGTH(list) (sizeof(list) / sizeof(list)[0])

/* "unsupported 18", "device 1000": the code is what the message ends with. */
static void print_error(tz_result result)
{
    const char *code = strrchr(failed.message, '(');
    printf("%s %d\n", result == TZ_ERR_UNSUPPORTED ? "unsupported" : "device",
           code ? atoi(code + 1) : -1);
}

static void print_size(tz_result result, size_t size)
{
    if (result == TZ_OK)
        printf("%zu\n", size);
    else
        print_error(result);
}

static void ask_alignments(tz_nvcomp_codec codec, bool compress, int32_t algorithm)
{
    const tz_nvcomp_batch batch = {.codec = codec, .algorithm = algorithm};
    tz_nvcomp_alignments is;
    printf("align %s %s %d: ", ways[compress], codec_names[codec], (int)algorithm);
    const tz_result result = tz_nvcomp_align(&nvcomp, &batch, compress, &is, &ctx);
    if (result == TZ_OK)
        printf("%zu %zu %zu\n", is.input, is.output, is.temp);
    else
        print_error(result);
}

static void ask_output(tz_nvcomp_codec codec, int32_t algorithm, size_t size)
{
    const tz_nvcomp_batch batch = {.codec = codec, .algorithm = algorithm, .max_chunk = size};
    size_t is = 0;
    printf("output %s %d %zu: ", codec_names[codec], (int)algorithm, size);
    const tz_result result = tz_nvcomp_max_output(&nvcomp, &batch, &is, &ctx);
    print_size(result, is);
}

static void ask_temp(tz_nvcomp_codec codec, bool compress, int32_t algorithm, size_t count,
                     size_t size)
{
    const tz_nvcomp_batch batch = {.codec = codec,
                                   .algorithm = algorithm,
                                   .count = count,
                                   .max_chunk = size,
                                   .total = count * size};
    size_t is = 0;
    printf("temp %s %s %d %zu %zu: ", ways[compress], codec_names[codec], (int)algorithm, count,
           size);
    const tz_result result = tz_nvcomp_temp_bytes(&nvcomp, &batch, compress, NULL, &is, &ctx);
    print_size(result, is);
}

static void ask_codec(tz_nvcomp_codec codec, int32_t algorithm)
{
    ask_alignments(codec, true, algorithm);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        ask_output(codec, algorithm, sizes[i]);
    for (size_t i = 0; i < LENGTH(odd_sizes); i++)
        ask_output(codec, algorithm, odd_sizes[i]);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t j = 0; j < LENGTH(counts); j++)
            ask_temp(codec, true, algorithm, counts[j], sizes[i]);
}

static void ask_limits(tz_nvcomp_codec codec)
{
    const size_t most = tz_nvcomp_max_chunk(&nvcomp, codec, true);
    printf("limit compress %s: %zu\n", codec_names[codec], most);
    printf("limit decompress %s: %zu\n", codec_names[codec],
           tz_nvcomp_max_chunk(&nvcomp, codec, false));
    ask_output(codec, 1, most);
    ask_output(codec, 1, most + 1);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t j = 0; j < LENGTH(counts); j++)
            ask_temp(codec, false, 1, counts[j], sizes[i]);
}

/* Calls of which at least one thing is wrong: that there is no device here. */
static void call(const char *what, const tz_nvcomp_batch *batch, bool compress)
{
    printf("call %s %s %s: ", ways[compress], codec_names[batch->codec], what);
    const tz_result result = compress ? tz_nvcomp_compress(&nvcomp, batch, NULL, &ctx)
                                      : tz_nvcomp_decompress(&nvcomp, batch, NULL, &ctx);
    if (result == TZ_OK)
        printf("ok\n");
    else
        print_error(result);
}

static void ask_calls(tz_nvcomp_codec codec, bool compress)
{
    static uint64_t memory[8192];
    const uint64_t at = (uint64_t)(uintptr_t)memory;
    const tz_nvcomp_batch right = {.codec = codec,
                                   .algorithm = 1,
                                   .count = 1,
                                   .max_chunk = 4096,
                                   .total = 4096,
                                   .in = at,
                                   .in_sizes = at + 64,
                                   .out = at + 128,
                                   .capacity = at + 192,
                                   .out_sizes = at + 256,
                                   .statuses = at + 320,
                                   .temp = at + 384,
                                   .temp_bytes = 32768};
    call("without-device", &right, compress);
    tz_nvcomp_batch wrong = right;
    wrong.in = 0;
    call("without-input", &wrong, compress);
    wrong = right;
    wrong.out_sizes = 0;
    call("without-sizes", &wrong, compress);
    wrong = right;
    wrong.statuses = 0;
    call("without-statuses", &wrong, compress);
    wrong = right;
    wrong.temp++;
    call("odd-temp", &wrong, compress);
    wrong = right;
    wrong.max_chunk = tz_nvcomp_max_chunk(&nvcomp, codec, compress) + 1;
    call("too-large", &wrong, compress);
}

int main(int argc, char **argv)
{
    char reason[256];
    if (argc != 2)
        return 2;
    if (!tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_NVCOMP], argv[1][0] ? argv[1] : NULL,
                        &nvcomp, &nvcomp.info, reason, sizeof reason)) {
        printf("refused: %s\n", reason);
        return 0;
    }
    printf("path: %s\n", nvcomp.info.path);
    printf("version: %u\n", nvcomp.version);
    for (tz_nvcomp_codec codec = 0; codec < TZ_NVCOMP_CODEC_COUNT; codec++) {
        ask_alignments(codec, false, 1);
        for (int32_t algorithm = 0; algorithm < (codec == TZ_NVCOMP_DEFLATE ? 6 : 1); algorithm++)
            ask_codec(codec, algorithm);
        ask_limits(codec);
        ask_calls(codec, false);
        ask_calls(codec, true);
    }
    ask_codec(TZ_NVCOMP_DEFLATE, -1);
    ask_codec(TZ_NVCOMP_DEFLATE, 6);
    return 0;
}
