/* SPDX-License-Identifier: Apache-2.0
 * Memory: where bytes of a space are, and may they be touched; loads and stores. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx/ptx_handlers.h"
#include "ptx/ptx_memory.h"

static void *misaligned(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes)
{
    ptx_stop(t, c, "address 0x%" PRIx64 " is not aligned to %u bytes", address, bytes);
    return NULL;
}

/* .global and .const of the module are a piece of their own. */
static bool find_piece(ptx_thread *t, uint64_t address, ptx_piece *piece)
{
    const ptx_launch *launch = t->block->launch;
    const ptx_module *module = launch->kernel->module;
    uint64_t first = (uint64_t)(uintptr_t)module->data, size = ptx_module_data_size(module);
    if (address - first < size) {
        *piece = (ptx_piece){first, size, module->data};
        return true;
    }
    void *bytes = NULL;
    if (!launch->memory ||
        !launch->memory->find(launch->memory->state, address, &piece->first, &piece->size, &bytes))
        return false;
    piece->bytes = bytes;
    return address - piece->first < piece->size;
}

void *ptx_find_global(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes)
{
    ptx_piece *cached = &t->block->pieces[c->at % PTX_PIECES], piece;
    if (address & (bytes - 1))
        return misaligned(t, c, address, bytes);
    if (!find_piece(t, address, &piece)) {
        ptx_stop(t, c, "%u bytes at 0x%" PRIx64 ": no memory there", bytes, address);
        return NULL;
    }
    uint64_t at = address - piece.first;
    if (bytes > piece.size - at) {
        ptx_stop(t, c,
                 "%u bytes at 0x%" PRIx64 ": byte %" PRIu64 " of a piece of %" PRIu64 " bytes",
                 bytes, address, at, piece.size);
        return NULL;
    }
    *cached = piece;
    return piece.bytes + at;
}

static void name_thread(const ptx_thread *t, char text[64])
{
    uint32_t place[3];
    ptx_thread_place(t, place);
    (void)snprintf(text, 64, "thread (%u,%u,%u)", place[0], place[1], place[2]);
}

void *ptx_reach_shared(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes,
                       ptx_touch touch)
{
    ptx_block *block = t->block;
    uint32_t other = 0;
    if (offset >= block->shared_size || bytes > block->shared_size - offset) {
        ptx_stop(t, c, "%u bytes at byte %" PRIu64 " of %" PRIu64 " bytes of shared memory", bytes,
                 offset, block->shared_size);
        return NULL;
    }
    if (offset & (bytes - 1))
        return misaligned(t, c, offset, bytes);
    const char *wrong = ptx_touch_shared(t, offset, bytes, touch, &other);
    if (wrong) {
        char who[64] = "several threads";
        if (other < block->thread_count)
            name_thread(&block->threads[other], who);
        ptx_stop(t, c, "%u bytes at byte %" PRIu64 " of shared memory: %s %s", bytes, offset, wrong,
                 who);
        return NULL;
    }
    return block->shared + offset;
}

void *ptx_reach_local(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes)
{
    const ptx_frame *top = &t->frames[t->depth - 1];
    uint64_t size = top->locals + top->lowered->function->local_space;
    if (offset >= size || bytes > size - offset) {
        ptx_stop(t, c, "%u bytes at byte %" PRIu64 " of %" PRIu64 " bytes of local memory", bytes,
                 offset, size);
        return NULL;
    }
    if (offset & (bytes - 1))
        return misaligned(t, c, offset, bytes);
    return t->local_stack + offset;
}

/* Addresses count from the frame's own parameters. */
void *ptx_reach_param(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes)
{
    const ptx_frame *top = &t->frames[t->depth - 1];
    uint64_t size = top->lowered->function->param_space;
    if (offset >= size || bytes > size - offset) {
        ptx_stop(t, c, "%u bytes at byte %" PRIu64 " of %" PRIu64 " bytes of parameters", bytes,
                 offset, size);
        return NULL;
    }
    if (offset & (bytes - 1))
        return misaligned(t, c, offset, bytes);
    return t->param_stack + top->params + offset;
}

