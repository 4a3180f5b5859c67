/* SPDX-License-Identifier: Apache-2.0
 * GDAL's XML, read with expat: tag GDAL_METADATA, and the files NAME.aux.xml beside images.
 *
 * Text comes in pieces through tz_metadata_feed. The first piece decides: if it is the complete tag
 * in its plain form, metadata_plain.c reads it, and expat is never created. Otherwise expat gets
 * the text in slices and calls the handlers below, which turn elements into items of
 * metadata_items.c. An element inside an item is kept as markup: its handler asks expat to pass the
 * bytes of the file to the default handler.
 *
 * expat's memory is capped, so that a token without end cannot make it grow. The functions that
 * allocate for expat get no argument that names their parser; a thread-local pointer says it, and
 * is set only while the thread is in expat. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "tiff/gdal/metadata_parser.h"
#include "tiff/tags.h"

#ifdef TZ_HAVE_EXPAT

#include <expat.h>

enum {
    SLICE_SIZE = 4096, /* bytes that expat gets at a time: it may buffer a slice and a remainder */
    /* Three times as much as GDAL's own files need. A tag of the XML may have some 8 KiB. */
    MAX_EXPAT_BYTES = 36 * 1024
};

/* ---- memory of expat ---- */

static _Thread_local tz_expat_memory *current;

/* A block carries its size in front, since expat does not pass it when it frees a block. */
typedef union block_header {
    size_t size;
    max_align_t align;
} block_header;

/* Refuses more than the budget, and notes the reason: expat reports both as "out of memory". */
static void *resize_expat_block(block_header *head, size_t old, size_t size)
{
    if (size > MAX_EXPAT_BYTES || current->held - old + size > MAX_EXPAT_BYTES) {
        current->capped = true;
        return NULL;
    }
    block_header *block = tz_realloc_array(head, 1, sizeof *head + size);
    if (!block) {
        current->starved = true;
        return NULL;
    }
    block->size = size;
    current->held = current->held - old + size;
    return block + 1;
}

static void *expat_alloc(size_t size)
{
    return resize_expat_block(NULL, 0, size);
}

static void *expat_realloc(void *memory, size_t size)
{
    block_header *head = memory ? (block_header *)memory - 1 : NULL;
    return resize_expat_block(head, head ? head->size : 0, size);
}

static void expat_free(void *memory)
{
    if (!memory)
        return;
    block_header *head = (block_header *)memory - 1;
    current->held -= head->size;
    tz_free(head);
}

/* ---- handlers ---- */

/* Called at the end of each handler that may have dropped the metadata. */
static void stop_if_dropped(const tz_metadata_parser *parser)
{
    if (parser->dropped)
        XML_StopParser(parser->xml, XML_FALSE);
}

/* The depth is checked before anything else, so that it bounds the work for hostile XML. */
static void XMLCALL on_element_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    tz_metadata_parser *parser = user;
    const char *root = parser->aux ? "PAMDataset" : "GDALMetadata";
    parser->depth++;
    if (tz_metadata_exceeds(parser, offsetof(tz_limits, max_xml_depth), parser->depth,
                            "levels of XML elements")) {
        /* stopped below */
    } else if (parser->item_depth != 0) {
        parser->item_raw = true;
        XML_DefaultCurrent(parser->xml); /* the markup itself: see on_markup */
    } else if (parser->depth == 1 && strcmp(name, root) != 0) {
        tz_metadata_drop(parser,
                         TZ_METADATA_WARN(parser, "the XML is '%.32s' instead of %s", name, root));
    } else if (parser->aux) {
        tz_aux_start_element(parser, name, attributes);
    } else if (parser->depth == 2 && strcmp(name, "Item") == 0) {
        tz_metadata_begin_tag_item(parser, attributes);
    }
    stop_if_dropped(parser);
}

static void XMLCALL on_element_end(void *user, const XML_Char *name)
{
    tz_metadata_parser *parser = user;
    (void)name;
    if (parser->item_depth != 0 && parser->depth > parser->item_depth)
        XML_DefaultCurrent(parser->xml);
    else if (parser->item_depth != 0)
        tz_metadata_end_item(parser);
    if (parser->aux)
        tz_aux_end_element(parser);
    parser->depth--;
    stop_if_dropped(parser);
}

