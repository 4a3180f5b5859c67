/* SPDX-License-Identifier: Apache-2.0
 * Contracts of writes: tiles are compressed in one pool and come down packed, and the file is the
 * same however its rows are given. The numbers are those of xarray-spatial's issues, where each was
 * found to matter. */
#include <stdlib.h>
#include <string.h>

#include "kernels/adler32.h"
#include "support/contract.h"
#include "support/device_rows.h"
#include "support/raster_ways.h"

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
};
enum { ENCODINGS = sizeof encodings / sizeof encodings[0] };

static bool is_left_out(const contract_size *size, uint32_t most)
{
    return size->tiles > most && !getenv("TERRAZZO_LONG");
}

static tz_device *open_for(const encoding *e)
{
    return contract_open((tz_device_options){.nvcomp_library = e->nvcomp});
}

static tz_write_options options_of(const encoding *e, tz_device *device)
{
    tz_write_options options = contract_options(e->compression);
    options.level = e->compression == TZ_COMPRESSION_DEFLATE ? TZ_LEVEL_FAST : 0;
    options.device = device;
    options.strict_device = device != NULL;
    return options;
}

/* Write, with the steps kept. */
static tz_memory write_it(const raster *r, const tz_write_options *options, const raster_way *way,
                          tz_write_report *report)
{
    steps_keep(contract_cuda);
    const tz_memory out = raster_write(r, options, way, report);
    contract_cuda->keep_steps = false;
    return out;
}

/* The bytes are those of the cores. */
static void check_as_by_cores(const raster *r, tz_write_options options, const tz_memory *file)
{
    options.device = NULL;
    options.strict_device = false;
    tz_memory cores = raster_write(r, &options, NULL, NULL);
    raster_check_same(file, &cores, "by the cores");
}

/* ---- xarray-spatial #1712: one pool, one packed read-back ---- */

/* All there is before the first launch, as many pieces as for one tile. */
static void check_pool(const contract_size *size, const tz_write_report *report, size_t of_one)
{
    uint64_t bytes = 0;
    assert_int_equal(report->device.waves, 1);
    contract_expect(size, "allocations", steps_allocating(contract_cuda), of_one);
    assert_true(steps_last_allocation(contract_cuda) < steps_find(contract_cuda, STEP_LAUNCH, 0));
    for (size_t i = 0; i <= steps_last_allocation(contract_cuda); i++) {
        if (strncmp(contract_cuda->steps[i].call, "cuMemAlloc", 10) == 0)
            bytes += contract_cuda->steps[i].bytes;
    }
    assert_int_equal(bytes, report->device.memory);
    assert_int_equal(report->device.peak, report->device.memory);
}

/* Results, then tiles one behind the other: not the room that they were given. */
static void check_read_back(const contract_size *size, const tz_write_report *report)
{
    enum { AROUND = 32 }; /* bytes between tiles, at most */
    const uint64_t plain = report->device.tiles_redone * CONTRACT_TILE * CONTRACT_TILE;
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
    assert_int_equal(tz_tile_spans(file, 0, 0, size->tiles, spans, &err), TZ_OK);
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
    tz_write_report report;
    tz_memory out = write_it(&r, &options, NULL, &report);
    if (size->tiles == 1) {
        *of_one = steps_allocating(contract_cuda);
        *asked = steps_asked(contract_cuda);
    }
    check_pool(size, &report, *of_one);
    check_read_back(size, &report);
    contract_expect(size, "calls", steps_asked(contract_cuda), *asked);
    if (e->compression == TZ_COMPRESSION_DEFLATE)
        check_frames(&out, &r, size);
    check_as_by_cores(&r, options, &out);
    tz_memory_free(&out);
    raster_free(&r);
}

static void xarray_spatial_1712_one_pool_one_read_back_zlib_framing(void **state)
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
static void xarray_spatial_1712_no_tiles(void **state)
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
            tz_write_report report;
            memset(r.pixels.data, 0, (size_t)r.pixels.width * r.pixels.height);
            tz_memory out = write_it(&r, &options, NULL, &report);
            assert_int_equal(report.tiles_sparse, contract_sizes[k].tiles);
            assert_int_equal(report.bytes_tiles, 0);
            contract_expect(&contract_sizes[k], "downloads", steps_of(contract_cuda, STEP_DOWNLOAD),
                            1);
            check_as_by_cores(&r, options, &out);
            tz_memory_free(&out);
            raster_free(&r);
        }
        contract_close(device);
    }
}

/* ---- xarray-spatial #3166: a streamed write is byte for byte the eager one ---- */

/* The eager one is the cores': those of the device have the same bytes, as above. */
static void check_streamed(const encoding *e, tz_device *device, const contract_size *size)
{
    static const raster_way ways[] = {
        {.batch = CONTRACT_TILE}, {.batch = 1}, {.ragged = true}, {.pull = true, .chunk_rows = 24}};
    const size_t count = is_left_out(size, 10) ? 1 : sizeof ways / sizeof ways[0];
    tz_write_options options = options_of(e, device);
    raster r = contract_raster(size);
    tz_write_report report;
    const tz_write_options of_cores = options_of(e, NULL);
    tz_memory eager = raster_write(&r, &of_cores, NULL, NULL);
    options.device_buffer_bytes = size->tiles > 10 ? 256 << 10 : 0;
    for (size_t i = 0; i < count; i++) {
        tz_memory streamed = write_it(&r, &options, &ways[i], &report);
        assert_true(report.device.waves >= (size->tiles > 10 ? 4 : 1));
        contract_expect(size, "downloads", steps_of(contract_cuda, STEP_DOWNLOAD),
                        2 * report.device.waves);
        raster_check_same(&eager, &streamed, "streamed");
    }
    if (count > 1) {
        tz_memory rows = device_rows_write(&r, &options, &ways[0], &r.pixels, &report);
        raster_check_same(&eager, &rows, "streamed from the device");
    }
    tz_memory_free(&eager);
    raster_free(&r);
}

static void xarray_spatial_3166_streamed_as_eager(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODINGS; i++) {
        tz_device *device = open_for(&encodings[i]);
        for (size_t k = 1; k < CONTRACT_SIZES; k++) {
            if (!is_left_out(&contract_sizes[k], encodings[i].most_streamed))
                check_streamed(&encodings[i], device, &contract_sizes[k]);
        }
        contract_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(xarray_spatial_1712_one_pool_one_read_back_zlib_framing),
        CONTRACT(xarray_spatial_1712_no_tiles),
        CONTRACT(xarray_spatial_3166_streamed_as_eager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
