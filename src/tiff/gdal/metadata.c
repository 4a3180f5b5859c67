/* SPDX-License-Identifier: Apache-2.0
 * Metadata that was read: access to its items, and merging two lists of them.
 *
 * A list is one block with strings and entries, as metadata.h describes it. Entries are sorted by
 * band, so that the items of one band are found by bisection. Merging makes a new block with both
 * pools of strings one after the other; of two items with the same identity, that of the second
 * list stays. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/gdal/metadata_parser.h"

void tz_metadata_deinit(tz_metadata *metadata)
{
    tz_free(metadata->pool);
    *metadata = (tz_metadata){0};
}

/* The value follows the NUL of the name, so that an entry needs no offset for it. */
bool tz_metadata_get_item(const tz_metadata *metadata, uint32_t index, tz_metadata_item *out)
{
    if (index >= metadata->count)
        return false;
    const tz_metadata_entry *entry = &metadata->entries[index];
    const char *pool = metadata->pool;
    const char *name = pool + entry->name;
    *out = (tz_metadata_item){.struct_size = sizeof *out,
                              .domain = pool + entry->domain,
                              .name = name,
                              .value = name + strlen(name) + 1,
                              .role = pool + entry->role,
                              .band = entry->band};
    return true;
}

/* The first entry of a band, by bisection: a file may have as many bands as items. */
static uint32_t first_entry_of_band(const tz_metadata *metadata, int32_t band)
{
    uint32_t low = 0;
    uint32_t high = metadata->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (metadata->entries[middle].band < band)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *tz_metadata_find_role(const tz_metadata *metadata, const char *role, int32_t band)
{
    for (uint32_t i = first_entry_of_band(metadata, band);
         i < metadata->count && metadata->entries[i].band == band; i++) {
        const tz_metadata_entry *entry = &metadata->entries[i];
        if (metadata->pool[entry->domain] == '\0' &&
            strcmp(metadata->pool + entry->role, role) == 0) {
            const char *name = metadata->pool + entry->name;
            return name + strlen(name) + 1;
        }
    }
    return NULL;
}

/* ---- merging ---- */

/* An item of either list, with the texts that distinguish items. */
typedef struct merged_item {
    const tz_metadata_entry *entry;
    const char *domain;
    const char *name; /* "" if the item has a role */
    const char *role;
    bool more; /* it is of the list that wins */
} merged_item;

static merged_item merged_item_at(const tz_metadata *metadata, uint32_t index, bool more)
{
    const tz_metadata_entry *entry = &metadata->entries[index];
    const char *role = metadata->pool + entry->role;
    return (merged_item){.entry = entry,
                         .domain = metadata->pool + entry->domain,
                         .name = *role != '\0' ? "" : metadata->pool + entry->name,
                         .role = role,
                         .more = more};
}

/* Items are the same if they have the same band and role, or, without a role, the same domain and
 * name. Items with a role have names that only repeat it (SCALE, OFFSET). */
static int compare_identity(const merged_item *x, const merged_item *y)
{
    if (x->entry->band != y->entry->band)
        return x->entry->band < y->entry->band ? -1 : 1;
    int order = strcmp(x->role, y->role);
    if (order == 0)
        order = strcmp(x->domain, y->domain);
    return order != 0 ? order : strcmp(x->name, y->name);
}

/* Equal items: those of the winning list come first. */
static int compare_identity_and_list(const void *a, const void *b)
{
    const merged_item *x = a;
    const merged_item *y = b;
    const int order = compare_identity(x, y);
    return order != 0 ? order : (int)y->more - (int)x->more;
}

/* Copies the entries in order of identity, without those of *into that *more replaces. Offsets of
 * *more's strings are moved to where its pool was appended; 0 is "" in both pools. */
static uint32_t keep_winning_entries(const merged_item *items, uint32_t count,
                                     uint32_t pool_of_more, tz_metadata_entry *out)
{
    uint32_t kept = 0;
    uint32_t first = 0; /* of the same identity */
    for (uint32_t i = 0; i < count; i++) {
        const merged_item *item = &items[i];
        if (compare_identity(&items[first], item) != 0)
            first = i;
        if (!item->more && items[first].more)
            continue;
        tz_metadata_entry entry = *item->entry;
        if (item->more) {
            entry.name += pool_of_more;
            entry.domain += entry.domain != 0 ? pool_of_more : 0;
            entry.role += entry.role != 0 ? pool_of_more : 0;
        }
        out[kept++] = entry;
    }
    return kept;
}

/* Nothing changes if *more has no items for the file. Offsets have 32 bits, which bounds both pools
 * together. */
tz_result tz_metadata_merge(tz_metadata *into, const tz_metadata *more, uint32_t *added,
                            uint32_t *of_bands, const tz_context *ctx)
{
    const uint32_t max_count = into->count + more->count;
    const size_t align = sizeof(uint32_t);
    const size_t pool = (size_t)into->pool_size + more->pool_size;
    const size_t strings = (pool + 1 + align - 1) / align * align;
    const size_t size = strings + max_count * sizeof(tz_metadata_entry);
    uint32_t count = 0;
    *added = *of_bands = 0;
    if (pool >= UINT32_MAX)
        return TZ_WARN_META(ctx, tz_no_location(), "metadata of 4 GiB and more is ignored");
    merged_item *items = tz_alloc(max_count * sizeof *items + 1);
    char *block = tz_alloc(size);
    if (!items || !block) {
        tz_free(items);
        tz_free(block);
        return tz_fail_nomem(ctx, size);
    }
    for (uint32_t i = 0; i < into->count; i++)
        items[count++] = merged_item_at(into, i, false);
    for (uint32_t i = 0; i < more->count; i++) {
        items[count] = merged_item_at(more, i, true);
        if (items[count].role[0] == '@')
            continue;
        *of_bands += items[count++].role[0] != '\0';
        ++*added;
    }
    if (*added > 0) {
        tz_metadata_entry *entries = (tz_metadata_entry *)(void *)(block + strings);
        block[0] = '\0'; /* in case the file itself has no metadata */
        if (into->pool_size > 0)
            memcpy(block, into->pool, into->pool_size);
        const uint32_t base = into->pool_size > 0 ? into->pool_size : 1;
        memcpy(block + base, more->pool, more->pool_size);
        qsort(items, count, sizeof *items, compare_identity_and_list);
        const uint32_t kept = keep_winning_entries(items, count, base, entries);
        qsort(entries, kept, sizeof *entries, tz_metadata_compare_entries);
        tz_metadata_deinit(into);
        *into = (tz_metadata){.pool = block,
                              .entries = entries,
                              .count = kept,
                              .pool_size = base + more->pool_size,
                              .held = size};
        block = NULL;
    }
    tz_free(items);
    tz_free(block);
    return TZ_OK;
}
