/* SPDX-License-Identifier: Apache-2.0
 * Blocks that were reduced and encoded apart, in any order, make the file that a writer makes of
 * the same pixels: the very bytes. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/raster.h"
#include "support/scratch.h"
#include "support/sized.h"
#include "write/block_head.h"

/* ---- pixels of all levels ---- */

enum { MOST_LEVELS = 32 };

typedef struct levels {
    tz_buffer pixels[MOST_LEVELS];
    tz_buffer masks[MOST_LEVELS];
    uint32_t count;
} levels;

static tz_buffer new_buffer(tz_dtype dtype, uint32_t bands, const tz_cog_level *level)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_buffer buffer = {.struct_size = sizeof(tz_buffer),
                        .dtype = dtype,
                        .bands = bands,
                        .height = level->height,
                        .width = level->width,
                        .column_stride = size,
                        .row_stride = size * level->width,
                        .band_stride = size * level->width * level->height};
    buffer.data = calloc((size_t)buffer.band_stride, bands);
    assert_non_null(buffer.data);
    return buffer;
}

static tz_buffer part_of(const tz_buffer *buffer, const tz_window *window)
{
    tz_buffer part = *buffer;
    part.data = (uint8_t *)buffer->data + window->row * buffer->row_stride +
                window->column * buffer->column_stride;
    part.width = window->width;
    part.height = window->height;
    return part;
}

static levels levels_new(const tz_cog_plan *plan, const raster *r)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    levels all = {.count = info->level_count};
    for (uint32_t i = 0; i < all.count; i++) {
        all.pixels[i] = new_buffer(info->dtype, info->bands, tz_cog_plan_get_level(plan, i));
        if (info->mask)
            all.masks[i] = new_buffer(TZ_DTYPE_UINT8, 1, tz_cog_plan_get_level(plan, i));
    }
    memcpy(all.pixels[0].data, r->pixels.data, (size_t)all.pixels[0].band_stride * info->bands);
    if (info->mask)
        memcpy(all.masks[0].data, r->mask.data, (size_t)all.masks[0].band_stride);
    return all;
}

static void levels_free(levels *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        free(all->pixels[i].data);
        free(all->masks[i].data);
    }
}

/* ---- blocks ---- */

typedef struct blob_set {
    tz_memory *list;
    size_t count;
} blob_set;

static tz_memory make_block(const tz_cog_plan *plan, levels *all, uint32_t level, uint64_t block)
{
    tz_error err;
    tz_cog_block what = TZ_COG_BLOCK_INIT;
    tz_memory blob = {0};
    const bool masked = all->masks[0].data != NULL;
    if (tz_cog_plan_get_block(&what, plan, level, block, &err) != TZ_OK)
        fail_msg("%s", err.message);
    const tz_buffer pixels = part_of(&all->pixels[level], &what.window);
    const tz_buffer mask = masked ? part_of(&all->masks[level], &what.window) : (tz_buffer){0};
    if (level > 0) {
        const tz_buffer from = part_of(&all->pixels[level - 1], &what.source);
        const tz_buffer from_mask =
            masked ? part_of(&all->masks[level - 1], &what.source) : (tz_buffer){0};
        if (tz_overview_block(plan, level, block, &from, masked ? &from_mask : NULL, &pixels,
                              masked ? &mask : NULL, NULL, &err) != TZ_OK)
            fail_msg("%s", err.message);
    }
    if (tz_encode_block(&blob, plan, level, block, &pixels, masked ? &mask : NULL, NULL, &err) !=
        TZ_OK)
        fail_msg("%s", err.message);
    return blob;
}

/* Blocks of a level in an order of their own; blobs in another one. */
static blob_set make_blobs(const tz_cog_plan *plan, const raster *r)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    levels all = levels_new(plan, r);
    blob_set set = {.list = calloc((size_t)info->block_count, sizeof *set.list)};
    for (uint32_t level = 0; level < info->level_count; level++) {
        const uint64_t count = tz_cog_plan_get_level(plan, level)->block_count;
        for (uint64_t i = 0; i < count; i++)
            set.list[set.count++] = make_block(plan, &all, level, count - 1 - i);
    }
    assert_int_equal(set.count, info->block_count);
    for (size_t i = 0; i < set.count; i++) {
        const size_t k = i * 7919 % set.count;
        const tz_memory kept = set.list[i];
        set.list[i] = set.list[k];
        set.list[k] = kept;
    }
    levels_free(&all);
    return set;
}

static void blob_set_free(blob_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        tz_memory_free(&set->list[i]);
    free(set->list);
}

static tz_result read_blob(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                           tz_error *err)
{
    const blob_set *set = user;
    (void)err;
    assert_true(blob < set->count);
    assert_true(offset + size <= set->list[blob].size);
    memcpy(dst, (const uint8_t *)set->list[blob].data + offset, size);
    return TZ_OK;
}

