/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/fault_device.h"

#include <stdio.h>

#include "fakes/cuda/cuda_fake.h"
#include "fakes/opencl/opencl_fake.h"
#include "support/check.h"
#include "support/device/cuda_steps.h"
#include "support/device/test_device.h"

#define NO_LIBRARY "libnothing-of-the-kind.so.1"

/* The names in the two libraries. */
typedef struct fault_names {
    const char *functions[FAULT_SYNC + 1]; /* by fault_place */
    int32_t codes[FAULT_LOST + 1];         /* by fault_kind */
    const char *texts[FAULT_LOST + 1];
    const char *id;
} fault_names;

static const fault_names opencl = {{NULL, "clGetPlatformIDs", "clBuildProgram", "clCreateBuffer",
                                    "clEnqueueMapBuffer", "clEnqueueNDRangeKernel", "clFinish"},
                                   {-5, -4, -9999},
                                   {"CL_OUT_OF_RESOURCES (-5)",
                                    "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)",
                                    "a code that OpenCL 1.2 does not know (-9999)"},
                                   "opencl:0"};
static const fault_names cuda = {{NULL, "cuInit", "cuModuleLoadDataEx", "cuMemAlloc_v2",
                                  "cuMemHostAlloc", "cuLaunchKernel", "cuStreamSynchronize"},
                                 {999, 2, 700},
                                 {"CUDA_ERROR_UNKNOWN (999)", "CUDA_ERROR_OUT_OF_MEMORY (2)",
                                  "CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
                                 "cuda:0"};

tz_device_options fault_options;
static opencl_fake_control *cl_control;
static cuda_fake_control *cu_control;

static const fault_names *names(void)
{
    return test_device_is_cuda() ? &cuda : &opencl;
}

void fault_load(void)
{
    fault_options = (tz_device_options){.struct_size = sizeof fault_options,
                                        .libraries = "opencl=" OPENCL_FAKE ";cuda=" NO_LIBRARY};
    if (test_device_is_cuda()) {
        fault_options.libraries = "opencl=" NO_LIBRARY ";cuda=" CUDA_FAKE;
        test_device_choose_libraries(&fault_options);
        cu_control = cuda_fake_load();
    } else {
        cl_control = opencl_fake_load();
    }
    fault_reset();
}

void fault_reset(void)
{
    if (cu_control)
        cuda_fake_reset(cu_control);
    else
        opencl_fake_reset(cl_control);
}

void fault_set(fault_place place, uint64_t nth, fault_kind kind)
{
    if (cu_control) {
        cu_control->fail_function = names()->functions[place];
        cu_control->fail_nth = nth;
        cu_control->fail_code = names()->codes[kind];
        /* device memory is tried twice by the driver */
        cu_control->fail_more = kind == FAULT_NO_MEMORY && place != FAULT_PINNED;
        return;
    }
    cl_control->fail_function = names()->functions[place];
    cl_control->fail_nth = nth;
    cl_control->fail_code = names()->codes[kind];
    cl_control->lost = kind == FAULT_LOST;
}

uint64_t fault_calls(void)
{
    return cu_control ? cu_control->calls : cl_control->calls;
}

void fault_count_anew(void)
{
    if (cu_control)
        cu_control->calls = 0;
    else
        cl_control->calls = 0;
}

int64_t fault_live(void)
{
    return cu_control ? cu_control->live : cl_control->live;
}

bool fault_kernels_work(void)
{
    return cu_control != NULL;
}

void fault_set_memory(uint64_t bytes)
{
    if (cu_control)
        cu_control->memory = bytes;
    else
        cl_control->memory = bytes;
}

void fault_set_gpus(uint32_t count)
{
    if (cu_control)
        cu_control->devices = count;
    else
        cl_control->gpus = count;
}

const char *fault_device_id(void)
{
    return names()->id;
}

const char *fault_text(fault_place place, fault_kind kind)
{
    static char text[100];
    snprintf(text, sizeof text, "%s: %s", names()->functions[place], names()->texts[kind]);
    return text;
}

tz_device *fault_open_as(const char *name)
{
    tz_device *device = NULL;
    tz_error err = {0};
    const tz_result result = tz_device_open(&device, name, &fault_options, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    steps_try_libraries(device);
    return device;
}

tz_device *fault_open(void)
{
    return fault_open_as(names()->id);
}
