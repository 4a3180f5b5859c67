/* SPDX-License-Identifier: Apache-2.0
 * The fast Deflate encoder by a work-group, with the same bytes as deflate_encode.h.
 *
 * A block is divided into windows, in which each work-item has one segment of 16 bytes. A work-item
 * whose segment is literals also has the run that ends before it. A run that may continue in the
 * next window is carried there as a number of bytes, but its full matches are written at once: so a
 * window never makes more bits than its literals could, and the words below are enough.
 *
 * The bits of a window are gathered in words of local memory. Each work-item adds up the bits of
 * all work-items before it, and so knows the offset of its own. Complete words go to the tile,
 * whose memory begins at a multiple of 4; the last word is held until the next window. */
#ifndef TZ_KERNELS_DEFLATE_ENCODE_WORK_GROUP_H
#define TZ_KERNELS_DEFLATE_ENCODE_WORK_GROUP_H

#include "kernels/adler32.h"
#include "kernels/copy_share.h"
#include "kernels/deflate_encode.h"
#include "kernels/work_items.h"

/* Local memory of a work-group. */
typedef struct tz_deflate_shared {
    tz_deflate_scratch scratch;
    tz_u8 runs[2][TZ_WORK_GROUP_SIZE]; /* segments that are runs; windows take turns */
    tz_u32 bits[TZ_WORK_GROUP_SIZE];   /* of each work-item in a window */
    tz_u32 partials[TZ_ADLER_WORK_GROUP_WORDS];
    tz_u32 held;   /* bits of the word that is not complete */
    tz_u32 answer; /* a number from one work-item to all */
    tz_u32 is_coded;
} tz_deflate_shared;

/* A window of a block. */
typedef struct tz_deflate_window {
    const TZ_GLOBAL tz_u8 *at;  /* its first segment */
    const TZ_GLOBAL tz_u8 *end; /* of the block */
    const TZ_LOCAL tz_u8 *runs; /* 1 for segments that are runs */
    tz_u32 count;               /* segments; in the last window fewer than work-items */
    tz_u32 is_first;
    tz_u32 is_last;
    tz_u32 carried; /* bytes of a run that continues from the window before, less than 258 */
} tz_deflate_window;

/* The output of a work-item in a window, in this order. */
typedef struct tz_deflate_share {
    tz_run_split run;
    tz_u32 byte; /* that the run repeats */
    const TZ_GLOBAL tz_u8 *literals;
    tz_u32 count; /* of literals */
    tz_u32 ends;  /* the end-of-block symbol */
} tz_deflate_share;

/* ---- windows ---- */

TZ_FN tz_u32 tz_deflate_window_count(tz_u32 size)
{
    return size / TZ_DEFLATE_SEGMENT / TZ_WORK_GROUP_SIZE + 1u;
}

/* Sets all of a window of the size bytes at `at` but the bytes that are carried. */
TZ_FN void tz_deflate_window_set(tz_deflate_window *window, const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                 tz_u32 number, const TZ_LOCAL tz_deflate_shared *shared)
{
    const tz_u32 begin = number * TZ_WORK_GROUP_SIZE;
    const tz_u32 left = size / TZ_DEFLATE_SEGMENT - begin;
    window->at = at + TZ_DEFLATE_SEGMENT * begin;
    window->end = at + size;
    window->runs = shared->runs[number % 2u];
    window->count = tz_kernel_min(left, TZ_WORK_GROUP_SIZE);
    window->is_first = number == 0u;
    window->is_last = left < TZ_WORK_GROUP_SIZE;
}

/* Marks the segment of a work-item if it is a run. first: the block is the first of the tile. */
TZ_FN void tz_deflate_window_mark_runs(const tz_deflate_window *window, tz_u32 first,
                                       TZ_LOCAL tz_u8 *runs, tz_u32 work_item)
{
    const tz_u32 may_be =
        work_item < window->count && !(first && window->is_first && work_item == 0u);
    runs[work_item] =
        may_be && tz_deflate_is_run(window->at + TZ_DEFLATE_SEGMENT * work_item) ? 1u : 0u;
}

