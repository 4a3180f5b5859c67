/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/group.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tiff/tags.h"

void tz_group_deinit(tz_group *group)
{
    tz_free(group->layers);
    tz_free(group->pages);
    *group = (tz_group){0};
}

/* ---- collecting ---- */

static tz_result add_page(tz_group *group, const tz_ifd *ifd, const tz_context *ctx)
{
    if (group->page_count == group->page_capacity) {
        /* small steps: a file of many pages must not cost a multiple of its own size */
        const uint32_t capacity = group->page_capacity + group->page_capacity / 4 + 4;
        tz_page *larger = tz_realloc_array(group->pages, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(ctx, (uint64_t)capacity * sizeof *larger);
        group->pages = larger;
        group->page_capacity = capacity;
    }
    group->pages[group->page_count++] = (tz_page){.ifd_offset = ifd->offset,
                                                  .width = ifd->width,
                                                  .height = ifd->height,
                                                  .ifd = ctx->ifd,
                                                  .bands = ifd->samples,
                                                  .bits_per_sample = ifd->bits};
    return TZ_OK;
}

/* Whether there may be so many levels; a warning when not. */
static tz_result check_levels(uint64_t ifd_offset, uint64_t count, bool *room,
                              const tz_context *ctx)
{
    tz_error failed;
    tz_context quiet = *ctx;
    quiet.err = &failed;
    *room = tz_check_limit(&quiet, offsetof(tz_limits, max_levels), tz_at_offset(ifd_offset), count,
                           "resolution levels") == TZ_OK;
    return *room ? TZ_OK : tz_warn_from_error(ctx, &failed, "levels");
}

static tz_result add_layer(tz_group *group, const tz_ifd *ifd, const tz_context *ctx)
{
    bool room = true;
    /* An image and a mask for every level; which is which is not settled yet. */
    TZ_TRY(check_levels(ifd->offset, group->layer_count / 2 + 1, &room, ctx));
    if (!room)
        return TZ_OK;
    if (group->layer_count == group->layer_capacity) {
        const uint32_t capacity = group->layer_capacity + group->layer_capacity / 2 + 2;
        tz_layer *larger = tz_realloc_array(group->layers, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(ctx, (uint64_t)capacity * sizeof *larger);
        group->layers = larger;
        group->layer_capacity = capacity;
    }
    tz_layer *layer = &group->layers[group->layer_count];
    TZ_TRY(tz_layer_make(layer, ifd, group->reader, ctx));
    layer->tables.container = group->container;
    layer->shape.sidecar = group->sidecar;
    group->layer_count++;
    return TZ_OK;
}

static tz_result check_first(uint32_t subfile_type, const tz_ifd *ifd, const tz_context *ctx)
{
    const tz_location place =
        tz_expecting(tz_at_tag(TZ_TAG_NEW_SUBFILE_TYPE, ifd->offset), 0, subfile_type);
    if (subfile_type & 4)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, place,
                       "the first image is marked as a mask; taken as the image itself");
    if (subfile_type & 1)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, place,
                       "the first image is marked as reduced; taken as full resolution");
    return TZ_OK;
}

tz_result tz_group_visit(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    tz_group *group = user;
    const uint32_t subfile_type = tz_ifd_subfile_type(ifd);
    const bool first = group->page_count == 0;
    if (first)
        TZ_TRY(check_first(subfile_type, ifd, ctx));
    if (!first && (subfile_type & (1 | 4)))
        return group->page_count - 1 == group->page ? add_layer(group, ifd, ctx) : TZ_OK;
    TZ_TRY(add_page(group, ifd, ctx));
    if (group->page_count - 1 != group->page)
        return TZ_OK;
    group->base = *ifd;
    group->has_base = true;
    return add_layer(group, ifd, ctx);
}

/* A SubIFD that is neither reduced nor a mask is another image (raw sensor data, say): not ours. */
tz_result tz_group_visit_sub(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    return tz_ifd_subfile_type(ifd) & (1 | 4) ? add_layer(user, ifd, ctx) : TZ_OK;
}

