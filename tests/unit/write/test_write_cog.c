/* SPDX-License-Identifier: Apache-2.0
 * Cloud Optimized GeoTIFFs: levels, layout, options of overviews, and what is refused. That the
 * bytes depend on nothing else is tested in test_write_cog_same_bytes.c, pixels of overviews in
 * test_pixel_resample.c and against GDAL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/plain_read.h"
#include "support/raster.h"
#include "support/scratch.h"

enum { TILE = 32, PAGE = 4096 };

static tz_write_options cog(void)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.cog = true;
    options.codec.compression = TZ_COMPRESSION_LZW; /* every build has it */
    options.tile_width = options.tile_height = TILE;
    return options;
}

static tz_file *open_file(const tz_memory *memory)
{
    tz_file *file = NULL;
    tz_error err = {0};
    if (tz_open_memory(&file, memory->data, memory->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

/* Write it, and open what was written; released by close_cog. */
typedef struct written {
    raster r;
    tz_memory memory;
    tz_file *file;
    const tz_info *info;
    tz_write_report *report;
} written;

static written write_cog(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height, bool mask,
                         const tz_write_options *options)
{
    written w = {.r = raster_make(dtype, bands, width, height, mask)};
    w.memory = raster_write(&w.r, options, NULL, &w.report);
    w.file = open_file(&w.memory);
    w.info = tz_file_get_info(w.file);
    return w;
}

static void close_cog(written *w)
{
    tz_close(w->file);
    tz_write_report_free(w->report);
    tz_memory_free(&w->memory);
    raster_free(&w->r);
}

/* ---- levels ---- */

static void levels_are_halved_up_to_one_tile(void **state)
{
    (void)state;
    const tz_write_options options = cog();
    written w = write_cog(TZ_DTYPE_UINT8, 1, 5 * TILE, 133, false, &options);
    const uint32_t widths[] = {160, 80, 40, 20};
    const uint32_t heights[] = {133, 67, 34, 17};
    assert_int_equal(w.info->level_count, 4);
    assert_int_equal(w.report->levels, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(tz_file_get_level(w.file, i)->width, widths[i]);
        assert_int_equal(tz_file_get_level(w.file, i)->height, heights[i]);
    }
    close_cog(&w);
}

static void an_image_of_one_tile_has_no_overviews(void **state)
{
    (void)state;
    const tz_write_options options = cog();
    written w = write_cog(TZ_DTYPE_UINT8, 1, TILE, TILE, false, &options);
    assert_int_equal(w.info->level_count, 1);
    assert_int_equal(w.report->spool_bytes, 0);
    close_cog(&w);
}

static void the_number_of_overviews_can_be_given(void **state)
{
    (void)state;
    tz_write_options options = cog();
    const struct {
        int32_t count;
        uint32_t levels;
    } cases[] = {{-1, 1}, {1, 2}, {2, 3}, {6, 7}, {100, 9} /* 200 to 1 */};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.overview_count = cases[i].count;
        written w = write_cog(TZ_DTYPE_UINT16, 1, 200, 3, false, &options);
        assert_int_equal(w.info->level_count, cases[i].levels);
        raster_check(&w.r, &w.memory, 0);
        close_cog(&w);
    }
}

static void five_by_five_becomes_three_by_three(void **state)
{
    (void)state;
    tz_write_options options = cog();
    options.overview_count = 1;
    written w = write_cog(TZ_DTYPE_INT32, 1, 5, 5, false, &options);
    assert_int_equal(tz_file_get_level(w.file, 1)->width, 3);
    assert_int_equal(tz_file_get_level(w.file, 1)->height, 3);
    close_cog(&w);
}

/* A flat image is flat on all levels, whatever the method, the edges included. */
static void methods_keep_a_flat_image(void **state)
{
    (void)state;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 3, 99, 101, false);
        tz_write_options options = cog();
        options.overview_resampling = (tz_resampling)method;
        memset(r.pixels.data, 77, (size_t)99 * 101 * 3);
        tz_memory memory = raster_write(&r, &options, NULL, NULL);
        tz_file *file = open_file(&memory);
        const tz_level *level = tz_file_get_level(file, 2);
        uint8_t pixels[25 * 26 * 3];
        const plain_item item = {.file = file,
                                 .level = 2,
                                 .window = {0, 0, level->width, level->height},
                                 .into = {.data = pixels,
                                          .dtype = TZ_DTYPE_UINT8,
                                          .bands = 3,
                                          .height = level->height,
                                          .width = level->width}};
        assert_int_equal(plain_read_batch(&item, 1, NULL, NULL, NULL), TZ_OK);
        for (size_t i = 0; i < sizeof pixels; i++)
            assert_int_equal(pixels[i], 77);
        tz_close(file);
        tz_memory_free(&memory);
        raster_free(&r);
    }
}

