/* SPDX-License-Identifier: Apache-2.0
 * TIFF files with old-style JPEG (compression 6), in the forms that writers gave it. */
#ifndef TESTS_SUPPORT_CODEC_OLD_JPEG_FILE_H
#define TESTS_SUPPORT_CODEC_OLD_JPEG_FILE_H

#include "support/codec/jpeg_streams.h"

enum { OLD_WIDTH = 40, OLD_HEIGHT = 40, OLD_ROWS = 16, OLD_STRIPS = 3, OLD_MAX_ENTRIES = 40 };
enum { OLD_SHORT = 3, OLD_LONG = 4 };

/* A little-endian classic TIFF that grows. */
typedef struct old_file {
    uint8_t *data;
    size_t size;
    size_t room;
    struct old_entry {
        uint16_t tag, type;
        uint32_t count, values[8];
    } entries[OLD_MAX_ENTRIES];
    size_t entry_count;
} old_file;

/* Returns the offset of the bytes. */
static inline uint32_t old_put(old_file *f, const void *bytes, size_t size)
{
    const size_t at = f->size;
    if (f->size + size > f->room) {
        f->room = 2 * (f->size + size);
        f->data = realloc(f->data, f->room);
        if (!f->data)
            abort();
    }
    memcpy(f->data + at, bytes, size);
    f->size += size;
    return (uint32_t)at;
}

static inline void old_number(old_file *f, uint32_t value, size_t size)
{
    const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                             (uint8_t)(value >> 24)};
    old_put(f, bytes, size);
}

static inline void old_set(old_file *f, uint16_t tag, uint16_t type, uint32_t count,
                           const uint32_t *values)
{
    size_t i = 0;
    while (i < f->entry_count && f->entries[i].tag != tag)
        i++;
    f->entries[i] = (struct old_entry){.tag = tag, .type = type, .count = count};
    memcpy(f->entries[i].values, values, count * sizeof *values);
    f->entry_count = i == f->entry_count ? i + 1 : f->entry_count;
}
#define OLD_SET(f, tag, type, ...)                                                                 \
    old_set(f, tag, type, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),              \
            (const uint32_t[]){__VA_ARGS__})

static inline void old_remove(old_file *f, uint16_t tag)
{
    for (size_t i = 0; i < f->entry_count; i++)
        if (f->entries[i].tag == tag) {
            memmove(&f->entries[i], &f->entries[i + 1],
                    (f->entry_count - i - 1) * sizeof f->entries[0]);
            f->entry_count--;
            return;
        }
}

static inline int old_order(const void *a, const void *b)
{
    const struct old_entry *x = a, *y = b;
    return x->tag - y->tag;
}

/* Writes the directory at the end. */
static inline void old_finish(old_file *f)
{
    uint32_t offsets[OLD_MAX_ENTRIES] = {0};
    qsort(f->entries, f->entry_count, sizeof f->entries[0], old_order);
    if (f->size % 2)
        old_number(f, 0, 1);
    for (size_t i = 0; i < f->entry_count; i++) {
        const struct old_entry *e = &f->entries[i];
        const size_t width = e->type == OLD_SHORT ? 2 : 4;
        offsets[i] = (uint32_t)f->size;
        for (uint32_t k = 0; e->count * width > 4 && k < e->count; k++)
            old_number(f, e->values[k], width);
        if (f->size % 4)
            old_number(f, 0, 2);
    }
    const uint32_t at = (uint32_t)f->size;
    old_number(f, (uint32_t)f->entry_count, 2);
    for (size_t i = 0; i < f->entry_count; i++) {
        const struct old_entry *e = &f->entries[i];
        const size_t width = e->type == OLD_SHORT ? 2 : 4;
        old_number(f, e->tag, 2), old_number(f, e->type, 2), old_number(f, e->count, 4);
        if (e->count * width > 4) {
            old_number(f, offsets[i], 4);
            continue;
        }
        for (uint32_t k = 0; k < e->count; k++)
            old_number(f, e->values[k], width);
        old_number(f, 0, 4 - e->count * width);
    }
    old_number(f, 0, 4);
    memcpy(f->data + 4, &(const uint8_t[]){(uint8_t)at, (uint8_t)(at >> 8), (uint8_t)(at >> 16), 0},
           4);
}

