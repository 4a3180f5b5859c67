/* SPDX-License-Identifier: Apache-2.0
 * Checks of extents: directories, tag data and tiles must not overlap, and one of them must end
 * with the file.
 *
 * All extents of the sample are collected in a list, at most a million of them. Sorted by their
 * start, an extent that begins before the furthest end so far overlaps the one that reaches there.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/codec.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { MAX_EXTENTS = 1 << 20, FIRST_CAPACITY = 64 };

/* In the order of the names in find_overlaps. */
typedef enum extent_kind { EXTENT_HEADER, EXTENT_DIRECTORY, EXTENT_TAG, EXTENT_TILE } extent_kind;

typedef struct file_extent {
    uint64_t start;
    uint64_t end;
    uint64_t number; /* of a tile or tag */
    uint32_t level;  /* of a tile */
    bool mask;       /* the tile is one of the mask of level */
    int32_t ifd;     /* of a tag or directory: number of its layer; else -1 */
    uint16_t kind;
} file_extent;

typedef struct extent_list {
    file_extent *list;
    size_t count;
    size_t capacity;
} extent_list;

/* Adds an extent. More than MAX_EXTENTS are left out, with a note. */
static tz_result add_extent(tz_checker *checker, extent_list *all, const file_extent *one)
{
    if (all->count == MAX_EXTENTS) {
        checker->check->note = "of the first 1048576 tiles";
        return TZ_OK;
    }
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity ? 2 * all->capacity : FIRST_CAPACITY;
        file_extent *larger = tz_realloc_array(all->list, capacity, sizeof *larger);
        if (!larger)
            return tz_fail_nomem(&checker->ctx, capacity * sizeof *larger);
        all->list = larger;
        all->capacity = capacity;
    }
    all->list[all->count++] = *one;
    return TZ_OK;
}

/* Other checks report extents that do not lie in the file; here they would overlap by chance. */
static bool is_inside_main_file(const tz_checker *checker, uint64_t start, uint64_t size)
{
    return size > 0 && start > 0 && tz_inside(&checker->file->containers[0], start, size);
}

/* Leaders and trailers are not part of a tile: files without a ghost area have none. */
static tz_result add_tile_extent(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    const file_extent one = {.start = view->span.offset,
                             .end = view->span.offset + view->span.size,
                             .number = view->tile,
                             .level = view->at->level,
                             .mask = view->at->layer.is_mask,
                             .ifd = -1,
                             .kind = EXTENT_TILE};
    if (!is_inside_main_file(checker, view->span.offset, view->span.size))
        return TZ_OK;
    return add_extent(checker, user, &one);
}

/* Values that fit into their entry are part of the directory. */
static tz_result collect_extents(tz_checker *checker, extent_list *all)
{
    const file_extent header = {
        .end = tz_checker_front_size(checker), .ifd = -1, .kind = EXTENT_HEADER};
    tz_checked_layer at = {0};
    TZ_TRY(add_extent(checker, all, &header));
    tz_checker_note_sample(checker);
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        const int32_t ifd = (int32_t)at.number;
        const file_extent whole = {
            .start = at.ifd->start, .end = at.ifd->end, .ifd = ifd, .kind = EXTENT_DIRECTORY};
        TZ_TRY(add_extent(checker, all, &whole));
        for (uint32_t i = 0; i < at.ifd->count; i++) {
            const tz_ifd_entry *entry = &at.ifd->entries[i];
            const file_extent data = {.start = entry->offset,
                                      .end = entry->offset + entry->size,
                                      .number = entry->tag,
                                      .ifd = ifd,
                                      .kind = EXTENT_TAG};
            if (!tz_checked_ifd_holds(at.ifd, entry) && entry->size != TZ_NO_VALUE &&
                is_inside_main_file(checker, entry->offset, entry->size))
                TZ_TRY(add_extent(checker, all, &data));
        }
        TZ_TRY(tz_checker_visit_tiles(checker, &at, add_tile_extent, all));
    }
    return TZ_OK;
}

/* ---- overlaps ---- */

/* Ends and numbers only make the order of findings certain. */
static int compare_extent_start(const void *a, const void *b)
{
    const file_extent *x = a;
    const file_extent *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the location of an extent; the next finding is about its directory. */
static tz_location extent_location(tz_checker *checker, const file_extent *one)
{
    tz_checked_layer at = {0};
    checker->ctx.ifd = -1;
    if (one->kind == EXTENT_TILE)
        return tz_at_tile(one->level, one->mask, one->number, one->start);
    if (one->ifd >= 0)
        (void)tz_checker_layer(checker, (uint32_t)one->ifd, &at);
    return one->kind == EXTENT_TAG ? tz_at_tag((uint16_t)one->number, one->start)
                                   : tz_at_offset(one->start);
}

/* Tiles may share their data on purpose: overlaps are warnings, and equal extents have a text of
 * their own. */
static void find_overlaps(tz_checker *checker, extent_list *all)
{
    static const char *const names[] = {"the header", "a directory", "data of a tag", "a tile"};
    qsort(all->list, all->count, sizeof *all->list, compare_extent_start);
    const file_extent *reaching = &all->list[0]; /* the one with the furthest end so far */
    for (size_t i = 1; i < all->count; i++) {
        const file_extent *one = &all->list[i];
        if (one->start < reaching->end) {
            const bool same = reaching->start == one->start && reaching->end == one->end;
            const tz_location location =
                tz_expecting(extent_location(checker, one), reaching->end, one->start);
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT, location,
                           "%s %s %s that starts at byte %" PRIu64, names[one->kind],
                           same ? "has the place of" : "lies on top of", names[reaching->kind],
                           reaching->start);
        }
        if (one->end > reaching->end)
            reaching = one;
    }
}

/* Overlaps of tile tables were found when the file was opened. */
tz_result tz_check_overlap(tz_checker *checker)
{
    extent_list all = {0};
    TZ_TRY(tz_checker_add_open_warnings(checker));
    const tz_result result = collect_extents(checker, &all);
    if (result == TZ_OK)
        find_overlaps(checker, &all);
    tz_free(all.list);
    return result;
}

/* ---- the end of the file ---- */

/* Applies if the extents are all of the file. Looks at its end only: gaps between extents are
 * common, and a trailer of 4 bytes may follow the last tile. */
tz_result tz_check_unused_bytes(tz_checker *checker)
{
    const tz_info *info = checker->info;
    extent_list all = {0};
    uint64_t end = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++)
        known += checker->directories[i].entries != NULL;
    if (checker->tiles_looked_at < checker->tiles)
        return tz_checker_skip(checker, "needs a look at all tiles");
    if (known < info->ifd_count || info->exif_ifd != TZ_NO_VALUE || info->gps_ifd != TZ_NO_VALUE)
        return tz_checker_skip(checker, "the file holds more than this image");
    if (checker->file->levels[0].compression == TZ_COMPRESSION_OLD_JPEG)
        return tz_checker_skip(checker, "old JPEG has data that no table lists");
    const tz_result result = collect_extents(checker, &all);
    for (size_t i = 0; i < all.count; i++)
        end = tz_max(end, all.list[i].end);
    tz_free(all.list);
    TZ_TRY(result);
    if (all.count == MAX_EXTENTS)
        return tz_checker_skip(checker, "the file has too many tiles");
    end += checker->file->ghost.trailers ? 4 : 0;
    end += end % 2; /* a byte of padding is allowed */
    checker->ctx.ifd = -1;
    if (end < info->file_size)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_at_offset(end), end, info->file_size),
                       "the last %" PRIu64 " bytes of the file belong to nothing",
                       info->file_size - end);
    return TZ_OK;
}
