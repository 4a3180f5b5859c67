/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/cuda_steps.h"

#include <string.h>

#include "device/device.h"
#include "device/device_codestreams.h"

void steps_try_libraries(const tz_device *device)
{
    static const uint16_t chunks[] = {8, 50000, 50004}, pictures[] = {7, 34712};
    tz_vendor_decoder decoder;
    tz_codestream_codec codec;
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
        (void)tz_device_find_vendor_decoder(device, chunks[i], &decoder);
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
        (void)tz_device_find_codestream_codec(device, pictures[i], false, 1, &codec);
}

void steps_keep(cuda_fake_control *control)
{
    control->keep_steps = false;
    control->step_count = 0;
    control->keep_steps = true;
}

static bool is_asked(const cuda_fake_step *step)
{
    return step->call[0] != '+';
}

static bool is_of(const char *call, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(call, names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_allocation(const char *call)
{
    static const char *const names[] = {"cuMemAlloc_v2", "cuMemAllocAsync",
                                        "cuMemAllocFromPoolAsync"};
    return is_of(call, names, sizeof names / sizeof names[0]);
}

size_t steps_asked(const cuda_fake_control *control)
{
    return steps_with(control, "");
}

size_t steps_of(const cuda_fake_control *control, const char *call)
{
    size_t count = 0;
    for (size_t i = 0; i < control->step_count; i++)
        count += strcmp(control->steps[i].call, call) == 0;
    return count;
}

size_t steps_with(const cuda_fake_control *control, const char *part)
{
    size_t count = 0;
    for (size_t i = 0; i < control->step_count; i++)
        count += is_asked(&control->steps[i]) && strstr(control->steps[i].call, part);
    return count;
}

size_t steps_allocating(const cuda_fake_control *control)
{
    size_t count = 0;
    for (size_t i = 0; i < control->step_count; i++)
        count += is_allocation(control->steps[i].call);
    return count;
}

size_t steps_blocking(const cuda_fake_control *control)
{
    static const char *const names[] = {"cuCtxSynchronize", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
                                        "cuMemcpyDtoD_v2"};
    size_t count = 0;
    for (size_t i = 0; i < control->step_count; i++)
        count += is_of(control->steps[i].call, names, sizeof names / sizeof names[0]);
    return count;
}

size_t steps_find(const cuda_fake_control *control, const char *call, size_t nth)
{
    for (size_t i = 0; i < control->step_count; i++) {
        if (strcmp(control->steps[i].call, call) == 0 && nth-- == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t steps_first_allocation(const cuda_fake_control *control)
{
    for (size_t i = 0; i < control->step_count; i++) {
        if (is_allocation(control->steps[i].call))
            return i;
    }
    return SIZE_MAX;
}

size_t steps_last_allocation(const cuda_fake_control *control)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < control->step_count; i++)
        found = is_allocation(control->steps[i].call) ? i : found;
    return found;
}
