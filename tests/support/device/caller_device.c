/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/caller_device.h"

#include <sched.h>

#include "device/device.h"
#include "support/check.h"
#include "support/device/caller_driver.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"

static const caller_driver *parts(void)
{
    return test_device_is_cuda() ? &caller_cuda : &caller_opencl;
}

/* PoCL lets go of what a command used some time after the command is done. */
static void check_released(const caller_device *own, void *handle)
{
    enum { TURNS = 1000000 };
    uint32_t count = 1;
    for (unsigned i = 0; count > 0 && i < TURNS; i++) {
        count = handle ? parts()->references(own, handle) : parts()->context_references(own);
        if (count > 0)
            sched_yield();
    }
    assert_int_equal(count, 0);
}

void caller_begin(caller_device *own)
{
    const tz_device_options defaults = TZ_DEVICE_OPTIONS_INIT;
    *own = (caller_device){.options = defaults};
    assert_true(parts()->begin(own));
    own->opened = test_device_open(&own->options);
}

void caller_end(caller_device *own)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(own->opened, &err), TZ_OK);
    caller_end_faulty(own);
}

bool caller_begin_faulty(caller_device *own)
{
    *own = (caller_device){.options = fault_options, .is_faulty = true};
    return parts()->begin(own);
}

void caller_end_faulty(caller_device *own)
{
    check_released(own, NULL);
    parts()->end(own);
}

void *caller_alloc(const caller_device *own, size_t size)
{
    return parts()->alloc(own, own->context, size);
}

void caller_free(const caller_device *own, void *handle)
{
    check_released(own, handle);
    parts()->free(own, own->context, handle);
}

void caller_copy_in(const caller_device *own, void *handle, const void *bytes, size_t size)
{
    parts()->copy(own, handle, (void *)(uintptr_t)bytes, size, true);
}

void caller_copy_out(const caller_device *own, void *bytes, void *handle, size_t size)
{
    parts()->copy(own, handle, bytes, size, false);
}

void *caller_stream_begin(const caller_device *own, void *context)
{
    return parts()->make_stream(own, context);
}

void caller_stream_end(const caller_device *own, void *context, void *stream)
{
    parts()->end_stream(own, context, stream);
}

void caller_put_in(const caller_device *own, void *stream, void *handle, const void *bytes,
                   size_t size)
{
    parts()->put_copy(own, stream, handle, (void *)(uintptr_t)bytes, size, true);
}

void caller_put_out(const caller_device *own, void *stream, void *bytes, void *handle, size_t size)
{
    parts()->put_copy(own, stream, handle, bytes, size, false);
}

void caller_finish(const caller_device *own, void *stream)
{
    parts()->finish(own, stream);
}

void caller_hold(caller_device *own, void *stream)
{
    parts()->hold(own, stream);
}

void caller_let_go(caller_device *own)
{
    parts()->let_go(own);
}

caller_foreign caller_foreign_begin(const caller_device *own, size_t size)
{
    caller_foreign foreign = {.context = parts()->other_context(own)};
    foreign.memory = parts()->alloc(own, foreign.context, size);
    assert_non_null(foreign.memory);
    return foreign;
}

void caller_foreign_end(const caller_device *own, caller_foreign *foreign)
{
    parts()->free(own, foreign->context, foreign->memory);
    parts()->end_other_context(own, foreign->context);
}

uint32_t caller_references_of_context(const caller_device *own)
{
    return parts()->context_references(own);
}

uint32_t caller_references(const caller_device *own, void *handle)
{
    return parts()->references(own, handle);
}