static tz_cog_plan *new_plan(const raster *r, const tz_write_options *options, uint32_t tiles)
{
    tz_cog_plan *made = NULL, *loaded = NULL;
    tz_memory bytes = {0};
    tz_error err;
    if (tz_cog_plan_create(&made, &r->spec, options, tiles, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tz_cog_plan_save(&bytes, made, &err), TZ_OK);
    if (tz_cog_plan_load(&loaded, bytes.data, bytes.size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tz_cog_plan_get_info(made)->fingerprint,
                     tz_cog_plan_get_info(loaded)->fingerprint);
    tz_cog_plan_free(made);
    tz_memory_free(&bytes);
    return loaded;
}

/* ---- files ---- */

/* The heads alone, each in memory of its own. */
static tz_bytes *heads_of(const blob_set *set)
{
    tz_bytes *heads = calloc(set->count, sizeof *heads);
    for (size_t i = 0; i < set->count; i++) {
        tz_blob_info block = TZ_BLOB_INFO_INIT;
        tz_error err;
        assert_int_equal(tz_blob_read_info(&block, set->list[i].data, TZ_BLOB_HEADER, &err), TZ_OK);
        assert_int_equal(block.size, set->list[i].size);
        void *head = malloc((size_t)block.head_size);
        memcpy(head, set->list[i].data, (size_t)block.head_size);
        heads[i] = (tz_bytes){head, (size_t)block.head_size};
    }
    return heads;
}

static void heads_free(tz_bytes *heads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)heads[i].data);
    free(heads);
}

/* Front and runs, put down by the caller itself. */
static tz_memory paste(const tz_cog_plan *plan, const blob_set *set)
{
    tz_error err;
    tz_assembly *a = NULL;
    tz_bytes *heads = heads_of(set);
    if (tz_assembly_create(&a, plan, heads, set->count, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_memory file = {calloc((size_t)a->file_size, 1), (size_t)a->file_size};
    memcpy(file.data, a->front.data, a->front.size);
    assert_int_equal(a->blob_count, set->count);
    for (size_t i = 0; i < set->count; i++) {
        size_t count;
        const tz_copy_run *runs = tz_assembly_get_runs(&count, a, i);
        for (size_t k = 0; k < count; k++) {
            const tz_copy_run *run = &runs[k];
            assert_true(run->file_offset >= a->front.size);
            assert_true(run->file_offset + run->size <= file.size);
            assert_true(run->blob_offset + run->size <= set->list[i].size);
            memcpy((uint8_t *)file.data + run->file_offset,
                   (const uint8_t *)set->list[i].data + run->blob_offset, (size_t)run->size);
        }
    }
    size_t none = 1;
    assert_null(tz_assembly_get_runs(&none, a, set->count));
    assert_int_equal(none, 0);
    tz_assembly_free(a);
    heads_free(heads, set->count);
    return file;
}

static void check_same(const tz_memory *wanted, const void *data, size_t size, const char *how)
{
    if (size != wanted->size)
        fail_msg("%s: %zu bytes, not %zu", how, size, wanted->size);
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)data)[i] != ((const uint8_t *)wanted->data)[i])
            fail_msg("%s: byte %zu of %zu differs", how, i, size);
}

