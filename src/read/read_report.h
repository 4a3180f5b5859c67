/* SPDX-License-Identifier: Apache-2.0
 * What became of a read, once all tiles are done. */
#ifndef TZ_READ_READ_REPORT_H
#define TZ_READ_READ_REPORT_H

#include "read/worker.h"

/* The ways that tiles went and the warnings of all workers; decoded: tiles that none of them did.
 */
void tz_report_finish(tz_plan *plan, const tz_worker *workers, unsigned count, uint64_t decoded);

/* Pixels that failed are masked, also where mask or alpha says that they are valid: all tiles of
 * pixels that failed and whose mask is filled by another target. A target of pixels is followed by
 * the one of its mask, if there is one. */
typedef void (*tz_failed_tile_fn)(void *user, const tz_planned_request *request,
                                  const tz_planned_request *mask, uint64_t tile);
void tz_plan_visit_failed_tiles(const tz_plan *plan, tz_failed_tile_fn visit, void *user);

#endif