/* ---- layout ---- */

static void smaller_levels_come_first(void **state)
{
    (void)state;
    const tz_write_options options = cog();
    written w = write_cog(TZ_DTYPE_UINT16, 1, 150, 170, true, &options);
    uint32_t problems = 0;
    uint64_t before = 0;
    assert_int_equal(tz_file_get_cog_problems(&problems, w.file, NULL), TZ_OK);
    assert_int_equal(problems & ~TZ_COG_PROBLEM_NOT_GEOREFERENCED, 0);
    for (uint32_t level = w.info->level_count; level-- > 0;) {
        const uint64_t count = tz_file_get_level(w.file, level)->tile_count;
        tz_tile_span spans[30], masks[30];
        assert_int_equal(tz_file_get_tile_spans(spans, w.file, level, false, 0, count, NULL),
                         TZ_OK);
        assert_int_equal(tz_file_get_tile_spans(masks, w.file, level, true, 0, count, NULL), TZ_OK);
        if (level == 0)
            assert_int_equal((spans[0].offset - 4) % PAGE, 0);
        for (uint64_t i = 0; i < count; i++) {
            const uint8_t *tile = (const uint8_t *)w.memory.data + spans[i].offset;
            assert_true(spans[i].offset > before);
            assert_int_equal(tile[-4] | tile[-3] << 8 | tile[-2] << 16, spans[i].size);
            assert_memory_equal(tile + spans[i].size, tile + spans[i].size - 4, 4);
            assert_int_equal(masks[i].offset, spans[i].offset + spans[i].size + 8);
            before = masks[i].offset;
        }
    }
    close_cog(&w);
}

static bool has_text(const written *w, const char *text)
{
    const char *bytes = w->memory.data;
    char front[PAGE + 1] = {0};
    memcpy(front, bytes, w->memory.size < PAGE ? w->memory.size : PAGE);
    for (size_t i = 0; i < PAGE; i++)
        front[i] = front[i] ? front[i] : '.';
    return strstr(front, text) != NULL;
}

/* Returns the offset of a tile of a plane. */
static uint64_t offset_of(const tz_file *file, uint64_t tile)
{
    tz_tile_span span;
    assert_int_equal(tz_file_get_tile_spans(&span, file, 0, false, tile, 1, NULL), TZ_OK);
    return span.offset;
}

static void bands_and_tiles_can_come_one_after_the_other(void **state)
{
    (void)state;
    tz_write_options options = cog();
    enum { PER = 3 * 2 };
    options.interleave = TZ_INTERLEAVE_BAND;
    written w = write_cog(TZ_DTYPE_UINT8, 3, 90, 50, true, &options);
    for (uint64_t i = 1; i < 3 * PER; i++)
        assert_true(offset_of(w.file, i) > offset_of(w.file, i - 1));
    raster_check(&w.r, &w.memory, 0);
    close_cog(&w);
    options.interleave = TZ_INTERLEAVE_TILE;
    w = write_cog(TZ_DTYPE_UINT8, 3, 90, 50, true, &options);
    for (uint64_t i = 1; i < 3 * PER; i++)
        assert_true(offset_of(w.file, i % 3 * PER + i / 3) >
                    offset_of(w.file, (i - 1) % 3 * PER + (i - 1) / 3));
    assert_true(has_text(&w, "INTERLEAVE\" domain=\"IMAGE_STRUCTURE\">TILE")); /* GDAL looks here */
    raster_check(&w.r, &w.memory, 0);
    close_cog(&w);
}

