/* SPDX-License-Identifier: Apache-2.0
 * Rows that arrive on one side, host or device, and are needed on the other. A slab then has two
 * copies of one layout. Rows are collected on the side on which they arrive, and are moved in one
 * copy when the slab is full, or when rows arrive on the other side. */
#include "base/mem.h"
#include "device/launch.h"
#include "write/writer.h"

/* ---- slabs ---- */

/* The host copy of a slab. If the device makes the tiles, it exists once rows arrive on the host:
 * in pinned memory, or in ordinary memory if the system has none to pin. Uploads of that are
 * slower. */
static tz_result host_slab(tz_writer *w, const tz_tile_row *tile_row, tz_tile_row *out)
{
    tz_writer_level *first = &w->levels[0];
    tz_slab *slab = &first->slabs[first->slab];
    tz_device_memory **pinned = &w->gpu.pinned[first->slab];
    if (!slab->memory) {
        const uint64_t size = tz_slab_bytes(&w->budget, first->image);
        tz_error failed = {.result = TZ_OK};
        const tz_result result = tz_device_alloc_pinned(w->gpu.device, size, pinned, &failed);
        if (result != TZ_OK && !tz_device_is_full(result, &failed)) {
            if (w->ctx.err)
                *w->ctx.err = failed;
            return result;
        }
        slab->memory = result == TZ_OK ? (*pinned)->host : tz_alloc_slab(size);
        if (!slab->memory)
            return tz_fail_nomem(&w->ctx, size);
    }
    *out = *tile_row;
    tz_slab_buffers(first->image, slab, tile_row->rows, tile_row->pixels.width, out);
    return TZ_OK;
}

/* The device copy of a slab. */
static tz_tile_row device_slab(const tz_writer *w, const tz_tile_row *tile_row)
{
    const tz_slab slab = {.device = w->gpu.allocations[TZ_ALLOCATION_ROWS]};
    tz_tile_row out = *tile_row;
    tz_slab_buffers(w->levels[0].image, &slab, tile_row->rows, tile_row->pixels.width, &out);
    return out;
}

/* ---- from side to side ---- */

static tz_result copy_slab_bytes(tz_writer *w, uint64_t offset, uint64_t size)
{
    tz_device_memory *device = w->gpu.allocations[TZ_ALLOCATION_ROWS];
    uint8_t *host = w->levels[0].slabs[w->levels[0].slab].memory + offset;
    return w->gpu.device ? tz_device_upload(0, device, offset, host, size, w->ctx.err)
                         : tz_device_download(0, host, device, offset, size, w->ctx.err);
}

/* Moves rows from first to end, and their mask, which follows all rows of pixels. */
static tz_result copy_slab_rows(tz_writer *w, const tz_tile_row *slab, uint32_t first, uint32_t end)
{
    const uint64_t row = (uint64_t)slab->pixels.row_stride;
    const uint64_t mask_row = w->levels[0].image->spec.mask ? (uint64_t)slab->mask.row_stride : 0;
    if (first == end)
        return TZ_OK;
    if (w->gpu.device)
        w->gpu.uploading[w->levels[0].slab] = true;
    if (end - first == slab->rows) {
        TZ_TRY(copy_slab_bytes(w, 0, (row + mask_row) * slab->rows));
    } else {
        TZ_TRY(copy_slab_bytes(w, row * first, row * (end - first)));
        TZ_TRY(copy_slab_bytes(w, row * slab->rows + mask_row * first, mask_row * (end - first)));
    }
    return w->gpu.device ? TZ_OK
                         : tz_device_sync(tz_writer_image(w)->options.device, 0, w->ctx.err);
}

/* Earlier rows of the slab that are on the other side are moved first, so that rows_in_place
 * only ever grows from the first row on. */
tz_result tz_gpu_fill_begin(tz_writer *w, const tz_tile_row *slab, bool on_device, uint32_t done,
                            tz_tile_row *into)
{
    tz_device_memory **device_rows = &w->gpu.allocations[TZ_ALLOCATION_ROWS];
    if (on_device && !*device_rows) { /* only if the CPU makes the tiles */
        tz_device *device = tz_writer_image(w)->options.device;
        const uint64_t size = tz_slab_bytes(&w->budget, w->levels[0].image);
        TZ_TRY(tz_device_admit(device, &size, 1, w->ctx.err));
        TZ_TRY(tz_device_memory_alloc(device_rows, device, size, w->ctx.err));
        w->gpu.held_bytes = size;
    }
    if (w->maker->on_device == on_device && w->gpu.rows_in_place < done)
        TZ_TRY(copy_slab_rows(w, slab, w->gpu.rows_in_place, done));
    if (!on_device)
        return host_slab(w, slab, into);
    *into = device_slab(w, slab);
    return TZ_OK;
}

void tz_gpu_fill_end(tz_writer *w, bool on_device, uint32_t done)
{
    if (w->maker->on_device == on_device)
        w->gpu.rows_in_place = done;
}

tz_result tz_gpu_fill_complete(tz_writer *w, tz_tile_row *tile_row)
{
    TZ_TRY(copy_slab_rows(w, tile_row, w->gpu.rows_in_place, tile_row->rows));
    w->gpu.rows_in_place = 0;
    if (w->gpu.device)
        *tile_row = device_slab(w, tile_row);
    return TZ_OK;
}

/* ---- within device memory ---- */

static tz_result copy_buffer_rows(const tz_pixel_buffer *from, uint32_t from_row,
                                  const tz_pixel_buffer *to, uint32_t to_row, uint32_t rows,
                                  tz_error *err)
{
    const tz_pixel_buffer source = tz_buffer_rows(from, from_row, rows);
    const tz_pixel_buffer target = tz_buffer_rows(to, to_row, rows);
    return tz_pixel_buffer_exists(to) ? tz_copy_rows_launch(&source, &target, 0, err) : TZ_OK;
}

tz_result tz_gpu_copy_rows(tz_writer *w, const tz_tile_row *from, uint32_t from_row,
                           const tz_tile_row *to, uint32_t to_row, uint32_t rows)
{
    TZ_TRY(copy_buffer_rows(&from->pixels, from_row, &to->pixels, to_row, rows, w->ctx.err));
    return copy_buffer_rows(&from->mask, from_row, &to->mask, to_row, rows, w->ctx.err);
}
