/* SPDX-License-Identifier: Apache-2.0
 * Directories to bytes. Three walks over the same list: the first adds up the sizes of the
 * directories with their values, the second writes them, and the third writes the tile tables.
 * Nothing is kept between them, so that a table may have any length: offsets are computed again
 * from the sizes. All bytes pass through one buffer, in which they are turned to the file's byte
 * order. */
#include "tiff/image/ifd_emit.h"

#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"

/* Directories, values and tables begin at multiples of this, counted from the first directory, in
 * both formats: BigTIFF asks for it, and classic files are even then. */
enum { IFD_ALIGNMENT = 8, TABLES_PER_IFD = 2 };

/* Sizes that differ between the formats. */
typedef struct format_sizes {
    unsigned count; /* of the number of entries */
    unsigned entry;
    unsigned offset; /* of an offset, and of a value in its place */
} format_sizes;

static format_sizes sizes_of_format(const tz_emit_options *options)
{
    return options->bigtiff ? (format_sizes){8, 20, 8} : (format_sizes){2, 12, 4};
}

/* One of the two tile tables of a directory. */
typedef struct tile_table {
    bool offsets; /* or sizes */
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint64_t bytes;
} tile_table;

/* ---- sizes ---- */

/* A sum that stays TZ_NO_VALUE once it does not fit. Sizes are checked as a whole at the end. */
static uint64_t add_or_none(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return a != TZ_NO_VALUE && b != TZ_NO_VALUE && tz_add(a, b, &sum) ? sum : TZ_NO_VALUE;
}

static uint64_t multiply_or_none(uint64_t a, uint64_t b)
{
    uint64_t product;
    return tz_mul(a, b, &product) ? product : TZ_NO_VALUE;
}

static uint64_t align_size(uint64_t size)
{
    const uint64_t up = add_or_none(size, IFD_ALIGNMENT - 1);
    return up == TZ_NO_VALUE ? TZ_NO_VALUE : up / IFD_ALIGNMENT * IFD_ALIGNMENT;
}

/* Returns the bytes of a value outside of its entry, with the padding after it; 0: it fits the
 * entry.
 */
static uint64_t external_bytes(uint64_t bytes, const format_sizes *sizes)
{
    return bytes <= sizes->offset ? 0 : align_size(bytes);
}

static uint64_t value_bytes(const tz_tag_value *tag)
{
    return multiply_or_none(tag->count, tz_type_size(tag->type));
}

/* Returns the bytes of a directory without values: number of entries, entries, next offset. */
static uint64_t entries_bytes(const tz_emit_ifd *directory, const format_sizes *sizes)
{
    const uint64_t entries = (uint64_t)directory->tag_count + TABLES_PER_IFD;
    return sizes->count + entries * sizes->entry + sizes->offset;
}

/* Returns the bytes of a directory with the values of its tags. */
static uint64_t directory_bytes(const tz_emit_ifd *directory, const format_sizes *sizes)
{
    uint64_t bytes = align_size(entries_bytes(directory, sizes));
    for (uint32_t i = 0; i < directory->tag_count; i++)
        bytes = add_or_none(bytes, external_bytes(value_bytes(&directory->tags[i]), sizes));
    return bytes;
}

/* Describes the two tables of a directory, in the order of their tags. Sizes are SHORTs if all of
 * them fit. Before they are known (tz_emit_size) they count as LONGs, so that enough bytes are kept
 * for any of them. */
static void describe_tables(const tz_emit_ifd *directory, const tz_emit_options *options,
                            tile_table tables[TABLES_PER_IFD])
{
    uint32_t all = directory->tile_sizes ? 0 : UINT32_MAX;
    for (uint64_t i = 0; directory->tile_sizes && i < directory->tile_count; i++)
        all |= directory->tile_sizes[i];
    tables[0] = (tile_table){
        .offsets = true,
        .tag = directory->strips ? TZ_TAG_STRIP_OFFSETS : TZ_TAG_TILE_OFFSETS,
        .type = options->bigtiff ? TZ_TYPE_LONG8 : TZ_TYPE_LONG,
    };
    tables[1] = (tile_table){
        .tag = directory->strips ? TZ_TAG_STRIP_BYTE_COUNTS : TZ_TAG_TILE_BYTE_COUNTS,
        .type = all <= UINT16_MAX ? TZ_TYPE_SHORT : TZ_TYPE_LONG,
    };
    for (unsigned i = 0; i < TABLES_PER_IFD; i++) {
        tables[i].count = directory->tile_count;
        tables[i].bytes = multiply_or_none(tables[i].count, tz_type_size(tables[i].type));
    }
}

