/* SPDX-License-Identifier: Apache-2.0
 * LZW as TIFF has it, one tile by one item or by a group: codes of 9 to 12 bits, the highest bit
 * first, wider by one bit one code before the table needs it; and the old way, lowest bit first and
 * wider in time, which is told by its first two bytes. 256 clears the table, 257 ends the data.
 *
 * The table holds no strings. What a code stands for is what the code before it made and the byte
 * that followed, and all of that is in the tile already: the string of code k begins where the one
 * before it was written, places[k], and ends with the first byte of what came next, places[k + 1].
 * The work memory is TZ_LZW_WORK places. */
#ifndef TZ_KERNELS_LZW_H
#define TZ_KERNELS_LZW_H

#include "kernels/copies.h"
#include "kernels/kernel.h"
#include "kernels/status.h"

#ifndef TZ_WORK
#define TZ_WORK TZ_GLOBAL
#endif

#define TZ_LZW_CLEAR     256u
#define TZ_LZW_END       257u
#define TZ_LZW_FIRST     258u /* the first code that stands for a string of more than one byte */
#define TZ_LZW_MIN_WIDTH 9u
#define TZ_LZW_MAX_WIDTH 12u
#define TZ_LZW_MAX_CODES 4096u
#define TZ_LZW_WORK      (TZ_LZW_MAX_CODES - TZ_LZW_FIRST + 1u)

/* A tile at work. */
typedef struct tz_lzw_run {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 warnings; /* TZ_DECODE_OLD_ORDER: the lowest bit comes first */
    tz_u64 bit;      /* next to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    tz_u32 width;
    tz_u32 next;            /* the code that is defined next */
    TZ_WORK tz_u32 *places; /* of codes from TZ_LZW_FIRST on, to that of next */
} tz_lzw_run;

TZ_FN int tz_lzw_is_over(const tz_lzw_run *run)
{
    return (tz_u64)run->in_size * 8u - run->bit < run->width;
}

/* The next code, which is the end where the data is over. */
TZ_FN tz_u32 tz_lzw_take(tz_lzw_run *run)
{
    if (tz_lzw_is_over(run))
        return TZ_LZW_END;
    const tz_u32 at = (tz_u32)(run->bit >> 3);
    const tz_u32 shift = (tz_u32)run->bit & 7u;
    const tz_u32 mask = (1u << run->width) - 1u;
    const tz_u32 left = run->in_size - at;
    const tz_u32 first = run->in[at];
    const tz_u32 second = left > 1u ? run->in[at + 1u] : 0u;
    const tz_u32 third = left > 2u ? run->in[at + 2u] : 0u;
    run->bit += run->width;
    if (run->warnings & TZ_DECODE_OLD_ORDER)
        return (first | second << 8 | third << 16) >> shift & mask;
    return (first << 16 | second << 8 | third) >> (24u - shift - run->width) & mask;
}

/* Codes become wider where the table has this many. */
TZ_FN void tz_lzw_widen(tz_lzw_run *run)
{
    const tz_u32 limit = (1u << run->width) - ((run->warnings & TZ_DECODE_OLD_ORDER) ? 0u : 1u);
    if (run->next == limit && run->width < TZ_LZW_MAX_WIDTH)
        run->width++;
}

/* After a Clear: the first code stands for itself. */
TZ_FN tz_u32 tz_lzw_restart(tz_lzw_run *run, tz_u32 *source, tz_u32 *size)
{
    run->width = TZ_LZW_MIN_WIDTH;
    run->next = TZ_LZW_FIRST;
    tz_u32 code = TZ_LZW_CLEAR;
    while (code == TZ_LZW_CLEAR)
        code = tz_lzw_take(run);
    if (code == TZ_LZW_END)
        return TZ_DECODE_TRUNCATED;
    if (code > TZ_LZW_END)
        return TZ_DECODE_BAD_CODE;
    if (run->made == run->size)
        return TZ_DECODE_TOO_LONG;
    *source = TZ_LITERAL | code;
    *size = 1u;
    run->places[0] = run->made++;
    return TZ_DECODE_OK;
}

/* The string of a code, which follows what was made; cut where the tile ends. */
TZ_FN void tz_lzw_string(tz_lzw_run *run, tz_u32 code, tz_u32 *source, tz_u32 *size)
{
    if (code < TZ_LZW_CLEAR) {
        *source = TZ_LITERAL | code;
        *size = 1u;
    } else {
        const tz_u32 place = run->places[code - TZ_LZW_FIRST];
        *source = run->made - place;
        *size = run->places[code - TZ_LZW_FIRST + 1u] - place + 1u;
    }
    if (*size > run->size - run->made) {
        *size = run->size - run->made;
        run->warnings |= TZ_DECODE_STRING_CUT;
    }
    run->made += *size;
}

