/* SPDX-License-Identifier: Apache-2.0
 * The state of a metadata parser and its items, shared by the files that read GDAL's XML:
 * metadata_xml.c drives expat, metadata_plain.c reads the simple form without it, aux_xml.c knows
 * the elements of NAME.aux.xml, and metadata_items.c stores what they find.
 *
 * The block is one allocation. Strings grow from its front, entries from its back, and they never
 * meet: an item costs 16 bytes and two NULs beyond its text, while the shortest XML around that
 * text, <Item name="">...</Item>, has 21. A domain or a role costs one NUL, and its attribute more.
 * In NAME.aux.xml elements imply names and roles, so that the block has twice the bytes of the
 * file: the closest case is <SRS>x</SRS>, whose item needs 24. */
#ifndef TZ_TIFF_GDAL_METADATA_PARSER_H
#define TZ_TIFF_GDAL_METADATA_PARSER_H

#include "tiff/gdal/metadata.h"
#include "tiff/tags.h"

enum { TZ_MAX_INTERNED = 32 }; /* domains and roles that are stored only once */

/* Bytes that expat holds, and why it was refused more. */
typedef struct tz_expat_memory {
    size_t held;
    bool capped;  /* expat wanted more than its budget */
    bool starved; /* memory ran out */
} tz_expat_memory;

/* The element below PAMDataset that the parser is in. */
typedef enum tz_aux_section {
    TZ_AUX_SECTION_NONE,
    TZ_AUX_SECTION_METADATA,
    TZ_AUX_SECTION_BAND,
    TZ_AUX_SECTION_GCPS
} tz_aux_section;

struct tz_metadata_parser {
    tz_context ctx;
    bool aux; /* reads a file NAME.aux.xml instead of the tag */
    uint32_t bands;
    uint64_t size;    /* bytes of the tag or file */
    uint64_t fed;     /* bytes fed so far */
    tz_result result; /* the first error; nothing is parsed after it */
    bool ended;       /* the rest of the text is ignored: a NUL, or the end of the items */
    bool dropped;     /* nothing is kept */
    struct XML_ParserStruct *xml; /* NULL: not needed yet, or not any more */
    tz_expat_memory memory;

    uint64_t depth;        /* open elements */
    uint64_t item_depth;   /* depth of the open item; 0: none */
    bool item_raw;         /* it has elements inside, whose markup is kept as it is */
    bool item_is_document; /* it is one XML document: text between its elements is not kept */
    uint32_t item_start;   /* offset of its name in the pool; undoing the item ends the pool here */
    uint32_t value;        /* offset of its value in the pool */
    tz_metadata_entry item;

    tz_aux_section section;
    bool band_metadata;  /* in a Metadata element of a band */
    int32_t aux_band;    /* of TZ_AUX_SECTION_BAND; -1: the image has no such band */
    uint32_t aux_domain; /* of the Metadata element, an offset in the pool */

    char *block;
    size_t block_size;
    uint32_t pool_size;
    uint32_t count; /* entries, from the end of the block down */
    uint32_t interned_count;
    struct {
        uint32_t offset;
        uint32_t size;
    } interned[TZ_MAX_INTERNED];
};

/* ---- metadata_items.c ---- */

tz_location tz_metadata_at(const tz_metadata_parser *parser); /* of messages */

/* Ends the parsing with nothing kept. result is that of the warning or error that says why, and is
 * returned. */
tz_result tz_metadata_drop(tz_metadata_parser *parser, tz_result result);

/* Does that if a warning was an error, as in strict mode. */
void tz_metadata_drop_if_failed(tz_metadata_parser *parser, tz_result result);

/* Warns of a defect of the XML. */
#define TZ_METADATA_WARN(parser, ...)                                                              \
    TZ_WARN_META(&(parser)->ctx, tz_metadata_at(parser), __VA_ARGS__)

/* Drops the metadata with a warning if value exceeds the limit at this offset of tz_limits; returns
 * true then. */
bool tz_metadata_exceeds(tz_metadata_parser *parser, size_t limit_offset, uint64_t value,
                         const char *what);

/* Appends bytes to the pool of strings. */
void tz_metadata_append(tz_metadata_parser *parser, const char *text, size_t size);

/* Returns the offset of a domain or role in the pool; 0 for "". */
uint32_t tz_metadata_intern(tz_metadata_parser *parser, const char *text);

/* Begin an item, append its value, end it. domain is an offset in the pool. An item without a value
 * is left out, as with GDAL; so is a scale or an offset that is not a number, with a warning. */
void tz_metadata_begin_item(tz_metadata_parser *parser, const char *name, uint32_t domain,
                            const char *role, int32_t band);
void tz_metadata_end_item(tz_metadata_parser *parser);

/* Begins the item of an <Item> element of the tag, unless its attributes (names and values in turn,
 * then NULL) make it unusable. */
void tz_metadata_begin_tag_item(tz_metadata_parser *parser, const char **attributes);

const char *tz_metadata_attribute(const char **attributes, const char *name); /* or NULL */

/* Order of entries by band, then as in the file: names were stored one after another. */
int tz_metadata_compare_entries(const void *a, const void *b);

/* Replaces the five entities of XML and numeric references, in place: none is shorter than the
 * UTF-8 of its character. Anything else that begins with an ampersand stays as it is, also
 * references to code points that are not characters. Returns the new size. */
size_t tz_xml_unescape(char *text, size_t size);

/* ---- metadata_plain.c ---- */

/* Reads the complete text of the tag without an XML parser, if it is simple enough. Returns false,
 * with the parser as before, if it is not. */
bool tz_metadata_feed_plain(tz_metadata_parser *parser, const char *bytes, size_t size);

/* ---- aux_xml.c ---- */

/* An element of NAME.aux.xml outside of items begins or ends; depth counts it. */
void tz_aux_start_element(tz_metadata_parser *parser, const char *name, const char **attributes);
void tz_aux_end_element(tz_metadata_parser *parser);

#endif
