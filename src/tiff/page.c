/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/page.h"

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

/* Whether there may be so many levels; a warning when not. */
static tz_result check_level_limit(uint64_t ifd_offset, uint64_t count, bool *allowed,
                                   const tz_context *ctx)
{
    tz_error failed;
    tz_context quiet = *ctx;
    quiet.err = &failed;
    *allowed = tz_check_limit(&quiet, offsetof(tz_limits, max_levels), tz_at_offset(ifd_offset),
                              count, "resolution levels") == TZ_OK;
    return *allowed ? TZ_OK : tz_warn_from_error(ctx, &failed, "levels");
}

static tz_result append_layer(tz_page_ifds *page_ifds, const tz_ifd *ifd, const tz_context *ctx)
{
    bool allowed = true;
    /* An image and a mask for every level; which is which is not settled yet. */
    TZ_TRY(check_level_limit(ifd->offset, page_ifds->layer_count / 2 + 1, &allowed, ctx));
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

static tz_result check_first_ifd(uint32_t subfile_type, const tz_ifd *ifd, const tz_context *ctx)
{
    const tz_location location =
        tz_expecting(tz_at_tag(TZ_TAG_NEW_SUBFILE_TYPE, ifd->offset), 0, subfile_type);
    if (subfile_type & 4)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, location,
                       "the first image is marked as a mask; taken as the image itself");
    if (subfile_type & 1)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, location,
                       "the first image is marked as reduced; taken as full resolution");
    return TZ_OK;
}

tz_result tz_page_visit_main_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    tz_page_ifds *page_ifds = user;
    const uint32_t subfile_type = tz_ifd_subfile_type(ifd);
    const bool first = page_ifds->page_count == 0;
    if (first)
        TZ_TRY(check_first_ifd(subfile_type, ifd, ctx));
    if (!first && (subfile_type & (1 | 4)))
        return page_ifds->page_count - 1 == page_ifds->page ? append_layer(page_ifds, ifd, ctx)
                                                            : TZ_OK;
    TZ_TRY(append_page(page_ifds, ifd, ctx));
    if (page_ifds->page_count - 1 != page_ifds->page)
        return TZ_OK;
    page_ifds->base = *ifd;
    page_ifds->has_base = true;
    return append_layer(page_ifds, ifd, ctx);
}

/* A SubIFD that is neither reduced nor a mask is another image (raw sensor data, say): not ours. */
tz_result tz_page_visit_sub_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    return tz_ifd_subfile_type(ifd) & (1 | 4) ? append_layer(user, ifd, ctx) : TZ_OK;
}

tz_result tz_page_visit_sidecar_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx)
{
    tz_page_ifds *page_ifds = user;
    const uint32_t before = page_ifds->layer_count;
    TZ_TRY(append_layer(page_ifds, ifd, ctx));
    if (page_ifds->layer_count > before && page_ifds->sidecar == TZ_SIDECAR_MSK)
        page_ifds->layers[before].is_mask = true;
    return TZ_OK;
}

/* ---- arranging ---- */

static tz_context context_at_layer(const tz_layer *layer, const tz_context *ctx)
{
    tz_context location = *ctx;
    location.ifd = layer->shape.ifd;
    return location;
}

static tz_result warn_ignored_overview(const tz_layer *layer, const char *why,
                                       const tz_context *ctx)
{
    const tz_context location = context_at_layer(layer, ctx);
    return tz_warn(&location, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(layer->shape.ifd_offset),
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

static const char *why_not_overview(const tz_layer *layer, const tz_page_pyramid *pyramid)
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

static void append_level(tz_page_pyramid *pyramid, const tz_layer *layer)
{
    pyramid->levels[pyramid->count] = layer->shape;
    pyramid->level_tables[pyramid->count] = layer->tables;
    pyramid->count++;
}

static tz_result add_overview(const tz_layer *layer, tz_page_pyramid *pyramid,
                              const tz_context *ctx)
{
    const char *why = why_not_overview(layer, pyramid);
    bool allowed = true;
    if (why)
        return warn_ignored_overview(layer, why, ctx);
    TZ_TRY(check_level_limit(layer->shape.ifd_offset, (uint64_t)pyramid->count + 1, &allowed, ctx));
    if (allowed)
        append_level(pyramid, layer);
    return TZ_OK;
}

static const char *why_not_mask(const tz_layer *mask)
{
    const uint16_t bits = mask->shape.bits_per_sample;
    if (mask->shape.samples != 1)
        return "has several bands";
    if (mask->tables.dtype != TZ_DTYPE_UINT8 || (bits != 1 && bits != 8))
        return "is neither of 1 nor of 8 bits";
    return NULL;
}

static tz_result assign_mask(const tz_layer *mask, tz_page_pyramid *pyramid, const tz_context *ctx)
{
    const tz_context location = context_at_layer(mask, ctx);
    const char *why = why_not_mask(mask);
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
    return tz_warn(&location, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(mask->shape.ifd_offset),
                   "mask of %u x %u %s; ignored", mask->shape.width, mask->shape.height,
                   why ? why : "has the size of no level");
}

tz_result tz_page_arrange_levels(tz_page_ifds *page_ifds, tz_page_pyramid *out,
                                 const tz_context *ctx)
{
    /* The first one is the page itself, whatever its own directory says. */
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
