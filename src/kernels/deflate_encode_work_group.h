/* SPDX-License-Identifier: Apache-2.0
 * The fast Deflate encoder by a group of items, with the bytes of deflate_encode.h.
 *
 * Bits of a window are gathered in words of local memory: items add up what those before them take,
 * and so know where their bits begin. Words that are complete go to the tile, whose room begins at
 * a multiple of 4; the rest is held until the next window. */
#ifndef TZ_KERNELS_DEFLATE_ENCODE_WORK_GROUP_H
#define TZ_KERNELS_DEFLATE_ENCODE_WORK_GROUP_H

#include "kernels/copy_share.h"
#include "kernels/deflate_window.h"

/* Where the stream is. */
typedef struct tz_deflate_position {
    tz_u32 word; /* complete ones */
    tz_u32 odd;  /* bits that are held */
} tz_deflate_position;

/* ---- bits ---- */

/* Bits of one item, into the words of a window. */
typedef struct tz_word_writer {
    TZ_LOCAL tz_u32 *words;
    tz_u64 hold;
    tz_u32 count; /* bits in hold, and before them those of others: less than 32 */
} tz_word_writer;

TZ_FN tz_word_writer tz_word_writer_at(TZ_LOCAL tz_u32 *words, tz_u32 bit)
{
    tz_word_writer writer;
    writer.words = words + bit / 32u;
    writer.hold = 0u;
    writer.count = bit % 32u;
    return writer;
}

/* At most 32 bits. */
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

/* All words are 0 but for what is held; item's part. */
TZ_FN void tz_deflate_clear_words(TZ_LOCAL tz_deflate_shared *shared, tz_u32 work_item)
{
    for (tz_u32 i = work_item; i < TZ_DEFLATE_WORDS; i += TZ_WORK_GROUP_SIZE)
        shared->scratch.phase.words[i] = i == 0u ? shared->held : 0u;
}

/* ---- blocks with codes ---- */

TZ_FN void tz_word_put_header(tz_word_writer *writer, const TZ_LOCAL tz_length_list *list,
                              tz_u32 last)
{
    const tz_u32 parts = tz_deflate_header_fields(list);
    for (tz_u32 i = 0u; i < parts; i++) {
        const tz_deflate_bits part = tz_deflate_header_field(list, last, i);
        tz_word_put(writer, part.bits, part.count);
    }
}

/* What a part takes. */
TZ_FN tz_u32 tz_deflate_share_bits(const tz_deflate_share *part, const TZ_LOCAL tz_u32 *codes)
{
    tz_u32 bits =
        part->run.full * ((codes[TZ_DEFLATE_FULL_MATCH] & 255u) + TZ_DEFLATE_DISTANCE_BITS);
    bits += tz_deflate_run_tail(codes, part->byte, part->run).count;
    for (tz_u32 i = 0u; i < part->count; i++)
        bits += codes[part->literals[i]] & 255u;
    return bits + (part->ends ? codes[TZ_DEFLATE_END] & 255u : 0u);
}

TZ_FN void tz_word_put_share(tz_word_writer *writer, const tz_deflate_share *part,
                             const TZ_LOCAL tz_u32 *codes)
{
    const tz_deflate_bits rest = tz_deflate_run_tail(codes, part->byte, part->run);
    for (tz_u32 i = 0u; i < part->run.full; i++)
        tz_word_put_code(writer, codes[TZ_DEFLATE_FULL_MATCH], TZ_DEFLATE_DISTANCE_BITS);
    tz_word_put(writer, rest.bits, rest.count);
    for (tz_u32 i = 0u; i < part->count; i++)
        tz_word_put_code(writer, codes[part->literals[i]], 0u);
    if (part->ends)
        tz_word_put_code(writer, codes[TZ_DEFLATE_END], 0u);
}

/* Item's bits of a window, behind those of all items before it. The first item also has the head
 * of the block, and the last one says how many bits there are in all. */
