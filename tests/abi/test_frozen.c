/* SPDX-License-Identifier: Apache-2.0
 * A program that was compiled with the headers of 0.2: the frozen copy, and not those of the tree.
 * It writes, opens, reads and validates an image with each struct that it allocates itself, and
 * sets members near the end of them, so that one that moved or changed its meaning is noticed. It
 * must run with every later library of the same SONAME without a change here.
 *
 * To extend it: one function for each call, which takes its structs from the TZ_X_INIT macros of
 * the frozen copy, and a row in main. What all of them share is in make_rows and write_file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/frozen_0_2.h"
#include "support/scratch.h"

#ifdef TERRAZZO_H
#error "the frozen copy is the only header of terrazzo here"
#endif

enum { WIDTH = 40, HEIGHT = 30, BANDS = 2 };

static uint16_t pixels[BANDS][HEIGHT][WIDTH];

/* ---- what the calls share ---- */

static tz_buffer make_rows(void *data)
{
    tz_buffer rows = TZ_BUFFER_INIT;
    rows.data = data;
    rows.dtype = TZ_DTYPE_UINT16;
    rows.bands = BANDS;
    rows.height = HEIGHT;
    rows.width = WIDTH;
    rows.band_stride = HEIGHT * WIDTH * sizeof(uint16_t);
    rows.row_stride = WIDTH * sizeof(uint16_t);
    rows.column_stride = sizeof(uint16_t);
    return rows;
}

static bool count_progress(void *user, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    ++*(unsigned *)user;
    return true;
}

static bool refuse_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    return false;
}

static tz_image_spec describe_image(void)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = WIDTH;
    spec.height = HEIGHT;
    spec.bands = BANDS;
    spec.dtype = TZ_DTYPE_UINT16;
    spec.nodata_text = "7";
    return spec;
}

static tz_memory write_image(const tz_image_spec *spec, const tz_write_options *options)
{
    tz_memory file = {NULL, 0};
    const tz_buffer rows = make_rows(pixels);
    tz_writer *writer = NULL;
    tz_error err;
    assert_int_equal(tz_create_memory(&writer, &file, spec, options, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    return file;
}

static tz_memory write_file(const tz_write_options *options)
{
    const tz_image_spec spec = describe_image();
    return write_image(&spec, options);
}

static tz_file *open_file(const tz_memory *file, const tz_open_options *options)
{
    tz_file *opened = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&opened, file->data, file->size, options, &err), TZ_OK);
    return opened;
}

/* ---- calls ---- */

static void options_of_writing_are_understood(void **state)
{
    (void)state;
    unsigned calls = 0;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.tile_width = options.tile_height = 16;
    options.interleave = TZ_INTERLEAVE_BAND;
    options.bigtiff = TZ_BIGTIFF_YES;
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.codec.predictor = 2;
    options.verify = TZ_VERIFY_ALL;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    tz_memory file = write_file(&options);
    assert_true(calls > 0);
    tz_file *opened = open_file(&file, NULL);
    const tz_info *info = tz_file_get_info(opened);
    assert_true(info->bigtiff);
    assert_int_equal(info->width, WIDTH);
    assert_int_equal(info->height, HEIGHT);
    assert_int_equal(info->bands, BANDS);
    assert_int_equal(info->dtype, TZ_DTYPE_UINT16);
    assert_int_equal(info->planar, TZ_PLANAR_SEPARATE);
    assert_int_equal(tz_file_get_level(opened, 0)->compression, TZ_COMPRESSION_LZW);
    assert_int_equal(tz_file_get_level(opened, 0)->predictor, 2);
    assert_string_equal(info->nodata_text, "7");
    tz_close(opened);
    tz_memory_free(&file);
}

