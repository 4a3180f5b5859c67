/* SPDX-License-Identifier: Apache-2.0
 * A plan as bytes: all that a file depends on comes back from them, and bytes that are not those of
 * a plan are an error that costs no more than they are long. */
#include <math.h>

#include "support/alloc_hook.h"
#include "support/sized.h"
#include "support/spec_case.h"
#include "support/spec_equal.h"
#include "write/cog_plan_bytes.h"

/* ---- one of everything ---- */

static const uint16_t extra[] = {2, 0};
static const uint16_t map[] = {1, 2, 3, 4, 5, 6};
static const uint16_t shorts[] = {1, 2};
static const double doubles[] = {0.5, -1e300};
static const tz_gcp gcps[] = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12.5}};
static const tz_geo_key keys[] = {
    {.id = 1024, .type = 3, .count = 1, .value.shorts = shorts},
    {.id = 1026, .type = 2, .count = 3, .value.text = "abc"},
    {.id = 2057, .type = 12, .count = 2, .value.doubles = doubles},
    {.id = 3073, .type = 2, .count = 0, .value.text = NULL},
};
static const tz_metadata_item items[] = {
    {.domain = "", .name = "scale", .value = "2", .role = "scale", .band = 1},
    {.domain = NULL, .name = "n", .value = "gr\xc3\xbc\xc3\x9f", .role = NULL, .band = -1},
};
static const uint32_t longs[] = {72, 1, 0x01020304, 1};
static const tz_tag_value some_tags[] = {SIZED_TAG(282, 5, 2, longs), SIZED_TAG(305, 2, 4, "me\0")};
static const uint8_t discard[] = {3, 0, 1};

static double rpc[92];

static tz_cog_plan_params rich_value(void)
{
    start();
    for (int i = 0; i < 92; i++)
        rpc[i] = i / 3.0;
    spec.width = 70001, spec.height = 513, spec.bands = 3, spec.dtype = TZ_DTYPE_FLOAT32;
    spec.bits_per_sample = 32, spec.orientation = 3;
    spec.photometric = TZ_PHOTOMETRIC_MIN_IS_WHITE;
    spec.extra_samples = extra, spec.extra_sample_count = 2;
    spec.color_map = map, spec.color_map_size = 2;
    spec.mask = true;
    spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -9999.25}};
    spec.nodata_text = "-9999.25";
    geo = (tz_geo){.struct_size = sizeof(tz_geo),
                   .has_transform = true,
                   .transform = {1, 2, 3, 4, 5, -6.5},
                   .raster_type = TZ_RASTER_TYPE_POINT,
                   .gcps = gcps,
                   .gcp_count = 2,
                   .keys = keys,
                   .key_count = 4,
                   .key_revision = 1,
                   .key_minor = 1,
                   .rpc = rpc};
    spec.geo = &geo;
    spec.metadata = items, spec.metadata_count = 2;
    spec.tags = some_tags, spec.tag_count = 2;
    options.codec.compression = TZ_COMPRESSION_LERC;
    options.codec.predictor = 3, options.strips = true, options.big_endian = true;
    options.sparse = true, options.tile_width = 32, options.tile_height = 48;
    options.alignment = 64, options.interleave = TZ_INTERLEAVE_TILE;
    options.bigtiff = TZ_BIGTIFF_IF_SAFER, options.codec.effort = TZ_EFFORT_FAST,
    options.codec.quality = 77;
    options.codec.lossless = TZ_CHOICE_NO, options.codec.distance = 1.5,
    options.codec.alpha_distance = -1;
    options.codec.max_error = 0.25, options.codec.lerc_compression = 2;
    options.codec.jpeg_tables = TZ_JPEG_TABLES_QUANT;
    options.codec.jpeg_subsampling[0] = 1, options.codec.jpeg_subsampling[1] = 2;
    options.discard_bits = discard, options.discard_count = 3;
    options.overview_count = -1, options.overview_resampling = TZ_RESAMPLING_CUBIC;
    options.overview_codec.compression = TZ_COMPRESSION_JPEG, options.overview_codec.predictor = 2;
    options.overview_codec.quality = 50, options.overview_codec.lossless = TZ_CHOICE_YES;
    options.overview_codec.max_error = -1, options.overview_codec.effort = 4;
    options.overview_codec.lerc_compression = 1, options.overview_codec.distance = 2.5;
    options.mask_codec.compression = TZ_COMPRESSION_ZSTD, options.mask_codec.effort = 7;
    options.nan_to_nodata = true, options.statistics_items = true;
    return (tz_cog_plan_params){spec, options, 5, true};
}

