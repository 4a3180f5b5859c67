/* SPDX-License-Identifier: Apache-2.0
 * The fast Deflate encoder by a group of items, with the bytes of deflate_encode.h.
 *
 * Bits of a window are gathered in words of local memory: items add up what those before them take,
 * and so know where their bits begin. Words that are complete go to the tile, whose room begins at
 * a multiple of 4; the rest is held until the next window. */
#ifndef TZ_KERNELS_DEFLATE_ENCODE_GROUP_H
#define TZ_KERNELS_DEFLATE_ENCODE_GROUP_H

#include "kernels/deflate_window.h"
#include "kernels/move.h"

/* Where the stream is. */
typedef struct tz_deflate_place {
    tz_u32 word; /* complete ones */
    tz_u32 odd;  /* bits that are held */
} tz_deflate_place;

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
TZ_FN void tz_group_clear(TZ_LOCAL tz_deflate_group *group, tz_u32 item)
{
    for (tz_u32 i = item; i < TZ_DEFLATE_WORDS; i += TZ_GROUP_SIZE)
        group->work.one.words[i] = i == 0u ? group->held : 0u;
}

/* ---- blocks with codes ---- */

TZ_FN void tz_group_put_head(tz_word_writer *writer, const TZ_LOCAL tz_length_list *list,
                             tz_u32 last)
{
    const tz_u32 parts = tz_deflate_head_parts(list);
    for (tz_u32 i = 0u; i < parts; i++) {
        const tz_deflate_bits part = tz_deflate_head_part(list, last, i);
        tz_word_put(writer, part.bits, part.count);
    }
}

/* What a part takes. */
TZ_FN tz_u32 tz_group_part_bits(const tz_window_part *part, const TZ_LOCAL tz_u32 *codes)
{
    tz_u32 bits =
        part->run.full * ((codes[TZ_DEFLATE_FULL_MATCH] & 255u) + TZ_DEFLATE_DISTANCE_BITS);
    bits += tz_deflate_run_rest(codes, part->byte, part->run).count;
    for (tz_u32 i = 0u; i < part->count; i++)
        bits += codes[part->literals[i]] & 255u;
    return bits + (part->ends ? codes[TZ_DEFLATE_END] & 255u : 0u);
}

