/* SPDX-License-Identifier: Apache-2.0
 * Which directory is what: full-resolution images (pages), and for one chosen page its overviews
 * and masks. */
#ifndef TZ_TIFF_PAGE_H
#define TZ_TIFF_PAGE_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"
#include "tiff/layer.h"

typedef struct tz_page_ifds {
    uint32_t page; /* the chosen one */
    tz_reader *reader;
    uint8_t container; /* index of the file that is being walked */
    uint8_t sidecar;   /* 0, or its TZ_SIDECAR_ bit */
    bool has_base;
    tz_ifd base;      /* the chosen page's own directory */
    tz_layer *layers; /* [0] the page itself, then its overviews and masks as they came */
    uint32_t layer_count;
    uint32_t layer_capacity;
    tz_page *pages;
    uint32_t page_count;
    uint32_t page_capacity;
} tz_page_ifds;
void tz_page_ifds_deinit(tz_page_ifds *page_ifds); /* zeroed state is fine */

/* Visitors for tz_ifd_walk, with a tz_page_ifds as user: of the main chain, of the chosen page's
 * SubIFDs, and of a sidecar file. */
tz_result tz_page_visit_main_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx);
tz_result tz_page_visit_sub_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx);
tz_result tz_page_visit_sidecar_ifd(void *user, const tz_ifd *ifd, const tz_context *ctx);

/* How many of the layers are images, and how many are masks. */
uint32_t tz_page_image_count(const tz_page_ifds *page_ifds);
uint32_t tz_page_mask_count(const tz_page_ifds *page_ifds);

/* Levels and their masks, in arrays that the caller has made: tz_page_image_count elements each
 * (masks may be NULL when tz_page_mask_count is 0). Levels go from large to small; masks[i] is that
 * of levels[i], and has width 0 where there is none. */
typedef struct tz_page_pyramid {
    tz_level *levels;
    tz_level_tables *level_tables;
    tz_level *masks;
    tz_level_tables *mask_tables;
    uint32_t count;
} tz_page_pyramid;

/* Fill the pyramid; group->layers is reordered. What does not fit is a META warning and left out.
 */
tz_result tz_page_arrange_levels(tz_page_ifds *page_ifds, tz_page_pyramid *out,
                                 const tz_context *ctx);

#endif
