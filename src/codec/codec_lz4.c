/* SPDX-License-Identifier: Apache-2.0
 * LZ4 as xarray-spatial writes it: one LZ4 frame per tile. The frame is read here, checksums
 * included, and liblz4 decodes its blocks straight into the tile, where linked blocks find what
 * they refer to: no memory beyond the tile is needed. Frames may follow each other and skippable
 * ones may stand between them; together they must make exactly the bytes of the tile. Other bytes
 * after the last frame are ignored with a warning. A bare LZ4 block without a frame is refused. */
#include <assert.h>
#include <lz4.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/load.h"
#include "codec/xxhash32.h"

#define FRAME_MAGIC     UINT32_C(0x184D2204)
#define SKIPPABLE_MAGIC UINT32_C(0x184D2A50) /* and the next 15 */
#define STORED          UINT32_C(0x80000000) /* of a block's size: not compressed */

enum {
    SKIPPABLE_HEADER = 8,
    LONGEST_DISTANCE = 65536, /* how far linked blocks look back */
    /* bits of the frame's first byte */
    HAS_DICTIONARY = 1,
    RESERVED = 2,
    HAS_CONTENT_CHECKSUM = 4,
    HAS_CONTENT_SIZE = 8,
    HAS_BLOCK_CHECKSUMS = 16,
    INDEPENDENT = 32,
    VERSION = 0xc0,
    VERSION_1 = 0x40
};

/* A tile at work. */
typedef struct lz4_run {
    const uint8_t *in; /* what was not read yet */
    size_t left;
    uint8_t *out;
    size_t size;
    size_t made;
    size_t frame_start; /* in the output */
    const tz_codec_call *call;
} lz4_run;

typedef struct lz4_frame {
    unsigned flags;
    size_t max_block;
    uint64_t content; /* bytes that the frame makes, with HAS_CONTENT_SIZE */
} lz4_frame;

static void skip(lz4_run *run, size_t size)
{
    run->in += size;
    run->left -= size;
}

static tz_result fail_cut(const lz4_run *run)
{
    return tz_codec_fail(run->call, "LZ4 data ends too early");
}

/* The frame's header: magic, flags, block size, content size and a byte of checksum. */
static tz_result read_header(lz4_run *run, lz4_frame *frame)
{
    static const uint8_t block_size_bits[] = {0, 0, 0, 0, 16, 18, 20, 22};
    if (run->left < 7)
        return fail_cut(run);
    frame->flags = run->in[4];
    unsigned block = run->in[5];
    size_t size = 7 + ((frame->flags & HAS_CONTENT_SIZE) ? 8u : 0) +
                  ((frame->flags & HAS_DICTIONARY) ? 4u : 0);
    if (run->left < size)
        return fail_cut(run);
    if (run->in[size - 1] != (tz_xxhash32(run->in + 4, size - 5) >> 8 & 0xff))
        return tz_codec_fail(run->call, "the checksum of the LZ4 frame header is wrong");
    if ((frame->flags & (VERSION | RESERVED)) != VERSION_1 || (block & 0x8f) != 0 || block < 0x40)
        return tz_codec_fail(run->call, "an LZ4 frame of an unknown kind: flags 0x%02x 0x%02x",
                             frame->flags, block);
    if (frame->flags & HAS_DICTIONARY)
        return tz_codec_fail(run->call, "the LZ4 frame needs dictionary %u",
                             (unsigned)tz_load_le32(run->in + size - 5));
    frame->max_block = (size_t)1 << block_size_bits[block >> 4];
    if (frame->flags & HAS_CONTENT_SIZE)
        frame->content = tz_load_le64(run->in + 6);
    skip(run, size);
    return TZ_OK;
}

/* One block's bytes into the tile. */
static tz_result decode_block(lz4_run *run, const lz4_frame *frame, size_t size, bool stored)
{
    uint8_t *to = run->out + run->made;
    size_t room = run->size - run->made;
    if (room > frame->max_block)
        room = frame->max_block;
    if (stored) {
        if (size > room)
            return tz_codec_fail(run->call, "LZ4 data makes more than the %zu bytes of the tile",
                                 run->size);
        memcpy(to, run->in, size);
        run->made += size;
        return TZ_OK;
    }
    size_t before = (frame->flags & INDEPENDENT) ? 0 : run->made - run->frame_start;
    if (before > LONGEST_DISTANCE)
        before = LONGEST_DISTANCE;
    int made = LZ4_decompress_safe_usingDict((const char *)run->in, (char *)to, (int)size,
                                             (int)room, (const char *)to - before, (int)before);
    if (made < 0)
        return tz_codec_fail(run->call,
                             "LZ4 data is damaged, or makes more than the %zu bytes of "
                             "the tile",
                             run->size);
    run->made += (size_t)made;
    return TZ_OK;
}

