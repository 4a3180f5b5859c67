/* SPDX-License-Identifier: Apache-2.0 */
#include "support/tiff_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------
 * Small things
 * ------------------------------------------------------------------------------------------ */

static void misuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void misuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("tiff_builder: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

static void *grow(void *block, size_t size)
{
    void *grown = realloc(block, size ? size : 1);
    if (!grown)
        misuse("no memory for %zu bytes", size);
    return grown;
}

const char *tb_format_name(unsigned format)
{
    static const char *const names[TB_FORMATS] = {"little-endian TIFF", "big-endian TIFF",
                                                  "little-endian BigTIFF", "big-endian BigTIFF"};
    return format < TB_FORMATS ? names[format] : "?";
}

static void encode(bool big_endian, uint8_t *dst, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        size_t shift = 8 * (big_endian ? size - 1 - i : i);
        dst[i] = shift < 64 ? (uint8_t)(value >> shift) : 0;
    }
}

static size_t word_size(const tb *b) /* of an offset or a count */
{
    return b->bigtiff ? 8 : 4;
}

static size_t entry_size(const tb *b)
{
    return b->bigtiff ? 20 : 12;
}

static uint64_t align2(uint64_t offset)
{
    return offset + (offset & 1);
}

static tb_ifd *ifd_of(const tb *b, int ifd)
{
    if (ifd < 0 || ifd >= b->ifd_count)
        misuse("there is no directory %d", ifd);
    return &b->ifds[ifd];
}

static tb_entry *find(const tb_ifd *d, uint16_t tag)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->entries[i].tag == tag)
            return &d->entries[i];
    return NULL;
}

static void describe_only(const tb *b)
{
    if (b->finished)
        misuse("the file is laid out; only patches now");
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------ */

tb *tb_new(unsigned format)
{
    tb *b = grow(NULL, sizeof *b);
    *b = (tb){.format = format,
              .big_endian = (format & TB_BIG_ENDIAN) != 0,
              .bigtiff = (format & TB_BIGTIFF) != 0};
    return b;
}

tb *tb_raw(unsigned format, const void *bytes, size_t size)
{
    tb *b = tb_new(format);
    b->finished = true;
    b->data = grow(NULL, size);
    b->size = b->room = size;
    if (size)
        memcpy(b->data, bytes, size);
    return b;
}

tb *tb_copy(const tb *finished)
{
    tb *b = tb_raw(finished->format, finished->data, finished->size);
    b->ifds_in_file = finished->ifds_in_file;
    return b;
}

void tb_free(tb *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->ifd_count; i++) {
        tb_ifd *d = &b->ifds[i];
        for (size_t e = 0; e < d->count; e++) {
            free(d->entries[e].bytes);
            free(d->entries[e].links);
        }
        free(d->entries);
        free(d->tile_offsets);
        free(d->tile_sizes);
    }
    free(b->ifds);
    free(b->ghost);
    free(b->data);
    free(b);
}

/* ---------------------------------------------------------------------------------------------
 * Tags
 * ------------------------------------------------------------------------------------------ */

static tb_entry *append(tb *b, int ifd, uint16_t tag)
{
    describe_only(b);
    tb_ifd *d = ifd_of(b, ifd);
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? d->capacity * 2 : 16;
        d->entries = grow(d->entries, d->capacity * sizeof *d->entries);
    }
    tb_entry *e = &d->entries[d->count++];
    *e = (tb_entry){.tag = tag, .at = TB_AUTO, .value = TB_AUTO};
    return e;
}

/* The entry, emptied. */
static tb_entry *renew(tb *b, int ifd, uint16_t tag)
{
    describe_only(b);
    tb_entry *e = find(ifd_of(b, ifd), tag);
    if (!e)
        return append(b, ifd, tag);
    free(e->bytes);
    free(e->links);
    *e = (tb_entry){.tag = tag, .at = TB_AUTO, .value = TB_AUTO};
    return e;
}

tb_entry *tb_find(tb *b, int ifd, uint16_t tag)
{
    tb_entry *e = find(ifd_of(b, ifd), tag);
    if (!e)
        misuse("directory %d has no tag %u", ifd, tag);
    return e;
}