static void check_assembled_file(const tz_cog_plan *plan, blob_set *set, const tz_memory *wanted)
{
    const tz_blobs blobs = {
        .struct_size = sizeof blobs, .count = set->count, .read = read_blob, .user = set};
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    SCOPED_WRITE_REPORT report = NULL;
    tz_error err;
    how.verify = TZ_VERIFY_ALL, how.no_sync = true;
    if (tz_assemble_file(scratch_path("out.tif"), plan, &blobs, &how, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(report->file_size, wanted->size);
    assert_true(report->tiles_verified > 0);
    assert_true(scratch_holds("out.tif", wanted->data, wanted->size));
    assert_int_equal(scratch_count(), 1);
}

/* A writer, and blocks of so many tiles, make the same file. */
static void check_same_file(const raster *r, const tz_write_options *given, uint32_t tiles)
{
    tz_write_options options = *given;
    options.cog = true;
    const raster_variant way = {0};
    tz_memory wanted = raster_write(r, &options, &way, NULL);
    tz_cog_plan *plan = new_plan(r, &options, tiles);
    blob_set set = make_blobs(plan, r);
    tz_memory pasted = paste(plan, &set);
    check_same(&wanted, pasted.data, pasted.size, "pasted");
    check_assembled_file(plan, &set, &wanted);
    free(pasted.data);
    blob_set_free(&set);
    tz_cog_plan_free(plan);
    tz_memory_free(&wanted);
}

static tz_write_options small_tiles(void)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.tile_width = options.tile_height = 16;
    options.codec.compression = TZ_COMPRESSION_LZW; /* in every build */
    return options;
}

/* ---- the tests ---- */

static void test_methods_and_types(void **state)
{
    (void)state;
    static const tz_dtype types[] = {TZ_DTYPE_UINT8, TZ_DTYPE_INT16, TZ_DTYPE_FLOAT32,
                                     TZ_DTYPE_FLOAT64};
    for (unsigned method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        raster r = raster_make(types[method % 4], 1, 201, 133, method % 2 == 0);
        tz_write_options options = small_tiles();
        options.overview_resampling = (tz_resampling)method;
        check_same_file(&r, &options, 1 + method % 3);
        raster_free(&r);
    }
}

static void test_alpha_palettes_and_odd_bits(void **state)
{
    (void)state;
    static const uint16_t colors[3 * 256] = {1, 2, 3};
    static const uint8_t discard[] = {2};
    raster r = raster_make(TZ_DTYPE_UINT8, 4, 99, 70, false);
    tz_write_options options = small_tiles();
    r.spec.photometric = TZ_PHOTOMETRIC_RGB; /* the fourth is alpha */
    options.overview_resampling = TZ_RESAMPLING_CUBIC;
    check_same_file(&r, &options, 2);
    options.discard_bits = discard, options.discard_count = 1;
    check_same_file(&r, &options, 2);
    raster_free(&r);
    r = raster_make(TZ_DTYPE_UINT8, 1, 99, 70, true);
    r.spec.bits_per_sample = 7;
    options = small_tiles();
    options.overview_resampling = TZ_RESAMPLING_CUBIC;
    check_same_file(&r, &options, 2);
    r.spec.bits_per_sample = 8;
    r.spec.photometric = TZ_PHOTOMETRIC_PALETTE;
    r.spec.color_map = colors, r.spec.color_map_size = 256;
    options.overview_resampling = TZ_RESAMPLING_NONE;
    check_same_file(&r, &options, 2);
    raster_free(&r);
}

/* Nodata in one corner, so that whole tiles are of it, and here and there; and some NaN. */
static void add_gaps(raster *r, float nodata)
{
    float *values = r->pixels.data;
    const size_t count = (size_t)r->spec.bands * r->spec.height * r->spec.width;
    for (size_t i = 0; i < count; i++) {
        const size_t column = i % r->spec.width, row = i / r->spec.width % r->spec.height;
        if ((column < 40 && row < 50) || i * 2654435761u % 11 == 0)
            values[i] = nodata;
        else if (i * 2654435761u % 13 == 0)
            values[i] = NAN;
    }
}

static void test_nodata_masks_and_odd_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {17, 300}, {255, 63}, {129, 129}};
    static const tz_resampling methods[] = {TZ_RESAMPLING_AVERAGE, TZ_RESAMPLING_CUBIC};
    for (size_t s = 0; s < 4; s++)
        for (unsigned i = 0; i < 4; i++) {
            raster r = raster_make(TZ_DTYPE_FLOAT32, 2, sizes[s][0], sizes[s][1], i & 1);
            tz_write_options options = small_tiles();
            r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -9999}};
            add_gaps(&r, -9999);
            options.overview_resampling = methods[i >> 1];
            options.sparse = i & 1;
            check_same_file(&r, &options, 2);
            raster_free(&r);
        }
}

static void test_interleaves_and_formats(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        raster r = raster_make(TZ_DTYPE_UINT16, 3, 150, 90, i & 1);
        tz_write_options options = small_tiles();
        options.interleave = (tz_interleave)(i / 2 % 3);
        options.big_endian = i & 1;
        options.bigtiff = i & 2 ? TZ_BIGTIFF_YES : TZ_BIGTIFF_IF_NEEDED;
        options.codec.compression = i < 6 ? TZ_COMPRESSION_PACKBITS : TZ_COMPRESSION_NONE;
        check_same_file(&r, &options, 1 + i % 4);
        raster_free(&r);
    }
}

static void test_statistics_are_the_same_bits(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 3, 333, 222, true);
    for (unsigned i = 0; i < 3; i++) {
        tz_write_options options = small_tiles();
        SCOPED_WRITE_REPORT by_writer = NULL;
        SCOPED_WRITE_REPORT by_blocks = NULL;
        tz_assembly *a = NULL;
        options.interleave = (tz_interleave)i;
        options.statistics_items = true;
        check_same_file(&r, &options, 5);
        options.cog = true;
        options.statistics_items = false;
        options.statistics = true;
        const raster_variant way = {0};
        tz_memory file = raster_write(&r, &options, &way, &by_writer);
        tz_cog_plan *plan = new_plan(&r, &options, 3);
        blob_set set = make_blobs(plan, &r);
        const tz_blobs blobs = {
            .struct_size = sizeof blobs, .count = set.count, .read = read_blob, .user = &set};
        assert_int_equal(
            tz_assemble_file(scratch_path("out.tif"), plan, &blobs, &options, &by_blocks, NULL),
            TZ_OK);
        tz_bytes *heads = heads_of(&set);
        assert_int_equal(tz_assembly_create(&a, plan, heads, set.count, NULL), TZ_OK);
        for (uint32_t band = 0; band < 3; band++) {
            const tz_statistics *wanted = tz_write_report_get_statistics(by_writer, band);
            const tz_statistics *found = tz_write_report_get_statistics(by_blocks, band);
            assert_memory_equal(found, wanted, sizeof *wanted);
            assert_memory_equal(tz_assembly_get_statistics(a, band), wanted, sizeof *wanted);
            assert_true(found->valid_count > 0);
        }
        assert_null(tz_write_report_get_statistics(by_blocks, 3));
        assert_null(tz_assembly_get_statistics(a, 3));
        tz_assembly_free(a);
        heads_free(heads, set.count);
        blob_set_free(&set);
        tz_cog_plan_free(plan);
        tz_memory_free(&file);
    }
    raster_free(&r);
}