/* Bytes of the run that ends before a segment of the window, or before its end. */
TZ_FN tz_u32 tz_deflate_window_run_before(const tz_deflate_window *window, tz_u32 segment)
{
    tz_u32 begin = segment;
    while (begin > 0u && window->runs[begin - 1u])
        begin--;
    return (segment - begin) * TZ_DEFLATE_SEGMENT + (begin == 0u ? window->carried : 0u);
}

/* Bytes that are carried to the next window. */
TZ_FN tz_u32 tz_deflate_window_carry(const tz_deflate_window *window)
{
    return tz_deflate_window_run_before(window, window->count) % TZ_DEFLATE_MAX_MATCH;
}

/* The share of a work-item: the literals of its segment and the run before them. The last
 * work-item, if its segment is a run, has the run at the end of the window, without the rest that
 * is carried; in the last window it has all bytes that are left. */
TZ_FN tz_deflate_share tz_deflate_share_of(const tz_deflate_window *window, tz_u32 work_item)
{
    const tz_u32 has_segment = work_item < window->count && !window->runs[work_item];
    const tz_u32 has_rest = !has_segment && work_item == TZ_WORK_GROUP_SIZE - 1u;
    const tz_u32 segment = has_segment ? work_item : window->count;
    const tz_u32 run = has_segment || has_rest ? tz_deflate_window_run_before(window, segment) : 0u;
    tz_deflate_share share;
    share.literals = window->at + TZ_DEFLATE_SEGMENT * segment;
    share.run = tz_deflate_split_run(run);
    share.byte = run > 0u ? *(share.literals - 1) : 0u;
    share.count = has_segment ? TZ_DEFLATE_SEGMENT : 0u;
    share.ends = has_rest && window->is_last;
    if (share.ends) {
        share.count = (tz_u32)(window->end - share.literals);
    } else if (has_rest) { /* the run may go on */
        share.run.rest = 0u;
        share.run.literals = 0u;
    }
    return share;
}

/* ---- counting ---- */

TZ_FN void tz_deflate_count_share(const tz_deflate_share *share,
                                  TZ_LOCAL tz_deflate_scratch *scratch, tz_u32 work_item)
{
    TZ_LOCAL tz_u32 *counts = scratch->block.counts;
    if (share->run.full > 0u)
        TZ_LOCAL_ADD(&counts[TZ_DEFLATE_FULL_MATCH], share->run.full);
    if (share->run.literals > 0u)
        TZ_LOCAL_ADD(&counts[share->byte], share->run.literals);
    if (share->run.rest > 0u)
        TZ_LOCAL_ADD(&counts[tz_deflate_length_symbol(share->run.rest).symbol], 1u);
    for (tz_u32 i = 0u; i < share->count; i++)
        TZ_LOCAL_ADD(&scratch->phase.bytes[work_item % 4u][share->literals[i]], 1u);
}

/* Counts the symbols of a block. */
TZ_FN void tz_deflate_count_work_group(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 first,
                                       TZ_LOCAL tz_deflate_shared *shared)
{
    const tz_u32 windows = tz_deflate_window_count(size);
    tz_deflate_window window;
    window.carried = 0u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        for (tz_u32 i = work_item; i < TZ_DEFLATE_LITERALS; i += TZ_WORK_GROUP_SIZE)
            for (tz_u32 table = 0u; table < 4u; table++)
                shared->scratch.phase.bytes[table][i] = 0u;
        for (tz_u32 i = work_item; i < TZ_DEFLATE_SYMBOLS; i += TZ_WORK_GROUP_SIZE)
            shared->scratch.block.counts[i] = i == TZ_DEFLATE_END;
    }
    for (tz_u32 number = 0u; number < windows; number++) {
        tz_deflate_window_set(&window, at, size, number, shared);
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_deflate_window_mark_runs(&window, first, shared->runs[number % 2u], work_item);
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_deflate_share share = tz_deflate_share_of(&window, work_item);
            tz_deflate_count_share(&share, &shared->scratch, work_item);
        }
        window.carried = tz_deflate_window_carry(&window);
    }
    TZ_SYNC;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        for (tz_u32 i = work_item; i < TZ_DEFLATE_LITERALS; i += TZ_WORK_GROUP_SIZE)
            for (tz_u32 table = 0u; table < 4u; table++)
                shared->scratch.block.counts[i] += shared->scratch.phase.bytes[table][i];
    }
    TZ_SYNC;
}

