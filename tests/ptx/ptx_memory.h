/* SPDX-License-Identifier: Apache-2.0
 * Returns the address of an access; NULL when it is not allowed, and the thread has stopped. bytes
 * is a power of two. */
#ifndef TESTS_PTX_PTX_MEMORY_H
#define TESTS_PTX_PTX_MEMORY_H

#include "ptx/ptx_machine.h"

void *ptx_find_global(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes);
void *ptx_reach_shared(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes,
                       ptx_touch touch);
void *ptx_reach_local(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes);
void *ptx_reach_param(ptx_thread *t, const ptx_code *c, uint64_t offset, uint32_t bytes);
/* A generic address. */
void *ptx_reach(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes,
                ptx_touch touch);

/* An instruction mostly reaches the piece that it reached before. */
static inline void *ptx_reach_global(ptx_thread *t, const ptx_code *c, uint64_t address,
                                     uint32_t bytes)
{
    const ptx_piece *piece = &t->block->pieces[c->at % PTX_PIECES];
    uint64_t at = address - piece->first;
    if (at < piece->size && bytes <= piece->size - at && !(address & (bytes - 1)))
        return piece->bytes + at;
    return ptx_find_global(t, c, address, bytes);
}

#endif