static void specifications_are_understood(void **state)
{
    (void)state;
    static const uint16_t codes[] = {2, 4326};
    const tz_geo_key keys[] = {{1024, 3, 1, {.shorts = &codes[0]}},
                               {2048, 3, 1, {.shorts = &codes[1]}}};
    tz_geo geo = TZ_GEO_INIT;
    geo.has_transform = true;
    geo.transform[1] = 2, geo.transform[5] = -2;
    geo.keys = keys;
    geo.key_count = 2;
    geo.key_revision = 1;
    tz_metadata_item items[] = {TZ_METADATA_ITEM_INIT, TZ_METADATA_ITEM_INIT};
    for (int i = 0; i < 2; i++) {
        items[i].domain = items[i].role = "";
        items[i].name = i == 0 ? "FIRST" : "SECOND";
        items[i].value = "x";
        items[i].band = i == 0 ? -1 : 1;
    }
    tz_tag_value software = TZ_TAG_VALUE_INIT;
    software.tag = 305;
    software.type = 2;
    software.count = 4;
    software.data = "abc";
    tz_image_spec spec = describe_image();
    spec.geo = &geo;
    spec.metadata = items;
    spec.metadata_count = 2;
    spec.tags = &software;
    spec.tag_count = 1;
    tz_memory file = write_image(&spec, NULL);

    tz_error err;
    tz_file *opened = open_file(&file, NULL);
    const tz_info *info = tz_file_get_info(opened);
    assert_int_equal(info->geo->epsg, 4326);
    assert_true(info->geo->transform[5] == -2);
    assert_int_equal(info->metadata_count, 2);
    assert_string_equal(tz_file_get_metadata(opened, 1)->name, "SECOND");
    assert_int_equal(tz_file_get_metadata(opened, 1)->band, 1);
    const tz_level *level = tz_file_get_level(opened, 0);
    for (int32_t i = 0; i < level->tag_count; i++) {
        char text[4] = "";
        tz_tag tag = TZ_TAG_INIT;
        assert_int_equal(tz_file_get_tag(&tag, opened, level->ifd_offset, (uint32_t)i, &err),
                         TZ_OK);
        if (tag.tag != 305)
            continue;
        assert_int_equal(tag.size, sizeof text);
        assert_int_equal(tz_tag_read(text, sizeof text, opened, &tag, &err), TZ_OK);
        assert_string_equal(text, "abc");
    }
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_opening_are_understood(void **state)
{
    (void)state;
    tz_memory file = write_file(NULL);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.strict = true;
    tz_close(open_file(&file, &options));

    tz_error err;
    tz_file *opened = NULL;
    tz_limits limits = TZ_LIMITS_INIT;
    limits.max_ifd_entries = 1;
    options.limits = &limits;
    assert_int_equal(tz_open_memory(&opened, file.data, file.size, &options, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_ifd_entries");

    options.limits = NULL;
    options.progress.call = refuse_progress;
    assert_int_equal(tz_open_memory(&opened, file.data, file.size, &options, &err),
                     TZ_ERR_CANCELLED);
    assert_int_equal(err.result, TZ_ERR_CANCELLED);
    assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
    assert_true(strlen(err.message) > 0 && strlen(err.message) < sizeof err.message);
    tz_memory_free(&file);
}

static void options_of_reading_are_understood(void **state)
{
    (void)state;
    static uint16_t back[BANDS][HEIGHT][WIDTH];
    unsigned calls = 0;
    tz_error err;
    tz_memory file = write_file(NULL);
    tz_file *opened = open_file(&file, NULL);
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    options.threads = 1;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    const tz_buffer into = make_rows(back);
    tz_item item = TZ_ITEM_INIT;
    item.file = opened;
    item.into = &into;
    tz_read_report *report = NULL;
    assert_int_equal(tz_read(&item, &options, &report, &err), TZ_OK);
    assert_memory_equal(back, pixels, sizeof pixels);
    assert_true(calls > 0);
    assert_int_equal(report->item_count, 1);
    assert_int_equal(report->device->tiles, 0);
    assert_int_equal(tz_read_report_get_item(report, 0)->window.width, WIDTH);
    tz_read_report_free(report);

    item.window = (tz_window){-WIDTH, 0, WIDTH, HEIGHT}; /* beside the image */
    options.boundless = true;
    options.has_fill = true;
    options.fill = 11;
    assert_int_equal(tz_read(&item, &options, NULL, &err), TZ_OK);
    for (size_t i = 0; i < sizeof back / sizeof back[0][0][0]; i++)
        assert_int_equal((&back[0][0][0])[i], 11);
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_validation_are_understood(void **state)
{
    (void)state;
    unsigned calls = 0;
    tz_error err;
    tz_memory file = write_file(NULL);
    tz_file *opened = open_file(&file, NULL);
    tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    options.full = true;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, opened, &options, &err), TZ_OK);
    assert_true(validation->full);
    assert_true(calls > 0);
    tz_validation_free(validation);
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_devices_are_understood(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = NULL;
    tz_device_options options = TZ_DEVICE_OPTIONS_INIT;
    options.libraries = "cuda=;opencl=";
    assert_int_equal(tz_device_open(&device, "auto", &options, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    tz_device_close(device);
}

/* ---- functions of the caller ---- */

/* A source that is the first member of the caller's own struct. */
typedef struct memory_source {
    tz_source source;
    const tz_memory *memory;
    unsigned closed;
} memory_source;

static tz_result submit_ranges(tz_source *source, tz_request *request, tz_error *err)
{
    const memory_source *from = (const memory_source *)source;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset > source->size || range->size > source->size - range->offset)
            return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, range->offset, "no more");
        memcpy(range->dst, (const char *)from->memory->data + range->offset, range->size);
    }
    return TZ_OK;
}

static tz_result wait_for_ranges(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK;
}

static void close_source(tz_source *source)
{
    ((memory_source *)source)->closed++;
}

static void sources_are_read(void **state)
{
    (void)state;
    tz_error err;
    tz_file *opened = NULL;
    tz_memory file = write_file(NULL);
    memory_source from = {TZ_SOURCE_INIT, &file, 0};
    from.source.size = file.size;
    from.source.caller_thread = true;
    from.source.submit = submit_ranges;
    from.source.wait = wait_for_ranges;
    from.source.close = close_source;
    from.source.first_read_bytes = 64;
    assert_int_equal(tz_open_source(&opened, &from.source, "memory", NULL, &err), TZ_OK);
    assert_int_equal(tz_file_get_info(opened)->width, WIDTH);
    tz_close(opened);
    assert_int_equal(from.closed, 1);
    tz_memory_free(&file);
}

/* A sink that counts bytes. */
typedef struct counting_sink {
    tz_sink sink;
    uint64_t bytes;
    unsigned closed;
} counting_sink;

static tz_result count_bytes(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                             tz_error *err)
{
    (void)offset, (void)err;
    for (size_t i = 0; i < count; i++)
        ((counting_sink *)sink)->bytes += pieces[i].size;
    return TZ_OK;
}

static void close_sink(tz_sink *sink)
{
    ((counting_sink *)sink)->closed++;
}

static tz_result give_rows(void *user, const tz_window *window, const tz_buffer *into,
                           const tz_buffer *mask, tz_error *err)
{
    (void)user, (void)mask, (void)err;
    for (uint32_t band = 0; band < BANDS; band++)
        for (uint32_t row = 0; row < window->height; row++)
            memcpy((char *)into->data + band * into->band_stride + row * into->row_stride,
                   pixels[band][(size_t)window->row + row], sizeof pixels[0][0]);
    return TZ_OK;
}

static void rows_go_to_sinks(void **state)
{
    (void)state;
    tz_error err;
    tz_writer *writer = NULL;
    tz_write_report *report = NULL;
    const tz_image_spec spec = describe_image();
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.statistics = true;
    counting_sink to = {TZ_SINK_INIT, 0, 0};
    to.sink.caller_thread = true;
    to.sink.write = count_bytes;
    to.sink.close = close_sink;
    tz_row_source rows = TZ_ROW_SOURCE_INIT;
    rows.read = give_rows;
    assert_int_equal(tz_create_sink(&writer, &to.sink, "count", &spec, &options, &err), TZ_OK);
    assert_int_equal(tz_write_from(writer, &rows, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, &report, &err), TZ_OK);
    tz_writer_close(writer);
    assert_int_equal(to.closed, 1);
    assert_true(to.bytes > 0 && to.bytes <= report->file_size);
    assert_int_equal(tz_write_report_get_statistics(report, 1)->valid_count, WIDTH * HEIGHT);
    tz_write_report_free(report);
}

static tz_result read_blob(void *user, size_t which, uint64_t offset, void *dst, size_t size,
                           tz_error *err)
{
    (void)which, (void)err;
    memcpy(dst, (const char *)((const tz_memory *)user)->data + offset, size);
    return TZ_OK;
}

static void blocks_are_encoded_and_assembled(void **state)
{
    (void)state;
    tz_error err;
    tz_cog_plan *plan = NULL;
    tz_assembly *assembly = NULL;
    tz_memory blob = {NULL, 0};
    const tz_image_spec spec = describe_image();
    const tz_buffer rows = make_rows(pixels);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.statistics = true;
    assert_int_equal(tz_cog_plan_create(&plan, &spec, &options, 0, &err), TZ_OK);
    assert_int_equal(tz_cog_plan_get_info(plan)->block_count, 1);
    tz_cog_block block = TZ_COG_BLOCK_INIT;
    assert_int_equal(tz_cog_plan_get_block(&block, plan, 0, 0, &err), TZ_OK);
    assert_int_equal(block.window.height, HEIGHT);
    tz_block_options how = TZ_BLOCK_OPTIONS_INIT;
    how.threads = 2;
    assert_int_equal(tz_encode_block(&blob, plan, 0, 0, &rows, NULL, &how, &err), TZ_OK);
    tz_blob_info info = TZ_BLOB_INFO_INIT;
    assert_int_equal(tz_blob_read_info(&info, blob.data, blob.size, &err), TZ_OK);
    assert_int_equal(info.size, blob.size);
    tz_statistics statistics[BANDS] = {TZ_STATISTICS_INIT};
    const tz_bytes head = {blob.data, info.head_size};
    assert_int_equal(tz_blob_read_statistics(statistics, plan, &head, &err), TZ_OK);
    assert_int_equal(statistics[1].valid_count, WIDTH * HEIGHT);
    assert_int_equal(tz_assembly_create(&assembly, plan, &head, 1, &err), TZ_OK);
    size_t runs = 0;
    assert_non_null(tz_assembly_get_runs(&runs, assembly, 0));
    assert_true(runs > 0);
    tz_blobs blobs = TZ_BLOBS_INIT;
    blobs.count = 1;
    blobs.read = read_blob;
    blobs.user = &blob;
    assert_int_equal(tz_assemble_file(scratch_path("out.tif"), plan, &blobs, NULL, NULL, &err),
                     TZ_OK);
    assert_true(scratch_exists("out.tif"));
    tz_assembly_free(assembly);
    tz_memory_free(&blob);
    tz_cog_plan_free(plan);
}

static void tensors_are_made_of_buffers(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_dlpack_options options = TZ_DLPACK_OPTIONS_INIT;
    options.axes = TZ_DL_AXES_BANDS_LAST;
    const tz_buffer rows = make_rows(pixels);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &rows, &options, &err), TZ_OK);
    assert_int_equal(managed->tensor.ndim, 3);
    assert_int_equal(managed->tensor.shape[2], BANDS);
    managed->deleter(managed);
}

static void codecs_are_listed(void **state)
{
    (void)state;
    tz_compression compression;
    assert_string_equal(tz_codec_get(0)->name, "NONE");
    assert_true(tz_codec_get(0)->can_write);
    assert_true(tz_compression_from_name(&compression, "lzw"));
    assert_int_equal(compression, TZ_COMPRESSION_LZW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_writing_are_understood),
        cmocka_unit_test(specifications_are_understood),
        cmocka_unit_test(options_of_opening_are_understood),
        cmocka_unit_test(options_of_reading_are_understood),
        cmocka_unit_test(options_of_validation_are_understood),
        cmocka_unit_test(options_of_devices_are_understood),
        cmocka_unit_test(sources_are_read),
        cmocka_unit_test(rows_go_to_sinks),
        cmocka_unit_test_setup_teardown(blocks_are_encoded_and_assembled, scratch_begin,
                                        scratch_end),
        cmocka_unit_test(tensors_are_made_of_buffers),
        cmocka_unit_test(codecs_are_listed),
    };
    for (int i = 0; i < BANDS * HEIGHT * WIDTH; i++)
        (&pixels[0][0][0])[i] = (uint16_t)(i * 37);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
