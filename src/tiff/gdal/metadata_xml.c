/* SPDX-License-Identifier: Apache-2.0
 * GDAL's XML, read with expat: tag GDAL_METADATA, and the files NAME.aux.xml beside images.
 *
 * Tag GDAL_METADATA is read with expat, and without it where it is plain: expat would take most of
 * the time that opening a small file needs.
 *
 * Memory is one block of the tag's size. Strings grow from its front, entries from its back, and
 * they never meet: an item costs 16 bytes and two NULs beyond its text, while the shortest XML
 * around that text, <Item name="">...</Item>, has 21. A domain or a role costs one NUL, and its
 * attribute more. In NAME.aux.xml names and roles stand for elements, so that the block has twice
 * the bytes of the file: the closest is <SRS>x</SRS>, whose item takes 24. expat's own memory is
 * capped, so that a token without end cannot make it grow. */
#ifdef TZ_HAVE_EXPAT

#include <expat.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/gdal/expat_memory.h"
#include "tiff/gdal/metadata.h"
#include "tiff/gdal/metadata_plain.h"
#include "tiff/gdal/xml_unescape.h"
#include "tiff/tags.h"

enum {
    SLICE_SIZE = 4096, /* what expat gets at a time: it may buffer a slice and what is left over */
    MAX_INTERNED = 32, /* domains and roles that are recognised */
    MAX_PLAIN_ATTRIBUTE = 256 /* longer attributes are not read without expat */
};

/* A domain or role that was met before. */
typedef struct interned {
    uint32_t offset;
    uint32_t size;
} interned;

/* The element below PAMDataset that the parser is in. */
typedef enum aux_section { AUX_NONE, AUX_METADATA, AUX_BAND, AUX_GCPS } aux_section;

struct tz_metadata_parser {
    tz_context ctx;
    bool aux; /* a file NAME.aux.xml instead of the tag */
    aux_section section;
    bool band_metadata;    /* in a Metadata element of a band */
    int32_t aux_band;      /* of AUX_BAND; -1: the image has no such band */
    uint32_t aux_domain;   /* of the Metadata element */
    bool item_is_document; /* it has elements, and text between them is not kept */
    XML_Parser xml;        /* NULL: not needed yet, or not any more */
    tz_result result;      /* the first error; then all is over */
    uint32_t bands;
    uint64_t size; /* of the tag */
    uint64_t fed;
    tz_expat_memory memory;
    bool ended;   /* a NUL was met, or the rest does not matter any more */
    bool dropped; /* nothing is kept */
    uint64_t depth;
    uint64_t item_depth; /* depth of the item at hand; 0: none */
    bool item_raw;       /* it has elements inside */
    uint32_t item_start; /* where its name begins in the pool: all is undone from there */
    uint32_t value;      /* where its value begins */
    tz_metadata_entry item;
    uint32_t interned_count;
    interned interned[MAX_INTERNED];
    char *block;
    size_t block_size;
    uint32_t pool_size;
    uint32_t count; /* entries, from the end of the block down */
};

static tz_location at_metadata(const tz_metadata_parser *parser)
{
    return parser->aux ? tz_no_location() : tz_at_tag(TZ_TAG_GDAL_METADATA, TZ_NONE);
}

