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

static bool is_for_libraries(uint16_t compression)
{
    return compression == TZ_COMPRESSION_DEFLATE || compression == TZ_COMPRESSION_OLD_DEFLATE ||
           compression == TZ_COMPRESSION_ZSTD || compression == TZ_COMPRESSION_LZ4;
}

/* Limits that the library itself does not know of. */
static bool accepts_tiles(const tz_vendor_encode_plan *library, char *reason, size_t reason_size)
{
    const tz_vendor_encoder *encoder = &library->encoder;
    if (library->compression == TZ_COMPRESSION_LZ4 && library->max_tile > TZ_LZ4_MAX_BLOCK) {
        tz_device_textf(reason, reason_size,
                        "tiles have %u bytes, and a block of LZ4 at most %u: the library makes one",
                        library->max_tile, TZ_LZ4_MAX_BLOCK);
        return false;
    }
    if (encoder->input_alignment > TZ_ENCODE_VIEW_ALIGN ||
        encoder->output_alignment > TZ_ENCODE_VIEW_ALIGN) {
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
    const uint64_t size = tz_tile_bytes(format);
    *out = (tz_vendor_encode_plan){.compression = format->compression, .level = choice->level};
    tz_device_text(reason, reason_size, "");
    if (!is_for_libraries(format->compression) || size == 0 || size > TZ_ENCODE_MAX_TILE_BYTES)
        return false;
    out->max_tile = (uint32_t)size;
    if (!tz_device_is_cpu(device) &&
        tz_device_find_vendor_encoder(device, format->compression, choice->level, size,
                                      &out->encoder)) {
        const uint32_t kind = tz_vendor_kind(format->compression);
        const uint32_t header = tz_vendor_head_bytes(kind);
        out->lead = (TZ_ENCODE_VIEW_ALIGN - header % TZ_ENCODE_VIEW_ALIGN) % TZ_ENCODE_VIEW_ALIGN;
        out->view = tz_add_capped(out->encoder.capacity,
                                  (uint64_t)out->lead + header + tz_vendor_tail_bytes(kind));
        out->view = tz_add_capped(out->view, TZ_ENCODE_VIEW_ALIGN - 1) / TZ_ENCODE_VIEW_ALIGN *
                    TZ_ENCODE_VIEW_ALIGN;
        if (accepts_tiles(out, reason, reason_size))
            return true;
    } else if (out->encoder.name[0] != '\0') {
        tz_device_textf(reason, reason_size, "%s encodes up to %llu bytes, and tiles have %u",
                        out->encoder.name, (unsigned long long)out->encoder.max_tile,
                        out->max_tile);
    } else {
        const char *why = out->encoder.reason;
        tz_device_text(reason, reason_size,
                       why[0] ? why : "there is no library of the vendor that encodes it");
    }
    *out = (tz_vendor_encode_plan){0};
    return false;
}

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

static tz_result launch_list(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->scratch), TZ_U64(batch->count),
                                     TZ_U32(tz_vendor_kind(batch->compression))};
    const tz_launch launch = TZ_LAUNCH_OF(
        TZ_KERNEL_VENDOR_ENCODE_LIST, tz_ceil_div(batch->count, TZ_WORK_GROUP_ITEMS), arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

static uint64_t array_of(const tz_encode_batch *batch, uint32_t which)
{
    return tz_vendor_array(batch->scratch, batch->count, which);
}

static tz_result call_vendor_encoder(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_vendor_encode_plan *library = batch->library;
    const tz_vendor_batch vendor_batch = {.compression = batch->compression,
                                          .slab = batch->slab,
                                          .count = batch->count,
                                          .max_tile = library->max_tile,
                                          .total = tz_mul_capped(batch->count, library->max_tile),
                                          .in = array_of(batch, TZ_VENDOR_IN),
                                          .in_sizes = array_of(batch, TZ_VENDOR_IN_SIZES),
                                          .out = array_of(batch, TZ_VENDOR_OUT),
                                          .out_sizes = array_of(batch, TZ_VENDOR_OUT_SIZES),
                                          .statuses = array_of(batch, TZ_VENDOR_STATUSES),
                                          .temp = array_of(batch, TZ_VENDOR_ARRAYS),
                                          .temp_bytes = encoder_temp_bytes(library, batch->count)};
    return tz_device_vendor_encode(queue, library->level, &vendor_batch, err);
}

static tz_result launch_frame(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    /* the header of zlib, with the level class that zlib itself would write there */
    const int32_t level = batch->library->level;
    const uint32_t zlib_header = level < 2    ? 0x0178
                                 : level < 6  ? 0x5e78
                                 : level == 6 ? 0x9c78
                                              : 0xda78;
    const tz_argument arguments[] = {
        TZ_MEMORY(batch->slab), TZ_U64(batch->table), TZ_U64(batch->sizes),
        TZ_U64(batch->scratch), TZ_U64(batch->count), TZ_U32(tz_vendor_kind(batch->compression)),
        TZ_U32(zlib_header)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_VENDOR_ENCODE_FRAME, batch->count, arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

/* A batch that the library refused is framed all the same: the sizes of its chunks are still 0, so
 * that every tile is left to the CPU. */
tz_result tz_vendor_encode_launch(const tz_encode_batch *batch, uint32_t queue,
                                  tz_vendor_encode_report *done, tz_error *err)
{
    tz_error why = {0};
    *done = (tz_vendor_encode_report){.library = ""};
    TZ_TRY(tz_encode_check(batch, err));
    const uint64_t scratch = tz_vendor_encode_scratch(batch->library, batch->count);
    if (!tz_memory_holds_array(batch->slab, batch->scratch, 1, scratch, 64))
        return tz_call_fail_argument(batch->slab->device, tz_at_offset(batch->scratch),
                                     "the scratch is not within the slab", err);
    if (batch->count == 0)
        return TZ_OK;
    TZ_TRY(launch_list(batch, queue, err));
    const tz_result result = call_vendor_encoder(batch, queue, &why);
    if (result == TZ_OK) {
        tz_device_text(done->library, sizeof done->library, batch->library->encoder.name);
    } else if (result == TZ_ERR_UNSUPPORTED) {
        tz_device_text(done->reason, sizeof done->reason, why.message);
    } else {
        if (err)
            *err = why;
        return result;
    }
    return launch_frame(batch, queue, err);
}
