/* SPDX-License-Identifier: Apache-2.0
 * Structs of programs that were compiled with a newer header, which has one more member at the end
 * of every struct: with zero in it they work as before, and with anything else they are refused,
 * since the library cannot do what it does not know. The same with structs of an older header,
 * which have fewer members, and with arrays of both. Structs that the library fills keep their
 * size, and nothing is written after it.
 *
 * To add a struct: a function that passes it to a call, and a row in `structs`. check_abi.py fails
 * if one with a struct_size has no row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <terrazzo/dlpack.h>
#include <terrazzo/terrazzo.h>

#include "support/scratch.h"

enum { SIDE = 8, BANDS = 3, MEMBER = 8 }; /* MEMBER: bytes of the further member */

/* ---- what the calls need: an image as a file and as a block ---- */

static uint8_t pixels[BANDS * SIDE * SIDE];
static tz_memory image;
static tz_file *image_file;
static tz_cog_plan *plan;
static tz_memory blob;

static tz_buffer make_rows(void)
{
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = pixels,
                       .dtype = TZ_DTYPE_UINT8,
                       .bands = BANDS,
                       .height = SIDE,
                       .width = SIDE};
}

static tz_image_spec describe_image(void)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = spec.height = SIDE;
    spec.bands = BANDS;
    spec.dtype = TZ_DTYPE_UINT8;
    return spec;
}

/* Writes the rows, or those of a source, and commits. */
static tz_result finish_writing(tz_writer *writer, const tz_buffer *rows,
                                const tz_row_source *source, tz_error *err)
{
    tz_result result =
        source ? tz_write_from(writer, source, err) : tz_write_rows(writer, rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

static tz_result write_image(tz_memory *into, const tz_image_spec *spec,
                             const tz_write_options *options, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_writer *writer = NULL;
    const tz_result result = tz_create_memory(&writer, into, spec, options, err);
    return result == TZ_OK ? finish_writing(writer, &rows, NULL, err) : result;
}

static int make_image(void **state)
{
    tz_error err;
    const tz_buffer rows = make_rows();
    const tz_image_spec spec = describe_image();
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.statistics = true;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)i;
    assert_int_equal(scratch_begin(state), 0);
    assert_int_equal(write_image(&image, &spec, NULL, &err), TZ_OK);
    assert_int_equal(tz_open_memory(&image_file, image.data, image.size, NULL, &err), TZ_OK);
    assert_int_equal(tz_cog_plan_create(&plan, &spec, &options, 0, &err), TZ_OK);
    assert_int_equal(tz_encode_block(&blob, plan, 0, 0, &rows, NULL, NULL, &err), TZ_OK);
    return 0;
}

static int free_image(void **state)
{
    tz_memory_free(&blob);
    tz_cog_plan_free(plan);
    tz_close(image_file);
    tz_memory_free(&image);
    return scratch_end(state);
}

/* ---- calls; the struct may be of any size, and an array has BANDS elements ---- */

static tz_result open_image(const tz_open_options *options, tz_error *err)
{
    tz_file *file = NULL;
    const tz_result result = tz_open_memory(&file, image.data, image.size, options, err);
    tz_close(file);
    return result;
}

static tz_result pass_open_options(void *given, tz_error *err)
{
    return open_image(given, err);
}

static tz_result pass_limits(void *given, tz_error *err)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits = given;
    return open_image(&options, err);
}

static tz_result pass_source(void *given, tz_error *err)
{
    tz_file *file = NULL;
    const tz_result result = tz_open_source(&file, given, NULL, NULL, err);
    tz_close(file);
    return result;
}

static tz_result pass_read_options(void *given, tz_error *err)
{
    const tz_buffer into = make_rows();
    const tz_item item = {.struct_size = sizeof item, .file = image_file, .into = &into};
    return tz_read(&item, given, NULL, err);
}

static tz_result pass_read_shape_to_fill(void *given, tz_error *err)
{
    const tz_item item = {.struct_size = sizeof item, .file = image_file};
    return tz_read_resolve(given, &item, NULL, err);
}

static tz_result pass_items(void *given, tz_error *err)
{
    return tz_read_batch(given, BANDS, NULL, NULL, err);
}

