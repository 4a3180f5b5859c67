/* SPDX-License-Identifier: Apache-2.0
 * LZW of TIFF (TIFF 6.0, section 13), one tile by one work-item or by a work-group. Codes have 9 to
 * 12 bits, the highest bit first, and become wider one code before the table needs it. Old files
 * have the lowest bit first and become wider in time; their first two bytes show it. Code 256
 * clears the table, 257 ends the data.
 *
 * The table holds no strings. A code stands for the string of the code before it and one more byte,
 * and all of that is in the tile already: the string of code k begins at string_starts[k] and ends
 * with the first byte of the next string, at string_starts[k + 1]. So a code is a copy from the
 * tile. The scratch memory is TZ_LZW_SCRATCH offsets. */
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

typedef struct tz_lzw_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 warnings; /* TZ_DECODE_OLD_ORDER: the lowest bit comes first */
    tz_u64 bit;      /* offset of the next bit to read */
    tz_u32 size;
    tz_u32 made;  /* decoded bytes so far */
    tz_u32 width; /* bits of a code */
    tz_u32 next;  /* the code that is defined next; 0 before the first Clear */
    TZ_SCRATCH_SPACE tz_u32 *string_starts; /* of codes from TZ_LZW_FIRST to next */
} tz_lzw_decoder;

TZ_FN int tz_lzw_is_at_end(const tz_lzw_decoder *decoder)
{
    return (tz_u64)decoder->in_size * 8u - decoder->bit < decoder->width;
}

/* The next code; TZ_LZW_END if no bits are left for it. */
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

/* Makes codes wider if the table has grown to the limit of their width. */
TZ_FN void tz_lzw_widen(tz_lzw_decoder *decoder)
{
    const tz_u32 limit =
        (1u << decoder->width) - ((decoder->warnings & TZ_DECODE_OLD_ORDER) ? 0u : 1u);
    if (decoder->next == limit && decoder->width < TZ_LZW_MAX_WIDTH)
        decoder->width++;
}

/* After a Clear: the first code is a literal. More Clears may follow. */
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

/* Reads one code of a tile that is not complete; source and size are the copy of its string, which
 * ends with the tile at the latest. */
TZ_FN tz_u32 tz_lzw_next_string(tz_lzw_decoder *decoder, tz_u32 *source, tz_u32 *size)
{
    tz_lzw_widen(decoder);
    const tz_u32 code = tz_lzw_read_code(decoder);
    if (code == TZ_LZW_CLEAR)
        return tz_lzw_clear_table(decoder, source, size);
    if (decoder->next == 0u)
        return TZ_DECODE_BAD_CODE; /* the first code must be a Clear */
    if (code == TZ_LZW_END)
        return TZ_DECODE_TRUNCATED;
    if (decoder->next == TZ_LZW_MAX_CODES) { /* old files continue with a full table */
        if (!(decoder->warnings & TZ_DECODE_OLD_ORDER))
            return TZ_DECODE_BAD_CODE;
    } else {
        if (code > decoder->next)
            return TZ_DECODE_BAD_CODE;
        decoder->next++;
        decoder->string_starts[decoder->next - TZ_LZW_FIRST] = decoder->made;
    }
    *source = TZ_LITERAL | code;
    *size = 1u;
    if (code >= TZ_LZW_FIRST) {
        const tz_u32 start = decoder->string_starts[code - TZ_LZW_FIRST];
        *source = decoder->made - start;
        *size = decoder->string_starts[code - TZ_LZW_FIRST + 1u] - start + 1u;
    }
    if (*size > decoder->size - decoder->made) {
        *size = decoder->size - decoder->made;
        decoder->warnings |= TZ_DECODE_STRING_TRUNCATED;
    }
    decoder->made += *size;
    return TZ_DECODE_OK;
}

/* The status of a complete tile: code 257 should follow, perhaps after a Clear. */
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

TZ_FN tz_lzw_decoder tz_lzw_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size,
                                  TZ_SCRATCH_SPACE tz_u32 *string_starts)
{
    tz_lzw_decoder decoder = {0};
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.warnings = in_size >= 2u && in[0] == 0 && (in[1] & 1) != 0 ? TZ_DECODE_OLD_ORDER : 0u;
    decoder.size = size;
    decoder.width = TZ_LZW_MIN_WIDTH;
    decoder.string_starts = string_starts;
    return decoder;
}

/* Decodes a tile with compression 5, by one work-item. string_starts: TZ_LZW_SCRATCH. */
TZ_FN tz_u32 tz_lzw_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size, TZ_SCRATCH_SPACE tz_u32 *string_starts)
{
    tz_lzw_decoder decoder = tz_lzw_start(in, in_size, size, string_starts);
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

/* Work-item 0 fills the queue. */
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

/* The same by a work-group; queue: TZ_COPY_QUEUE_WORDS. All work-items get the status. */
TZ_FN tz_u32 tz_lzw_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 size, TZ_SCRATCH_SPACE tz_u32 *string_starts,
                                    TZ_LOCAL tz_u32 *queue)
{
    tz_lzw_decoder decoder = tz_lzw_start(in, in_size, size, string_starts);
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