static void free_expat_parser(tz_metadata_parser *parser)
{
    if (!parser->xml)
        return;
    tz_expat_memory_use(&parser->memory);
    XML_ParserFree(parser->xml);
    tz_expat_memory_use(NULL);
    parser->xml = NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Ending early
 * ------------------------------------------------------------------------------------------ */

/* Nothing of the tag is kept. result is that of the warning that says why. */
static tz_result drop_metadata(tz_metadata_parser *parser, tz_result result)
{
    parser->result = result;
    parser->ended = true;
    parser->dropped = true;
    return result;
}

/* The same within a handler of expat, if it is expat that reads. */
static void stop_parsing(tz_metadata_parser *parser, tz_result result)
{
    drop_metadata(parser, result);
    if (parser->xml)
        XML_StopParser(parser->xml, XML_FALSE);
}

static tz_result check_parser_limit(const tz_metadata_parser *parser, size_t member_offset,
                                    uint64_t value, const char *what, bool *exceeded)
{
    tz_error err;
    tz_context ctx = parser->ctx;
    uint64_t limit;
    memcpy(&limit, (const char *)ctx.limits + member_offset, sizeof limit);
    *exceeded = value > limit;
    if (!*exceeded)
        return TZ_OK;
    ctx.err = &err;
    *exceeded = tz_check_limit(&ctx, member_offset, at_metadata(parser), value, what) != TZ_OK;
    return *exceeded ? tz_warn_from_error(&parser->ctx, &err, what) : TZ_OK;
}

/* True when the limit was met and the parser stopped. */
static bool stopped_by_limit(tz_metadata_parser *parser, size_t member_offset, uint64_t value,
                             const char *what)
{
    bool exceeded;
    tz_result result = check_parser_limit(parser, member_offset, value, what, &exceeded);
    if (exceeded)
        stop_parsing(parser, result);
    return exceeded;
}

/* ---------------------------------------------------------------------------------------------
 * The block
 * ------------------------------------------------------------------------------------------ */

static size_t free_block_bytes(const tz_metadata_parser *parser)
{
    return parser->block_size - parser->count * sizeof(tz_metadata_entry) - parser->pool_size;
}

/* False only when the reckoning at the top of this file is wrong, or after an end. */
static bool has_free_bytes(tz_metadata_parser *parser, size_t size)
{
    if (parser->dropped)
        return false;
    if (size <= free_block_bytes(parser))
        return true;
    stop_parsing(parser,
                 tz_fail(&parser->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, at_metadata(parser),
                         "metadata needs more memory than its XML has bytes"));
    return false;
}

static void append_to_pool(tz_metadata_parser *parser, const char *text, size_t size)
{
    if (!has_free_bytes(parser, size))
        return;
    memcpy(parser->block + parser->pool_size, text, size);
    parser->pool_size += (uint32_t)size;
}

/* The place of a domain or role. Few are in use, so that a short list finds them; text that is not
 * in the list when it is full is stored anew. */
static uint32_t intern_text(tz_metadata_parser *parser, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size == 1)
        return 0;
    for (uint32_t i = 0; i < parser->interned_count; i++) {
        const interned *known = &parser->interned[i];
        if (known->size == size && memcmp(parser->block + known->offset, text, size) == 0)
            return known->offset;
    }
    uint32_t offset = parser->pool_size;
    append_to_pool(parser, text, size);
    if (parser->interned_count < MAX_INTERNED && !parser->dropped)
        parser->interned[parser->interned_count++] = (interned){offset, (uint32_t)size};
    return offset;
}

static void add_metadata_entry(tz_metadata_parser *parser)
{
    if (!has_free_bytes(parser, sizeof parser->item))
        return;
    parser->count++;
    tz_metadata_entry *end = (tz_metadata_entry *)(void *)(parser->block + parser->block_size);
    end[-(ptrdiff_t)parser->count] = parser->item;
}

/* ---------------------------------------------------------------------------------------------
 * Items
 * ------------------------------------------------------------------------------------------ */

static const char *find_attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* -1 without a sample. *usable is false when the image has no such band. */
static tz_result read_item_band(const tz_metadata_parser *parser, const char *sample, int32_t *band,
                                bool *usable)
{
    uint64_t value = 0;
    *band = -1;
    *usable = !sample || (tz_parse_uint64(sample, &value) && value < parser->bands);
    if (!*usable)
        return tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                       "an item is for sample '%.32s', and the image has %lu; it is left out",
                       sample, (unsigned long)parser->bands);
    if (sample)
        *band = (int32_t)value;
    return TZ_OK;
}

/* domain: its place in the pool. */
static void begin_item(tz_metadata_parser *parser, const char *name, uint32_t domain,
                       const char *role, int32_t band)
{
    parser->item.domain = domain;
    parser->item.role = intern_text(parser, role);
    parser->item.band = band;
    parser->item.name = parser->pool_size;
    parser->item_start = parser->pool_size;
    parser->item_depth = parser->depth;
    parser->item_raw = false;
    parser->item_is_document = false;
    append_to_pool(parser, name, strlen(name) + 1);
    parser->value = parser->pool_size;
}

