/* SPDX-License-Identifier: Apache-2.0
 * One write through the file sink, as a writer makes it: ranges with a gap between them, the first
 * bytes last, a range read back, all brought to the disk and published. */
#ifndef TZ_TESTS_SINK_JOB_H
#define TZ_TESTS_SINK_JOB_H

#include "io/sink.h"

enum { SINK_JOB_SIZE = 10000 };

/* Returns the bytes that the file should hold afterwards. */
const unsigned char *sink_job_bytes(void);

/* Writes the file in the scratch folder. */
tz_result sink_job_run(const char *name, bool exclusive, bool no_sync, tz_error *err);

/* Its steps: to an open sink, all but commit and close. */
tz_result sink_job_fill(tz_sink *sink, const tz_context *ctx);

/* The same, and it must succeed. */
void sink_job_must_run(const char *name);

/* A sink for this file of the scratch folder; it must open. */
tz_sink *sink_job_open(const char *name, bool exclusive);

/* Fill, commit and close; all must succeed. */
void sink_job_finish(tz_sink *sink);

/* "OLD": what stands at the destination before. */
void sink_job_make_old(const char *name);
bool sink_job_is_old(const char *name);
bool sink_job_is_new(const char *name);

#endif