static tz_result pass_buffer_of_reading(void *given, tz_error *err)
{
    const tz_item item = {.struct_size = sizeof item, .file = image_file, .into = given};
    return tz_read(&item, NULL, NULL, err);
}

static tz_result pass_tag_to_fill(void *given, tz_error *err)
{
    return tz_file_get_tag(given, image_file, tz_file_get_level(image_file, 0)->ifd_offset, 0, err);
}

static tz_result pass_tag(void *given, tz_error *err)
{
    uint32_t width = 0;
    return tz_tag_read(&width, sizeof width, image_file, given, err);
}

static tz_result pass_validate_options(void *given, tz_error *err)
{
    tz_validation *validation = NULL;
    const tz_result result = tz_validate_file(&validation, image_file, given, err);
    tz_validation_free(validation);
    return result;
}

/* Writes an image, and makes a plan of it, into memory that nobody looks at. Both agree. */
static tz_result write_with(const tz_image_spec *spec, const tz_write_options *options,
                            tz_error *err)
{
    tz_memory file = {NULL, 0}, saved = {NULL, 0};
    tz_cog_plan *made = NULL;
    const tz_result result = write_image(&file, spec, options, err);
    assert_int_equal(tz_cog_plan_create(&made, spec, options, 0, err), result);
    if (result == TZ_OK)
        assert_int_equal(tz_cog_plan_save(&saved, made, err), TZ_OK);
    tz_cog_plan_free(made);
    tz_memory_free(&saved);
    tz_memory_free(&file);
    return result;
}

static tz_result pass_image_options(void *given, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_memory file = {NULL, 0};
    const tz_result result = tz_image_encode(&file, &rows, NULL, given, err);
    tz_memory_free(&file);
    return result;
}

static tz_result pass_image_spec(void *given, tz_error *err)
{
    return write_with(given, NULL, err);
}

static tz_result pass_write_options(void *given, tz_error *err)
{
    const tz_image_spec spec = describe_image();
    return write_with(&spec, given, err);
}

static tz_result pass_geo(void *given, tz_error *err)
{
    tz_image_spec spec = describe_image();
    spec.geo = given;
    return write_with(&spec, NULL, err);
}

static tz_result pass_metadata_items(void *given, tz_error *err)
{
    tz_image_spec spec = describe_image();
    spec.metadata = given;
    spec.metadata_count = BANDS;
    return write_with(&spec, NULL, err);
}

static tz_result pass_tag_values(void *given, tz_error *err)
{
    tz_image_spec spec = describe_image();
    spec.tags = given;
    spec.tag_count = BANDS;
    return write_with(&spec, NULL, err);
}

/* Writes by rows or by a source, whichever is not NULL. */
static tz_result write_from(const tz_buffer *rows, const tz_row_source *source, tz_error *err)
{
    tz_memory file = {NULL, 0};
    const tz_image_spec spec = describe_image();
    tz_writer *writer = NULL;
    assert_int_equal(tz_create_memory(&writer, &file, &spec, NULL, err), TZ_OK);
    const tz_result result = finish_writing(writer, rows, source, err);
    tz_memory_free(&file);
    return result;
}

static tz_result pass_buffer_of_writing(void *given, tz_error *err)
{
    return write_from(given, NULL, err);
}

static tz_result pass_row_source(void *given, tz_error *err)
{
    return write_from(NULL, given, err);
}

static tz_result pass_sink(void *given, tz_error *err)
{
    const tz_image_spec spec = describe_image();
    const tz_buffer rows = make_rows();
    tz_writer *writer = NULL;
    const tz_result result = tz_create_sink(&writer, given, NULL, &spec, NULL, err);
    return result == TZ_OK ? finish_writing(writer, &rows, NULL, err) : result;
}

static tz_result pass_cog_block_to_fill(void *given, tz_error *err)
{
    return tz_cog_plan_get_block(given, plan, 0, 0, err);
}

static tz_result pass_block_options(void *given, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_memory made = {NULL, 0};
    const tz_result result = tz_encode_block(&made, plan, 0, 0, &rows, NULL, given, err);
    tz_memory_free(&made);
    return result;
}