static tz_cog_plan_params plain_value(void)
{
    start();
    return (tz_cog_plan_params){spec, options, 8, false};
}

static tz_memory bytes_of(const tz_cog_plan_params *value)
{
    const tz_context ctx = {.ifd = -1};
    tz_memory bytes = {0};
    assert_int_equal(tz_cog_plan_to_bytes(&bytes, value, &ctx), TZ_OK);
    return bytes;
}

static tz_result read_back(const void *data, size_t size, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_cog_plan_parsed holder;
    const tz_result result = tz_cog_plan_from_bytes(&holder, data, size, &ctx);
    tz_arena_deinit(&holder.arena);
    return result;
}

/* ---- there and back ---- */

/* Field by field: what a file does not depend on is not kept. */
static void check_options(const tz_write_options *a, const tz_write_options *b)
{
    assert_int_equal(a->strips, b->strips);
    assert_int_equal(a->big_endian, b->big_endian);
    assert_int_equal(a->sparse, b->sparse);
    assert_int_equal(a->tile_width, b->tile_width);
    assert_int_equal(a->tile_height, b->tile_height);
    assert_int_equal(a->alignment, b->alignment);
    assert_int_equal(a->interleave, b->interleave);
    assert_int_equal(a->bigtiff, b->bigtiff);
    assert_memory_equal(&a->codec, &b->codec, sizeof a->codec); /* without padding */
    assert_memory_equal(&a->overview_codec, &b->overview_codec, sizeof a->overview_codec);
    assert_memory_equal(&a->mask_codec, &b->mask_codec, sizeof a->mask_codec);
    assert_int_equal(a->discard_count, b->discard_count);
    assert_true(same_bytes(a->discard_bits, b->discard_bits, a->discard_count));
    assert_int_equal(a->overview_count, b->overview_count);
    assert_int_equal(a->overview_resampling, b->overview_resampling);
    assert_int_equal(a->nan_to_nodata, b->nan_to_nodata);
    assert_int_equal(a->statistics_items, b->statistics_items);
}

static void check_there_and_back(const tz_cog_plan_params *value)
{
    const tz_context ctx = {.ifd = -1};
    tz_memory bytes = bytes_of(value);
    tz_cog_plan_parsed holder;
    uint8_t *copy = malloc(bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    assert_int_equal(tz_cog_plan_from_bytes(&holder, copy, bytes.size, &ctx), TZ_OK);
    free(copy); /* the holder needs it no longer */
    const char *differs = spec_differs(&holder.params.spec, &value->spec);
    if (differs)
        fail_msg("%s", differs);
    check_options(&holder.params.options, &value->options);
    assert_true(holder.params.options.cog);
    assert_int_equal(holder.params.block_tiles, value->block_tiles);
    assert_int_equal(holder.params.wants_statistics, value->wants_statistics);
    tz_memory again = bytes_of(&holder.params);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    tz_arena_deinit(&holder.arena);
    tz_memory_free(&bytes);
    tz_memory_free(&again);
}

static void test_all_that_a_file_depends_on_comes_back(void **state)
{
    (void)state;
    tz_cog_plan_params value = rich_value();
    check_there_and_back(&value);
    value = plain_value();
    check_there_and_back(&value);
}

/* A plan must be understood by processes on another machine: when this fails,
 * the format has changed, and its version must as well. */
static void test_the_format_is_what_the_document_says(void **state)
{
    (void)state;
    const tz_cog_plan_params value = rich_value();
    const tz_cog_plan_params plain = plain_value();
    tz_memory bytes = bytes_of(&value);
    tz_memory few = bytes_of(&plain);
    static const uint8_t front[] = {
        'T', 'Z', 'P', 'L', 'A', 'N', '\r', '\n', 3, 0, 0,  0, 0, 0, 0, 0, 0x1e, 1, 0, 0, 0, 0,
        0,   0,   8,   0,   0,   0,   100,  0,    0, 0, 50, 0, 0, 0, 1, 0, 0,    0, 1, 0, 0, 0};
    assert_memory_equal(few.data, front, sizeof front);
    assert_int_equal(tz_cog_plan_fingerprint(few.data, few.size), UINT64_C(0x507a892a44c06b24));
    assert_int_equal(tz_cog_plan_fingerprint(bytes.data, bytes.size), UINT64_C(0x30c2f654ff13588a));
    tz_memory_free(&few);
    tz_memory_free(&bytes);
}

/* ---- damage ---- */

static void test_what_is_no_plan_is_refused(void **state)
{
    (void)state;
    tz_error err;
    uint8_t other[64] = "II*";
    assert_int_equal(read_back(other, sizeof other, &err), TZ_ERR_FORMAT);
    assert_non_null(strstr(err.message, "not a plan"));
    assert_int_equal(read_back(other, 0, &err), TZ_ERR_FORMAT);
}

static void test_another_version_is_named(void **state)
{
    (void)state;
    tz_error err;
    const tz_cog_plan_params value = plain_value();
    tz_memory bytes = bytes_of(&value);
    ((uint8_t *)bytes.data)[8] = 1;
    tz_cog_plan_seal(bytes.data, bytes.size);
    assert_int_equal(read_back(bytes.data, bytes.size, &err), TZ_ERR_UNSUPPORTED);
    assert_int_equal(err.found, 1);
    assert_int_equal(err.expected, 3);
    tz_memory_free(&bytes);
}

/* In memory of its own, so that a sanitizer sees what is read after it. */
static tz_result read_part(const tz_memory *bytes, size_t size, bool seal)
{
    tz_error err = {.result = TZ_OK};
    uint8_t *part = malloc(size > 0 ? size : 1);
    memcpy(part, bytes->data, size);
    if (seal && size >= TZ_COG_PLAN_MIN_BYTES)
        tz_cog_plan_seal(part, size);
    const tz_result result = read_back(part, size, &err);
    assert_true(result == TZ_OK || err.message[0] != '\0');
    free(part);
    return result;
}

static void test_no_plan_is_read_in_part(void **state)
{
    (void)state;
    const tz_cog_plan_params value = rich_value();
    tz_memory bytes = bytes_of(&value);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_equal(read_part(&bytes, size, false), TZ_ERR_FORMAT);
        assert_int_equal(read_part(&bytes, size, true), TZ_ERR_FORMAT);
    }
    tz_memory_free(&bytes);
}

