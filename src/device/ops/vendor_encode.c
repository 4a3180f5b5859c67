/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by a library of the vendor.
 *
 * One kernel makes the arrays of addresses and sizes that the library wants, from the table of
 * tiles. The library writes raw chunks. A second kernel adds the frame that a file has around each
 * chunk (zlib's header and checksum, LZ4's frame; Zstandard makes whole frames itself) and writes
 * the sizes. The number of calls does not depend on the number of tiles.
 *
 * The chunk has to be aligned for the library, but a header stands before it. The tile therefore
 * begins `lead` bytes into its view: lead + header is a multiple of TZ_ENCODE_VIEW_ALIGN. */
#include "device/ops/vendor_encode.h"

#include "codec/codec.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"
#include "device/ops/decode.h"
#include "device/ops/vendor_encode_kernels.h"

/* ---- the library ---- */

/* Finds the library and the views of its tiles. False with the reason, which is empty for tiles
 * that no library encodes. */
static bool plan_vendor_encode(const tz_device *device, uint64_t size, tz_vendor_encode_plan *plan,
                               char *reason, size_t reason_size)
{
    const uint16_t compression = plan->compression;
    const tz_vendor_encoder *encoder = &plan->encoder;
    const bool has_libraries =
        compression == TZ_COMPRESSION_DEFLATE || compression == TZ_COMPRESSION_OLD_DEFLATE ||
        compression == TZ_COMPRESSION_ZSTD || compression == TZ_COMPRESSION_LZ4;
    tz_device_text(reason, reason_size, "");
    if (!has_libraries || size == 0 || size > TZ_ENCODE_MAX_TILE_BYTES)
        return false;
    plan->max_tile = (uint32_t)size;
    if (tz_device_is_cpu(device) ||
        !tz_device_find_vendor_encoder(device, compression, plan->level, size, &plan->encoder)) {
        if (encoder->name[0] != '\0')
            tz_device_textf(reason, reason_size, "%s encodes up to %llu bytes, and tiles have %u",
                            encoder->name, (unsigned long long)encoder->max_tile, plan->max_tile);
        else
            tz_device_text(reason, reason_size,
                           encoder->reason[0]
                               ? encoder->reason
                               : "there is no library of the vendor that encodes it");
        return false;
    }
    const uint32_t kind = tz_vendor_kind(compression);
    const uint32_t header = tz_vendor_head_bytes(kind);
    plan->lead = (TZ_ENCODE_VIEW_ALIGN - header % TZ_ENCODE_VIEW_ALIGN) % TZ_ENCODE_VIEW_ALIGN;
    plan->view = tz_add_capped(encoder->capacity,
                               (uint64_t)plan->lead + header + tz_vendor_tail_bytes(kind));
    plan->view = tz_add_capped(plan->view, TZ_ENCODE_VIEW_ALIGN - 1) / TZ_ENCODE_VIEW_ALIGN *
                 TZ_ENCODE_VIEW_ALIGN;
    /* limits that the library itself does not know of */
    if (compression == TZ_COMPRESSION_LZ4 && plan->max_tile > TZ_LZ4_MAX_BLOCK) {
        tz_device_textf(reason, reason_size,
                        "tiles have %u bytes, and a block of LZ4 at most %u: the library makes one",
                        plan->max_tile, TZ_LZ4_MAX_BLOCK);
        return false;
    }
    if (tz_max(encoder->input_alignment, encoder->output_alignment) > TZ_ENCODE_VIEW_ALIGN) {
        tz_device_textf(reason, reason_size, "%s wants tiles at multiples of more than %u",
                        encoder->name, TZ_ENCODE_VIEW_ALIGN);
        return false;
    }
    return true;
}

bool tz_vendor_encode_find(const tz_device *device, const tz_tile_format *format,
                           const tz_encode_options *choice, tz_vendor_encode_plan *out,
                           char *reason, size_t reason_size)
{
    *out = (tz_vendor_encode_plan){.compression = format->compression, .level = choice->level};
    if (plan_vendor_encode(device, tz_tile_bytes(format), out, reason, reason_size))
        return true;
    *out = (tz_vendor_encode_plan){0};
    return false;
}

