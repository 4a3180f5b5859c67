/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/codestream.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { GARBAGE = 0xC3 };

uint8_t *picture_rows(const tz_tile_format *format)
{
    return calloc(1, tz_tile_bytes(format) + TZ_CODEC_SLACK);
}

uint8_t *picture_decode(const tz_decoder *codec, const tz_tile_format *format, const uint8_t *data,
                        size_t size)
{
    tz_error failed;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    const tz_context ctx = {.err = &failed, .limits = &limits, .ifd = -1};
    const tz_codec_call call = {&ctx, tz_no_location()};
    uint8_t *rows = picture_rows(format);
    uint8_t *input = calloc(1, size + TZ_CODEC_SLACK);
    void *state = calloc(1, codec->state_size + 1);
    memcpy(input, data, size);
    tz_result result = codec->init ? codec->init(state, &ctx) : TZ_OK;
    if (result == TZ_OK)
        result = codec->decode(state, format, input, size, rows, tz_tile_row_bytes(format), &call);
    if (codec->deinit)
        codec->deinit(state);
    free(state);
    free(input);
    if (result == TZ_OK)
        return rows;
    free(rows);
    return NULL;
}

uint8_t *picture_encode(const tz_encoder *encoder, const tz_tile_format *format,
                        const tz_encode_options *choice, uint8_t *rows, size_t *size)
{
    tz_error failed;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    const tz_context ctx = {.err = &failed, .limits = &limits, .ifd = -1};
    const tz_codec_call call = {&ctx, tz_no_location()};
    tz_encode_options chosen = *choice;
    tz_tile_format whole = *format; /* any number of rows will do, as of a last strip */
    uint8_t *out = NULL;
    void *state = calloc(1, encoder->state_size + 1);
    whole.height = (whole.height + 15) / 16 * 16;
    tz_result result = tz_encoder_check(encoder, &whole, &chosen, &ctx);
    if (result == TZ_OK && encoder->init)
        result = encoder->init(state, &whole, &chosen, &ctx);
    if (result == TZ_OK) {
        out = malloc(encoder->bound(&whole, &chosen));
        result = encoder->encode(state, format, &chosen, rows, out, size, &call);
    }
    if (encoder->deinit)
        encoder->deinit(state);
    free(state);
    free(rows);
    if (result == TZ_OK)
        return out;
    free(out);
    return NULL;
}

/* ---- planes ---- */

static size_t plane_samples(const picture_planes *planes, const tz_tile_format *format)
{
    return planes->interleaved ? format->samples : 1;
}

bool picture_fits(const picture_planes *planes, const tz_tile_format *format)
{
    const size_t row = tz_tile_columns(format) * plane_samples(planes, format) * (format->bits / 8);
    for (size_t i = 0; i < (planes->interleaved ? 1u : format->samples); i++) {
        if (!planes->at[i] || planes->pitch[i] < row)
            return false;
    }
    return true;
}

/* One row of one plane, to or from packed rows. */
static void move(uint8_t *plane, const tz_tile_format *format, size_t samples, size_t first,
                 uint8_t *row, bool put)
{
    const size_t size = format->bits / 8;
    for (size_t x = 0; x < tz_tile_columns(format); x++) {
        for (size_t s = 0; s < samples; s++) {
            uint8_t *packed = row + (x * format->samples + first + s) * size;
            uint8_t *planar = plane + (x * samples + s) * size;
            memcpy(put ? planar : packed, put ? packed : planar, size);
        }
    }
}

static bool move_all(cuda_vendor_work *work, const picture_planes *planes,
                     const tz_tile_format *format, uint8_t *rows, bool put)
{
    const size_t samples = plane_samples(planes, format);
    const size_t row = tz_tile_columns(format) * samples * (format->bits / 8);
    for (size_t i = 0; i < format->samples / samples; i++) {
        const size_t size = (tz_tile_rows(format) - 1u) * planes->pitch[i] + row;
        uint8_t *plane = cuda_vendor_find()->reach(work, planes->at[i], size);
        if (!plane)
            return false;
        for (size_t y = 0; y < tz_tile_rows(format); y++) {
            if (rows)
                move(plane + y * planes->pitch[i], format, samples, i,
                     rows + y * tz_tile_row_bytes(format), put);
            else
                memset(plane + y * planes->pitch[i], GARBAGE, row);
        }
    }
    return true;
}

bool picture_put(cuda_vendor_work *work, const picture_planes *to, const tz_tile_format *format,
                 const uint8_t *rows)
{
    return move_all(work, to, format, (uint8_t *)(uintptr_t)rows, true);
}

bool picture_get(cuda_vendor_work *work, const picture_planes *from, const tz_tile_format *format,
                 uint8_t *rows)
{
    return move_all(work, from, format, rows, false);
}
