/* SPDX-License-Identifier: Apache-2.0
 * Which directory is what: full-resolution images (pages), and for one chosen page its overviews
 * and masks. */
#ifndef TZ_TIFF_GROUP_H
#define TZ_TIFF_GROUP_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"
#include "tiff/layout.h"

typedef struct tz_group {
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
} tz_group;
void tz_group_deinit(tz_group *group); /* zeroed state is fine */

/* Visitors for tz_walk, with a tz_group as user: of the main chain, of the chosen page's SubIFDs,
 * and of a sidecar file. */
tz_result tz_group_visit(void *user, const tz_ifd *ifd, const tz_context *ctx);
tz_result tz_group_visit_sub(void *user, const tz_ifd *ifd, const tz_context *ctx);
tz_result tz_group_visit_sidecar(void *user, const tz_ifd *ifd, const tz_context *ctx);

/* How many of the layers are images, and how many are masks. */
uint32_t tz_group_images(const tz_group *group);
uint32_t tz_group_masks(const tz_group *group);

/* Levels and their masks, in arrays that the caller has made: tz_group_images elements each (masks
 * may be NULL when tz_group_masks is 0). Levels go from large to small; masks[i] is that of
 * levels[i], and has width 0 where there is none. */
typedef struct tz_pyramid {
    tz_level *levels;
    tz_tables *level_tables;
    tz_level *masks;
    tz_tables *mask_tables;
    uint32_t count;
} tz_pyramid;

/* Fill the pyramid; group->layers is reordered. What does not fit is a META warning and left out.
 */
tz_result tz_group_arrange(tz_group *group, tz_pyramid *out, const tz_context *ctx);

#endif
