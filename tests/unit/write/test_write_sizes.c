/* SPDX-License-Identifier: Apache-2.0
 * Specifications whose lists are of another version: elements that are longer than the library's
 * make the same file and the same plan, and are refused if they say more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sized.h"

/* Structs of a library to come. */
typedef struct later_item {
    tz_metadata_item item;
    uint64_t further[2];
} later_item;
typedef struct later_tag_value {
    tz_tag_value tag;
    uint64_t further;
} later_tag_value;
typedef struct later_geo {
    tz_geo geo;
    uint64_t further;
} later_geo;
typedef struct later_limits {
    tz_limits limits;
    uint64_t further;
} later_limits;

static const tz_metadata_item items[] = {
    SIZED_ITEM("", "SCALE", "2", "scale", 0),
    SIZED_ITEM("", "A", "b", "", -1),
    SIZED_ITEM("D", "C", "d", "", 0),
};
static const tz_tag_value tags[] = {SIZED_TAG(315, 2, 3, "me"), SIZED_TAG(305, 2, 4, "you")};
static const tz_geo geo = {.struct_size = sizeof geo,
                           .has_transform = true,
                           .transform = {1, 2, 0, 3, 0, -4},
                           .epsg = 32633,
                           .model_type = 1};
enum { ITEMS = sizeof items / sizeof items[0], TAGS = sizeof tags / sizeof tags[0] };

typedef struct lists {
    later_item items[ITEMS];
    later_tag_value tags[TAGS];
    later_geo geo;
} lists;

static tz_image_spec small_image(void)
{
    tz_image_spec spec;
    tz_image_spec_init(&spec, sizeof spec);
    spec.width = 20, spec.height = 10, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT8;
    spec.metadata = items, spec.metadata_count = ITEMS;
    spec.tags = tags, spec.tag_count = TAGS;
    spec.geo = &geo;
    return spec;
}

/* The same in longer structs. */
static tz_image_spec longer_lists(lists *all)
{
    tz_image_spec spec = small_image();
    *all = (lists){.geo = {.geo = geo}};
    all->geo.geo.struct_size = sizeof all->geo;
    for (size_t i = 0; i < ITEMS; i++) {
        all->items[i].item = items[i];
        all->items[i].item.struct_size = sizeof all->items[0];
    }
    for (size_t i = 0; i < TAGS; i++) {
        all->tags[i].tag = tags[i];
        all->tags[i].tag.struct_size = sizeof all->tags[0];
    }
    spec.metadata = &all->items[0].item;
    spec.tags = &all->tags[0].tag;
    spec.geo = &all->geo.geo;
    return spec;
}

