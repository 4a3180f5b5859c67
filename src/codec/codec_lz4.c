/* SPDX-License-Identifier: Apache-2.0
 * LZ4 as xarray-spatial reads and writes it: one LZ4 frame per tile. The frame is read here,
 * checksums included, and liblz4 decodes its blocks straight into the tile, where linked blocks
 * find the bytes they refer to: no memory beyond the tile is needed. Frames may follow each other
 * and skippable ones may stand between them; together they must make exactly the bytes of the tile.
 * Other bytes after the last frame are ignored with a warning. A bare LZ4 block without a frame is
 * refused.
 *
 * The encoder makes a frame of independent blocks of up to 4 MiB, so most tiles are one block, with
 * the size and a checksum of the content. Level 1 is LZ4's fast encoder, those above are its high
 * compression. */
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/unaligned.h"
#include "codec/xxhash32.h"
#include "kernels/lz4_frame.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

enum {
    SKIPPABLE_HEADER = 8,
    MAX_DISTANCE = 65536 /* how far linked blocks look back */
};

/* The tile being decoded. */
typedef struct lz4_job {
    const uint8_t *in; /* not read yet */
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
    uint64_t content; /* bytes that the frame makes, with TZ_LZ4_CONTENT_SIZE */
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

/* Reads a frame's header: magic, flags, block size, content size and a byte of checksum. */
static tz_result read_lz4_header(lz4_job *job, lz4_frame_header *frame)
{
    if (job->left < 7)
        return fail_lz4_truncated(job);
    frame->flags = job->in[4];
    unsigned block = job->in[5];
    size_t size = 7 + ((frame->flags & TZ_LZ4_CONTENT_SIZE) ? 8u : 0) +
                  ((frame->flags & TZ_LZ4_DICTIONARY) ? 4u : 0);
    if (job->left < size)
        return fail_lz4_truncated(job);
    if (job->in[size - 1] != (tz_xxhash32(job->in + 4, size - 5) >> 8 & 0xff))
        return tz_codec_fail(job->call, "the checksum of the LZ4 frame header is wrong");
    if ((frame->flags & (TZ_LZ4_FORMAT | TZ_LZ4_RESERVED)) != TZ_LZ4_FORMAT_1 ||
        (block & 0x8f) != 0 || block < 0x40)
        return tz_codec_fail(job->call, "an LZ4 frame of an unknown kind: flags 0x%02x 0x%02x",
                             frame->flags, block);
    if (frame->flags & TZ_LZ4_DICTIONARY)
        return tz_codec_fail(job->call, "the LZ4 frame needs dictionary %u",
                             (unsigned)tz_load_le32(job->in + size - 5));
    frame->max_block = tz_lz4_block_size(block >> 4);
    if (frame->flags & TZ_LZ4_CONTENT_SIZE)
        frame->content = tz_load_le64(job->in + 6);
    skip_input(job, size);
    return TZ_OK;
}

/* Decodes the next block into the tile. *last: it was the mark of the frame's end. */
static tz_result read_lz4_block(lz4_job *job, const lz4_frame_header *frame, bool *last)
{
    if (job->left < 4)
        return fail_lz4_truncated(job);
    uint32_t word = tz_load_le32(job->in);
    size_t size = word & ~TZ_LZ4_STORED;
    skip_input(job, 4);
    *last = word == 0;
    if (*last)
        return TZ_OK;
    if (size > frame->max_block)
        return tz_codec_fail_size(job->call, frame->max_block, size, "an LZ4 block is too large");
    size_t checksum_size = (frame->flags & TZ_LZ4_BLOCK_CHECKSUMS) ? 4 : 0;
    if (job->left < checksum_size || job->left - checksum_size < size)
        return fail_lz4_truncated(job);
    if (checksum_size && tz_load_le32(job->in + size) != tz_xxhash32(job->in, size))
        return tz_codec_fail(job->call, "the checksum of an LZ4 block is wrong");

    uint8_t *to = job->out + job->made;
    const size_t capacity = tz_min_size(job->size - job->made, frame->max_block);
    if (word & TZ_LZ4_STORED) {
        if (size > capacity)
            return tz_codec_fail(job->call, "LZ4 data makes more than the %zu bytes of the tile",
                                 job->size);
        memcpy(to, job->in, size);
        job->made += size;
    } else {
        size_t before = 0; /* bytes that the block may refer to */
        if (!(frame->flags & TZ_LZ4_INDEPENDENT))
            before = tz_min_size(job->made - job->frame_start, MAX_DISTANCE);
        const int made =
            LZ4_decompress_safe_usingDict((const char *)job->in, (char *)to, (int)size,
                                          (int)capacity, (const char *)to - before, (int)before);
        if (made < 0)
            return tz_codec_fail(job->call,
                                 "LZ4 data is damaged, or makes more than the %zu bytes of "
                                 "the tile",
                                 job->size);
        job->made += (size_t)made;
    }
    skip_input(job, size + checksum_size);
    return TZ_OK;
}

/* Decodes one frame: header, blocks up to the mark of the end, checksum. */
static tz_result decode_lz4_frame(lz4_job *job)
{
    lz4_frame_header frame = {0};
    TZ_TRY(read_lz4_header(job, &frame));
    job->frame_start = job->made;
    if ((frame.flags & TZ_LZ4_CONTENT_SIZE) && frame.content > job->size - job->made)
        return tz_codec_fail_size(job->call, job->size - job->made, frame.content,
                                  "an LZ4 frame says it makes more than the tile needs");
    bool last = false;
    while (!last)
        TZ_TRY(read_lz4_block(job, &frame, &last));

    size_t made = job->made - job->frame_start;
    if ((frame.flags & TZ_LZ4_CONTENT_SIZE) && frame.content != made)
        return tz_codec_fail_size(job->call, frame.content, made,
                                  "an LZ4 frame does not make what it says");
    if (!(frame.flags & TZ_LZ4_CONTENT_CHECKSUM))
        return TZ_OK;
    if (job->left < 4)
        return fail_lz4_truncated(job);
    if (tz_load_le32(job->in) != tz_xxhash32(job->out + job->frame_start, made))
        return tz_codec_fail(job->call, "the checksum of the decoded LZ4 data is wrong");
    skip_input(job, 4);
    return TZ_OK;
}

static tz_result lz4_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state, (void)stride; /* packed rows */
    lz4_job job = {
        .in = in, .left = in_size, .out = out, .size = tz_tile_bytes(format), .call = call};
    while (job.left >= 4) { /* until something else comes */
        uint32_t magic = tz_load_le32(job.in);
        if (magic == TZ_LZ4_MAGIC)
            TZ_TRY(decode_lz4_frame(&job));
        else if ((magic & ~UINT32_C(15)) == TZ_LZ4_SKIPPABLE && job.left >= SKIPPABLE_HEADER &&
                 tz_load_le32(job.in + 4) <= job.left - SKIPPABLE_HEADER)
            skip_input(&job, SKIPPABLE_HEADER + (size_t)tz_load_le32(job.in + 4));
        else
            break;
    }
    if (job.left == in_size)
        return tz_codec_fail(call, "the tile does not begin with an LZ4 frame");
    if (job.made != job.size)
        return tz_codec_fail_size(call, job.size, job.made, "LZ4 data makes too few bytes");
    return tz_codec_check_end(call, in_size - job.left, in_size);
}

