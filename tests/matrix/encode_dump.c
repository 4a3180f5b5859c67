/* SPDX-License-Identifier: Apache-2.0
 * Tiles that the encoders make, for check_encoders.py: reads from stdin lines of "COMPRESSION LEVEL
 * WIDTH HEIGHT SAMPLES BITS", each followed by the rows of one tile, and prints "SIZE" and that
 * many bytes, or "error MESSAGE". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "codec/codec.h"

static tz_error err;

static void *check_alloc(size_t size)
{
    void *block = calloc(size > 0 ? size : 1, 1);
    if (!block)
        abort();
    return block;
}

/* The tile to out, which has room for it by then. */
static tz_result encode_tile(const tz_encoder *encoder, const tz_tile_format *format,
                             const tz_encode_options *choice, uint8_t *rows, uint8_t **out,
                             size_t *size, const tz_context *ctx)
{
    void *state = check_alloc(encoder->state_size);
    tz_codec_call call = {ctx, tz_at_tile(0, false, 0, 0)};
    *out = check_alloc(encoder->bound(format, choice));
    tz_result result = encoder->init ? encoder->init(state, format, choice, ctx) : TZ_OK;
    if (result == TZ_OK)
        result = encoder->encode(state, format, choice, rows, *out, size, &call);
    if (encoder->deinit)
        encoder->deinit(state);
    free(state);
    return result;
}

static tz_result dump_tile(const tz_tile_format *format, int32_t level, uint8_t *rows,
                           const tz_context *ctx)
{
    const tz_encoder *encoder;
    tz_encode_options choice = {.level = level};
    uint8_t *out;
    size_t size;
    TZ_TRY(tz_encoder_find(format->compression, ctx, &encoder));
    TZ_TRY(tz_encoder_check(encoder, format, &choice, ctx));
    tz_result result = encode_tile(encoder, format, &choice, rows, &out, &size, ctx);
    if (result == TZ_OK) {
        printf("%zu\n", size);
        fwrite(out, 1, size, stdout);
    }
    free(out);
    return result;
}

int main(void)
{
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    tz_context ctx = {.name = "tile", .limits = &limits, .err = &err, .ifd = -1};
    unsigned compression, width, height, samples, bits;
    int level;
    char line[200];
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%u %d %u %u %u %u", &compression, &level, &width, &height, &samples,
                   &bits) != 6)
            return 2;
        tz_tile_format format = {.width = width,
                                 .height = height,
                                 .samples = (uint16_t)samples,
                                 .bits = (uint16_t)bits,
                                 .sample_format = 1,
                                 .compression = (uint16_t)compression,
                                 .fill_order = 1};
        size_t size = tz_tile_bytes(&format);
        uint8_t *rows = check_alloc(size + TZ_CODEC_SLACK);
        if (fread(rows, 1, size, stdin) != size)
            return 2;
        if (dump_tile(&format, level, rows, &ctx) != TZ_OK)
            printf("error %s\n", err.message);
        fflush(stdout);
        free(rows);
    }
    return 0;
}