static tz_result pass_blob_info_to_fill(void *given, tz_error *err)
{
    return tz_blob_read_info(given, blob.data, blob.size, err);
}

static tz_result pass_statistics_to_fill(void *given, tz_error *err)
{
    const tz_bytes head = {blob.data, blob.size};
    return tz_blob_read_statistics(given, plan, &head, err);
}

static tz_result pass_blobs(void *given, tz_error *err)
{
    return tz_assemble_file(scratch_path("out.tif"), plan, given, NULL, NULL, err);
}

static tz_result pass_device_options(void *given, tz_error *err)
{
    tz_device *device = NULL;
    const tz_result result = tz_device_open(&device, "cpu", given, err);
    tz_device_close(device);
    return result;
}

static tz_result pass_dlpack_options(void *given, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_dl_managed *managed = NULL;
    const tz_result result = tz_dlpack_from_buffer(&managed, &rows, given, err);
    if (result == TZ_OK)
        managed->deleter(managed);
    return result;
}

static tz_result pass_buffer_for_tensor(void *given, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_dl_managed *managed = NULL;
    assert_int_equal(tz_dlpack_from_buffer(&managed, &rows, NULL, err), TZ_OK);
    const tz_result result = tz_dlpack_to_buffer(given, managed, NULL, err);
    managed->deleter(managed);
    return result;
}

/* ---- members that calls need; index: of the element ---- */

static void fill_image_spec(void *given, size_t index)
{
    (void)index;
    const tz_image_spec spec = describe_image();
    memcpy(given, &spec, sizeof spec);
}

static void fill_buffer(void *given, size_t index)
{
    (void)index;
    const tz_buffer rows = make_rows();
    memcpy(given, &rows, sizeof rows);
}

/* Reads one of the bands. */
static void fill_item(void *given, size_t index)
{
    static const uint32_t bands[BANDS] = {0, 1, 2};
    static tz_buffer rows;
    rows = make_rows();
    rows.bands = 1;
    const tz_item item = {
        .file = image_file, .bands = &bands[index], .band_count = 1, .into = &rows};
    memcpy(given, &item, sizeof item);
}

static void fill_metadata_item(void *given, size_t index)
{
    static const char *const names[BANDS] = {"A", "B", "C"};
    const tz_metadata_item item = {.domain = "", .name = names[index], .value = "x", .role = ""};
    memcpy(given, &item, sizeof item);
}

static void fill_tag_value(void *given, size_t index)
{
    static const uint16_t tags[BANDS] = {305, 315, 33432}; /* Software, Artist, Copyright */
    const tz_tag_value value = {.tag = tags[index], .type = 2, .count = 2, .data = "x"};
    memcpy(given, &value, sizeof value);
}

static void fill_tag(void *given, size_t index)
{
    (void)index;
    tz_tag tag = TZ_TAG_INIT;
    tz_error err;
    assert_int_equal(pass_tag_to_fill(&tag, &err), TZ_OK);
    memcpy(given, &tag, sizeof tag);
}

static tz_result submit_ranges(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)err;
    for (size_t i = 0; i < request->count; i++)
        memcpy(request->ranges[i].dst, (char *)image.data + request->ranges[i].offset,
               request->ranges[i].size);
    return TZ_OK;
}

static tz_result wait_for_ranges(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK;
}

static void fill_source(void *given, size_t index)
{
    (void)index;
    const tz_source source = {.size = image.size, .submit = submit_ranges, .wait = wait_for_ranges};
    memcpy(given, &source, sizeof source);
}

static tz_result give_rows(void *user, const tz_window *window, const tz_buffer *into,
                           const tz_buffer *mask, tz_error *err)
{
    (void)user, (void)window, (void)mask, (void)err;
    for (uint32_t row = 0; row < into->height; row++)
        memset((char *)into->data + row * into->row_stride, 1, into->width);
    return TZ_OK;
}

static void fill_row_source(void *given, size_t index)
{
    (void)index;
    const tz_row_source source = {.read = give_rows};
    memcpy(given, &source, sizeof source);
}

static tz_result drop_bytes(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    (void)sink, (void)offset, (void)pieces, (void)count, (void)err;
    return TZ_OK;
}