static uint64_t all_directories_bytes(const tz_emit_ifd *directories, size_t count,
                                      const format_sizes *sizes)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes = add_or_none(bytes, directory_bytes(&directories[i], sizes));
    return bytes;
}

uint64_t tz_emit_size(const tz_emit_ifd *directories, size_t count, const tz_emit_options *options)
{
    const format_sizes sizes = sizes_of_format(options);
    uint64_t bytes = all_directories_bytes(directories, count, &sizes);
    for (size_t i = 0; i < count; i++) {
        tile_table tables[TABLES_PER_IFD];
        describe_tables(&directories[i], options, tables);
        for (unsigned k = 0; k < TABLES_PER_IFD; k++)
            bytes = add_or_none(bytes, external_bytes(tables[k].bytes, &sizes));
    }
    return bytes;
}

/* ---- bytes ---- */

/* The destination. The first failure stays in result and turns later calls into no-ops. */
typedef struct emit_output {
    const tz_emit_options *options;
    format_sizes sizes;
    uint8_t *buffer;
    size_t capacity;
    size_t used;
    uint64_t flushed; /* offset in the file of buffer[0] */
    tz_emit_write_fn write;
    void *user;
    tz_result result;
} emit_output;

static void flush_output(emit_output *o)
{
    if (o->result == TZ_OK && o->used > 0)
        o->result = o->write(o->user, o->flushed, o->buffer, o->used);
    o->flushed += o->used;
    o->used = 0;
}

/* Puts count words of width bytes, in the file's byte order. */
static void put_output_words(emit_output *o, const void *words, uint64_t count, unsigned width)
{
    const uint8_t *from = words;
    while (count > 0 && o->result == TZ_OK) {
        const size_t fit = (o->capacity - o->used) / width;
        const size_t now = (size_t)tz_min(count, fit);
        if (now == 0) {
            flush_output(o);
            continue;
        }
        memcpy(o->buffer + o->used, from, now * width);
        tz_to_host_order(o->buffer + o->used, now, width, o->options->big_endian);
        o->used += now * width;
        from += now * width;
        count -= now;
    }
}

/* Puts one number of 2, 4 or 8 bytes. */
static void put_number(emit_output *o, uint64_t value, unsigned width)
{
    const uint16_t half = (uint16_t)value;
    const uint32_t word = (uint32_t)value;
    if (width == sizeof half)
        put_output_words(o, &half, 1, width);
    else if (width == sizeof word)
        put_output_words(o, &word, 1, width);
    else
        put_output_words(o, &value, 1, width);
}

static void put_zeros(emit_output *o, uint64_t count)
{
    static const uint8_t zeros[16] = {0};
    put_output_words(o, zeros, count, 1); /* to align, or to fill an entry */
}

static void put_alignment(emit_output *o)
{
    const uint64_t at = o->flushed + o->used - o->options->start;
    put_zeros(o, align_size(at) - at);
}

/* A RATIONAL is two words of 4 bytes: words, not values, are turned to the file's byte order. */
static void put_tag_values(emit_output *o, const tz_tag_value *tag)
{
    const unsigned word = tz_type_word_size(tag->type);
    put_output_words(o, tag->data, tag->count * (tz_type_size(tag->type) / word), word);
}

/* Offsets of a classic file, and small sizes, are narrower in the file than in memory. */
static void put_tile_table(emit_output *o, const tz_emit_ifd *directory, const tile_table *table)
{
    const unsigned width = tz_type_size(table->type);
    if (table->offsets && width == sizeof *directory->tile_offsets)
        put_output_words(o, directory->tile_offsets, table->count, width);
    else if (!table->offsets && width == sizeof *directory->tile_sizes)
        put_output_words(o, directory->tile_sizes, table->count, width);
    else
        for (uint64_t i = 0; i < table->count && o->result == TZ_OK; i++)
            put_number(o, table->offsets ? directory->tile_offsets[i] : directory->tile_sizes[i],
                       width);
}

/* ---- directories ---- */

/* Puts the front of an entry. Returns true if its value is to follow in place; otherwise the entry
 * gets the offset *next, which moves past the value. */
static bool begin_entry(emit_output *o, uint16_t tag, uint16_t type, uint64_t count, uint64_t *next)
{
    const uint64_t bytes = count * tz_type_size(type);
    put_number(o, tag, sizeof tag);
    put_number(o, type, sizeof type);
    put_number(o, count, o->sizes.offset);
    if (bytes <= o->sizes.offset)
        return true;
    put_number(o, *next, o->sizes.offset);
    *next += align_size(bytes);
    return false;
}

/* Puts the entries in ascending order, with the tables among the tags. values and *next_table are
 * the offsets of the next value and table outside of an entry. */