tz_result tz_group_visit_sidecar(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    tz_group *group = user;
    const uint32_t before = group->layer_count;
    TZ_TRY(add_layer(group, ifd, ctx));
    if (group->layer_count > before && group->sidecar == TZ_SIDECAR_MSK)
        group->layers[before].is_mask = true;
    return TZ_OK;
}

/* ---- arranging ---- */

static tz_context at_layer(const tz_layer *layer, const tz_context *ctx)
{
    tz_context place = *ctx;
    place.ifd = layer->shape.ifd;
    return place;
}

static tz_result ignore_level(const tz_layer *layer, const char *why, const tz_context *ctx)
{
    const tz_context place = at_layer(layer, ctx);
    return tz_warn(&place, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(layer->shape.ifd_offset),
                   "overview of %u x %u %s; ignored", layer->shape.width, layer->shape.height, why);
}

/* Images before masks, large before small; equal ones stay in file order. */
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

uint32_t tz_group_masks(const tz_group *group)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < group->layer_count; i++)
        count += group->layers[i].is_mask;
    return count;
}

uint32_t tz_group_images(const tz_group *group)
{
    return group->layer_count - tz_group_masks(group);
}

static const char *why_no_overview(const tz_layer *layer, const tz_pyramid *pyramid)
{
    const tz_level *shape = &layer->shape;
    const tz_level *above = &pyramid->levels[pyramid->count - 1];
    if (shape->width > above->width || shape->height > above->height)
        return "is not smaller than the level above it";
    if (shape->width == above->width && shape->height == above->height)
        return "has the size of the level above it";
    if (shape->samples != pyramid->levels[0].samples)
        return "has another number of bands than the image";
    if (layer->tables.dtype != pyramid->level_tables[0].dtype)
        return "has another type than the image";
    return NULL;
}

static void add_level(tz_pyramid *pyramid, const tz_layer *layer)
{
    pyramid->levels[pyramid->count] = layer->shape;
    pyramid->level_tables[pyramid->count] = layer->tables;
    pyramid->count++;
}

static tz_result place_overview(const tz_layer *layer, tz_pyramid *pyramid, const tz_context *ctx)
{
    const char *why = why_no_overview(layer, pyramid);
    bool room = true;
    if (why)
        return ignore_level(layer, why, ctx);
    TZ_TRY(check_levels(layer->shape.ifd_offset, (uint64_t)pyramid->count + 1, &room, ctx));
    if (room)
        add_level(pyramid, layer);
    return TZ_OK;
}

static const char *why_no_mask(const tz_layer *mask)
{
    const uint16_t bits = mask->shape.bits_per_sample;
    if (mask->shape.samples != 1)
        return "has several bands";
    if (mask->tables.dtype != TZ_DTYPE_UINT8 || (bits != 1 && bits != 8))
        return "is neither of 1 nor of 8 bits";
    return NULL;
}

static tz_result place_mask(const tz_layer *mask, tz_pyramid *pyramid, const tz_context *ctx)
{
    const tz_context place = at_layer(mask, ctx);
    const char *why = why_no_mask(mask);
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
    return tz_warn(&place, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(mask->shape.ifd_offset),
                   "mask of %u x %u %s; ignored", mask->shape.width, mask->shape.height,
                   why ? why : "has the size of no level");
}

tz_result tz_group_arrange(tz_group *group, tz_pyramid *out, const tz_context *ctx)
{
    /* The first one is the page itself, whatever its own directory says. */
    qsort(group->layers + 1, group->layer_count - 1, sizeof *group->layers, by_kind_and_size);
    out->count = 0;
    add_level(out, &group->layers[0]);
    for (uint32_t i = 1; i < group->layer_count; i++) {
        const tz_layer *layer = &group->layers[i];
        TZ_TRY(layer->is_mask ? place_mask(layer, out, ctx) : place_overview(layer, out, ctx));
    }
    return TZ_OK;
}
