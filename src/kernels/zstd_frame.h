/* SPDX-License-Identifier: Apache-2.0
 * Frames of Zstandard (RFC 8878), which may follow each other; skippable ones may stand between
 * them. Frames with a dictionary or with a larger window than is usual are left to the codec. */
#ifndef TZ_KERNELS_ZSTD_FRAME_H
#define TZ_KERNELS_ZSTD_FRAME_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/xxhash.h"
#include "kernels/zstd_block.h"

#define TZ_ZSTD_MAGIC     0xfd2fb528u
#define TZ_ZSTD_SKIPPABLE 0x184d2a50u /* and the next 15 */

/* Bits of a frame's flags. */
#define TZ_ZSTD_DICTIONARY 0x03u /* the size of its number */
#define TZ_ZSTD_CHECKSUM   0x04u
#define TZ_ZSTD_RESERVED   0x08u
#define TZ_ZSTD_SINGLE     0x20u /* the window is the content */
#define TZ_ZSTD_CONTENT    0xe0u /* if any, it says how much it makes */

#define TZ_ZSTD_MAX_WINDOW_CODE 0x88u /* 128 MiB, as a frame has it */

/* Passes over skippable frames, to the next one that is not; 0: none is there. */
TZ_FN int tz_zstd_find_frame(tz_zstd_decoder *decoder)
{
    while (decoder->in_size - decoder->at >= 4u) {
        const tz_u32 left = decoder->in_size - decoder->at;
        const tz_u32 magic = tz_kernel_le32(decoder->in + decoder->at);
        if (magic == TZ_ZSTD_MAGIC)
            return 1;
        if ((magic & ~15u) != TZ_ZSTD_SKIPPABLE || left < 8u)
            return 0;
        const tz_u32 size = tz_kernel_le32(decoder->in + decoder->at + 4u);
        if (size > left - 8u)
            return 0;
        decoder->at += 8u + size;
    }
    return 0;
}

/* How many bytes the frame makes, if it says so. */
TZ_FN tz_u32 tz_zstd_read_content_size(tz_zstd_decoder *decoder, const TZ_GLOBAL tz_u8 *at,
                                       tz_u32 bytes)
{
    const tz_u32 low = tz_zstd_load_le(at, bytes < 4u ? bytes : 4u);
    const tz_u32 high = bytes == 8u ? tz_zstd_load_le(at + 4, 4u) : 0u;
    decoder->content = bytes == 2u ? low + 256u : low;
    return high > 0u || decoder->content > decoder->size - decoder->made ? TZ_DECODE_TOO_LONG
                                                                         : TZ_DECODE_OK;
}

/* Bytes that the decoder must look back. */
TZ_FN tz_u32 tz_zstd_window_size(tz_u32 stored)
{
    const tz_u32 base = 1u << (10u + (stored >> 3));
    return base + base / 8u * (stored & 7u);
}

/* To the state in which a frame begins. */
TZ_FN void tz_zstd_reset_frame(tz_zstd_decoder *decoder, tz_u32 window)
{
    decoder->in_frame = 1u;
    decoder->frame_start = decoder->made;
    decoder->max_block = window < TZ_ZSTD_MAX_BLOCK ? window : TZ_ZSTD_MAX_BLOCK;
    decoder->huffman_log = 0u;
    decoder->has_tables = 0u;
    decoder->offsets[0] = 1u;
    decoder->offsets[1] = 4u;
    decoder->offsets[2] = 8u;
}