static void put_ifd_entries(emit_output *o, const tz_emit_ifd *directory, uint64_t values,
                            uint64_t *next_table)
{
    tile_table tables[TABLES_PER_IFD];
    unsigned done = 0;
    describe_tables(directory, o->options, tables);
    for (uint32_t i = 0; i <= directory->tag_count; i++) {
        const tz_tag_value *tag = i < directory->tag_count ? &directory->tags[i] : NULL;
        for (; done < TABLES_PER_IFD && (!tag || tables[done].tag < tag->tag); done++)
            if (begin_entry(o, tables[done].tag, tables[done].type, tables[done].count,
                            next_table)) {
                put_tile_table(o, directory, &tables[done]);
                put_zeros(o, o->sizes.offset - tables[done].bytes);
            }
        if (tag && begin_entry(o, tag->tag, tag->type, tag->count, &values)) {
            put_tag_values(o, tag);
            put_zeros(o, o->sizes.offset - value_bytes(tag));
        }
    }
}

/* Puts the entries, and after them the values that do not fit an entry, in the order of the tags.
 * *tables is the offset of the directory's tables, and moves past them. */
static void put_ifd(emit_output *o, const tz_emit_ifd *directory, bool last, uint64_t *tables)
{
    const uint64_t at = o->flushed + o->used;
    const uint64_t entries = (uint64_t)directory->tag_count + TABLES_PER_IFD;
    put_number(o, entries, o->sizes.count);
    put_ifd_entries(o, directory, at + align_size(entries_bytes(directory, &o->sizes)), tables);
    put_number(o, last ? 0 : at + directory_bytes(directory, &o->sizes), o->sizes.offset);
    put_alignment(o);
    for (uint32_t i = 0; i < directory->tag_count; i++) {
        if (value_bytes(&directory->tags[i]) <= o->sizes.offset)
            continue;
        put_tag_values(o, &directory->tags[i]);
        put_alignment(o);
    }
}

/* Classic files count bytes in 32 bits, and entries in 16. */
static bool fits_classic(const tz_emit_ifd *directories, size_t count, uint64_t end)
{
    if (end > UINT32_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const tz_emit_ifd *directory = &directories[i];
        uint64_t all = 0;
        if (directory->tag_count > UINT16_MAX - TABLES_PER_IFD)
            return false;
        for (uint64_t tile = 0; tile < directory->tile_count; tile++)
            all |= directory->tile_offsets[tile];
        if (all > UINT32_MAX)
            return false;
    }
    return true;
}

tz_result tz_emit_directories(const tz_emit_ifd *directories, size_t count,
                              const tz_emit_options *options, uint8_t *buffer, size_t capacity,
                              tz_emit_write_fn write, void *user, const tz_context *ctx)
{
    emit_output o = {.options = options,
                     .sizes = sizes_of_format(options),
                     .buffer = buffer,
                     .capacity = capacity,
                     .flushed = options->start,
                     .write = write,
                     .user = user};
    const uint64_t end = add_or_none(options->start, tz_emit_size(directories, count, options));
    if (end == TZ_NO_VALUE || (!options->bigtiff && !fits_classic(directories, count, end)))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the file is too large for %s",
                       options->bigtiff ? "64-bit offsets" : "classic TIFF; write BigTIFF");
    uint64_t tables = options->start + all_directories_bytes(directories, count, &o.sizes);
    for (size_t i = 0; i < count; i++)
        put_ifd(&o, &directories[i], i + 1 == count, &tables);
    for (size_t i = 0; i < count; i++) {
        tile_table described[TABLES_PER_IFD];
        describe_tables(&directories[i], options, described);
        for (unsigned k = 0; k < TABLES_PER_IFD; k++) {
            if (described[k].bytes <= o.sizes.offset)
                continue; /* it stands in its entry */
            put_tile_table(&o, &directories[i], &described[k]);
            put_alignment(&o);
        }
    }
    flush_output(&o);
    return o.result;
}

void tz_emit_header(const tz_emit_options *options, uint8_t header[TZ_EMIT_HEADER_SIZE])
{
    emit_output o = {.options = options,
                     .sizes = sizes_of_format(options),
                     .buffer = header,
                     .capacity = TZ_EMIT_HEADER_SIZE};
    memset(header, 0, TZ_EMIT_HEADER_SIZE);
    put_output_words(&o, options->big_endian ? "MM" : "II", 2, 1);
    put_number(&o, options->bigtiff ? 43 : 42, 2);
    if (options->bigtiff) {
        put_number(&o, o.sizes.offset, 2);
        put_number(&o, 0, 2); /* reserved */
    }
    put_number(&o, options->start, o.sizes.offset);
}