static void XMLCALL on_text(void *user, const XML_Char *text, int size)
{
    tz_metadata_parser *parser = user;
    if (parser->item_depth == 0)
        return;
    if (parser->depth > parser->item_depth)
        XML_DefaultCurrent(parser->xml);
    else if (!parser->item_is_document)
        tz_metadata_append(parser, text, (size_t)size);
    stop_if_dropped(parser);
}

/* Gets the bytes of the file, for elements within an item. Comments come here as well. */
static void XMLCALL on_markup(void *user, const XML_Char *text, int size)
{
    tz_metadata_parser *parser = user;
    if (parser->item_depth != 0 && parser->depth > parser->item_depth)
        tz_metadata_append(parser, text, (size_t)size);
    stop_if_dropped(parser);
}

/* Entities can only be declared in a document type. Without one, none can expand. */
static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    tz_metadata_parser *parser = user;
    (void)name, (void)system_id, (void)public_id, (void)has_internal_subset;
    tz_metadata_drop(parser, TZ_WARN_META(&parser->ctx, tz_metadata_at(parser),
                                          "the XML has a document type, which is not allowed"));
    stop_if_dropped(parser);
}

/* ---- expat ---- */

/* The encoding is given, so that a declaration in the file cannot choose another one. */
static tz_result create_expat_parser(tz_metadata_parser *parser)
{
    static const XML_Memory_Handling_Suite suite = {expat_alloc, expat_realloc, expat_free};
    current = &parser->memory;
    parser->xml = XML_ParserCreate_MM("UTF-8", &suite, NULL);
    current = NULL;
    if (!parser->xml)
        return tz_metadata_drop(parser, tz_fail_nomem(&parser->ctx, MAX_EXPAT_BYTES));
    XML_SetUserData(parser->xml, parser);
    XML_SetElementHandler(parser->xml, on_element_start, on_element_end);
    XML_SetCharacterDataHandler(parser->xml, on_text);
    XML_SetDefaultHandler(parser->xml, on_markup);
    XML_SetStartDoctypeDeclHandler(parser->xml, on_doctype);
    return TZ_OK;
}

/* An error of expat's becomes a warning. A handler that stopped expat has given its own. */
static tz_result parse_with_expat(tz_metadata_parser *parser, const char *bytes, size_t size,
                                  bool last)
{
    const tz_context *ctx = &parser->ctx;
    current = &parser->memory;
    const enum XML_Status status = XML_Parse(parser->xml, bytes, (int)size, last);
    current = NULL;
    if (status != XML_STATUS_ERROR)
        return TZ_OK;
    const enum XML_Error error = XML_GetErrorCode(parser->xml);
    if (error == XML_ERROR_ABORTED)
        return parser->result;
    if (parser->memory.starved)
        return tz_metadata_drop(parser, tz_fail_nomem(ctx, MAX_EXPAT_BYTES));
    if (parser->memory.capped)
        return tz_metadata_drop(parser,
                                TZ_WARN_META(ctx, tz_metadata_at(parser),
                                             "a tag of the XML is too large to be read in %d bytes",
                                             MAX_EXPAT_BYTES));
    return tz_metadata_drop(
        parser, TZ_WARN_META(ctx, tz_metadata_at(parser), "the XML is malformed in line %llu: %s",
                             (unsigned long long)XML_GetCurrentLineNumber(parser->xml),
                             XML_ErrorString(error)));
}

/* ---- begin, feed, finish ---- */

/* Allocates the block for all strings and entries: see metadata_parser.h for its size. One byte
 * more is for pool[0], and the end is aligned, so that entries can end there. */
