/* SPDX-License-Identifier: Apache-2.0
 * The sorted list of metadata items. The order is an array of indices: items stay in the file
 * handle, and a name that occurs twice keeps the order of the file, so that the last one holds. */
#include "metadata.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const tz_metadata_item *a, const tz_metadata_item *b)
{
    if (a->band != b->band)
        return a->band < b->band ? -1 : 1;
    int order = strcmp(a->domain, b->domain);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static int compare_items(const tz_file *file, uint32_t a, uint32_t b)
{
    int order = compare_keys(tz_file_get_metadata(file, a), tz_file_get_metadata(file, b));
    return order != 0 ? order : (a > b) - (a < b);
}

/* Heap sort: it needs no memory, and no file can make it slow. */
static void sift_down(const meta_list *list, uint32_t root, uint32_t end)
{
    uint32_t *order = list->order;
    while (root < end / 2) {
        uint32_t child = 2 * root + 1;
        if (child + 1 < end && compare_items(list->file, order[child], order[child + 1]) < 0)
            child++;
        if (compare_items(list->file, order[root], order[child]) >= 0)
            return;
        uint32_t index = order[root];
        order[root] = order[child];
        order[child] = index;
        root = child;
    }
}

static void sort_items(const meta_list *list)
{
    for (uint32_t root = list->count / 2; root-- > 0;)
        sift_down(list, root, list->count);
    for (uint32_t end = list->count; end-- > 1;) {
        uint32_t index = list->order[0];
        list->order[0] = list->order[end];
        list->order[end] = index;
        sift_down(list, 0, end);
    }
}

static bool describes_band(const tz_metadata_item *item)
{
    static const char *const roles[] = {"scale", "offset", "unittype", "description",
                                        "colorinterp"};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (item->band >= 0 && strcmp(item->role, roles[i]) == 0)
            return true;
    }
    return false;
}

tz_result meta_open(meta_list *list, const tz_file *file)
{
    uint32_t total = tz_file_get_info(file)->metadata_count;
    *list = (meta_list){.file = file};
    if (total == 0)
        return TZ_OK;
    list->order = calloc(total, sizeof *list->order);
    if (list->order == NULL)
        return TZ_ERR_NOMEM;
    for (uint32_t i = 0; i < total; i++) {
        if (!describes_band(tz_file_get_metadata(file, i)))
            list->order[list->count++] = i;
    }
    sort_items(list);
    return TZ_OK;
}

void meta_close(meta_list *list)
{
    free(list->order);
    *list = (meta_list){0};
}

/* Returns NULL past the end. */
static const tz_metadata_item *item_at(const meta_list *list, uint32_t at)
{
    return at < list->count ? tz_file_get_metadata(list->file, list->order[at]) : NULL;
}

const tz_metadata_item *meta_next(const meta_list *list, uint32_t *at)
{
    const tz_metadata_item *item = item_at(list, *at);
    const tz_metadata_item *following;
    if (item == NULL)
        return NULL;
    while ((following = item_at(list, ++*at)) != NULL && compare_keys(item, following) == 0)
        item = following;
    return item;
}

/* Returns the index of the first item that is not before key. */
static uint32_t lower_bound(const meta_list *list, const tz_metadata_item *key)
{
    uint32_t first = 0;
    uint32_t end = list->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (compare_keys(item_at(list, middle), key) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

uint32_t meta_find(const meta_list *list, int32_t band)
{
    tz_metadata_item key = {.domain = "", .name = "", .band = band};
    return lower_bound(list, &key);
}

const char *meta_value(const meta_list *list, int32_t band, const char *domain, const char *name)
{
    tz_metadata_item key = {.domain = domain, .name = name, .band = band};
    uint32_t at = lower_bound(list, &key);
    const tz_metadata_item *found = meta_next(list, &at);
    return found != NULL && compare_keys(found, &key) == 0 ? found->value : NULL;
}
