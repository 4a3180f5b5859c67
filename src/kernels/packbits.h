/* SPDX-License-Identifier: Apache-2.0
 * PackBits, one tile by one item or by a group: a byte n below 128 is followed by n + 1 bytes as
 * they are, one above 128 by a byte that stands for 257 - n of the same; 128 means nothing, also
 * behind the last packet. */
#ifndef TZ_KERNELS_PACKBITS_H
#define TZ_KERNELS_PACKBITS_H

#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/status.h"

/* A tile at work. */
typedef struct tz_packbits_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* next to read */
    tz_u32 size;
    tz_u32 made;
} tz_packbits_decoder;

/* A packet: so many bytes, from there in the input, or the one there again and again. Those that
 * mean nothing are packets of none. The tile is not complete. */
TZ_FN tz_u32 tz_packbits_next_packet(tz_packbits_decoder *decoder, tz_u32 *from, tz_u32 *count,
                                     tz_u32 *is_run)
{
    *count = 0u;
    if (decoder->at == decoder->in_size)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 head = decoder->in[decoder->at++];
    if (head == 128u)
        return TZ_DECODE_OK;
    *is_run = head > 128u;
    *count = *is_run ? 257u - head : head + 1u;
    const tz_u32 stored = *is_run ? 1u : *count;
    if (stored > decoder->in_size - decoder->at)
        return TZ_DECODE_TRUNCATED;
    if (*count > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    *from = decoder->at;
    decoder->at += stored;
    decoder->made += *count;
    return TZ_DECODE_OK;
}

/* The tile is complete. */
TZ_FN tz_u32 tz_packbits_finish(tz_packbits_decoder *decoder)
{
    while (decoder->at < decoder->in_size && decoder->in[decoder->at] == 128)
        decoder->at++;
    return TZ_DECODE_END(decoder->at, decoder->in_size);
}

TZ_FN tz_packbits_decoder tz_packbits_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    tz_packbits_decoder decoder;
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.at = 0u;
    decoder.size = size;
    decoder.made = 0u;
    return decoder;
}

/* One tile as TIFF stores it with compression 32773, by one item. */
TZ_FN tz_u32 tz_packbits_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                              tz_u32 size)
{
    tz_packbits_decoder decoder = tz_packbits_start(in, in_size, size);
    while (decoder.made < size) {
        tz_u32 from = 0u, count = 0u, is_run = 0u;
        TZ_GLOBAL tz_u8 *to = out + decoder.made;
        const tz_u32 status = tz_packbits_next_packet(&decoder, &from, &count, &is_run);
        if (status != TZ_DECODE_OK)
            return status;
        for (tz_u32 i = 0u; i < count; i++)
            to[i] = in[is_run ? from : from + i];
    }
    return tz_packbits_finish(&decoder);
}

/* Item 0's part: fills the queue. A run is a literal and a copy of it. */
TZ_FN void tz_packbits_fill_queue(tz_packbits_decoder *decoder, TZ_LOCAL tz_u32 *queue)
{
    tz_copy_queue_begin(queue, decoder->made);
    while (queue[TZ_COPY_QUEUE_COUNT] + 2u <= TZ_COPY_QUEUE_CAPACITY) {
        tz_u32 from = 0u, count = 0u, is_run = 0u;
        if (decoder->made == decoder->size) {
            tz_copy_queue_end(queue, tz_packbits_finish(decoder), 0u);
            return;
        }
        const tz_u32 status = tz_packbits_next_packet(decoder, &from, &count, &is_run);
        if (status != TZ_DECODE_OK) {
            tz_copy_queue_end(queue, status, 0u);
            return;
        }
        if (count > 0u)
            tz_copy_queue_add(queue, TZ_LITERAL | from, is_run ? 1u : count);
        if (is_run) {
            tz_copy_queue_add(queue, 1u, count - 1u);
            queue[TZ_COPY_QUEUE_FULL] = 0u; /* no copy is traced through another */
        }
    }
}

/* The same by a group; queue: TZ_COPY_QUEUE_WORDS. All items get the status. */
TZ_FN tz_u32 tz_packbits_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size,
                                         TZ_GLOBAL tz_u8 *out, tz_u32 size, TZ_LOCAL tz_u32 *queue)
{
    tz_packbits_decoder decoder = tz_packbits_start(in, in_size, size);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                tz_packbits_fill_queue(&decoder, queue);
        }
        TZ_SYNC;
        over = queue[TZ_COPY_QUEUE_IS_LAST];
        status = queue[TZ_COPY_QUEUE_STATUS];
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_copy_queue_write_stored(queue, in, out, work_item);
        TZ_SYNC;
    }
    return status;
}

#endif
