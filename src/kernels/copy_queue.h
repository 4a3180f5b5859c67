/* SPDX-License-Identifier: Apache-2.0
 * The output of all decoders: literals, and copies of bytes that the tile has already. One
 * work-item writes them at once. For a work-group, work-item 0 gathers copies in a queue in local
 * memory, and all work-items write the bytes of the queue.
 *
 * A copy may read bytes that an earlier copy of the same queue makes. No byte waits for another
 * nevertheless: its work-item traces it back through the queue, to a byte that was there before the
 * queue or to a literal.
 *
 * The source of a copy is a distance. With TZ_LITERAL it is a literal byte, or the index of the
 * first of several literals that lie elsewhere, in the input or in a buffer. */
#ifndef TZ_KERNELS_COPY_QUEUE_H
#define TZ_KERNELS_COPY_QUEUE_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/work_items.h"

#define TZ_LITERAL 0x80000000u

/* By one work-item: writes size bytes at offset `at` of the tile. */
TZ_FN void tz_copy_match(TZ_GLOBAL tz_u8 *out, tz_u32 at, tz_u32 source, tz_u32 size)
{
    if (source & TZ_LITERAL) {
        out[at] = (tz_u8)source;
        return;
    }
    const TZ_GLOBAL tz_u8 *from = out + (at - source);
    TZ_GLOBAL tz_u8 *to = out + at;
    for (tz_u32 i = 0u; i < size; i++) /* byte by byte: the copy may overlap its source */
        to[i] = from[i];
}

/* ---- by a work-group ---- */

/* A queue is TZ_COPY_QUEUE_WORDS words of local memory, at these indices. Offsets are into the tile
 * but for STORED_AT. */
#define TZ_COPY_QUEUE_CAPACITY     128u
#define TZ_COPY_QUEUE_COUNT        0u /* copies in the queue */
#define TZ_COPY_QUEUE_IS_LAST      1u /* no queue follows */
#define TZ_COPY_QUEUE_STATUS       2u /* a tz_decode_status */
#define TZ_COPY_QUEUE_USED         3u /* stored bytes that were read; set in the last queue */
#define TZ_COPY_QUEUE_STORED_AT    4u /* offset in the input of bytes that follow the copies */
#define TZ_COPY_QUEUE_STORED_BYTES 5u /* number of these bytes */
#define TZ_COPY_QUEUE_FULL         6u /* nothing more may be added */
#define TZ_COPY_QUEUE_ENDS         8u /* offset of the first copy, then the end of each copy */
#define TZ_COPY_QUEUE_SOURCES      (TZ_COPY_QUEUE_ENDS + TZ_COPY_QUEUE_CAPACITY + 1u)
#define TZ_COPY_QUEUE_WORDS        (TZ_COPY_QUEUE_SOURCES + TZ_COPY_QUEUE_CAPACITY)

/* Empties the queue; its first copy will be written at offset `at`. */
TZ_FN void tz_copy_queue_begin(TZ_LOCAL tz_u32 *queue, tz_u32 at)
{
    for (tz_u32 i = 0u; i < TZ_COPY_QUEUE_ENDS; i++)
        queue[i] = 0u;
    queue[TZ_COPY_QUEUE_ENDS] = at;
}

TZ_FN int tz_copy_queue_is_full(const TZ_LOCAL tz_u32 *queue)
{
    return queue[TZ_COPY_QUEUE_FULL] || queue[TZ_COPY_QUEUE_COUNT] == TZ_COPY_QUEUE_CAPACITY;
}

/* Adds a copy. A long copy of bytes that the queue itself makes is the last one: later copies would
 * be traced through it, and in a run of equal bytes every byte through all copies before. */
TZ_FN void tz_copy_queue_add(TZ_LOCAL tz_u32 *queue, tz_u32 source, tz_u32 size)
{
    const tz_u32 count = queue[TZ_COPY_QUEUE_COUNT];
    const tz_u32 at = queue[TZ_COPY_QUEUE_ENDS + count];
    queue[TZ_COPY_QUEUE_SOURCES + count] = source;
    queue[TZ_COPY_QUEUE_ENDS + count + 1u] = at + size;
    queue[TZ_COPY_QUEUE_COUNT] = count + 1u;
    if (size >= TZ_WORK_GROUP_SIZE / 2u && !(source & TZ_LITERAL)) {
        queue[TZ_COPY_QUEUE_FULL] =
            at - source + tz_kernel_min(size, source) > queue[TZ_COPY_QUEUE_ENDS];
    }
}