static void fill_sink(void *given, size_t index)
{
    (void)index;
    const tz_sink sink = {.write = drop_bytes};
    memcpy(given, &sink, sizeof sink);
}

static tz_result read_blob(void *user, size_t which, uint64_t offset, void *dst, size_t size,
                           tz_error *err)
{
    (void)user, (void)which, (void)err;
    memcpy(dst, (char *)blob.data + offset, size);
    return TZ_OK;
}

static void fill_blobs(void *given, size_t index)
{
    (void)index;
    const tz_blobs blobs = {.count = 1, .read = read_blob};
    memcpy(given, &blobs, sizeof blobs);
}

/* ---- structs ---- */

typedef struct sized_struct {
    const char *name;
    size_t size;
    tz_result (*pass)(void *given, tz_error *err);
    void (*fill)(void *given, size_t index); /* NULL: the call needs no members */
    size_t needed;                           /* bytes up to the last of the needed members */
    size_t count;                            /* elements of an array; 1: not an array */
    bool out;                                /* the library fills it */
} sized_struct;

/* clang-format off */
/* A struct in which all members are optional; one of which the first n bytes are needed, and an
 * array of such; one that the library fills, and an array of such. */
#define OPTIONAL(type, pass)         {#type, sizeof(type), pass, NULL, sizeof(size_t), 1, false}
#define ROW(type, pass, fill, n)     {#type, sizeof(type), pass, fill, n, 1, false}
#define ARRAY(type, pass, fill, n)   {#type, sizeof(type), pass, fill, n, BANDS, false}
#define OUT(type, pass)              {#type, sizeof(type), pass, NULL, sizeof(size_t), 1, true}
#define OUT_ARRAY(type, pass)        {#type, sizeof(type), pass, NULL, sizeof(size_t), BANDS, true}
/* clang-format on */

static const sized_struct structs[] = {
    OUT(tz_blob_info, pass_blob_info_to_fill),
    ROW(tz_blobs, pass_blobs, fill_blobs, offsetof(tz_blobs, user)),
    OPTIONAL(tz_block_options, pass_block_options),
    ROW(tz_buffer, pass_buffer_of_reading, fill_buffer, offsetof(tz_buffer, band_stride)),
    ROW(tz_buffer, pass_buffer_of_writing, fill_buffer, offsetof(tz_buffer, band_stride)),
    OPTIONAL(tz_buffer, pass_buffer_for_tensor),
    OUT(tz_cog_block, pass_cog_block_to_fill),
    OPTIONAL(tz_device_options, pass_device_options),
    OPTIONAL(tz_dlpack_options, pass_dlpack_options),
    OPTIONAL(tz_geo, pass_geo),
    OPTIONAL(tz_image_options, pass_image_options),
    ROW(tz_image_spec, pass_image_spec, fill_image_spec, offsetof(tz_image_spec, bits_per_sample)),
    ARRAY(tz_item, pass_items, fill_item, offsetof(tz_item, into_mask)),
    OPTIONAL(tz_limits, pass_limits),
    ARRAY(tz_metadata_item, pass_metadata_items, fill_metadata_item,
          offsetof(tz_metadata_item, band)),
    OPTIONAL(tz_open_options, pass_open_options),
    OPTIONAL(tz_read_options, pass_read_options),
    OUT(tz_read_shape, pass_read_shape_to_fill),
    ROW(tz_row_source, pass_row_source, fill_row_source, offsetof(tz_row_source, user)),
    ROW(tz_sink, pass_sink, fill_sink, sizeof(tz_sink)),
    ROW(tz_source, pass_source, fill_source, offsetof(tz_source, max_requests)),
    OUT_ARRAY(tz_statistics, pass_statistics_to_fill),
    ROW(tz_tag, pass_tag, fill_tag, sizeof(tz_tag)),
    OUT(tz_tag, pass_tag_to_fill),
    ARRAY(tz_tag_value, pass_tag_values, fill_tag_value, sizeof(tz_tag_value)),
    OPTIONAL(tz_validate_options, pass_validate_options),
    OPTIONAL(tz_write_options, pass_write_options),
};
enum { STRUCTS = sizeof structs / sizeof structs[0] };

