/* SPDX-License-Identifier: Apache-2.0
 * The memory of a read beyond the caller's buffer, counted at every allocation: bounded by threads
 * and tiles, whatever the size of the image; not more than its own plan says; and never more than
 * the caller allows. */
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/codec/bit_writer.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

#define MIB ((uint64_t)1 << 20)

typedef struct encoded {
    uint16_t compression;
    uint8_t *data;
    size_t size;
} encoded;

/* Every pixel of a tile is its index in it, modulo 251. */
static uint8_t pixel(size_t at)
{
    return (uint8_t)(at % 251);
}

static encoded encode_none(size_t pixels)
{
    encoded e = {1, malloc(pixels), pixels};
    for (size_t i = 0; i < pixels; i++)
        e.data[i] = pixel(i);
    return e;
}

static encoded encode_packbits(size_t pixels)
{
    encoded e = {32773, malloc(pixels + pixels / 64 + 2), 0};
    for (size_t i = 0; i < pixels;) {
        const size_t count = pixels - i < 128 ? pixels - i : 128;
        e.data[e.size++] = (uint8_t)(count - 1);
        for (size_t end = i + count; i < end; i++)
            e.data[e.size++] = pixel(i);
    }
    return e;
}

/* Codes of 9 bits only: a Clear comes before they would grow. */
static encoded encode_lzw(size_t pixels)
{
    bit_writer out = {0};
    for (size_t i = 0; i < pixels; i++) {
        if (i % 200 == 0)
            put_bits(&out, 256, 9);
        put_bits(&out, pixel(i), 9);
    }
    put_bits(&out, 257, 9);
    return (encoded){5, out.data, out.size};
}

/* Stored blocks. */
static encoded encode_deflate(size_t pixels)
{
    encoded e = {8, malloc(pixels + pixels / 1000 + 100), 2};
    uint32_t a = 1, b = 0;
    memcpy(e.data, "\x78\x01", 2);
    for (size_t i = 0; i < pixels;) {
        const size_t count = pixels - i < 65535 ? pixels - i : 65535;
        const uint8_t head[] = {i + count == pixels, (uint8_t)count, (uint8_t)(count >> 8),
                                (uint8_t)~count, (uint8_t)(~count >> 8)};
        memcpy(e.data + e.size, head, sizeof head);
        e.size += sizeof head;
        for (size_t end = i + count; i < end; i++) {
            e.data[e.size++] = pixel(i);
            a = (a + pixel(i)) % 65521;
            b = (b + a) % 65521;
        }
    }
    const uint8_t sum[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
    memcpy(e.data + e.size, sum, sizeof sum);
    e.size += sizeof sum;
    return e;
}

typedef encoded (*encoder)(size_t pixels);

static const encoder encoders[] = {encode_none, encode_packbits, encode_lzw, encode_deflate};
#define ENCODERS (sizeof encoders / sizeof encoders[0])

static bool can_decode(const encoded *e)
{
    return tf_available(&(tile_stream){.compression = e->compression});
}

/* An image of which all tiles share their bytes. */
static tb *make_image(const encoded *e, uint32_t side, uint32_t tile)
{
    tb *b = tb_new(TB_BIGTIFF);
    tb_image(b, &(tb_spec){.width = side,
                           .height = side,
                           .tile_width = tile,
                           .tile_height = tile,
                           .compression = e->compression,
                           .sparse = true});
    tb_finish(b);
    const uint64_t at = b->size;
    tb_patch_bytes(b, at, e->data, e->size);
    for (uint64_t i = 0; i < b->ifds[0].tile_count; i++)
        tb_patch_tile(b, 0, i, at, e->size);
    return b;
}

typedef struct cost {
    tz_result result;
    uint64_t peak;
    plain_report plan;
} cost;

static void check_pixels(const uint8_t *pixels, uint32_t side, uint32_t tile)
{
    for (uint32_t row = 0; row < side; row += 37) {
        for (uint32_t column = 0; column < side; column += 11)
            assert_int_equal(pixels[(size_t)row * side + column],
                             pixel((size_t)(row % tile) * tile + column % tile));
    }
}

static cost cost_of(const tz_file *file, uint32_t tile, uint32_t threads, uint64_t max_host_bytes)
{
    cost c;
    tz_error err = {.result = TZ_OK};
    const tz_info *info = tz_file_get_info(file);
    uint8_t *pixels = malloc((size_t)info->width * info->height);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = threads;
    how.max_host_bytes = max_host_bytes;
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = info->height,
                                      .width = info->width}};
    alloc_hook_install();
    c.result = plain_read(&item, &how, &c.plan, &err);
    c.peak = (uint64_t)alloc_hook_stats().peak_bytes;
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
    if (c.result == TZ_OK)
        check_pixels(pixels, info->width, tile);
    else
        assert_string_equal(err.limit, "max_host_bytes");
    free(pixels);
    return c;
}

