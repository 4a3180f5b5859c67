/* SPDX-License-Identifier: Apache-2.0
 * Tiles that libraries decode whose streams are in memory of the host. Which files have such tiles
 * is known when a plan is made; whether a tile is one for the library only when its bytes are
 * there. So there is room for both ways, and what the library is not given, or could not decode, is
 * decoded by the cores in the same wave. */
#ifndef TZ_READ_GPU_GPU_CODESTREAMS_H
#define TZ_READ_GPU_GPU_CODESTREAMS_H

#include "read/gpu/gpu_slot.h"

/* ---- of a plan ---- */

/* Whether tiles of the target are for a library, and which of dp->libraries; why not, where there
 * could be one, is in dp->library_reason. */
bool tz_gpu_codestreams_accept(tz_plan *plan, const tz_planned_request *request, uint32_t *library);

/* What libraries take of dp->room; where that is too much, their tiles are the cores' again. */
tz_result tz_gpu_codestreams_reserve(tz_plan *plan);

/* What a wave takes for such a unit, beside its places; of this the stream that is put together. */
void tz_gpu_codestreams_add_need(const tz_plan *plan, const tz_tile_read *tile_read,
                                 tz_gpu_need *need);
uint64_t tz_gpu_codestream_bytes(const tz_plan *plan, const tz_tile_read *tile_read);

/* ---- of a lane ---- */

uint64_t tz_gpu_codestream_list_bytes(const tz_gpu_plan *gpu);
tz_result tz_gpu_codestream_list_init(const tz_gpu_run *run, tz_gpu_slot *slot);

/* All bytes of the wave have come: give pictures to their libraries, which go on while the cores
 * work, and leave to the cores what is not for them. */
tz_result tz_gpu_decode_codestreams(tz_gpu_run *run, tz_gpu_slot *slot);

/* The error of a unit that is left to the cores which are not to decode it: theirs, if they could
 * not either. */
tz_result tz_gpu_fail_strict_codestream(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                        tz_worker *worker, const tz_gpu_tile_read *tile_read,
                                        tz_error *err);

#endif
