/* SPDX-License-Identifier: Apache-2.0
 * A batch of tiles of all kinds, encoded on a device and moved together, beside the result of the
 * encoders of the CPU. */
#ifndef TESTS_SUPPORT_DEVICE_ENCODE_BATCH_H
#define TESTS_SUPPORT_DEVICE_ENCODE_BATCH_H

#include "codec/deflate_fast.h"
#include "device/device_state.h"
#include "device/ops/encode.h"
#include "support/codec/encode_run.h"

enum { BATCH_BEFORE = 4, BATCH_AFTER = 7, BATCH_POISON = 0x5A };

typedef struct encode_batch {
    const tz_encoder *encoder;
    uint32_t row_bytes; /* 0: a tile is one row */
    uint64_t count;
    uint8_t **rows; /* samples of each tile */
    uint32_t *row_sizes;
    bool *skipped;
    /* where things are */
    tz_encode_entry *tiles;
    tz_encode_batch device;
    tz_compact_batch compact;
    uint64_t skips, size;
    uint8_t *slab; /* as it came back */
} encode_batch;

static inline encode_batch batch_of(const tz_encoder *encoder, uint64_t count, uint32_t row_bytes)
{
    encode_batch b = {.encoder = encoder, .row_bytes = row_bytes, .count = count};
    b.rows = calloc(count + 1, sizeof *b.rows);
    b.row_sizes = calloc(count + 1, sizeof *b.row_sizes);
    b.skipped = calloc(count + 1, sizeof *b.skipped);
    b.tiles = calloc(count + 1, sizeof *b.tiles);
    assert_true(b.rows && b.row_sizes && b.skipped && b.tiles);
    return b;
}

static inline void batch_free(encode_batch *b)
{
    for (uint64_t i = 0; i < b->count; i++)
        free(b->rows[i]);
    free(b->rows);
    free(b->row_sizes);
    free(b->skipped);
    free(b->tiles);
    free(b->slab);
}

static inline void batch_set(encode_batch *b, uint64_t tile, encode_kind kind, uint32_t size)
{
    b->rows[tile] = encode_rows(kind, size > 0 ? size : 1);
    b->row_sizes[tile] = size;
}

static inline tz_tile_format batch_format(const encode_batch *b, uint32_t size)
{
    const uint32_t row = b->row_bytes > 0 ? b->row_bytes : size;
    return encode_format(b->encoder, row, row > 0 ? size / row : 0);
}

static inline tz_encode_options batch_choice(void)
{
    return (tz_encode_options){.level = TZ_EFFORT_FAST};
}

static inline uint64_t batch_take(uint64_t *at, uint64_t size, uint64_t align)
{
    const uint64_t place = (*at + align - 1) / align * align;
    *at = place + size;
    return place;
}

/* Samples at odd offsets, and something between all that is written. */
static inline void batch_lay_out(encode_batch *b, tz_device_memory *slab)
{
    uint64_t at = 24;
    const tz_encode_options choice = batch_choice();
    b->device = (tz_encode_batch){.compression = encoder_compression(b->encoder),
                                  .row_bytes = b->row_bytes,
                                  .slab = slab,
                                  .tiles = b->tiles,
                                  .count = b->count};
    b->device.table = batch_take(&at, b->count * sizeof *b->tiles, 8);
    b->device.sizes = batch_take(&at, 4 * b->count, 8);
    b->compact = (tz_compact_batch){.tiles = &b->device, .before = BATCH_BEFORE};
    b->compact.after = BATCH_AFTER;
    b->compact.offsets = batch_take(&at, 8 * (b->count + 1), 8);
    b->skips = batch_take(&at, 4 * b->count, 4);
    for (uint64_t i = 0; i < b->count; i++) {
        const uint32_t size = b->row_sizes[i];
        const tz_tile_format format = batch_format(b, size);
        tz_encode_entry *tile = &b->tiles[i];
        tile->size = size;
        tile->capacity = size > 0 ? (uint32_t)b->encoder->bound(&format, &choice) : 0;
        tile->from = batch_take(&at, size, 1) + i % 3;
        at += i % 3 + 1;
        tile->to = batch_take(&at, tile->capacity, 8);
        tile->skip = i % 2 || b->skipped[i] ? b->skips + 4 * i : TZ_NO_VALUE;
    }
    b->compact.capacity = tz_compact_capacity(&b->compact);
    b->compact.to = batch_take(&at, b->compact.capacity, 1) + 1;
    b->size = at + 64;
}

