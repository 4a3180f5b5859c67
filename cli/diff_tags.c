/* SPDX-License-Identifier: Apache-2.0
 * Compares tags of directories that both files have. Tags that pixels and layout cover are left
 * out, and of offsets only their presence is compared: two equal images are stored at different
 * offsets. */
#include <stdlib.h>

#include "diff.h"
#include "problem.h"
#include "tag_values.h"

/* Tags whose value is an offset in the file: only their presence can be compared. */
static bool is_offset_tag(uint16_t number)
{
    return number == 330 || number == 34665 || number == 34853;
}

/* Tags that the comparison of pixels and layout covers: sizes, types, tiles and their offsets. */
static bool is_layout_tag(uint16_t number)
{
    static const uint16_t numbers[] = {256, 257, 258, 259, 273, 277, 278, 279, 284,
                                       288, 289, 317, 322, 323, 324, 325, 339};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i] == number)
            return true;
    }
    return false;
}

/* The tags of the directory of a level, or of its mask, in memory of malloc. */
typedef struct tag_list {
    tz_tag *tags;
    uint32_t count;
} tag_list;

/* The directory that is compared. */
typedef struct directory {
    uint32_t level;
    bool mask; /* of that level */
} directory;

static tz_result load_tags(tag_list *list, const diff_side *side, const tz_level *level,
                           tz_error *err)
{
    uint32_t count = (uint32_t)level->tag_count;
    list->tags = malloc(((size_t)count + 1) * sizeof *list->tags);
    if (list->tags == NULL)
        return problem_nomem(err, "the tags");
    for (; list->count < count; list->count++) {
        tz_tag_init(&list->tags[list->count], sizeof(tz_tag));
        tz_result result = tz_file_get_tag(&list->tags[list->count], side->file, level->ifd_offset,
                                           list->count, err);
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

static const tz_tag *find_tag(const tag_list *list, uint16_t number)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->tags[i].tag == number)
            return &list->tags[i];
    }
    return NULL;
}

static tz_result add_tag_difference(diff *d, directory at, const tz_tag *a, const tz_tag *b,
                                    tz_error *err)
{
    void *tags = d->tags;
    diff_tag *added = diff_grow(&tags, &d->tag_count, sizeof *added);
    d->tags = tags;
    if (added == NULL)
        return problem_nomem(err, "the list of differences");
    *added = (diff_tag){.level = at.level,
                        .mask = at.mask,
                        .number = a != NULL ? a->tag : b->tag,
                        .present = {a != NULL, b != NULL}};
    if (a != NULL)
        added->tags[0] = *a;
    if (b != NULL)
        added->tags[1] = *b;
    d->different |= DIFF_TAGS;
    return TZ_OK;
}

static tz_result compare_tag(diff *d, directory at, const tz_tag *a, const tz_tag *b, tz_error *err)
{
    bool same = a != NULL && b != NULL;
    tz_result result = TZ_OK;
    if (same && !is_offset_tag(a->tag)) {
        same = a->type == b->type && a->count == b->count && a->size == b->size;
        if (same)
            result = tag_same_values(d->sides[0].file, a, d->sides[1].file, b, &same, err);
    }
    return result != TZ_OK || same ? result : add_tag_difference(d, at, a, b, err);
}

static tz_result compare_lists(diff *d, directory at, const tag_list *a, const tag_list *b,
                               tz_error *err)
{
    tz_result result = TZ_OK;
    for (uint32_t i = 0; i < a->count && result == TZ_OK; i++) {
        if (!is_layout_tag(a->tags[i].tag))
            result = compare_tag(d, at, &a->tags[i], find_tag(b, a->tags[i].tag), err);
    }
    for (uint32_t i = 0; i < b->count && result == TZ_OK; i++) {
        if (!is_layout_tag(b->tags[i].tag) && find_tag(a, b->tags[i].tag) == NULL)
            result = compare_tag(d, at, NULL, &b->tags[i], err);
    }
    return result;
}

/* Tags of directories in sidecar files cannot be read, and are not compared. */
static tz_result compare_directories(diff *d, directory at, tz_error *err)
{
    const tz_level *shapes[2];
    tag_list lists[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        shapes[i] = at.mask ? tz_file_get_mask(d->sides[i].file, at.level)
                            : tz_file_get_level(d->sides[i].file, at.level);
    const tz_level *a = shapes[0];
    const tz_level *b = shapes[1];
    if (a == NULL || b == NULL || a->sidecar != 0 || b->sidecar != 0)
        return TZ_OK;
    tz_result result = load_tags(&lists[0], &d->sides[0], a, err);
    if (result == TZ_OK)
        result = load_tags(&lists[1], &d->sides[1], b, err);
    if (result == TZ_OK)
        result = compare_lists(d, at, &lists[0], &lists[1], err);
    free(lists[0].tags);
    free(lists[1].tags);
    return result;
}

tz_result diff_compare_tags(diff *d, tz_error *err)
{
    const tz_info *a = d->sides[0].info;
    const tz_info *b = d->sides[1].info;
    tz_result result = TZ_OK;
    for (uint32_t i = 0; i < a->level_count && i < b->level_count && result == TZ_OK; i++) {
        result = compare_directories(d, (directory){.level = i}, err);
        if (result == TZ_OK)
            result = compare_directories(d, (directory){.level = i, .mask = true}, err);
    }
    return result;
}
