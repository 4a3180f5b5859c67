/* SPDX-License-Identifier: Apache-2.0
 * Calls, returns and ends. Branches are in ptx_lower.c. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_handlers.h"

#define FRAME_ALIGN 256u

static bool grow(void **stack, uint64_t *room, uint64_t need, size_t element)
{
    if (need <= *room)
        return true;
    uint64_t more = need * 2;
    void *moved = realloc(*stack, (size_t)more * element);
    if (!moved)
        return false;
    *stack = moved;
    *room = more;
    return true;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

/* Returns the begin of the next frame in each stack. */
static ptx_frame next_frame(const ptx_thread *t)
{
    ptx_frame next = {0};
    if (t->depth) {
        const ptx_frame *top = &t->frames[t->depth - 1];
        next.slots = top->slots + top->lowered->slot_count;
        next.params = aligned(top->params + top->lowered->function->param_space);
        next.locals = aligned(top->locals + top->lowered->function->local_space);
    }
    return next;
}

static bool make_room(ptx_thread *t, const ptx_frame *frame)
{
    const ptx_lowered *lowered = frame->lowered;
    return grow((void **)&t->slot_stack, &t->slot_room, frame->slots + lowered->slot_count,
                sizeof(uint64_t)) &&
           grow((void **)&t->param_stack, &t->param_room,
                frame->params + lowered->function->param_space + 1, 1) &&
           grow((void **)&t->local_stack, &t->local_room,
                frame->locals + lowered->function->local_space + 1, 1);
}

/* Own memory is as fresh memory of a device is: nobody should read it. */
#define FRESH 0xA5

static void fill_memory(ptx_thread *t, const ptx_frame *frame)
{
    const ptx_function *function = frame->lowered->function;
    memset(t->param_stack + frame->params, FRESH, (size_t)function->param_space);
    memset(t->local_stack + frame->locals, FRESH, (size_t)function->local_space);
}

/* Registers begin as 0, so that a run is the same each time. */
static void fill_slots(ptx_thread *t, const ptx_frame *frame)
{
    const ptx_lowered *lowered = frame->lowered;
    uint64_t *slots = t->slot_stack + frame->slots;
    memset(slots, 0, lowered->fixed * sizeof(*slots));
    if (t->depth) {
        const ptx_frame *caller = &t->frames[t->depth - 1];
        memcpy(slots + lowered->fixed, t->slot_stack + caller->slots + caller->lowered->fixed,
               PTX_FIXED_SLOTS * sizeof(*slots));
    }
    slots[lowered->fixed + PTX_SLOT_LOCAL] = frame->locals;
    if (lowered->constant_count)
        memcpy(slots + lowered->constant, lowered->constants,
               lowered->constant_count * sizeof(*slots));
    t->slots = slots;
}

bool ptx_push_frame(ptx_thread *t, const ptx_lowered *lowered, const ptx_code *back)
{
    if (t->depth == PTX_MOST_FRAMES)
        return false;
    ptx_frame frame = next_frame(t);
    frame.lowered = lowered;
    frame.back = back;
    if (!make_room(t, &frame))
        return false;
    fill_memory(t, &frame);
    fill_slots(t, &frame);
    t->frames[t->depth++] = frame;
    return true;
}

/* Between the param variables of a caller and the parameters of the one it called. */
static void copy_params(ptx_thread *t, uint32_t count, const ptx_variable *const *outer,
                        ptx_variable *const *inner, bool back)
{
    uint8_t *caller = t->param_stack + t->frames[t->depth - 2].params;
    uint8_t *called = t->param_stack + t->frames[t->depth - 1].params;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *out = caller + outer[i]->offset, *in = called + inner[i]->offset;
        memcpy(back ? out : in, back ? in : out, (size_t)inner[i]->size);
    }
}

/* data: the instruction */
HANDLER(call)
{
    const ptx_instruction *in = c->data;
    const ptx_lowered *lowered = in->callee->lowered;
    (void)r;
    if (!ptx_push_frame(t, lowered, c + 1))
        return ptx_stop(t, c, "calls deeper than %d, or no memory for one", PTX_MOST_FRAMES);
    copy_params(t, in->argument_count, (const ptx_variable *const *)in->arguments,
                in->callee->params, false);
    return lowered->codes;
}

HANDLER(end)
{
    (void)r;
    (void)c;
    t->state = PTX_ENDED;
    return NULL;
}

HANDLER(back)
{
    const ptx_frame *top = &t->frames[t->depth - 1];
    const ptx_code *next = top->back;
    if (t->depth == 1)
        return end(t, r, c);
    const ptx_instruction *in = next[-1].data;
    copy_params(t, in->result_count, (const ptx_variable *const *)in->results, in->callee->results,
                true);
    t->depth--;
    t->slots = t->slot_stack + t->frames[t->depth - 1].slots;
    return next;
}

HANDLER(trap)
{
    (void)r;
    return ptx_stop(t, c, "trap");
}

static bool lower_call(ptx_lowering *l)
{
    const ptx_instruction *in = l->in;
    const ptx_function *callee = in->callee;
    ptx_take(l, PTX_MOD_uni);
    if (!callee || !callee->lowered || in->argument_count != callee->param_count ||
        in->result_count != callee->result_count)
        return false;
    for (uint32_t i = 0; i < in->argument_count; i++)
        if (in->arguments[i]->size != callee->params[i]->size)
            return false;
    for (uint32_t i = 0; i < in->result_count; i++)
        if (in->results[i]->size != callee->results[i]->size)
            return false;
    return ptx_emit(l, (ptx_code){.run = call, .data = in});
}

bool ptx_lower_control(ptx_lowering *l)
{
    ptx_operation operation = l->in->operation;
    if (operation == PTX_OP_call)
        return lower_call(l);
    if (operation == PTX_OP_ret)
        ptx_take(l, PTX_MOD_uni);
    ptx_handler *run = operation == PTX_OP_ret ? back : operation == PTX_OP_exit ? end : trap;
    return ptx_operands(l, 0) && ptx_emit(l, (ptx_code){.run = run});
}
