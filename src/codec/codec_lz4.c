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
#include "codec/unaligned.h"
#include "codec/xxhash32.h"

#define FRAME_MAGIC     UINT32_C(0x184D2204)
#define SKIPPABLE_MAGIC UINT32_C(0x184D2A50) /* and the next 15 */
#define STORED          UINT32_C(0x80000000) /* of a block's size: not compressed */

enum {
    SKIPPABLE_HEADER = 8,
    MAX_DISTANCE = 65536, /* how far linked blocks look back */
    /* bits of the frame's first byte */
    HAS_DICTIONARY = 1,
    RESERVED_BIT = 2,
    HAS_CONTENT_CHECKSUM = 4,
    HAS_CONTENT_SIZE = 8,
    HAS_BLOCK_CHECKSUMS = 16,
    INDEPENDENT = 32,
    VERSION_MASK = 0xc0,
    VERSION_1 = 0x40
};

/* A tile at work. */
typedef struct lz4_job {
    const uint8_t *in; /* what was not read yet */
    size_t left;
    uint8_t *out;
    size_t size;
    size_t made;
    size_t frame_start; /* in the output */
    const tz_codec_call *call;
} lz4_job;

typedef struct lz4_frame_header {
    unsigned flags;
    size_t max_block;
    uint64_t content; /* bytes that the frame makes, with HAS_CONTENT_SIZE */
} lz4_frame_header;

static void skip_input(lz4_job *job, size_t size)
{
    job->in += size;
    job->left -= size;
}

static tz_result fail_lz4_truncated(const lz4_job *job)
{
    return tz_codec_fail(job->call, "LZ4 data ends too early");
}

/* The frame's header: magic, flags, block size, content size and a byte of checksum. */
static tz_result read_lz4_header(lz4_job *job, lz4_frame_header *frame)
{
    static const uint8_t block_size_bits[] = {0, 0, 0, 0, 16, 18, 20, 22};
    if (job->left < 7)
        return fail_lz4_truncated(job);
    frame->flags = job->in[4];
    unsigned block = job->in[5];
    size_t size = 7 + ((frame->flags & HAS_CONTENT_SIZE) ? 8u : 0) +
                  ((frame->flags & HAS_DICTIONARY) ? 4u : 0);
    if (job->left < size)
        return fail_lz4_truncated(job);
    if (job->in[size - 1] != (tz_xxhash32(job->in + 4, size - 5) >> 8 & 0xff))
        return tz_codec_fail(job->call, "the checksum of the LZ4 frame header is wrong");
    if ((frame->flags & (VERSION_MASK | RESERVED_BIT)) != VERSION_1 || (block & 0x8f) != 0 ||
        block < 0x40)
        return tz_codec_fail(job->call, "an LZ4 frame of an unknown kind: flags 0x%02x 0x%02x",
                             frame->flags, block);
    if (frame->flags & HAS_DICTIONARY)
        return tz_codec_fail(job->call, "the LZ4 frame needs dictionary %u",
                             (unsigned)tz_load_le32(job->in + size - 5));
    frame->max_block = (size_t)1 << block_size_bits[block >> 4];
    if (frame->flags & HAS_CONTENT_SIZE)
        frame->content = tz_load_le64(job->in + 6);
    skip_input(job, size);
    return TZ_OK;
}

/* One block's bytes into the tile. */
static tz_result decode_lz4_block(lz4_job *job, const lz4_frame_header *frame, size_t size,
                                  bool stored)
{
    uint8_t *to = job->out + job->made;
    size_t capacity = job->size - job->made;
    if (capacity > frame->max_block)
        capacity = frame->max_block;
    if (stored) {
        if (size > capacity)
            return tz_codec_fail(job->call, "LZ4 data makes more than the %zu bytes of the tile",
                                 job->size);
        memcpy(to, job->in, size);
        job->made += size;
        return TZ_OK;
    }
    size_t before = (frame->flags & INDEPENDENT) ? 0 : job->made - job->frame_start;
    if (before > MAX_DISTANCE)
        before = MAX_DISTANCE;
    int made = LZ4_decompress_safe_usingDict((const char *)job->in, (char *)to, (int)size,
                                             (int)capacity, (const char *)to - before, (int)before);
    if (made < 0)
        return tz_codec_fail(job->call,
                             "LZ4 data is damaged, or makes more than the %zu bytes of "
                             "the tile",
                             job->size);
    job->made += (size_t)made;
    return TZ_OK;
}

