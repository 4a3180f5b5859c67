/* SPDX-License-Identifier: Apache-2.0
 * PackBits (TIFF 6.0, section 9), one tile by one work-item or by a work-group. A byte n below 128
 * is followed by n + 1 literal bytes, one above 128 by a byte that is repeated 257 - n times. A
 * byte of 128 means nothing, also after the last packet. */
#ifndef TZ_KERNELS_PACKBITS_H
#define TZ_KERNELS_PACKBITS_H

#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/status.h"

typedef struct tz_packbits_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* offset of the next byte to read */
    tz_u32 size;
    tz_u32 made; /* decoded bytes so far */
} tz_packbits_decoder;

/* Reads a packet of a tile that is not complete: count bytes from offset `from` of the input, or
 * for a run the byte there, count times. A byte of 128 is a packet of 0 bytes. */
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

/* The status of a complete tile. */
TZ_FN tz_u32 tz_packbits_finish(tz_packbits_decoder *decoder)
{
    while (decoder->at < decoder->in_size && decoder->in[decoder->at] == 128)
        decoder->at++;
    return TZ_DECODE_END(decoder->at, decoder->in_size);
}

TZ_FN tz_packbits_decoder tz_packbits_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    tz_packbits_decoder decoder = {0};
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.size = size;
    return decoder;
}

/* Decodes a tile with compression 32773, by one work-item. */
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

/* Work-item 0 fills the queue. A run is a literal and a copy of it. */
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
            queue[TZ_COPY_QUEUE_FULL] = 0u; /* a run is traced only to its own literal */
        }
    }
}

/* The same by a work-group; queue: TZ_COPY_QUEUE_WORDS. All work-items get the status. */
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
            tz_copy_queue_write_stored(queue, in, 1u, out, work_item);
        TZ_SYNC;
    }
    return status;
}

#endif