/* All tiles count as the largest, because the plan is made before the tiles are known. */
static uint64_t encoder_temp_bytes(const tz_vendor_encode_plan *library, uint64_t count)
{
    return tz_vendor_temp_bytes(library->encoder.temp, library->encoder.temp_per_tile,
                                library->encoder.temp_per_64k, count,
                                tz_mul_capped(count, library->max_tile));
}

uint64_t tz_vendor_encode_scratch(const tz_vendor_encode_plan *library, uint64_t count)
{
    return tz_add_capped(tz_vendor_array(0, count, TZ_VENDOR_ARRAYS),
                         encoder_temp_bytes(library, count));
}

/* ---- launches ---- */

/* The header of zlib, with the level class that zlib itself would write there. Kernels store it as
 * a little-endian word of 16 bits. */
static uint32_t zlib_header_of(int32_t level)
{
    return level < 2 ? 0x0178 : level < 6 ? 0x5e78 : level == 6 ? 0x9c78 : 0xda78;
}

/* A batch that the library refused is framed all the same: the sizes of its chunks are still 0, so
 * that every tile is left to the CPU. */
tz_result tz_vendor_encode_launch(const tz_encode_batch *batch, uint32_t queue,
                                  tz_vendor_encode_report *done, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_vendor_encode_plan *library = batch->library;
    const uint64_t count = batch->count;
    const uint32_t kind = tz_vendor_kind(batch->compression);
    tz_error why = {0};
    *done = (tz_vendor_encode_report){.library = ""};
    TZ_TRY(tz_encode_check(batch, err));
    TZ_TRY(tz_check_array(batch->slab, batch->scratch, 1, tz_vendor_encode_scratch(library, count),
                          64, "the scratch is not within the slab", err));
    if (count == 0)
        return TZ_OK;
    TZ_TRY(TZ_LAUNCH(device, queue, TZ_KERNEL_VENDOR_ENCODE_LIST,
                     tz_ceil_div(count, TZ_WORK_GROUP_ITEMS), err, TZ_MEMORY(batch->slab),
                     TZ_U64(batch->table), TZ_U64(batch->scratch), TZ_U64(count), TZ_U32(kind)));

    const tz_vendor_batch vendor_batch = {
        .compression = batch->compression,
        .slab = batch->slab,
        .count = count,
        .max_tile = library->max_tile,
        .total = tz_mul_capped(count, library->max_tile),
        .in = tz_vendor_array(batch->scratch, count, TZ_VENDOR_IN),
        .in_sizes = tz_vendor_array(batch->scratch, count, TZ_VENDOR_IN_SIZES),
        .out = tz_vendor_array(batch->scratch, count, TZ_VENDOR_OUT),
        .out_sizes = tz_vendor_array(batch->scratch, count, TZ_VENDOR_OUT_SIZES),
        .statuses = tz_vendor_array(batch->scratch, count, TZ_VENDOR_STATUSES),
        .temp = tz_vendor_array(batch->scratch, count, TZ_VENDOR_ARRAYS),
        .temp_bytes = encoder_temp_bytes(library, count)};
    const tz_result result = tz_device_vendor_encode(queue, library->level, &vendor_batch, &why);
    if (result == TZ_OK) {
        tz_device_text(done->library, sizeof done->library, library->encoder.name);
    } else if (result == TZ_ERR_UNSUPPORTED) {
        tz_device_text(done->reason, sizeof done->reason, why.message);
    } else {
        if (err)
            *err = why;
        return result;
    }
    return TZ_LAUNCH(device, queue, TZ_KERNEL_VENDOR_ENCODE_FRAME, count, err,
                     TZ_MEMORY(batch->slab), TZ_U64(batch->table), TZ_U64(batch->sizes),
                     TZ_U64(batch->scratch), TZ_U64(count), TZ_U32(kind),
                     TZ_U32(zlib_header_of(library->level)));
}