static void test_metadata_goes_along(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 100, 80, false);
    const tz_geo geo = {.struct_size = sizeof(tz_geo),
                        .has_transform = true,
                        .transform = {5e5, 10, 0, 4e6, 0, -10},
                        .epsg = 32632};
    const tz_metadata_item items[] = {SIZED_ITEM("", "unit", "m", "unittype", 0),
                                      SIZED_ITEM(NULL, "A", "b", NULL, -1)};
    const tz_tag_value tags[] = {SIZED_TAG(305, 2, 5, "mine")};
    tz_write_options options = small_tiles();
    r.spec.geo = &geo;
    r.spec.metadata = items, r.spec.metadata_count = 2;
    r.spec.tags = tags, r.spec.tag_count = 1;
    check_same_file(&r, &options, 8);
    raster_free(&r);
}

#if defined(TZ_HAVE_JPEG) && defined(TZ_HAVE_LIBDEFLATE)
static void test_other_codecs_in_overviews(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 150, 170, true);
    tz_write_options options = small_tiles();
    options.codec.compression = TZ_COMPRESSION_DEFAULT;
    options.overview_codec.compression = TZ_COMPRESSION_JPEG;
    options.overview_codec.quality = 60;
    check_same_file(&r, &options, 2);
    options.codec.compression = TZ_COMPRESSION_JPEG;
    r.spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    check_same_file(&r, &options, 2);
    raster_free(&r);
}
#endif

/* ---- large files ---- */

/* The head of the only block of a plan, with tiles of this size. */
static tz_bytes forged_head(const tz_cog_plan *plan, uint32_t size)
{
    const tz_context ctx = {.ifd = -1};
    tz_block_tiles tiles;
    assert_int_equal(tz_cog_plan_find_block(plan, 0, 0, &tiles, &ctx), TZ_OK);
    tz_block_head head = tz_block_head_init(plan, 0, 0, &tiles);
    uint8_t *data = calloc((size_t)head.size, 1);
    for (uint64_t i = 0; i < head.tiles; i++)
        tz_block_head_set_tile(data, &head, i, size, 0);
    head.body = head.tiles * (size + 8ull);
    tz_block_head_seal(data, &head);
    return (tz_bytes){data, (size_t)head.size};
}

/* Sizes alone decide: there are no such tiles. */
static void test_sizes_decide_about_bigtiff(void **state)
{
    (void)state;
    static const struct {
        tz_bigtiff wanted;
        uint32_t size; /* of each of 16 tiles */
        tz_result result;
        bool bigtiff;
    } cases[] = {
        {TZ_BIGTIFF_IF_NEEDED, 1u << 20, TZ_OK, false},
        {TZ_BIGTIFF_IF_NEEDED, (1u << 28) - 1024, TZ_OK, false},
        {TZ_BIGTIFF_IF_NEEDED, 1u << 28, TZ_OK, true},
        {TZ_BIGTIFF_IF_SAFER, 1u << 27, TZ_OK, true},
        {TZ_BIGTIFF_NO, 1u << 28, TZ_ERR_UNSUPPORTED, false},
        {TZ_BIGTIFF_YES, 1, TZ_OK, true},
    };
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 64, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_write_options options = small_tiles();
        tz_assembly *a = NULL;
        tz_error err;
        options.bigtiff = cases[i].wanted;
        options.overview_count = -1;
        tz_cog_plan *plan = new_plan(&r, &options, 4);
        const tz_bytes head = forged_head(plan, cases[i].size);
        assert_int_equal(tz_assembly_create(&a, plan, &head, 1, &err), cases[i].result);
        if (a) {
            assert_int_equal(a->bigtiff, cases[i].bigtiff);
            assert_int_equal(((const uint8_t *)a->front.data)[2], cases[i].bigtiff ? 43 : 42);
            size_t count;
            const tz_copy_run *runs = tz_assembly_get_runs(&count, a, 0);
            assert_int_equal(count, 1);
            assert_int_equal(runs[0].file_offset, 4096);
            assert_int_equal(runs[0].blob_offset, head.size);
            assert_int_equal(a->file_size, 4096 + 16 * (cases[i].size + 8ull));
        }
        tz_assembly_free(a);
        tz_cog_plan_free(plan);
        free((void *)head.data);
    }
    raster_free(&r);
}

/* ---- threads ---- */

typedef struct thread_job {
    const tz_cog_plan *plan;
    levels *all;
    tz_memory blobs[16];
} thread_job;

static void *encode_all(void *opaque)
{
    thread_job *job = opaque;
    const uint64_t count = tz_cog_plan_get_level(job->plan, 0)->block_count;
    for (uint64_t i = 0; i < count; i++)
        job->blobs[i] = make_block(job->plan, job->all, 0, i);
    return NULL;
}