/* ---- */

static void memory_is_bounded_by_threads_and_tiles(void **state)
{
    (void)state;
    static const struct {
        uint32_t side, tile;
    } images[] = {{512, 256}, {1024, 16}, {2048, 256}, {3000, 512}, {2048, 2048}};
    for (size_t e = 0; e < ENCODERS; e++) {
        for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
            const size_t tile = (size_t)images[i].tile * images[i].tile;
            encoded data = encoders[e](tile);
            if (can_decode(&data)) {
                tb *b = make_image(&data, images[i].side, images[i].tile);
                tz_file *file = tf_open(b);
                for (uint32_t threads = 1; threads <= 8; threads *= 2) {
                    const cost c = cost_of(file, images[i].tile, threads, 0);
                    assert_int_equal(c.result, TZ_OK);
                    assert_true(c.peak <= 64 * MIB + threads * (tile + data.size));
                    /* what the plan says holds, but for a little that is not worth planning */
                    if (c.peak > c.plan.peak_host_bytes + MIB / 4)
                        fail_msg("compression %u, side %u, tile %u, threads %u: %llu planned, %llu "
                                 "taken",
                                 data.compression, images[i].side, images[i].tile, threads,
                                 (unsigned long long)c.plan.peak_host_bytes,
                                 (unsigned long long)c.peak);
                }
                tz_close(file);
                tb_free(b);
            }
            free(data.data);
        }
    }
}

/* Sixteen times the pixels take no more than a list of their tiles. */
static void memory_does_not_grow_with_the_image(void **state)
{
    (void)state;
    enum { PART = 128, BYTES_A_TILE = 128 };
    for (size_t e = 0; e < ENCODERS; e++) {
        encoded data = encoders[e](PART * PART);
        uint64_t small = 0;
        for (uint32_t side = 1024; can_decode(&data) && side <= 4096; side *= 2) {
            tb *b = make_image(&data, side, PART);
            tz_file *file = tf_open(b);
            const cost c = cost_of(file, PART, 2, 0);
            const uint64_t tiles = (uint64_t)(side / PART) * (side / PART);
            assert_int_equal(c.result, TZ_OK);
            if (side == 1024)
                small = c.peak;
            /* neighbours may be read together, which takes an allocation of a fixed size */
            assert_true(c.peak <= small + tiles * BYTES_A_TILE + 32 * MIB);
            tz_close(file);
            tb_free(b);
        }
        free(data.data);
    }
}

static void the_callers_limit_holds(void **state)
{
    (void)state;
    enum { PART = 512 };
    for (size_t e = 0; e < ENCODERS; e++) {
        encoded data = encoders[e](PART * PART);
        if (can_decode(&data)) {
            tb *b = make_image(&data, 2048, PART);
            tz_file *file = tf_open(b);
            unsigned refused = 0, read = 0;
            for (uint64_t limit = 1024; limit < 64 * MIB; limit *= 2) {
                const cost c = cost_of(file, PART, 8, limit);
                if (c.result == TZ_OK && c.peak > limit + MIB / 4)
                    fail_msg("compression %u: %llu allowed, %llu taken", data.compression,
                             (unsigned long long)limit, (unsigned long long)c.peak);
                assert_true(c.result == TZ_OK || c.result == TZ_ERR_LIMIT);
                assert_true(c.result == TZ_OK || read == 0); /* more memory never hurts */
                *(c.result == TZ_OK ? &read : &refused) += 1;
            }
            assert_true(refused > 0 && read > 0);
            /* what one thread can do with is enough for whoever wants more */
            const cost one = cost_of(file, PART, 1, 0);
            const cost many = cost_of(file, PART, 8, one.plan.peak_host_bytes);
            assert_int_equal(many.result, TZ_OK);
            assert_true(many.plan.threads >= 1 && many.plan.threads < 8);
            tz_close(file);
            tb_free(b);
        }
        free(data.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(memory_is_bounded_by_threads_and_tiles),
        CASE(memory_does_not_grow_with_the_image),
        CASE(the_callers_limit_holds),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
