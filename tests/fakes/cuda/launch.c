/* SPDX-License-Identifier: Apache-2.0
 * Launches of kernels. The broken fake is without this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/module.h"

typedef struct finder {
    work *who;
    char why[160]; /* of the first address that was not found */
} finder;

static bool find_memory(void *state, uint64_t address, uint64_t *first, uint64_t *size,
                        void **bytes)
{
    finder *asked = state;
    piece *found = piece_find(address);
    const char *why = found ? piece_refuses(found, asked->who) : NULL;
    if (found && !why) {
        *first = found->first;
        *size = found->size;
        *bytes = found->bytes;
        return true;
    }
    if (why)
        snprintf(asked->why, sizeof asked->why, "%#llx: %s", (unsigned long long)address, why);
    else
        piece_describe(asked->why, address);
    return false;
}

static void run_kernel(work *which)
{
    const function *found = thing_find(FUNCTION_THING, which->what.launch.function);
    if (!found) {
        fault(which->context, which->name, "the module of the kernel was unloaded");
        return;
    }
    finder state = {.who = which};
    const ptx_memory memory = {&state, find_memory};
    ptx_launch launch = {.kernel = found->kernel,
                         .dynamic_shared = which->what.launch.shared,
                         .params = which->what.launch.params,
                         .memory = &memory};
    memcpy(launch.grid, which->what.launch.grid, sizeof launch.grid);
    memcpy(launch.block, which->what.launch.block, sizeof launch.block);
    ptx_error error = {""};
    if (!ptx_run(&launch, &error))
        fault(which->context, which->name, "%s%s%s", error.text, state.why[0] ? "; " : "",
              state.why);
}

static void free_params(work *which)
{
    free(which->what.launch.params);
}

static CUresult check_sizes(const call *here, const function *which, const unsigned grid[3],
                            const unsigned block[3], unsigned shared)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0)
        return refuse(here, INVALID_VALUE, "a grid or a block of 0");
    if (grid[0] > 2147483647 || grid[1] > 65535 || grid[2] > 65535)
        return refuse(here, INVALID_VALUE, "a grid of %u, %u, %u", grid[0], grid[1], grid[2]);
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > MAX_THREADS)
        return refuse(here, INVALID_VALUE, "a block of %u, %u, %u", block[0], block[1], block[2]);
    if (threads > function_max_threads(which->kernel))
        return refuse(here, LAUNCH_OUT_OF_RESOURCES, "%llu threads, the kernel is for %u",
                      (unsigned long long)threads, function_max_threads(which->kernel));
    if (shared > which->max_dynamic_shared)
        return refuse(here, INVALID_VALUE, "%u bytes of shared memory of %u", shared,
                      which->max_dynamic_shared);
    return SUCCESS;
}

/* As the real one: they are read now. */
static unsigned char *copy_params(const ptx_function *kernel, void **params)
{
    unsigned char *made = calloc(1, kernel->param_bytes + 1);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        memcpy(made + kernel->params[i]->offset, params[i], kernel->params[i]->size);
    return made;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream_handle, void **params, void **extra)
{
    call here;
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    if (!call_begin(&here, "+cuLaunchKernel", NEEDS_CONTEXT, 0, stream_handle))
        return call_end(&here, here.code);
    const function *which = thing_find(FUNCTION_THING, handle);
    queue *to = queue_stream(&here, stream_handle);
    if (!which || !to || which->self.context != here.context)
        return call_end(&here, refuse(&here, INVALID_HANDLE, "function %p, stream %p",
                                      (void *)handle, (void *)stream_handle));
    if (extra || (!params && which->kernel->param_count > 0))
        return call_end(&here, refuse(&here, INVALID_VALUE, "no params, or extra ones"));
    const CUresult code = check_sizes(&here, which, grid, block, shared);
    if (code != SUCCESS)
        return call_end(&here, code);
    work *made = queue_add(&here, to, 0, run_kernel);
    made->finish = free_params;
    made->what.launch.function = handle;
    made->what.launch.shared = shared;
    memcpy(made->what.launch.grid, grid, sizeof grid);
    memcpy(made->what.launch.block, block, sizeof block);
    made->what.launch.params = copy_params(which->kernel, params);
    return call_end(&here, SUCCESS);
}
