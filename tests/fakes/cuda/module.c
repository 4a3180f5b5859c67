/* SPDX-License-Identifier: Apache-2.0
 * Modules of PTX and their kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/module.h"

/* ---- modules ---- */

/* Writes the log that a caller asked for. */
static void write_log(const char *text, unsigned count, const unsigned *options, void **values)
{
    char *buffer = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5)
            buffer = values[i];
        if (options[i] == 6)
            size = (unsigned)(uintptr_t)values[i];
    }
    if (buffer && size > 0)
        snprintf(buffer, size, "%s", text);
}

/* The version of PTX that a driver's compiler knows, times ten; as the release notes have it. */
static int ptx_of_driver(void)
{
    static const int versions[][2] = {
        {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
        {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77},
        {11040, 74}, {11000, 70}, {10020, 65}, {10010, 64}, {10000, 63}, {9020, 62}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (control.version >= versions[i][0])
            return versions[i][1];
    }
    return 0;
}

/* Checks that the driver and the device accept the ".version" and ".target". */
static CUresult check_text(const call *here, const char *text)
{
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    if (memcmp(text, fatbin, sizeof fatbin) == 0)
        return refuse(here, (CUresult)control.fatbin_code, "it is a fatbin");
    const char *version = strstr(text, ".version ");
    const char *target = strstr(text, ".target sm_");
    if (!version || !target)
        return refuse(here, INVALID_IMAGE, "it is no PTX");
    const int needs = (int)(10 * atof(version + 9) + 0.5), has = ptx_of_driver();
    if (needs > has)
        return refuse(here, UNSUPPORTED_PTX_VERSION, "Unsupported .version %d.%d; current is %d.%d",
                      needs / 10, needs % 10, has / 10, has % 10);
    const int made_for = atoi(target + 11), is = 10 * control.major + control.minor;
    if (made_for > is)
        return refuse(here, NO_BINARY_FOR_GPU, "made for %d, the device is %d", made_for, is);
    return SUCCESS;
}

static CUresult load(const call *here, CUmodule *out, const char *text, ptx_error *error)
{
    const CUresult code = check_text(here, text);
    if (code != SUCCESS)
        return code;
    ptx_module *parsed = ptx_load(text, error);
    if (!parsed)
        return refuse(here, INVALID_PTX, "%s", error->text);
    module *made = thing_make(MODULE_THING, sizeof *made, here->context);
    made->parsed = parsed;
    control.live++;
    *out = HANDLE(CUmodule, made);
    return SUCCESS;
}

static CUresult load_data(const char *name, CUmodule *out, const void *image, unsigned count,
                          unsigned *options, void **values)
{
    call here;
    ptx_error error = {""};
    if (!call_begin(&here, name, NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    if (control.load_code != 0)
        return call_end(&here, (CUresult)control.load_code);
    const CUresult code = load(&here, out, image, &error);
    if (code != SUCCESS)
        write_log(error.text[0] ? error.text : control.refusal, count, options, values);
    return call_end(&here, code);
}

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    return load_data("+cuModuleLoadData", out, image, 0, NULL, NULL);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, unsigned *options,
                            void **values)
{
    return load_data("+cuModuleLoadDataEx", out, image, count, options, values);
}

static void free_function(void *which, void *state)
{
    function *one = which;
    if (one->module == state)
        thing_free(&one->self);
}

static void free_module(module *which)
{
    thing_each(FUNCTION_THING, free_function, which);
    ptx_unload(which->parsed);
    thing_free(&which->self);
}

/* Worse than the real one: kernels of it that wait in streams have lost it. */
CUresult cuModuleUnload(CUmodule handle)
{
    call here;
    if (!call_begin(&here, "+cuModuleUnload", NEEDS_CONTEXT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    module *found = thing_find(MODULE_THING, handle);
    if (!found || found->self.context != here.context)
        return call_end(&here, refuse(&here, INVALID_HANDLE, "%p is no module of this context",
                                      (void *)handle));
    free_module(found);
    control.live--;
    return call_end(&here, here.code);
}

static void free_if_of(void *which, void *state)
{
    module *one = which;
    if (one->self.context == state)
        free_module(one);
}

void module_free_of(const context *which)
{
    thing_each(MODULE_THING, free_if_of, (void *)(uintptr_t)which);
}

/* ---- functions ---- */

static unsigned static_shared(const ptx_function *kernel)
{
    return (unsigned)kernel->shared_space;
}

unsigned function_max_threads(const ptx_function *kernel)
{
    return kernel->max_threads > 0 ? kernel->max_threads : MAX_THREADS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    call here;
    if (!call_begin(&here, "+cuModuleGetFunction", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    module *found = thing_find(MODULE_THING, handle);
    if (!found || found->self.context != here.context)
        return call_end(&here, refuse(&here, INVALID_HANDLE, "%p is no module of this context",
                                      (void *)handle));
    const ptx_function *kernel = ptx_find_kernel(found->parsed, name);
    if (!kernel)
        return call_end(&here, refuse(&here, NOT_FOUND, "there is no %s", name));
    function *made = thing_make(FUNCTION_THING, sizeof *made, here.context);
    made->module = found;
    made->kernel = kernel;
    made->max_dynamic_shared = SHARED - static_shared(kernel);
    *out = HANDLE(CUfunction, made);
    return call_end(&here, SUCCESS);
}

/* A call that needs a function of the current context. */
static function *begin(call *here, const char *name, CUfunction handle)
{
    if (!call_begin(here, name, NEEDS_CONTEXT, 0, NULL))
        return NULL;
    function *found = thing_find(FUNCTION_THING, handle);
    if (found && found->self.context == here->context)
        return found;
    here->code = refuse(here, INVALID_HANDLE, "%p is no function", (void *)handle);
    return NULL;
}

CUresult cuFuncGetAttribute(int *value, unsigned attribute, CUfunction handle)
{
    call here;
    const function *found = begin(&here, "+cuFuncGetAttribute", handle);
    if (!found)
        return call_end(&here, here.code);
    const int capability = 10 * control.major + control.minor;
    const int numbers[] = {(int)function_max_threads(found->kernel),
                           (int)static_shared(found->kernel),
                           0,
                           (int)found->kernel->local_space,
                           REGISTERS,
                           capability,
                           capability,
                           0,
                           (int)found->max_dynamic_shared};
    if (attribute >= sizeof numbers / sizeof *numbers)
        return call_end(&here, refuse(&here, INVALID_VALUE, "attribute %u", attribute));
    *value = numbers[attribute];
    return call_end(&here, SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction handle, unsigned attribute, int value)
{
    call here;
    function *found = begin(&here, "+cuFuncSetAttribute", handle);
    if (!found)
        return call_end(&here, here.code);
    const bool fits =
        attribute == 9 || (attribute == 8 && value >= 0 &&
                           value <= SHARED_OPT_IN - (int)static_shared(found->kernel));
    if (!fits)
        return call_end(&here,
                        refuse(&here, INVALID_VALUE, "attribute %u of %d", attribute, value));
    if (attribute == 8)
        found->max_dynamic_shared = (unsigned)value;
    return call_end(&here, SUCCESS);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                     size_t shared)
{
    call here;
    const function *found = begin(&here, "+cuOccupancyMaxActiveBlocksPerMultiprocessor", handle);
    if (!found)
        return call_end(&here, here.code);
    if (threads <= 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "%d threads", threads));
    const size_t each = shared + static_shared(found->kernel);
    const int by_threads = MAX_THREADS / threads;
    const int by_shared = each == 0 ? by_threads : (int)(SHARED_OPT_IN / each);
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    return call_end(&here, SUCCESS);
}
