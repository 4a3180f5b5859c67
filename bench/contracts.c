/* SPDX-License-Identifier: Apache-2.0
 * The saving by batches: the calls that reads and writes make, as the fakes of libcuda and of the
 * libraries on top of it record them, beside the same work done tile by tile through the same table
 * of a driver. The clock is virtual (tests/support/device/virtual_clock.h has the prices): calls
 * move it, and the same each time.
 *
 *     make bench-contracts */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/cost.h"
#include "device/device_codestreams.h"
#include "device/device_state.h"
#include "support/device/bad_tiles.h"
#include "support/device/contract.h"
#include "support/device/library_text.h"

/* Bytes that devices keep pinned, as by default. */
#define PINNED_BUDGET ((uint64_t)64 << 20)

static void print_row(const char *task, vclock_sum batched, vclock_sum single)
{
    printf("| %s | %zu | %.2f | %zu | %.2f | **%.1f** |\n", task, batched.calls,
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
static void open_tiles(by_tile *t, const char *nvjpeg2k, uint64_t count, uint64_t size)
{
    tz_device_options how = {.struct_size = sizeof how,
                             .libraries = "cuda=" CUDA_FAKE ";nvcomp=;cufile=;nvjpeg="};
    tz_device_setup setup;
    tz_found_device found;
    *t = (by_tile){.ctx = {.ifd = -1}, .count = count};
    t->ctx.err = &t->err;
    t->tiles = calloc(count, sizeof *t->tiles);
    library_set(&how, "nvjpeg2k", nvjpeg2k);
    tz_device_info_init(&found.info, &found.texts);
    must(tz_device_setup_init(&setup, &how, &t->ctx), t);
    must(tz_driver_cuda.open(&t->state, &setup, 0, &found.info, &found.texts, &t->ctx), t);
    tz_device_setup_deinit(&setup);
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

/* A real file behind a gate: each round of reads takes what the clock asks for one read. */
static vclock_sum read_gated(const contract_size *size, tz_device *device, unsigned width)
{
    contract_file f = contract_spaced_file(size, TZ_COMPRESSION_NONE);
    contract_gated(&f, size->tiles, width);
    (void)contract_read(&f, device, 0);
    const gate_result gate = gate_end();
    if (gate.failed)
        fail_msg("reads did not overlap");
    contract_file_free(&f);
    return (vclock_sum){(double)gate.rounds * vclock_usual.read, (size_t)gate.reads};
}

static void bench_reads(void)
{
    const contract_size size = {256, 16, 16};
    tz_device *device = contract_open((tz_device_options){0});
    const vclock_sum batched = read_gated(&size, device, vclock_usual.servers);
    print_row("submit before wait: 256 tiles, reads to host memory", batched,
              read_gated(&size, device, 1));
    contract_close(device);
}

/* One after the other, each waited for, into memory that cuFile knows. */
static vclock_sum read_one_by_one(const direct_image *image)
{
    const int fd = open(image->path, O_RDONLY);
    tz_device_memory *memory = NULL;
    void *file = NULL, *reading = NULL;
    tz_direct_read read = {.size = 4096};
    tz_error err = {.result = TZ_OK};
    bool good = fd >= 0 && !tz_device_memory_alloc(&memory, direct_device, read.size, &err) &&
                !tz_device_share(memory, &err) &&
                !tz_device_open_file(direct_device, fd, &file, &err);
    steps_keep(direct_cuda);
    for (uint64_t i = 0; good && i < image->tiles; i++) {
        read.file = file;
        good = !tz_device_begin_reads(memory, &read, 1, &reading, &err) &&
               !tz_device_end_reads(direct_device, reading, &err);
    }
    direct_cuda->keep_steps = false;
    if (!good)
        fail_msg("%s", err.message);
    tz_device_close_file(direct_device, file);
    tz_device_memory_free(memory);
    close(fd);
    return sum_of(VCLOCK_READ);
}

static void bench_direct_reads(void)
{
    tz_write_options how = direct_tiles(TZ_COMPRESSION_NONE);
    how.alignment = 16384;
    direct_image image = direct_make("spaced", 16, 16, &how);
    steps_keep(direct_cuda);
    (void)direct_check(&image, &(direct_read){0});
    const vclock_sum batched = sum_of(VCLOCK_READ);
    print_row("submit before wait: 256 tiles, reads by cuFile", batched, read_one_by_one(&image));
    direct_drop(&image);
}

/* ---- tiles that the device cannot decode ---- */

enum { BAD = 1000 };

/* Sums the steps after the wait that ends them. */
static vclock_sum sum_of_second(void)
{
    cuda_fake_control second = *direct_cuda;
    const size_t at = steps_find(direct_cuda, STEP_SYNC, 0) + 1;
    second.steps += at;
    second.step_count -= at;
    return vclock_of(&second, &vclock_usual, VCLOCK_DOWNLOAD | VCLOCK_WAIT);
}

static void bench_bad_tiles(void)
{
    static tz_tile_status statuses[BAD_TILES_MOST];
    plain_outcome outcome = {.tiles = statuses, .tile_room = BAD_TILES_MOST};
    bad_tiles f = bad_tiles_make(&tile_streams[STREAM_PACKBITS], BAD);
    by_tile single;
    uint8_t *pixels;
    tz_error err;
    steps_keep(direct_cuda);
    if (direct_pixels(&f.image, &(direct_read){.outcome = &outcome}, direct_device, &pixels, NULL,
                      &err) != TZ_OK)
        fail_msg("%s", err.message);
    const vclock_sum batched = sum_of_second();
    free(pixels);
    open_tiles(&single, "", BAD, f.bad_bytes / BAD);
    download_tiles(&single, f.bad_bytes / BAD);
    print_row("one download back: 1,000 tiles that the CPU decodes", batched,
              sum_of(VCLOCK_DOWNLOAD | VCLOCK_WAIT));
    close_tiles(&single);
    direct_drop(&f.image);
}

static void bench_direct(void)
{
    (void)direct_begin_all(NULL);
    (void)direct_begin(NULL);
    bench_direct_reads();
    bench_bad_tiles();
    (void)direct_end(NULL);
    (void)direct_end_all(NULL);
}

/* ---- codestreams ---- */

static const contract_size codestreams = {1000, 40, 25};

/* Each is decoded into memory of its own, and waited for. */
static void decode_tiles(by_tile *t)
{
    const tile_stream *stream = &tile_streams[STREAM_JP2];
    for (uint64_t i = 0; i < t->count; i++) {
        tz_codestream codestream = {.bytes = stream->data,
                                    .size = stream->size,
                                    .width = TILE,
                                    .height = TILE,
                                    .samples = 1,
                                    .sample_bytes = 1};
        const tz_codestream_batch batch = {.compression = stream->compression,
                                           .slab = &t->tiles[i],
                                           .codestreams = &codestream,
                                           .count = 1};
        must(tz_driver_cuda.decode_codestreams(t->state, 0, &batch, &t->ctx), t);
        must(tz_driver_cuda.sync(t->state, 0, &t->ctx), t);
    }
}

/* All calls of a read, those that bring bytes up and pixels down as well. */
static void bench_codestreams(void)
{
    tz_device *device = contract_open((tz_device_options){
        .libraries = library_text("nvjpeg2k", NVJPEG2K_FAKE), .max_pinned_bytes = PINNED_BUDGET});
    contract_file f = contract_file_of(&codestreams, TZ_COMPRESSION_JPEG2000);
    by_tile single;
    (void)contract_read(&f, device, 0); /* what is made once */
    (void)contract_read(&f, device, 0);
    const vclock_sum batched = sum_of(VCLOCK_ALL);
    contract_file_free(&f);
    contract_close(device);
    open_tiles(&single, NVJPEG2K_FAKE, codestreams.tiles, (uint64_t)TILE * TILE);
    decode_tiles(&single);
    print_row("side by side: 1,000 tiles of JPEG 2000, all calls of a read", batched,
              sum_of(VCLOCK_ALL));
    close_tiles(&single);
}

/* ---- compression ---- */

enum { SIDE = 2048, TILE_SIDE = 64, TILES = 1024, TILE_BYTES = 16384 };

/* The second write: the device has kept what it pinned for the first. */
static void bench_compression(void)
{
    tz_device *device = contract_open((tz_device_options){.max_pinned_bytes = PINNED_BUDGET});
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, SIDE, SIDE, false);
    tz_write_options options = contract_options(TZ_COMPRESSION_PACKBITS);
    SCOPED_WRITE_REPORT report = NULL;
    by_tile single;
    options.tile_width = options.tile_height = TILE_SIDE;
    options.device = device;
    options.strict_device = true;
    tz_memory out = raster_write(&r, &options, NULL, &report);
    tz_memory_free(&out);
    steps_keep(contract_cuda);
    out = raster_write(&r, &options, NULL, &report);
    contract_cuda->keep_steps = false;
    const vclock_sum allocations = sum_of(VCLOCK_ALLOCATION);
    const vclock_sum downloads = sum_of(VCLOCK_DOWNLOAD | VCLOCK_WAIT);
    tz_memory_free(&out);
    raster_free(&r);
    contract_close(device);
    open_tiles(&single, "", TILES, TILE_BYTES);
    download_tiles(&single, report->bytes_tiles / TILES);
    print_row("packed tiles: 1,024 x 16 KiB, allocations of a write", allocations,
              sum_of(VCLOCK_ALLOCATION));
    print_row("packed tiles: 1,024 x 16 KiB, downloads of a write", downloads,
              sum_of(VCLOCK_DOWNLOAD | VCLOCK_WAIT));
    close_tiles(&single);
}

/* ---- what "auto" chooses ---- */

typedef struct card {
    const char *name;
    tz_device_info info;
} card;

#define CARD(units, mhz, is_unified)                                                               \
    {                                                                                              \
        .type = TZ_DEVICE_TYPE_GPU, .unified_memory = is_unified, .compute_units = units,          \
        .clock_mhz = mhz                                                                           \
    }

static const card cards[] = {{"A100", CARD(108, 1410, false)},
                             {"RTX 4090", CARD(128, 2520, false)},
                             {"L4", CARD(58, 2040, false)},
                             {"Orin", CARD(16, 1300, true)}};

typedef struct choice {
    const char *name;
    uint64_t mib; /* of pixels, half of that stored; tiles of 512 KiB */
    uint16_t compression;
    bool by_library;
    uint32_t threads;
} choice;

static const choice choices[] = {
    {"1 tile, Deflate, 8 threads", 0, TZ_COMPRESSION_DEFLATE, false, 8},
    {"64 MiB, Deflate, 8 threads", 64, TZ_COMPRESSION_DEFLATE, false, 8},
    {"4 GiB, Deflate, 2 threads", 4096, TZ_COMPRESSION_DEFLATE, false, 2},
    {"4 GiB, Deflate, 8 threads", 4096, TZ_COMPRESSION_DEFLATE, false, 8},
    {"4 GiB, Deflate by nvCOMP, 8 threads", 4096, TZ_COMPRESSION_DEFLATE, true, 8},
    {"4 GiB, LZW, 4 threads", 4096, TZ_COMPRESSION_LZW, false, 4},
    {"4 GiB, ZSTD, 8 threads", 4096, TZ_COMPRESSION_ZSTD, false, 8},
    {"4 GiB, ZSTD by nvCOMP, 4 threads", 4096, TZ_COMPRESSION_ZSTD, true, 4},
    {"4 GiB, LZ4, 8 threads", 4096, TZ_COMPRESSION_LZ4, false, 8},
    {"4 GiB, JPEG 2000 by nvJPEG2000, 16 threads", 4096, TZ_COMPRESSION_JPEG2000, true, 16},
};

static void print_choice(const choice *c)
{
    enum { CHOICE_TILE = 512 << 10, MAX_PINNED = 256 << 20 };
    const uint64_t pixels = c->mib > 0 ? c->mib << 20 : CHOICE_TILE;
    const uint64_t needed = pixels + pixels / 2;
    const uint64_t pinned = needed < MAX_PINNED ? needed : MAX_PINNED;
    const tz_device_job job = {.bytes_compressed = pixels / 2,
                               .bytes_pixels = pixels,
                               .bytes_pinned = pinned <= PINNED_BUDGET ? 0 : pinned,
                               .tiles = pixels / CHOICE_TILE,
                               .compression = c->compression,
                               .by_library = c->by_library,
                               .threads = c->threads};
    printf("| %s | %.1f", c->name, tz_device_estimate(&cards[0].info, &job).cpu * 1e3);
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        const tz_device_times times = tz_device_estimate(&cards[i].info, &job);
        const char *mark = times.device < times.cpu ? "**" : "";
        printf(" | %s%.1f%s", mark, times.device * 1e3, mark);
    }
    printf(" |\n");
}

static void print_choices(void)
{
    printf("\n| read to the host | CPU ms");
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        printf(" | %s ms", cards[i].name);
    printf(" |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        print_choice(&choices[i]);
}

int main(void)
{
    contract_begin(NULL);
    printf("| work | calls | ms | calls, tile by tile | ms | ratio |\n|---|---|---|---|---|---|\n");
    bench_reads();
    bench_direct();
    bench_compression();
    bench_codestreams();
    print_choices();
    return contract_end(NULL);
}
