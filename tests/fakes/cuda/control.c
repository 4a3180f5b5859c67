/* SPDX-License-Identifier: Apache-2.0
 * The control of tests: injected faults, the timeline, and misuse that was seen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/cuda/state.h"

#define EXPORT __attribute__((visibility("default")))

#ifdef CUDA_FAKE_OLD
cuda_fake_control control = {CUDA_FAKE_DEFAULTS, .no_pools = true};
#else
cuda_fake_control control = {CUDA_FAKE_DEFAULTS};
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_fake_step *steps;
static size_t step_room;
static uint64_t step_number;
static pid_t initialised; /* the process that called cuInit; 0: none yet */
static atomic_ullong threads;
static _Thread_local uint64_t thread_number;
static _Thread_local bool in_callback;

EXPORT cuda_fake_control *cuda_fake(void);
EXPORT void cuda_fake_forget(void);
EXPORT void *cuda_fake_reach(uint64_t address, uint64_t size);

/* For programs that do not control it. */
__attribute__((constructor)) static void take_version(void)
{
    const char *version = getenv("TERRAZZO_TEST_CUDA_VERSION");
    if (version)
        control.version = atoi(version);
}

EXPORT cuda_fake_control *cuda_fake(void)
{
    return &control;
}

static void heal(void *which, void *state)
{
    (void)state;
    ((context *)which)->sticky = SUCCESS;
}

/* For cuda_fake_reset: what is not in the control. */
EXPORT void cuda_fake_forget(void)
{
    pthread_mutex_lock(&lock);
    queue_forget(NULL);
    thing_each(CONTEXT_THING, heal, NULL);
    free(steps);
    steps = NULL;
    step_room = 0;
    step_number = 0;
    pthread_mutex_unlock(&lock);
}

EXPORT void *cuda_fake_reach(uint64_t address, uint64_t size)
{
    if (!in_callback)
        pthread_mutex_lock(&lock);
    const piece *found = piece_find(address);
    const bool within = found && size <= found->first + found->size - address;
    void *bytes = within ? found->bytes + (address - found->first) : NULL;
    if (!in_callback)
        pthread_mutex_unlock(&lock);
    return bytes;
}

void control_in_callback(bool inside)
{
    in_callback = inside;
}

void note_step(const char *name, uint64_t bytes, uint64_t stream)
{
    if (thread_number == 0)
        thread_number = atomic_fetch_add(&threads, 1) + 1;
    if (!control.keep_steps)
        return;
    if (control.step_count == step_room) {
        step_room = step_room ? 2 * step_room : 256;
        steps = realloc(steps, step_room * sizeof *steps);
    }
    steps[control.step_count++] = (cuda_fake_step){.sequence = step_number++,
                                                   .thread = thread_number,
                                                   .call = name,
                                                   .bytes = bytes,
                                                   .stream = stream};
    control.steps = steps;
}

bool is_sticky(CUresult code)
{
    return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

/* Returns the injected fault of this call: 0, or the code to answer. */
static CUresult put_in(const char *name, bool release)
{
    if (!release)
        control.calls++;
    if (control.fail_nth == 0)
        return SUCCESS;
    if (control.fail_function ? strcmp(control.fail_function, name) != 0 : release)
        return SUCCESS;
    if (control.fail_nth > 1) {
        control.fail_nth--;
        return SUCCESS;
    }
    if (control.fail_more > 0)
        control.fail_more--;
    else
        control.fail_nth = 0;
    return (CUresult)control.fail_code;
}

static bool stop(call *here, CUresult code)
{
    here->code = code;
    return false;
}

static bool check_context(call *here, unsigned needs)
{
    CUresult code = SUCCESS;
    here->context = context_current(&code);
    if (!here->context)
        return stop(here, refuse(here, code, "no context is current"));
    here->code = here->context->sticky;
    return here->code == SUCCESS || (needs & IS_RELEASE);
}

bool call_begin(call *here, const char *name, unsigned needs, uint64_t bytes, const void *stream)
{
    *here = (call){.name = name};
    if (in_callback)
        return stop(here, NOT_PERMITTED);
    pthread_mutex_lock(&lock);
    note_step(name + 1, bytes, (uintptr_t)stream);
    const CUresult code = put_in(name + 1, (needs & IS_RELEASE) != 0);
    if (code != SUCCESS) {
        here->put_in = true;
        CUresult unused;
        context *current = context_current(&unused);
        if (is_sticky(code) && current)
            fault(current, name, "put in by the test: %u", code);
        if (is_sticky(code) && current)
            current->sticky = code;
        return stop(here, code);
    }
    if (initialised == 0 && strcmp(name, "+cuInit") == 0)
        initialised = getpid();
    /* a child of fork has no driver, and gets none */
    if (needs != NEEDS_NOTHING && initialised != getpid())
        return stop(here, refuse(here, NOT_INITIALIZED, "no cuInit in this process"));
    return !(needs & NEEDS_CONTEXT) || check_context(here, needs);
}

CUresult call_end(const call *here, CUresult code)
{
    (void)here;
    if (!in_callback)
        pthread_mutex_unlock(&lock);
    return code;
}

CUresult refuse(const call *here, CUresult code, const char *format, ...)
{
    va_list list;
    const int used = snprintf(control.refusal, sizeof control.refusal, "%s: ", here->name + 1);
    va_start(list, format);
    vsnprintf(control.refusal + used, sizeof control.refusal - (size_t)used, format, list);
    va_end(list);
    return code;
}

void fault(context *which, const char *call_name, const char *format, ...)
{
    va_list list;
    which->sticky = ILLEGAL_ADDRESS;
    if (control.fault[0] != '\0')
        return;
    const int used = snprintf(control.fault, sizeof control.fault, "%s: ", call_name + 1);
    va_start(list, format);
    vsnprintf(control.fault + used, sizeof control.fault - (size_t)used, format, list);
    va_end(list);
}