/* The end of the stream so far. */
typedef struct tz_deflate_position {
    tz_u32 word; /* complete words */
    tz_u32 odd;  /* bits that are held, less than 32 */
} tz_deflate_position;

/* ---- bits ---- */

/* Writes the bits of one work-item into the words of a window. Words are shared with neighbours, so
 * that bits are added by "or". */
typedef struct tz_word_writer {
    TZ_LOCAL tz_u32 *words;
    tz_u64 hold;
    tz_u32 count; /* bits in hold, with those of others before them; less than 32 */
} tz_word_writer;

TZ_FN tz_word_writer tz_word_writer_at(TZ_LOCAL tz_u32 *words, tz_u32 bit)
{
    tz_word_writer writer;
    writer.words = words + bit / 32u;
    writer.hold = 0u;
    writer.count = bit % 32u;
    return writer;
}

/* Writes up to 32 bits. */
TZ_FN void tz_word_put(tz_word_writer *writer, tz_u32 bits, tz_u32 count)
{
    writer->hold |= (tz_u64)bits << writer->count;
    writer->count += count;
    if (writer->count >= 32u) {
        TZ_LOCAL_OR(writer->words, (tz_u32)writer->hold);
        writer->words++;
        writer->hold >>= 32;
        writer->count -= 32u;
    }
}

TZ_FN void tz_word_put_code(tz_word_writer *writer, tz_u32 code, tz_u32 zeros)
{
    tz_word_put(writer, code >> 8, (code & 255u) + zeros);
}

TZ_FN void tz_word_finish(tz_word_writer *writer)
{
    if (writer->hold != 0u)
        TZ_LOCAL_OR(writer->words, (tz_u32)writer->hold);
}

/* ---- blocks with codes ---- */

/* The number of bits of a share. */
TZ_FN tz_u32 tz_deflate_share_bits(const tz_deflate_share *share, const TZ_LOCAL tz_u32 *codes)
{
    tz_u32 bits =
        share->run.full * ((codes[TZ_DEFLATE_FULL_MATCH] & 255u) + TZ_DEFLATE_DISTANCE_BITS);
    bits += tz_deflate_run_tail(codes, share->byte, share->run).count;
    for (tz_u32 i = 0u; i < share->count; i++)
        bits += codes[share->literals[i]] & 255u;
    return bits + (share->ends ? codes[TZ_DEFLATE_END] & 255u : 0u);
}

TZ_FN void tz_word_put_share(tz_word_writer *writer, const tz_deflate_share *share,
                             const TZ_LOCAL tz_u32 *codes)
{
    const tz_deflate_bits rest = tz_deflate_run_tail(codes, share->byte, share->run);
    for (tz_u32 i = 0u; i < share->run.full; i++)
        tz_word_put_code(writer, codes[TZ_DEFLATE_FULL_MATCH], TZ_DEFLATE_DISTANCE_BITS);
    tz_word_put(writer, rest.bits, rest.count);
    for (tz_u32 i = 0u; i < share->count; i++)
        tz_word_put_code(writer, codes[share->literals[i]], 0u);
    if (share->ends)
        tz_word_put_code(writer, codes[TZ_DEFLATE_END], 0u);
}

/* Writes the bits of a work-item after those of all work-items before it. Work-item 0 also writes
 * the header of the block; the last one reports the number of all bits. */
