/* SPDX-License-Identifier: Apache-2.0
 * Files that lie, read with a device: what the CPU says of every tile is what the device's read
 * says, good tiles beside bad ones are exact, and the device works on. */
#include <stdlib.h>
#include <string.h>

#include "support/deferred_source.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

enum {
    ACROSS = 6,
    DOWN = 5,
    TILES = ACROSS * DOWN,
    WIDTH = ACROSS * TILE,
    PIXELS = TILES * TILE * TILE
};

static const int streams[] = {STREAM_NONE, STREAM_LZW,  STREAM_DEFLATE, STREAM_PACKBITS,
                              STREAM_LZ4,  STREAM_ZSTD, STREAM_JPEG};
#define STREAMS (sizeof streams / sizeof streams[0])

static uint32_t seed = 7;

static uint32_t below(uint32_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % count;
}

/* ---- reading ---- */

typedef struct outcome {
    tz_result result;
    tz_error err;
    plain_report report;
    uint8_t pixels[PIXELS], mask[PIXELS];
    tz_tile_status tiles[TILES];
    uint64_t failed;
} outcome;

typedef struct way {
    tz_device *device;
    bool to_device, with_list;
    uint64_t device_bytes;
} way;

static void read_file(outcome *o, const tz_file *file, const way *how)
{
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tz_device_memory *memory = NULL;
    plain_outcome list = {.tiles = how->with_list ? o->tiles : NULL, .tile_room = TILES};
    plain_item item = {.file = file,
                       .into = {.data = o->pixels,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = DOWN * TILE,
                                .width = WIDTH},
                       .outcome = &list};
    memset(o, 0, sizeof *o);
    item.mask = item.into;
    item.mask.data = o->mask;
    if (how->to_device) {
        assert_int_equal(tz_device_memory_alloc(&memory, test_device, 2 * PIXELS, NULL), TZ_OK);
        plain_on_device(&item.into, memory);
        plain_on_device(&item.mask, memory);
        item.mask.offset = PIXELS;
    }
    options.device = how->device;
    options.max_device_bytes = how->device_bytes;
    o->result = plain_read(&item, &options, &o->report, &o->err);
    o->failed = list.tiles_failed;
    if (memory && o->result == TZ_OK) {
        assert_int_equal(tz_device_copy_out(o->pixels, memory, 0, PIXELS, NULL), TZ_OK);
        assert_int_equal(tz_device_copy_out(o->mask, memory, PIXELS, PIXELS, NULL), TZ_OK);
    }
    tz_device_memory_free(memory);
}

/* A list of kinds of warnings, whatever their order. */
static uint64_t warnings_of(const plain_report *report)
{
    uint64_t sum = report->warnings_dropped;
    for (uint32_t i = 0; i < report->warning_count; i++)
        sum += report->warnings[i].count * (1 + (uint64_t)report->warnings[i].tile);
    return sum;
}

static void compare(const outcome *cpu, const outcome *device)
{
    if (cpu->result != device->result)
        print_message("cpu: %s\ndevice: %s\n", cpu->err.message, device->err.message);
    assert_int_equal(cpu->result, device->result);
    if (cpu->result != TZ_OK) {
        assert_int_equal(cpu->err.cause, device->err.cause);
        return;
    }
    assert_int_equal(cpu->failed, device->failed);
    assert_memory_equal(cpu->tiles, device->tiles, sizeof cpu->tiles);
    assert_memory_equal(cpu->pixels, device->pixels, PIXELS);
    assert_memory_equal(cpu->mask, device->mask, PIXELS);
    assert_int_equal(warnings_of(&cpu->report), warnings_of(&device->report));
    assert_int_equal(cpu->report.tiles_failed, device->report.tiles_failed);
}

/* The CPU and the device, in every way; then a good file on the same device. */
static void check_file(const tb *b)
{
    static outcome cpu, device;
    tz_file *file = NULL;
    if (tz_open_memory(&file, b->data, b->size, NULL, NULL) != TZ_OK)
        return;
    for (unsigned i = 0; i < 8; i++) {
        const way plain = {.with_list = i % 2 != 0};
        const way how = {test_device, i / 2 % 2 != 0, plain.with_list, i / 4 ? 1 << 16 : 0};
        read_file(&cpu, file, &plain);
        read_file(&device, file, &how);
        if (how.device_bytes > 0 && device.result == TZ_ERR_LIMIT)
            continue;
        compare(&cpu, &device);
    }
    tz_close(file);
}

static tb *good_file(const tile_stream *stream)
{
    return tf_new(TB_CLASSIC, stream, ACROSS, DOWN, NULL);
}

static void check_device_works(void)
{
    static outcome o;
    const tile_stream *stream = &tile_streams[STREAM_LZW];
    const way how = {.device = test_device, .to_device = true};
    tb *b = good_file(stream);
    tz_file *file = tf_open(b);
    read_file(&o, file, &how);
    assert_int_equal(o.result, TZ_OK);
    assert_int_equal(o.report.device.tiles, TILES);
    for (uint32_t i = 0; i < PIXELS; i++)
        assert_int_equal(o.pixels[i], tf_pixel(stream, 0, i / WIDTH % TILE, i % TILE));
    tz_close(file);
    tb_free(b);
}

