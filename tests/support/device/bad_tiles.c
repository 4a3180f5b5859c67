/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/bad_tiles.h"

#include <stdio.h>
#include <string.h>

#include "support/scratch.h"

enum { ACROSS = BAD_TILES_ACROSS, OTHERS = 80, SPARSE_EACH = 27 };

static uint32_t rows_for(uint32_t bad)
{
    return (bad + OTHERS + ACROSS - 1) / ACROSS;
}

bool bad_tiles_is_sparse(uint32_t tile)
{
    return tile % SPARSE_EACH == 3;
}

static uint32_t sparse_before(uint32_t tile)
{
    return (tile + SPARSE_EACH - 4) / SPARSE_EACH;
}

int64_t bad_tiles_number(uint32_t bad, uint32_t tile)
{
    const uint32_t tiles = ACROSS * rows_for(bad);
    const uint32_t stored = tiles - sparse_before(tiles);
    const uint32_t n = tile - sparse_before(tile);
    const uint64_t before = ((uint64_t)n * bad + stored / 2) / stored;
    const uint64_t after = ((uint64_t)(n + 1) * bad + stored / 2) / stored;
    return !bad_tiles_is_sparse(tile) && after > before ? (int64_t)before : -1;
}

bool bad_tiles_is_lost(int64_t number)
{
    return number % 2 == 1;
}

static void put_tile(tb *b, bad_tiles *f, const tile_stream *stream, uint32_t tile)
{
    uint8_t bytes[512];
    const int64_t number = bad_tiles_number(f->bad, tile);
    size_t size = stream->size;
    memset(bytes, 0xA5, sizeof bytes);
    memcpy(bytes, stream->data, size);
    if (number >= 0) {
        size += bad_tiles_is_lost(number) ? 0 : 1 + (size_t)number % 50;
        size -= bad_tiles_is_lost(number) ? 5 + (size_t)number % 50 : 0;
        f->bad_bytes += size;
    }
    if (bad_tiles_is_sparse(tile))
        tb_patch_tile(b, 0, tile, 0, 0);
    else
        tf_put(b, tile, bytes, size);
}

bad_tiles bad_tiles_make(const tile_stream *stream, uint32_t bad)
{
    bad_tiles f = {.bad = bad};
    direct_image *image = &f.image;
    tz_error err;
    tb *b = tf_new(TB_CLASSIC, stream, ACROSS, rows_for(bad), NULL);
    image->tiles = (uint64_t)ACROSS * rows_for(bad);
    f.sparse = sparse_before((uint32_t)image->tiles);
    for (uint32_t tile = 0; tile < image->tiles; tile++)
        put_tile(b, &f, stream, tile);
    scratch_write("bad", b->data, b->size);
    tb_free(b);
    (void)snprintf(image->path, sizeof image->path, "%s", scratch_path("bad"));
    assert_int_equal(tz_open(&image->file, image->path, NULL, &err), TZ_OK);
    return f;
}
