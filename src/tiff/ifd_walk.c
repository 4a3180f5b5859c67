/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/ifd_walk.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/mem.h"
#include "tiff/tags.h"

/* ---- the set of visited offsets ---- */

static size_t find_offset_slot(const tz_offset_set *set, uint64_t offset)
{
    /* Fibonacci hashing: offsets that differ by constant steps spread out. */
    const uint64_t hash = offset * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(hash >> 32) & (set->capacity - 1);
    while (set->slots[slot] != 0 && set->slots[slot] != offset)
        slot = (slot + 1) & (set->capacity - 1);
    return slot;
}

static bool offset_set_grow(tz_offset_set *set)
{
    tz_offset_set larger = {.capacity = set->capacity ? set->capacity * 2 : 16};
    larger.slots = tz_alloc_zeroed(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->slots[i] != 0)
            larger.slots[find_offset_slot(&larger, set->slots[i])] = set->slots[i];
    }
    larger.count = set->count;
    tz_free(set->slots);
    *set = larger;
    return true;
}

/* false when memory ran out. */
static bool offset_set_add(tz_offset_set *set, uint64_t offset)
{
    if ((set->count + 1) * 4 > set->capacity * 3 && !offset_set_grow(set))
        return false;
    set->slots[find_offset_slot(set, offset)] = offset;
    set->count++;
    return true;
}

bool tz_ifd_walk_has_visited(const tz_ifd_walk *walk, uint64_t offset)
{
    const tz_offset_set *set = &walk->visited;
    return set->capacity > 0 && offset != 0 && set->slots[find_offset_slot(set, offset)] == offset;
}

void tz_ifd_walk_deinit(tz_ifd_walk *walk)
{
    tz_free(walk->visited.slots);
    walk->visited = (tz_offset_set){0};
}

/* ---- one directory ---- */

static tz_result read_and_visit(tz_ifd_walk *walk, uint64_t offset, tz_ifd *ifd,
                                const tz_context *ctx)
{
    TZ_TRY(tz_ifd_read(ifd, walk->reader, offset, ctx));
    return walk->visit(walk->user, ifd, ctx);
}

/* Visit the directory at offset; ifd->next is 0 when the chain ends or breaks here. lenient: its
 * defects are warnings. */
static tz_result visit_ifd_at(tz_ifd_walk *walk, uint64_t offset, bool lenient, tz_ifd *ifd)
{
    tz_context ctx = *walk->ctx;
    tz_error failed;
    *ifd = (tz_ifd){.offset = offset};
    ctx.ifd = walk->count;
    TZ_TRY(tz_check_limit(&ctx, offsetof(tz_limits, max_ifds), tz_at_offset(offset),
                          (uint64_t)walk->count + 1, "directories"));
    if (walk->count == INT32_MAX) /* what tz_error.ifd can name, also without a limit */
        return tz_fail(&ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_at_offset(offset),
                       "more directories than can be counted");
    if (walk->progress)
        TZ_TRY(tz_check_progress(&ctx, walk->progress, (uint64_t)walk->count, TZ_NONE));
    if (offset != 0 && !offset_set_add(&walk->visited, offset))
        return tz_fail_nomem(&ctx, walk->visited.capacity * 2 * sizeof(uint64_t));
    walk->count++;
    if (!lenient)
        return read_and_visit(walk, offset, ifd, &ctx);

    ctx.err = &failed;
    if (read_and_visit(walk, offset, ifd, &ctx) == TZ_OK)
        return TZ_OK;
    ctx.err = walk->ctx->err;
    return tz_warn_from_error(&ctx, &failed, "defective directory");
}

/* TZ_OK with *next = 0, and a warning, when the chain comes back to where it was. */
static tz_result check_ifd_loop(tz_ifd_walk *walk, uint64_t *next)
{
    tz_context ctx = *walk->ctx;
    ctx.ifd = walk->count - 1;
    const uint64_t offset = *next;
    if (!tz_ifd_walk_has_visited(walk, offset))
        return TZ_OK;
    *next = 0;
    return tz_warn(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_IFD, tz_expecting(tz_at_offset(offset), 0, offset),
                   "directory loop at offset %" PRIu64, offset);
}

