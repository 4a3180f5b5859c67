/* SPDX-License-Identifier: Apache-2.0
 * Directories and their roles: walking the chain and the SubIFDs, full-resolution images (pages),
 * and the overviews and masks of one chosen page. */
#ifndef TZ_TIFF_PAGE_H
#define TZ_TIFF_PAGE_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"
#include "tiff/layer.h"

/* The directories that matter to one page, collected while the files are walked. Only one page is
 * opened at a time: of the others a tz_page is kept, and nothing else. */
typedef struct tz_page_ifds {
    uint32_t page; /* number of the chosen one */
    tz_reader *reader;
    uint8_t container; /* index of the file that is being walked */
    uint8_t sidecar;   /* its TZ_SIDECAR_ bit; 0: the main file */
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

/* A set of offsets: open addressing, 0 marks an empty slot (no directory starts there). */
typedef struct tz_offset_set {
    uint64_t *slots;
    size_t capacity; /* a power of two */
    size_t count;
} tz_offset_set;

/* The lists of directories, which differ in the role of a directory without marks. */
typedef enum tz_ifd_list { TZ_IFD_MAIN_CHAIN, TZ_IFD_SUB_IFDS, TZ_IFD_SIDECAR } tz_ifd_list;

/* A walk through the directories of one file. Every directory is visited at most once, so that
 * neither loops nor shared tails cost more than the file has directories. */
typedef struct tz_ifd_walk {
    tz_reader *reader;
    const tz_context *ctx;
    const tz_progress *progress; /* may be NULL */
    tz_page_ifds *page_ifds;     /* gets every directory that can be read */
    tz_ifd_list list;
    tz_offset_set visited;
    int32_t count; /* directories visited, usable or not */
    bool complete; /* the main chain ended with 0 */
} tz_ifd_walk;
void tz_ifd_walk_deinit(tz_ifd_walk *walk); /* zeroed state is fine */

/* Walks the chain from first. A defect of the first directory is an error, of a later one a
 * warning.
 */
tz_result tz_ifd_walk_chain(tz_ifd_walk *walk, uint64_t first);

/* Walks the SubIFDs of one directory, each of which starts a chain and may have SubIFDs itself. All
 * defects are warnings. */
tz_result tz_ifd_walk_sub_ifds(tz_ifd_walk *walk, const tz_tag_ref *sub_ifds);

/* True if a directory was visited at this offset. */
bool tz_ifd_walk_has_visited(const tz_ifd_walk *walk, uint64_t offset);

/* Numbers of layers that are images and that are masks. */
uint32_t tz_page_image_count(const tz_page_ifds *page_ifds);
uint32_t tz_page_mask_count(const tz_page_ifds *page_ifds);

/* Levels and their masks, in arrays that the caller has allocated: tz_page_image_count elements
 * each (masks may be NULL if tz_page_mask_count is 0). Levels go from large to small; masks[i] is
 * that of levels[i], and has width 0 if there is none. */
typedef struct tz_page_pyramid {
    tz_level *levels;
    tz_level_tables *level_tables;
    tz_level *masks;
    tz_level_tables *mask_tables;
    uint32_t count;
} tz_page_pyramid;

/* Fills the pyramid; page_ifds->layers is reordered. A layer that does not fit is a META warning
 * and left out. */
tz_result tz_page_arrange_levels(tz_page_ifds *page_ifds, tz_page_pyramid *out,
                                 const tz_context *ctx);

#endif
