/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a device: first by a library of the vendor, then by the kernels.
 *
 * A library such as nvCOMP takes a batch of chunks, described by arrays of addresses and sizes in
 * device memory. One kernel makes these arrays from the table of tiles; the library decodes; a
 * second kernel compares its results with the tiles. That kernel also writes a new table, in which
 * the tiles that the library decoded are marked as done. The kernel of the codec then runs over the
 * new table. It decodes the tiles that are left, and writes their statuses, so that errors are the
 * same with and without a library. No step waits for the host or depends on the number of tiles.
 *
 * A library may want its input aligned, but stored tiles begin anywhere. A third kernel then
 * assigns offsets for copies, which the first one makes.
 *
 * The scratch of a batch holds, in this order, the arrays and the new table, the copies, and the
 * library's temporary memory. The last part is the scratch of the kernels afterwards. */
#include "device/ops/decode.h"

#include "codec/codec.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"
#include "device/ops/vendor_decode_kernels.h"
#include "kernels/zstd.h"

_Static_assert(sizeof(tz_decode_entry) == TZ_DECODE_ENTRY_BYTES &&
                   offsetof(tz_decode_entry, to) == TZ_DECODE_TO &&
                   offsetof(tz_decode_entry, from_size) == TZ_DECODE_FROM_SIZE &&
                   offsetof(tz_decode_entry, to_size) == TZ_DECODE_TO_SIZE,
               "kernels read the entries as they are");

/* ---- decoders ---- */

typedef struct decoder_kernels {
    uint16_t compression;
    uint32_t work_group, work_item; /* numbers of kernel_list.h */
    uint64_t scratch;               /* bytes for each tile */
} decoder_kernels;

/* Deflate has two numbers in TIFF: the one of the Adobe supplement, and an older one. */
static const decoder_kernels decoders[] = {
    {TZ_COMPRESSION_LZW, TZ_KERNEL_LZW_WORK_GROUP, TZ_KERNEL_LZW_WORK_ITEM, 0},
    {TZ_COMPRESSION_DEFLATE, TZ_KERNEL_INFLATE_WORK_GROUP, TZ_KERNEL_INFLATE_WORK_ITEM, 0},
    {TZ_COMPRESSION_PACKBITS, TZ_KERNEL_PACKBITS_WORK_GROUP, TZ_KERNEL_PACKBITS_WORK_ITEM, 0},
    {TZ_COMPRESSION_OLD_DEFLATE, TZ_KERNEL_INFLATE_WORK_GROUP, TZ_KERNEL_INFLATE_WORK_ITEM, 0},
    {TZ_COMPRESSION_ZSTD, TZ_KERNEL_ZSTD_WORK_GROUP, TZ_KERNEL_ZSTD_WORK_ITEM,
     TZ_ZSTD_SCRATCH_BYTES},
    {TZ_COMPRESSION_LZ4, TZ_KERNEL_LZ4_WORK_GROUP, TZ_KERNEL_LZ4_WORK_ITEM, 0},
};

static const decoder_kernels *find_decoder_kernels(uint16_t compression)
{
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (decoders[i].compression == compression)
            return &decoders[i];
    }
    return NULL;
}

bool tz_device_decodes(const tz_device *device, uint16_t compression)
{
    return device->driver && find_decoder_kernels(compression);
}

/* CPU devices have no libraries. */
static bool find_vendor_decoder(const tz_device *device, uint16_t compression,
                                tz_vendor_decoder *out)
{
    return !tz_device_is_cpu(device) && tz_device_find_vendor_decoder(device, compression, out) &&
           out->input_alignment <= TZ_VENDOR_ALIGN;
}

/* Launches around the call of the library; the launch of the codec's kernel is not one of them. A
 * library that wants its input aligned takes one more, since stored tiles begin anywhere. */
static uint32_t vendor_launches(const tz_vendor_decoder *library)
{
    return library->input_alignment > 1 ? 3 : 2;
}