static void start_tag_item(tz_metadata_parser *parser, const XML_Char **attributes)
{
    const char *name = find_attribute(attributes, "name");
    const char *domain = find_attribute(attributes, "domain");
    const char *role = find_attribute(attributes, "role");
    bool usable;
    int32_t band;
    if (!name)
        return;
    tz_result result = read_item_band(parser, find_attribute(attributes, "sample"), &band, &usable);
    if (result != TZ_OK)
        stop_parsing(parser, result);
    if (!usable)
        return;
    const uint32_t offset = intern_text(parser, domain ? domain : "");
    begin_item(parser, name, offset, role ? role : "", band);
}

static bool item_has_role(const tz_metadata_parser *parser, const char *role)
{
    return strcmp(parser->block + parser->item.role, role) == 0;
}

/* Scale and offset must be numbers; *usable is false when not. */
static tz_result check_item_value(const tz_metadata_parser *parser, bool *usable)
{
    const char *value = parser->block + parser->value;
    double number;
    *usable = true;
    if (!item_has_role(parser, "scale") && !item_has_role(parser, "offset"))
        return TZ_OK;
    if (tz_parse_double(value, &number, NULL) && isfinite(number))
        return TZ_OK;
    *usable = false;
    return tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                   "an item of role %s is '%.32s', which is no number; it is left out",
                   parser->block + parser->item.role, value);
}

/* Close the value with a NUL; false when it is empty. */
static bool close_item_value(tz_metadata_parser *parser)
{
    size_t size = parser->pool_size - parser->value;
    if (!parser->item_raw && !parser->aux) /* the tag's values are escaped twice */
        size = tz_xml_unescape(parser->block + parser->value, size);
    parser->pool_size = parser->value + (uint32_t)size;
    append_to_pool(parser, "", 1);
    return size > 0 && !parser->dropped;
}

/* An item without a value is none, as with GDAL. */
static void end_item(tz_metadata_parser *parser)
{
    bool usable = false;
    parser->item_depth = 0;
    if (parser->dropped)
        return;
    if (close_item_value(parser)) {
        tz_result result = check_item_value(parser, &usable);
        if (result != TZ_OK)
            stop_parsing(parser, result);
    }
    if (!usable)
        parser->pool_size = parser->item_start;
    else if (!stopped_by_limit(parser, offsetof(tz_limits, max_metadata_items),
                               (uint64_t)parser->count + 1, "items of metadata"))
        add_metadata_entry(parser);
}

/* ---------------------------------------------------------------------------------------------
 * NAME.aux.xml
 * ------------------------------------------------------------------------------------------ */

/* An element whose text is one item. The names are those that GDAL gives them in the tag. */
typedef struct aux_element {
    const char *element;
    const char *name;
    const char *role;
} aux_element;

static const aux_element aux_image_elements[] = {
    {"SRS", "", TZ_AUX_SRS},
    {"GeoTransform", "", TZ_AUX_TRANSFORM},
    {NULL, NULL, NULL},
};
static const aux_element aux_band_elements[] = {
    {"Description", "DESCRIPTION", "description"},
    {"UnitType", "UNITTYPE", "unittype"},
    {"Offset", "OFFSET", "offset"},
    {"Scale", "SCALE", "scale"},
    {"ColorInterp", "COLORINTERP", "colorinterp"},
    {"NoDataValue", "", TZ_AUX_NODATA},
    {NULL, NULL, NULL},
};

static void start_aux_element_item(tz_metadata_parser *parser, const aux_element *rows,
                                   const char *element, int32_t band)
{
    for (; rows->element; rows++)
        if (strcmp(rows->element, element) == 0)
            begin_item(parser, rows->name, 0, rows->role, band);
}

/* A whole item made of attributes. */
static void add_aux_item(tz_metadata_parser *parser, const char *role, const char *value)
{
    begin_item(parser, "", 0, role, -1);
    append_to_pool(parser, value, strlen(value));
    end_item(parser);
}

/* Its items follow, or one document: XML or JSON, named as GDAL names it in the tag. */
static void start_aux_metadata(tz_metadata_parser *parser, const XML_Char **attributes,
                               int32_t band)
{
    const char *domain = find_attribute(attributes, "domain");
    const char *format = find_attribute(attributes, "format");
    parser->aux_domain = intern_text(parser, domain ? domain : "");
    if (!format)
        return;
    begin_item(parser, "doc", parser->aux_domain, "", band);
    parser->item_is_document = strcmp(format, "xml") == 0;
}