void tb_remove(tb *b, int ifd, uint16_t tag)
{
    describe_only(b);
    tb_ifd *d = ifd_of(b, ifd);
    tb_entry *e = tb_find(b, ifd, tag);
    free(e->bytes);
    free(e->links);
    size_t after = d->count - 1 - (size_t)(e - d->entries);
    memmove(e, e + 1, after * sizeof *e);
    d->count--;
}

static tb_entry *fill(tb_entry *e, uint16_t type, uint64_t count, const void *bytes, size_t size)
{
    e->type = type;
    e->count = count;
    e->bytes = grow(NULL, size);
    e->size = size;
    if (size)
        memcpy(e->bytes, bytes, size);
    return e;
}

tb_entry *tb_set_bytes(tb *b, int ifd, uint16_t tag, uint16_t type, uint64_t count,
                       const void *bytes, size_t size)
{
    return fill(renew(b, ifd, tag), type, count, bytes, size);
}

tb_entry *tb_set_text(tb *b, int ifd, uint16_t tag, const char *text)
{
    size_t size = strlen(text) + 1;
    return tb_set_bytes(b, ifd, tag, TZ_TYPE_ASCII, size, text, size);
}

static bool is_rational(uint16_t type)
{
    return type == TZ_TYPE_RATIONAL || type == TZ_TYPE_SRATIONAL;
}

static size_t type_size(uint16_t type)
{
    static const uint8_t sizes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 1;
}

