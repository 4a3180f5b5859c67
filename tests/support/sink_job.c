/* SPDX-License-Identifier: Apache-2.0
 * One write through the file sink, as a writer makes it. */
#include "support/sink_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/scratch.h"

enum { HEADER = 16, GAP_START = 4000, GAP_END = 6000, FILLED = 9000 };

const unsigned char *sink_job_bytes(void)
{
    static unsigned char bytes[SINK_JOB_SIZE];
    for (size_t i = 0; i < FILLED; i++)
        if (i < GAP_START || i >= GAP_END)
            bytes[i] = (unsigned char)(i * 31 + i / 251 + 1);
    return bytes;
}

static tz_result write_parts(tz_sink *sink, const tz_context *ctx)
{
    const unsigned char *bytes = sink_job_bytes();
    const tz_bytes first[] = {{bytes + HEADER, 984}, {NULL, 0}, {bytes + 1000, GAP_START - 1000}};
    const tz_bytes second = {bytes + GAP_END, FILLED - GAP_END};
    const tz_bytes header = {bytes, HEADER};
    TZ_TRY(tz_sink_write(sink, HEADER, first, 3, ctx));
    TZ_TRY(tz_sink_write(sink, GAP_END, &second, 1, ctx));
    return tz_sink_write(sink, 0, &header, 1, ctx);
}

tz_result sink_job_fill(tz_sink *sink, const tz_context *ctx)
{
    unsigned char back[100];
    TZ_TRY(write_parts(sink, ctx));
    TZ_TRY(tz_sink_sync(sink, SINK_JOB_SIZE, ctx));
    TZ_TRY(tz_sink_read(sink, GAP_END - 50, back, sizeof back, ctx));
    if (memcmp(back, sink_job_bytes() + GAP_END - 50, sizeof back) != 0)
        return TZ_ERR_INTERNAL;
    return TZ_OK;
}

static tz_result fill_and_commit(tz_sink *sink, const tz_context *ctx)
{
    TZ_TRY(sink_job_fill(sink, ctx));
    return tz_sink_commit(sink, ctx);
}

tz_result sink_job_run(const char *name, bool exclusive, bool no_sync, tz_error *err)
{
    tz_context ctx = {.name = name, .err = err, .ifd = -1};
    tz_sink *sink = NULL;
    TZ_TRY(tz_sink_open_file(&sink, scratch_path(name), exclusive, no_sync, &ctx));
    tz_result result = fill_and_commit(sink, &ctx);
    tz_sink_close(sink);
    return result;
}

void sink_job_must_run(const char *name)
{
    tz_error err;
    if (sink_job_run(name, false, false, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_true(sink_job_is_new(name));
}

tz_sink *sink_job_open(const char *name, bool exclusive)
{
    tz_error err;
    tz_context ctx = {.name = name, .err = &err, .ifd = -1};
    tz_sink *sink = NULL;
    if (tz_sink_open_file(&sink, scratch_path(name), exclusive, false, &ctx) != TZ_OK)
        fail_msg("%s", err.message);
    return sink;
}

void sink_job_finish(tz_sink *sink)
{
    tz_error err;
    tz_context ctx = {.name = "finish", .err = &err, .ifd = -1};
    tz_result result = fill_and_commit(sink, &ctx);
    tz_sink_close(sink);
    if (result != TZ_OK)
        fail_msg("%s", err.message);
}

void sink_job_make_old(const char *name)
{
    scratch_write(name, "OLD", 3);
}

bool sink_job_is_old(const char *name)
{
    return scratch_holds(name, "OLD", 3);
}

bool sink_job_is_new(const char *name)
{
    return scratch_holds(name, sink_job_bytes(), SINK_JOB_SIZE);
}