static void start_aux_band(tz_metadata_parser *parser, const XML_Char **attributes)
{
    const char *number = find_attribute(attributes, "band");
    uint64_t value = 0;
    parser->section = AUX_BAND;
    parser->aux_band = -1;
    if (number && tz_parse_uint64(number, &value) && value > 0 && value <= parser->bands) {
        parser->aux_band = (int32_t)(value - 1);
        return;
    }
    const tz_result result = tz_warn(
        &parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
        "an element PAMRasterBand is for band '%.32s', and the image has %lu; it is left out",
        number ? number : "", (unsigned long)parser->bands);
    if (result != TZ_OK)
        stop_parsing(parser, result);
}

/* One item: column, row, x, y and z. */
static void add_aux_gcp(tz_metadata_parser *parser, const XML_Char **attributes)
{
    static const char *const names[] = {"Pixel", "Line", "X", "Y", "Z"};
    begin_item(parser, "", 0, TZ_AUX_GCP, -1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = find_attribute(attributes, names[i]);
        if (!text && i < 4) {
            const tz_result result =
                tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                        "a control point has no attribute %s; it is left out", names[i]);
            parser->item_depth = 0;
            parser->pool_size = parser->item_start;
            if (result != TZ_OK)
                stop_parsing(parser, result);
            return;
        }
        append_to_pool(parser, " ", 1);
        append_to_pool(parser, text ? text : "0", text ? strlen(text) : 1);
    }
    end_item(parser);
}

static void start_aux_image_element(tz_metadata_parser *parser, const char *name,
                                    const XML_Char **attributes)
{
    const char *epoch = find_attribute(attributes, "coordinateEpoch");
    const char *projection = find_attribute(attributes, "Projection");
    if (strcmp(name, "SRS") == 0 && epoch)
        add_aux_item(parser, TZ_AUX_EPOCH, epoch);
    if (strcmp(name, "PAMRasterBand") == 0) {
        start_aux_band(parser, attributes);
    } else if (strcmp(name, "Metadata") == 0) {
        parser->section = AUX_METADATA;
        start_aux_metadata(parser, attributes, -1);
    } else if (strcmp(name, "GCPList") == 0) {
        parser->section = AUX_GCPS;
        if (projection)
            add_aux_item(parser, TZ_AUX_GCP_SRS, projection);
    } else {
        start_aux_element_item(parser, aux_image_elements, name, -1);
    }
}

static void start_aux_element(tz_metadata_parser *parser, const char *name,
                              const XML_Char **attributes)
{
    const bool in_band = parser->section == AUX_BAND && parser->aux_band >= 0;
    const bool item = strcmp(name, "MDI") == 0 && find_attribute(attributes, "key");
    if (parser->depth == 2) {
        start_aux_image_element(parser, name, attributes);
    } else if (parser->depth == 3 && parser->section == AUX_METADATA && item) {
        begin_item(parser, find_attribute(attributes, "key"), parser->aux_domain, "", -1);
    } else if (parser->depth == 3 && parser->section == AUX_GCPS && strcmp(name, "GCP") == 0) {
        add_aux_gcp(parser, attributes);
    } else if (parser->depth == 3 && in_band && strcmp(name, "Metadata") == 0) {
        parser->band_metadata = true;
        start_aux_metadata(parser, attributes, parser->aux_band);
    } else if (parser->depth == 3 && in_band) {
        start_aux_element_item(parser, aux_band_elements, name, parser->aux_band);
    } else if (parser->depth == 4 && parser->band_metadata && item) {
        begin_item(parser, find_attribute(attributes, "key"), parser->aux_domain, "",
                   parser->aux_band);
    }
}

static void end_aux_element(tz_metadata_parser *parser)
{
    if (parser->depth == 3)
        parser->band_metadata = false;
    if (parser->depth == 2)
        parser->section = AUX_NONE;
}

/* ---------------------------------------------------------------------------------------------
 * What expat calls
 * ------------------------------------------------------------------------------------------ */

