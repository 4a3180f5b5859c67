/* SPDX-License-Identifier: Apache-2.0
 * Lossless encoders: the first four bytes of the input choose the tile, the level, and one encoder
 * or all, the rest is the tile's rows, again and again. It is encoded twice, with a state that has
 * encoded other tiles and with a new one: both must make the same bytes within the bound, of which
 * the decoder makes the rows. The kernels that encode on devices, as the CPU runs them, must make
 * the same bytes, and read and write nothing beside. */
#include "codec/codec.h"
#include "codec/deflate_fast.h"
#include "codec_target.h"
#include "kernels/deflate_encode.h"
#include "kernels/deflate_encode_work_group.h"
#include "kernels/packbits_encode.h"

typedef struct encoding {
    const tz_encoder *encoder;
    tz_tile_format format;
    tz_encode_options choice;
    const uint8_t *rows;
} encoding;

enum { LEVELS = 24 }; /* from -1, the fast one, to 22 */

/* Encoders that have fewer levels get their default. */
static bool choose(encoding *e, uint8_t wish)
{
    e->choice = (tz_encode_options){.level = wish % LEVELS - 1};
    if (e->encoder->resolve_options && e->encoder->resolve_options(&e->format, &e->choice)) {
        e->choice.level = 0;
        target_check(e->encoder->resolve_options(&e->format, &e->choice) == NULL);
    }
    return !e->encoder->unsupported_reason ||
           !e->encoder->unsupported_reason(&e->format, &e->choice);
}

static uint8_t *encode(const encoding *e, void *state, size_t *size)
{
    size_t in_size = tz_tile_bytes(&e->format);
    size_t bound = e->encoder->bound(&e->format, &e->choice);
    uint8_t *in = target_alloc(in_size + TZ_CODEC_SLACK);
    uint8_t *out = target_alloc(bound + TZ_CODEC_SLACK); /* slack for the decoder, later */
    memcpy(in, e->rows, in_size);
    memset(out + bound, 0xC3, TZ_CODEC_SLACK);
    tz_error err = {.result = TZ_OK};
    tz_context ctx = {.name = "fuzz", .err = &err, .ifd = -1};
    tz_codec_call call = {&ctx, tz_at_tile(0, false, 1, 2)};
    target_check(e->encoder->encode(state, &e->format, &e->choice, in, out, size, &call) == TZ_OK);
    target_check(*size <= bound);
    for (size_t i = 0; i < TZ_CODEC_SLACK; i++)
        target_check(out[bound + i] == 0xC3);
    free(in);
    return out;
}

static void *open_state(const encoding *e)
{
    tz_context ctx = {.name = "fuzz", .ifd = -1};
    void *state = target_alloc(e->encoder->state_size);
    if (e->encoder->init)
        target_check(e->encoder->init(state, &e->format, &e->choice, &ctx) == TZ_OK);
    return state;
}

static void close_state(const encoding *e, void *state)
{
    if (e->encoder->deinit)
        e->encoder->deinit(state);
    free(state);
}

/* Another tile, so that the state is not new. */
static void use_state(const encoding *e, void *state)
{
    encoding other = *e;
    size_t size = tz_tile_bytes(&e->format);
    uint8_t *rows = target_alloc(size);
    for (size_t i = 0; i < size; i++)
        rows[i] = (uint8_t)(i * i >> 5);
    other.rows = rows;
    free(encode(&other, state, &size));
    free(rows);
}

static void check_decoded(const encoding *e, const uint8_t *in, size_t in_size)
{
    const tz_decoder *codec = NULL;
    tz_context ctx = {.name = "fuzz", .ifd = -1};
    target decoder;
    uint8_t *out;
    target_check(tz_decoder_find(e->format.compression, &ctx, &codec) == TZ_OK);
    target_open(&decoder, codec);
    decoder.limits.max_codec_bytes = UINT64_C(1) << 30;
    size_t row = tz_tile_row_bytes(&e->format);
    target_check(target_decode(&decoder, &e->format, in, in_size, row, 0x5A, &out) == TZ_OK);
    target_check(decoder.warnings.count == 0);
    target_check(memcmp(out, e->rows, tz_tile_bytes(&e->format)) == 0);
    free(out);
    target_close(&decoder);
}