/* A plan is a value: threads that share one do not meet. */
static void test_threads_share_a_plan(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 120, 90, true);
    tz_write_options options = small_tiles();
    options.statistics_items = true;
    tz_cog_plan *plan = new_plan(&r, &options, 3);
    const uint64_t count = tz_cog_plan_get_level(plan, 0)->block_count;
    levels all = levels_new(plan, &r);
    thread_job jobs[THREADS];
    pthread_t threads[THREADS];
    assert_true(count > 1 && count <= 16);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (thread_job){.plan = plan, .all = &all};
        assert_int_equal(pthread_create(&threads[i], NULL, encode_all, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        for (uint64_t k = 0; k < count; k++) {
            check_same(&jobs[0].blobs[k], jobs[i].blobs[k].data, jobs[i].blobs[k].size, "a blob");
            if (i > 0)
                tz_memory_free(&jobs[i].blobs[k]);
        }
    for (uint64_t k = 0; k < count; k++)
        tz_memory_free(&jobs[0].blobs[k]);
    levels_free(&all);
    tz_cog_plan_free(plan);
    raster_free(&r);
}

/* ---- options of one call ---- */

/* Counts calls, and stops at one of them. */
typedef struct counted {
    uint64_t calls;
    uint64_t stop; /* 0: never */
    uint64_t done;
    uint64_t total;
} counted;

static bool count_call(void *user, uint64_t done, uint64_t total)
{
    counted *c = user;
    assert_true(done >= c->done && done <= total);
    c->calls++;
    c->done = done;
    c->total = total;
    return c->calls != c->stop;
}

/* Threads make the same bytes, and all are told of the progress. */
static void test_threads_and_progress_of_a_block(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 700, 600, true);
    tz_write_options options = small_tiles();
    options.statistics_items = true;
    options.overview_resampling = TZ_RESAMPLING_CUBIC;
    tz_cog_plan *plan = new_plan(&r, &options, 64);
    levels all = levels_new(plan, &r);
    const tz_cog_level *second = tz_cog_plan_get_level(plan, 1);
    const tz_window window = {.width = second->width, .height = second->height};
    tz_memory wanted = make_block(plan, &all, 0, 0);
    tz_memory smaller = make_block(plan, &all, 1, 0);
    tz_buffer pixels = new_buffer(TZ_DTYPE_FLOAT32, 2, second);
    tz_buffer mask = new_buffer(TZ_DTYPE_UINT8, 1, second);
    for (uint32_t threads = 0; threads < 5; threads++) {
        tz_block_options how = TZ_BLOCK_OPTIONS_INIT;
        counted c = {0};
        tz_memory blob = {0};
        how.threads = threads;
        how.progress = (tz_progress){count_call, &c};
        assert_int_equal(
            tz_encode_block(&blob, plan, 0, 0, &all.pixels[0], &all.masks[0], &how, NULL), TZ_OK);
        check_same(&wanted, blob.data, blob.size, "a blob");
        tz_memory_free(&blob);
        assert_true(c.calls > 2 && c.done == c.total);
        if (threads < 2)
            assert_int_equal(c.calls, c.total + 1); /* between all tiles */
        c = (counted){0};
        memset(pixels.data, 1, (size_t)pixels.band_stride * 2);
        memset(mask.data, 1, (size_t)mask.band_stride);
        assert_int_equal(tz_overview_window(plan, 1, &window, &all.pixels[0], &all.masks[0],
                                            &pixels, &mask, &how, NULL),
                         TZ_OK);
        assert_memory_equal(pixels.data, all.pixels[1].data, (size_t)pixels.band_stride * 2);
        assert_memory_equal(mask.data, all.masks[1].data, (size_t)mask.band_stride);
        assert_true(c.calls > 1 && c.done == c.total && c.total == second->height);
    }
    free(pixels.data);
    free(mask.data);
    tz_memory_free(&smaller);
    tz_memory_free(&wanted);
    levels_free(&all);
    tz_cog_plan_free(plan);
    raster_free(&r);
}

static void test_a_block_can_be_cancelled(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 300, 300, false);
    const tz_write_options options = small_tiles();
    tz_cog_plan *plan = new_plan(&r, &options, 64);
    levels all = levels_new(plan, &r);
    for (uint64_t stop = 1; stop < 4; stop++) {
        tz_block_options how = TZ_BLOCK_OPTIONS_INIT;
        counted c = {.stop = stop};
        tz_memory blob = {0};
        tz_error err;
        how.progress = (tz_progress){count_call, &c};
        assert_int_equal(tz_encode_block(&blob, plan, 0, 0, &all.pixels[0], NULL, &how, &err),
                         TZ_ERR_CANCELLED);
        assert_int_equal(c.calls, stop);
        assert_null(blob.data);
        c = (counted){.stop = stop};
        assert_int_equal(
            tz_overview_block(plan, 1, 0, &all.pixels[0], NULL, &all.pixels[1], NULL, &how, &err),
            TZ_ERR_CANCELLED);
        assert_int_equal(c.calls, stop);
    }
    levels_free(&all);
    tz_cog_plan_free(plan);
    raster_free(&r);
}