static void XMLCALL on_element_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    tz_metadata_parser *parser = user;
    const char *root = parser->aux ? "PAMDataset" : "GDALMetadata";
    parser->depth++;
    if (stopped_by_limit(parser, offsetof(tz_limits, max_xml_depth), parser->depth,
                         "levels of XML elements"))
        return;
    if (parser->item_depth != 0) {
        parser->item_raw = true;
        XML_DefaultCurrent(parser->xml); /* the markup itself: see on_markup */
    } else if (parser->depth == 1 && strcmp(name, root) != 0) {
        stop_parsing(parser,
                     tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                             "the XML is '%.32s' instead of %s", name, root));
    } else if (parser->aux) {
        start_aux_element(parser, name, attributes);
    } else if (parser->depth == 2 && strcmp(name, "Item") == 0) {
        start_tag_item(parser, attributes);
    }
}

static void XMLCALL on_element_end(void *user, const XML_Char *name)
{
    tz_metadata_parser *parser = user;
    (void)name;
    if (parser->item_depth != 0 && parser->depth > parser->item_depth)
        XML_DefaultCurrent(parser->xml);
    else if (parser->item_depth != 0)
        end_item(parser);
    if (parser->aux)
        end_aux_element(parser);
    parser->depth--;
}

static void XMLCALL on_text(void *user, const XML_Char *text, int size)
{
    tz_metadata_parser *parser = user;
    if (parser->item_depth == 0)
        return;
    if (parser->depth > parser->item_depth)
        XML_DefaultCurrent(parser->xml);
    else if (!parser->item_is_document)
        append_to_pool(parser, text, (size_t)size);
}

/* The bytes of the file, for elements within an item. Comments come here as well. */
static void XMLCALL on_markup(void *user, const XML_Char *text, int size)
{
    tz_metadata_parser *parser = user;
    if (parser->item_depth != 0 && parser->depth > parser->item_depth)
        append_to_pool(parser, text, (size_t)size);
}

static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    tz_metadata_parser *parser = user;
    (void)name, (void)system_id, (void)public_id, (void)has_internal_subset;
    stop_parsing(parser, tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                                 "the XML has a document type, which is not allowed"));
}

/* ---------------------------------------------------------------------------------------------
 * Begin, feed, finish
 * ------------------------------------------------------------------------------------------ */

/* The encoding is given, so that a declaration in the file cannot choose another one. */
static tz_result create_expat_parser(tz_metadata_parser *parser)
{
    tz_expat_memory_use(&parser->memory);
    parser->xml = XML_ParserCreate_MM("UTF-8", &tz_expat_memory_suite, NULL);
    tz_expat_memory_use(NULL);
    if (!parser->xml)
        return tz_fail_nomem(&parser->ctx, TZ_MAX_EXPAT_BYTES);
    XML_SetUserData(parser->xml, parser);
    XML_SetElementHandler(parser->xml, on_element_start, on_element_end);
    XML_SetCharacterDataHandler(parser->xml, on_text);
    XML_SetDefaultHandler(parser->xml, on_markup);
    XML_SetStartDoctypeDeclHandler(parser->xml, on_doctype);
    return TZ_OK;
}

static tz_result alloc_block(tz_metadata_parser *parser)
{
    const size_t align = alignof(tz_metadata_entry);
    uint64_t size;
    /* One byte for pool[0], and the end on a place where an entry may end. */
    if (!tz_mul(parser->size, parser->aux ? 2 : 1, &size) || !tz_add(size, align, &size) ||
        size > UINT32_MAX)
        return tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                       "metadata of 4 GiB and more is ignored");
    parser->block_size = (size_t)size / align * align;
    parser->block = tz_alloc(parser->block_size);
    if (!parser->block)
        return tz_fail_nomem(&parser->ctx, parser->block_size);
    append_to_pool(parser, "", 1);
    return TZ_OK;
}

static tz_result prepare_parser(tz_metadata_parser *parser)
{
    bool exceeded;
    TZ_TRY(check_parser_limit(parser, offsetof(tz_limits, max_xml_bytes), parser->size,
                              parser->aux ? "bytes of XML" : "bytes of GDAL metadata", &exceeded));
    if (exceeded)
        return TZ_OK;
    return alloc_block(parser);
}

