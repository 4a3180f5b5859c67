/* SPDX-License-Identifier: Apache-2.0 */
#include "device/encode_library.h"

#include "base/mem.h"
#include "device/chunks.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/encode_check.h"
#include "device/encode_library_kernels.h"
#include "device/launch.h"

_Static_assert(offsetof(tz_encode_entry, room) == 20, "kernels read the entries as they are");

/* ---- which ---- */

static bool is_for_libraries(uint16_t compression)
{
    return compression == 8 || compression == 32946 || compression == 50000 || compression == 50004;
}

/* What files have around chunks, and where the chunk is aligned then. */
static void lay_out(tz_encode_library *library)
{
    const uint32_t kind = tz_chunk_kind(library->compression);
    const uint32_t before = tz_chunk_before(kind);
    library->lead = (TZ_ENCODE_VIEW_ALIGN - before % TZ_ENCODE_VIEW_ALIGN) % TZ_ENCODE_VIEW_ALIGN;
    library->view = tz_add_capped(library->encoder.room,
                                  (uint64_t)library->lead + before + tz_library_after(kind));
    library->view = tz_add_capped(library->view, TZ_ENCODE_VIEW_ALIGN - 1) / TZ_ENCODE_VIEW_ALIGN *
                    TZ_ENCODE_VIEW_ALIGN;
}

/* What the library itself does not know. */
static bool takes(const tz_encode_library *library, char *reason, size_t reason_size)
{
    const tz_chunk_encoder *is = &library->encoder;
    if (library->compression == 50004 && library->largest > TZ_LZ4_MAX_BLOCK) {
        tz_device_textf(reason, reason_size,
                        "tiles have %u bytes, and a block of LZ4 at most %u: the library makes one",
                        library->largest, TZ_LZ4_MAX_BLOCK);
        return false;
    }
    if (is->input_alignment > TZ_ENCODE_VIEW_ALIGN || is->output_alignment > TZ_ENCODE_VIEW_ALIGN) {
        tz_device_textf(reason, reason_size, "%s wants tiles at multiples of more than %u",
                        is->name, TZ_ENCODE_VIEW_ALIGN);
        return false;
    }
    return true;
}

bool tz_encode_library_find(const tz_device *device, const tz_tile_format *format,
                            const tz_encode_options *choice, tz_encode_library *out, char *reason,
                            size_t reason_size)
{
    const uint64_t size = tz_tile_bytes(format);
    *out = (tz_encode_library){.compression = format->compression, .level = choice->level};
    tz_device_text(reason, reason_size, "");
    if (!is_for_libraries(format->compression) || size == 0 || size > TZ_ENCODE_LARGEST)
        return false;
    out->largest = (uint32_t)size;
    if (device->info.type != TZ_DEVICE_CPU &&
        tz_device_find_encoder(device, format->compression, choice->level, size, &out->encoder)) {
        lay_out(out);
        if (takes(out, reason, reason_size))
            return true;
    } else if (out->encoder.name[0] != '\0') {
        tz_device_textf(reason, reason_size, "%s encodes up to %llu bytes, and tiles have %u",
                        out->encoder.name, (unsigned long long)out->encoder.max_chunk,
                        out->largest);
    } else {
        const char *why = out->encoder.reason;
        tz_device_text(reason, reason_size,
                       why[0] ? why : "there is no library of the vendor's that encodes it");
    }
    *out = (tz_encode_library){0};
    return false;
}

/* ---- scratch ---- */

static uint64_t temp_bytes(const tz_encode_library *library, uint64_t count)
{
    const tz_chunk_encoder *is = &library->encoder;
    const uint64_t total = tz_mul_capped(count, library->largest);
    const uint64_t by_chunk = tz_mul_capped(count, is->temp_per_chunk);
    const uint64_t by_bytes = tz_mul_capped(tz_ceil_div(total, 65536), is->temp_per_64k);
    const uint64_t sum = tz_add_capped(is->temp, tz_add_capped(by_chunk, by_bytes));
    return tz_add_capped(sum, 63) / 64 * 64;
}

uint64_t tz_encode_library_scratch(const tz_encode_library *library, uint64_t count)
{
    return tz_add_capped(tz_chunk_array(0, count, TZ_CHUNK_ARRAYS), temp_bytes(library, count));
}

/* ---- launches ---- */

static tz_result check(const tz_encode_batch *batch, tz_error *err)
{
    TZ_TRY(tz_encode_check(batch, err));
    if (batch->scratch % 64 != 0 ||
        !tz_memory_holds(batch->slab, batch->scratch,
                         tz_encode_library_scratch(batch->library, batch->count)))
        return tz_encode_refuse(batch, tz_at_offset(batch->scratch),
                                "the scratch is not within the slab", err);
    return TZ_OK;
}

static tz_result launch_list(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->scratch), TZ_U64(batch->count),
                                     TZ_U32(tz_chunk_kind(batch->compression))};
    const tz_launch launch =
        TZ_LAUNCH_OF(TZ_KERNEL_LIBRARY_LIST, tz_ceil_div(batch->count, TZ_GROUP_ITEMS), arguments);
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

static tz_result launch_frame(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab),
                                     TZ_U64(batch->table),
                                     TZ_U64(batch->sizes),
                                     TZ_U64(batch->scratch),
                                     TZ_U64(batch->count),
                                     TZ_U32(tz_chunk_kind(batch->compression)),
                                     TZ_U32(zlib_head(batch->library->level))};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_LIBRARY_FRAME, batch->count, arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

static uint64_t array_of(const tz_encode_batch *batch, uint32_t which)
{
    return tz_chunk_array(batch->scratch, batch->count, which);
}

static tz_result encode(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_encode_library *library = batch->library;
    const tz_chunk_batch chunks = {.compression = batch->compression,
                                   .slab = batch->slab,
                                   .count = batch->count,
                                   .max_chunk = library->largest,
                                   .total = tz_mul_capped(batch->count, library->largest),
                                   .in = array_of(batch, TZ_CHUNK_IN),
                                   .in_sizes = array_of(batch, TZ_CHUNK_IN_SIZES),
                                   .out = array_of(batch, TZ_CHUNK_OUT),
                                   .out_sizes = array_of(batch, TZ_CHUNK_OUT_SIZES),
                                   .statuses = array_of(batch, TZ_CHUNK_STATUSES),
                                   .temp = array_of(batch, TZ_CHUNK_ARRAYS),
                                   .temp_bytes = temp_bytes(library, batch->count)};
    return tz_device_encode(queue, library->level, &chunks, err);
}

/* What the library does not take is framed all the same: nothing was made of it, and so all of it
 * is left. */
tz_result tz_encode_library_launch(const tz_encode_batch *batch, uint32_t queue,
                                   tz_encode_done *done, tz_error *err)
{
    tz_error why = {0};
    *done = (tz_encode_done){.library = ""};
    TZ_TRY(check(batch, err));
    if (batch->count == 0)
        return TZ_OK;
    TZ_TRY(launch_list(batch, queue, err));
    const tz_result result = encode(batch, queue, &why);
    if (result == TZ_OK)
        tz_device_text(done->library, sizeof done->library, batch->library->encoder.name);
    else if (result == TZ_ERR_UNSUPPORTED)
        tz_device_text(done->reason, sizeof done->reason, why.message);
    else if (err)
        *err = why;
    return result == TZ_OK || result == TZ_ERR_UNSUPPORTED ? launch_frame(batch, queue, err)
                                                           : result;
}