const tz_decoder tz_decoder_lz4 = {
    .flags = TZ_DECODER_NO_OVERRUN,
    .decode = lz4_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum { DEFAULT_LEVEL = 1, MAX_LEVEL = 12, BLOCK_HEAD = TZ_LZ4_BLOCK_HEADER };

typedef struct lz4_encoder {
    void *scratch; /* of liblz4 */
} lz4_encoder;

static const char *lz4_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level < 1 || options->level > MAX_LEVEL)
        return "LZ4 levels are 1 to 12";
    return NULL;
}

static size_t scratch_size(const tz_encode_options *options)
{
    return (size_t)(options->level == 1 ? LZ4_sizeofState() : LZ4_sizeofStateHC());
}

static uint64_t lz4_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    enum { ROUNDING = 64 }; /* by the allocator */
    return scratch_size(options) + ROUNDING;
}

static tz_result lz4_encoder_init(void *opaque, const tz_tile_format *format,
                                  const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    lz4_encoder *state = opaque;
    state->scratch = tz_alloc(scratch_size(options));
    return state->scratch ? TZ_OK : tz_fail_nomem(ctx, scratch_size(options));
}

static void lz4_encoder_deinit(void *opaque)
{
    lz4_encoder *state = opaque;
    tz_free(state->scratch);
    state->scratch = NULL;
}

/* Bytes of each of the frame's blocks but the last one. */
static size_t max_block_size(size_t size)
{
    return tz_lz4_block_size(tz_lz4_block_code(size));
}

static size_t lz4_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    size_t size = tz_tile_bytes(format);
    return TZ_LZ4_HEADER + size + (size_t)tz_ceil_div(size, max_block_size(size)) * BLOCK_HEAD +
           TZ_LZ4_FOOTER;
}

/* Writes a block, compressed if that is smaller; returns its end. */
static uint8_t *put_lz4_block(const lz4_encoder *state, int32_t level, const uint8_t *in,
                              size_t size, uint8_t *out)
{
    const char *from = (const char *)in;
    char *to = (char *)out + BLOCK_HEAD;
    int capacity = (int)size - 1;
    int made =
        level == 1
            ? LZ4_compress_fast_extState(state->scratch, from, to, (int)size, capacity, 1)
            : LZ4_compress_HC_extStateHC(state->scratch, from, to, (int)size, capacity, level);
    if (made > 0) {
        tz_store_le32(out, (uint32_t)made);
        return out + BLOCK_HEAD + made;
    }
    tz_store_le32(out, (uint32_t)size | TZ_LZ4_STORED);
    memcpy(to, in, size);
    return out + BLOCK_HEAD + size;
}

static tz_result lz4_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)call;
    size_t size = tz_tile_bytes(format);
    size_t max_block = max_block_size(size);
    uint8_t *to = out + TZ_LZ4_HEADER;
    tz_lz4_put_header(out, size);
    for (size_t at = 0, some; at < size; at += some) {
        some = tz_min_size(size - at, max_block);
        to = put_lz4_block(opaque, options->level, in + at, some, to);
    }
    tz_lz4_put_footer(to, tz_xxhash32(in, size));
    *out_size = (size_t)(to - out) + TZ_LZ4_FOOTER;
    return TZ_OK;
}

const tz_encoder tz_encoder_lz4 = {
    .state_size = sizeof(lz4_encoder),
    .resolve_options = lz4_resolve_options,
    .bound = lz4_bound,
    .memory = lz4_memory,
    .init = lz4_encoder_init,
    .deinit = lz4_encoder_deinit,
    .encode = lz4_encode,
};