static tz_result begin_parser(tz_metadata_parser **out, bool aux, uint64_t size, uint32_t bands,
                              const tz_context *ctx)
{
    tz_metadata_parser *parser = tz_alloc_zeroed(1, sizeof *parser);
    if (!parser)
        return tz_fail_nomem(ctx, sizeof *parser);
    parser->ctx = *ctx;
    parser->aux = aux;
    parser->size = size;
    parser->bands = bands;
    tz_result result = prepare_parser(parser);
    if (result != TZ_OK) {
        (void)tz_metadata_finish(parser, false, &(tz_metadata){0});
        return result;
    }
    *out = parser;
    return TZ_OK;
}

tz_result tz_metadata_begin(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                            const tz_context *ctx)
{
    return begin_parser(out, false, size, bands, ctx);
}

tz_result tz_metadata_begin_aux(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                                const tz_context *ctx)
{
    return begin_parser(out, true, size, bands, ctx);
}

/* What expat stopped at, as a warning; a handler that stopped it has said why already. */
static tz_result report_expat_error(tz_metadata_parser *parser)
{
    const tz_context *ctx = &parser->ctx;
    enum XML_Error error = XML_GetErrorCode(parser->xml);
    if (error == XML_ERROR_ABORTED)
        return parser->result;
    if (parser->memory.starved)
        return drop_metadata(parser, tz_fail_nomem(ctx, TZ_MAX_EXPAT_BYTES));
    if (parser->memory.capped)
        return drop_metadata(parser, tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                                             "a tag of the XML is too large to be read in %d bytes",
                                             TZ_MAX_EXPAT_BYTES));
    return drop_metadata(parser, tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_metadata(parser),
                                         "the XML is malformed in line %llu: %s",
                                         (unsigned long long)XML_GetCurrentLineNumber(parser->xml),
                                         XML_ErrorString(error)));
}

static tz_result parse_with_expat(tz_metadata_parser *parser, const char *bytes, size_t size,
                                  bool last)
{
    tz_expat_memory_use(&parser->memory);
    enum XML_Status status = XML_Parse(parser->xml, bytes, (int)size, last);
    tz_expat_memory_use(NULL);
    return status == XML_STATUS_ERROR ? report_expat_error(parser) : TZ_OK;
}

/* expat would take UTF-16 for what it is. Neither mark of it can begin UTF-8. */
static tz_result check_first_byte(tz_metadata_parser *parser, unsigned char byte)
{
    if (byte < 0xFE)
        return TZ_OK;
    return drop_metadata(parser, tz_warn(&parser->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META,
                                         at_metadata(parser), "the XML is not in UTF-8"));
}