/* ---- structs of the caller ---- */

/* A struct is filled as far as it reaches; a longer one gets zeros. */
static void test_structs_of_other_versions(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 2, 100, 90, false);
    tz_write_options options = small_tiles();
    options.statistics_items = true;
    tz_cog_plan *plan = new_plan(&r, &options, 64);
    levels all = levels_new(plan, &r);
    tz_memory blob = make_block(plan, &all, 0, 0);
    const tz_bytes head = {blob.data, blob.size};
    tz_error err;
    struct {
        tz_cog_block block;
        uint64_t more;
    } newer = {.block = {.struct_size = sizeof newer}, .more = 7};
    assert_int_equal(tz_cog_plan_get_block(&newer.block, plan, 0, 0, &err), TZ_OK);
    assert_true(newer.more == 0 && newer.block.struct_size == sizeof newer);
    assert_int_equal(newer.block.window.width, 100);
    tz_cog_block older = {.struct_size = offsetof(tz_cog_block, source), .tiles = 99};
    assert_int_equal(tz_cog_plan_get_block(&older, plan, 0, 0, &err), TZ_OK);
    assert_true(older.tiles == 99 && older.window.height == 90);
    tz_cog_block unset = {.struct_size = 0};
    assert_int_equal(tz_cog_plan_get_block(&unset, plan, 0, 0, &err), TZ_ERR_ARG);
    tz_blob_info info = {.struct_size = offsetof(tz_blob_info, size), .size = 99};
    assert_int_equal(tz_blob_read_info(&info, head.data, head.size, &err), TZ_OK);
    assert_true(info.size == 99 && info.head_size > 0);
    info.struct_size = SIZE_MAX;
    assert_int_equal(tz_blob_read_info(&info, head.data, head.size, &err), TZ_ERR_ARG);
    /* elements of an array are as far apart as the first one says */
    struct {
        tz_statistics is;
        uint64_t more;
    } bands[2] = {{.is = {.struct_size = sizeof bands[0]}}, {.more = 7}};
    assert_int_equal(tz_blob_read_statistics(&bands[0].is, plan, &head, &err), TZ_OK);
    assert_true(bands[0].is.valid_count == 9000 && bands[1].is.valid_count == 9000);
    assert_true(bands[1].is.struct_size == sizeof bands[1] && bands[1].more == 0);
    assert_int_equal(tz_blob_read_statistics(NULL, plan, &head, &err), TZ_ERR_ARG);
    bands[0].is.struct_size = 0;
    assert_int_equal(tz_blob_read_statistics(&bands[0].is, plan, &head, &err), TZ_ERR_ARG);
    assert_null(tz_cog_plan_get_level(plan, tz_cog_plan_get_info(plan)->level_count));
    tz_block_options how;
    tz_block_options_init(&how, sizeof how);
    how.struct_size = 1;
    tz_memory none = {0};
    assert_int_equal(tz_encode_block(&none, plan, 0, 0, &all.pixels[0], NULL, &how, &err),
                     TZ_ERR_ARG);
    tz_blobs blobs;
    tz_blobs_init(&blobs, sizeof blobs);
    blobs.struct_size = 1;
    assert_int_equal(tz_assemble_file(scratch_path("out.tif"), plan, &blobs, NULL, NULL, &err),
                     TZ_ERR_ARG);
    tz_memory_free(&blob);
    levels_free(&all);
    tz_cog_plan_free(plan);
    raster_free(&r);
}

/* ---- what is wrong ---- */

typedef struct fixture {
    raster r;
    tz_cog_plan *plan;
    blob_set set;
    tz_bytes *heads;
} fixture;

static fixture fixture_make(void)
{
    fixture f = {.r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, true)};
    tz_write_options options = small_tiles();
    options.statistics_items = true;
    f.plan = new_plan(&f.r, &options, 2);
    f.set = make_blobs(f.plan, &f.r);
    f.heads = heads_of(&f.set);
    return f;
}

static void fixture_free(fixture *f)
{
    heads_free(f->heads, f->set.count);
    blob_set_free(&f->set);
    tz_cog_plan_free(f->plan);
    raster_free(&f->r);
}

static void check_refused(const fixture *f, size_t count, const char *text)
{
    tz_assembly *a = NULL;
    tz_error err;
    assert_int_equal(tz_assembly_create(&a, f->plan, f->heads, count, &err), TZ_ERR_FORMAT);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in: %s", text, err.message);
}

