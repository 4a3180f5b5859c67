/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#ifdef TZ_HAVE_JPEG

#include "codec/jpeg_guard.h"

static tz_jpeg_guard *guard_of(j_common_ptr cinfo)
{
    return cinfo->client_data;
}

_Noreturn static void on_jpeg_error(j_common_ptr cinfo)
{
    tz_jpeg_guard *guard = guard_of(cinfo);
    cinfo->err->format_message(cinfo, guard->text);
    longjmp(guard->jump, 1);
}

static void on_jpeg_message(j_common_ptr cinfo, int level)
{
    if (level >= 0)
        return; /* a trace */
    tz_jpeg_guard *guard = guard_of(cinfo);
    if (guard->is_fatal && guard->is_fatal(cinfo->err->msg_code))
        on_jpeg_error(cinfo);
    if (guard->text[0] == '\0')
        cinfo->err->format_message(cinfo, guard->text);
}

static void ignore_output(j_common_ptr cinfo)
{
    (void)cinfo;
}

void tz_jpeg_guard_init(tz_jpeg_guard *guard, j_common_ptr cinfo)
{
    cinfo->err = jpeg_std_error(&guard->errors);
    guard->errors.error_exit = on_jpeg_error;
    guard->errors.emit_message = on_jpeg_message;
    guard->errors.output_message = ignore_output;
    cinfo->client_data = guard;
}

bool tz_jpeg_guard_run(tz_jpeg_guard *guard, void (*step)(void *user), void *user)
{
    guard->text[0] = '\0';
    if (setjmp(guard->jump) != 0)
        return false;
    step(user);
    return true;
}

tz_result tz_jpeg_guard_fail(const tz_jpeg_guard *guard, const tz_codec_call *call)
{
    const tz_jpeg_memory *memory = &guard->memory;
    if (memory->over_limit)
        return tz_check_limit(call->ctx, offsetof(tz_limits, max_codec_bytes), call->location,
                              memory->refused, "bytes of memory for libjpeg");
    if (memory->refused)
        return tz_fail_nomem(call->ctx, memory->refused);
    return tz_codec_fail(call, "JPEG: %s", guard->text);
}

#endif