/* Returns the elements of a struct of that size, or of an array, with a value in one of the bytes
 * of the last. The memory is exactly as large, so that a sanitizer sees an access past its end. */
static unsigned char *make_sized(const sized_struct *type, size_t size, size_t at, uint8_t value)
{
    unsigned char *whole = calloc(1, type->size);
    unsigned char *given = calloc(type->count, size);
    assert_true(whole && given);
    for (size_t i = 0; i < type->count; i++) {
        if (type->fill)
            type->fill(whole, i);
        memcpy(given + i * size, whole, size < type->size ? size : type->size);
        memcpy(given + i * size, &size, sizeof size);
    }
    if (at < size)
        given[(type->count - 1) * size + at] = value;
    free(whole);
    return given;
}

static void check_sized(const sized_struct *type, size_t size, size_t at, uint8_t value,
                        tz_result expected)
{
    tz_error err = {.result = TZ_OK};
    unsigned char *given = make_sized(type, size, at, value);
    const tz_result result = type->pass(given, &err);
    if (result != expected)
        fail_msg("%s of %zu bytes: %s: %s", type->name, size, tz_result_name(result),
                 result == TZ_OK ? "" : err.message);
    free(given);
}

/* ---- tests ---- */

static void structs_of_this_header_work(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++)
        check_sized(type, type->size, SIZE_MAX, 0, TZ_OK);
}

static void a_further_member_that_is_zero_changes_nothing(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++)
        check_sized(type, type->size + MEMBER, SIZE_MAX, 0, TZ_OK);
}

static void a_further_member_that_is_not_zero_is_refused(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        for (size_t i = 0; i < MEMBER && !type->out; i++)
            check_sized(type, type->size + MEMBER, type->size + i, 1, TZ_ERR_ARG);
    }
}

static void a_further_member_is_zero_in_a_struct_that_was_filled(void **state)
{
    (void)state;
    static const unsigned char zeros[MEMBER];
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        const size_t size = type->size + MEMBER;
        tz_error err;
        if (!type->out)
            continue;
        unsigned char *given = make_sized(type, size, type->size, 1);
        assert_int_equal(type->pass(given, &err), TZ_OK);
        for (size_t i = 0; i < type->count; i++) {
            assert_memory_equal(given + i * size, &size, sizeof size);
            assert_memory_equal(given + i * size + type->size, zeros, MEMBER);
        }
        free(given);
    }
}

static void members_that_an_older_header_lacks_have_their_defaults(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        for (size_t size = type->needed; size < type->size; size += 4)
            check_sized(type, size, SIZE_MAX, 0, TZ_OK);
    }
}

static void a_struct_without_its_size_is_refused(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        tz_error err;
        unsigned char *given = make_sized(type, type->size, SIZE_MAX, 0);
        memset(given, 0, sizeof(size_t));
        assert_int_equal(type->pass(given, &err), TZ_ERR_ARG);
        assert_int_equal(err.cause, TZ_CAUSE_ARG);
        free(given);
    }
}

static void reserved_bytes_of_a_codec_must_be_zero(void **state)
{
    (void)state;
    const tz_image_spec spec = describe_image();
    for (size_t i = 0; i < sizeof(((tz_codec_options *)0)->reserved); i++) {
        tz_error err;
        tz_write_options options = TZ_WRITE_OPTIONS_INIT;
        options.codec.reserved[i] = 1;
        assert_int_equal(write_with(&spec, &options, &err), TZ_ERR_ARG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_this_header_work),
        cmocka_unit_test(a_further_member_that_is_zero_changes_nothing),
        cmocka_unit_test(a_further_member_that_is_not_zero_is_refused),
        cmocka_unit_test(a_further_member_is_zero_in_a_struct_that_was_filled),
        cmocka_unit_test(members_that_an_older_header_lacks_have_their_defaults),
        cmocka_unit_test(a_struct_without_its_size_is_refused),
        cmocka_unit_test(reserved_bytes_of_a_codec_must_be_zero),
    };
    return cmocka_run_group_tests(tests, make_image, free_image);
}