TZ_FN void tz_deflate_put_window(const tz_deflate_window *window, tz_u32 last, tz_u32 odd,
                                 TZ_LOCAL tz_deflate_shared *shared, tz_u32 work_item)
{
    const TZ_LOCAL tz_deflate_block *block = &shared->scratch.block;
    const tz_deflate_share share = tz_deflate_share_of(window, work_item);
    tz_u32 bit = odd;
    for (tz_u32 i = 0u; i < work_item; i++)
        bit += shared->bits[i];
    tz_word_writer writer = tz_word_writer_at(shared->scratch.phase.words, bit);
    const tz_u32 is_header = work_item == 0u && window->is_first;
    const tz_u32 fields = is_header ? tz_deflate_header_fields(&block->list) : 0u;
    for (tz_u32 i = 0u; i < fields; i++) {
        const tz_deflate_bits field = tz_deflate_header_field(&block->list, last, i);
        tz_word_put(&writer, field.bits, field.count);
    }
    tz_word_put_share(&writer, &share, block->codes);
    tz_word_finish(&writer);
    if (work_item == TZ_WORK_GROUP_SIZE - 1u)
        shared->answer = bit + shared->bits[work_item];
}

/* Writes a block with codes, window by window: marks runs, counts bits, writes bits, and stores the
 * complete words. */
TZ_FN tz_deflate_position tz_deflate_put_coded_work_group(const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                                          tz_u32 windows, tz_u32 first, tz_u32 last,
                                                          TZ_GLOBAL tz_u8 *out,
                                                          tz_deflate_position position,
                                                          TZ_LOCAL tz_deflate_shared *shared)
{
    tz_deflate_window window;
    window.carried = 0u;
    for (tz_u32 number = 0u; number < windows; number++) {
        tz_deflate_window_set(&window, at, size, number, shared);
        for (TZ_EACH_WORK_ITEM(work_item)) {
            tz_deflate_window_mark_runs(&window, first, shared->runs[number % 2u], work_item);
            for (tz_u32 i = work_item; i < TZ_DEFLATE_WORDS; i += TZ_WORK_GROUP_SIZE)
                shared->scratch.phase.words[i] = i == 0u ? shared->held : 0u;
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_deflate_share share = tz_deflate_share_of(&window, work_item);
            shared->bits[work_item] = tz_deflate_share_bits(&share, shared->scratch.block.codes);
            if (work_item == 0u && window.is_first)
                shared->bits[work_item] +=
                    (tz_u32)tz_deflate_header_size(&shared->scratch.block.list);
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_deflate_put_window(&window, last, position.odd, shared, work_item);
        window.carried = tz_deflate_window_carry(&window);
        TZ_SYNC;
        const tz_u32 bits = shared->answer;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            for (tz_u32 i = work_item; i < bits / 32u; i += TZ_WORK_GROUP_SIZE)
                tz_store_word(out + 4u * (tz_u64)(position.word + i),
                              shared->scratch.phase.words[i]);
            if (work_item == 0u)
                shared->held = shared->scratch.phase.words[bits / 32u];
        }
        position.word += bits / 32u;
        position.odd = bits % 32u;
        TZ_SYNC;
    }
    return position;
}

/* ---- stored blocks ---- */

/* Writes the header of a stored block of size bytes, after the `odd` bits that are held. Returns
 * its bytes. */
TZ_FN tz_u32 tz_deflate_put_stored_header(TZ_GLOBAL tz_u8 *out, tz_u32 odd, tz_u32 held,
                                          tz_u32 size, tz_u32 last, tz_u32 work_item)
{
    const tz_u64 bits = held | (tz_u64)last << odd;
    const tz_u32 padded = (odd + 3u + 7u) / 8u;
    if (work_item == 0u) {
        for (tz_u32 i = 0u; i < padded; i++)
            out[i] = (tz_u8)(bits >> 8u * i);
        tz_store_u32(out + padded, tz_little_u32(size | (size ^ 0xffffu) << 16));
    }
    return padded + 4u;
}