tz_result tz_ifd_walk_chain(tz_ifd_walk *walk, uint64_t first)
{
    uint64_t offset = first;
    if (first == 0)
        return tz_fail(walk->ctx, TZ_ERR_FORMAT, TZ_CAUSE_IFD,
                       tz_expecting(tz_at_offset(tz_header_size(walk->reader->container) -
                                                 tz_offset_size(walk->reader->container)),
                                    TZ_NONE, 0),
                       "the file has no image directory");
    walk->complete = false;
    while (offset != 0) {
        tz_ifd ifd;
        TZ_TRY(visit_ifd_at(walk, offset, walk->count > 0, &ifd));
        if (!ifd.next_known)
            return TZ_OK;
        offset = ifd.next;
        TZ_TRY(check_ifd_loop(walk, &offset));
        if (offset == 0 && ifd.next != 0)
            return TZ_OK;
    }
    walk->complete = true;
    return TZ_OK;
}

/* ---- SubIFDs ---- */

/* One list of SubIFDs that is being followed, and the chain begun by one of them. */
typedef struct sub_ifd_list {
    tz_tag_ref list;
    uint64_t index;
    uint64_t chain; /* 0: take the next of the list */
} sub_ifd_list;

typedef struct sub_ifd_stack {
    sub_ifd_list *top;
    size_t count;
    size_t capacity;
} sub_ifd_stack;

static tz_result push_sub_ifd_list(tz_ifd_walk *walk, sub_ifd_stack *stack, const tz_tag_ref *list)
{
    tz_context ctx = *walk->ctx;
    tz_error failed;
    ctx.ifd = walk->count - 1;
    ctx.err = &failed;
    const tz_result result = tz_check_limit(&ctx, offsetof(tz_limits, max_subifd_depth),
                                            tz_at_tag(TZ_TAG_SUB_IFDS, list->offset),
                                            stack->count + 1, "directories within each other");
    ctx.err = walk->ctx->err;
    if (result != TZ_OK)
        return tz_warn_from_error(&ctx, &failed, "SubIFD depth");
    if (stack->count == stack->capacity) {
        const size_t capacity = stack->capacity ? stack->capacity * 2 : 4;
        sub_ifd_list *larger = tz_realloc_array(stack->top, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(&ctx, capacity * sizeof *larger);
        stack->top = larger;
        stack->capacity = capacity;
    }
    stack->top[stack->count++] = (sub_ifd_list){.list = *list};
    return TZ_OK;
}

/* The next directory of the innermost list; a visited one ends the list (and its warning says so).
 */
static tz_result visit_next_sub_ifd(tz_ifd_walk *walk, sub_ifd_stack *stack)
{
    sub_ifd_list *innermost = &stack->top[stack->count - 1];
    if (innermost->chain == 0 && innermost->index == innermost->list.count) {
        stack->count--;
        return TZ_OK;
    }
    uint64_t offset = innermost->chain;
    innermost->chain = 0;
    if (offset == 0)
        TZ_TRY(tz_tag_ref_integer(walk->reader, &innermost->list, TZ_TAG_SUB_IFDS,
                                  innermost->index++, walk->ctx, &offset));
    if (tz_ifd_walk_has_visited(walk, offset)) {
        innermost->index = innermost->list.count;
        return check_ifd_loop(walk, &offset);
    }
    tz_ifd ifd;
    TZ_TRY(visit_ifd_at(walk, offset, true, &ifd));
    innermost->chain = ifd.next;
    return ifd.sub_ifds.count > 0 ? push_sub_ifd_list(walk, stack, &ifd.sub_ifds) : TZ_OK;
}

tz_result tz_ifd_walk_sub_ifds(tz_ifd_walk *walk, const tz_tag_ref *sub_ifds)
{
    sub_ifd_stack stack = {0};
    if (sub_ifds->count == 0)
        return TZ_OK;
    tz_result result = push_sub_ifd_list(walk, &stack, sub_ifds);
    while (result == TZ_OK && stack.count > 0)
        result = visit_next_sub_ifd(walk, &stack);
    tz_free(stack.top);
    return result;
}