void *ptx_reach(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes, ptx_touch touch)
{
    if (ptx_in_window(address, PTX_SHARED_WINDOW))
        return ptx_reach_shared(t, c, address - PTX_SHARED_WINDOW, bytes, touch);
    if (ptx_in_window(address, PTX_LOCAL_WINDOW))
        return ptx_reach_local(t, c, address - PTX_LOCAL_WINDOW, bytes);
    return ptx_reach_global(t, c, address, bytes);
}

/* ---------------------------------------------------------------------------------------------
 * Loads and stores: one handler for each space and type. e: strong accesses are not a data race
 * among themselves
 * ------------------------------------------------------------------------------------------ */

#define LOAD(name, type, reach)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const uint64_t address = r[c->a] + c->value;                                               \
        const ptx_touch touch = c->e ? PTX_ATOMIC_READ : PTX_READ;                                 \
        const uint32_t bytes = sizeof(type);                                                       \
        type value;                                                                                \
        (void)touch;                                                                               \
        const void *from = reach;                                                                  \
        if (!from)                                                                                 \
            return NULL;                                                                           \
        memcpy(&value, from, sizeof(value));                                                       \
        r[c->d] = (uint64_t)value;                                                                 \
        return c + 1;                                                                              \
    }
#define STORE(name, type, reach)                                                                   \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const uint64_t address = r[c->a] + c->value;                                               \
        const ptx_touch touch = c->e ? PTX_ATOMIC_WRITE : PTX_WRITE;                               \
        const uint32_t bytes = sizeof(type);                                                       \
        const type value = (type)r[c->b];                                                          \
        (void)touch;                                                                               \
        void *to = reach;                                                                          \
        if (!to)                                                                                   \
            return NULL;                                                                           \
        memcpy(to, &value, sizeof(value));                                                         \
        return c + 1;                                                                              \
    }
