/* SPDX-License-Identifier: Apache-2.0
 * What was read of tag GDAL_METADATA. The reading is in metadata_xml.c, and here for builds without
 * expat. */
#include "tiff/metadata.h"

#include <string.h>

#include "base/mem.h"
#include "tiff/tags.h"

void tz_metadata_deinit(tz_metadata *metadata)
{
    tz_free(metadata->pool);
    *metadata = (tz_metadata){0};
}

bool tz_metadata_at(const tz_metadata *metadata, uint32_t index, tz_metadata_item *out)
{
    if (index >= metadata->count)
        return false;
    const tz_metadata_entry *entry = &metadata->entries[index];
    const char *pool = metadata->pool;
    const char *name = pool + entry->name;
    *out = (tz_metadata_item){.domain = pool + entry->domain,
                              .name = name,
                              .value = name + strlen(name) + 1,
                              .role = pool + entry->role,
                              .band = entry->band};
    return true;
}

/* The first entry of a band, by bisection: a file may have as many bands as items. */
static uint32_t first_of_band(const tz_metadata *metadata, int32_t band)
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
    for (uint32_t i = first_of_band(metadata, band);
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

#ifndef TZ_HAVE_EXPAT

struct tz_metadata_parser {
    char nothing;
};

tz_result tz_metadata_begin(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                            const tz_context *ctx)
{
    (void)size, (void)bands;
    TZ_TRY(tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META, tz_at_tag(TZ_TAG_GDAL_METADATA, TZ_NONE),
                   "GDAL metadata is not read: this build of terrazzo is without expat; build it "
                   "with TERRAZZO_WITH_EXPAT=ON"));
    *out = tz_alloc_zeroed(1, sizeof **out);
    return *out ? TZ_OK : tz_fail_nomem(ctx, sizeof **out);
}

tz_result tz_metadata_feed(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    (void)parser, (void)bytes, (void)size;
    return TZ_OK;
}

bool tz_metadata_is_ended(const tz_metadata_parser *parser)
{
    (void)parser;
    return true;
}

tz_result tz_metadata_finish(tz_metadata_parser *parser, bool complete, tz_metadata *out)
{
    (void)complete;
    *out = (tz_metadata){0};
    tz_free(parser);
    return TZ_OK;
}

#endif