uint32_t tz_decode_launches(const tz_device *device, uint16_t compression)
{
    tz_vendor_decoder library;
    return 1 + (find_vendor_decoder(device, compression, &library) ? vendor_launches(&library) : 0);
}

/* ---- scratch ---- */

static uint64_t round_up_64(uint64_t size)
{
    return tz_add_capped(size, 63) / 64 * 64;
}

uint32_t tz_vendor_kind(uint16_t compression)
{
    if (compression == TZ_COMPRESSION_LZ4)
        return TZ_VENDOR_LZ4;
    return compression == TZ_COMPRESSION_ZSTD ? TZ_VENDOR_ZSTD : TZ_VENDOR_DEFLATE;
}

uint64_t tz_vendor_temp_bytes(uint64_t temp, uint64_t per_tile, uint64_t per_64k, uint64_t count,
                              uint64_t total)
{
    const uint64_t by_tile = tz_mul_capped(count, per_tile);
    const uint64_t by_bytes = tz_mul_capped(tz_ceil_div(total, 65536), per_64k);
    return round_up_64(tz_add_capped(temp, tz_add_capped(by_tile, by_bytes)));
}

/* Offsets from the start of the scratch; the arrays are at 0. */
typedef struct vendor_layout {
    uint64_t copies, temp;
    uint64_t temp_bytes;
} vendor_layout;

static vendor_layout vendor_layout_of(const tz_vendor_decoder *library, const tz_decode_need *need)
{
    const uint64_t arrays =
        tz_mul_capped(round_up_64(tz_mul_capped(need->count, 8)), TZ_VENDOR_ONE_BYTE);
    vendor_layout l = {.copies = tz_add_capped(arrays, TZ_VENDOR_SPARES)};
    l.temp = tz_add_capped(l.copies, library->input_alignment > 1 ? round_up_64(need->copied) : 0);
    l.temp_bytes = tz_vendor_temp_bytes(library->temp, library->temp_per_tile,
                                        library->temp_per_64k, need->count, need->decoded);
    return l;
}

/* Libraries take no empty chunks. A tile that is not for the library is replaced by a chunk of one
 * byte, so that each tile counts as one byte at least. */
void tz_decode_need_add(tz_decode_need *need, uint64_t from_size, uint64_t to_size)
{
    need->count++;
    need->copied = tz_add_capped(need->copied, tz_vendor_copy_bytes((uint32_t)from_size));
    need->decoded = tz_add_capped(need->decoded, tz_max(to_size, 1));
    need->max_tile = tz_max(need->max_tile, tz_max(to_size, 1));
}

/* The kernels run after the library, and use the bytes of its temporary memory again. */
uint64_t tz_decode_scratch_bytes(const tz_device *device, uint16_t compression,
                                 const tz_decode_need *need)
{
    tz_vendor_decoder library;
    const decoder_kernels *own = find_decoder_kernels(compression);
    const uint64_t bytes = own ? tz_mul_capped(own->scratch, need->count) : 0;
    if (need->count == 0 || !find_vendor_decoder(device, compression, &library))
        return bytes;
    const vendor_layout l = vendor_layout_of(&library, need);
    return tz_add_capped(l.temp, tz_max(l.temp_bytes, bytes));
}

/* ---- checks ---- */

typedef struct slab_range {
    uint64_t start, end;
} slab_range;

static slab_range range_of(uint64_t start, uint64_t size)
{
    return (slab_range){start, tz_add_capped(start, size)};
}

static void widen(slab_range *all, slab_range one)
{
    if (one.start == one.end)
        return;
    all->start = tz_min(all->start, one.start);
    all->end = tz_max(all->end, one.end);
}

static tz_result check_stored_tile(const tz_decode_batch *batch, uint64_t index, tz_error *err)
{
    const tz_decode_entry *tile = &batch->tiles[index];
    const tz_location from = tz_location_of_tile(tile->from, index);
    const uint64_t max_bytes = tz_max(tile->from_size, tile->to_size);
    if (max_bytes > TZ_DECODE_MAX_BYTES)
        return tz_refuse(batch->slab, tz_expecting(from, TZ_DECODE_MAX_BYTES, max_bytes),
                         "the tile is too large for kernels", err);
    TZ_TRY(tz_check_range(batch->slab, from, tile->from, tile->from_size,
                          "the stored bytes are not within the slab", err));
    return tz_check_range(batch->slab, tz_location_of_tile(tile->to, index), tile->to,
                          tile->to_size, "the tile is not within the slab", err);
}

