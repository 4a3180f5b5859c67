/* SPDX-License-Identifier: Apache-2.0
 * Kernels, run: block after block, and the threads of a block in turn, each until it ends or waits.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_machine.h"

static _Thread_local uint64_t instructions_run;

uint64_t ptx_instructions_run(void)
{
    return instructions_run;
}

/* ---------------------------------------------------------------------------------------------
 * What went wrong
 * ------------------------------------------------------------------------------------------ */

void ptx_thread_place(const ptx_thread *t, uint32_t place[3])
{
    const uint32_t *size = t->block->launch->block;
    place[0] = t->number % size[0];
    place[1] = t->number / size[0] % size[1];
    place[2] = t->number / size[0] / size[1];
}

static const ptx_instruction *instruction_of(const ptx_thread *t, const ptx_code *c)
{
    const ptx_function *function = t->frames[t->depth - 1].lowered->function;
    return c->at < function->instruction_count ? &function->instructions[c->at] : NULL;
}

int ptx_line_of(const ptx_thread *t, const ptx_code *c)
{
    const ptx_instruction *in = instruction_of(t, c);
    return in ? in->line : 0;
}

/* The first thing that goes wrong is reported. */
static void tell(ptx_thread *t, const ptx_code *c, const char *what)
{
    ptx_block *block = t->block;
    const ptx_instruction *in = instruction_of(t, c);
    uint32_t place[3];
    if (block->failed)
        return;
    block->failed = true;
    ptx_thread_place(t, place);
    if (block->error)
        (void)snprintf(
            block->error->text, sizeof(block->error->text),
            "kernel %.100s, line %d (%.40s), block (%u,%u,%u), thread (%u,%u,%u): %.160s",
            block->launch->kernel->name, in ? in->line : 0, in ? in->text : "", block->place[0],
            block->place[1], block->place[2], place[0], place[1], place[2], what);
}

const ptx_code *ptx_stop(ptx_thread *t, const ptx_code *c, const char *format, ...)
{
    char what[200];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    tell(t, c, what);
    return NULL;
}

void ptx_stop_waiting(ptx_thread *t, const char *format, ...)
{
    char what[200];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    tell(t, t->next, what);
}

/* ---------------------------------------------------------------------------------------------
 * Threads
 * ------------------------------------------------------------------------------------------ */

/* The line of an endless loop is where the budget ended. */
static void run_thread(ptx_thread *t)
{
    const ptx_code *c = t->next;
    uint64_t budget = t->left, left = budget;
    while (c && left) {
        t->next = c;
        c = c->run(t, t->slots, c);
        left--;
    }
    t->left = left;
    instructions_run += budget - left;
    if (c)
        ptx_stop_waiting(t, "the thread did not end within %" PRIu64 " instructions",
                         t->block->launch->most_instructions ? t->block->launch->most_instructions
                                                             : PTX_MOST_INSTRUCTIONS);
}

static void set_specials(ptx_thread *t)
{
    const ptx_launch *launch = t->block->launch;
    uint64_t *fixed = t->slots + t->block->lowered->fixed;
    uint32_t place[3];
    ptx_thread_place(t, place);
    for (unsigned i = 0; i < 3; i++) {
        fixed[PTX_TID_X + i] = place[i];
        fixed[PTX_NTID_X + i] = launch->block[i];
        fixed[PTX_CTAID_X + i] = t->block->place[i];
        fixed[PTX_NCTAID_X + i] = launch->grid[i];
    }
    fixed[PTX_LANEID] = t->number % PTX_LANES;
    fixed[PTX_WARPID] = t->number / PTX_LANES;
    fixed[PTX_WARP_SIZE] = PTX_LANES;
    fixed[PTX_CLOCK64] = fixed[PTX_SLOT_ZERO] = 0;
}