static void test_every_changed_byte_is_noticed(void **state)
{
    (void)state;
    const tz_cog_plan_params value = rich_value();
    tz_memory bytes = bytes_of(&value);
    uint8_t *data = bytes.data;
    for (size_t i = 0; i < bytes.size; i++) {
        data[i] ^= 0x40;
        const tz_result result = read_part(&bytes, bytes.size, false);
        assert_true(result == TZ_ERR_FORMAT || result == TZ_ERR_UNSUPPORTED);
        data[i] ^= 0x40;
    }
    tz_memory_free(&bytes);
}

/* Lies with a proper checksum: whatever they say, memory stays in proportion to the bytes. */
static void test_lies_cost_nothing(void **state)
{
    (void)state;
    enum { MOST = 64 * 1024 };
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    const tz_cog_plan_params value = rich_value();
    tz_memory bytes = bytes_of(&value);
    uint8_t *data = bytes.data;
    for (size_t i = 24; i < bytes.size - 8; i++) {
        for (size_t k = 0; k < sizeof values; k++) {
            const uint8_t was = data[i];
            data[i] = values[k];
            alloc_hook_install();
            const tz_result result = read_part(&bytes, bytes.size, true);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            data[i] = was;
            assert_true(result == TZ_OK || result == TZ_ERR_FORMAT);
            assert_int_equal(stats.live_bytes, 0);
            assert_true(stats.peak_bytes < MOST);
        }
    }
    tz_memory_free(&bytes);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    const tz_cog_plan_params value = rich_value();
    tz_error err;
    tz_memory whole = bytes_of(&value);
    for (uint64_t n = 1;; n++) {
        const tz_context ctx = {.err = &err, .ifd = -1};
        tz_memory bytes = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = tz_cog_plan_to_bytes(&bytes, &value, &ctx);
        if (result == TZ_OK)
            result = read_back(whole.data, whole.size, &err);
        tz_memory_free(&bytes);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(result, stats.failures ? TZ_ERR_NOMEM : TZ_OK);
        if (stats.failures == 0)
            break;
    }
    tz_memory_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_a_file_depends_on_comes_back),
        cmocka_unit_test(test_the_format_is_what_the_document_says),
        cmocka_unit_test(test_what_is_no_plan_is_refused),
        cmocka_unit_test(test_another_version_is_named),
        cmocka_unit_test(test_no_plan_is_read_in_part),
        cmocka_unit_test(test_every_changed_byte_is_noticed),
        cmocka_unit_test(test_lies_cost_nothing),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
