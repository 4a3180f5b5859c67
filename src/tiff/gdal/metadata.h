/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_METADATA: XML without DTD or entities of its own, fed in pieces, kept compactly: an item
 * is 16 bytes and its text, which is never more than the XML it came from, so that everything fits
 * in one block of the tag's size. */
#ifndef TZ_TIFF_GDAL_METADATA_H
#define TZ_TIFF_GDAL_METADATA_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Offsets in the pool of strings. The value follows the name's NUL. */
typedef struct tz_metadata_entry {
    uint32_t name;
    uint32_t domain;
    uint32_t role;
    int32_t band; /* -1: of the image */
} tz_metadata_entry;

/* One block: first the NUL-terminated strings (pool[0] is ""), then the entries, sorted by band. */
typedef struct tz_metadata {
    char *pool;
    const tz_metadata_entry *entries;
    uint32_t count;
    uint32_t pool_size;
    uint64_t held; /* bytes of the block */
} tz_metadata;
void tz_metadata_deinit(tz_metadata *metadata); /* zeroed state is fine */

/* Parse in pieces: begin, feed as often as needed, finish (always, also after a failed feed). bands
 * is that of the image: an item for another band is a META warning and left out. size is that of
 * the tag; more than that must not be fed. Malformed or forbidden XML (document type, depth, size,
 * items past the limits) is a META or LIMIT warning and leaves *out empty; then feed returns TZ_OK
 * and ignores the rest. Text ends at the first NUL. Errors are those of strict mode and of memory
 * only. Without expat, begin gives a META warning that says so.
 *
 * Kept are the Item elements right below GDALMetadata that have a name and a value. Values are
 * unescaped twice, as GDAL writes them. An item with elements inside (an "xml:" domain) keeps their
 * markup as it is in the file, unescaped only in the text of the item itself. */
typedef struct tz_metadata_parser tz_metadata_parser;
tz_result tz_metadata_begin(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                            const tz_context *ctx);

/* The same for a file NAME.aux.xml, GDAL's PAM, of an image with these bands: items of its Metadata
 * elements, and Description, UnitType, Offset, Scale and ColorInterp with the roles that they have
 * in the tag. Values that the tag does not have become items of the roles below: the SRS, the six
 * numbers of the transform, an item for each control point (" column row x y z"), the nodata of a
 * band. Values are escaped once. *out holds at most twice the bytes of the file; the roles are
 * short for that (see metadata_parser.h). */
#define TZ_AUX_SRS       "@srs"
#define TZ_AUX_EPOCH     "@epoch"
#define TZ_AUX_TRANSFORM "@transform"
#define TZ_AUX_GCP       "@gcp"
#define TZ_AUX_GCP_SRS   "@gcpsrs"
#define TZ_AUX_NODATA    "@nodata"
tz_result tz_metadata_begin_aux(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                                const tz_context *ctx);
tz_result tz_metadata_feed(tz_metadata_parser *parser, const char *bytes, size_t size);
bool tz_metadata_is_done(const tz_metadata_parser *parser); /* the rest would be ignored */
tz_result tz_metadata_finish(tz_metadata_parser *parser, bool complete, tz_metadata *out);

/* Returns the item of this index; false past the end. */
bool tz_metadata_get_item(const tz_metadata *metadata, uint32_t index, tz_metadata_item *out);

/* The value of the first entry with this role and band, in the default domain; NULL when absent. */
const char *tz_metadata_find_role(const tz_metadata *metadata, const char *role, int32_t band);

/* Adds the items of *more, except those with a role that begins with "@". An item replaces the item
 * of *into with the same band, domain and name, or with the same band and role. *added counts the
 * items that were added, *of_bands those of them that have a role. */
tz_result tz_metadata_merge(tz_metadata *into, const tz_metadata *more, uint32_t *added,
                            uint32_t *of_bands, const tz_context *ctx);

#endif