static bool begin_thread(ptx_thread *t)
{
    const ptx_block *block = t->block;
    const ptx_function *kernel = block->launch->kernel;
    t->depth = 0;
    t->state = PTX_READY;
    t->arrived = 0;
    t->carry = false;
    t->left =
        block->launch->most_instructions ? block->launch->most_instructions : PTX_MOST_INSTRUCTIONS;
    t->next = block->lowered->codes;
    if (!ptx_push_frame(t, block->lowered, NULL))
        return false;
    set_specials(t);
    if (kernel->param_bytes)
        memcpy(t->param_stack, block->launch->params, (size_t)kernel->param_bytes);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------ */

static bool fail(ptx_block *block, const char *what)
{
    block->failed = true;
    if (block->error)
        (void)snprintf(block->error->text, sizeof(block->error->text), "kernel %.100s: %s",
                       block->launch->kernel->name, what);
    return false;
}

/* Bytes of shared memory that an earlier block wrote are no longer written. */
static bool begin_block(ptx_block *block)
{
    block->first_interval = ++block->interval;
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (!begin_thread(&block->threads[i]))
            return fail(block, "no memory");
    return true;
}

/* Returns true if a thread has not ended. */
static bool run_ready(ptx_block *block)
{
    bool left = false;
    for (uint32_t i = 0; i < block->thread_count && !block->failed; i++) {
        ptx_thread *t = &block->threads[i];
        if (t->state == PTX_READY)
            run_thread(t);
        left = left || t->state != PTX_ENDED;
    }
    return left;
}

bool ptx_block_run(ptx_block *block)
{
    if (!begin_block(block))
        return false;
    while (run_ready(block) && !block->failed)
        if (!ptx_release_waiting(block) && !block->failed)
            ptx_explain_stall(block);
    return !block->failed;
}

/* ---------------------------------------------------------------------------------------------
 * Launches
 * ------------------------------------------------------------------------------------------ */

#define MOST_SHARED 65536u /* of a block of sm_75 */

static const char *check_launch(const ptx_launch *launch)
{
    static const uint32_t most_grid[3] = {INT32_MAX, 65535, 65535},
                          most_block[3] = {1024, 1024, 64};
    const ptx_function *kernel = launch->kernel;
    uint64_t threads = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!launch->grid[i] || launch->grid[i] > most_grid[i])
            return "a grid of no such size";
        if (!launch->block[i] || launch->block[i] > most_block[i])
            return "a block of no such size";
        threads *= launch->block[i];
    }
    if (threads > PTX_MOST_THREADS || (kernel->max_threads && threads > kernel->max_threads))
        return "too many threads in a block";
    if (kernel->shared_space + launch->dynamic_shared > MOST_SHARED)
        return "too much shared memory";
    if (kernel->param_bytes && !launch->params)
        return "no parameters";
    return kernel->is_kernel ? NULL : "not a kernel";
}

static void free_block(ptx_block *block)
{
    for (uint32_t i = 0; block->threads && i < block->thread_count; i++) {
        free(block->threads[i].slot_stack);
        free(block->threads[i].param_stack);
        free(block->threads[i].local_stack);
    }
    free(block->threads);
    free(block->shared);
    free(block->shades);
    free(block->clocks);
    free(block->known);
}

static bool make_block(ptx_block *block)
{
    const ptx_launch *launch = block->launch;
    size_t count = (size_t)launch->block[0] * launch->block[1] * launch->block[2];
    block->lowered = launch->kernel->lowered;
    block->thread_count = (uint32_t)count;
    block->shared_size = launch->kernel->shared_space + launch->dynamic_shared;
    block->threads = calloc(count, sizeof(*block->threads));
    block->shared = calloc((size_t)block->shared_size + 1, 1);
    block->shades = calloc((size_t)block->shared_size + 1, sizeof(*block->shades));
    block->clocks = malloc(count * sizeof(*block->clocks));
    block->known = calloc(count * count, sizeof(*block->known));
    if (!block->threads || !block->shared || !block->shades || !block->clocks || !block->known)
        return fail(block, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        block->threads[i].block = block;
        block->threads[i].number = i;
        block->clocks[i] = 1;
    }
    return true;
}

static bool run_blocks(ptx_block *block)
{
    const uint32_t *grid = block->launch->grid;
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++) {
                block->place[0] = x;
                block->place[1] = y;
                block->place[2] = z;
                if (!ptx_block_run(block))
                    return false;
            }
    return true;
}

bool ptx_run(const ptx_launch *launch, ptx_error *error)
{
    ptx_block block = {.launch = launch, .error = error};
    const char *wrong = check_launch(launch);
    instructions_run = 0;
    if (wrong)
        return fail(&block, wrong);
    bool ok = make_block(&block) && run_blocks(&block);
    free_block(&block);
    return ok;
}
