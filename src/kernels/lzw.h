/* SPDX-License-Identifier: Apache-2.0
 * LZW as TIFF has it, one tile by one item or by a group: codes of 9 to 12 bits, the highest bit
 * first, wider by one bit one code before the table needs it; and the old way, lowest bit first and
 * wider in time, which is told by its first two bytes. 256 clears the table, 257 ends the data.
 *
 * The table holds no strings. What a code stands for is what the code before it made and the byte
 * that followed, and all of that is in the tile already: the string of code k begins where the one
 * before it was written, places[k], and ends with the first byte of what came next, places[k + 1].
 * The work memory is TZ_LZW_SCRATCH places. */
#ifndef TZ_KERNELS_LZW_H
#define TZ_KERNELS_LZW_H

#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/status.h"

#ifndef TZ_SCRATCH_SPACE
#define TZ_SCRATCH_SPACE TZ_GLOBAL
#endif

#define TZ_LZW_CLEAR     256u
#define TZ_LZW_END       257u
#define TZ_LZW_FIRST     258u /* the first code that stands for a string of more than one byte */
#define TZ_LZW_MIN_WIDTH 9u
#define TZ_LZW_MAX_WIDTH 12u
#define TZ_LZW_MAX_CODES 4096u
#define TZ_LZW_SCRATCH   (TZ_LZW_MAX_CODES - TZ_LZW_FIRST + 1u)

/* A tile at work. */
typedef struct tz_lzw_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 warnings; /* TZ_DECODE_OLD_ORDER: the lowest bit comes first */
    tz_u64 bit;      /* next to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    tz_u32 width;
    tz_u32 next;                            /* the code that is defined next */
    TZ_SCRATCH_SPACE tz_u32 *string_starts; /* of codes from TZ_LZW_FIRST on, to that of next */
} tz_lzw_decoder;

TZ_FN int tz_lzw_is_at_end(const tz_lzw_decoder *decoder)
{
    return (tz_u64)decoder->in_size * 8u - decoder->bit < decoder->width;
}

/* The next code, which is the end where the data is over. */
TZ_FN tz_u32 tz_lzw_read_code(tz_lzw_decoder *decoder)
{
    if (tz_lzw_is_at_end(decoder))
        return TZ_LZW_END;
    const tz_u32 at = (tz_u32)(decoder->bit >> 3);
    const tz_u32 shift = (tz_u32)decoder->bit & 7u;
    const tz_u32 mask = (1u << decoder->width) - 1u;
    const tz_u32 left = decoder->in_size - at;
    const tz_u32 first = decoder->in[at];
    const tz_u32 second = left > 1u ? decoder->in[at + 1u] : 0u;
    const tz_u32 third = left > 2u ? decoder->in[at + 2u] : 0u;
    decoder->bit += decoder->width;
    if (decoder->warnings & TZ_DECODE_OLD_ORDER)
        return (first | second << 8 | third << 16) >> shift & mask;
    return (first << 16 | second << 8 | third) >> (24u - shift - decoder->width) & mask;
}

/* Codes become wider where the table has this many. */
TZ_FN void tz_lzw_widen(tz_lzw_decoder *decoder)
{
    const tz_u32 limit =
        (1u << decoder->width) - ((decoder->warnings & TZ_DECODE_OLD_ORDER) ? 0u : 1u);
    if (decoder->next == limit && decoder->width < TZ_LZW_MAX_WIDTH)
        decoder->width++;
}

/* After a Clear: the first code stands for itself. */
TZ_FN tz_u32 tz_lzw_clear_table(tz_lzw_decoder *decoder, tz_u32 *source, tz_u32 *size)
{
    decoder->width = TZ_LZW_MIN_WIDTH;
    decoder->next = TZ_LZW_FIRST;
    tz_u32 code = TZ_LZW_CLEAR;
    while (code == TZ_LZW_CLEAR)
        code = tz_lzw_read_code(decoder);
    if (code == TZ_LZW_END)
        return TZ_DECODE_TRUNCATED;
    if (code > TZ_LZW_END)
        return TZ_DECODE_BAD_CODE;
    if (decoder->made == decoder->size)
        return TZ_DECODE_TOO_LONG;
    *source = TZ_LITERAL | code;
    *size = 1u;
    decoder->string_starts[0] = decoder->made++;
    return TZ_DECODE_OK;
}

/* The string of a code, which follows what was made; cut where the tile ends. */
TZ_FN void tz_lzw_string(tz_lzw_decoder *decoder, tz_u32 code, tz_u32 *source, tz_u32 *size)
{
    if (code < TZ_LZW_CLEAR) {
        *source = TZ_LITERAL | code;
        *size = 1u;
    } else {
        const tz_u32 start = decoder->string_starts[code - TZ_LZW_FIRST];
        *source = decoder->made - start;
        *size = decoder->string_starts[code - TZ_LZW_FIRST + 1u] - start + 1u;
    }
    if (*size > decoder->size - decoder->made) {
        *size = decoder->size - decoder->made;
        decoder->warnings |= TZ_DECODE_STRING_TRUNCATED;
    }
    decoder->made += *size;
}