static void the_ghost_area_says_the_layout(void **state)
{
    (void)state;
    tz_write_options options = cog();
    written w = write_cog(TZ_DTYPE_UINT8, 2, 50, 50, true, &options);
    assert_memory_equal((const char *)w.memory.data + 8,
                        "GDAL_STRUCTURAL_METADATA_SIZE=000174 bytes\n"
                        "LAYOUT=IFDS_BEFORE_DATA\n"
                        "BLOCK_ORDER=ROW_MAJOR\n"
                        "BLOCK_LEADER=SIZE_AS_UINT4\n"
                        "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
                        "KNOWN_INCOMPATIBLE_EDITION=NO\n "
                        "MASK_INTERLEAVED_WITH_IMAGERY=YES\n",
                        43 + 174);
    close_cog(&w);
    options.interleave = TZ_INTERLEAVE_TILE;
    options.bigtiff = TZ_BIGTIFF_YES;
    w = write_cog(TZ_DTYPE_UINT8, 2, 50, 50, true, &options);
    assert_memory_equal((const char *)w.memory.data + 16, "GDAL_STRUCTURAL", 15);
    assert_true(has_text(&w, "INTERLEAVE=TILE\n"));
    assert_false(has_text(&w, "MASK_INTERLEAVED"));
    close_cog(&w);
}

static void sparse_tiles_have_no_bytes(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 300, 300, false);
    tz_write_options options = cog();
    options.sparse = true;
    memset(r.pixels.data, 0, 300 * 300);
    ((uint8_t *)r.pixels.data)[0] = 200;
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory memory = raster_write(&r, &options, NULL, &report);
    assert_int_equal(report->tiles_sparse, report->tiles - report->levels); /* the first of each */
    raster_check(&r, &memory, 0);
    tz_memory_free(&memory);
    raster_free(&r);
}

/* ---- options of overviews ---- */

static void overviews_can_have_a_codec_of_their_own(void **state)
{
    (void)state;
    tz_write_options options = cog();
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.overview_codec.compression = TZ_COMPRESSION_LZW;
    options.overview_codec.predictor = 2;
    written w = write_cog(TZ_DTYPE_UINT8, 1, 100, 100, false, &options);
    assert_int_equal(tz_file_get_level(w.file, 0)->compression, TZ_COMPRESSION_NONE);
    assert_int_equal(tz_file_get_level(w.file, 1)->compression, TZ_COMPRESSION_LZW);
    assert_int_equal(tz_file_get_level(w.file, 1)->predictor, 2);
    assert_int_equal(tz_file_get_level(w.file, 0)->predictor, 1);
    close_cog(&w);
}

static void only_the_image_says_where_it_is(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_geo geo = {.struct_size = sizeof(tz_geo),
                  .has_transform = true,
                  .transform = {10, 1, 0, 20, 0, -1},
                  .epsg = 32633};
    const tz_metadata_item item = {
        .struct_size = sizeof(tz_metadata_item), .name = "AREA", .value = "here", .band = -1};
    r.spec.geo = &geo;
    r.spec.metadata = &item;
    r.spec.metadata_count = 1;
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_INT, {.i = 9}};
    const tz_write_options options = cog();
    tz_memory memory = raster_write(&r, &options, NULL, NULL);
    tz_file *file = open_file(&memory);
    const tz_info *info = tz_file_get_info(file);
    uint32_t problems = 1;
    assert_int_equal(tz_file_get_cog_problems(&problems, file, NULL), TZ_OK);
    assert_int_equal(problems, 0);
    assert_int_equal(info->geo->epsg, 32633);
    assert_int_equal(info->nodata.value.i, 9);
    tz_close(file);
    tz_memory_free(&memory);
    raster_free(&r);
}