#define SPACE(space, reach)                                                                        \
    LOAD(load_##space##_u8, uint8_t, reach)                                                        \
    LOAD(load_##space##_u16, uint16_t, reach)                                                      \
    LOAD(load_##space##_u32, uint32_t, reach)                                                      \
    LOAD(load_##space##_u64, uint64_t, reach)                                                      \
    LOAD(load_##space##_s8, int8_t, reach)                                                         \
    LOAD(load_##space##_s16, int16_t, reach)                                                       \
    LOAD(load_##space##_s32, int32_t, reach)                                                       \
    STORE(store_##space##_8, uint8_t, reach)                                                       \
    STORE(store_##space##_16, uint16_t, reach)                                                     \
    STORE(store_##space##_32, uint32_t, reach)                                                     \
    STORE(store_##space##_64, uint64_t, reach)
SPACE(generic, ptx_reach(t, c, address, bytes, touch))
SPACE(global, ptx_reach_global(t, c, address, bytes))
SPACE(shared, ptx_reach_shared(t, c, address, bytes, touch))
SPACE(local, ptx_reach_local(t, c, address, bytes))
SPACE(param, ptx_reach_param(t, c, address, bytes))

#define LOAD_ROW(space)                                                                            \
    {                                                                                              \
        load_##space##_u8, load_##space##_u16, load_##space##_u32, load_##space##_u64,             \
            load_##space##_s8, load_##space##_s16, load_##space##_s32, load_##space##_u64          \
    }
#define STORE_ROW(space)                                                                           \
    {                                                                                              \
        store_##space##_8, store_##space##_16, store_##space##_32, store_##space##_64              \
    }

/* .const is a piece of global memory that is only read. */
static ptx_handler *const loads[][8] = {
    [PTX_GENERIC] = LOAD_ROW(generic), [PTX_GLOBAL] = LOAD_ROW(global),
    [PTX_SHARED] = LOAD_ROW(shared),   [PTX_LOCAL] = LOAD_ROW(local),
    [PTX_PARAM] = LOAD_ROW(param),     [PTX_CONST] = LOAD_ROW(global)};
static ptx_handler *const stores[][4] = {[PTX_GENERIC] = STORE_ROW(generic),
                                         [PTX_GLOBAL] = STORE_ROW(global),
                                         [PTX_SHARED] = STORE_ROW(shared),
                                         [PTX_LOCAL] = STORE_ROW(local),
                                         [PTX_PARAM] = STORE_ROW(param)};

/* ---------------------------------------------------------------------------------------------
 * Vectors: the address once, aligned to all of it; then each element
 * ------------------------------------------------------------------------------------------ */

/* b: bytes of the vector */
HANDLER(vector_address)
{
    uint64_t address = r[c->a] + c->value;
    if (address & (c->b - 1)) {
        misaligned(t, c, address, c->b);
        return NULL;
    }
    r[c->d] = address;
    return c + 1;
}

static bool emit_vector(ptx_lowering *l, ptx_code code, const ptx_operand *elements, uint32_t bytes,
                        bool load)
{
    uint32_t address = ptx_temporary(l), count = l->in->vector;
    bool ok = elements->kind == PTX_VECTOR && elements->count == count &&
              ptx_emit(l, (ptx_code){.run = vector_address,
                                     .value = code.value,
                                     .d = address,
                                     .a = code.a,
                                     .b = bytes * count});
    const uint32_t used = l->in->used_bytes, all = (1u << bytes) - 1;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t slot = elements->regs[i];
        if (load && used && !(used >> bytes * i & all))
            continue;
        if (slot == PTX_NO_REGISTER)
            slot = ptx_fixed(l, load ? PTX_SLOT_NOWHERE : PTX_SLOT_ZERO);
        ptx_code one = code;
        one.a = address;
        one.value = (uint64_t)bytes * i;
        *(load ? &one.d : &one.b) = slot;
        ok = ptx_emit(l, one);
    }
    return ok;
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

/* Hints for caches and scopes change nothing here; true: the access is strong. */
static bool take_memory_words(ptx_lowering *l, bool load)
{
    static const ptx_modifier hints[] = {PTX_MOD_weak, PTX_MOD_cta, PTX_MOD_gpu, PTX_MOD_sys,
                                         PTX_MOD_ca,   PTX_MOD_cg,  PTX_MOD_cs};
    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        ptx_take(l, hints[i]);
    if (load) {
        ptx_take(l, PTX_MOD_lu);
        ptx_take(l, PTX_MOD_cv);
        if (l->in->space == PTX_GLOBAL)
            ptx_take(l, PTX_MOD_nc);
    } else {
        ptx_take(l, PTX_MOD_wb);
        ptx_take(l, PTX_MOD_wt);
    }
    return ptx_take(l, PTX_MOD_volatile) || ptx_take(l, PTX_MOD_relaxed) ||
           ptx_take(l, load ? PTX_MOD_acquire : PTX_MOD_release);
}

/* 0 to 3 by size, 4 to 7 when signed */
static uint32_t type_index(ptx_type type)
{
    uint32_t bits = ptx_bits_of(type), index = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    return index + (ptx_is_signed(type) ? 4 : 0);
}

static bool lower_access(ptx_lowering *l, bool load)
{
    const ptx_instruction *in = l->in;
    uint32_t at_address = load ? 1 : 0;
    l->space_taken = l->vector_taken = true;
    bool strong = take_memory_words(l, load);
    ptx_type type = ptx_take_type(l);
    if (!ptx_operands(l, 2) || ptx_bits_of(type) < 8 || type == PTX_F16 ||
        (!load && in->space == PTX_CONST))
        return false;
    ptx_code code = {.e = strong};
    code.run = load ? loads[in->space][type_index(type)] : stores[in->space][type_index(type) & 3];
    code.a = ptx_address(l, at_address, &code.value);
    if (in->vector > 1)
        return emit_vector(l, code, &in->operands[1 - at_address], ptx_bits_of(type) / 8, load);
    *(load ? &code.d : &code.b) = load ? ptx_destination(l, 0) : ptx_source(l, 1, type);
    return ptx_emit(l, code);
}

bool ptx_lower_load(ptx_lowering *l)
{
    if (l->in->operation == PTX_OP_ldu && l->in->space != PTX_GLOBAL && l->in->space != PTX_GENERIC)
        return false;
    return lower_access(l, true);
}

bool ptx_lower_store(ptx_lowering *l)
{
    return lower_access(l, false);
}
