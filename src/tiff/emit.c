/* SPDX-License-Identifier: Apache-2.0
 * Directories to bytes. Three walks over the same list: how long the directories with their values
 * are together, then these themselves, then the tile tables. Nothing is kept between them, so that
 * a table may have any length. */
#include "tiff/emit.h"

#include <string.h>

#include "base/mem.h"
#include "tiff/bytes.h"
#include "tiff/tags.h"

/* Directories, values and tables begin at multiples of this, counted from the first directory, in
 * both formats: BigTIFF asks for it, and classic files are even then. */
enum { ALIGNMENT = 8, TABLES = 2, AT_ONCE = 256 };

/* Sizes that differ between the formats. */
typedef struct format_sizes {
    unsigned count; /* of the number of entries */
    unsigned entry;
    unsigned offset; /* of an offset, and of what is stored in its place */
} format_sizes;

static format_sizes form_of(const tz_emit *how)
{
    return how->bigtiff ? (format_sizes){8, 20, 8} : (format_sizes){2, 12, 4};
}

/* One of the two tile tables of a directory. */
typedef struct tile_table {
    bool offsets; /* or sizes */
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint64_t bytes;
} tile_table;

/* ---------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------ */

/* A sum that stays TZ_NONE once it does not fit. */
static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return a != TZ_NONE && b != TZ_NONE && tz_add(a, b, &sum) ? sum : TZ_NONE;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return tz_mul(a, b, &product) ? product : TZ_NONE;
}

static uint64_t aligned(uint64_t size)
{
    const uint64_t up = add(size, ALIGNMENT - 1);
    return up == TZ_NONE ? TZ_NONE : up / ALIGNMENT * ALIGNMENT;
}

/* What stands outside of its entry, with what it takes to align what follows. */
static uint64_t outside(uint64_t bytes, const format_sizes *form)
{
    return bytes <= form->offset ? 0 : aligned(bytes);
}

static uint64_t value_bytes(const tz_tag_value *tag)
{
    return multiply(tag->count, tz_type_size(tag->type));
}

static uint64_t entries_bytes(const tz_directory *directory, const format_sizes *form)
{
    const uint64_t entries = (uint64_t)directory->tag_count + TABLES;
    return form->count + entries * form->entry + form->offset;
}

/* A directory with the values of its tags. */
static uint64_t directory_bytes(const tz_directory *directory, const format_sizes *form)
{
    uint64_t bytes = aligned(entries_bytes(directory, form));
    for (uint32_t i = 0; i < directory->tag_count; i++)
        bytes = add(bytes, outside(value_bytes(&directory->tags[i]), form));
    return bytes;
}

static bool fit_short(const uint32_t *sizes, uint64_t count)
{
    uint32_t all = 0;
    for (uint64_t i = 0; i < count; i++)
        all |= sizes[i];
    return all <= UINT16_MAX;
}

static tile_table offsets_table(const tz_directory *directory, const tz_emit *how)
{
    return (tile_table){
        .offsets = true,
        .tag = directory->strips ? TZ_TAG_STRIP_OFFSETS : TZ_TAG_TILE_OFFSETS,
        .type = how->bigtiff ? TZ_TYPE_LONG8 : TZ_TYPE_LONG,
        .count = directory->tile_count,
        .bytes = multiply(directory->tile_count, how->bigtiff ? 8 : 4),
    };
}

static tile_table sizes_table(const tz_directory *directory)
{
    const bool narrow =
        directory->tile_sizes && fit_short(directory->tile_sizes, directory->tile_count);
    return (tile_table){
        .tag = directory->strips ? TZ_TAG_STRIP_BYTE_COUNTS : TZ_TAG_TILE_BYTE_COUNTS,
        .type = narrow ? TZ_TYPE_SHORT : TZ_TYPE_LONG,
        .count = directory->tile_count,
        .bytes = multiply(directory->tile_count, narrow ? 2 : 4),
    };
}

static uint64_t all_directories_bytes(const tz_directory *directories, size_t count,
                                      const format_sizes *form)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes = add(bytes, directory_bytes(&directories[i], form));
    return bytes;
}

uint64_t tz_emit_size(const tz_directory *directories, size_t count, const tz_emit *how)
{
    const format_sizes form = form_of(how);
    uint64_t bytes = all_directories_bytes(directories, count, &form);
    for (size_t i = 0; i < count; i++) {
        bytes = add(bytes, outside(offsets_table(&directories[i], how).bytes, &form));
        bytes = add(bytes, outside(sizes_table(&directories[i]).bytes, &form));
    }
    return bytes;
}