/* ---- what is refused ---- */

static void refuses(const raster *r, const tz_write_options *options, const char *text)
{
    tz_writer *writer = NULL;
    tz_memory out = {0};
    tz_error err = {0};
    assert_int_equal(tz_create_memory(&writer, &out, &r->spec, options, &err), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_write_options options = cog();
    options.strips = true;
    refuses(&r, &options, "has tiles, not strips");
    options = cog();
    options.alignment = 512;
    refuses(&r, &options, "cannot be aligned to 512 bytes");
    options = cog();
    options.tile_height = 2 * TILE;
    refuses(&r, &options, "are square");
    options = cog();
    options.overview_resampling = (tz_resampling)99;
    refuses(&r, &options, "overview_resampling is 99");
    uint16_t colors[3 * 256] = {0};
    options = cog();
    r.spec.photometric = TZ_PHOTOMETRIC_PALETTE;
    r.spec.color_map = colors;
    r.spec.color_map_size = 256;
    options.overview_resampling = TZ_RESAMPLING_AVERAGE;
    refuses(&r, &options, "overviews cannot be made by average: numbers in a colour map");
    raster_free(&r);
}

static void a_spool_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 100, 100, false);
    tz_write_options options = cog();
    tz_writer *writer = NULL;
    tz_error err = {0};
    options.spool_directory = scratch_path("none");
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r.spec, &options, &err), TZ_ERR_IO);
    assert_non_null(strstr(err.message, "none"));
    assert_int_equal(scratch_count(), 0);
    raster_free(&r);
}

static void a_file_is_as_what_was_written_to_memory(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 133, 201, true);
    const tz_write_options options = cog();
    tz_memory memory = raster_write(&r, &options, NULL, NULL);
    tz_writer *writer = NULL;
    tz_error err = {0};
    const size_t files = scratch_open_files();
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &r.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &r, &(raster_variant){.batch = 9}, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    assert_true(scratch_holds("a.tif", memory.data, memory.size));
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(scratch_open_files(), files);
    tz_memory_free(&memory);
    raster_free(&r);
}

/* A sink of one's own, which gets bytes in order and cannot make room. */
typedef struct keeping_sink {
    tz_sink base;
    uint8_t bytes[400000];
    uint64_t last;
} keeping_sink;

static tz_result keep(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                      tz_error *err)
{
    keeping_sink *s = (keeping_sink *)sink;
    (void)err;
    assert_true(offset >= s->last || offset == 0);
    for (size_t i = 0; i < count; offset += pieces[i].size, i++) {
        assert_true(offset + pieces[i].size <= sizeof s->bytes);
        memcpy(s->bytes + offset, pieces[i].data, pieces[i].size);
    }
    s->last = offset;
    return TZ_OK;
}

/* Uncompressed tiles go to their offsets at once, others wait for theirs. */
static void known_sizes_change_nothing(void **state)
{
    (void)state;
    for (int interleave = TZ_INTERLEAVE_PIXEL; interleave <= TZ_INTERLEAVE_TILE; interleave++) {
        raster r = raster_make(TZ_DTYPE_UINT16, 2, 111, 97, false);
        tz_write_options options = cog();
        SCOPED_WRITE_REPORT report = NULL;
        options.codec.compression = TZ_COMPRESSION_NONE;
        options.interleave = (tz_interleave)interleave;
        tz_memory memory = raster_write(&r, &options, &(raster_variant){.batch = 7}, &report);
        assert_int_equal(report->spool_bytes, 0);
        keeping_sink *sink = calloc(1, sizeof *sink);
        sink->base.struct_size = sizeof sink->base;
        sink->base.write = keep;
        tz_writer *writer = NULL;
        tz_error err = {0};
        assert_int_equal(tz_create_sink(&writer, &sink->base, "mine", &r.spec, &options, &err),
                         TZ_OK);
        assert_int_equal(raster_give(writer, &r, &(raster_variant){.batch = 0}, &err), TZ_OK);
        clear_write_report(&report);
        assert_int_equal(tz_commit(writer, &report, &err), TZ_OK);
        tz_writer_close(writer);
        assert_int_equal(report->file_size, memory.size);
        assert_memory_equal(sink->bytes, memory.data, memory.size);
        free(sink);
        tz_memory_free(&memory);
        raster_free(&r);
    }
}