/* Makes this the last queue. After an error nothing of it is written. */
TZ_FN void tz_copy_queue_end(TZ_LOCAL tz_u32 *queue, tz_u32 status, tz_u32 used)
{
    queue[TZ_COPY_QUEUE_IS_LAST] = 1u;
    queue[TZ_COPY_QUEUE_STATUS] = status;
    queue[TZ_COPY_QUEUE_USED] = used;
    if (status & TZ_DECODE_ERRORS) {
        queue[TZ_COPY_QUEUE_COUNT] = 0u;
        queue[TZ_COPY_QUEUE_STORED_BYTES] = 0u;
    }
}

/* The index of the copy that makes the byte at an offset, by bisection. */
TZ_FN tz_u32 tz_copy_queue_find(const TZ_LOCAL tz_u32 *queue, tz_u32 at)
{
    tz_u32 low = 0u;
    tz_u32 high = queue[TZ_COPY_QUEUE_COUNT] - 1u;
    while (low < high) {
        const tz_u32 middle = (low + high) / 2u;
        if (at < queue[TZ_COPY_QUEUE_ENDS + middle + 1u])
            high = middle;
        else
            low = middle + 1u;
    }
    return low;
}

/* The origin of the byte at an offset: an offset before the queue, or a literal with TZ_LITERAL.
 * Every step goes to an offset before the copy that it looks at, so that there are no more steps
 * than copies. A copy that overlaps itself repeats its first `source` bytes. */
TZ_FN tz_u32 tz_copy_queue_trace(const TZ_LOCAL tz_u32 *queue, tz_u32 at)
{
    while (at >= queue[TZ_COPY_QUEUE_ENDS]) {
        const tz_u32 copy = tz_copy_queue_find(queue, at);
        const tz_u32 source = queue[TZ_COPY_QUEUE_SOURCES + copy];
        const tz_u32 start = queue[TZ_COPY_QUEUE_ENDS + copy];
        if (source & TZ_LITERAL)
            return source + (at - start);
        at = start - source + (at - start) % source;
    }
    return at;
}

/* Writes the bytes of one work-item: every TZ_WORK_GROUP_SIZE-th of the queue. */
TZ_FN void tz_copy_queue_write(const TZ_LOCAL tz_u32 *queue, const TZ_GLOBAL tz_u8 *in,
                               TZ_GLOBAL tz_u8 *out, tz_u32 work_item)
{
    const tz_u32 end = queue[TZ_COPY_QUEUE_ENDS + queue[TZ_COPY_QUEUE_COUNT]];
    for (tz_u32 at = queue[TZ_COPY_QUEUE_ENDS] + work_item; at < end; at += TZ_WORK_GROUP_SIZE) {
        const tz_u32 from = tz_copy_queue_trace(queue, at);
        out[at] = from & TZ_LITERAL ? (tz_u8)from : out[from];
    }
    for (tz_u32 i = work_item; i < queue[TZ_COPY_QUEUE_STORED_BYTES]; i += TZ_WORK_GROUP_SIZE)
        out[end + i] = in[queue[TZ_COPY_QUEUE_STORED_AT] + i];
}

/* The same if sources are indices of literals. step: 1; 0 if one byte stands for all. */
TZ_FN void tz_copy_queue_write_stored(const TZ_LOCAL tz_u32 *queue, const TZ_GLOBAL tz_u8 *literals,
                                      tz_u32 step, TZ_GLOBAL tz_u8 *out, tz_u32 work_item)
{
    const tz_u32 end = queue[TZ_COPY_QUEUE_ENDS + queue[TZ_COPY_QUEUE_COUNT]];
    for (tz_u32 at = queue[TZ_COPY_QUEUE_ENDS] + work_item; at < end; at += TZ_WORK_GROUP_SIZE) {
        const tz_u32 from = tz_copy_queue_trace(queue, at);
        out[at] = from & TZ_LITERAL ? literals[(from & ~TZ_LITERAL) * step] : out[from];
    }
}

#endif
