/* SPDX-License-Identifier: Apache-2.0
 * The second half of the builder: where everything goes, writing it, and patches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/tiff_builder_internal.h"

/* ---------------------------------------------------------------------------------------------
 * Layout
 * ------------------------------------------------------------------------------------------ */

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

uint64_t tb_header_size(const tb *b)
{
    return b->bigtiff ? 16 : 8;
}

static void put(tb *b, uint64_t offset, const void *bytes, size_t size)
{
    size_t end = (size_t)offset + size;
    if (end > b->room) {
        b->room = end * 2;
        b->data = tb_grow(b->data, b->room);
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
    tb_encode(b->big_endian, bytes, size, value);
    put(b, offset, bytes, size);
}

static void shrink_to_fit(tb *b)
{
    b->data = tb_grow(b->data, b->size);
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
                d->entries[k].size = (size_t)d->entries[k].count * tb_type_size(d->entries[k].type);
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
        uint8_t *tile = tb_grow(NULL, size);
        for (size_t k = 0; k < size; k++)
            tile[k] = (uint8_t)(i * 37 + k * 7 + 1);
        if (size)
            put(b, at, tile, size);
        if (size && b->leaders) {
            uint8_t leader[4], trailer[4] = {0};
            tb_encode(false, leader, 4, size); /* little-endian in every file */
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
    size_t unit = tb_type_size(e->type);
    e->bytes = tb_grow(e->bytes, e->size);
    for (size_t i = 0; i < e->count; i++)
        tb_encode(b->big_endian, e->bytes + i * unit, unit, i < d->tile_count ? values[i] : 0);
}

static void fill_links(const tb *b, tb_entry *e)
{
    size_t unit = tb_type_size(e->type);
    for (size_t i = 0; i < e->size / unit; i++)
        tb_encode(b->big_endian, e->bytes + i * unit, unit, tb_ifd_of(b, e->links[i])->offset);
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
        return d->next < 0 ? 0 : tb_ifd_of(b, d->next)->offset;
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
    tb_describe_only(b);
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
        tb_misuse("the file is not laid out yet");
    const tb_entry *e = tb_entry_in(tb_ifd_of(b, ifd), tag);
    if (!e)
        tb_misuse("directory %d has no tag %u", ifd, tag);
    return e;
}

uint64_t tb_ifd_at(const tb *b, int ifd)
{
    return tb_ifd_of(b, ifd)->offset;
}

uint64_t tb_next_at(const tb *b, int ifd)
{
    const tb_ifd *d = tb_ifd_of(b, ifd);
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
    const tb_ifd *d = tb_ifd_of(b, ifd);
    if (tile >= d->tile_count)
        tb_misuse("there is no tile %llu", (unsigned long long)tile);
    return d->tile_offsets[tile];
}

uint64_t tb_tile_size(const tb *b, int ifd, uint64_t tile)
{
    const tb_ifd *d = tb_ifd_of(b, ifd);
    if (tile >= d->tile_count)
        tb_misuse("there is no tile %llu", (unsigned long long)tile);
    return d->tile_sizes[tile];
}

void tb_patch(tb *b, uint64_t offset, size_t size, uint64_t value)
{
    if (!b->finished || offset + size > b->size)
        tb_misuse("patch at %llu, outside of the file", (unsigned long long)offset);
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
    size_t unit = tb_type_size(entry_of(b, ifd, tag)->type);
    tb_patch(b, tb_data_at(b, ifd, tag) + index * unit, unit, value);
}

void tb_patch_tile(tb *b, int ifd, uint64_t tile, uint64_t offset, uint64_t size)
{
    bool tiled = tb_ifd_of(b, ifd)->spec.tile_width != 0;
    tb_patch_item(b, ifd, tiled ? TZ_TAG_TILE_OFFSETS : TZ_TAG_STRIP_OFFSETS, tile, offset);
    tb_patch_item(b, ifd, tiled ? TZ_TAG_TILE_BYTE_COUNTS : TZ_TAG_STRIP_BYTE_COUNTS, tile, size);
}

void tb_truncate(tb *b, size_t size)
{
    if (size > b->size)
        tb_misuse("truncation to %zu of %zu bytes", size, b->size);
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
        tb_misuse("look at %llu, outside of the file", (unsigned long long)offset);
    for (size_t i = 0; i < size; i++)
        value = value << 8 | b->data[offset + (b->big_endian ? i : size - 1 - i)];
    return value;
}

void tb_repeat(tb *b, int ifd, uint64_t times)
{
    const tb_ifd *d = tb_ifd_of(b, ifd);
    size_t size = ifd_size(b, d);
    size_t stride = (size_t)align2(size);
    uint64_t first = align2(b->size);
    uint8_t *model = tb_grow(NULL, size);
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
        tb_misuse("cannot write %s", path);
}
