/* SPDX-License-Identifier: Apache-2.0
 * Views whose buffers have other pixels than the file: blocks of the level are read into memory and
 * resampled from there. */
#ifndef TZ_READ_RESAMPLED_READ_H
#define TZ_READ_RESAMPLED_READ_H

#include "read/plan.h"

/* dry: only plan. The report gets the sum of all reads. */
tz_result tz_resampled_read(const tz_read_request *requests, size_t count,
                            const tz_read_options *how, bool dry, tz_report *report, tz_error *err);

#endif
