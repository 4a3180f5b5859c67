/* SPDX-License-Identifier: Apache-2.0
 * One tile of one of the codecs that decode embedded streams. The last four bytes of an input
 * choose the format of the tile; what is before them is the stream.
 *
 *     width - 1, height - 1, kind (the target says what it means), size of a second part
 *
 * Every tile is decoded twice, over different poisons: what comes out may not depend on what was in
 * the buffer. */
#ifndef FUZZ_CODEC_LOSSY_H
#define FUZZ_CODEC_LOSSY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "codec/codec.h"

typedef struct lossy_input {
    const uint8_t *data;
    size_t size;
    uint8_t width, height; /* less 1 */
    uint8_t kind;
    uint8_t split;
} lossy_input;

static int lossy_begin(lossy_input *input, const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    const uint8_t *tail = data + size - 4;
    *input = (lossy_input){data, size - 4, tail[0], tail[1], tail[2], tail[3]};
    return 1;
}

static void lossy_check(int holds)
{
    if (!holds)
        abort();
}

static tz_result lossy_decode(const tz_decoder *codec, void *state, const tz_tile_format *format,
                              const lossy_input *input, uint8_t poison, uint8_t **out)
{
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    limits.max_codec_bytes = 16u << 20;
    tz_error err = {.result = TZ_OK};
    tz_warnings warnings = {0};
    tz_context ctx = {
        .name = "fuzz", .limits = &limits, .err = &err, .warnings = &warnings, .ifd = -1};
    tz_codec_call call = {&ctx, tz_at_tile(0, false, 0, 0)};
    size_t size = tz_tile_bytes(format) + TZ_CODEC_SLACK;
    uint8_t *in = malloc(input->size + TZ_CODEC_SLACK);
    *out = malloc(size);
    if (!in || !*out)
        abort();
    memcpy(in, input->data, input->size);
    memset(in + input->size, poison ^ 0x55, TZ_CODEC_SLACK);
    memset(*out, poison, size);
    tz_result result =
        codec->decode(state, format, in, input->size, *out, tz_tile_row_bytes(format), &call);
    lossy_check(result != TZ_ERR_INTERNAL);
    lossy_check(result == TZ_OK || (err.result == result && err.message[0] != '\0'));
    tz_warnings_deinit(&warnings);
    free(in);
    return result;
}

/* state: kept from call to call, as a thread would. */
static void lossy_run(const tz_decoder *codec, void *state, const tz_tile_format *format,
                      const lossy_input *input)
{
    uint8_t *first, *second;
    tz_result result = lossy_decode(codec, state, format, input, 0x11, &first);
    lossy_check(lossy_decode(codec, state, format, input, 0xEE, &second) == result);
    lossy_check(result != TZ_OK || memcmp(first, second, tz_tile_bytes(format)) == 0);
    free(first);
    free(second);
}

/* The state of one codec for the whole run. */
static void *lossy_state(const tz_decoder *codec)
{
    static void *state;
    if (!state)
        state = calloc(1, codec->state_size > 0 ? codec->state_size : 1);
    if (!state)
        abort();
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