static tz_result begin_parser(tz_metadata_parser **out, bool aux, uint64_t size, uint32_t bands,
                              const tz_context *ctx)
{
    const size_t align = alignof(tz_metadata_entry);
    uint64_t bytes;
    tz_metadata_parser *parser = tz_alloc_zeroed(1, sizeof *parser);
    if (!parser)
        return tz_fail_nomem(ctx, sizeof *parser);
    parser->ctx = *ctx;
    parser->aux = aux;
    parser->size = size;
    parser->bands = bands;
    tz_result result = TZ_OK;
    if (tz_metadata_exceeds(parser, offsetof(tz_limits, max_xml_bytes), size,
                            aux ? "bytes of XML" : "bytes of GDAL metadata")) {
        result = parser->result;
    } else if (!tz_mul(size, aux ? 2 : 1, &bytes) || !tz_add(bytes, align, &bytes) ||
               bytes > UINT32_MAX) {
        result = TZ_METADATA_WARN(parser, "metadata of 4 GiB and more is ignored");
    } else {
        parser->block_size = (size_t)bytes / align * align;
        parser->block = tz_alloc(parser->block_size);
        if (parser->block)
            tz_metadata_append(parser, "", 1);
        else
            result = tz_fail_nomem(ctx, parser->block_size);
    }
    if (result == TZ_OK)
        *out = parser;
    else
        (void)tz_metadata_finish(parser, false, &(tz_metadata){0});
    return result;
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

/* The first piece decides how the text is read. A NUL ends the text, as GDAL's own reading does. */
tz_result tz_metadata_feed(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    if (parser->result != TZ_OK)
        return parser->result;
    if (tz_metadata_is_done(parser) || size == 0)
        return TZ_OK;
    if (size > parser->size - parser->fed)
        return tz_metadata_drop(parser, tz_fail(&parser->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                                tz_metadata_at(parser),
                                                "more metadata is fed than was announced"));
    if (parser->fed == 0) {
        /* expat would recognise UTF-16. Neither of its marks can begin UTF-8. */
        if ((unsigned char)bytes[0] >= 0xFE)
            TZ_TRY(tz_metadata_drop(parser, TZ_WARN_META(&parser->ctx, tz_metadata_at(parser),
                                                         "the XML is not in UTF-8")));
        else if (!tz_metadata_feed_plain(parser, bytes, size))
            TZ_TRY(create_expat_parser(parser));
    }
    parser->fed += size;
    /* In slices: given more, expat would copy more if a token is incomplete at the end. */
    while (size > 0 && !parser->ended) {
        size_t slice = tz_min_size(size, SLICE_SIZE);
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

bool tz_metadata_is_done(const tz_metadata_parser *parser)
{
    return !parser->block || parser->ended; /* without a block it was refused with a warning */
}

/* Moves the entries from the end of the block to just after the strings, in order, and gives back
 * the unused rest. */
static void compact_block(tz_metadata_parser *parser, tz_metadata *out)
{
    const size_t align = alignof(tz_metadata_entry);
    const size_t strings = (parser->pool_size + align - 1) / align * align;
    const size_t entries = parser->count * sizeof(tz_metadata_entry);
    tz_metadata_entry *list = (tz_metadata_entry *)(void *)(parser->block + strings);
    memmove(list, parser->block + parser->block_size - entries, entries);
    qsort(list, parser->count, sizeof *list, tz_metadata_compare_entries);
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
    /* Without any bytes expat is created too: it says what is wrong with an empty text. */
    if (parser->fed == 0 && parser->block && !parser->dropped)
        (void)create_expat_parser(parser);
    if (parser->xml && !parser->dropped)
        (void)parse_with_expat(parser, "", 0, true);
    if (parser->xml) {
        current = &parser->memory;
        XML_ParserFree(parser->xml);
        current = NULL;
    }
    if (parser->count > 0 && !parser->dropped)
        compact_block(parser, out);
    const tz_result result = parser->result;
    tz_free(parser->block);
    tz_free(parser);
    return result;
}

#else /* without expat: nothing is read, and a warning says so */

tz_result tz_metadata_begin(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                            const tz_context *ctx)
{
    (void)size, (void)bands;
    TZ_TRY(tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META,
                   tz_at_tag(TZ_TAG_GDAL_METADATA, TZ_NO_VALUE),
                   "GDAL metadata is not read: this build of terrazzo is without expat; build it "
                   "with TERRAZZO_WITH_EXPAT=ON"));
    *out = tz_alloc_zeroed(1, sizeof **out);
    return *out ? TZ_OK : tz_fail_nomem(ctx, sizeof **out);
}

tz_result tz_metadata_begin_aux(tz_metadata_parser **out, uint64_t size, uint32_t bands,
                                const tz_context *ctx)
{
    (void)size, (void)bands;
    TZ_TRY(tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META, tz_no_location(),
                   "the file is not read: this build of terrazzo is without expat; build it with "
                   "TERRAZZO_WITH_EXPAT=ON"));
    *out = tz_alloc_zeroed(1, sizeof **out);
    return *out ? TZ_OK : tz_fail_nomem(ctx, sizeof **out);
}

tz_result tz_metadata_feed(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    (void)parser, (void)bytes, (void)size;
    return TZ_OK;
}

bool tz_metadata_is_done(const tz_metadata_parser *parser)
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
