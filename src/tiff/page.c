/* SPDX-License-Identifier: Apache-2.0
 * From directories to the levels and masks of one page.
 *
 * tz_ifd_walk_chain and tz_ifd_walk_sub_ifds read one directory after the other; a set of visited
 * offsets ends loops. Each directory goes to add_ifd, which keeps little of it: a tz_page for every
 * full-resolution image, and a tz_layer for each that belongs to the chosen page. A mark in
 * NewSubfileType (reduced, mask) makes a directory part of the page before it. After the walk,
 * tz_page_arrange_levels sorts the layers by size: overviews must shrink and agree with the image
 * in bands and type, and a mask belongs to the level of its size. Directories that do not fit are
 * left out with a warning.
 *
 * SubIFDs are followed with a stack of lists in memory, not by recursion, so that a file cannot
 * exhaust the stack of the thread. */
#include "tiff/page.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tiff/tags.h"

void tz_page_ifds_deinit(tz_page_ifds *page_ifds)
{
    tz_free(page_ifds->layers);
    tz_free(page_ifds->pages);
    *page_ifds = (tz_page_ifds){0};
}

/* ---- collecting ---- */

/* Records a full-resolution image, whichever page is chosen: tz_info lists all of them. */
static tz_result append_page(tz_page_ifds *page_ifds, const tz_ifd *ifd, const tz_context *ctx)
{
    if (page_ifds->page_count == page_ifds->page_capacity) {
        /* small steps: a file of many pages must not cost a multiple of its own size */
        const uint32_t capacity = page_ifds->page_capacity + page_ifds->page_capacity / 4 + 4;
        tz_page *larger = tz_realloc_array(page_ifds->pages, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(ctx, (uint64_t)capacity * sizeof *larger);
        page_ifds->pages = larger;
        page_ifds->page_capacity = capacity;
    }
    page_ifds->pages[page_ifds->page_count++] = (tz_page){.ifd_offset = ifd->offset,
                                                          .width = ifd->width,
                                                          .height = ifd->height,
                                                          .ifd = ctx->ifd,
                                                          .bands = ifd->samples,
                                                          .bits_per_sample = ifd->bits};
    return TZ_OK;
}

/* Appends a layer of the chosen page, unless there are more than the limit allows. */
static tz_result append_layer(tz_page_ifds *page_ifds, const tz_ifd *ifd, const tz_context *ctx)
{
    bool allowed = true;
    /* Every level may have an image and a mask; the layers are not sorted by kind yet. */
    TZ_TRY(tz_check_soft_limit(ctx, offsetof(tz_limits, max_levels), tz_at_offset(ifd->offset),
                               page_ifds->layer_count / 2 + 1, "resolution levels", "levels",
                               &allowed));
    if (!allowed)
        return TZ_OK;
    if (page_ifds->layer_count == page_ifds->layer_capacity) {
        const uint32_t capacity = page_ifds->layer_capacity + page_ifds->layer_capacity / 2 + 2;
        tz_layer *larger = tz_realloc_array(page_ifds->layers, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(ctx, (uint64_t)capacity * sizeof *larger);
        page_ifds->layers = larger;
        page_ifds->layer_capacity = capacity;
    }
    tz_layer *layer = &page_ifds->layers[page_ifds->layer_count];
    TZ_TRY(tz_layer_from_ifd(layer, ifd, page_ifds->reader, ctx));
    layer->tables.container = page_ifds->container;
    layer->shape.sidecar = page_ifds->sidecar;
    page_ifds->layer_count++;
    return TZ_OK;
}

/* Adds a directory as a page, as a layer of the chosen page, or as both:
 *
 *   list       without a mark              marked as reduced or mask
 *   chain      a page of its own           a layer of the page before it
 *   SubIFDs    another image: left out     a layer of the chosen page
 *   sidecar    a layer of the page         the same; those of .msk are always masks
 */
static tz_result add_ifd(tz_page_ifds *page_ifds, tz_ifd_list list, const tz_ifd *ifd,
                         const tz_context *ctx)
{
    const uint32_t subfile_type = tz_ifd_subfile_type(ifd);
    const bool marked = (subfile_type & (TZ_SUBFILE_REDUCED | TZ_SUBFILE_MASK)) != 0;
    const bool first = page_ifds->page_count == 0;
    const uint32_t before = page_ifds->layer_count;
    if (list == TZ_IFD_SIDECAR) {
        TZ_TRY(append_layer(page_ifds, ifd, ctx));
        if (page_ifds->layer_count > before && page_ifds->sidecar == TZ_SIDECAR_MSK)
            page_ifds->layers[before].is_mask = true;
        return TZ_OK;
    }
    /* A SubIFD without a mark is another image, such as raw sensor data, and is left out. */
    if (list == TZ_IFD_SUB_IFDS)
        return marked ? append_layer(page_ifds, ifd, ctx) : TZ_OK;
    /* The first image counts as the image itself, also if it is marked otherwise. */
    if (first && marked)
        TZ_TRY(TZ_WARN_META(
            ctx, tz_expecting(tz_at_tag(TZ_TAG_NEW_SUBFILE_TYPE, ifd->offset), 0, subfile_type),
            subfile_type & TZ_SUBFILE_MASK
                ? "the first image is marked as a mask; taken as the image itself"
                : "the first image is marked as reduced; taken as full resolution"));
    if (first || !marked)
        TZ_TRY(append_page(page_ifds, ifd, ctx));
    if (page_ifds->page_count - 1 != page_ifds->page)
        return TZ_OK;
    if (first || !marked) {
        page_ifds->base = *ifd;
        page_ifds->has_base = true;
    }
    return append_layer(page_ifds, ifd, ctx);
}

/* ---- the set of visited offsets ---- */

/* Returns the slot of an offset, or the empty one in which it would be. */
static size_t find_offset_slot(const tz_offset_set *set, uint64_t offset)
{
    /* Fibonacci hashing: offsets that differ by constant steps spread out. */
    const uint64_t hash = offset * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(hash >> 32) & (set->capacity - 1);
    while (set->slots[slot] != 0 && set->slots[slot] != offset)
        slot = (slot + 1) & (set->capacity - 1);
    return slot;
}

/* Adds an offset, and doubles the table when three quarters of it are in use. False if memory ran
 * out. */
static bool offset_set_add(tz_offset_set *set, uint64_t offset)
{
    if ((set->count + 1) * 4 > set->capacity * 3) {
        tz_offset_set larger = {.capacity = set->capacity ? set->capacity * 2 : 16,
                                .count = set->count};
        larger.slots = tz_alloc_zeroed(larger.capacity, sizeof *larger.slots);
        if (!larger.slots)
            return false;
        for (size_t i = 0; i < set->capacity; i++)
            if (set->slots[i] != 0)
                larger.slots[find_offset_slot(&larger, set->slots[i])] = set->slots[i];
        tz_free(set->slots);
        *set = larger;
    }
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

/* ---- walking ---- */

/* Visits the directory at offset; ifd->next is 0 if the chain ends or breaks here. lenient: its
 * defects are warnings. */
static tz_result visit_ifd_at(tz_ifd_walk *walk, uint64_t offset, bool lenient, tz_ifd *ifd)
{
    tz_context ctx = *walk->ctx;
    tz_error failed;
    *ifd = (tz_ifd){.offset = offset};
    ctx.ifd = walk->count;
    TZ_TRY(tz_check_limit(&ctx, offsetof(tz_limits, max_ifds), tz_at_offset(offset),
                          (uint64_t)walk->count + 1, "directories"));
    if (walk->count == INT32_MAX) /* the last number that tz_error.ifd can hold */
        return tz_fail(&ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_at_offset(offset),
                       "more directories than can be counted");
    if (walk->progress)
        TZ_TRY(tz_check_progress(&ctx, walk->progress, (uint64_t)walk->count, TZ_NO_VALUE));
    if (offset != 0 && !offset_set_add(&walk->visited, offset))
        return tz_fail_nomem(&ctx, walk->visited.capacity * 2 * sizeof(uint64_t));
    walk->count++;
    const tz_context inner = lenient ? tz_quiet_context(&ctx, &failed) : ctx;
    tz_result result = tz_ifd_read(ifd, walk->reader, offset, &inner);
    if (result == TZ_OK)
        result = add_ifd(walk->page_ifds, walk->list, ifd, &inner);
    return result == TZ_OK || !lenient ? result
                                       : tz_warn_from_error(&ctx, &failed, "defective directory");
}

/* Sets *next to 0, with a warning, if that directory was visited before. */
static tz_result check_ifd_loop(tz_ifd_walk *walk, uint64_t *next)
{
    tz_context ctx = *walk->ctx;
    ctx.ifd = walk->count - 1;
    const uint64_t offset = *next;
    if (!tz_ifd_walk_has_visited(walk, offset))
        return TZ_OK;
    *next = 0;
    return TZ_WARN_IFD(&ctx, tz_expecting(tz_at_offset(offset), 0, offset),
                       "directory loop at offset %" PRIu64, offset);
}

/* The chain is complete only if an offset of 0 ends it: a loop or a directory that cannot be read
 * may have cut off images, and a page that is not found is then an error of the file. */
tz_result tz_ifd_walk_chain(tz_ifd_walk *walk, uint64_t first)
{
    uint64_t offset = first;
    if (first == 0)
        return TZ_FAIL_IFD(walk->ctx,
                           tz_expecting(tz_at_offset(tz_header_size(walk->reader->container) -
                                                     tz_offset_size(walk->reader->container)),
                                        TZ_NO_VALUE, 0),
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
    uint64_t chain; /* offset of its next directory; 0: continue with the list */
} sub_ifd_list;

typedef struct sub_ifd_stack {
    sub_ifd_list *top;
    size_t count;
    size_t capacity;
} sub_ifd_stack;

/* Pushes a list of SubIFDs. One that is nested too deeply is left out with a warning, and the walk
 * goes on with the list around it. */
static tz_result push_sub_ifd_list(tz_ifd_walk *walk, sub_ifd_stack *stack, const tz_tag_ref *list)
{
    tz_context ctx = *walk->ctx;
    bool allowed = true;
    ctx.ifd = walk->count - 1;
    TZ_TRY(tz_check_soft_limit(&ctx, offsetof(tz_limits, max_subifd_depth),
                               tz_at_tag(TZ_TAG_SUB_IFDS, list->offset), stack->count + 1,
                               "directories within each other", "SubIFD depth", &allowed));
    if (!allowed)
        return TZ_OK;
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

/* Visits the next directory of the innermost list; one that was visited before ends the list, with
 * a warning. */
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

/* The stack has a list for each depth; directories are visited in the order of a recursion. */
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

/* ---- arranging ---- */

static tz_context context_at_layer(const tz_layer *layer, const tz_context *ctx)
{
    tz_context location = *ctx;
    location.ifd = layer->shape.ifd;
    return location;
}

/* Orders images before masks, large before small; equal ones stay in file order. */
static int by_kind_and_size(const void *a, const void *b)
{
    const tz_layer *x = a;
    const tz_layer *y = b;
    const uint64_t area_x = (uint64_t)x->shape.width * x->shape.height;
    const uint64_t area_y = (uint64_t)y->shape.width * y->shape.height;
    if (x->is_mask != y->is_mask)
        return x->is_mask ? 1 : -1;
    if (area_x != area_y)
        return area_x < area_y ? 1 : -1;
    return x->shape.ifd < y->shape.ifd ? -1 : x->shape.ifd > y->shape.ifd;
}

uint32_t tz_page_mask_count(const tz_page_ifds *page_ifds)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < page_ifds->layer_count; i++)
        count += page_ifds->layers[i].is_mask;
    return count;
}

uint32_t tz_page_image_count(const tz_page_ifds *page_ifds)
{
    return page_ifds->layer_count - tz_page_mask_count(page_ifds);
}

static void append_level(tz_page_pyramid *pyramid, const tz_layer *layer)
{
    pyramid->levels[pyramid->count] = layer->shape;
    pyramid->level_tables[pyramid->count] = layer->tables;
    pyramid->count++;
}

/* Levels shrink from one to the next, and all have the bands and the type of the image. */
static tz_result add_overview(const tz_layer *layer, tz_page_pyramid *pyramid,
                              const tz_context *ctx)
{
    const tz_context location = context_at_layer(layer, ctx);
    const tz_level *shape = &layer->shape;
    const tz_level *above = &pyramid->levels[pyramid->count - 1];
    const char *why = NULL;
    bool allowed = true;
    if (shape->width > above->width || shape->height > above->height)
        why = "is not smaller than the level above it";
    else if (shape->width == above->width && shape->height == above->height)
        why = "has the size of the level above it";
    else if (shape->samples != pyramid->levels[0].samples)
        why = "has another number of bands than the image";
    else if (layer->tables.dtype != pyramid->level_tables[0].dtype)
        why = "has another type than the image";
    if (why)
        return TZ_WARN_META(&location, tz_at_offset(shape->ifd_offset),
                            "overview of %u x %u %s; ignored", shape->width, shape->height, why);
    TZ_TRY(tz_check_soft_limit(ctx, offsetof(tz_limits, max_levels),
                               tz_at_offset(shape->ifd_offset), (uint64_t)pyramid->count + 1,
                               "resolution levels", "levels", &allowed));
    if (allowed)
        append_level(pyramid, layer);
    return TZ_OK;
}

/* Assigns a mask to the level of its size. A mask has one band of 1 or 8 bits. */
static tz_result assign_mask(const tz_layer *mask, tz_page_pyramid *pyramid, const tz_context *ctx)
{
    const tz_context location = context_at_layer(mask, ctx);
    const uint16_t bits = mask->shape.bits_per_sample;
    const char *why = NULL;
    if (mask->shape.samples != 1)
        why = "has several bands";
    else if (mask->tables.dtype != TZ_DTYPE_UINT8 || (bits != 1 && bits != 8))
        why = "is neither of 1 nor of 8 bits";
    for (uint32_t i = 0; !why && i < pyramid->count; i++) {
        tz_level *level = &pyramid->levels[i];
        if (level->width != mask->shape.width || level->height != mask->shape.height)
            continue;
        if (level->has_mask) {
            why = "is the second one of its level";
            break;
        }
        level->has_mask = true;
        pyramid->masks[i] = mask->shape;
        pyramid->mask_tables[i] = mask->tables;
        return TZ_OK;
    }
    return TZ_WARN_META(&location, tz_at_offset(mask->shape.ifd_offset),
                        "mask of %u x %u %s; ignored", mask->shape.width, mask->shape.height,
                        why ? why : "has the size of no level");
}

tz_result tz_page_arrange_levels(tz_page_ifds *page_ifds, tz_page_pyramid *out,
                                 const tz_context *ctx)
{
    /* The first layer is the page itself, also if its directory is marked otherwise. */
    qsort(page_ifds->layers + 1, page_ifds->layer_count - 1, sizeof *page_ifds->layers,
          by_kind_and_size);
    out->count = 0;
    append_level(out, &page_ifds->layers[0]);
    for (uint32_t i = 1; i < page_ifds->layer_count; i++) {
        const tz_layer *layer = &page_ifds->layers[i];
        TZ_TRY(layer->is_mask ? assign_mask(layer, out, ctx) : add_overview(layer, out, ctx));
    }
    return TZ_OK;
}
