/* SPDX-License-Identifier: Apache-2.0
 * What batches save: the calls that reads and writes make, as the doubles of libcuda and of the
 * libraries on top of it record them, beside the same work done tile by tile through the same table
 * of a driver. The clock is virtual (tests/support/virtual_clock.h has the prices): calls move it,
 * and the same each time.
 *
 *     make bench-contracts */
#include <stdio.h>
#include <stdlib.h>

#include "device/driver.h"
#include "support/contract.h"

static void print_row(const char *work, vclock_sum batched, vclock_sum single)
{
    printf("| %s | %zu | %.2f | %zu | %.2f | **%.1f** |\n", work, batched.calls,
           batched.microseconds / 1000, single.calls, single.microseconds / 1000,
           single.microseconds / batched.microseconds);
}

/* ---- tile by tile, by the table of the driver ---- */

typedef struct by_tile {
    void *state;
    tz_device_memory *tiles;
    uint64_t count;
    tz_context ctx;
    tz_error err;
} by_tile;

static void must(tz_result result, const by_tile *t)
{
    if (result == TZ_OK)
        return;
    fprintf(stderr, "contracts: %s\n", t->err.message);
    exit(1);
}

/* Memory for each tile; the steps of this are kept. */
static void open_tiles(by_tile *t, uint64_t count, uint64_t size)
{
    const tz_device_options how = {.struct_size = sizeof how,
                                   .cuda_library = CUDA_DOUBLE,
                                   .nvcomp_library = "",
                                   .cufile_library = "",
                                   .nvjpeg2k_library = "",
                                   .nvjpeg_library = ""};
    tz_device_info info = {0};
    *t = (by_tile){.ctx = {.ifd = -1}, .count = count};
    t->ctx.err = &t->err;
    t->tiles = calloc(count, sizeof *t->tiles);
    must(tz_driver_cuda.open(&t->state, &how, 0, &info, &t->ctx), t);
    steps_keep(contract_cuda);
    for (uint64_t i = 0; i < count; i++) {
        t->tiles[i].size = size;
        must(tz_driver_cuda.alloc(t->state, &t->tiles[i], &t->ctx), t);
    }
}

/* So many bytes of each come down, and are waited for, before the next. */
static void download_tiles(by_tile *t, uint64_t size)
{
    uint8_t *to = malloc(size);
    for (uint64_t i = 0; i < t->count; i++) {
        must(tz_driver_cuda.download(t->state, 0, to, &t->tiles[i], 0, size, &t->ctx), t);
        must(tz_driver_cuda.sync(t->state, 0, &t->ctx), t);
    }
    free(to);
}

static void close_tiles(by_tile *t)
{
    contract_cuda->keep_steps = false;
    for (uint64_t i = 0; i < t->count; i++)
        tz_driver_cuda.free(t->state, &t->tiles[i]);
    tz_driver_cuda.close(t->state);
    free(t->tiles);
}

static vclock_sum sum_of(unsigned kinds)
{
    return vclock_of(contract_cuda, &vclock_usual, kinds);
}

/* ---- reads of files ---- */

static vclock_sum sum_of_source(const clocked_source *source)
{
    return (vclock_sum){source->clock.now, (size_t)source->reads};
}

static void bench_reads(void)
{
    const contract_size size = {256, 16, 16};
    tz_device *device = contract_open((tz_device_options){0});
    contract_file f = contract_spaced_file(&size, TZ_COMPRESSION_NONE);
    clocked_source *source = contract_with_clock(&f, size.tiles);
    (void)contract_read(&f, device, 0);
    const vclock_sum batched = sum_of_source(source);
    clocked_source_restart(source);
    clocked_source_one_by_one(source, size.tiles);
    print_row("#1688: 256 tiles, reads through memory of the host", batched, sum_of_source(source));
    contract_file_free(&f);
    contract_close(device);
}

/* ---- compression ---- */

enum { SIDE = 2048, TILE_SIDE = 64, TILES = 1024, TILE_BYTES = 16384 };

static void bench_compression(void)
{
    tz_device *device = contract_open((tz_device_options){0});
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, SIDE, SIDE, false);
    tz_write_options options = contract_options(TZ_COMPRESSION_PACKBITS);
    tz_write_report report;
    by_tile single;
    options.tile_width = options.tile_height = TILE_SIDE;
    options.device = device;
    options.strict_device = true;
    steps_keep(contract_cuda);
    tz_memory out = raster_write(&r, &options, NULL, &report);
    contract_cuda->keep_steps = false;
    const vclock_sum allocations = sum_of(VCLOCK_ALLOCATION);
    const vclock_sum downloads = sum_of(VCLOCK_DOWNLOAD | VCLOCK_WAIT);
    tz_memory_free(&out);
    raster_free(&r);
    contract_close(device);
    open_tiles(&single, TILES, TILE_BYTES);
    download_tiles(&single, report.bytes_tiles / TILES);
    print_row("#1712: 1,024 x 16 KiB, allocations of a write", allocations,
              sum_of(VCLOCK_ALLOCATION));
    print_row("#1712: 1,024 x 16 KiB, read-back of a write", downloads,
              sum_of(VCLOCK_DOWNLOAD | VCLOCK_WAIT));
    close_tiles(&single);
}

int main(void)
{
    contract_begin(NULL);
    printf("| work | calls | ms | calls, tile by tile | ms | ratio |\n|---|---|---|---|---|---|\n");
    bench_reads();
    bench_compression();
    return contract_end(NULL);
}
