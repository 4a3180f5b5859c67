/* SPDX-License-Identifier: Apache-2.0
 * Contracts of writes: tiles are compressed in one pool and come down packed, and the file is the
 * same however its rows are given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "kernels/adler32.h"
#include "support/device/contract.h"
#include "support/device/device_rows.h"
#include "support/device/library_text.h"
#include "support/raster_variants.h"

/* Who encodes what, and how many tiles at most: PTX is interpreted, and a thousand take seconds,
 * which make test-long has. */
typedef struct encoding {
    tz_compression compression;
    const char *nvcomp; /* NULL: the own kernels do */
    uint32_t most, most_streamed;
} encoding;

static const encoding encodings[] = {
    {TZ_COMPRESSION_DEFLATE, NULL, 1000, 10},
    {TZ_COMPRESSION_PACKBITS, NULL, 10, 1000},
    {TZ_COMPRESSION_DEFLATE, NVCOMP_FAKE_6, 1000, 10},
    {TZ_COMPRESSION_ZSTD, NVCOMP_FAKE_6, 1000, 1000},
    {TZ_COMPRESSION_LZ4, NVCOMP_FAKE_6, 1000, 10},
};
enum { ENCODINGS = sizeof encodings / sizeof encodings[0] };

static bool is_left_out(const contract_size *size, uint32_t most)
{
    return size->tiles > most && !getenv("TERRAZZO_LONG");
}

static tz_device *open_for(const encoding *e)
{
    return contract_open((tz_device_options){.libraries = library_text("nvcomp", e->nvcomp)});
}

static tz_write_options options_of(const encoding *e, tz_device *device)
{
    tz_write_options options = contract_options(e->compression);
    if (e->compression == TZ_COMPRESSION_DEFLATE)
        options.codec.effort =
            e->nvcomp ? 6 : TZ_EFFORT_FAST; /* with scratch, and as the own kernels do */
    options.allow_vendor_codecs = e->nvcomp != NULL;
    options.device = device;
    options.strict_device = device != NULL;
    return options;
}

/* Write, with the steps kept. */
static tz_memory write_it(const raster *r, const tz_write_options *options,
                          const raster_variant *way, tz_write_report **report)
{
    steps_keep(contract_cuda);
    const tz_memory out = raster_write(r, options, way, report);
    contract_cuda->keep_steps = false;
    return out;
}

/* The bytes are those of the CPU; of a library, the pixels are. */
static void check_right(const raster *r, tz_write_options options, const tz_memory *file)
{
    if (options.allow_vendor_codecs) {
        raster_check(r, file, NAN);
        return;
    }
    options.device = NULL;
    options.strict_device = false;
    tz_memory cpu = raster_write(r, &options, NULL, NULL);
    raster_check_same(file, &cpu, "by the CPU");
}

/* ---- packed tiles: one pool, one read-back ---- */

/* All there is before the first launch, as many allocations as for one tile. */
static void check_pool(const contract_size *size, const tz_write_report *report, size_t of_one)
{
    uint64_t bytes = 0;
    assert_int_equal(report->device->waves, 1);
    contract_expect(size, "allocations", steps_allocating(contract_cuda), of_one);
    assert_true(steps_last_allocation(contract_cuda) < steps_find(contract_cuda, STEP_LAUNCH, 0));
    for (size_t i = 0; i <= steps_last_allocation(contract_cuda); i++) {
        if (strncmp(contract_cuda->steps[i].call, "cuMemAlloc", 10) == 0)
            bytes += contract_cuda->steps[i].bytes;
    }
    assert_int_equal(bytes, report->device->memory);
    assert_int_equal(report->device->peak, report->device->memory);
}

/* A view of the largest size for each tile, and one call for all of them. */
static void check_library(const encoding *e, tz_device *device, const contract_size *size,
                          const tz_write_report *report)
{
    tz_vendor_encoder encoder;
    const uint64_t waves = report->device->waves;
    assert_true(tz_device_find_vendor_encoder(device, (uint16_t)e->compression, 0,
                                              CONTRACT_TILE * CONTRACT_TILE, &encoder));
    assert_true(encoder.capacity >= CONTRACT_TILE * CONTRACT_TILE);
    assert_true(report->device->memory >= size->tiles * encoder.capacity);
    assert_string_equal(report->device->library, encoder.name);
    assert_int_equal(report->device->tiles_redone, 0);
    contract_expect(size, "calls of the library", steps_with(contract_cuda, "CompressAsync"),
                    waves);
    assert_true(steps_last_allocation(contract_cuda) < steps_find(contract_cuda, STEP_LAUNCH, 0));
}