static inline uint8_t *batch_fill(const encode_batch *b)
{
    uint8_t *slab = run_alloc(b->size);
    memset(slab, BATCH_POISON, b->size);
    if (b->count > 0)
        memcpy(slab + b->device.table, b->tiles, b->count * sizeof *b->tiles);
    for (uint64_t i = 0; i < b->count; i++) {
        const uint32_t skip = b->skipped[i] ? (uint32_t)(1 + i) << (i % 20) : 0;
        memcpy(slab + b->skips + 4 * i, &skip, sizeof skip);
        memcpy(slab + b->tiles[i].from, b->rows[i], b->row_sizes[i]);
    }
    return slab;
}

/* Returns the size that the slab should have for a tile. */
static inline uint32_t batch_size(const encode_batch *b, uint64_t tile)
{
    uint32_t size;
    memcpy(&size, b->slab + b->device.sizes + 4 * tile, sizeof size);
    return size;
}

static inline uint64_t batch_place(const encode_batch *b, uint64_t tile)
{
    uint64_t place;
    memcpy(&place, b->slab + b->compact.offsets + 8 * tile, sizeof place);
    return place;
}

/* Encodes on the CPU: bytes, and the size with TZ_ENCODE_LEFT_TO_CPU. */
static inline uint32_t batch_expect(const encode_batch *b, uint64_t tile, encoded *out)
{
    const uint32_t size = b->row_sizes[tile];
    const bool is_deflate = encoder_compression(b->encoder) == 8;
    if (is_deflate && tz_deflate_wants_matches(b->rows[tile], size)) {
        out->bytes = run_alloc(size);
        out->size = size;
        memcpy(out->bytes, b->rows[tile], size);
        return size | TZ_ENCODE_LEFT_TO_CPU;
    }
    encode_run run;
    const tz_tile_format format = batch_format(b, size);
    encode_open(&run, b->encoder, &format, is_deflate ? TZ_EFFORT_FAST : 0);
    assert_int_equal(encode_once(&run, b->rows[tile], 0x11, out), TZ_OK);
    encode_close(&run);
    return (uint32_t)out->size;
}

static inline void batch_check_tile(const encode_batch *b, uint64_t tile, uint64_t *at)
{
    encoded expected = {.bytes = NULL};
    const uint32_t size = batch_size(b, tile);
    const uint64_t place = batch_place(b, tile);
    if (b->skipped[tile] || b->row_sizes[tile] == 0) {
        assert_int_equal(size, 0);
        assert_int_equal(place, *at);
        return;
    }
    assert_int_equal(size, batch_expect(b, tile, &expected));
    assert_int_equal(place, *at + BATCH_BEFORE);
    const uint8_t *found = b->slab + b->compact.to + place;
    assert_memory_equal(found, expected.bytes, expected.size);
    for (uint64_t i = 1; i <= BATCH_BEFORE; i++)
        assert_int_equal(*(found - i), BATCH_POISON);
    for (uint64_t i = 0; i < BATCH_AFTER; i++)
        assert_int_equal(found[expected.size + i], BATCH_POISON);
    *at = place + expected.size + BATCH_AFTER;
    free(expected.bytes);
}

/* All that came back: tiles, and nothing where nothing belongs. */
static inline void batch_check(const encode_batch *b)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        const tz_encode_entry *tile = &b->tiles[i];
        batch_check_tile(b, i, &at);
        assert_memory_equal(b->slab + tile->from, b->rows[i], tile->size);
        assert_int_equal(b->slab[tile->from + tile->size], BATCH_POISON);
        assert_int_equal(b->slab[tile->to - 1], BATCH_POISON);
    }
    assert_int_equal(batch_place(b, b->count), at);
    assert_true(at <= b->compact.capacity);
    for (uint64_t i = b->compact.to + at; i < b->size; i++)
        assert_int_equal(b->slab[i], BATCH_POISON);
}

#endif
