/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_METADATA in the plain form in which GDAL writes nearly all of it: Item elements right
 * below GDALMetadata, with the attributes name, domain, sample and role, and ASCII text without
 * entities. Creating an XML parser would cost more than all else that opening a small file needs.
 *
 * Everything that XML treats in a special way makes the text not plain: entities, comments,
 * carriage returns, bytes that are not ASCII, single quotes around attributes. So does everything
 * that deserves a warning. Then the parser's state is put back, and expat reads the text from its
 * start and gives the warnings. */
#include <string.h>

#include "tiff/gdal/metadata_parser.h"

enum { NAME, DOMAIN, SAMPLE, ROLE, ATTRIBUTE_COUNT, MAX_ATTRIBUTE = 256 };
static const char *const attribute_names[ATTRIBUTE_COUNT] = {"name", "domain", "sample", "role"};

/* The text that is left. */
typedef struct plain_reader {
    const char *at;
    const char *end;
} plain_reader;

/* A range of the text; start is NULL if an attribute is not given. */
typedef struct plain_text {
    const char *start;
    size_t size;
} plain_text;

typedef struct plain_item {
    plain_text attributes[ATTRIBUTE_COUNT];
    plain_text value;
} plain_item;

static void skip_xml_spaces(plain_reader *reader)
{
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t'))
        reader->at++;
}

/* Skips text if it comes next. */
static bool skip_text(plain_reader *reader, const char *text)
{
    const size_t size = strlen(text);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, text, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* Reads up to the byte stop; false if there is anything before it that is not plain. Values may
 * have several lines, attributes may not. */
static bool read_text_until(plain_reader *reader, char stop, bool lines, plain_text *out)
{
    const char *at = reader->at;
    while (at < reader->end && *at != stop) {
        const bool plain = *at >= ' ' && *at <= '~' && *at != '<' && *at != '>' && *at != '&';
        if (!plain && !(lines && (*at == '\n' || *at == '\t')))
            return false;
        at++;
    }
    if (at == reader->end)
        return false;
    *out = (plain_text){reader->at, (size_t)(at - reader->at)};
    reader->at = at;
    return true;
}

/* Reads an item after "<Item": attributes, each known, short and given once, and then the value. */
static bool read_plain_item(plain_reader *reader, plain_item *item)
{
    *item = (plain_item){0};
    while (skip_text(reader, " ")) {
        int i = 0;
        while (i < ATTRIBUTE_COUNT && !skip_text(reader, attribute_names[i]))
            i++;
        if (i == ATTRIBUTE_COUNT || item->attributes[i].start || !skip_text(reader, "=\"") ||
            !read_text_until(reader, '"', false, &item->attributes[i]) ||
            !skip_text(reader, "\"") || item->attributes[i].size >= MAX_ATTRIBUTE)
            return false;
    }
    return skip_text(reader, ">") && read_text_until(reader, '<', true, &item->value) &&
           skip_text(reader, "</Item>");
}

/* Stores an item through the function that expat's handler uses, with attributes as expat passes
 * them. */
static void add_plain_item(tz_metadata_parser *parser, const plain_item *item)
{
    char texts[ATTRIBUTE_COUNT][MAX_ATTRIBUTE];
    const char *attributes[2 * ATTRIBUTE_COUNT + 1];
    int count = 0;
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        const plain_text *text = &item->attributes[i];
        if (!text->start)
            continue;
        memcpy(texts[i], text->start, text->size);
        texts[i][text->size] = '\0';
        attributes[count++] = attribute_names[i];
        attributes[count++] = texts[i];
    }
    attributes[count] = NULL;
    parser->depth = 2;
    tz_metadata_begin_tag_item(parser, attributes);
    if (parser->item_depth == 0)
        return;
    tz_metadata_append(parser, item->value.start, item->value.size);
    tz_metadata_end_item(parser);
}

/* While the items are read, strict mode turns every warning into an error that drops the metadata,
 * and no error is filled. So `dropped` says that expat has to read the text and to warn. */
bool tz_metadata_feed_plain(tz_metadata_parser *parser, const char *bytes, size_t size)
{
    const tz_metadata_parser before = *parser;
    const char *nul = memchr(bytes, '\0', size); /* the text ends at its first NUL */
    plain_reader reader = {bytes, nul ? nul : bytes + size};
    plain_item item;
    if (parser->aux || size != parser->size || parser->ctx.limits->max_xml_depth < 2 ||
        !skip_text(&reader, "<GDALMetadata>"))
        return false;
    parser->ctx.strict = true;
    parser->ctx.err = NULL;
    skip_xml_spaces(&reader);
    while (!parser->dropped && skip_text(&reader, "<Item")) {
        if (read_plain_item(&reader, &item))
            add_plain_item(parser, &item);
        else
            parser->dropped = true;
        skip_xml_spaces(&reader);
    }
    bool complete = !parser->dropped && skip_text(&reader, "</GDALMetadata>");
    skip_xml_spaces(&reader);
    complete = complete && reader.at == reader.end;
    if (!complete) {
        *parser = before;
        return false;
    }
    parser->ctx = before.ctx;
    parser->ended = true;
    return true;
}
