/* SPDX-License-Identifier: Apache-2.0
 * The zlib frame around the chunks of Deflate that nvCOMP makes: checked in the
 * bytes of files, and decoded by libdeflate, for none, one and several tiles of all usual sizes. */
#include <libdeflate.h>

#include "support/device/nvcomp_write.h"

enum { MOST_TILES = 8 };

/* Pixels of which sums grow slowly, fast, not at all, or in any way. */
static void fill(raster *r, uint32_t tile)
{
    uint8_t *pixels = r->pixels.data;
    uint32_t noise = 1;
    for (size_t i = 0; i < (size_t)r->spec.width * r->spec.height; i++) {
        const size_t number = i / r->spec.width / tile + i % r->spec.width / tile;
        noise = noise * 1664525 + 1013904223;
        if (number % 4 == 1)
            pixels[i] = 0xFF;
        else if (number % 4 == 2)
            pixels[i] = 0;
        else if (number % 4 == 3)
            pixels[i] = (uint8_t)(noise >> 24);
    }
}

static tz_file *open_file(const tz_memory *memory)
{
    tz_file *file = NULL;
    tz_error err;
    if (tz_open_memory(&file, memory->data, memory->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

/* ---- one tile ---- */

/* A header that says Deflate, with no dictionary, and can be divided by 31; then a stream that ends
 * just before the sum of what it makes. */
static void check_stream(const uint8_t *bytes, size_t size, uint8_t *out, size_t out_size)
{
    enum { HEADER = 2, SUM = 4, DICTIONARY = 0x20 };
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t used = 0, made = 0;
    assert_true(size > HEADER + SUM);
    assert_int_equal(bytes[0] & 15, 8);
    assert_in_range(bytes[0] >> 4, 0, 7);
    assert_int_equal(bytes[1] & DICTIONARY, 0);
    assert_int_equal((bytes[0] << 8 | bytes[1]) % 31, 0);
    assert_int_equal(libdeflate_deflate_decompress_ex(d, bytes + HEADER, size - HEADER - SUM, out,
                                                      out_size, &used, &made),
                     LIBDEFLATE_SUCCESS);
    assert_int_equal(used, size - HEADER - SUM);
    assert_int_equal(made, out_size);
    const uint8_t *sum = bytes + size - SUM;
    const uint32_t told = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | sum[2] << 8 | sum[3];
    assert_int_equal(told, libdeflate_adler32(1, out, out_size));
    assert_int_equal(libdeflate_zlib_decompress(d, bytes, size, out, out_size, NULL),
                     LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(d);
}

/* Without a predictor a tile is pixels; at the edges there is more than the image has. */
static void check_tile(const raster *r, const uint8_t *made, uint32_t tile, uint32_t number)
{
    const uint32_t across = (r->spec.width + tile - 1) / tile;
    const uint32_t top = number / across * tile, left = number % across * tile;
    const uint8_t *pixels = r->pixels.data;
    for (uint32_t y = 0; y < tile && top + y < r->spec.height; y++)
        for (uint32_t x = 0; x < tile && left + x < r->spec.width; x++)
            assert_int_equal(made[(size_t)y * tile + x],
                             pixels[(size_t)(top + y) * r->spec.width + left + x]);
}

/* ---- files ---- */

static void check_streams(const raster *r, const tz_memory *memory, uint32_t tile)
{
    const size_t size = (size_t)tile * tile * tz_dtype_size(r->spec.dtype);
    tz_file *file = open_file(memory);
    const uint64_t count = tz_file_get_level(file, 0)->tile_count;
    tz_tile_span spans[MOST_TILES];
    uint8_t *made = malloc(size);
    tz_error err;
    assert_true(count <= MOST_TILES);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, (size_t)count, &err), TZ_OK);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)memory->data + spans[i].offset;
        check_stream(bytes, (size_t)spans[i].size, made, size);
        if (r->spec.dtype == TZ_DTYPE_UINT8)
            check_tile(r, made, tile, i);
    }
    free(made);
    tz_close(file);
}

/* So many tiles, the last of which is not whole. */
static void write_tiles(tz_device *device, const char *name, tz_dtype dtype, uint32_t tile,
                        uint32_t across, uint32_t down)
{
    raster r = raster_make(dtype, 1, across * tile - 5, down * tile - 7, false);
    tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
    SCOPED_WRITE_REPORT report = NULL;
    options.tile_width = options.tile_height = tile;
    options.codec.predictor = dtype == TZ_DTYPE_UINT8 ? 1 : 0;
    options.verify = TZ_VERIFY_NONE;
    if (dtype == TZ_DTYPE_UINT8)
        fill(&r, tile);
    tz_memory out = raster_write(&r, &options, NULL, &report);
    check_use(report, name);
    assert_int_equal(report->device->tiles, across * down);
    check_streams(&r, &out, tile);
    tz_memory_free(&out);
    raster_free(&r);
}

static void tiles_of_all_sizes(void **state)
{
    (void)state;
    tz_device *device = open_device(NVCOMP_FAKE_6);
    for (uint32_t tile = 16; tile <= 1024; tile *= 2) {
        write_tiles(device, names[2], TZ_DTYPE_UINT8, tile, 1, 1);
        write_tiles(device, names[2], TZ_DTYPE_UINT8, tile, 4, tile <= 256 ? 2 : 1);
    }
    close_it(device);
}

/* Sums are of bytes after the predictor, of all bytes of a sample. */
static void samples_of_several_bytes(void **state)
{
    (void)state;
    static const tz_dtype dtypes[] = {TZ_DTYPE_INT16, TZ_DTYPE_FLOAT32, TZ_DTYPE_FLOAT64};
    for (size_t i = 0; i < RELEASES; i++) {
        tz_device *device = open_device(libraries[i]);
        write_tiles(device, names[i], dtypes[i], 32, 1, 1);
        write_tiles(device, names[i], dtypes[i], 32, 3, 2);
        close_it(device);
    }
}

/* In a file of nothing there is no stream. */
static void no_tiles(void **state)
{
    (void)state;
    tz_device *device = open_device(NVCOMP_FAKE_6);
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, false);
    tz_write_options options = options_of(TZ_COMPRESSION_DEFLATE, device);
    SCOPED_WRITE_REPORT report = NULL;
    tz_tile_span spans[MOST_TILES];
    tz_error err;
    options.sparse = true;
    options.tile_width = options.tile_height = 32;
    memset(r.pixels.data, 0, (size_t)40 * 40);
    tz_memory out = raster_write(&r, &options, NULL, &report);
    assert_int_equal(report->tiles_sparse, 4);
    tz_file *file = open_file(&out);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, 4, &err), TZ_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(spans[i].size, 0);
    tz_close(file);
    raster_check(&r, &out, NAN);
    tz_memory_free(&out);
    raster_free(&r);
    close_it(device);
}

int main(void)
{
    control = cuda_fake_load();
    const struct CMUnitTest tests[] = {
        NVCOMP(tiles_of_all_sizes),
        NVCOMP(samples_of_several_bytes),
        NVCOMP(no_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