/* A kernel must not write what it or another group still reads. Comparing every pair of tiles would
 * take too long; the stored bytes of all tiles and the decoded bytes of all are one range each. */
static tz_result check_ranges(const tz_decode_batch *batch, const tz_decode_need *need,
                              tz_error *err)
{
    enum { STORED, TABLE, DECODED, STATUSES, SCRATCH, RANGES }; /* the first two are only read */
    static const uint64_t multiples[RANGES] = {1, 8, 1, 4, 64};
    const uint64_t scratch = tz_decode_scratch_bytes(batch->slab->device, batch->compression, need);
    slab_range ranges[RANGES] = {
        [STORED] = {UINT64_MAX, 0},
        [TABLE] = range_of(batch->table, tz_mul_capped(batch->count, sizeof *batch->tiles)),
        [DECODED] = {UINT64_MAX, 0},
        [STATUSES] = range_of(batch->statuses, tz_mul_capped(batch->count, 4)),
        [SCRATCH] = range_of(scratch ? batch->scratch : 0, scratch),
    };
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_decode_entry *tile = &batch->tiles[i];
        widen(&ranges[STORED], range_of(tile->from, tile->from_size));
        widen(&ranges[DECODED], range_of(tile->to, tile->to_size));
    }
    for (size_t i = TABLE; i < RANGES; i++) {
        const slab_range *range = &ranges[i];
        const tz_location location = tz_at_offset(range->start);
        if (i != DECODED && (range->start % multiples[i] != 0 || range->end > batch->slab->size))
            return tz_refuse(batch->slab, tz_expecting(location, batch->slab->size, range->end),
                             "the table, the statuses or the scratch are not within the slab", err);
        for (size_t j = 0; j < i && i >= DECODED; j++) {
            if (range->start < ranges[j].end && ranges[j].start < range->end)
                return tz_refuse(batch->slab, location,
                                 "bytes that are read and bytes that are written overlap", err);
        }
    }
    return TZ_OK;
}

/* ---- libraries ---- */

/* True if some tile of the batch may be for the library. One that needs the content size of
 * Zstandard frames decodes nothing if no frame that the host can see has one. */
static bool accepts_batch(const tz_vendor_decoder *library, const tz_decode_batch *batch)
{
    if (batch->compression != TZ_COMPRESSION_ZSTD || !library->needs_size)
        return true;
    for (uint64_t i = 0; batch->stored && i < batch->count; i++) {
        const tz_decode_entry *tile = &batch->tiles[i];
        if (tz_zstd_has_content_size(batch->stored + tile->from, tile->from_size))
            return true;
    }
    return false;
}

/* Launches all but the kernel of the codec. b->table and b->scratch become those of that kernel.
 * TZ_ERR_UNSUPPORTED: the library refused the batch, and both stay. */
