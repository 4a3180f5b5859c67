/* SPDX-License-Identifier: Apache-2.0 */
#include "double/own_device.h"

#include <sched.h>

#include "device/device.h"
#include "double/fault_device.h"
#include "double/own_parts.h"
#include "double/test_device.h"
#include "support/check.h"

static const own_parts *parts(void)
{
    return test_device_is_cuda() ? &own_cuda : &own_opencl;
}

/* PoCL lets go of what a command used some time after the command is done. */
static void check_released(const own_device *own, void *handle)
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

void own_begin(own_device *own)
{
    const tz_device_options defaults = TZ_DEVICE_OPTIONS_INIT;
    *own = (own_device){.options = defaults};
    assert_true(parts()->begin(own));
    own->opened = test_device_open(&own->options);
}

void own_end(own_device *own)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(own->opened, &err), TZ_OK);
    own_end_faulty(own);
}

bool own_begin_faulty(own_device *own)
{
    *own = (own_device){.options = fault_options, .is_faulty = true};
    return parts()->begin(own);
}

void own_end_faulty(own_device *own)
{
    check_released(own, NULL);
    parts()->end(own);
}

void *own_alloc(const own_device *own, size_t size)
{
    return parts()->alloc(own, own->context, size);
}

void own_free(const own_device *own, void *handle)
{
    check_released(own, handle);
    parts()->free(own, own->context, handle);
}

void own_copy_in(const own_device *own, void *handle, const void *bytes, size_t size)
{
    parts()->copy(own, handle, (void *)(uintptr_t)bytes, size, true);
}

void own_copy_out(const own_device *own, void *bytes, void *handle, size_t size)
{
    parts()->copy(own, handle, bytes, size, false);
}

own_foreign own_foreign_begin(const own_device *own, size_t size)
{
    own_foreign foreign = {.context = parts()->other_context(own)};
    foreign.memory = parts()->alloc(own, foreign.context, size);
    assert_non_null(foreign.memory);
    return foreign;
}

void own_foreign_end(const own_device *own, own_foreign *foreign)
{
    parts()->free(own, foreign->context, foreign->memory);
    parts()->end_other_context(own, foreign->context);
}

uint32_t own_references_of_context(const own_device *own)
{
    return parts()->context_references(own);
}

uint32_t own_references(const own_device *own, void *handle)
{
    return parts()->references(own, handle);
}