TZ_FN void tz_group_put_part(tz_word_writer *writer, const tz_window_part *part,
                             const TZ_LOCAL tz_u32 *codes)
{
    const tz_deflate_bits rest = tz_deflate_run_rest(codes, part->byte, part->run);
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
TZ_FN void tz_group_put_window(const tz_deflate_window *window, tz_u32 last, tz_u32 odd,
                               TZ_LOCAL tz_deflate_group *group, tz_u32 item)
{
    const TZ_LOCAL tz_deflate_block *block = &group->work.block;
    const tz_window_part part = tz_window_part_of(window, item);
    tz_u32 bit = odd;
    for (tz_u32 i = 0u; i < item; i++)
        bit += group->bits[i];
    tz_word_writer writer = tz_word_writer_at(group->work.one.words, bit);
    if (item == 0u && window->is_first)
        tz_group_put_head(&writer, &block->list, last);
    tz_group_put_part(&writer, &part, block->codes);
    tz_word_finish(&writer);
    if (item == TZ_GROUP_SIZE - 1u)
        group->answer = bit + group->bits[item];
}

/* Words that are complete go to the tile; item's part. */
TZ_FN void tz_group_flush(TZ_LOCAL tz_deflate_group *group, TZ_GLOBAL tz_u8 *out, tz_u32 word,
                          tz_u32 complete, tz_u32 item)
{
    for (tz_u32 i = item; i < complete; i += TZ_GROUP_SIZE)
        tz_store_word(out + 4u * (tz_u64)(word + i), group->work.one.words[i]);
    if (item == 0u)
        group->held = group->work.one.words[complete];
}

TZ_FN tz_deflate_place tz_group_put_coded(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 windows,
                                          tz_u32 first, tz_u32 last, TZ_GLOBAL tz_u8 *out,
                                          tz_deflate_place place, TZ_LOCAL tz_deflate_group *group)
{
    tz_deflate_window window;
    window.carried = 0u;
    for (tz_u32 number = 0u; number < windows; number++) {
        tz_window_set(&window, at, size, number, group);
        for (TZ_ITEMS(item)) {
            tz_window_mark(&window, first, group->runs[number % 2u], item);
            tz_group_clear(group, item);
        }
        TZ_SYNC;
        for (TZ_ITEMS(item)) {
            const tz_window_part part = tz_window_part_of(&window, item);
            group->bits[item] = tz_group_part_bits(&part, group->work.block.codes);
            if (item == 0u && window.is_first)
                group->bits[item] += (tz_u32)tz_deflate_list_bits(&group->work.block.list);
        }
        TZ_SYNC;
        for (TZ_ITEMS(item))
            tz_group_put_window(&window, last, place.odd, group, item);
        window.carried = tz_window_carry(&window);
        TZ_SYNC;
        const tz_u32 bits = group->answer;
        for (TZ_ITEMS(item))
            tz_group_flush(group, out, place.word, bits / 32u, item);
        place.word += bits / 32u;
        place.odd = bits % 32u;
        TZ_SYNC;
    }
    return place;
}

/* ---- stored blocks ---- */

/* The head of a block of size bytes, behind so many bits that are held. Returns its bytes. */
TZ_FN tz_u32 tz_group_stored_head(TZ_GLOBAL tz_u8 *out, tz_u32 odd, tz_u32 held, tz_u32 size,
                                  tz_u32 last, tz_u32 item)
{
    const tz_u64 bits = held | (tz_u64)last << odd;
    const tz_u32 padded = (odd + 3u + 7u) / 8u;
    if (item == 0u) {
        for (tz_u32 i = 0u; i < padded; i++)
            out[i] = (tz_u8)(bits >> 8u * i);
        tz_store_u32(out + padded, tz_little_u32(size | (size ^ 0xffffu) << 16));
    }
    return padded + 4u;
}

/* Item's part. Returns where the stream is then, in bytes. */
TZ_FN tz_u32 tz_group_put_stored(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 last,
                                 TZ_GLOBAL tz_u8 *out, tz_deflate_place place, tz_u32 held,
                                 tz_u32 item)
{
    tz_u32 to = 4u * place.word;
    tz_u32 odd = place.odd;
    tz_u32 some = 0u;
    for (tz_u32 done = 0u; done < size; done += some) {
        some = size - done < TZ_DEFLATE_STORED_MOST ? size - done : TZ_DEFLATE_STORED_MOST;
        to += tz_group_stored_head(out + to, odd, held, some, last && done + some == size, item);
        tz_move_share(out + to, at + done, some, item, TZ_GROUP_SIZE);
        to += some;
        odd = 0u;
        held = 0u;
    }
    return to;
}

/* ---- blocks ---- */

/* Either way of writing is gone through, and one of them does nothing: see deflate_estimate.h. */
TZ_FN tz_deflate_place tz_group_put_block(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 first,
                                          tz_u32 last, TZ_GLOBAL tz_u8 *out, tz_deflate_place place,
                                          TZ_LOCAL tz_deflate_group *group)
{
    tz_group_count(at, size, first, group);
    for (TZ_ITEMS(item)) {
        if (item == 0u)
            group->is_coded = tz_deflate_plan(&group->work.block, size, &group->work.one.huffman);
    }
    TZ_SYNC;
    const tz_u32 is_coded = group->is_coded;
    place = tz_group_put_coded(at, size, is_coded ? tz_window_count(size) : 0u, first, last, out,
                               place, group);
    for (TZ_ITEMS(item)) {
        if (!is_coded) {
            const tz_u32 end = tz_group_put_stored(at, size, last, out, place, group->held, item);
            if (item == 0u)
                group->answer = end;
        }
    }
    TZ_SYNC;
    if (!is_coded) {
        place.word = group->answer / 4u;
        place.odd = group->answer % 4u * 8u;
    }
    for (TZ_ITEMS(item)) {
        if (item == 0u && !is_coded) {
            group->held = 0u;
            for (tz_u32 i = 0u; i < place.odd; i += 8u)
                group->held |= (tz_u32)out[4u * (tz_u64)place.word + i / 8u] << i;
        }
    }
    TZ_SYNC;
    return place;
}

/* ---- streams ---- */

/* What is held, and the checksum, by item 0. */
TZ_FN void tz_group_finish(TZ_GLOBAL tz_u8 *out, tz_deflate_place place, tz_u32 held,
                           tz_u32 checksum)
{
    const tz_u32 bytes = (place.odd + 7u) / 8u;
    TZ_GLOBAL tz_u8 *at = out + 4u * (tz_u64)place.word;
    for (tz_u32 i = 0u; i < bytes; i++)
        at[i] = (tz_u8)(held >> 8u * i);
    tz_zlib_put_checksum(at + bytes, checksum);
}

/* As tz_deflate_tile, to a multiple of 4; nothing where there is nothing. All items get the size.
 */
TZ_FN tz_u32 tz_deflate_tile_group(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u8 *out,
                                   TZ_LOCAL tz_deflate_group *group)
{
    tz_deflate_place place;
    place.word = 0u;
    place.odd = 16u;
    for (TZ_ITEMS(item)) {
        if (item == 0u)
            group->held = TZ_ZLIB_HEAD;
    }
    tz_u32 some = 0u;
    for (tz_u32 at = 0u; at < size; at += some) {
        some = size - at < TZ_DEFLATE_BLOCK ? size - at : TZ_DEFLATE_BLOCK;
        place = tz_group_put_block(in + at, some, at == 0u, at + some == size, out, place, group);
    }
    const tz_u32 checksum = tz_adler32_group(in, size, group->parts);
    for (TZ_ITEMS(item)) {
        if (item == 0u && size > 0u)
            tz_group_finish(out, place, group->held, checksum);
    }
    return size > 0u ? 4u * place.word + (place.odd + 7u) / 8u + 4u : 0u;
}

#endif
