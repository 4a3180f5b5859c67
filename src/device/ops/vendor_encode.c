/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/vendor_encode.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"
#include "device/ops/encode_internal.h"
#include "device/ops/vendor_decode.h"
#include "device/ops/vendor_encode_kernels.h"

_Static_assert(offsetof(tz_encode_entry, capacity) == 20, "kernels read the entries as they are");

/* ---- which ---- */

static bool is_for_libraries(uint16_t compression)
{
    return compression == 8 || compression == 32946 || compression == 50000 || compression == 50004;
}

/* What files have around chunks, and where the chunk is aligned then. */
static void lay_out_views(tz_vendor_encode_plan *library)
{
    const uint32_t kind = tz_vendor_kind(library->compression);
    const uint32_t before = tz_vendor_head_bytes(kind);
    library->lead = (TZ_ENCODE_VIEW_ALIGN - before % TZ_ENCODE_VIEW_ALIGN) % TZ_ENCODE_VIEW_ALIGN;
    library->view = tz_add_capped(library->encoder.capacity,
                                  (uint64_t)library->lead + before + tz_vendor_tail_bytes(kind));
    library->view = tz_add_capped(library->view, TZ_ENCODE_VIEW_ALIGN - 1) / TZ_ENCODE_VIEW_ALIGN *
                    TZ_ENCODE_VIEW_ALIGN;
}

/* What the library itself does not know. */
static bool accepts_tiles(const tz_vendor_encode_plan *library, char *reason, size_t reason_size)
{
    const tz_vendor_encoder *is = &library->encoder;
    if (library->compression == 50004 && library->max_tile > TZ_LZ4_MAX_BLOCK) {
        tz_device_textf(reason, reason_size,
                        "tiles have %u bytes, and a block of LZ4 at most %u: the library makes one",
                        library->max_tile, TZ_LZ4_MAX_BLOCK);
        return false;
    }
    if (is->input_alignment > TZ_ENCODE_VIEW_ALIGN || is->output_alignment > TZ_ENCODE_VIEW_ALIGN) {
        tz_device_textf(reason, reason_size, "%s wants tiles at multiples of more than %u",
                        is->name, TZ_ENCODE_VIEW_ALIGN);
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
    if (device->info.type != TZ_DEVICE_CPU &&
        tz_device_find_vendor_encoder(device, format->compression, choice->level, size,
                                      &out->encoder)) {
        lay_out_views(out);
        if (accepts_tiles(out, reason, reason_size))
            return true;
    } else if (out->encoder.name[0] != '\0') {
        tz_device_textf(reason, reason_size, "%s encodes up to %llu bytes, and tiles have %u",
                        out->encoder.name, (unsigned long long)out->encoder.max_chunk,
                        out->max_tile);
    } else {
        const char *why = out->encoder.reason;
        tz_device_text(reason, reason_size,
                       why[0] ? why : "there is no library of the vendor's that encodes it");
    }
    *out = (tz_vendor_encode_plan){0};
    return false;
}

/* ---- scratch ---- */

static uint64_t vendor_temp_bytes(const tz_vendor_encode_plan *library, uint64_t count)
{
    const tz_vendor_encoder *is = &library->encoder;
    const uint64_t total = tz_mul_capped(count, library->max_tile);
    const uint64_t by_tile = tz_mul_capped(count, is->temp_per_tile);
    const uint64_t by_bytes = tz_mul_capped(tz_ceil_div(total, 65536), is->temp_per_64k);
    const uint64_t sum = tz_add_capped(is->temp, tz_add_capped(by_tile, by_bytes));
    return tz_add_capped(sum, 63) / 64 * 64;
}

uint64_t tz_vendor_encode_scratch(const tz_vendor_encode_plan *library, uint64_t count)
{
    return tz_add_capped(tz_vendor_array(0, count, TZ_VENDOR_ARRAYS),
                         vendor_temp_bytes(library, count));
}

/* ---- launches ---- */

static tz_result check_vendor_batch(const tz_encode_batch *batch, tz_error *err)
{
    TZ_TRY(tz_encode_check(batch, err));
    if (batch->scratch % 64 != 0 ||
        !tz_memory_holds(batch->slab, batch->scratch,
                         tz_vendor_encode_scratch(batch->library, batch->count)))
        return tz_encode_fail(batch, tz_at_offset(batch->scratch),
                              "the scratch is not within the slab", err);
    return TZ_OK;
}

static tz_result launch_vendor_encode_list(const tz_encode_batch *batch, uint32_t queue,
                                           tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->scratch), TZ_U64(batch->count),
                                     TZ_U32(tz_vendor_kind(batch->compression))};
    const tz_launch launch = TZ_LAUNCH_OF(
        TZ_KERNEL_VENDOR_ENCODE_LIST, tz_ceil_div(batch->count, TZ_WORK_GROUP_ITEMS), arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

/* The first two bytes of zlib, which tell how much the encoder tried, as they are stored. */
static uint32_t zlib_head(int32_t level)
{
    if (level < 2)
        return 0x0178;
    if (level < 6)
        return 0x5e78;
    return level == 6 ? 0x9c78 : 0xda78;
}

static tz_result launch_vendor_encode_frame(const tz_encode_batch *batch, uint32_t queue,
                                            tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab),
                                     TZ_U64(batch->table),
                                     TZ_U64(batch->sizes),
                                     TZ_U64(batch->scratch),
                                     TZ_U64(batch->count),
                                     TZ_U32(tz_vendor_kind(batch->compression)),
                                     TZ_U32(zlib_head(batch->library->level))};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_VENDOR_ENCODE_FRAME, batch->count, arguments);
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
                                          .max_chunk = library->max_tile,
                                          .total = tz_mul_capped(batch->count, library->max_tile),
                                          .in = array_of(batch, TZ_VENDOR_IN),
                                          .in_sizes = array_of(batch, TZ_VENDOR_IN_SIZES),
                                          .out = array_of(batch, TZ_VENDOR_OUT),
                                          .out_sizes = array_of(batch, TZ_VENDOR_OUT_SIZES),
                                          .statuses = array_of(batch, TZ_VENDOR_STATUSES),
                                          .temp = array_of(batch, TZ_VENDOR_ARRAYS),
                                          .temp_bytes = vendor_temp_bytes(library, batch->count)};
    return tz_device_vendor_encode(queue, library->level, &vendor_batch, err);
}

/* What the library does not take is framed all the same: nothing was made of it, and so all of it
 * is left. */
tz_result tz_vendor_encode_launch(const tz_encode_batch *batch, uint32_t queue,
                                  tz_vendor_encode_report *done, tz_error *err)
{
    tz_error why = {0};
    *done = (tz_vendor_encode_report){.library = ""};
    TZ_TRY(check_vendor_batch(batch, err));
    if (batch->count == 0)
        return TZ_OK;
    TZ_TRY(launch_vendor_encode_list(batch, queue, err));
    const tz_result result = call_vendor_encoder(batch, queue, &why);
    if (result == TZ_OK)
        tz_device_text(done->library, sizeof done->library, batch->library->encoder.name);
    else if (result == TZ_ERR_UNSUPPORTED)
        tz_device_text(done->reason, sizeof done->reason, why.message);
    else if (err)
        *err = why;
    return result == TZ_OK || result == TZ_ERR_UNSUPPORTED
               ? launch_vendor_encode_frame(batch, queue, err)
               : result;
}
