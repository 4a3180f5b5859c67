/* SPDX-License-Identifier: Apache-2.0
 * What codes of LZW, deflate and Zstandard come to: literals, or a copy of bytes that the tile has
 * already. Written at once by one item, or gathered in a queue and written by a group: no byte of a
 * queue waits for another, since each is traced back to where it was before the queue, or to a
 * literal.
 *
 * A source is the distance to copy from; or with TZ_LITERAL a literal byte, or the number of the
 * first of several literals that the decoder has elsewhere. */
#ifndef TZ_KERNELS_COPY_QUEUE_H
#define TZ_KERNELS_COPY_QUEUE_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/work_items.h"

#define TZ_LITERAL 0x80000000u

/* By one item: size bytes at this place of the tile. */
TZ_FN void tz_copy_match(TZ_GLOBAL tz_u8 *out, tz_u32 at, tz_u32 source, tz_u32 size)
{
    if (source & TZ_LITERAL) {
        out[at] = (tz_u8)source;
        return;
    }
    const TZ_GLOBAL tz_u8 *from = out + (at - source);
    TZ_GLOBAL tz_u8 *to = out + at;
    for (tz_u32 i = 0u; i < size; i++) /* byte by byte: it may reach into itself */
        to[i] = from[i];
}

/* ---- by a group ---- */

/* A queue is TZ_COPY_QUEUE_WORDS words of local memory. Item 0 fills it, all items empty it. */
#define TZ_COPY_QUEUE_CAPACITY     128u
#define TZ_COPY_QUEUE_COUNT        0u /* copies in it */
#define TZ_COPY_QUEUE_IS_LAST      1u /* it is the last one */
#define TZ_COPY_QUEUE_STATUS       2u /* a tz_decode_status */
#define TZ_COPY_QUEUE_USED         3u /* stored bytes that were read */
#define TZ_COPY_QUEUE_STORED_AT    4u /* what follows the copies: bytes of the input, from here */
#define TZ_COPY_QUEUE_STORED_BYTES 5u /* and so many */
#define TZ_COPY_QUEUE_FULL         6u /* nothing more may be added */
#define TZ_COPY_QUEUE_ENDS         8u /* the place of the first copy, then of each copy's end */
#define TZ_COPY_QUEUE_SOURCES      (TZ_COPY_QUEUE_ENDS + TZ_COPY_QUEUE_CAPACITY + 1u)
#define TZ_COPY_QUEUE_WORDS        (TZ_COPY_QUEUE_SOURCES + TZ_COPY_QUEUE_CAPACITY)

TZ_FN void tz_copy_queue_begin(TZ_LOCAL tz_u32 *queue, tz_u32 at)
{
    queue[TZ_COPY_QUEUE_COUNT] = 0u;
    queue[TZ_COPY_QUEUE_IS_LAST] = 0u;
    queue[TZ_COPY_QUEUE_STATUS] = TZ_DECODE_OK;
    queue[TZ_COPY_QUEUE_USED] = 0u;
    queue[TZ_COPY_QUEUE_STORED_AT] = 0u;
    queue[TZ_COPY_QUEUE_STORED_BYTES] = 0u;
    queue[TZ_COPY_QUEUE_FULL] = 0u;
    queue[TZ_COPY_QUEUE_ENDS] = at;
}

TZ_FN int tz_copy_queue_is_full(const TZ_LOCAL tz_u32 *queue)
{
    return queue[TZ_COPY_QUEUE_FULL] || queue[TZ_COPY_QUEUE_COUNT] == TZ_COPY_QUEUE_CAPACITY;
}

/* A long copy from within the queue is its last: the next one would be traced through it, and then
 * all of a run of equal bytes through all copies before. */
TZ_FN void tz_copy_queue_add(TZ_LOCAL tz_u32 *queue, tz_u32 source, tz_u32 size)
{
    const tz_u32 count = queue[TZ_COPY_QUEUE_COUNT];
    const tz_u32 at = queue[TZ_COPY_QUEUE_ENDS + count];
    queue[TZ_COPY_QUEUE_SOURCES + count] = source;
    queue[TZ_COPY_QUEUE_ENDS + count + 1u] = at + size;
    queue[TZ_COPY_QUEUE_COUNT] = count + 1u;
    if (size >= TZ_WORK_GROUP_SIZE / 2u && !(source & TZ_LITERAL)) {
        const tz_u32 copied = size < source ? size : source;
        queue[TZ_COPY_QUEUE_FULL] = at - source + copied > queue[TZ_COPY_QUEUE_ENDS];
    }
}

/* No queue follows; of this one nothing is written when there is an error. */
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

/* The copy that makes the byte at this place. */
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

/* Where the byte at this place comes from: a place before the queue, or a literal with TZ_LITERAL.
 * Every step goes back to before the copy that it looks at, so that there are no more steps than
 * copies. */
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

/* One item's share of all that the queue makes. */
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

/* The same where literals are bytes of the input. */
TZ_FN void tz_copy_queue_write_stored(const TZ_LOCAL tz_u32 *queue, const TZ_GLOBAL tz_u8 *in,
                                      TZ_GLOBAL tz_u8 *out, tz_u32 work_item)
{
    const tz_u32 end = queue[TZ_COPY_QUEUE_ENDS + queue[TZ_COPY_QUEUE_COUNT]];
    for (tz_u32 at = queue[TZ_COPY_QUEUE_ENDS] + work_item; at < end; at += TZ_WORK_GROUP_SIZE) {
        const tz_u32 from = tz_copy_queue_trace(queue, at);
        out[at] = from & TZ_LITERAL ? in[from & ~TZ_LITERAL] : out[from];
    }
}

#endif