static void test_missing_doubled_and_foreign_blocks_are_named(void **state)
{
    (void)state;
    fixture f = fixture_make();
    tz_blob_info last = TZ_BLOB_INFO_INIT;
    char text[64];
    const size_t count = f.set.count;
    tz_bytes kept = f.heads[count - 1];
    assert_int_equal(tz_blob_read_info(&last, kept.data, kept.size, NULL), TZ_OK);
    snprintf(text, sizeof text, "block %u of level %u is missing", (unsigned)last.block,
             last.level);
    check_refused(&f, count - 1, text);
    f.heads[count - 1] = f.heads[0];
    check_refused(&f, count, "is given twice");
    raster other = raster_make(TZ_DTYPE_UINT8, 1, 100, 101, true);
    const tz_write_options options = small_tiles();
    tz_cog_plan *plan = new_plan(&other, &options, 2);
    blob_set set = make_blobs(plan, &other);
    f.heads[count - 1] = (tz_bytes){set.list[0].data, set.list[0].size};
    check_refused(&f, count, "another plan");
    f.heads[count - 1] = (tz_bytes){kept.data, kept.size - 1};
    check_refused(&f, count, "is cut off");
    f.heads[count - 1] = (tz_bytes){"II*", 3};
    check_refused(&f, count, "not a block");
    f.heads[count - 1] = kept;
    blob_set_free(&set);
    tz_cog_plan_free(plan);
    raster_free(&other);
    fixture_free(&f);
}

static void test_every_changed_byte_of_a_head_is_noticed(void **state)
{
    (void)state;
    fixture f = fixture_make();
    tz_assembly *a = NULL;
    tz_error err;
    uint8_t *head = (uint8_t *)f.heads[0].data;
    for (size_t i = 0; i < f.heads[0].size; i++) {
        head[i] ^= 0x10;
        const tz_result result = tz_assembly_create(&a, f.plan, f.heads, f.set.count, &err);
        assert_true(result == TZ_ERR_FORMAT || result == TZ_ERR_UNSUPPORTED);
        head[i] ^= 0x10;
    }
    fixture_free(&f);
}

static void test_a_changed_tile_is_noticed(void **state)
{
    (void)state;
    fixture f = fixture_make();
    const tz_blobs blobs = {
        .struct_size = sizeof blobs, .count = f.set.count, .read = read_blob, .user = &f.set};
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_error err;
    how.verify = TZ_VERIFY_ALL;
    for (size_t i = 0; i < f.set.count; i++) {
        uint8_t *data = f.set.list[i].data;
        const size_t at = f.heads[i].size + 12;
        data[at] ^= 0x55;
        assert_int_not_equal(
            tz_assemble_file(scratch_path("out.tif"), f.plan, &blobs, &how, NULL, &err), TZ_OK);
        data[at] ^= 0x55;
        assert_int_equal(scratch_count(), 0);
    }
    fixture_free(&f);
}

/* Blobs whose reads are counted. */
typedef struct counted_blobs {
    blob_set *set;
    uint64_t reads;
} counted_blobs;

static tz_result read_counted_blob(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                                   tz_error *err)
{
    counted_blobs *c = user;
    c->reads++;
    return read_blob(c->set, blob, offset, dst, size, err);
}

/* The total is 0 until all heads are read, each of them in one or two calls. */
static void test_a_cancelled_assembly_leaves_nothing(void **state)
{
    (void)state;
    fixture f = fixture_make();
    counted_blobs user = {.set = &f.set};
    const tz_blobs blobs = {.struct_size = sizeof blobs,
                            .count = f.set.count,
                            .read = read_counted_blob,
                            .user = &user};
    tz_result result = TZ_ERR_CANCELLED;
    uint64_t stop = 1;
    for (; result != TZ_OK; stop++) {
        counted c = {.stop = stop};
        tz_write_options how = TZ_WRITE_OPTIONS_INIT;
        tz_error err;
        user.reads = 0;
        how.no_sync = true;
        how.progress = (tz_progress){count_call, &c};
        result = tz_assemble_file(scratch_path("out.tif"), f.plan, &blobs, &how, NULL, &err);
        assert_int_equal(result, c.calls == stop ? TZ_ERR_CANCELLED : TZ_OK);
        assert_int_equal(scratch_count(), result == TZ_OK);
        if (stop <= f.set.count)
            assert_true(user.reads >= stop - 1 && user.reads <= 2 * (stop - 1) && c.total == 0);
        else
            assert_true(user.reads >= f.set.count && c.total > 0);
    }
    assert_true(stop > f.set.count + 2);
    fixture_free(&f);
}

static tz_result refuse_blob(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                             tz_error *err)
{
    int *left = ((void **)user)[1];
    if (--*left == 0)
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, offset, "the store is gone");
    return read_blob(((void **)user)[0], blob, offset, dst, size, err);
}

/* Whichever read of a blob fails, that is the error, and there is no file. */
static void test_every_read_of_a_blob_may_fail(void **state)
{
    (void)state;
    fixture f = fixture_make();
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_result result = TZ_ERR_IO;
    how.no_sync = true;
    for (int n = 1; result != TZ_OK; n++) {
        int left = n;
        void *user[] = {&f.set, &left};
        const tz_blobs blobs = {
            .struct_size = sizeof blobs, .count = f.set.count, .read = refuse_blob, .user = user};
        tz_error err;
        result = tz_assemble_file(scratch_path("out.tif"), f.plan, &blobs, &how, NULL, &err);
        assert_int_equal(scratch_count(), result == TZ_OK);
        if (result == TZ_OK)
            assert_true(n > (int)f.set.count && left > 0);
        else
            assert_true(result == TZ_ERR_IO && strstr(err.message, "the store is gone"));
    }
    fixture_free(&f);
}

