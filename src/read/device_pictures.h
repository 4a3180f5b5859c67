/* SPDX-License-Identifier: Apache-2.0
 * Tiles that libraries decode whose streams are in memory of the host. Which files have such tiles
 * is known when a plan is made; whether a tile is one for the library only when its bytes are
 * there. So there is room for both ways, and what the library is not given, or could not decode, is
 * decoded by the cores in the same wave. */
#ifndef TZ_READ_DEVICE_PICTURES_H
#define TZ_READ_DEVICE_PICTURES_H

#include "read/device_lane.h"

/* ---- of a plan ---- */

/* Whether tiles of the target are for a library, and which of dp->libraries; why not, where there
 * could be one, is in dp->library_reason. */
bool tz_pictures_take(tz_plan *plan, const tz_target *target, uint32_t *library);

/* What libraries take of dp->room; where that is too much, their tiles are the cores' again. */
tz_result tz_pictures_admit(tz_plan *plan);

/* What a wave takes for such a unit, beside its places; of this the stream that is put together. */
void tz_pictures_need(const tz_plan *plan, const tz_unit *unit, tz_need *need);
uint64_t tz_picture_stream_bytes(const tz_plan *plan, const tz_unit *unit);

/* ---- of a lane ---- */

uint64_t tz_lane_pictures_bytes(const tz_device_plan *dp);
tz_result tz_lane_pictures_init(const tz_device_run *run, tz_lane *lane);

/* All bytes of the wave have come: give pictures to their libraries, which go on while the cores
 * work, and leave to the cores what is not for them. */
tz_result tz_lane_pictures(tz_device_run *run, tz_lane *lane);

/* The error of a unit that is left to the cores which are not to decode it: theirs, if they could
 * not either. */
tz_result tz_picture_refuse(const tz_device_run *run, const tz_lane *lane, tz_worker *worker,
                            const tz_lane_unit *unit, tz_error *err);

#endif