/* The next block; *last when it is the mark of the frame's end. */
static tz_result read_block(lz4_run *run, const lz4_frame *frame, bool *last)
{
    if (run->left < 4)
        return fail_cut(run);
    uint32_t word = tz_load_le32(run->in);
    size_t size = word & ~STORED;
    skip(run, 4);
    *last = word == 0;
    if (*last)
        return TZ_OK;
    if (size > frame->max_block)
        return tz_codec_fail_size(run->call, frame->max_block, size, "an LZ4 block is too large");
    size_t checksum_size = (frame->flags & HAS_BLOCK_CHECKSUMS) ? 4 : 0;
    if (run->left < checksum_size || run->left - checksum_size < size)
        return fail_cut(run);
    if (checksum_size && tz_load_le32(run->in + size) != tz_xxhash32(run->in, size))
        return tz_codec_fail(run->call, "the checksum of an LZ4 block is wrong");
    TZ_TRY(decode_block(run, frame, size, (word & STORED) != 0));
    skip(run, size + checksum_size);
    return TZ_OK;
}

static tz_result end_frame(lz4_run *run, const lz4_frame *frame)
{
    size_t made = run->made - run->frame_start;
    if ((frame->flags & HAS_CONTENT_SIZE) && frame->content != made)
        return tz_codec_fail_size(run->call, frame->content, made,
                                  "an LZ4 frame does not make what it says");
    if (!(frame->flags & HAS_CONTENT_CHECKSUM))
        return TZ_OK;
    if (run->left < 4)
        return fail_cut(run);
    if (tz_load_le32(run->in) != tz_xxhash32(run->out + run->frame_start, made))
        return tz_codec_fail(run->call, "the checksum of the decoded LZ4 data is wrong");
    skip(run, 4);
    return TZ_OK;
}

static tz_result decode_frame(lz4_run *run)
{
    lz4_frame frame = {0};
    TZ_TRY(read_header(run, &frame));
    run->frame_start = run->made;
    if ((frame.flags & HAS_CONTENT_SIZE) && frame.content > run->size - run->made)
        return tz_codec_fail_size(run->call, run->size - run->made, frame.content,
                                  "an LZ4 frame says it makes more than the tile needs");
    bool last = false;
    while (!last)
        TZ_TRY(read_block(run, &frame, &last));
    return end_frame(run, &frame);
}

/* All frames that there are, until something else comes. */
static tz_result decode_frames(lz4_run *run)
{
    while (run->left >= 4) {
        uint32_t magic = tz_load_le32(run->in);
        if (magic == FRAME_MAGIC) {
            TZ_TRY(decode_frame(run));
        } else if ((magic & ~UINT32_C(15)) == SKIPPABLE_MAGIC && run->left >= SKIPPABLE_HEADER &&
                   tz_load_le32(run->in + 4) <= run->left - SKIPPABLE_HEADER) {
            skip(run, SKIPPABLE_HEADER + (size_t)tz_load_le32(run->in + 4));
        } else {
            break;
        }
    }
    return TZ_OK;
}

static tz_result lz4_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state;
    (void)stride;
    assert(stride == tz_tile_row_bytes(format));
    lz4_run run = {
        .in = in, .left = in_size, .out = out, .size = tz_tile_bytes(format), .call = call};
    TZ_TRY(decode_frames(&run));
    if (run.left == in_size)
        return tz_codec_fail(call, "the tile does not begin with an LZ4 frame");
    if (run.made != run.size)
        return tz_codec_fail_size(call, run.size, run.made, "LZ4 data makes too few bytes");
    return tz_codec_end(call, in_size - run.left, in_size);
}

static const uint16_t lz4_compressions[] = {50004, 0};

const tz_codec tz_codec_lz4 = {
    .name = "lz4",
    .library = "liblz4",
    .compressions = lz4_compressions,
    .flags = TZ_CODEC_EXACT,
    .decode = lz4_decode,
};