/* One warning each, whatever the number of levels; of lossy codecs, LERC keeps nodata. */
static void codecs_that_lose_nodata_or_readers_are_reported(void **state)
{
    (void)state;
    enum { COMPRESSION = 259, GDAL_NODATA = 42113 };
    static const struct {
        tz_compression image, overviews;
        const char *feature;
        int32_t tag; /* 0: no warning */
    } cases[] = {
        {TZ_COMPRESSION_LZW, TZ_COMPRESSION_DEFAULT, NULL, 0},
        {TZ_COMPRESSION_JPEG, TZ_COMPRESSION_DEFAULT, "jpeg", GDAL_NODATA},
        {TZ_COMPRESSION_LZW, TZ_COMPRESSION_JPEG, "jpeg", GDAL_NODATA},
        {TZ_COMPRESSION_LERC, TZ_COMPRESSION_DEFAULT, "lerc", 0},
        {TZ_COMPRESSION_LZ4, TZ_COMPRESSION_DEFAULT, "lz4", COMPRESSION},
        {TZ_COMPRESSION_LZW, TZ_COMPRESSION_LZ4, "lz4", COMPRESSION},
        {TZ_COMPRESSION_JPEG2000, TZ_COMPRESSION_DEFAULT, "openjpeg", COMPRESSION},
    };
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 150, 100, false);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 7}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_write_options options = cog();
        SCOPED_WRITE_REPORT report = NULL;
        options.codec.compression = cases[i].image;
        options.overview_codec.compression = cases[i].overviews;
        options.codec.max_error = cases[i].image == TZ_COMPRESSION_LERC ? 3 : 0;
        if (cases[i].feature && !tz_build_feature(cases[i].feature))
            continue;
        tz_memory memory = raster_write(&r, &options, NULL, &report);
        assert_int_equal(report->levels, 4);
        assert_int_equal(report->warning_count, cases[i].tag != 0);
        if (cases[i].tag != 0) {
            assert_int_equal(tz_write_report_get_warning(report, 0)->tag, cases[i].tag);
            assert_int_equal(tz_write_report_get_warning(report, 0)->count, 1);
        }
        tz_memory_free(&memory);
    }
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_halved_up_to_one_tile),
        cmocka_unit_test(an_image_of_one_tile_has_no_overviews),
        cmocka_unit_test(the_number_of_overviews_can_be_given),
        cmocka_unit_test(five_by_five_becomes_three_by_three),
        cmocka_unit_test(methods_keep_a_flat_image),
        cmocka_unit_test(smaller_levels_come_first),
        cmocka_unit_test(bands_and_tiles_can_come_one_after_the_other),
        cmocka_unit_test(the_ghost_area_says_the_layout),
        cmocka_unit_test(sparse_tiles_have_no_bytes),
        cmocka_unit_test(known_sizes_change_nothing),
        cmocka_unit_test(overviews_can_have_a_codec_of_their_own),
        cmocka_unit_test(only_the_image_says_where_it_is),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(codecs_that_lose_nodata_or_readers_are_reported),
        cmocka_unit_test_setup_teardown(a_spool_that_cannot_be_made_is_an_error, scratch_begin,
                                        scratch_end),
        cmocka_unit_test_setup_teardown(a_file_is_as_what_was_written_to_memory, scratch_begin,
                                        scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