/* By one item and by a group; 0: the kernels leave the tile to the CPU. */
typedef uint32_t kernel_encode(const encoding *e, const uint8_t *in, uint32_t size, uint8_t *out,
                               bool by_work_group);

static uint32_t kernel_deflate(const encoding *e, const uint8_t *in, uint32_t size, uint8_t *out,
                               bool by_work_group)
{
    static tz_estimate_scratch choice;
    static tz_deflate_scratch work_item;
    static tz_deflate_shared work_group;
    uint32_t answer[2] = {0, 0};
    const bool is_left = tz_estimate_prefers_matches_work_group(in, size, &choice, answer) != 0;
    target_check(is_left == tz_deflate_wants_matches(in, size));
    if (is_left || e->choice.level != TZ_EFFORT_FAST)
        return 0;
    return by_work_group ? tz_deflate_tile_work_group(in, size, out, &work_group)
                         : tz_deflate_tile(in, size, out, &work_item);
}

static uint32_t kernel_packbits(const encoding *e, const uint8_t *in, uint32_t size, uint8_t *out,
                                bool by_work_group)
{
    const uint32_t row = (uint32_t)tz_tile_row_bytes(&e->format);
    uint64_t sums[TZ_SCAN_WORDS];
    return by_work_group ? tz_packbits_encode_tile_work_group(in, size, row, out, sums)
                         : tz_packbits_encode_tile(in, size, row, out);
}

static void check_kernel(const encoding *e, kernel_encode *kernel, const uint8_t *expected,
                         size_t expected_size)
{
    const size_t size = tz_tile_bytes(&e->format);
    const size_t bound = e->encoder->bound(&e->format, &e->choice);
    uint8_t *in = target_alloc(size), *out = target_alloc(bound);
    memcpy(in, e->rows, size);
    for (int by_work_group = 0; by_work_group < 2; by_work_group++) {
        memset(out, 0x5A, bound);
        const uint32_t made = kernel(e, in, (uint32_t)size, out, by_work_group);
        target_check(made == 0 || made == expected_size);
        target_check(memcmp(out, expected, made) == 0);
    }
    free(out);
    free(in);
}

static void check_encoder(encoding *e)
{
    size_t size, again;
    void *fresh = open_state(e), *used = open_state(e);
    use_state(e, used);
    uint8_t *first = encode(e, fresh, &size);
    uint8_t *second = encode(e, used, &again);
    target_check(size == again && memcmp(first, second, size) == 0);
    check_decoded(e, first, size);
    if (e->format.compression == 8)
        check_kernel(e, kernel_deflate, first, size);
    if (e->format.compression == 32773)
        check_kernel(e, kernel_packbits, first, size);
    free(first);
    free(second);
    close_state(e, fresh);
    close_state(e, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= TARGET_HEAD)
        return 0;
    encoding e = {.format = target_format(&tz_decoder_none, data)};
    size_t tile = tz_tile_bytes(&e.format);
    uint8_t *rows = target_alloc(tile);
    for (size_t i = 0; i < tile; i++)
        rows[i] = data[TARGET_HEAD + i % (size - TARGET_HEAD)];
    e.rows = rows;
    unsigned which = data[3] / LEVELS; /* 0: all */
    for (unsigned i = 0, index = 0; i < TZ_CODEC_COUNT; i++) {
        if (!tz_codecs[i].encoder)
            continue;
        index++;
        e.encoder = tz_codecs[i].encoder;
        e.format.compression = tz_codecs[i].infos[0].compression;
        if ((which == 0 || which == index) && !e.encoder->lossy && choose(&e, data[3]))
            check_encoder(&e);
    }
    free(rows);
    return 0;
}
