/* SPDX-License-Identifier: Apache-2.0 */
#include "support/known_image.h"
#include "support/plain_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

uint64_t pixel(uint32_t band, uint32_t row, uint32_t column, unsigned bits)
{
    const uint64_t value = band * UINT64_C(1009) + row * UINT64_C(131) + column * UINT64_C(17);
    return bits == 64 ? value * UINT64_C(0x100000001) : value & ((UINT64_C(1) << bits) - 1);
}

static void store(uint8_t *p, uint64_t value, unsigned bytes, bool big_endian)
{
    for (unsigned i = 0; i < bytes; i++)
        p[big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void fill_tile(tb *b, int ifd, uint64_t tile)
{
    const tb_spec *s = &b->ifds[ifd].spec;
    const uint32_t tile_width = s->tile_width ? s->tile_width : s->width;
    const uint32_t tile_height = s->tile_height ? s->tile_height : s->rows_per_strip;
    const uint32_t across = (s->width + tile_width - 1) / tile_width;
    const uint32_t down = (s->height + tile_height - 1) / tile_height;
    const unsigned bytes = s->bits / 8u;
    const uint32_t inside = s->planar == 2 ? 1 : s->samples;
    const uint32_t plane = (uint32_t)(tile / across / down);
    uint8_t *p = b->data + b->ifds[ifd].tile_offsets[tile];
    for (uint32_t row = 0; row < tile_height; row++) {
        const uint32_t y = (uint32_t)(tile / across % down) * tile_height + row;
        if (!s->tile_height && y >= s->height)
            break;
        for (uint32_t i = 0; i < tile_width * inside; i++, p += bytes) {
            const uint32_t x = (uint32_t)(tile % across) * tile_width + i / inside;
            const uint32_t band = s->planar == 2 ? plane : i % inside;
            store(p, pixel(band, y, x, s->bits), bytes, b->big_endian);
        }
    }
}

tb *make_image(unsigned format, tb_spec spec)
{
    const uint32_t tile_width = spec.tile_width ? spec.tile_width : spec.width;
    if (!spec.tile_height && !spec.rows_per_strip)
        spec.rows_per_strip = spec.height;
    const uint32_t tile_height = spec.tile_height ? spec.tile_height : spec.rows_per_strip;
    spec.samples = spec.samples ? spec.samples : 1;
    spec.planar = spec.planar ? spec.planar : 1;
    spec.tile_bytes =
        tile_width * tile_height * (spec.planar == 2 ? 1u : spec.samples) * spec.bits / 8u;
    tb *b = tb_new(format);
    const int ifd = tb_image(b, &spec);
    b->ifds[ifd].spec = spec;
    return b;
}

tz_file *open_filled(tb *b)
{
    tz_file *file = NULL;
    tz_error err;
    if (!b->finished)
        tb_finish(b);
    for (int ifd = 0; ifd < b->ifd_count; ifd++) {
        for (uint64_t i = 0; !b->ifds[ifd].spec.sparse && i < b->ifds[ifd].tile_count; i++)
            fill_tile(b, ifd, i);
    }
    if (tz_open_memory(&file, b->data, b->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

image open_built(tb *b)
{
    image i = {.b = b, .file = open_filled(b)};
    i.info = tz_file_get_info(i.file);
    return i;
}

image open_image(unsigned format, tb_spec spec)
{
    return open_built(make_image(format, spec));
}

void close_image(image *i)
{
    tz_close(i->file);
    tb_free(i->b);
}

const tb_spec tiled = {
    .width = 50, .height = 41, .tile_width = 16, .tile_height = 32, .bits = 16, .samples = 3};

void read_ok(const plain_item *item, const tz_read_options *how, plain_report *report)
{
    tz_error err;
    if (plain_read(item, how, report, &err) != TZ_OK)
        fail_msg("%s", err.message);
}

void read_fails(const plain_item *item, const tz_read_options *how, tz_result result,
                tz_cause cause)
{
    tz_error err = {.result = TZ_OK};
    assert_int_equal(plain_read(item, how, NULL, &err), result);
    assert_int_equal(err.cause, cause);
    assert_true(err.message[0] != '\0');
    assert_int_equal(plain_plan_read(NULL, item, 1, how, NULL), result);
}