/* The bits that a number has in a field of this type. */
static uint64_t float_bits(uint16_t type, double value)
{
    uint64_t bits = 0;
    if (type == TZ_TYPE_FLOAT) {
        float narrow = (float)value;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        return narrow_bits;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static tb_entry *fill_numbers(const tb *b, tb_entry *e, uint16_t type, const uint64_t *values,
                              size_t count)
{
    bool is_float = type == TZ_TYPE_FLOAT || type == TZ_TYPE_DOUBLE;
    size_t unit = is_rational(type) ? 4 : type_size(type);
    e->type = type;
    e->count = is_rational(type) ? count / 2 : count;
    e->size = count * unit;
    e->bytes = grow(NULL, e->size);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = is_float ? float_bits(type, (double)(int64_t)values[i]) : values[i];
        encode(b->big_endian, e->bytes + i * unit, unit, bits);
    }
    return e;
}

tb_entry *tb_set(tb *b, int ifd, uint16_t tag, uint16_t type, const uint64_t *values, size_t count)
{
    return fill_numbers(b, renew(b, ifd, tag), type, values, count);
}

tb_entry *tb_set_doubles(tb *b, int ifd, uint16_t tag, uint16_t type, const double *values,
                         size_t count)
{
    tb_entry *e = renew(b, ifd, tag);
    size_t unit = type_size(type);
    e->type = type;
    e->count = count;
    e->size = count * unit;
    e->bytes = grow(NULL, e->size);
    for (size_t i = 0; i < count; i++)
        encode(b->big_endian, e->bytes + i * unit, unit, float_bits(type, values[i]));
    return e;
}

tb_entry *tb_set_raw(tb *b, int ifd, uint16_t tag, uint16_t type, uint64_t count, uint64_t value)
{
    tb_entry *e = fill(renew(b, ifd, tag), type, count, NULL, 0);
    e->value = value;
    return e;
}

tb_entry *tb_add_again(tb *b, int ifd, uint16_t tag, uint16_t type, uint64_t value)
{
    tb_find(b, ifd, tag);
    return fill_numbers(b, append(b, ifd, tag), type, &value, 1);
}

/* ---------------------------------------------------------------------------------------------
 * Directories
 * ------------------------------------------------------------------------------------------ */

int tb_ifd_new(tb *b)
{
    describe_only(b);
    if (b->ifd_count == b->ifd_capacity) {
        b->ifd_capacity = b->ifd_capacity ? b->ifd_capacity * 2 : 4;
        b->ifds = grow(b->ifds, (size_t)b->ifd_capacity * sizeof *b->ifds);
    }
    b->ifds[b->ifd_count] = (tb_ifd){
        .at = TB_AUTO, .entry_count = TB_AUTO, .chained = true, .next = TB_NEXT_IN_CHAIN};
    return b->ifd_count++;
}

static uint64_t ceil_div(uint64_t a, uint64_t d)
{
    return a / d + (a % d != 0);
}

static void set_short(tb *b, int ifd, uint16_t tag, uint16_t value)
{
    TB_SHORTS(b, ifd, tag, value);
}

static void set_samples(tb *b, int ifd, uint16_t tag, uint16_t samples, uint16_t value)
{
    uint64_t *values = grow(NULL, samples * sizeof *values);
    for (uint16_t i = 0; i < samples; i++)
        values[i] = value;
    tb_set(b, ifd, tag, TZ_TYPE_SHORT, values, samples);
    free(values);
}

static void set_tables(tb *b, int ifd, const tb_spec *s, uint16_t offsets_tag, uint16_t sizes_tag)
{
    tb_ifd *d = ifd_of(b, ifd);
    uint64_t across = s->tile_width ? ceil_div(s->width, s->tile_width) : 1;
    uint64_t down = ceil_div(s->height, s->tile_width ? s->tile_height : s->rows_per_strip);
    d->tile_count = across * down * (s->planar == 2 ? s->samples : 1);
    d->tile_offsets = grow(NULL, d->tile_count * sizeof *d->tile_offsets);
    d->tile_sizes = grow(NULL, d->tile_count * sizeof *d->tile_sizes);
    for (uint64_t i = 0; i < d->tile_count; i++) {
        d->tile_offsets[i] = 0;
        d->tile_sizes[i] = s->sparse ? 0 : s->tile_bytes;
    }
    tb_entry *e = fill(append(b, ifd, offsets_tag), s->offset_type, d->tile_count, NULL, 0);
    e->table = 1;
    e = fill(append(b, ifd, sizes_tag), s->size_type, d->tile_count, NULL, 0);
    e->table = 2;
}

static void set_default32(uint32_t *value, uint32_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static void set_default16(uint16_t *value, uint16_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static tb_spec complete(const tb *b, const tb_spec *given)
{
    tb_spec s = *given;
    set_default32(&s.width, 64);
    set_default32(&s.height, 64);
    set_default32(&s.rows_per_strip, s.height);
    set_default16(&s.bits, 8);
    set_default16(&s.sample_format, 1);
    set_default16(&s.samples, 1);
    set_default16(&s.planar, 1);
    set_default16(&s.photometric, s.samples >= 3 ? 2 : 1);
    set_default16(&s.compression, 1);
    set_default16(&s.offset_type, b->bigtiff ? TZ_TYPE_LONG8 : TZ_TYPE_LONG);
    set_default16(&s.size_type, TZ_TYPE_LONG);
    set_default32(&s.tile_bytes, 16);
    return s;
}

int tb_image(tb *b, const tb_spec *given)
{
    tb_spec s = complete(b, given);
    int ifd = tb_ifd_new(b);
    ifd_of(b, ifd)->spec = s;
    if (s.subfile)
        TB_LONGS(b, ifd, TZ_TAG_NEW_SUBFILE_TYPE, s.subfile);
    TB_LONGS(b, ifd, TZ_TAG_IMAGE_WIDTH, s.width);
    TB_LONGS(b, ifd, TZ_TAG_IMAGE_LENGTH, s.height);
    set_samples(b, ifd, TZ_TAG_BITS_PER_SAMPLE, s.samples, s.bits);
    set_short(b, ifd, TZ_TAG_COMPRESSION, s.compression);
    set_short(b, ifd, TZ_TAG_PHOTOMETRIC, s.photometric);
    set_short(b, ifd, TZ_TAG_SAMPLES_PER_PIXEL, s.samples);
    set_short(b, ifd, TZ_TAG_PLANAR, s.planar);
    if (s.predictor)
        set_short(b, ifd, TZ_TAG_PREDICTOR, s.predictor);
    if (s.tile_width) {
        TB_LONGS(b, ifd, TZ_TAG_TILE_WIDTH, s.tile_width);
        TB_LONGS(b, ifd, TZ_TAG_TILE_LENGTH, s.tile_height);
        set_tables(b, ifd, &s, TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS);
    } else {
        TB_LONGS(b, ifd, TZ_TAG_ROWS_PER_STRIP, s.rows_per_strip);
        set_tables(b, ifd, &s, TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS);
    }
    int colors = s.photometric == 2 || s.photometric == 6 ? 3 : s.photometric == 5 ? 4 : 1;
    if (s.samples > colors)
        set_samples(b, ifd, TZ_TAG_EXTRA_SAMPLES, (uint16_t)(s.samples - colors), 0);
    set_samples(b, ifd, TZ_TAG_SAMPLE_FORMAT, s.samples, s.sample_format);
    return ifd;
}

int tb_gray(tb *b, uint32_t width, uint32_t height)
{
    return tb_image(b, &(tb_spec){.width = width, .height = height});
}

int tb_tiled(tb *b, uint32_t width, uint32_t height, uint32_t tile)
{
    return tb_image(b, &(tb_spec){.width = width, .height = height, .tile_width = tile,
                                  .tile_height = tile});
}

int tb_overview(tb *b, int of, uint32_t width, uint32_t height)
{
    tb_spec s = ifd_of(b, of)->spec;
    s.width = width;
    s.height = height;
    s.rows_per_strip = 0;
    s.subfile |= 1;
    return tb_image(b, &s);
}

int tb_mask(tb *b, int of)
{
    tb_spec s = ifd_of(b, of)->spec;
    s.bits = s.samples = s.sample_format = s.planar = 1;
    s.predictor = 0;
    s.photometric = 4;
    s.compression = 8;
    s.subfile = (s.subfile & 1) | 4;
    return tb_image(b, &s);
}

void tb_link(tb *b, int ifd, uint16_t tag, uint16_t type, const int *targets, size_t count)
{
    tb_entry *e = fill(renew(b, ifd, tag), type, count, NULL, 0);
    e->links = grow(NULL, count * sizeof *e->links);
    e->size = count * type_size(type);
    e->bytes = grow(e->bytes, e->size);
    memset(e->bytes, 0, e->size);
    for (size_t i = 0; i < count; i++) {
        e->links[i] = targets[i];
        if (targets[i] != 0) { /* the first directory stays what it is */
            ifd_of(b, targets[i])->chained = false;
            ifd_of(b, targets[i])->next = -1;
        }
    }
}

void tb_sub(tb *b, int ifd, int target)
{
    tb_link(b, ifd, TZ_TAG_SUB_IFDS, b->bigtiff ? TZ_TYPE_IFD8 : TZ_TYPE_IFD, &target, 1);
}

void tb_georeference(tb *b, int ifd, uint16_t epsg)
{
    TB_SHORTS(b, ifd, TZ_TAG_GEO_KEYS, 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, epsg);
    TB_DOUBLES(b, ifd, TZ_TAG_PIXEL_SCALE, 10, 10, 0);
    TB_DOUBLES(b, ifd, TZ_TAG_TIEPOINTS, 0, 0, 0, 500000, 4500000, 0);
}

void tb_ghost_raw(tb *b, const void *bytes, size_t size)
{
    describe_only(b);
    b->ghost = grow(b->ghost, size);
    memcpy(b->ghost, bytes, size);
    b->ghost_size = size;
}

void tb_ghost(tb *b, const char *items)
{
    char text[1024];
    int size = snprintf(text, sizeof text, "GDAL_STRUCTURAL_METADATA_SIZE=%06zu bytes\n%s",
                        strlen(items), items);
    tb_ghost_raw(b, text, (size_t)size);
}

/* ---------------------------------------------------------------------------------------------
 * Layout
 * ------------------------------------------------------------------------------------------ */

uint64_t tb_header_size(const tb *b)
{
    return b->bigtiff ? 16 : 8;
}

static void put(tb *b, uint64_t offset, const void *bytes, size_t size)
{
    size_t end = (size_t)offset + size;
    if (end > b->room) {
        b->room = end * 2;
        b->data = grow(b->data, b->room);
    }
    if (end > b->size) {
        memset(b->data + b->size, 0, end - b->size);
        b->size = end;
    }
    if (size)
        memcpy(b->data + offset, bytes, size);
}

static void put_number(tb *b, uint64_t offset, size_t size, uint64_t value)
{
    uint8_t bytes[8];
    encode(b->big_endian, bytes, size, value);
    put(b, offset, bytes, size);
}

static void shrink_to_fit(tb *b)
{
    b->data = grow(b->data, b->size);
    b->room = b->size;
}

static size_t ifd_size(const tb *b, const tb_ifd *d)
{
    return (b->bigtiff ? 8 : 2) + d->count * entry_size(b) + word_size(b);
}

static bool is_inline(const tb *b, const tb_entry *e)
{
    return e->size <= word_size(b);
}

static int compare_entries(const void *left, const void *right)
{
    const tb_entry *a = left;
    const tb_entry *b = right;
    return a->tag - b->tag;
}

/* Stable, so that duplicates stay in the order they were added. */
static void sort_entries(tb_ifd *d)
{
    for (size_t i = 1; i < d->count; i++)
        for (size_t k = i; k > 0 && compare_entries(&d->entries[k - 1], &d->entries[k]) > 0; k--) {
            tb_entry swap = d->entries[k];
            d->entries[k] = d->entries[k - 1];
            d->entries[k - 1] = swap;
        }
}

static uint64_t place_tiles(const tb *b, tb_ifd *d, uint64_t cursor)
{
    for (uint64_t i = 0; i < d->tile_count; i++) {
        if (d->tile_sizes[i] == 0)
            continue;
        cursor += b->leaders ? 4 : 0;
        d->tile_offsets[i] = cursor;
        cursor += d->tile_sizes[i] + (b->leaders ? 4 : 0);
    }
    return align2(cursor);
}

static uint64_t place_all_tiles(const tb *b, uint64_t cursor)
{
    for (int i = 0; i < b->ifd_count; i++)
        cursor = place_tiles(b, &b->ifds[b->data_forward ? i : b->ifd_count - 1 - i], cursor);
    return cursor;
}

static uint64_t place_data(const tb *b, tb_ifd *d, bool tables, uint64_t cursor)
{
    for (size_t i = 0; i < d->count; i++) {
        tb_entry *e = &d->entries[i];
        if (is_inline(b, e) || (e->table != 0) != tables)
            continue;
        e->data_at = e->at;
        if (e->at == TB_AUTO) {
            e->data_at = cursor;
            cursor = align2(cursor + e->size);
        }
    }
    return cursor;
}

static uint64_t place_ifds(const tb *b, uint64_t cursor)
{
    for (int i = 0; i < b->ifd_count; i++) {
        tb_ifd *d = &b->ifds[i];
        if (!d->unsorted)
            sort_entries(d);
        for (size_t k = 0; k < d->count; k++)
            if (d->entries[k].table)
                d->entries[k].size = (size_t)d->entries[k].count * type_size(d->entries[k].type);
        d->offset = d->at;
        if (d->at == TB_AUTO) {
            d->offset = cursor + d->gap;
            cursor = align2(d->offset + ifd_size(b, d));
        }
        cursor = place_data(b, d, false, cursor);
    }
    for (int i = 0; i < b->ifd_count; i++)
        cursor = place_data(b, &b->ifds[i], true, cursor);
    return cursor;
}

static void write_tiles(tb *b, const tb_ifd *d)
{
    for (uint64_t i = 0; i < d->tile_count; i++) {
        size_t size = (size_t)d->tile_sizes[i];
        uint64_t at = d->tile_offsets[i];
        uint8_t *tile = grow(NULL, size);
        for (size_t k = 0; k < size; k++)
            tile[k] = (uint8_t)(i * 37 + k * 7 + 1);
        if (size)
            put(b, at, tile, size);
        if (size && b->leaders) {
            uint8_t leader[4], trailer[4] = {0};
            encode(false, leader, 4, size); /* little-endian in every file */
            memcpy(trailer, tile + (size < 4 ? 0 : size - 4), size < 4 ? size : 4);
            put(b, at - 4, leader, 4);
            put(b, at + size, trailer, 4);
        }
        free(tile);
    }
}

static void fill_table(const tb *b, const tb_ifd *d, tb_entry *e)
{
    const uint64_t *values = e->table == 1 ? d->tile_offsets : d->tile_sizes;
    size_t unit = type_size(e->type);
    e->bytes = grow(e->bytes, e->size);
    for (size_t i = 0; i < e->count; i++)
        encode(b->big_endian, e->bytes + i * unit, unit, i < d->tile_count ? values[i] : 0);
}

static void fill_links(const tb *b, tb_entry *e)
{
    size_t unit = type_size(e->type);
    for (size_t i = 0; i < e->size / unit; i++)
        encode(b->big_endian, e->bytes + i * unit, unit, ifd_of(b, e->links[i])->offset);
}

static void write_data(tb *b, tb_ifd *d)
{
    for (size_t i = 0; i < d->count; i++) {
        tb_entry *e = &d->entries[i];
        if (e->table)
            fill_table(b, d, e);
        if (e->links)
            fill_links(b, e);
        if (!is_inline(b, e))
            put(b, e->data_at, e->bytes, e->size);
    }
}

static uint64_t next_of(const tb *b, int ifd)
{
    const tb_ifd *d = &b->ifds[ifd];
    if (d->next != TB_NEXT_IN_CHAIN)
        return d->next < 0 ? 0 : ifd_of(b, d->next)->offset;
    for (int i = ifd + 1; d->chained && i < b->ifd_count; i++)
        if (b->ifds[i].chained)
            return b->ifds[i].offset;
    return 0;
}

static void write_ifd(tb *b, int ifd)
{
    tb_ifd *d = &b->ifds[ifd];
    size_t word = word_size(b);
    uint64_t at = d->offset;
    put_number(b, at, b->bigtiff ? 8 : 2, d->entry_count == TB_AUTO ? d->count : d->entry_count);
    at += b->bigtiff ? 8 : 2;
    for (size_t i = 0; i < d->count; i++, at += entry_size(b)) {
        tb_entry *e = &d->entries[i];
        e->entry_at = at;
        put_number(b, at, 2, e->tag);
        put_number(b, at + 2, 2, e->type);
        put_number(b, at + 4, word, e->count);
        put_number(b, at + 4 + word, word, e->value != TB_AUTO ? e->value : 0);
        if (e->value == TB_AUTO && is_inline(b, e)) {
            e->data_at = at + 4 + word;
            put(b, e->data_at, e->bytes, e->size);
        } else if (e->value == TB_AUTO) {
            put_number(b, at + 4 + word, word, e->data_at);
        }
    }
    put_number(b, at, word, next_of(b, ifd));
}

void tb_finish(tb *b)
{
    describe_only(b);
    b->finished = true;
    b->ifds_in_file = (uint64_t)b->ifd_count;
    uint64_t cursor = align2(tb_header_size(b) + b->ghost_size);
    if (b->data_first)
        cursor = place_all_tiles(b, cursor);
    cursor = place_ifds(b, cursor);
    if (!b->data_first)
        place_all_tiles(b, cursor);

    put(b, 0, b->big_endian ? "MM" : "II", 2);
    put_number(b, 2, 2, b->bigtiff ? 43 : 42);
    if (b->bigtiff)
        put_number(b, 4, 2, 8);
    put_number(b, b->bigtiff ? 8 : 4, word_size(b), b->ifd_count ? b->ifds[0].offset : 0);
    if (b->ghost_size)
        put(b, tb_header_size(b), b->ghost, b->ghost_size);
    for (int i = 0; i < b->ifd_count; i++)
        write_tiles(b, &b->ifds[i]);
    for (int i = 0; i < b->ifd_count; i++)
        write_data(b, &b->ifds[i]);
    for (int i = b->ifd_count - 1; i >= 0; i--) /* the first directory wins an overlap */
        write_ifd(b, i);
    shrink_to_fit(b);
}

/* ---------------------------------------------------------------------------------------------
 * Places and patches
 * ------------------------------------------------------------------------------------------ */

static const tb_entry *entry_of(const tb *b, int ifd, uint16_t tag)
{
    if (!b->finished)
        misuse("the file is not laid out yet");
    const tb_entry *e = find(ifd_of(b, ifd), tag);
    if (!e)
        misuse("directory %d has no tag %u", ifd, tag);
    return e;
}

uint64_t tb_ifd_at(const tb *b, int ifd)
{
    return ifd_of(b, ifd)->offset;
}

uint64_t tb_next_at(const tb *b, int ifd)
{
    const tb_ifd *d = ifd_of(b, ifd);
    return d->offset + ifd_size(b, d) - word_size(b);
}

uint64_t tb_entry_at(const tb *b, int ifd, uint16_t tag)
{
    return entry_of(b, ifd, tag)->entry_at;
}

uint64_t tb_type_at(const tb *b, int ifd, uint16_t tag)
{
    return tb_entry_at(b, ifd, tag) + 2;
}

uint64_t tb_count_at(const tb *b, int ifd, uint16_t tag)
{
    return tb_entry_at(b, ifd, tag) + 4;
}

uint64_t tb_value_at(const tb *b, int ifd, uint16_t tag)
{
    return tb_entry_at(b, ifd, tag) + 4 + word_size(b);
}

uint64_t tb_data_at(const tb *b, int ifd, uint16_t tag)
{
    return entry_of(b, ifd, tag)->data_at;
}

uint64_t tb_tile_at(const tb *b, int ifd, uint64_t tile)
{
    const tb_ifd *d = ifd_of(b, ifd);
    if (tile >= d->tile_count)
        misuse("there is no tile %llu", (unsigned long long)tile);
    return d->tile_offsets[tile];
}

uint64_t tb_tile_size(const tb *b, int ifd, uint64_t tile)
{
    const tb_ifd *d = ifd_of(b, ifd);
    if (tile >= d->tile_count)
        misuse("there is no tile %llu", (unsigned long long)tile);
    return d->tile_sizes[tile];
}

void tb_patch(tb *b, uint64_t offset, size_t size, uint64_t value)
{
    if (!b->finished || offset + size > b->size)
        misuse("patch at %llu, outside of the file", (unsigned long long)offset);
    put_number(b, offset, size, value);
}

void tb_patch_bytes(tb *b, uint64_t offset, const void *bytes, size_t size)
{
    put(b, offset, bytes, size);
    shrink_to_fit(b);
}

void tb_patch_first(tb *b, uint64_t value)
{
    tb_patch(b, b->bigtiff ? 8 : 4, word_size(b), value);
}

void tb_patch_next(tb *b, int ifd, uint64_t value)
{
    tb_patch(b, tb_next_at(b, ifd), word_size(b), value);
}

void tb_patch_entry_count(tb *b, int ifd, uint64_t value)
{
    tb_patch(b, tb_ifd_at(b, ifd), b->bigtiff ? 8 : 2, value);
}

void tb_patch_type(tb *b, int ifd, uint16_t tag, uint16_t value)
{
    tb_patch(b, tb_type_at(b, ifd, tag), 2, value);
}

void tb_patch_count(tb *b, int ifd, uint16_t tag, uint64_t value)
{
    tb_patch(b, tb_count_at(b, ifd, tag), word_size(b), value);
}

void tb_patch_value(tb *b, int ifd, uint16_t tag, uint64_t value)
{
    tb_patch(b, tb_value_at(b, ifd, tag), word_size(b), value);
}

void tb_patch_item(tb *b, int ifd, uint16_t tag, uint64_t index, uint64_t value)
{
    size_t unit = type_size(entry_of(b, ifd, tag)->type);
    tb_patch(b, tb_data_at(b, ifd, tag) + index * unit, unit, value);
}

void tb_patch_tile(tb *b, int ifd, uint64_t tile, uint64_t offset, uint64_t size)
{
    bool tiled = ifd_of(b, ifd)->spec.tile_width != 0;
    tb_patch_item(b, ifd, tiled ? TZ_TAG_TILE_OFFSETS : TZ_TAG_STRIP_OFFSETS, tile, offset);
    tb_patch_item(b, ifd, tiled ? TZ_TAG_TILE_BYTE_COUNTS : TZ_TAG_STRIP_BYTE_COUNTS, tile, size);
}

void tb_truncate(tb *b, size_t size)
{
    if (size > b->size)
        misuse("truncation to %zu of %zu bytes", size, b->size);
    b->size = size;
    shrink_to_fit(b);
}

void tb_extend(tb *b, size_t size)
{
    if (size > b->size)
        put(b, size, NULL, 0);
    shrink_to_fit(b);
}

uint64_t tb_get(const tb *b, uint64_t offset, size_t size)
{
    uint64_t value = 0;
    if (offset + size > b->size)
        misuse("look at %llu, outside of the file", (unsigned long long)offset);
    for (size_t i = 0; i < size; i++)
        value = value << 8 | b->data[offset + (b->big_endian ? i : size - 1 - i)];
    return value;
}

void tb_repeat(tb *b, int ifd, uint64_t times)
{
    const tb_ifd *d = ifd_of(b, ifd);
    size_t size = ifd_size(b, d);
    size_t stride = (size_t)align2(size);
    uint64_t first = align2(b->size);
    uint8_t *model = grow(NULL, size);
    memcpy(model, b->data + d->offset, size);
    tb_patch_next(b, ifd, first);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t at = first + i * stride;
        put(b, at, model, size);
        put_number(b, at + size - word_size(b), word_size(b), i + 1 < times ? at + stride : 0);
    }
    free(model);
    b->ifds_in_file += times;
    shrink_to_fit(b);
}

void tb_write_file(const tb *b, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data, 1, b->size, file) != b->size || fclose(file) != 0)
        misuse("cannot write %s", path);
}
