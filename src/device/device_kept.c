/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device_kept.h"

#include "device/device_state.h"

static tz_kept_kind kind_of(const tz_device_memory *memory)
{
    return memory->host ? TZ_KEPT_PINNED : TZ_KEPT_SHARED;
}

static bool may_keep(const tz_device *device, const tz_device_memory *memory)
{
    return !memory->wrapped && (memory->host || memory->shared) &&
           memory->capacity <= device->kept.limit;
}

/* ---- with the lock held ---- */

static tz_device_memory take_at(tz_kept *kept, unsigned index)
{
    const tz_device_memory taken = kept->pieces[index];
    kept->count--;
    for (unsigned i = index; i < kept->count; i++)
        kept->pieces[i] = kept->pieces[i + 1];
    return taken;
}

static uint64_t bytes_of(const tz_kept *kept, tz_kept_kind kind)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < kept->count; i++)
        bytes += kind_of(&kept->pieces[i]) == kind ? kept->pieces[i].capacity : 0;
    return bytes;
}

static unsigned oldest_of(const tz_kept *kept, tz_kept_kind kind)
{
    unsigned i = 0;
    while (i < kept->count && kind_of(&kept->pieces[i]) != kind)
        i++;
    return i;
}

/* Makes room for memory; returns how many pieces had to go. */
static unsigned make_room(tz_kept *kept, const tz_device_memory *memory, tz_device_memory *gone)
{
    const tz_kept_kind kind = kind_of(memory);
    unsigned count = 0;
    while (bytes_of(kept, kind) + memory->capacity > kept->limit)
        gone[count++] = take_at(kept, oldest_of(kept, kind));
    if (kept->count == TZ_KEPT_PIECES)
        gone[count++] = take_at(kept, 0);
    return count;
}

/* ---- without it ---- */

static void release(tz_device *device, tz_device_memory *pieces, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].shared)
            device->driver->unshare_memory(device->state, &pieces[i]);
        device->driver->free(device->state, &pieces[i]);
    }
}

bool tz_kept_take(tz_device *device, tz_kept_kind kind, uint64_t size, tz_device_memory *memory)
{
    tz_kept *kept = &device->kept;
    unsigned best = TZ_KEPT_PIECES;
    if (!tz_device_is_ours(device))
        return false;
    tz_device_lock(device);
    for (unsigned i = 0; !device->failed && i < kept->count; i++) {
        const tz_device_memory *piece = &kept->pieces[i];
        if (kind_of(piece) == kind && piece->capacity >= size &&
            (best == TZ_KEPT_PIECES || piece->capacity < kept->pieces[best].capacity))
            best = i;
    }
    const bool found = best < TZ_KEPT_PIECES;
    if (found) {
        *memory = take_at(kept, best);
        memory->size = size;
        if (kind == TZ_KEPT_SHARED)
            tz_count_memory(device, memory->capacity, true);
    }
    tz_device_unlock(device);
    return found;
}

bool tz_kept_put(tz_device *device, const tz_device_memory *memory)
{
    tz_device_memory gone[TZ_KEPT_PIECES];
    tz_kept *kept = &device->kept;
    unsigned gone_count = 0;
    if (!tz_device_is_ours(device) || !may_keep(device, memory))
        return false;
    tz_device_lock(device);
    const bool keeps = !device->failed;
    if (keeps) {
        gone_count = make_room(kept, memory, gone);
        kept->pieces[kept->count] = *memory;
        kept->pieces[kept->count].before = kept->pieces[kept->count].after = NULL;
        kept->count++;
    }
    tz_device_unlock(device);
    release(device, gone, gone_count);
    return keeps;
}

bool tz_kept_release(tz_device *device)
{
    tz_kept gone;
    tz_device_lock(device);
    gone = device->kept;
    device->kept.count = 0;
    tz_device_unlock(device);
    if (tz_device_is_ours(device))
        release(device, gone.pieces, gone.count);
    return gone.count > 0;
}

uint64_t tz_kept_device_bytes(tz_device *device)
{
    tz_device_lock(device);
    const uint64_t bytes = bytes_of(&device->kept, TZ_KEPT_SHARED);
    tz_device_unlock(device);
    return bytes;
}