TZ_FN void tz_deflate_put_window(const tz_deflate_window *window, tz_u32 last, tz_u32 odd,
                                 TZ_LOCAL tz_deflate_shared *shared, tz_u32 work_item)
{
    const TZ_LOCAL tz_deflate_block *block = &shared->scratch.block;
    const tz_deflate_share part = tz_deflate_share_of(window, work_item);
    tz_u32 bit = odd;
    for (tz_u32 i = 0u; i < work_item; i++)
        bit += shared->bits[i];
    tz_word_writer writer = tz_word_writer_at(shared->scratch.phase.words, bit);
    if (work_item == 0u && window->is_first)
        tz_word_put_header(&writer, &block->list, last);
    tz_word_put_share(&writer, &part, block->codes);
    tz_word_finish(&writer);
    if (work_item == TZ_WORK_GROUP_SIZE - 1u)
        shared->answer = bit + shared->bits[work_item];
}

/* Words that are complete go to the tile; item's part. */
TZ_FN void tz_deflate_flush_words(TZ_LOCAL tz_deflate_shared *shared, TZ_GLOBAL tz_u8 *out,
                                  tz_u32 word, tz_u32 complete, tz_u32 work_item)
{
    for (tz_u32 i = work_item; i < complete; i += TZ_WORK_GROUP_SIZE)
        tz_store_word(out + 4u * (tz_u64)(word + i), shared->scratch.phase.words[i]);
    if (work_item == 0u)
        shared->held = shared->scratch.phase.words[complete];
}

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
            tz_deflate_clear_words(shared, work_item);
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_deflate_share part = tz_deflate_share_of(&window, work_item);
            shared->bits[work_item] = tz_deflate_share_bits(&part, shared->scratch.block.codes);
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
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_deflate_flush_words(shared, out, position.word, bits / 32u, work_item);
        position.word += bits / 32u;
        position.odd = bits % 32u;
        TZ_SYNC;
    }
    return position;
}

/* ---- stored blocks ---- */

/* The head of a block of size bytes, behind so many bits that are held. Returns its bytes. */
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

/* Item's part. Returns where the stream is then, in bytes. */
TZ_FN tz_u32 tz_deflate_put_stored_share(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 last,
                                         TZ_GLOBAL tz_u8 *out, tz_deflate_position position,
                                         tz_u32 held, tz_u32 work_item)
{
    tz_u32 to = 4u * position.word;
    tz_u32 odd = position.odd;
    tz_u32 some = 0u;
    for (tz_u32 done = 0u; done < size; done += some) {
        some = size - done < TZ_DEFLATE_MAX_STORED ? size - done : TZ_DEFLATE_MAX_STORED;
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

/* Either way of writing is gone through, and one of them does nothing: see deflate_estimate.h. */
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

/* What is held, and the checksum, by item 0. */
TZ_FN void tz_deflate_put_last_bits(TZ_GLOBAL tz_u8 *out, tz_deflate_position position, tz_u32 held,
                                    tz_u32 checksum)
{
    const tz_u32 bytes = (position.odd + 7u) / 8u;
    TZ_GLOBAL tz_u8 *at = out + 4u * (tz_u64)position.word;
    for (tz_u32 i = 0u; i < bytes; i++)
        at[i] = (tz_u8)(held >> 8u * i);
    tz_zlib_put_checksum(at + bytes, checksum);
}

/* As tz_deflate_tile, to a multiple of 4; nothing where there is nothing. All items get the size.
 */
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
        some = size - at < TZ_DEFLATE_BLOCK ? size - at : TZ_DEFLATE_BLOCK;
        position = tz_deflate_put_block_work_group(in + at, some, at == 0u, at + some == size, out,
                                                   position, shared);
    }
    const tz_u32 checksum = tz_adler32_work_group(in, size, shared->parts);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u && size > 0u)
            tz_deflate_put_last_bits(out, position, shared->held, checksum);
    }
    return size > 0u ? 4u * position.word + (position.odd + 7u) / 8u + 4u : 0u;
}

#endif
