/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/contract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "io/spans.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"

const contract_size contract_sizes[CONTRACT_SIZES] = {
    {0, 0, 0}, {1, 1, 1}, {10, 5, 2}, {1000, 40, 25}};

cuda_fake_control *contract_cuda;
static int64_t live;

int contract_begin(void **state)
{
    (void)state;
    if (!contract_cuda)
        contract_cuda = cuda_fake_load();
    cuda_fake_reset(contract_cuda);
    live = contract_cuda->live;
    return 0;
}

int contract_end(void **state)
{
    (void)state;
    if (contract_cuda->fault[0])
        print_message("%s\n", contract_cuda->fault);
    return contract_cuda->live != live || contract_cuda->fault[0] != '\0';
}

void contract_expect(const contract_size *size, const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected)
        fail_msg("%u tiles: %" PRIu64 " %s, not %" PRIu64, size->tiles, found, what, expected);
}

tz_device *contract_open_untried(tz_device_options how)
{
    tz_device *device = NULL;
    tz_error err;
    how.struct_size = sizeof how;
    library_set(&how, "cuda", CUDA_FAKE);
    how.max_pinned_bytes = how.max_pinned_bytes ? how.max_pinned_bytes : 1;
    library_set_others_unused(&how);
    if (tz_device_open(&device, "cuda:0", &how, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return device;
}

tz_device *contract_open(tz_device_options how)
{
    tz_device *device = contract_open_untried(how);
    steps_try_libraries(device);
    return device;
}

void contract_close(tz_device *device)
{
    tz_error err;
    if (tz_device_close_checked(device, &err) != TZ_OK)
        fail_msg("%s", err.message);
}

/* ---- files ---- */

/* Noise, of more bits in some tiles than in others. */
static uint8_t pixel_of(uint32_t across, uint32_t row, uint32_t column)
{
    const uint32_t tile = row / CONTRACT_TILE * across + column / CONTRACT_TILE;
    uint32_t noise = (row * 65537u + column + 1) * 2654435761u;
    noise ^= noise >> 15;
    return (uint8_t)(tile + ((noise * 2246822519u) >> 24 & ((1u << tile % 8) - 1u)));
}

raster contract_raster(const contract_size *size)
{
    const uint32_t width = size->across * CONTRACT_TILE, height = size->down * CONTRACT_TILE;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, width, height, false);
    for (uint32_t i = 0; i < width * height; i++)
        ((uint8_t *)r.pixels.data)[i] = pixel_of(size->across, i / width, i % width);
    return r;
}

tz_write_options contract_options(tz_compression compression)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = compression;
    options.tile_width = options.tile_height = CONTRACT_TILE;
    options.codec.predictor = 1;
    options.verify = TZ_VERIFY_NONE;
    return options;
}

contract_file contract_file_of(const contract_size *size, tz_compression compression)
{
    const tz_write_options options = contract_options(compression);
    return contract_file_with(size, &options);
}

contract_file contract_file_with(const contract_size *size, const tz_write_options *options)
{
    contract_file f = {.file = NULL};
    tz_error err;
    if (size->tiles == 0)
        return f;
    f.raster = contract_raster(size);
    f.bytes = raster_write(&f.raster, options, NULL, NULL);
    if (tz_open_memory(&f.file, f.bytes.data, f.bytes.size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return f;
}

contract_file contract_spaced_file(const contract_size *size, tz_compression compression)
{
    tz_write_options options = contract_options(compression);
    options.alignment = 8192;
    return contract_file_with(size, &options);
}

/* Returns the range of the tiles: from the first byte of the first to the last of the last. */
static tz_span tiles_of(const contract_file *f, uint32_t tiles)
{
    tz_tile_span first, last;
    tz_error err;
    assert_int_equal(tz_file_locate_tile(&first, f->file, 0, false, 0, &err), TZ_OK);
    assert_int_equal(tz_file_locate_tile(&last, f->file, 0, false, tiles - 1, &err), TZ_OK);
    return (tz_span){.offset = first.offset, .size = last.offset + last.size - first.offset};
}

deferred_source *contract_deferred(contract_file *f, uint32_t tiles)
{
    deferred_source *source = deferred_source_new(f->bytes.data, f->bytes.size);
    tz_error err;
    tz_close(f->file);
    if (tz_open_source(&f->file, &source->base, "deferred", NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    const tz_span span = tiles_of(f, tiles);
    source->from = span.offset;
    source->to = span.offset + span.size;
    deferred_source_restart(source);
    return source;
}

void contract_gated(contract_file *f, uint32_t tiles, unsigned width)
{
    char path[] = "/tmp/terrazzo-contract-XXXXXX";
    tz_error err;
    const int fd = mkstemp(path);
    tz_close(f->file);
    if (fd < 0 || write(fd, f->bytes.data, f->bytes.size) != (ssize_t)f->bytes.size ||
        close(fd) != 0)
        fail_msg("%s cannot be written", path);
    if (tz_open(&f->file, path, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    (void)unlink(path);
    const tz_span span = tiles_of(f, tiles);
    gate_begin(width, tiles, span.offset, span.offset + span.size);
}

void contract_file_free(contract_file *f)
{
    tz_close(f->file);
    tz_memory_free(&f->bytes);
    raster_free(&f->raster);
}

plain_report contract_read(const contract_file *f, tz_device *device, uint64_t device_bytes)
{
    const tz_buffer *pixels = &f->raster.pixels;
    const size_t size = (size_t)pixels->width * pixels->height;
    plain_item item = {.file = f->file, .into = *pixels};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    how.device = device;
    how.max_device_bytes = device_bytes;
    how.strict_device = true;
    item.into.data = calloc(1, size + 1);
    steps_keep(contract_cuda);
    if (plain_read_batch(&item, f->file ? 1 : 0, &how, &report, &err) != TZ_OK)
        fail_msg("%s; %s", err.message, contract_cuda->fault);
    contract_cuda->keep_steps = false;
    if (f->file)
        assert_memory_equal(item.into.data, pixels->data, size);
    free(item.into.data);
    return report;
}