/* Writes the share of a work-item of stored blocks. Returns the end of the stream, in bytes. */
TZ_FN tz_u32 tz_deflate_put_stored_share(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 last,
                                         TZ_GLOBAL tz_u8 *out, tz_deflate_position position,
                                         tz_u32 held, tz_u32 work_item)
{
    tz_u32 to = 4u * position.word;
    tz_u32 odd = position.odd;
    tz_u32 some = 0u;
    for (tz_u32 done = 0u; done < size; done += some) {
        some = tz_kernel_min(size - done, TZ_DEFLATE_MAX_STORED);
        to += tz_deflate_put_stored_header(out + to, odd, held, some, last && done + some == size,
                                           work_item);
        tz_copy_share(out + to, at + done, some, work_item, TZ_WORK_GROUP_SIZE);
        to += some;
        odd = 0u;
        held = 0u;
    }
    return to;
}

/* ---- blocks ---- */

/* Writes a block. Both ways of writing are executed, and one of them does nothing: compilers copy
 * the code after a barrier that depends on a condition. */
TZ_FN tz_deflate_position tz_deflate_put_block_work_group(const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                                          tz_u32 first, tz_u32 last,
                                                          TZ_GLOBAL tz_u8 *out,
                                                          tz_deflate_position position,
                                                          TZ_LOCAL tz_deflate_shared *shared)
{
    tz_deflate_count_work_group(at, size, first, shared);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            shared->is_coded =
                tz_deflate_plan_block(&shared->scratch.block, size, &shared->scratch.phase.huffman);
    }
    TZ_SYNC;
    const tz_u32 is_coded = shared->is_coded;
    position =
        tz_deflate_put_coded_work_group(at, size, is_coded ? tz_deflate_window_count(size) : 0u,
                                        first, last, out, position, shared);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (!is_coded) {
            const tz_u32 end =
                tz_deflate_put_stored_share(at, size, last, out, position, shared->held, work_item);
            if (work_item == 0u)
                shared->answer = end;
        }
    }
    TZ_SYNC;
    if (!is_coded) {
        position.word = shared->answer / 4u;
        position.odd = shared->answer % 4u * 8u;
    }
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u && !is_coded) {
            shared->held = 0u;
            for (tz_u32 i = 0u; i < position.odd; i += 8u)
                shared->held |= (tz_u32)out[4u * (tz_u64)position.word + i / 8u] << i;
        }
    }
    TZ_SYNC;
    return position;
}

/* ---- streams ---- */

/* As tz_deflate_tile, to an address that is a multiple of 4; 0 bytes for an empty tile. All
 * work-items get the size. */
TZ_FN tz_u32 tz_deflate_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                        TZ_GLOBAL tz_u8 *out, TZ_LOCAL tz_deflate_shared *shared)
{
    tz_deflate_position position;
    position.word = 0u;
    position.odd = 16u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            shared->held = TZ_ZLIB_HEADER;
    }
    tz_u32 some = 0u;
    for (tz_u32 at = 0u; at < size; at += some) {
        some = tz_kernel_min(size - at, TZ_DEFLATE_BLOCK);
        position = tz_deflate_put_block_work_group(in + at, some, at == 0u, at + some == size, out,
                                                   position, shared);
    }
    const tz_u32 checksum = tz_adler32_work_group(in, size, shared->partials);
    const tz_u32 held_bytes = (position.odd + 7u) / 8u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u && size > 0u) {
            TZ_GLOBAL tz_u8 *end = out + 4u * (tz_u64)position.word;
            for (tz_u32 i = 0u; i < held_bytes; i++)
                end[i] = (tz_u8)(shared->held >> 8u * i);
            tz_zlib_put_checksum(end + held_bytes, checksum);
        }
    }
    return size > 0u ? 4u * position.word + held_bytes + 4u : 0u;
}

#endif
