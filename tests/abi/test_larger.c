/* SPDX-License-Identifier: Apache-2.0
 * Structs of programs that were compiled with a newer header, which has one more member at the end
 * of every struct: with zero in it they work as before, and with anything else they are refused,
 * since the library cannot do what it does not know. The same with structs of an older header,
 * which have fewer members.
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

enum { SIDE = 8, MEMBER = 8 }; /* bytes of the further member */

/* ---- calls; the struct may be of any size ---- */

static uint8_t pixels[SIDE * SIDE];

static tz_buffer make_rows(void)
{
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = pixels,
                       .dtype = TZ_DTYPE_UINT8,
                       .bands = 1,
                       .height = SIDE,
                       .width = SIDE};
}

static tz_image_spec describe_image(void)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = spec.height = SIDE;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    return spec;
}

static tz_result write_with(tz_memory *file, const tz_image_spec *spec,
                            const tz_write_options *options, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_writer *writer = NULL;
    tz_result result = tz_create_memory(&writer, file, spec, options, err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, &rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

/* Calls use() with an open file. */
static tz_result with_file(const tz_open_options *options,
                           tz_result (*use)(const tz_file *file, const void *given, tz_error *err),
                           const void *given, tz_error *err)
{
    tz_memory memory = {NULL, 0};
    tz_file *file = NULL;
    const tz_image_spec spec = describe_image();
    assert_int_equal(write_with(&memory, &spec, NULL, err), TZ_OK);
    tz_result result = tz_open_memory(&file, memory.data, memory.size, options, err);
    if (result == TZ_OK && use)
        result = use(file, given, err);
    tz_close(file);
    tz_memory_free(&memory);
    return result;
}

static tz_result pass_open_options(const void *given, tz_error *err)
{
    return with_file(given, NULL, NULL, err);
}

static tz_result read_pixels(const tz_file *file, const void *given, tz_error *err)
{
    const tz_buffer into = make_rows();
    const tz_item item = {.struct_size = sizeof item, .file = file, .into = &into};
    return tz_read(&item, given, NULL, err);
}

static tz_result pass_read_options(const void *given, tz_error *err)
{
    return with_file(NULL, read_pixels, given, err);
}

static tz_result validate_file(const tz_file *file, const void *given, tz_error *err)
{
    tz_validation *validation = NULL;
    const tz_result result = tz_validate_file(&validation, file, given, err);
    tz_validation_free(validation);
    return result;
}

static tz_result pass_validate_options(const void *given, tz_error *err)
{
    return with_file(NULL, validate_file, given, err);
}

static tz_result pass_image_spec(const void *given, tz_error *err)
{
    tz_memory file = {NULL, 0};
    const tz_result result = write_with(&file, given, NULL, err);
    tz_memory_free(&file);
    return result;
}

static tz_result pass_write_options(const void *given, tz_error *err)
{
    tz_memory file = {NULL, 0};
    const tz_image_spec spec = describe_image();
    const tz_result result = write_with(&file, &spec, given, err);
    tz_memory_free(&file);
    return result;
}

static tz_result pass_device_options(const void *given, tz_error *err)
{
    tz_device *device = NULL;
    const tz_result result = tz_device_open(&device, "cpu", given, err);
    tz_device_close(device);
    return result;
}

static tz_result pass_dlpack_options(const void *given, tz_error *err)
{
    const tz_buffer rows = make_rows();
    tz_dl_managed *managed = NULL;
    const tz_result result = tz_dlpack_from_buffer(&managed, &rows, given, err);
    if (result == TZ_OK)
        managed->deleter(managed);
    return result;
}

/* ---- structs ---- */

static void fill_image_spec(void *given)
{
    const tz_image_spec spec = describe_image();
    memcpy(given, &spec, sizeof spec);
}

typedef struct sized_struct {
    const char *name;
    size_t size;
    tz_result (*pass)(const void *given, tz_error *err);
    void (*fill)(void *given); /* sets the members that the call needs; NULL: it needs none */
    size_t needed;             /* bytes up to the last of them */
} sized_struct;

/* A struct in which all members are optional, and one in which the first bytes are not. */
#define OPTIONAL(type, pass)                                                                       \
    {                                                                                              \
#type, sizeof(type), pass, NULL, sizeof(size_t)                                            \
    }
#define ROW(type, pass, fill, n)                                                                   \
    {                                                                                              \
#type, sizeof(type), pass, fill, n                                                         \
    }

static const sized_struct structs[] = {
    OPTIONAL(tz_device_options, pass_device_options),
    OPTIONAL(tz_dlpack_options, pass_dlpack_options),
    ROW(tz_image_spec, pass_image_spec, fill_image_spec, offsetof(tz_image_spec, bits_per_sample)),
    OPTIONAL(tz_open_options, pass_open_options),
    OPTIONAL(tz_read_options, pass_read_options),
    OPTIONAL(tz_validate_options, pass_validate_options),
    OPTIONAL(tz_write_options, pass_write_options),
};
enum { STRUCTS = sizeof structs / sizeof structs[0] };

/* Passes a struct of that size, with a value in one of its bytes. The memory is exactly as large,
 * so that a sanitizer sees a read past its end. */
static tz_result pass_sized(const sized_struct *type, size_t size, size_t at, uint8_t value)
{
    tz_error err;
    unsigned char *whole = calloc(1, type->size);
    unsigned char *given = calloc(1, size);
    assert_true(whole && given);
    if (type->fill)
        type->fill(whole);
    memcpy(given, whole, size < type->size ? size : type->size);
    memcpy(given, &size, sizeof size);
    if (at < size)
        given[at] = value;
    const tz_result result = type->pass(given, &err);
    if (result != TZ_OK && result != TZ_ERR_ARG)
        print_message("%s: %s\n", type->name, err.message);
    free(given);
    free(whole);
    return result;
}

static void structs_of_this_header_work(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++)
        assert_int_equal(pass_sized(type, type->size, SIZE_MAX, 0), TZ_OK);
}

static void a_further_member_that_is_zero_changes_nothing(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++)
        assert_int_equal(pass_sized(type, type->size + MEMBER, SIZE_MAX, 0), TZ_OK);
}

static void a_further_member_that_is_not_zero_is_refused(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        for (size_t i = 0; i < MEMBER; i++)
            assert_int_equal(pass_sized(type, type->size + MEMBER, type->size + i, 1), TZ_ERR_ARG);
    }
}

static void members_that_an_older_header_lacks_have_their_defaults(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        for (size_t size = type->needed; size < type->size; size += 4)
            assert_int_equal(pass_sized(type, size, SIZE_MAX, 0), TZ_OK);
    }
}

static void a_struct_without_its_size_is_refused(void **state)
{
    (void)state;
    for (const sized_struct *type = structs; type < structs + STRUCTS; type++) {
        tz_error err;
        unsigned char *given = calloc(1, type->size);
        assert_non_null(given);
        assert_int_equal(type->pass(given, &err), TZ_ERR_ARG);
        assert_int_equal(err.cause, TZ_CAUSE_ARG);
        free(given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_this_header_work),
        cmocka_unit_test(a_further_member_that_is_zero_changes_nothing),
        cmocka_unit_test(a_further_member_that_is_not_zero_is_refused),
        cmocka_unit_test(members_that_an_older_header_lacks_have_their_defaults),
        cmocka_unit_test(a_struct_without_its_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