/* Results, then tiles one after the other: not the room that they were given. */
static void check_read_back(const contract_size *size, const tz_write_report *report)
{
    enum { AROUND = 32 }; /* bytes between tiles, at most */
    const uint64_t plain = report->device->tiles_redone * CONTRACT_TILE * CONTRACT_TILE;
    const size_t at = steps_find(contract_cuda, STEP_DOWNLOAD, 1);
    contract_expect(size, "downloads", steps_of(contract_cuda, STEP_DOWNLOAD), 2);
    contract_expect(size, "waits", steps_of(contract_cuda, STEP_SYNC), 2);
    contract_expect(size, "waits for all", steps_blocking(contract_cuda), 0);
    assert_true(contract_cuda->steps[at].bytes >= report->bytes_tiles);
    assert_true(contract_cuda->steps[at].bytes <=
                report->bytes_tiles + plain + AROUND * report->tiles);
}

/* zlib's: two bytes, the stream, the checksum of what was compressed. */
static void check_frame(const uint8_t *stored, const tz_tile_span *span, const raster *r,
                        uint32_t row, uint32_t column)
{
    uint8_t plain[CONTRACT_TILE * CONTRACT_TILE];
    const uint8_t *frame = stored + span->offset, *end = frame + span->size - 4;
    for (uint32_t y = 0; y < CONTRACT_TILE; y++)
        memcpy(plain + y * CONTRACT_TILE,
               (const uint8_t *)r->pixels.data + (row + y) * r->pixels.width + column,
               CONTRACT_TILE);
    assert_true(span->size > 6);
    assert_int_equal(frame[0] & 15, 8); /* deflate */
    assert_int_equal((frame[0] * 256 + frame[1]) % 31, 0);
    assert_int_equal((uint32_t)end[0] << 24 | (uint32_t)end[1] << 16 | (uint32_t)end[2] << 8 |
                         end[3],
                     tz_adler32(plain, sizeof plain));
}

static void check_frames(const tz_memory *out, const raster *r, const contract_size *size)
{
    static tz_tile_span spans[1000];
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&file, out->data, out->size, NULL, &err), TZ_OK);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, size->tiles, &err), TZ_OK);
    for (uint32_t i = 0; i < size->tiles; i++)
        check_frame(out->data, &spans[i], r, i / size->across * CONTRACT_TILE,
                    i % size->across * CONTRACT_TILE);
    tz_close(file);
}

static void check_compressed(const encoding *e, tz_device *device, const contract_size *size,
                             size_t *of_one, size_t *asked)
{
    const tz_write_options options = options_of(e, device);
    raster r = contract_raster(size);
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory out = write_it(&r, &options, NULL, &report);
    if (size->tiles == 1) {
        *of_one = steps_allocating(contract_cuda);
        *asked = steps_asked(contract_cuda);
    }
    check_pool(size, report, *of_one);
    check_read_back(size, report);
    if (e->nvcomp)
        check_library(e, device, size, report);
    contract_expect(size, "calls", steps_asked(contract_cuda), *asked);
    if (e->compression == TZ_COMPRESSION_DEFLATE)
        check_frames(&out, &r, size);
    check_right(&r, options, &out);
    tz_memory_free(&out);
    raster_free(&r);
}

static void one_pool_one_read_back_zlib_framing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODINGS; i++) {
        tz_device *device = open_for(&encodings[i]);
        size_t of_one = 0, asked = 0;
        check_compressed(&encodings[i], device, &contract_sizes[1], &of_one, &asked);
        for (size_t k = 1; k < CONTRACT_SIZES; k++) { /* modules are loaded by now */
            if (!is_left_out(&contract_sizes[k], encodings[i].most))
                check_compressed(&encodings[i], device, &contract_sizes[k], &of_one, &asked);
        }
        contract_close(device);
    }
}

