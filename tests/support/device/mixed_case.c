/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/mixed_case.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/nvidia/cufile.h"
#include "fakes/nvidia/codestreams_fake.h"
#include "fakes/nvidia/cufile_fake.h"
#include "fakes/nvidia/nvcomp_fake.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_text.h"
#include "support/gated_file.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"
#include "support/scratch.h"
#include "support/sized.h"
#include "support/tile_file.h"

cuda_fake_control *mixed_cuda;
static cufile_fake_control *files_control;
static nvcomp_fake_control *chunks_control;
static codestreams_fake_control *jpeg_control, *j2k_control;

/* ---- beginning and end ---- */

static void *call(const char *library, const char *function)
{
    void *address = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), function);
    void *(*get)(void) = NULL;
    assert_non_null(address);
    memcpy(&get, &address, sizeof get);
    return get();
}

int mixed_begin_all(void **state)
{
    files_control = call(CUFILE_FAKE, "cufile_fake");
    chunks_control = call(NVCOMP_FAKE_6, "nvcomp_fake");
    jpeg_control = call(NVJPEG_FAKE, "codestreams_fake");
    j2k_control = call(NVJPEG2K_FAKE, "codestreams_fake");
    mixed_cuda = cuda_fake_load();
    tz_cu_set_modules_path("/dev/null");
    tf_warm_up();
    return scratch_begin(state);
}

int mixed_end_all(void **state)
{
    tz_cu_set_modules_path(NULL);
    return scratch_end(state);
}

int mixed_begin(void **state)
{
    (void)state;
    cuda_fake_reset(mixed_cuda);
    *files_control = (cufile_fake_control){CUFILE_FAKE_DEFAULTS};
    files_control->direct = true;
    gate_uncached();
    return 0;
}

int mixed_end(void **state)
{
    (void)state;
    (void)gate_end();
    assert_string_equal(files_control->misuse, "");
    assert_string_equal(jpeg_control->misuse, "");
    assert_string_equal(j2k_control->misuse, "");
    assert_int_equal(mixed_cuda->live, 0);
    assert_int_equal(jpeg_control->live, 0);
    assert_int_equal(j2k_control->live, 0);
    assert_int_equal(files_control->opens, 0);
    assert_int_equal(files_control->files, 0);
    assert_int_equal(files_control->buffers, 0);
    return 0;
}

tz_device *mixed_open(void)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", NVCOMP_FAKE_6);
    library_set(&how, "cufile", CUFILE_FAKE);
    library_set(&how, "nvjpeg2k", NVJPEG2K_FAKE);
    library_set(&how, "nvjpeg", NVJPEG_FAKE);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    steps_try_libraries(device);
    return device;
}

void mixed_close(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* ---- files ---- */

static const struct {
    tz_compression compression;
    tz_dtype dtype;
} kinds[MIXED_FILES] = {
    [MIXED_DEFLATE] = {TZ_COMPRESSION_DEFLATE, TZ_DTYPE_INT16},
    [MIXED_ZSTD] = {TZ_COMPRESSION_ZSTD, TZ_DTYPE_UINT16},
    [MIXED_LZ4] = {TZ_COMPRESSION_LZ4, TZ_DTYPE_UINT8},
    [MIXED_JPEG] = {TZ_COMPRESSION_JPEG, TZ_DTYPE_UINT8},
    [MIXED_JP2] = {TZ_COMPRESSION_JPEG2000, TZ_DTYPE_UINT16},
    [MIXED_LZW] = {TZ_COMPRESSION_LZW, TZ_DTYPE_INT32},
    [MIXED_NONE] = {TZ_COMPRESSION_NONE, TZ_DTYPE_FLOAT32},
};

bool mixed_is_lossy(size_t file)
{
    return file == MIXED_JPEG;
}

static raster make_raster(size_t file)
{
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "SCALE", "0.25", "scale", 0), SIZED_ITEM("", "OFFSET", "-3", "offset", 0),
        SIZED_ITEM("", "SCALE", "7", "scale", 2), SIZED_ITEM("", "OFFSET", "100", "offset", 2)};
    raster r = raster_make(kinds[file].dtype, MIXED_BANDS, MIXED_WIDTH, MIXED_HEIGHT, false);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = 7}};
    r.spec.metadata = items;
    r.spec.metadata_count = sizeof items / sizeof items[0];
    return r;
}