/* One code, whatever it is, and the bytes that it makes. The tile is not complete. */
TZ_FN tz_u32 tz_lzw_next_string(tz_lzw_decoder *decoder, tz_u32 *source, tz_u32 *size)
{
    tz_lzw_widen(decoder);
    const tz_u32 code = tz_lzw_read_code(decoder);
    if (code == TZ_LZW_CLEAR)
        return tz_lzw_clear_table(decoder, source, size);
    if (decoder->next == 0u)
        return TZ_DECODE_BAD_CODE; /* nothing may come before the first Clear */
    if (code == TZ_LZW_END)
        return TZ_DECODE_TRUNCATED;
    if (decoder->next == TZ_LZW_MAX_CODES) { /* old files go on with the table that they have */
        if (!(decoder->warnings & TZ_DECODE_OLD_ORDER))
            return TZ_DECODE_BAD_CODE;
    } else {
        if (code > decoder->next)
            return TZ_DECODE_BAD_CODE;
        decoder->next++;
        decoder->string_starts[decoder->next - TZ_LZW_FIRST] = decoder->made;
    }
    tz_lzw_string(decoder, code, source, size);
    return TZ_DECODE_OK;
}

/* The tile is complete: the end should follow, perhaps after a Clear. */
TZ_FN tz_u32 tz_lzw_finish(tz_lzw_decoder *decoder)
{
    tz_lzw_widen(decoder);
    int over = tz_lzw_is_at_end(decoder);
    tz_u32 code = tz_lzw_read_code(decoder);
    if (code == TZ_LZW_CLEAR) {
        decoder->width = TZ_LZW_MIN_WIDTH;
        over = tz_lzw_is_at_end(decoder);
        code = tz_lzw_read_code(decoder);
    }
    tz_u32 status = TZ_DECODE_NO_END;
    if (!over && code == TZ_LZW_END)
        status = TZ_DECODE_END((tz_u32)((decoder->bit + 7u) / 8u), decoder->in_size);
    return status | decoder->warnings;
}

TZ_FN tz_lzw_decoder tz_lzw_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                  tz_u32 size, TZ_SCRATCH_SPACE tz_u32 *string_starts)
{
    tz_lzw_decoder decoder;
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.warnings = in_size >= 2u && in[0] == 0 && (in[1] & 1) != 0 ? TZ_DECODE_OLD_ORDER : 0u;
    decoder.bit = 0u;
    decoder.out = out;
    decoder.size = size;
    decoder.made = 0u;
    decoder.width = TZ_LZW_MIN_WIDTH;
    decoder.next = 0u;
    decoder.string_starts = string_starts;
    return decoder;
}

/* One tile as TIFF stores it with compression 5, by one item. places: TZ_LZW_SCRATCH of them. */
TZ_FN tz_u32 tz_lzw_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size, TZ_SCRATCH_SPACE tz_u32 *string_starts)
{
    tz_lzw_decoder decoder = tz_lzw_start(in, in_size, out, size, string_starts);
    do {
        tz_u32 source, bytes;
        const tz_u32 at = decoder.made;
        const tz_u32 status = tz_lzw_next_string(&decoder, &source, &bytes);
        if (status != TZ_DECODE_OK)
            return status;
        tz_copy_match(out, at, source, bytes);
    } while (decoder.made < size);
    return tz_lzw_finish(&decoder);
}

/* Item 0's part: fills the queue. */
TZ_FN void tz_lzw_fill_queue(tz_lzw_decoder *decoder, TZ_LOCAL tz_u32 *queue)
{
    tz_copy_queue_begin(queue, decoder->made);
    while (!tz_copy_queue_is_full(queue)) {
        tz_u32 source, bytes;
        const tz_u32 status = tz_lzw_next_string(decoder, &source, &bytes);
        if (status != TZ_DECODE_OK) {
            tz_copy_queue_end(queue, status, 0u);
            return;
        }
        tz_copy_queue_add(queue, source, bytes);
        if (decoder->made == decoder->size) {
            tz_copy_queue_end(queue, tz_lzw_finish(decoder), 0u);
            return;
        }
    }
}

/* The same by a group; queue: TZ_COPY_QUEUE_WORDS. All items get the status. */
TZ_FN tz_u32 tz_lzw_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 size, TZ_SCRATCH_SPACE tz_u32 *string_starts,
                                    TZ_LOCAL tz_u32 *queue)
{
    tz_lzw_decoder decoder = tz_lzw_start(in, in_size, out, size, string_starts);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                tz_lzw_fill_queue(&decoder, queue);
        }
        TZ_SYNC;
        over = queue[TZ_COPY_QUEUE_IS_LAST];
        status = queue[TZ_COPY_QUEUE_STATUS];
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_copy_queue_write(queue, in, out, work_item);
        TZ_SYNC;
    }
    return status;
}

#endif