/* The next block; *last when it is the mark of the frame's end. */
static tz_result read_lz4_block(lz4_job *job, const lz4_frame_header *frame, bool *last)
{
    if (job->left < 4)
        return fail_lz4_truncated(job);
    uint32_t word = tz_load_le32(job->in);
    size_t size = word & ~STORED;
    skip_input(job, 4);
    *last = word == 0;
    if (*last)
        return TZ_OK;
    if (size > frame->max_block)
        return tz_codec_fail_size(job->call, frame->max_block, size, "an LZ4 block is too large");
    size_t checksum_size = (frame->flags & HAS_BLOCK_CHECKSUMS) ? 4 : 0;
    if (job->left < checksum_size || job->left - checksum_size < size)
        return fail_lz4_truncated(job);
    if (checksum_size && tz_load_le32(job->in + size) != tz_xxhash32(job->in, size))
        return tz_codec_fail(job->call, "the checksum of an LZ4 block is wrong");
    TZ_TRY(decode_lz4_block(job, frame, size, (word & STORED) != 0));
    skip_input(job, size + checksum_size);
    return TZ_OK;
}

static tz_result check_lz4_frame_end(lz4_job *job, const lz4_frame_header *frame)
{
    size_t made = job->made - job->frame_start;
    if ((frame->flags & HAS_CONTENT_SIZE) && frame->content != made)
        return tz_codec_fail_size(job->call, frame->content, made,
                                  "an LZ4 frame does not make what it says");
    if (!(frame->flags & HAS_CONTENT_CHECKSUM))
        return TZ_OK;
    if (job->left < 4)
        return fail_lz4_truncated(job);
    if (tz_load_le32(job->in) != tz_xxhash32(job->out + job->frame_start, made))
        return tz_codec_fail(job->call, "the checksum of the decoded LZ4 data is wrong");
    skip_input(job, 4);
    return TZ_OK;
}

static tz_result decode_lz4_frame(lz4_job *job)
{
    lz4_frame_header frame = {0};
    TZ_TRY(read_lz4_header(job, &frame));
    job->frame_start = job->made;
    if ((frame.flags & HAS_CONTENT_SIZE) && frame.content > job->size - job->made)
        return tz_codec_fail_size(job->call, job->size - job->made, frame.content,
                                  "an LZ4 frame says it makes more than the tile needs");
    bool last = false;
    while (!last)
        TZ_TRY(read_lz4_block(job, &frame, &last));
    return check_lz4_frame_end(job, &frame);
}

/* All frames that there are, until something else comes. */
static tz_result decode_lz4_frames(lz4_job *job)
{
    while (job->left >= 4) {
        uint32_t magic = tz_load_le32(job->in);
        if (magic == FRAME_MAGIC) {
            TZ_TRY(decode_lz4_frame(job));
        } else if ((magic & ~UINT32_C(15)) == SKIPPABLE_MAGIC && job->left >= SKIPPABLE_HEADER &&
                   tz_load_le32(job->in + 4) <= job->left - SKIPPABLE_HEADER) {
            skip_input(job, SKIPPABLE_HEADER + (size_t)tz_load_le32(job->in + 4));
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
    lz4_job job = {
        .in = in, .left = in_size, .out = out, .size = tz_tile_bytes(format), .call = call};
    TZ_TRY(decode_lz4_frames(&job));
    if (job.left == in_size)
        return tz_codec_fail(call, "the tile does not begin with an LZ4 frame");
    if (job.made != job.size)
        return tz_codec_fail_size(call, job.size, job.made, "LZ4 data makes too few bytes");
    return tz_codec_check_end(call, in_size - job.left, in_size);
}

static const uint16_t lz4_compressions[] = {50004, 0};

const tz_decoder tz_decoder_lz4 = {
    .name = "lz4",
    .library = "liblz4",
    .compressions = lz4_compressions,
    .flags = TZ_DECODER_NO_OVERRUN,
    .decode = lz4_decode,
};