/* One code, whatever it is, and the bytes that it makes. The tile is not complete. */
TZ_FN tz_u32 tz_lzw_next(tz_lzw_run *run, tz_u32 *source, tz_u32 *size)
{
    tz_lzw_widen(run);
    const tz_u32 code = tz_lzw_take(run);
    if (code == TZ_LZW_CLEAR)
        return tz_lzw_restart(run, source, size);
    if (run->next == 0u)
        return TZ_DECODE_BAD_CODE; /* nothing may come before the first Clear */
    if (code == TZ_LZW_END)
        return TZ_DECODE_TRUNCATED;
    if (run->next == TZ_LZW_MAX_CODES) { /* old files go on with the table that they have */
        if (!(run->warnings & TZ_DECODE_OLD_ORDER))
            return TZ_DECODE_BAD_CODE;
    } else {
        if (code > run->next)
            return TZ_DECODE_BAD_CODE;
        run->next++;
        run->places[run->next - TZ_LZW_FIRST] = run->made;
    }
    tz_lzw_string(run, code, source, size);
    return TZ_DECODE_OK;
}

/* The tile is complete: the end should follow, perhaps after a Clear. */
TZ_FN tz_u32 tz_lzw_finish(tz_lzw_run *run)
{
    tz_lzw_widen(run);
    int over = tz_lzw_is_over(run);
    tz_u32 code = tz_lzw_take(run);
    if (code == TZ_LZW_CLEAR) {
        run->width = TZ_LZW_MIN_WIDTH;
        over = tz_lzw_is_over(run);
        code = tz_lzw_take(run);
    }
    tz_u32 status = TZ_DECODE_NO_END;
    if (!over && code == TZ_LZW_END)
        status = TZ_DECODE_END((tz_u32)((run->bit + 7u) / 8u), run->in_size);
    return status | run->warnings;
}

TZ_FN tz_lzw_run tz_lzw_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                              tz_u32 size, TZ_WORK tz_u32 *places)
{
    tz_lzw_run run;
    run.in = in;
    run.in_size = in_size;
    run.warnings = in_size >= 2u && in[0] == 0 && (in[1] & 1) != 0 ? TZ_DECODE_OLD_ORDER : 0u;
    run.bit = 0u;
    run.out = out;
    run.size = size;
    run.made = 0u;
    run.width = TZ_LZW_MIN_WIDTH;
    run.next = 0u;
    run.places = places;
    return run;
}

/* One tile as TIFF stores it with compression 5, by one item. places: TZ_LZW_WORK of them. */
TZ_FN tz_u32 tz_lzw_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size, TZ_WORK tz_u32 *places)
{
    tz_lzw_run run = tz_lzw_start(in, in_size, out, size, places);
    do {
        tz_u32 source, bytes;
        const tz_u32 at = run.made;
        const tz_u32 status = tz_lzw_next(&run, &source, &bytes);
        if (status != TZ_DECODE_OK)
            return status;
        tz_copy(out, at, source, bytes);
    } while (run.made < size);
    return tz_lzw_finish(&run);
}

/* Item 0's part: fills the queue. */
TZ_FN void tz_lzw_gather(tz_lzw_run *run, TZ_LOCAL tz_u32 *queue)
{
    tz_queue_begin(queue, run->made);
    while (!tz_queue_is_full(queue)) {
        tz_u32 source, bytes;
        const tz_u32 status = tz_lzw_next(run, &source, &bytes);
        if (status != TZ_DECODE_OK) {
            tz_queue_end(queue, status, 0u);
            return;
        }
        tz_queue_add(queue, source, bytes);
        if (run->made == run->size) {
            tz_queue_end(queue, tz_lzw_finish(run), 0u);
            return;
        }
    }
}

/* The same by a group; queue: TZ_QUEUE_WORDS. All items get the status. */
TZ_FN tz_u32 tz_lzw_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                          tz_u32 size, TZ_WORK tz_u32 *places, TZ_LOCAL tz_u32 *queue)
{
    tz_lzw_run run = tz_lzw_start(in, in_size, out, size, places);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_ITEMS(item)) {
            if (item == 0u)
                tz_lzw_gather(&run, queue);
        }
        TZ_SYNC;
        over = queue[TZ_QUEUE_OVER];
        status = queue[TZ_QUEUE_STATE];
        for (TZ_ITEMS(item))
            tz_queue_write(queue, in, out, item);
        TZ_SYNC;
    }
    return status;
}

#endif
