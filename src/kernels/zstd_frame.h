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

#define TZ_ZSTD_USUAL_WINDOW 0x88u /* 128 MiB, as a frame has it */

/* Passes over skippable frames, to the next one that is not; 0: none is there. */
TZ_FN int tz_zstd_find_frame(tz_zstd_run *run)
{
    while (run->in_size - run->at >= 4u) {
        const tz_u32 left = run->in_size - run->at;
        const tz_u32 magic = tz_kernel_le32(run->in + run->at);
        if (magic == TZ_ZSTD_MAGIC)
            return 1;
        if ((magic & ~15u) != TZ_ZSTD_SKIPPABLE || left < 8u)
            return 0;
        const tz_u32 size = tz_kernel_le32(run->in + run->at + 4u);
        if (size > left - 8u)
            return 0;
        run->at += 8u + size;
    }
    return 0;
}

/* How many bytes the frame makes, if it says so. */
TZ_FN tz_u32 tz_zstd_content(tz_zstd_run *run, const TZ_GLOBAL tz_u8 *at, tz_u32 bytes)
{
    const tz_u32 low = tz_zstd_le(at, bytes < 4u ? bytes : 4u);
    const tz_u32 high = bytes == 8u ? tz_zstd_le(at + 4, 4u) : 0u;
    run->content = bytes == 2u ? low + 256u : low;
    return high > 0u || run->content > run->size - run->made ? TZ_DECODE_TOO_LONG : TZ_DECODE_OK;
}

/* Bytes that the decoder must look back. */
TZ_FN tz_u32 tz_zstd_window(tz_u32 stored)
{
    const tz_u32 base = 1u << (10u + (stored >> 3));
    return base + base / 8u * (stored & 7u);
}

/* To the state in which a frame begins. */
TZ_FN void tz_zstd_reset(tz_zstd_run *run, tz_u32 window)
{
    run->in_frame = 1u;
    run->frame_start = run->made;
    run->max_block = window < TZ_ZSTD_MAX_BLOCK ? window : TZ_ZSTD_MAX_BLOCK;
    run->huffman_log = 0u;
    run->has_tables = 0u;
    run->offsets[0] = 1u;
    run->offsets[1] = 4u;
    run->offsets[2] = 8u;
}

/* Magic, flags, window, dictionary and content size. */
TZ_FN tz_u32 tz_zstd_begin_frame(tz_zstd_run *run)
{
    const TZ_GLOBAL tz_u8 *head = run->in + run->at;
    const tz_u32 left = run->in_size - run->at;
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
    if (tz_zstd_le(head + 6u - single, dictionary) != 0u)
        return TZ_DECODE_UNSURE;
    if (!single && head[5] > TZ_ZSTD_USUAL_WINDOW)
        return TZ_DECODE_UNSURE;
    const tz_u32 status = tz_zstd_content(run, head + size - content, content);
    tz_zstd_reset(run, single ? run->content : tz_zstd_window(head[5]));
    run->flags = flags;
    run->at += size;
    return status;
}

TZ_FN tz_u32 tz_zstd_end_frame(tz_zstd_run *run)
{
    const tz_u32 made = run->made - run->frame_start;
    run->in_frame = 0u;
    if ((run->flags & TZ_ZSTD_CONTENT) && made != run->content)
        return made < run->content ? TZ_DECODE_TOO_SHORT : TZ_DECODE_TOO_LONG;
    if (!(run->flags & TZ_ZSTD_CHECKSUM))
        return TZ_DECODE_OK;
    if (run->in_size - run->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 sum = tz_kernel_le32(run->in + run->at);
    run->at += 4u;
    return sum == (tz_u32)tz_kernel_xxhash64(run->out + run->frame_start, made)
               ? TZ_DECODE_OK
               : TZ_DECODE_BAD_CHECKSUM;
}

/* To the literals of the next block, of this frame or of another; all that was made is written.
 * *over: there is none. */
TZ_FN tz_u32 tz_zstd_next_block(tz_zstd_run *run, tz_u32 *over)
{
    tz_u32 status = TZ_DECODE_OK;
    if (run->in_frame && run->last)
        status = tz_zstd_end_frame(run);
    if (status == TZ_DECODE_OK && !run->in_frame) {
        *over = !tz_zstd_find_frame(run);
        if (*over)
            return TZ_DECODE_OK;
        status = tz_zstd_begin_frame(run);
    }
    return status == TZ_DECODE_OK ? tz_zstd_begin_block(run) : status;
}

TZ_FN tz_zstd_run tz_zstd_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                tz_u32 size, TZ_GLOBAL tz_u32 *work)
{
    tz_zstd_run run;
    run.in = in;
    run.in_size = in_size;
    run.at = 0u;
    run.out = out;
    run.size = size;
    run.made = 0u;
    run.work = work;
    run.in_frame = 0u;
    run.last = 0u;
    run.stage = TZ_ZSTD_NO_BLOCK;
    return run;
}

/* There are no more frames. */
TZ_FN tz_u32 tz_zstd_finish(const tz_zstd_run *run)
{
    if (run->at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (run->made != run->size)
        return TZ_DECODE_TOO_SHORT;
    return TZ_DECODE_END(run->at, run->in_size);
}

/* Whether the frame at in, if it is one, says how much it makes. */
TZ_FN int tz_zstd_has_content(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size)
{
    return in_size > 4u && (in[4] & TZ_ZSTD_CONTENT) != 0u;
}

/* Whether in is one frame and nothing else, whose headers are those of a tile of so many bytes.
 * What its blocks hold is not looked at. */
TZ_FN int tz_zstd_is_single(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    tz_zstd_run run = tz_zstd_start(in, in_size, 0, size, 0);
    if (in_size < 4u || tz_kernel_le32(in) != TZ_ZSTD_MAGIC ||
        tz_zstd_begin_frame(&run) != TZ_DECODE_OK)
        return 0;
    if ((run.flags & TZ_ZSTD_CONTENT) && run.content != size)
        return 0;
    for (tz_u32 last = 0u; !last;) {
        if (in_size - run.at < 3u)
            return 0;
        const tz_u32 head = tz_zstd_le(in + run.at, 3u);
        const tz_u32 kind = head >> 1 & 3u;
        const tz_u32 stored = kind == 1u ? 1u : head >> 3; /* one byte, many times */
        if (kind == 3u || stored > in_size - run.at - 3u)
            return 0;
        last = head & 1u;
        run.at += 3u + stored;
    }
    return in_size - run.at == (run.flags & TZ_ZSTD_CHECKSUM ? 4u : 0u);
}

#endif
