/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/vendor_decode.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/vendor_decode_kernels.h"

bool tz_vendor_decode_find(const tz_device *device, uint16_t compression, tz_vendor_decoder *out)
{
    return device->info.type != TZ_DEVICE_CPU &&
           tz_device_find_vendor_decoder(device, compression, out) &&
           out->input_alignment <= TZ_VENDOR_ALIGN;
}

/* ---- scratch ---- */

/* Whether chunks have to be copied: tiles are where the file has them. */
static bool copies(const tz_vendor_decoder *decoder)
{
    return decoder->input_alignment > 1;
}

typedef struct vendor_layout {
    uint64_t copies, temp; /* from the start of scratch */
    uint64_t temp_bytes;
} vendor_layout;

static uint64_t round_up_64(uint64_t size)
{
    return tz_add_capped(size, 63) / 64 * 64;
}

static vendor_layout vendor_layout_of(const tz_vendor_decoder *decoder, const tz_decode_need *need)
{
    const uint64_t arrays =
        tz_mul_capped(round_up_64(tz_mul_capped(need->count, 8)), TZ_VENDOR_ONE_BYTE);
    const uint64_t by_tile = tz_mul_capped(need->count, decoder->temp_per_tile);
    const uint64_t by_bytes =
        tz_mul_capped(tz_ceil_div(need->decoded, 65536), decoder->temp_per_64k);
    vendor_layout l = {.copies = tz_add_capped(arrays, TZ_VENDOR_SPARES)};
    l.temp = tz_add_capped(l.copies, copies(decoder) ? round_up_64(need->copied) : 0);
    l.temp_bytes = round_up_64(tz_add_capped(decoder->temp, tz_add_capped(by_tile, by_bytes)));
    return l;
}

uint64_t tz_vendor_decode_scratch(const tz_vendor_decoder *decoder, const tz_decode_need *need,
                                  uint64_t own_bytes)
{
    const vendor_layout l = vendor_layout_of(decoder, need);
    return tz_add_capped(l.temp, tz_max(l.temp_bytes, own_bytes));
}

void tz_decode_need_add(tz_decode_need *need, uint64_t from_size, uint64_t to_size)
{
    need->count++;
    need->copied = tz_add_capped(need->copied, tz_vendor_copy_bytes((uint32_t)from_size));
    need->decoded = tz_add_capped(need->decoded, to_size > 0 ? to_size : 1);
    need->max_tile = tz_max(need->max_tile, to_size > 0 ? to_size : 1);
}

/* ---- launches ---- */

bool tz_vendor_decode_accepts(const tz_vendor_decoder *decoder, const tz_decode_batch *batch)
{
    if (batch->compression != TZ_COMPRESSION_ZSTD || !decoder->needs_size)
        return true;
    for (uint64_t i = 0; batch->stored && i < batch->count; i++) {
        const tz_decode_entry *tile = &batch->tiles[i];
        if (tz_zstd_has_content_size(batch->stored + tile->from, tile->from_size))
            return true;
    }
    return false;
}

uint32_t tz_vendor_decode_launches(const tz_vendor_decoder *decoder)
{
    return copies(decoder) ? 3 : 2;
}

uint32_t tz_vendor_kind(uint16_t compression)
{
    if (compression == 50004)
        return TZ_VENDOR_LZ4;
    return compression == 50000 ? TZ_VENDOR_ZSTD : TZ_VENDOR_DEFLATE;
}

static tz_result launch_vendor_arrange(const tz_decode_batch *b, uint64_t to, uint32_t queue,
                                       tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(b->slab), TZ_U64(b->table), TZ_U64(b->scratch),
                                     TZ_U64(b->count), TZ_U64(to)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_VENDOR_DECODE_ARRANGE, 1, arguments);
    return tz_device_launch(b->slab->device, queue, &launch, err);
}

static tz_result launch_vendor_list(const tz_decode_batch *b, const tz_vendor_decoder *decoder,
                                    uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(b->slab),
                                     TZ_U64(b->table),
                                     TZ_U64(b->scratch),
                                     TZ_U64(b->count),
                                     TZ_U32(tz_vendor_kind(b->compression)),
                                     TZ_U32(decoder->output_alignment),
                                     TZ_U32(copies(decoder)),
                                     TZ_U32(decoder->needs_size)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_VENDOR_DECODE_LIST, b->count, arguments);
    return tz_device_launch(b->slab->device, queue, &launch, err);
}

static tz_result launch_vendor_check(const tz_decode_batch *b, uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(b->slab),  TZ_U64(b->table),
                                     TZ_U64(b->scratch),  TZ_U64(b->count),
                                     TZ_U64(b->statuses), TZ_U32(tz_vendor_kind(b->compression))};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_VENDOR_DECODE_CHECK, b->count, arguments);
    return tz_device_launch(b->slab->device, queue, &launch, err);
}

static tz_vendor_batch vendor_batch_of(const tz_decode_batch *b, const tz_decode_need *need,
                                       const vendor_layout *l)
{
    return (tz_vendor_batch){
        .compression = b->compression,
        .slab = b->slab,
        .count = b->count,
        .max_chunk = need->max_tile,
        .total = need->decoded,
        .in = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_IN),
        .in_sizes = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_IN_SIZES),
        .out = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_OUT),
        .capacity = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_CAPACITIES),
        .out_sizes = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_OUT_SIZES),
        .statuses = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_STATUSES),
        .temp = b->scratch + l->temp,
        .temp_bytes = l->temp_bytes};
}

tz_result tz_vendor_decode_launch(const tz_vendor_decoder *decoder, const tz_decode_batch *batch,
                                  const tz_decode_need *need, uint32_t queue, uint64_t *left,
                                  uint64_t *scratch, tz_error *err)
{
    const vendor_layout l = vendor_layout_of(decoder, need);
    const tz_vendor_batch vendor_batch = vendor_batch_of(batch, need, &l);
    if (copies(decoder))
        TZ_TRY(launch_vendor_arrange(batch, batch->scratch + l.copies, queue, err));
    TZ_TRY(launch_vendor_list(batch, decoder, queue, err));
    TZ_TRY(tz_device_vendor_decode(queue, &vendor_batch, err));
    TZ_TRY(launch_vendor_check(batch, queue, err));
    *left = tz_vendor_array(batch->scratch, batch->count, TZ_VENDOR_TABLE);
    *scratch = vendor_batch.temp;
    return TZ_OK;
}