/* Magic, flags, window, dictionary and content size. */
TZ_FN tz_u32 tz_zstd_begin_frame(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->in_size - decoder->at;
    if (left < 6u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 flags = head[4];
    const tz_u32 single = (flags & TZ_ZSTD_SINGLE) != 0u;
    const tz_u32 content = flags >> 6 ? 1u << (flags >> 6) : single;
    const tz_u32 dictionary = 1u << (flags & TZ_ZSTD_DICTIONARY) >> 1;
    const tz_u32 size = 6u - single + dictionary + content;
    if (left < size)
        return TZ_DECODE_TRUNCATED;
    if (flags & TZ_ZSTD_RESERVED)
        return TZ_DECODE_BAD_HEADER;
    if (tz_zstd_load_le(head + 6u - single, dictionary) != 0u)
        return TZ_DECODE_UNSURE;
    if (!single && head[5] > TZ_ZSTD_MAX_WINDOW_CODE)
        return TZ_DECODE_UNSURE;
    const tz_u32 status = tz_zstd_read_content_size(decoder, head + size - content, content);
    tz_zstd_reset_frame(decoder, single ? decoder->content : tz_zstd_window_size(head[5]));
    decoder->flags = flags;
    decoder->at += size;
    return status;
}

TZ_FN tz_u32 tz_zstd_end_frame(tz_zstd_decoder *decoder)
{
    const tz_u32 made = decoder->made - decoder->frame_start;
    decoder->in_frame = 0u;
    if ((decoder->flags & TZ_ZSTD_CONTENT) && made != decoder->content)
        return made < decoder->content ? TZ_DECODE_TOO_SHORT : TZ_DECODE_TOO_LONG;
    if (!(decoder->flags & TZ_ZSTD_CHECKSUM))
        return TZ_DECODE_OK;
    if (decoder->in_size - decoder->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 sum = tz_kernel_le32(decoder->in + decoder->at);
    decoder->at += 4u;
    return sum == (tz_u32)tz_kernel_xxhash64(decoder->out + decoder->frame_start, made)
               ? TZ_DECODE_OK
               : TZ_DECODE_BAD_CHECKSUM;
}

/* To the literals of the next block, of this frame or of another; all that was made is written.
 * *over: there is none. */
TZ_FN tz_u32 tz_zstd_next_block(tz_zstd_decoder *decoder, tz_u32 *over)
{
    tz_u32 status = TZ_DECODE_OK;
    if (decoder->in_frame && decoder->last)
        status = tz_zstd_end_frame(decoder);
    if (status == TZ_DECODE_OK && !decoder->in_frame) {
        *over = !tz_zstd_find_frame(decoder);
        if (*over)
            return TZ_DECODE_OK;
        status = tz_zstd_begin_frame(decoder);
    }
    return status == TZ_DECODE_OK ? tz_zstd_begin_block(decoder) : status;
}

TZ_FN tz_zstd_decoder tz_zstd_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 size, TZ_GLOBAL tz_u32 *scratch)
{
    tz_zstd_decoder decoder;
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.at = 0u;
    decoder.out = out;
    decoder.size = size;
    decoder.made = 0u;
    decoder.scratch = scratch;
    decoder.in_frame = 0u;
    decoder.last = 0u;
    decoder.stage = TZ_ZSTD_STAGE_NO_BLOCK;
    return decoder;
}

/* There are no more frames. */
TZ_FN tz_u32 tz_zstd_finish(const tz_zstd_decoder *decoder)
{
    if (decoder->at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (decoder->made != decoder->size)
        return TZ_DECODE_TOO_SHORT;
    return TZ_DECODE_END(decoder->at, decoder->in_size);
}

/* Whether the frame at in, if it is one, says how much it makes. */
TZ_FN int tz_zstd_has_content_size(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size)
{
    return in_size > 4u && (in[4] & TZ_ZSTD_CONTENT) != 0u;
}

/* Whether in is one frame and nothing else, whose headers are those of a tile of so many bytes.
 * What its blocks hold is not looked at. */
TZ_FN int tz_zstd_is_single(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    tz_zstd_decoder decoder = tz_zstd_start(in, in_size, 0, size, 0);
    if (in_size < 4u || tz_kernel_le32(in) != TZ_ZSTD_MAGIC ||
        tz_zstd_begin_frame(&decoder) != TZ_DECODE_OK)
        return 0;
    if ((decoder.flags & TZ_ZSTD_CONTENT) && decoder.content != size)
        return 0;
    for (tz_u32 last = 0u; !last;) {
        if (in_size - decoder.at < 3u)
            return 0;
        const tz_u32 head = tz_zstd_load_le(in + decoder.at, 3u);
        const tz_u32 kind = head >> 1 & 3u;
        const tz_u32 stored = kind == 1u ? 1u : head >> 3; /* one byte, many times */
        if (kind == 3u || stored > in_size - decoder.at - 3u)
            return 0;
        last = head & 1u;
        decoder.at += 3u + stored;
    }
    return in_size - decoder.at == (decoder.flags & TZ_ZSTD_CHECKSUM ? 4u : 0u);
}

#endif