/* Nothing is left to be compressed: the results come down, and no tile does. */
static void writes_without_tiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODINGS; i++) {
        tz_device *device = open_for(&encodings[i]);
        tz_write_options options = options_of(&encodings[i], device);
        options.sparse = true;
        for (size_t k = 1; k < CONTRACT_SIZES; k++) {
            if (is_left_out(&contract_sizes[k], 10))
                continue;
            raster r = contract_raster(&contract_sizes[k]);
            SCOPED_WRITE_REPORT report = NULL;
            memset(r.pixels.data, 0, (size_t)r.pixels.width * r.pixels.height);
            tz_memory out = write_it(&r, &options, NULL, &report);
            assert_int_equal(report->tiles_sparse, contract_sizes[k].tiles);
            assert_int_equal(report->bytes_tiles, 0);
            contract_expect(&contract_sizes[k], "downloads", steps_of(contract_cuda, STEP_DOWNLOAD),
                            1);
            check_right(&r, options, &out);
            tz_memory_free(&out);
            raster_free(&r);
        }
        contract_close(device);
    }
}

/* ---- same bytes: a streamed write is byte for byte the eager one ---- */

/* No more than one row of tiles takes. */
static uint64_t bytes_of_a_row(const raster *r, const tz_write_options *options)
{
    raster row = raster_make(r->spec.dtype, r->spec.bands, r->spec.width, CONTRACT_TILE, false);
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory out = raster_write(&row, options, NULL, &report);
    tz_memory_free(&out);
    raster_free(&row);
    return report->device->memory;
}

/* A row of tiles at a time: a batch each, which costs the same calls as any other. */
static void check_way(const contract_size *size, const raster *r, const tz_write_options *options,
                      const raster_variant *way, const tz_memory *eager)
{
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory streamed = write_it(r, options, way, &report);
    contract_expect(size, "batches", report->device->waves, size->down);
    contract_expect(size, "downloads", steps_of(contract_cuda, STEP_DOWNLOAD), 2 * size->down);
    if (options->allow_vendor_codecs)
        contract_expect(size, "calls of the library", steps_with(contract_cuda, "CompressAsync"),
                        size->down);
    raster_check_same(eager, &streamed, "streamed");
}

/* In some ways to give rows, or, in the long form, in all. */
static void check_streamed(const contract_size *size, const raster *r, tz_write_options options,
                           const tz_buffer *pixels, size_t count)
{
    const raster_variant ways[] = {{.ragged = true, .pixels = *pixels},
                                   {.batch = CONTRACT_TILE, .pixels = *pixels},
                                   {.batch = 1, .pixels = *pixels},
                                   {.pull = true, .chunk_rows = 24, .pixels = *pixels}};
    const size_t most = sizeof ways / sizeof ways[0];
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory eager = raster_write(r, &options, NULL, NULL);
    check_right(r, options, &eager);
    options.max_device_bytes = bytes_of_a_row(r, &options);
    for (size_t i = 0; i < (getenv("TERRAZZO_LONG") ? most : count); i++)
        check_way(size, r, &options, &ways[i], &eager);
    if (size->tiles <= 10) {
        tz_memory rows = device_rows_write(r, &options, &ways[0], pixels, &report);
        raster_check_same(&eager, &rows, "streamed from the device");
    }
    tz_memory_free(&eager);
}

static void streamed_rows_give_the_bytes_of_whole_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODINGS; i++) {
        tz_device *device = open_for(&encodings[i]);
        for (size_t k = 1; k < CONTRACT_SIZES; k++) {
            if (is_left_out(&contract_sizes[k], encodings[i].most_streamed))
                continue;
            raster r = contract_raster(&contract_sizes[k]);
            check_streamed(&contract_sizes[k], &r, options_of(&encodings[i], device), &r.pixels,
                           contract_sizes[k].tiles > 10 ? 1 : 4);
            raster_free(&r);
        }
        contract_close(device);
    }
}

/* Bands one after the other or pixel by pixel, in the memory and in the file. */
static void bands_first_and_last(void **state)
{
    (void)state;
    const contract_size *size = &contract_sizes[2];
    raster r = raster_make(TZ_DTYPE_UINT8, 3, size->across * CONTRACT_TILE,
                           size->down * CONTRACT_TILE, false);
    void *memory = NULL;
    const tz_buffer pixels[] = {r.pixels, raster_interleaved(&r, &memory)};
    for (size_t i = 0; i < ENCODINGS; i++) {
        tz_device *device = open_for(&encodings[i]);
        for (size_t k = 0; k < 4; k++) {
            tz_write_options options = options_of(&encodings[i], device);
            options.interleave = k / 2 ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
            check_streamed(size, &r, options, &pixels[k % 2], 1);
        }
        contract_close(device);
    }
    free(memory);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(one_pool_one_read_back_zlib_framing),
        CONTRACT(writes_without_tiles),
        CONTRACT(streamed_rows_give_the_bytes_of_whole_images),
        CONTRACT(bands_first_and_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
