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
enum { IFD_ALIGNMENT = 8, TABLES_PER_IFD = 2, VALUES_AT_ONCE = 256 };

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

/* A sum that stays TZ_NONE once it does not fit. */
static uint64_t add_or_none(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return a != TZ_NONE && b != TZ_NONE && tz_add(a, b, &sum) ? sum : TZ_NONE;
}

static uint64_t multiply_or_none(uint64_t a, uint64_t b)
{
    uint64_t product;
    return tz_mul(a, b, &product) ? product : TZ_NONE;
}

static uint64_t align_size(uint64_t size)
{
    const uint64_t up = add_or_none(size, IFD_ALIGNMENT - 1);
    return up == TZ_NONE ? TZ_NONE : up / IFD_ALIGNMENT * IFD_ALIGNMENT;
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

static tile_table offsets_table(const tz_emit_ifd *directory, const tz_emit_options *options)
{
    return (tile_table){
        .offsets = true,
        .tag = directory->strips ? TZ_TAG_STRIP_OFFSETS : TZ_TAG_TILE_OFFSETS,
        .type = options->bigtiff ? TZ_TYPE_LONG8 : TZ_TYPE_LONG,
        .count = directory->tile_count,
        .bytes = multiply_or_none(directory->tile_count, options->bigtiff ? 8 : 4),
    };
}

static tile_table sizes_table(const tz_emit_ifd *directory)
{
    uint32_t all = directory->tile_sizes ? 0 : UINT32_MAX;
    for (uint64_t i = 0; directory->tile_sizes && i < directory->tile_count; i++)
        all |= directory->tile_sizes[i];
    const bool narrow = all <= UINT16_MAX;
    return (tile_table){
        .tag = directory->strips ? TZ_TAG_STRIP_BYTE_COUNTS : TZ_TAG_TILE_BYTE_COUNTS,
        .type = narrow ? TZ_TYPE_SHORT : TZ_TYPE_LONG,
        .count = directory->tile_count,
        .bytes = multiply_or_none(directory->tile_count, narrow ? 2 : 4),
    };
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
        bytes = add_or_none(bytes,
                            external_bytes(offsets_table(&directories[i], options).bytes, &sizes));
        bytes = add_or_none(bytes, external_bytes(sizes_table(&directories[i]).bytes, &sizes));
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

static void put_u16(emit_output *o, uint16_t value)
{
    put_output_words(o, &value, 1, sizeof value);
}

static void put_u32(emit_output *o, uint32_t value)
{
    put_output_words(o, &value, 1, sizeof value);
}

static void put_u64(emit_output *o, uint64_t value)
{
    put_output_words(o, &value, 1, sizeof value);
}

/* Puts a number as wide as an offset. */
static void put_offset(emit_output *o, uint64_t value)
{
    if (o->options->bigtiff)
        put_u64(o, value);
    else
        put_u32(o, (uint32_t)value);
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

static void put_tag_values(emit_output *o, const tz_tag_value *tag)
{
    const unsigned word = tz_type_word_size(tag->type);
    put_output_words(o, tag->data, tag->count * (tz_type_size(tag->type) / word), word);
}

/* Offsets of a classic file, and small sizes, are narrower in the file than in memory. */
static void put_tile_table(emit_output *o, const tz_emit_ifd *directory, const tile_table *table)
{
    if (table->type == TZ_TYPE_LONG8) {
        put_output_words(o, directory->tile_offsets, table->count, sizeof(uint64_t));
        return;
    }
    if (!table->offsets && table->type == TZ_TYPE_LONG) {
        put_output_words(o, directory->tile_sizes, table->count, sizeof(uint32_t));
        return;
    }
    for (uint64_t i = 0; i < table->count && o->result == TZ_OK; i += VALUES_AT_ONCE) {
        uint32_t offsets[VALUES_AT_ONCE];
        uint16_t sizes[VALUES_AT_ONCE];
        const unsigned now = (unsigned)tz_min(table->count - i, VALUES_AT_ONCE);
        for (unsigned k = 0; k < now; k++) {
            if (table->offsets)
                offsets[k] = (uint32_t)directory->tile_offsets[i + k];
            else
                sizes[k] = (uint16_t)directory->tile_sizes[i + k];
        }
        if (table->offsets)
            put_output_words(o, offsets, now, sizeof offsets[0]);
        else
            put_output_words(o, sizes, now, sizeof sizes[0]);
    }
}

/* ---- directories ---- */

/* Puts the front of an entry. Returns true if its value is to follow in place; otherwise the entry
 * gets the offset *next, which moves past the value. */
static bool begin_entry(emit_output *o, uint16_t tag, uint16_t type, uint64_t count, uint64_t *next)
{
    const uint64_t bytes = count * tz_type_size(type);
    put_u16(o, tag);
    put_u16(o, type);
    put_offset(o, count);
    if (bytes <= o->sizes.offset)
        return true;
    put_offset(o, *next);
    *next += align_size(bytes);
    return false;
}

/* Puts the entries in ascending order, with the tables among the tags. values and *tables are the
 * offsets of the next value and table outside of an entry. */
static void put_ifd_entries(emit_output *o, const tz_emit_ifd *directory, uint64_t values,
                            uint64_t *tables)
{
    const tile_table tables_of_ifd[TABLES_PER_IFD] = {offsets_table(directory, o->options),
                                                      sizes_table(directory)};
    unsigned done = 0;
    for (uint32_t i = 0; i <= directory->tag_count; i++) {
        const tz_tag_value *tag = i < directory->tag_count ? &directory->tags[i] : NULL;
        for (; done < TABLES_PER_IFD && (!tag || tables_of_ifd[done].tag < tag->tag); done++)
            if (begin_entry(o, tables_of_ifd[done].tag, tables_of_ifd[done].type,
                            tables_of_ifd[done].count, tables)) {
                put_tile_table(o, directory, &tables_of_ifd[done]);
                put_zeros(o, o->sizes.offset - tables_of_ifd[done].bytes);
            }
        if (tag && begin_entry(o, tag->tag, tag->type, tag->count, &values)) {
            put_tag_values(o, tag);
            put_zeros(o, o->sizes.offset - value_bytes(tag));
        }
    }
}

/* *tables is the offset of the directory's tables, and moves past them. */
static void put_ifd(emit_output *o, const tz_emit_ifd *directory, bool last, uint64_t *tables)
{
    const uint64_t at = o->flushed + o->used;
    const uint64_t entries = (uint64_t)directory->tag_count + TABLES_PER_IFD;
    if (o->options->bigtiff)
        put_u64(o, entries);
    else
        put_u16(o, (uint16_t)entries);
    put_ifd_entries(o, directory, at + align_size(entries_bytes(directory, &o->sizes)), tables);
    put_offset(o, last ? 0 : at + directory_bytes(directory, &o->sizes));
    put_alignment(o);
    for (uint32_t i = 0; i < directory->tag_count; i++) {
        if (value_bytes(&directory->tags[i]) <= o->sizes.offset)
            continue;
        put_tag_values(o, &directory->tags[i]);
        put_alignment(o);
    }
}

static void put_tile_tables(emit_output *o, const tz_emit_ifd *directory)
{
    const tile_table tables_of_ifd[TABLES_PER_IFD] = {offsets_table(directory, o->options),
                                                      sizes_table(directory)};
    for (unsigned i = 0; i < TABLES_PER_IFD; i++) {
        if (tables_of_ifd[i].bytes <= o->sizes.offset)
            continue;
        put_tile_table(o, directory, &tables_of_ifd[i]);
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
    if (end == TZ_NONE || (!options->bigtiff && !fits_classic(directories, count, end)))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the file is too large for %s",
                       options->bigtiff ? "64-bit offsets" : "classic TIFF; write BigTIFF");
    uint64_t tables = options->start + all_directories_bytes(directories, count, &o.sizes);
    for (size_t i = 0; i < count; i++)
        put_ifd(&o, &directories[i], i + 1 == count, &tables);
    for (size_t i = 0; i < count; i++)
        put_tile_tables(&o, &directories[i]);
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
    put_u16(&o, options->bigtiff ? 43 : 42);
    if (options->bigtiff)
        put_u16(&o, 8), put_u16(&o, 0); /* bytes of an offset */
    put_offset(&o, options->start);
}