#define EACH(stream)                                                                               \
    for (size_t stream##_i = 0; stream##_i < STREAMS; stream##_i++)                                \
        for (const tile_stream *stream = &tile_streams[streams[stream##_i]];                       \
             stream && tf_available(stream); stream = NULL)

/* ---- tests ---- */

/* Bytes of some tiles are changed, cut, made longer, or replaced. */
static void damaged_tiles(void **state)
{
    (void)state;
    EACH(stream)
    {
        for (unsigned round = 0; round < 6; round++) {
            tb *b = good_file(stream);
            for (uint32_t bad = 1 + below(6); bad > 0; bad--) {
                uint8_t bytes[2048];
                size_t size = stream->size;
                assert_true(size + 100 < sizeof bytes);
                memcpy(bytes, stream->data, size);
                for (uint32_t k = below(4); k > 0; k--)
                    bytes[below((uint32_t)size)] = (uint8_t)below(256);
                if (below(3) == 0)
                    size = 1 + below((uint32_t)size);
                else if (below(3) == 0)
                    for (uint32_t k = 1 + below(90); k > 0; k--)
                        bytes[size++] = (uint8_t)below(256);
                tf_put(b, below(TILES), bytes, size);
            }
            check_file(b);
            tb_free(b);
        }
    }
    check_device_works();
}

/* Entries of the table that overlap, repeat, lie within each other, or are of another size. */
static void odd_tables(void **state)
{
    (void)state;
    EACH(stream)
    {
        for (unsigned round = 0; round < 4; round++) {
            tb *b = good_file(stream);
            const uint64_t first = b->size - TILES * stream->size;
            for (uint32_t i = 0; i < TILES; i++) {
                const uint64_t at = round == 0 ? first : first + below((uint32_t)stream->size);
                const uint64_t size =
                    round < 2 ? stream->size : 1 + below(2 * (uint32_t)stream->size);
                if (round == 0 || below(3) == 0)
                    tb_patch_tile(b, 0, i, at, size);
            }
            check_file(b);
            tb_free(b);
        }
    }
    check_device_works();
}

/* Sizes and offsets that no file has. */
static void lying_tables(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    static const uint64_t offsets[] = {0, 1, 8, 0x7fffffff, 0xfffffff0};
    EACH(stream)
    {
        for (size_t i = 0; i < 5; i++) {
            tb *b = good_file(stream);
            tb_patch_tile(b, 0, 11, b->size - stream->size, sizes[i]);
            check_file(b);
            tb_patch_tile(b, 0, 11, offsets[i], stream->size);
            check_file(b);
            tb_free(b);
        }
    }
    check_device_works();
}

/* The file ends anywhere within its tiles. */
static void truncated_files(void **state)
{
    (void)state;
    EACH(stream)
    {
        for (unsigned i = 0; i < 6; i++) {
            tb *b = good_file(stream);
            b->size -= 1 + below((uint32_t)(TILES * stream->size));
            check_file(b);
            tb_free(b);
        }
    }
    check_device_works();
}

/* Tiles that the CPU decodes after the device could not are decoded from the bytes that were read
 * for the device. */
static void no_byte_is_read_twice(void **state)
{
    (void)state;
    static outcome o;
    const tile_stream *stream = &tile_streams[STREAM_LZW];
    const way how = {.device = test_device, .to_device = true, .with_list = true};
    tb *b = good_file(stream);
    const uint64_t tiles = b->size - TILES * stream->size;
    for (uint32_t i = 0; i < TILES; i += 4)
        b->data[tiles + i * stream->size + stream->size / 2] ^= 0x55;
    deferred_source *source = deferred_source_new(b->data, b->size);
    tz_file *file = NULL;
    source->from = tiles;
    assert_int_equal(tz_open_source(&file, &source->base, NULL, NULL, NULL), TZ_OK);
    read_file(&o, file, &how);
    assert_int_equal(o.result, TZ_OK);
    assert_true(o.report.device.tiles_redone > 0);
    assert_int_equal(source->reads, o.report.requests);
    tz_close(file);
    tb_free(b);
}

/* A single tile that claims more than the device has is refused before anything is allocated. */
static void tiles_larger_than_the_device(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    static uint8_t pixels[16];
    tz_error err;
    how.max_device_bytes = 1 << 20;
    tb_image(b, &(tb_spec){.width = 2048,
                           .height = 2048,
                           .tile_width = 2048,
                           .tile_height = 2048,
                           .compression = 5,
                           .tile_bytes = 100});
    tb_finish(b);
    tz_file *file = tf_open(b);
    tz_device *device = test_device_open(&how);
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    const plain_item item = {
        .file = file,
        .window = {0, 0, 4, 4},
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 4, .width = 4}};
    options.device = device;
    options.strict_device = true;
    assert_int_equal(plain_read(&item, &options, NULL, &err), TZ_ERR_LIMIT);
    options.device = test_device;
    options.strict_device = false;
    options.max_device_bytes = 1 << 20;
    assert_int_equal(plain_read(&item, &options, NULL, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_device_bytes");
    options.max_device_bytes = 0;
    options.max_host_bytes = 1 << 20;
    assert_int_equal(plain_read(&item, &options, NULL, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_host_bytes");
    tz_device_close(device);
    tz_close(file);
    tb_free(b);
    check_device_works();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tiles),         cmocka_unit_test(odd_tables),
        cmocka_unit_test(lying_tables),          cmocka_unit_test(truncated_files),
        cmocka_unit_test(no_byte_is_read_twice), cmocka_unit_test(tiles_larger_than_the_device),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