static inline void old_begin(old_file *f, unsigned samples, unsigned bits)
{
    static const uint8_t header[8] = {'I', 'I', 42, 0};
    const uint32_t depths[4] = {bits, bits, bits, bits};
    *f = (old_file){0};
    old_put(f, header, sizeof header);
    OLD_SET(f, 256, OLD_LONG, OLD_WIDTH);
    OLD_SET(f, 257, OLD_LONG, OLD_HEIGHT);
    old_set(f, 258, OLD_SHORT, samples, depths);
    OLD_SET(f, 259, OLD_SHORT, 6);
    OLD_SET(f, 262, OLD_SHORT, samples == 3 ? 6 : 1);
    OLD_SET(f, 277, OLD_SHORT, samples);
    OLD_SET(f, 512, OLD_SHORT, 1);
    OLD_SET(f, 530, OLD_SHORT, 2, 2);
}

/* The strips as streams of their own, with the same tables, and the whole image as one. */
typedef struct old_picture {
    unsigned samples;
    stream strips[OLD_STRIPS];
    stream whole;
    uint8_t *strip_pixels; /* what libjpeg makes of the strips */
    uint8_t *whole_pixels;
} old_picture;

static inline recipe old_recipe(unsigned samples, unsigned height)
{
    const recipe color = {.width = OLD_WIDTH, .height = height, YCBCR, .h = 2, .v = 2};
    const recipe grey = {.width = OLD_WIDTH, .height = height, GREY};
    return samples == 3 ? color : grey;
}

static inline unsigned old_strip_rows(unsigned strip)
{
    return strip + 1 < OLD_STRIPS ? OLD_ROWS : OLD_HEIGHT - (OLD_STRIPS - 1) * OLD_ROWS;
}

static inline old_picture old_picture_make(unsigned samples)
{
    const size_t row = (size_t)OLD_WIDTH * samples;
    uint8_t *pixels = run_picture(OLD_WIDTH, OLD_HEIGHT, samples);
    old_picture p = {.samples = samples};
    p.strip_pixels = run_alloc(row * OLD_HEIGHT);
    for (unsigned i = 0; i < OLD_STRIPS; i++) {
        const recipe r = old_recipe(samples, old_strip_rows(i));
        p.strips[i] = encode(&r, pixels + i * OLD_ROWS * row);
        uint8_t *found = reference(&r, &p.strips[i]);
        memcpy(p.strip_pixels + i * OLD_ROWS * row, found, r.height * row);
        free(found);
    }
    const recipe r = old_recipe(samples, OLD_HEIGHT);
    p.whole = encode(&r, pixels);
    p.whole_pixels = reference(&r, &p.whole);
    free(pixels);
    return p;
}

static inline void old_picture_free(old_picture *p)
{
    for (unsigned i = 0; i < OLD_STRIPS; i++)
        free_stream(&p->strips[i]);
    free_stream(&p->whole);
    free(p->strip_pixels);
    free(p->whole_pixels);
}

/* Returns the offset of the entropy-coded data of a stream, and its length without the end of
 * image. */
static inline size_t old_data_at(const stream *s)
{
    const size_t scan = find_marker(s, SOS, 0);
    return scan + 2 + (size_t)(s->data[scan + 2] << 8 | s->data[scan + 3]);
}
static inline size_t old_data_size(const stream *s)
{
    return s->size - old_data_at(s) - 2;
}

/* Bare tables of a stream, as JPEGQTables, JPEGDCTables and JPEGACTables point to them. libjpeg's
 * segments have one table each. */
