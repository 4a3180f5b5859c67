/* SPDX-License-Identifier: Apache-2.0
 * Walking directories: the main chain, and SubIFDs below one of them. Every directory is visited at
 * most once, so that neither loops nor shared tails cost more than the file has directories. */
#ifndef TZ_TIFF_IFD_WALK_H
#define TZ_TIFF_IFD_WALK_H

#include <terrazzo/terrazzo.h>

#include "tiff/ifd.h"

/* A set of offsets: open addressing, 0 marks an empty slot (no directory starts there). */
typedef struct tz_offset_set {
    uint64_t *slots;
    size_t capacity; /* a power of two */
    size_t count;
} tz_offset_set;

/* Called for every directory that could be read, with ctx->ifd set. */
typedef tz_result (*tz_ifd_visitor)(void *user, const tz_ifd *ifd, const tz_context *ctx);

typedef struct tz_ifd_walk {
    tz_reader *reader;
    const tz_context *ctx;
    const tz_progress *progress; /* may be NULL */
    tz_ifd_visitor visit;
    void *user;
    tz_offset_set visited;
    int32_t count; /* directories visited, good or not */
    bool complete; /* the main chain ended with 0 */
} tz_ifd_walk;
void tz_ifd_walk_deinit(tz_ifd_walk *walk); /* zeroed state is fine */

/* The main chain from first. A defect of the first directory is an error, of a later one a warning.
 */
tz_result tz_ifd_walk_chain(tz_ifd_walk *walk, uint64_t first);

/* The SubIFDs of one directory, each of which starts a chain and may have SubIFDs itself. All
 * defects are warnings. */
tz_result tz_ifd_walk_sub_ifds(tz_ifd_walk *walk, const tz_tag_ref *sub_ifds);

/* Whether a directory was visited at this offset. */
bool tz_ifd_walk_has_visited(const tz_ifd_walk *walk, uint64_t offset);

#endif