static void test_wrong_pixels_are_refused(void **state)
{
    (void)state;
    fixture f = fixture_make();
    tz_memory blob = {0};
    tz_error err;
    tz_cog_block what = TZ_COG_BLOCK_INIT;
    uint8_t room[32 * 32] = {0};
    const tz_buffer right = {.struct_size = sizeof(tz_buffer),
                             .data = room,
                             .dtype = TZ_DTYPE_UINT8,
                             .bands = 1,
                             .height = 32,
                             .width = 32};
    tz_buffer wrong = right;
    assert_int_equal(tz_encode_block(&blob, f.plan, 0, 0, &right, NULL, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "has no mask"));
    wrong.width = 31;
    assert_int_equal(tz_encode_block(&blob, f.plan, 0, 0, &wrong, &right, NULL, &err), TZ_ERR_ARG);
    wrong = right;
    wrong.dtype = TZ_DTYPE_INT8;
    assert_int_equal(tz_encode_block(&blob, f.plan, 0, 0, &wrong, &right, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_encode_block(&blob, f.plan, 0, 0, NULL, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_encode_block(&blob, f.plan, 9, 0, &right, &right, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_encode_block(&blob, f.plan, 0, 99, &right, &right, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_cog_plan_get_block(&what, f.plan, 1, 99, &err), TZ_ERR_ARG);
    const tz_window window = {.column = 90, .width = 32, .height = 32};
    tz_window source;
    assert_int_equal(tz_cog_plan_get_source(&source, f.plan, 1, &window, &err), TZ_ERR_ARG);
    assert_int_equal(tz_cog_plan_get_source(&source, f.plan, 0, &what.window, &err), TZ_ERR_ARG);
    assert_int_equal(tz_overview_block(f.plan, 0, 0, &right, &right, &right, &right, NULL, &err),
                     TZ_ERR_ARG);
    fixture_free(&f);
}

static void remove_output(void)
{
    (void)remove(scratch_path("out.tif"));
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f = fixture_make();
    for (uint64_t n = 1;; n++) {
        const tz_blobs blobs = {
            .struct_size = sizeof blobs, .count = f.set.count, .read = read_blob, .user = &f.set};
        tz_write_options how = small_tiles();
        tz_cog_plan *plan = NULL;
        tz_assembly *a = NULL;
        tz_memory blob = {0};
        tz_error err;
        how.statistics_items = how.no_sync = true;
        uint8_t room[32 * 32] = {0};
        const tz_buffer pixels = {.struct_size = sizeof(tz_buffer),
                                  .data = room,
                                  .dtype = TZ_DTYPE_UINT8,
                                  .bands = 1,
                                  .height = 32,
                                  .width = 32};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = tz_cog_plan_create(&plan, &f.r.spec, &how, 2, &err);
        if (result == TZ_OK)
            result = tz_encode_block(&blob, plan, 0, 0, &pixels, &pixels, NULL, &err);
        if (result == TZ_OK)
            result = tz_assembly_create(&a, plan, f.heads, f.set.count, &err);
        if (result == TZ_OK)
            result = tz_assemble_file(scratch_path("out.tif"), plan, &blobs, &how, NULL, &err);
        tz_assembly_free(a);
        tz_memory_free(&blob);
        tz_cog_plan_free(plan);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (result != TZ_OK && (result != TZ_ERR_NOMEM || stats.failures == 0))
            fail_msg("allocation %u: %s", (unsigned)n, err.message);
        assert_int_equal(scratch_count(), result == TZ_OK); /* some memory the reader can spare */
        remove_output();
        if (stats.failures == 0)
            break;
    }
    fixture_free(&f);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_begin, scratch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_methods_and_types),
        SCRATCH(test_alpha_palettes_and_odd_bits),
        SCRATCH(test_nodata_masks_and_odd_sizes),
        SCRATCH(test_interleaves_and_formats),
        SCRATCH(test_statistics_are_the_same_bits),
        SCRATCH(test_metadata_goes_along),
#if defined(TZ_HAVE_JPEG) && defined(TZ_HAVE_LIBDEFLATE)
        SCRATCH(test_other_codecs_in_overviews),
#endif
        SCRATCH(test_sizes_decide_about_bigtiff),
        SCRATCH(test_threads_share_a_plan),
        SCRATCH(test_threads_and_progress_of_a_block),
        SCRATCH(test_a_block_can_be_cancelled),
        SCRATCH(test_structs_of_other_versions),
        SCRATCH(test_missing_doubled_and_foreign_blocks_are_named),
        SCRATCH(test_every_changed_byte_of_a_head_is_noticed),
        SCRATCH(test_a_changed_tile_is_noticed),
        SCRATCH(test_a_cancelled_assembly_leaves_nothing),
        SCRATCH(test_every_read_of_a_blob_may_fail),
        SCRATCH(test_wrong_pixels_are_refused),
        SCRATCH(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