static inline void old_put_tables(old_file *f, const old_picture *p)
{
    uint32_t offsets[3][3] = {{0}};
    for (size_t at = 2; p->whole.data[at + 1] != SOS;) {
        const size_t size = (size_t)(p->whole.data[at + 2] << 8 | p->whole.data[at + 3]);
        const uint8_t marker = p->whole.data[at + 1], number = p->whole.data[at + 4];
        if (marker == DQT || marker == DHT) {
            const unsigned kind = marker == DQT ? 0 : 1 + (number >> 4);
            offsets[kind][number & 15] = old_put(f, p->whole.data + at + 5, size - 3);
        }
        at += 2 + size;
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        offsets[kind][2] = offsets[kind][1]; /* both colours have the second one */
        old_set(f, (uint16_t)(519 + kind), OLD_LONG, p->samples, offsets[kind]);
    }
}

static inline void old_set_strips(old_file *f, unsigned count, const uint32_t *offsets,
                                  const uint32_t *sizes)
{
    old_set(f, 273, OLD_LONG, count, offsets);
    old_set(f, 279, OLD_LONG, count, sizes);
    OLD_SET(f, 278, OLD_LONG, count == 1 ? OLD_HEIGHT : OLD_ROWS);
}

/* Data of each strip, the first one with skipped more bytes before it. */
static inline void old_put_strips(old_file *f, const old_picture *p, size_t more)
{
    uint32_t offsets[OLD_STRIPS], sizes[OLD_STRIPS];
    for (unsigned i = 0; i < OLD_STRIPS; i++) {
        const stream *s = &p->strips[i];
        const size_t before = i == 0 ? more : 0;
        sizes[i] = (uint32_t)(old_data_size(s) + before);
        offsets[i] = old_put(f, s->data + old_data_at(s) - before, sizes[i]);
    }
    old_set_strips(f, OLD_STRIPS, offsets, sizes);
}

/* The first size bytes of a stream as JPEGInterchangeFormat, its frame as high as the image. */
static inline uint32_t old_put_stream(old_file *f, const stream *s, size_t size)
{
    const uint32_t at = old_put(f, s->data, size);
    const size_t frame = at + find_marker(s, SOF0, 0);
    f->data[frame + 6] = OLD_HEIGHT;
    OLD_SET(f, 513, OLD_LONG, at);
    OLD_SET(f, 514, OLD_LONG, (uint32_t)size);
    return at;
}

/* One stream with a restart marker after each row of units, of which a strip has two but for the
 * last. The strips are inside of it. */
static inline void old_put_restarts(old_file *f, const old_picture *p, bool interval_in_stream)
{
    const stream *first = &p->strips[0];
    const uint8_t interval[] = {0xFF, 0xDD, 0, 4, 0, 3}; /* units in a row: 40 pixels by 16 */
    const size_t scan = find_marker(first, SOS, 0);
    const uint32_t start = old_put_stream(f, first, scan);
    if (interval_in_stream)
        old_put(f, interval, sizeof interval);
    else
        OLD_SET(f, 515, OLD_SHORT, 3);
    old_put(f, first->data + scan, old_data_at(first) - scan);
    uint32_t offsets[2] = {(uint32_t)f->size, 0}, sizes[2] = {0};
    for (unsigned i = 0; i < OLD_STRIPS; i++) {
        if (i == 2)
            offsets[1] = (uint32_t)f->size;
        old_put(f, p->strips[i].data + old_data_at(&p->strips[i]), old_data_size(&p->strips[i]));
        sizes[i / 2] = (uint32_t)f->size - offsets[i / 2];
        if (i + 1 < OLD_STRIPS)
            old_put(f, &(const uint8_t[]){0xFF, (uint8_t)(0xD5 + i)}, 2);
    }
    old_put(f, "\xFF\xD9", 2);
    OLD_SET(f, 514, OLD_LONG, (uint32_t)f->size - start);
    old_set_strips(f, 2, offsets, sizes);
    OLD_SET(f, 278, OLD_LONG, 2 * OLD_ROWS);
}

#endif
