/* SPDX-License-Identifier: Apache-2.0
 * Statistics of extracted tiles, before they are stored: a tz_stats for each tile and each sample
 * of a pixel. They need double precision. */
#ifndef TZ_DEVICE_OPS_STATS_KERNELS_H
#define TZ_DEVICE_OPS_STATS_KERNELS_H

#include "device/ops/extract_base_kernels.h"
#include "kernels/kernel_entry.h"
#include "kernels/stats_tile.h"

#ifdef TZ_HAS_F64

#define TZ_STATS_ENTRY_BYTES 48u /* tz_stats */

/* Writes a tz_stats as the host reads it. */
TZ_FN void tz_write_stats(TZ_GLOBAL tz_u8 *to, const tz_stats *tile_stats)
{
    tz_store_u64(to, tile_stats->valid);
    tz_store_u64(to + 8, tz_bits_of_f64(tile_stats->minimum));
    tz_store_u64(to + 16, tz_bits_of_f64(tile_stats->maximum));
    tz_store_u64(to + 24, tz_bits_of_f64(tile_stats->pivot));
    tz_store_u64(to + 32, tz_bits_of_f64(tile_stats->sum));
    tz_store_u64(to + 40, tz_bits_of_f64(tile_stats->squares));
}

#ifdef TZ_KERNEL
#define TZ_STATS_ARGUMENTS                                                                         \
    TZ_EXTRACT_LAYOUT_ARGUMENTS, tz_u64 stats, tz_u32 samples, tz_u32 component,                   \
        tz_u32 has_nodata, tz_u32 nodata_kind, tz_u32 has_mask, tz_u64 nodata, tz_u64 mask_row,    \
        tz_u64 mask_column

/* Work-group number n has sample n % samples of tile n / samples. Complex samples (component 0)
 * have no statistics: their tiles count as tiles without rows. */
#define TZ_STATS_OF_ARGUMENTS(entry, layout, from, tile, flags)                                    \
    tz_extract_layout layout;                                                                      \
    tz_stats_source from;                                                                          \
    const TZ_GLOBAL tz_u8 *entry = slab + table + TZ_WORK_GROUP / samples * TZ_EXTRACT_TILE_BYTES; \
    const tz_u32 bytes = component ? tz_component_bytes(component) : 0u;                           \
    TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(layout);                                                        \
    const TZ_GLOBAL tz_u8 *tile =                                                                  \
        slab + tz_extract_row_offset(entry, &layout, TZ_WORK_GROUP / samples * height) +           \
        TZ_WORK_GROUP % samples * bytes;                                                           \
    const TZ_GLOBAL tz_u8 *flags = mask + (has_mask ? tz_load_u64(entry + TZ_EXTRACT_VALID) : 0u); \
    from.row_bytes = plain_row, from.step = samples * bytes, from.component = component;           \
    from.width = tz_load_u32(entry + TZ_EXTRACT_WIDTH),                                            \
    from.rows = component ? tz_load_u32(entry + TZ_EXTRACT_HEIGHT) : 0u;                           \
    from.has_nodata = has_nodata, from.nodata_kind = nodata_kind, from.has_mask = has_mask,        \
    from.nodata = nodata;                                                                          \
    from.mask_row = (tz_i64)mask_row, from.mask_column = (tz_i64)mask_column

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
/* Work-item 0 of a work-group for each sample of a tile. */
TZ_KERNEL_BOUNDED(tz_kernel_stats, 8)
(const TZ_GLOBAL tz_u8 *mask, TZ_GLOBAL tz_u8 *slab, TZ_STATS_ARGUMENTS)
{
    TZ_STATS_OF_ARGUMENTS(entry, layout, from, tile, flags);
    if (TZ_WORK_ITEM == 0u) {
        const tz_stats tile_stats = tz_stats_tile(&from, tile, flags);
        tz_write_stats(slab + stats + TZ_WORK_GROUP * TZ_STATS_ENTRY_BYTES, &tile_stats);
    }
}
#endif

/* A work-group for each sample of a tile. */
TZ_KERNEL(tz_kernel_stats_work_group)
(const TZ_GLOBAL tz_u8 *mask, TZ_GLOBAL tz_u8 *slab, TZ_STATS_ARGUMENTS)
{
    TZ_SHARED tz_f64 shared[TZ_STATS_SHARED_F64];
    TZ_SHARED tz_u64 counts[TZ_STATS_SHARED_U64];
    TZ_STATS_OF_ARGUMENTS(entry, layout, from, tile, flags);
    const tz_stats tile_stats = tz_stats_tile_work_group(&from, tile, flags, shared, counts);
    if (TZ_WORK_ITEM == 0u)
        tz_write_stats(slab + stats + TZ_WORK_GROUP * TZ_STATS_ENTRY_BYTES, &tile_stats);
}
#endif

#endif

#endif