/* ---------------------------------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------------------------------ */

/* Where bytes go. The first failure stays in result, and what follows does nothing. */
typedef struct out {
    const tz_emit *how;
    format_sizes form;
    uint8_t *buffer;
    size_t room;
    size_t used;
    uint64_t flushed; /* the place in the file of buffer[0] */
    tz_emit_write write;
    void *user;
    tz_result result;
} out;

static void flush(out *o)
{
    if (o->result == TZ_OK && o->used > 0)
        o->result = o->write(o->user, o->flushed, o->buffer, o->used);
    o->flushed += o->used;
    o->used = 0;
}

/* count words of width bytes, to the file's byte order. */
static void put_words(out *o, const void *words, uint64_t count, unsigned width)
{
    const uint8_t *from = words;
    while (count > 0 && o->result == TZ_OK) {
        const size_t fit = (o->room - o->used) / width;
        const size_t now = count < fit ? (size_t)count : fit;
        if (now == 0) {
            flush(o);
            continue;
        }
        memcpy(o->buffer + o->used, from, now * width);
        tz_to_host_order(o->buffer + o->used, now, width, o->how->big_endian);
        o->used += now * width;
        from += now * width;
        count -= now;
    }
}

static void put_u16(out *o, uint16_t value)
{
    put_words(o, &value, 1, sizeof value);
}

static void put_u32(out *o, uint32_t value)
{
    put_words(o, &value, 1, sizeof value);
}

static void put_u64(out *o, uint64_t value)
{
    put_words(o, &value, 1, sizeof value);
}

/* A number as wide as an offset. */
static void put_offset(out *o, uint64_t value)
{
    if (o->how->bigtiff)
        put_u64(o, value);
    else
        put_u32(o, (uint32_t)value);
}

static void put_zeros(out *o, uint64_t count)
{
    static const uint8_t zeros[16] = {0};
    put_words(o, zeros, count, 1); /* to align, or to fill an entry */
}

static void align(out *o)
{
    const uint64_t at = o->flushed + o->used - o->how->start;
    put_zeros(o, aligned(at) - at);
}

static void put_values(out *o, const tz_tag_value *tag)
{
    const unsigned word = tz_type_word(tag->type);
    put_words(o, tag->data, tag->count * (tz_type_size(tag->type) / word), word);
}

/* Offsets of a classic file, and small sizes, are narrower than they are kept. */
static void put_narrow_offsets(out *o, const uint64_t *offsets, uint64_t count)
{
    uint32_t some[AT_ONCE];
    for (uint64_t i = 0; i < count && o->result == TZ_OK; i += AT_ONCE) {
        const unsigned now = count - i < AT_ONCE ? (unsigned)(count - i) : AT_ONCE;
        for (unsigned k = 0; k < now; k++)
            some[k] = (uint32_t)offsets[i + k];
        put_words(o, some, now, sizeof some[0]);
    }
}

static void put_narrow_sizes(out *o, const uint32_t *sizes, uint64_t count)
{
    uint16_t some[AT_ONCE];
    for (uint64_t i = 0; i < count && o->result == TZ_OK; i += AT_ONCE) {
        const unsigned now = count - i < AT_ONCE ? (unsigned)(count - i) : AT_ONCE;
        for (unsigned k = 0; k < now; k++)
            some[k] = (uint16_t)sizes[i + k];
        put_words(o, some, now, sizeof some[0]);
    }
}

static void put_table(out *o, const tz_directory *directory, const tile_table *table)
{
    if (table->type == TZ_TYPE_LONG8)
        put_words(o, directory->tile_offsets, table->count, sizeof(uint64_t));
    else if (table->offsets)
        put_narrow_offsets(o, directory->tile_offsets, table->count);
    else if (table->type == TZ_TYPE_LONG)
        put_words(o, directory->tile_sizes, table->count, sizeof(uint32_t));
    else
        put_narrow_sizes(o, directory->tile_sizes, table->count);
}

/* ---------------------------------------------------------------------------------------------
 * Directories
 * ------------------------------------------------------------------------------------------ */

/* The front of an entry, and the offset of a value that does not fit into it; *next moves on by
 * that. True: the value is to follow right here. */
static bool begin_entry(out *o, uint16_t tag, uint16_t type, uint64_t count, uint64_t *next)
{
    const uint64_t bytes = count * tz_type_size(type);
    put_u16(o, tag);
    put_u16(o, type);
    put_offset(o, count);
    if (bytes <= o->form.offset)
        return true;
    put_offset(o, *next);
    *next += aligned(bytes);
    return false;
}