static tz_result launch_vendor_decoder(const tz_vendor_decoder *library, tz_decode_batch *b,
                                       const tz_decode_need *need, uint32_t queue, tz_error *err)
{
    tz_device *device = b->slab->device;
    const uint32_t kind = tz_vendor_kind(b->compression);
    const bool copies = library->input_alignment > 1;
    const vendor_layout l = vendor_layout_of(library, need);
    const tz_vendor_batch vendor_batch = {
        .compression = b->compression,
        .slab = b->slab,
        .count = b->count,
        .max_tile = need->max_tile,
        .total = need->decoded,
        .in = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_IN),
        .in_sizes = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_IN_SIZES),
        .out = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_OUT),
        .capacity = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_CAPACITIES),
        .out_sizes = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_OUT_SIZES),
        .statuses = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_STATUSES),
        .temp = b->scratch + l.temp,
        .temp_bytes = l.temp_bytes};
    if (copies)
        TZ_TRY(TZ_LAUNCH(device, queue, TZ_KERNEL_VENDOR_DECODE_ARRANGE, 1, err, TZ_MEMORY(b->slab),
                         TZ_U64(b->table), TZ_U64(b->scratch), TZ_U64(b->count),
                         TZ_U64(b->scratch + l.copies)));
    TZ_TRY(TZ_LAUNCH(device, queue, TZ_KERNEL_VENDOR_DECODE_LIST, b->count, err, TZ_MEMORY(b->slab),
                     TZ_U64(b->table), TZ_U64(b->scratch), TZ_U64(b->count), TZ_U32(kind),
                     TZ_U32(library->output_alignment), TZ_U32(copies),
                     TZ_U32(library->needs_size)));
    TZ_TRY(tz_device_vendor_decode(queue, &vendor_batch, err));
    TZ_TRY(TZ_LAUNCH(device, queue, TZ_KERNEL_VENDOR_DECODE_CHECK, b->count, err,
                     TZ_MEMORY(b->slab), TZ_U64(b->table), TZ_U64(b->scratch), TZ_U64(b->count),
                     TZ_U64(b->statuses), TZ_U32(kind)));
    b->table = tz_vendor_array(b->scratch, b->count, TZ_VENDOR_TABLE);
    b->scratch = vendor_batch.temp;
    return TZ_OK;
}

/* Gives the batch to a library if there is one; *left becomes the batch for the kernels. */
static tz_result try_vendor_decoder(tz_decode_batch *left, const tz_decode_need *need,
                                    uint32_t queue, tz_decode_report *done, tz_error *err)
{
    tz_vendor_decoder library = {.name = ""};
    tz_error why;
    if (left->count == 0)
        return TZ_OK;
    if (!find_vendor_decoder(left->slab->device, left->compression, &library)) {
        tz_device_text(done->reason, sizeof done->reason, library.reason);
        return TZ_OK;
    }
    if (!accepts_batch(&library, left)) {
        tz_device_textf(done->reason, sizeof done->reason,
                        "%s does not decode frames without a content size", library.name);
        return TZ_OK;
    }
    done->launches += vendor_launches(&library);
    const tz_result result = launch_vendor_decoder(&library, left, need, queue, &why);
    if (result == TZ_OK) {
        tz_device_text(done->library, sizeof done->library, library.name);
        return TZ_OK;
    }
    if (result == TZ_ERR_UNSUPPORTED) {
        done->launches--; /* there was nothing to check */
        tz_device_text(done->reason, sizeof done->reason, why.message);
        return TZ_OK;
    }
    if (err)
        *err = why;
    return result;
}

tz_result tz_decode_launch(const tz_decode_batch *batch, uint32_t queue, tz_decode_report *done,
                           tz_error *err)
{
    tz_device *device = batch->slab->device;
    const decoder_kernels *kernels = find_decoder_kernels(batch->compression);
    tz_decode_need need = {0};
    tz_decode_batch left = *batch;
    *done = (tz_decode_report){.launches = batch->count > 0};
    if (!kernels)
        return tz_refuse(batch->slab,
                         tz_expecting(tz_no_location(), TZ_NO_VALUE, batch->compression),
                         "devices do not decode this compression", err);
    for (uint64_t i = 0; i < batch->count; i++) {
        TZ_TRY(check_stored_tile(batch, i, err));
        tz_decode_need_add(&need, batch->tiles[i].from_size, batch->tiles[i].to_size);
    }
    TZ_TRY(check_ranges(batch, &need, err));
    TZ_TRY(try_vendor_decoder(&left, &need, queue, done, err));
    return TZ_LAUNCH(device, queue, tz_kernel_for(device, kernels->work_item, kernels->work_group),
                     left.count, err, TZ_MEMORY(left.slab), TZ_U64(left.table),
                     TZ_U64(left.statuses), TZ_U64(left.scratch));
}
