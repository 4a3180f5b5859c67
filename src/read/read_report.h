/* SPDX-License-Identifier: Apache-2.0
 * The report of a read, once all tiles are done, and sums of reports. */
#ifndef TZ_READ_READ_REPORT_H
#define TZ_READ_READ_REPORT_H

#include "read/tile.h"

/* Counts how tiles were decoded and merges the warnings of all workers. by_device: tiles that no
 * worker decoded. */
void tz_report_finish(tz_plan *plan, const tz_workers *workers, uint64_t by_device);

/* Adds the counts of a device; its texts are kept if the sum has none yet. */
void tz_device_use_add(tz_device_use *sum, const tz_device_use *more);

/* Visits all tiles of pixels that failed and whose mask another request fills. Pixels that failed
 * are masked even if mask or alpha says that they are valid. */
typedef void (*tz_failed_tile_fn)(void *user, const tz_planned_request *request,
                                  const tz_planned_request *mask, uint64_t tile);
void tz_plan_visit_failed_tiles(const tz_plan *plan, tz_failed_tile_fn visit, void *user);

#endif