/* Tiles of the image come last in a COG, in order. */
static size_t spoil(uint8_t *bytes, size_t size, const mixed_damage *damage)
{
    tz_file *file = NULL;
    tz_tile_span spans[MIXED_TILES];
    tz_error err;
    assert_int_equal(tz_open_memory(&file, bytes, size, NULL, &err), TZ_OK);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, MIXED_TILES, &err), TZ_OK);
    tz_close(file);
    for (size_t i = 0; i < MIXED_TILES; i++) {
        if (damage->spoilt >> i & 1)
            memset(bytes + spans[i].offset, 0x5A, (size_t)spans[i].size);
    }
    const tz_tile_span *last = &spans[MIXED_TILES - 1];
    return damage->cut ? (size_t)(last->offset + last->size / 2) : size;
}

static tz_file *make_file(size_t number, const raster *r, const mixed_damage *damage)
{
    tz_write_options options = raster_small_tiles(kinds[number].compression);
    char name[16];
    tz_file *file = NULL;
    tz_error err;
    options.tile_width = options.tile_height = 16;
    options.cog = true;
    tz_memory memory = raster_write(r, &options, NULL, NULL);
    const size_t size = spoil(memory.data, memory.size, damage);
    snprintf(name, sizeof name, "%zu.tif", number);
    scratch_write(name, memory.data, size);
    tz_memory_free(&memory);
    if (tz_open(&file, scratch_path(name), NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

mixed mixed_make(const mixed_damage damage[MIXED_FILES])
{
    const mixed_damage none = {0};
    mixed m;
    for (size_t i = 0; i < MIXED_FILES; i++) {
        m.rasters[i] = make_raster(i);
        m.files[i] = make_file(i, &m.rasters[i], damage ? &damage[i] : &none);
    }
    return m;
}

void mixed_free(mixed *m)
{
    for (size_t i = 0; i < MIXED_FILES; i++) {
        raster_free(&m->rasters[i]);
        tz_close(m->files[i]);
    }
}

/* ---- items ---- */

/* The room of a buffer, which is filled with what was never read. */
static tz_buffer make_buffer(const mixed_ask *ask, tz_dtype dtype, uint32_t bands, uint8_t **bytes,
                             size_t *room)
{
    enum { UNTOUCHED = 0xA5 };
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_buffer b = {.struct_size = sizeof(tz_buffer),
                   .dtype = dtype,
                   .bands = bands,
                   .height = ask->window.width ? ask->window.height : MIXED_HEIGHT,
                   .width = ask->window.width ? ask->window.width : MIXED_WIDTH};
    b.column_stride = size + (ask->is_scattered ? 3 : 0);
    b.row_stride = b.column_stride * b.width + (ask->is_scattered ? 5 : 0);
    b.band_stride = b.row_stride * b.height;
    *room = (size_t)(b.band_stride * bands);
    *bytes = malloc(*room);
    memset(*bytes, UNTOUCHED, *room);
    if (ask->is_scattered) {
        b.offset = (uint64_t)(b.row_stride * (b.height - 1));
        b.row_stride = -b.row_stride;
    }
    return b;
}

static void give_memory(tz_buffer *b, const mixed_ask *ask, uint8_t *bytes, size_t size)
{
    tz_device_memory *memory = NULL;
    tz_error err;
    if (!ask->on_device) {
        b->data = bytes;
        return;
    }
    assert_int_equal(tz_device_memory_alloc(&memory, ask->how.device, size, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 0, bytes, size, &err), TZ_OK);
    plain_on_device(b, memory);
}

static plain_item make_item(const mixed *m, const mixed_ask *ask, size_t i, mixed_answer *a)
{
    const uint32_t bands = ask->bands ? 2 : MIXED_BANDS;
    const tz_dtype dtype = ask->dtype ? ask->dtype : kinds[i].dtype;
    plain_item item = {.file = m->files[i], .window = ask->window, .bands = ask->bands};
    item.band_count = ask->bands ? bands : 0;
    item.into = make_buffer(ask, dtype, bands, &a->bytes[2 * i], &a->sizes[2 * i]);
    give_memory(&item.into, ask, a->bytes[2 * i], a->sizes[2 * i]);
    if (ask->has_mask) {
        item.mask =
            make_buffer(ask, TZ_DTYPE_UINT8, bands, &a->bytes[2 * i + 1], &a->sizes[2 * i + 1]);
        give_memory(&item.mask, ask, a->bytes[2 * i + 1], a->sizes[2 * i + 1]);
    }
    a->outcomes[i] = (plain_outcome){.tiles = a->tiles[i], .tile_room = MIXED_TILES};
    item.outcome = ask->has_list ? &a->outcomes[i] : NULL;
    return item;
}

/* A device that has failed gives nothing back. */
static void take_memory(const tz_buffer *b, const mixed_answer *a, size_t i)
{
    tz_error err;
    if (b->memory != TZ_MEMORY_KIND_DEVICE)
        return;
    if (a->result == TZ_OK)
        assert_int_equal(tz_device_copy_out(a->bytes[i], b->data, 0, a->sizes[i], &err), TZ_OK);
    tz_device_memory_free(b->data);
}

/* ---- reads ---- */

static void set_faults(const mixed_ask *ask)
{
    mixed_cuda->fail_function = ask->fail_function;
    mixed_cuda->fail_nth = ask->fail_function && ask->how.device ? 1 : 0;
    mixed_cuda->fail_code = ask->fail_code;
    chunks_control->fail_chunk = ask->how.device ? ask->fail_chunk : 0;
    chunks_control->fail_status = ask->fail_code;
}

/* They must have come about. */
static void check_faults(void)
{
    assert_int_equal(mixed_cuda->fail_nth, 0);
    assert_int_equal(chunks_control->fail_chunk, 0);
}

mixed_answer mixed_read(const mixed *m, const mixed_ask *ask)
{
    mixed_answer a = {0};
    plain_item items[MIXED_FILES];
    for (size_t i = 0; i < MIXED_FILES; i++)
        items[i] = make_item(m, ask, i, &a);
    set_faults(ask);
    a.result = plain_read_batch(items, MIXED_FILES, &ask->how, &a.report, &a.err);
    check_faults();
    for (size_t i = 0; i < MIXED_FILES; i++) {
        take_memory(&items[i].into, &a, 2 * i);
        take_memory(&items[i].mask, &a, 2 * i + 1);
        a.outcomes[i].tiles = NULL; /* they have moved */
    }
    return a;
}

mixed_answer mixed_read_by_cpu(const mixed *m, const mixed_ask *ask)
{
    mixed_ask plain = *ask;
    plain.how.device = NULL;
    plain.how.strict_device = false;
    plain.on_device = false;
    return mixed_read(m, &plain);
}

void mixed_answer_free(mixed_answer *answer)
{
    for (size_t i = 0; i < 2 * MIXED_FILES; i++)
        free(answer->bytes[i]);
}

static void check_outcome(const mixed_answer *found, const mixed_answer *cpu, size_t i)
{
    assert_int_equal(found->outcomes[i].tile_count, cpu->outcomes[i].tile_count);
    assert_int_equal(found->outcomes[i].tiles_failed, cpu->outcomes[i].tiles_failed);
    for (size_t k = 0; k < MIXED_TILES; k++) {
        const tz_tile_status *a = &found->tiles[i][k], *b = &cpu->tiles[i][k];
        if (a->tile != b->tile || a->level != b->level || a->result != b->result ||
            a->cause != b->cause)
            fail_msg("file %zu, tile %zu: %s, not %s", i, k, tz_result_name(a->result),
                     tz_result_name(b->result));
    }
}

void mixed_check_same(const mixed_answer *found, const mixed_answer *cpu)
{
    if (found->result != cpu->result)
        fail_msg("%s, not %s", found->result == TZ_OK ? "ok" : found->err.message,
                 cpu->result == TZ_OK ? "ok" : cpu->err.message);
    if (found->result != TZ_OK) {
        assert_string_equal(found->err.message, cpu->err.message);
        assert_int_equal(found->err.cause, cpu->err.cause);
        assert_int_equal(found->err.tile, cpu->err.tile);
        return;
    }
    for (size_t i = 0; i < 2 * MIXED_FILES; i++) {
        if (found->sizes[i] > 0 && memcmp(found->bytes[i], cpu->bytes[i], found->sizes[i]) != 0)
            fail_msg("file %zu: another %s", i / 2, i % 2 ? "mask" : "picture");
    }
    for (size_t i = 0; i < MIXED_FILES; i++)
        check_outcome(found, cpu, i);
}