static tz_memory write_image(const tz_image_spec *spec)
{
    static uint8_t pixels[200];
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = pixels,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 10,
                            .width = 20};
    tz_memory out = {0};
    tz_writer *writer = NULL;
    tz_error err;
    if (tz_create_memory(&writer, &out, spec, NULL, &err) != TZ_OK ||
        tz_write_rows(writer, &rows, NULL, &err) != TZ_OK || tz_commit(writer, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_writer_close(writer);
    return out;
}

static tz_memory save_plan(const tz_image_spec *spec)
{
    tz_memory out = {0};
    tz_cog_plan *plan = NULL;
    tz_error err;
    if (tz_cog_plan_create(&plan, spec, NULL, 0, &err) != TZ_OK ||
        tz_cog_plan_save(&out, plan, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_cog_plan_free(plan);
    return out;
}

static void check_same(tz_memory *a, tz_memory *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
    tz_memory_free(a);
    tz_memory_free(b);
}

static void longer_lists_make_the_same_file_and_plan(void **state)
{
    (void)state;
    lists all;
    const tz_image_spec spec = small_image();
    const tz_image_spec longer = longer_lists(&all);
    tz_memory files[2] = {write_image(&spec), write_image(&longer)};
    check_same(&files[0], &files[1]);
    tz_memory plans[2] = {save_plan(&spec), save_plan(&longer)};
    check_same(&plans[0], &plans[1]);
}

static void check_refused(const tz_image_spec *spec, const tz_write_options *options,
                          const char *text)
{
    tz_memory out = {0};
    tz_writer *writer = NULL;
    tz_cog_plan *plan = NULL;
    tz_error err = {.result = TZ_OK};
    assert_int_equal(tz_create_memory(&writer, &out, spec, options, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
    assert_int_equal(tz_cog_plan_create(&plan, spec, options, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
    assert_true(!writer && !plan);
}

static void what_this_version_does_not_know_is_refused(void **state)
{
    (void)state;
    lists all;
    tz_image_spec spec = longer_lists(&all);
    all.items[1].further[1] = 1;
    check_refused(&spec, NULL, "spec->metadata sets a member");
    spec = longer_lists(&all);
    all.items[2].item.struct_size = sizeof(tz_metadata_item);
    check_refused(&spec, NULL, "spec->metadata[2].struct_size is not that of the first");
    spec = longer_lists(&all);
    all.items[0].item.struct_size = 0;
    check_refused(&spec, NULL, "TZ_METADATA_ITEM_INIT");
    spec = longer_lists(&all);
    all.tags[1].further = 1;
    check_refused(&spec, NULL, "spec->tags sets a member");
    spec = longer_lists(&all);
    all.tags[0].tag.struct_size = SIZE_MAX;
    check_refused(&spec, NULL, "TZ_TAG_VALUE_INIT");
    spec = longer_lists(&all);
    all.geo.further = 1;
    check_refused(&spec, NULL, "spec->geo sets a member");
    spec = longer_lists(&all);
    all.geo.geo.struct_size = 0;
    check_refused(&spec, NULL, "TZ_GEO_INIT");
}

static void limits_of_another_size(void **state)
{
    (void)state;
    const tz_image_spec spec = small_image();
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    later_limits later = {.limits = {.struct_size = sizeof later}};
    tz_memory out = {0};
    tz_writer *writer = NULL;
    tz_error err;
    options.limits = &later.limits;
    later.limits.max_tile_bytes = 100;
    assert_int_equal(tz_create_memory(&writer, &out, &spec, &options, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_tile_bytes");
    later.limits.struct_size = offsetof(tz_limits, max_tile_bytes); /* it is not part of it */
    assert_int_equal(tz_create_memory(&writer, &out, &spec, &options, &err), TZ_OK);
    tz_writer_close(writer);
    writer = NULL;
    later.limits.struct_size = sizeof later;
    later.further = 1;
    check_refused(&spec, &options, "options->limits sets a member");
    tz_memory bytes = save_plan(&spec);
    tz_cog_plan *plan = NULL;
    assert_int_equal(tz_cog_plan_load(&plan, bytes.data, bytes.size, &later.limits, &err),
                     TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "limits sets a member"));
    later.further = 0;
    assert_int_equal(tz_cog_plan_load(&plan, bytes.data, bytes.size, &later.limits, &err),
                     TZ_ERR_LIMIT);
    later.limits.max_tile_bytes = 0;
    assert_int_equal(tz_cog_plan_load(&plan, bytes.data, bytes.size, &later.limits, &err), TZ_OK);
    tz_cog_plan_free(plan);
    tz_memory_free(&bytes);
}

/* A specification out of a file can be given to a writer as it is. */
static void a_specification_of_a_file_has_its_sizes(void **state)
{
    (void)state;
    const tz_image_spec spec = small_image();
    tz_memory file = write_image(&spec);
    tz_file *handle = NULL;
    tz_image_spec *copy = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&handle, file.data, file.size, NULL, &err), TZ_OK);
    assert_int_equal(tz_image_spec_from_file(&copy, handle, &err), TZ_OK);
    assert_int_equal(copy->struct_size, sizeof *copy);
    assert_int_equal(copy->geo->struct_size, sizeof *copy->geo);
    for (uint32_t i = 0; i < copy->metadata_count; i++)
        assert_int_equal(copy->metadata[i].struct_size, sizeof copy->metadata[i]);
    assert_int_equal(copy->tag_count, TAGS);
    for (uint32_t i = 0; i < copy->tag_count; i++)
        assert_int_equal(copy->tags[i].struct_size, sizeof copy->tags[i]);
    if (tz_build_feature("expat")) {
        tz_memory again = write_image(copy);
        check_same(&file, &again);
    } else {
        tz_memory_free(&file);
    }
    tz_image_spec_free(copy);
    tz_close(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_lists_make_the_same_file_and_plan),
        cmocka_unit_test(what_this_version_does_not_know_is_refused),
        cmocka_unit_test(limits_of_another_size),
        cmocka_unit_test(a_specification_of_a_file_has_its_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