static void put_tag_entry(out *o, const tz_tag_value *tag, uint64_t *next)
{
    if (!begin_entry(o, tag->tag, tag->type, tag->count, next))
        return;
    put_values(o, tag);
    put_zeros(o, o->form.offset - value_bytes(tag));
}

static void put_table_entry(out *o, const tz_directory *directory, const tile_table *table,
                            uint64_t *next)
{
    if (!begin_entry(o, table->tag, table->type, table->count, next))
        return;
    put_table(o, directory, table);
    put_zeros(o, o->form.offset - table->bytes);
}

/* The entries in ascending order: the tables are put where they belong among the tags. */
static void put_entries(out *o, const tz_directory *directory, uint64_t values, uint64_t *tables)
{
    const tile_table two[TABLES] = {offsets_table(directory, o->how), sizes_table(directory)};
    unsigned done = 0;
    for (uint32_t i = 0; i <= directory->tag_count; i++) {
        const tz_tag_value *tag = i < directory->tag_count ? &directory->tags[i] : NULL;
        for (; done < TABLES && (!tag || two[done].tag < tag->tag); done++)
            put_table_entry(o, directory, &two[done], tables);
        if (tag)
            put_tag_entry(o, tag, &values);
    }
}

/* tables: where the directory's tables will stand; moved on past them. */
static void put_directory(out *o, const tz_directory *directory, bool last, uint64_t *tables)
{
    const uint64_t at = o->flushed + o->used;
    const uint64_t entries = (uint64_t)directory->tag_count + TABLES;
    if (o->how->bigtiff)
        put_u64(o, entries);
    else
        put_u16(o, (uint16_t)entries);
    put_entries(o, directory, at + aligned(entries_bytes(directory, &o->form)), tables);
    put_offset(o, last ? 0 : at + directory_bytes(directory, &o->form));
    align(o);
    for (uint32_t i = 0; i < directory->tag_count; i++) {
        if (value_bytes(&directory->tags[i]) <= o->form.offset)
            continue;
        put_values(o, &directory->tags[i]);
        align(o);
    }
}

static void put_tables(out *o, const tz_directory *directory)
{
    const tile_table two[TABLES] = {offsets_table(directory, o->how), sizes_table(directory)};
    for (unsigned i = 0; i < TABLES; i++) {
        if (two[i].bytes <= o->form.offset)
            continue;
        put_table(o, directory, &two[i]);
        align(o);
    }
}

/* Classic files count bytes in 32 bits, and entries in 16. */
static bool fits_classic(const tz_directory *directories, size_t count, uint64_t end)
{
    if (end > UINT32_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const tz_directory *directory = &directories[i];
        uint64_t all = 0;
        if (directory->tag_count > UINT16_MAX - TABLES)
            return false;
        for (uint64_t tile = 0; tile < directory->tile_count; tile++)
            all |= directory->tile_offsets[tile];
        if (all > UINT32_MAX)
            return false;
    }
    return true;
}

tz_result tz_emit_directories(const tz_directory *directories, size_t count, const tz_emit *how,
                              uint8_t *buffer, size_t room, tz_emit_write write, void *user,
                              const tz_context *ctx)
{
    out o = {.how = how,
             .form = form_of(how),
             .buffer = buffer,
             .room = room,
             .flushed = how->start,
             .write = write,
             .user = user};
    const uint64_t end = add(how->start, tz_emit_size(directories, count, how));
    if (end == TZ_NONE || (!how->bigtiff && !fits_classic(directories, count, end)))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the file is too large for %s",
                       how->bigtiff ? "64-bit offsets" : "classic TIFF; write BigTIFF");
    uint64_t tables = how->start + all_directories_bytes(directories, count, &o.form);
    for (size_t i = 0; i < count; i++)
        put_directory(&o, &directories[i], i + 1 == count, &tables);
    for (size_t i = 0; i < count; i++)
        put_tables(&o, &directories[i]);
    flush(&o);
    return o.result;
}

void tz_emit_header(const tz_emit *how, uint8_t header[TZ_EMIT_HEADER])
{
    out o = {.how = how, .form = form_of(how), .buffer = header, .room = TZ_EMIT_HEADER};
    memset(header, 0, TZ_EMIT_HEADER);
    put_words(&o, how->big_endian ? "MM" : "II", 2, 1);
    put_u16(&o, how->bigtiff ? 43 : 42);
    if (how->bigtiff)
        put_u16(&o, 8), put_u16(&o, 0); /* bytes of an offset */
    put_offset(&o, how->start);
}