/* In slices: of more, expat would copy more when something is left over. */
static tz_result feed_slices(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    while (size > 0 && !parser->ended) {
        size_t slice = size < SLICE_SIZE ? size : SLICE_SIZE;
        const char *nul = memchr(bytes, '\0', slice);
        if (nul)
            slice = (size_t)(nul - bytes);
        TZ_TRY(parse_with_expat(parser, bytes, slice, false));
        parser->ended = parser->ended || nul != NULL;
        bytes += slice;
        size -= slice;
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Plain text
 * ------------------------------------------------------------------------------------------ */

/* The attributes as expat hands them over. */
static void add_plain_item(tz_metadata_parser *parser, const tz_plain_xml_item *item)
{
    static const char *const names[TZ_PLAIN_XML_ATTRIBUTES] = {"name", "domain", "sample", "role"};
    char texts[TZ_PLAIN_XML_ATTRIBUTES][MAX_PLAIN_ATTRIBUTE];
    const char *attributes[2 * TZ_PLAIN_XML_ATTRIBUTES + 1];
    int count = 0;
    for (int i = 0; i < TZ_PLAIN_XML_ATTRIBUTES; i++) {
        if (!item->attributes[i].start)
            continue;
        memcpy(texts[i], item->attributes[i].start, item->attributes[i].size);
        texts[i][item->attributes[i].size] = '\0';
        attributes[count++] = names[i];
        attributes[count++] = texts[i];
    }
    attributes[count] = NULL;
    parser->depth = 2;
    start_tag_item(parser, attributes);
    if (parser->item_depth == 0)
        return;
    append_to_pool(parser, item->value.start, item->value.size);
    end_item(parser);
}

static bool has_short_attributes(const tz_plain_xml_item *item)
{
    for (int i = 0; i < TZ_PLAIN_XML_ATTRIBUTES; i++)
        if (item->attributes[i].size >= MAX_PLAIN_ATTRIBUTE)
            return false;
    return true;
}

/* False, with all as before, when the text is not plain. What is worth a warning is not plain: in
 * strict mode, and without an error to fill, it stops the reading without a trace. */
static bool feed_plain_xml(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    const tz_metadata_parser before = *parser;
    tz_plain_xml_reader reader;
    tz_plain_xml_item item;
    if (parser->aux || size != parser->size || parser->ctx.limits->max_xml_depth < 2 ||
        !tz_plain_xml_begin(&reader, bytes, size))
        return false;
    parser->ctx.strict = true;
    parser->ctx.err = NULL;
    tz_plain_xml_step step = tz_plain_xml_next(&reader, &item);
    while (step == TZ_PLAIN_XML_ITEM && has_short_attributes(&item) && !parser->dropped) {
        add_plain_item(parser, &item);
        step = tz_plain_xml_next(&reader, &item);
    }
    if (step != TZ_PLAIN_XML_END || parser->dropped) {
        *parser = before;
        return false;
    }
    parser->ctx = before.ctx;
    parser->ended = true;
    return true;
}

static tz_result create_expat_or_drop(tz_metadata_parser *parser)
{
    tz_result result = create_expat_parser(parser);
    return result == TZ_OK ? TZ_OK : drop_metadata(parser, result);
}

static tz_result feed_first_bytes(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    TZ_TRY(check_first_byte(parser, (unsigned char)bytes[0]));
    if (parser->ended || feed_plain_xml(parser, bytes, size))
        return TZ_OK;
    return create_expat_or_drop(parser);
}

tz_result tz_metadata_feed(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    if (parser->result != TZ_OK)
        return parser->result;
    if (tz_metadata_is_done(parser) || size == 0)
        return TZ_OK;
    if (size > parser->size - parser->fed)
        return drop_metadata(parser,
                             tz_fail(&parser->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, at_metadata(parser),
                                     "more metadata is fed than was announced"));
    if (parser->fed == 0)
        TZ_TRY(feed_first_bytes(parser, bytes, size));
    parser->fed += size;
    return feed_slices(parser, bytes, size);
}

bool tz_metadata_is_done(const tz_metadata_parser *parser)
{
    return !parser->block || parser->ended;
}

/* By band, then in the order of the file: names were stored one after another. */
static int compare_entry_bands(const void *a, const void *b)
{
    const tz_metadata_entry *x = a;
    const tz_metadata_entry *y = b;
    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Bring the entries, which stand at the end of the block, behind the strings, in order, and give
 * back what is not needed. */
static void compact_block(tz_metadata_parser *parser, tz_metadata *out)
{
    const size_t align = alignof(tz_metadata_entry);
    size_t strings = (parser->pool_size + align - 1) / align * align;
    size_t entries = parser->count * sizeof(tz_metadata_entry);
    tz_metadata_entry *list = (tz_metadata_entry *)(void *)(parser->block + strings);
    memmove(list, parser->block + parser->block_size - entries, entries);
    qsort(list, parser->count, sizeof *list, compare_entry_bands);
    char *block = tz_realloc_array(parser->block, strings + entries, 1);
    if (block) /* else the larger one serves as well */
        parser->block_size = strings + entries;
    else
        block = parser->block;
    parser->block = NULL;
    *out = (tz_metadata){.pool = block,
                         .entries = (const tz_metadata_entry *)(void *)(block + strings),
                         .count = parser->count,
                         .pool_size = parser->pool_size,
                         .held = parser->block_size};
}

tz_result tz_metadata_finish(tz_metadata_parser *parser, bool complete, tz_metadata *out)
{
    *out = (tz_metadata){0};
    if (!complete)
        parser->dropped = true;
    if (parser->fed == 0 && parser->block && !parser->dropped)
        (void)create_expat_or_drop(
            parser); /* no bytes at all: expat says what is wrong with that */
    if (parser->xml && !parser->dropped)
        (void)parse_with_expat(parser, "", 0, true);
    free_expat_parser(parser);
    if (parser->count > 0 && !parser->dropped)
        compact_block(parser, out);
    tz_result result = parser->result;
    tz_free(parser->block);
    tz_free(parser);
    return result;
}

#else

/* A source of nothing is not allowed. */
typedef int tz_metadata_xml_unused;

#endif
