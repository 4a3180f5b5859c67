/* SPDX-License-Identifier: Apache-2.0
 * The first half of the builder: describing a file. */
#include "support/tiff_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/tiff_builder_internal.h"

/* ---------------------------------------------------------------------------------------------
 * Small things
 * ------------------------------------------------------------------------------------------ */

void tb_misuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("tiff_builder: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

void *tb_grow(void *block, size_t size)
{
    void *grown = realloc(block, size ? size : 1);
    if (!grown)
        tb_misuse("no memory for %zu bytes", size);
    return grown;
}

const char *tb_format_name(unsigned format)
{
    static const char *const names[TB_FORMATS] = {"little-endian TIFF", "big-endian TIFF",
                                                  "little-endian BigTIFF", "big-endian BigTIFF"};
    return format < TB_FORMATS ? names[format] : "?";
}

void tb_encode(bool big_endian, uint8_t *dst, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        size_t shift = 8 * (big_endian ? size - 1 - i : i);
        dst[i] = (uint8_t)(shift < 64 ? value >> shift : 0);
    }
}

tb_ifd *tb_ifd_of(const tb *b, int ifd)
{
    if (ifd < 0 || ifd >= b->ifd_count)
        tb_misuse("there is no directory %d", ifd);
    return &b->ifds[ifd];
}

tb_entry *tb_entry_in(const tb_ifd *d, uint16_t tag)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->entries[i].tag == tag)
            return &d->entries[i];
    return NULL;
}

void tb_describe_only(const tb *b)
{
    if (b->finished)
        tb_misuse("the file is laid out; only patches now");
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------ */

tb *tb_new(unsigned format)
{
    tb *b = tb_grow(NULL, sizeof *b);
    *b = (tb){.format = format,
              .big_endian = (format & TB_BIG_ENDIAN) != 0,
              .bigtiff = (format & TB_BIGTIFF) != 0};
    return b;
}

tb *tb_raw(unsigned format, const void *bytes, size_t size)
{
    tb *b = tb_new(format);
    b->finished = true;
    b->data = tb_grow(NULL, size);
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
    tb_describe_only(b);
    tb_ifd *d = tb_ifd_of(b, ifd);
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? d->capacity * 2 : 16;
        d->entries = tb_grow(d->entries, d->capacity * sizeof *d->entries);
    }
    tb_entry *e = &d->entries[d->count++];
    *e = (tb_entry){.tag = tag, .at = TB_AUTO, .value = TB_AUTO};
    return e;
}

/* The entry, emptied. */
static tb_entry *renew(tb *b, int ifd, uint16_t tag)
{
    tb_describe_only(b);
    tb_entry *e = tb_entry_in(tb_ifd_of(b, ifd), tag);
    if (!e)
        return append(b, ifd, tag);
    free(e->bytes);
    free(e->links);
    *e = (tb_entry){.tag = tag, .at = TB_AUTO, .value = TB_AUTO};
    return e;
}

tb_entry *tb_find(tb *b, int ifd, uint16_t tag)
{
    tb_entry *e = tb_entry_in(tb_ifd_of(b, ifd), tag);
    if (!e)
        tb_misuse("directory %d has no tag %u", ifd, tag);
    return e;
}

void tb_remove(tb *b, int ifd, uint16_t tag)
{
    tb_describe_only(b);
    tb_ifd *d = tb_ifd_of(b, ifd);
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
    e->bytes = tb_grow(NULL, size);
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

size_t tb_type_size(uint16_t type)
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
    size_t unit = is_rational(type) ? 4 : tb_type_size(type);
    e->type = type;
    e->count = is_rational(type) ? count / 2 : count;
    e->size = count * unit;
    e->bytes = tb_grow(NULL, e->size);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = is_float ? float_bits(type, (double)(int64_t)values[i]) : values[i];
        tb_encode(b->big_endian, e->bytes + i * unit, unit, bits);
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
    size_t unit = tb_type_size(type);
    e->type = type;
    e->count = count;
    e->size = count * unit;
    e->bytes = tb_grow(NULL, e->size);
    for (size_t i = 0; i < count; i++)
        tb_encode(b->big_endian, e->bytes + i * unit, unit, float_bits(type, values[i]));
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
    tb_describe_only(b);
    if (b->ifd_count == b->ifd_capacity) {
        b->ifd_capacity = b->ifd_capacity ? b->ifd_capacity * 2 : 4;
        b->ifds = tb_grow(b->ifds, (size_t)b->ifd_capacity * sizeof *b->ifds);
    }
    b->ifds[b->ifd_count] =
        (tb_ifd){.at = TB_AUTO, .entry_count = TB_AUTO, .chained = true, .next = TB_NEXT_IN_CHAIN};
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
    uint64_t *values = tb_grow(NULL, samples * sizeof *values);
    for (uint16_t i = 0; i < samples; i++)
        values[i] = value;
    tb_set(b, ifd, tag, TZ_TYPE_SHORT, values, samples);
    free(values);
}

static void set_tables(tb *b, int ifd, const tb_spec *s, uint16_t offsets_tag, uint16_t sizes_tag)
{
    tb_ifd *d = tb_ifd_of(b, ifd);
    uint64_t across = s->tile_width ? ceil_div(s->width, s->tile_width) : 1;
    uint64_t down = ceil_div(s->height, s->tile_width ? s->tile_height : s->rows_per_strip);
    d->tile_count = across * down * (s->planar == 2 ? s->samples : 1);
    d->tile_offsets = tb_grow(NULL, d->tile_count * sizeof *d->tile_offsets);
    d->tile_sizes = tb_grow(NULL, d->tile_count * sizeof *d->tile_sizes);
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
    tb_ifd_of(b, ifd)->spec = s;
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
    return tb_image(
        b, &(tb_spec){.width = width, .height = height, .tile_width = tile, .tile_height = tile});
}

int tb_overview(tb *b, int of, uint32_t width, uint32_t height)
{
    tb_spec s = tb_ifd_of(b, of)->spec;
    s.width = width;
    s.height = height;
    s.rows_per_strip = 0;
    s.subfile |= 1;
    return tb_image(b, &s);
}

int tb_mask(tb *b, int of)
{
    tb_spec s = tb_ifd_of(b, of)->spec;
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
    e->links = tb_grow(NULL, count * sizeof *e->links);
    e->size = count * tb_type_size(type);
    e->bytes = tb_grow(e->bytes, e->size);
    memset(e->bytes, 0, e->size);
    for (size_t i = 0; i < count; i++) {
        e->links[i] = targets[i];
        if (targets[i] != 0) { /* the first directory stays what it is */
            tb_ifd_of(b, targets[i])->chained = false;
            tb_ifd_of(b, targets[i])->next = -1;
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
    tb_describe_only(b);
    b->ghost = tb_grow(b->ghost, size);
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
