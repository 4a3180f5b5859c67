/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/convert_kernels.h"
#include "device/ops/convert_launch.h"

_Static_assert(sizeof(tz_unpredict_entry) == TZ_UNPREDICT_ENTRY_BYTES &&
                   offsetof(tz_unpredict_entry, row_bytes) == TZ_UNPREDICT_ROW_BYTES &&
                   offsetof(tz_unpredict_entry, stride) == TZ_UNPREDICT_STRIDE &&
                   offsetof(tz_unpredict_entry, predictor) == TZ_UNPREDICT_PREDICTOR &&
                   offsetof(tz_unpredict_entry, swap) == TZ_UNPREDICT_SWAP,
               "kernels read the entries as they are");
_Static_assert(TZ_UNPREDICT_MAX_ROWS == TZ_WORK_GROUP_ITEMS, "an item per row");

bool tz_unpredict_entry_of(const tz_row_format *row, tz_unpredict_entry *entry)
{
    if (row->predictor != 2 && row->predictor != 3)
        return false;
    *entry = (tz_unpredict_entry){.row_bytes = (uint32_t)tz_row_bytes(row),
                                  .count = row->width * row->samples,
                                  .stride = row->samples,
                                  .width = (uint8_t)(row->bits / 8),
                                  .predictor = (uint8_t)row->predictor,
                                  .swap = row->predictor == 2 && row->swap};
    return true;
}

static bool is_supported_shape(const tz_unpredict_entry *entry)
{
    const bool whole = entry->width == 2 || entry->width == 4 || entry->width == 8 ||
                       (entry->predictor == 2 ? entry->width == 1 : entry->width == 3);
    return (entry->predictor == 2 || entry->predictor == 3) && whole && entry->stride > 0 &&
           entry->rows <= TZ_UNPREDICT_MAX_ROWS;
}

static tz_result check_unpredict_entry(const tz_unpredict_batch *batch, uint64_t index,
                                       tz_error *err)
{
    const tz_unpredict_entry *entry = &batch->entries[index];
    tz_device *device = batch->slab->device;
    tz_location location = tz_at_offset(entry->offset);
    location.tile = (int64_t)index;
    const uint64_t used = (uint64_t)entry->count * entry->width;
    if (!is_supported_shape(entry) || used > entry->row_bytes)
        return tz_call_fail(device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location,
                            "rows of such a shape are not undone");
    const uint64_t size = (uint64_t)entry->rows * entry->row_bytes;
    if (!tz_memory_holds(batch->slab, entry->offset, size))
        return tz_call_fail(
            device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
            tz_expecting(location, batch->slab->size, tz_add_capped(entry->offset, size)),
            "the rows are not within the slab");
    return TZ_OK;
}

tz_result tz_unpredict_launch(const tz_unpredict_batch *batch, uint32_t queue, tz_error *err)
{
    const uint64_t size = tz_mul_capped(batch->count, sizeof *batch->entries);
    if (batch->table % 8 != 0 || !tz_memory_holds(batch->slab, batch->table, size))
        return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            tz_at_offset(batch->table), "the table is not within the slab");
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_unpredict_entry(batch, i, err));
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_UNPREDICT, batch->count, arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}
