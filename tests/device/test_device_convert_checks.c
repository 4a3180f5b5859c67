/* SPDX-License-Identifier: Apache-2.0
 * Entries of convert_tiles.h that would make kernels read or write where they must not are refused
 * before a launch. */
#include <string.h>

#include "device/device.h"
#include "device/ops/convert_tiles.h"
#include "support/check.h"
#include "support/device/test_device.h"

static tz_device_memory *send(const uint8_t *bytes, uint64_t size)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, test_device, size, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, memory, 0, bytes, size, &err), TZ_OK);
    return memory;
}

static void refuse_undo(tz_device_memory *slab, tz_unpredict_entry entry, const char *text)
{
    tz_error err;
    const tz_unpredict_batch batch = {.slab = slab, .entries = &entry, .count = 1};
    const tz_result result = tz_unpredict_launch(&batch, 0, &err);
    assert_int_equal(result, text ? TZ_ERR_ARG : TZ_OK);
    if (text)
        assert_non_null(strstr(err.message, text));
}

static void wrong_rows(void **state)
{
    (void)state;
    tz_error err;
    uint8_t zeros[200] = {0};
    tz_device_memory *slab = send(zeros, sizeof zeros);
    const tz_unpredict_entry good = {.offset = 40,
                                     .rows = 4,
                                     .row_bytes = 40,
                                     .count = 10,
                                     .stride = 1,
                                     .width = 4,
                                     .predictor = 2};
    tz_unpredict_entry entry = good;
    refuse_undo(slab, entry, NULL);
    entry.offset = 41;
    refuse_undo(slab, entry, "not within the slab");
    entry.offset = UINT64_MAX;
    refuse_undo(slab, entry, "not within the slab");
    entry = good;
    entry.count = 11;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.width = 3;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.predictor = 1;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.stride = 0;
    refuse_undo(slab, entry, "such a shape");
    entry = good;
    entry.rows = TZ_UNPREDICT_MAX_ROWS + 1;
    entry.row_bytes = 0;
    entry.count = 0;
    refuse_undo(slab, entry, "such a shape");
    const tz_unpredict_batch far = {.slab = slab, .entries = &good, .table = 168, .count = 1};
    assert_int_equal(tz_unpredict_launch(&far, 0, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(slab);
}

/* Ten by ten pixels of two bytes, from 224 bytes on, to a raster and a mask of just that size. */
static const tz_convert_entry good_entry = {.from = 224,
                                            .from_row = 20,
                                            .step = 1,
                                            .rows = 10,
                                            .columns = 10,
                                            .flags = TZ_CONVERT_INTO | TZ_CONVERT_MASK,
                                            .into = 0,
                                            .into_row = 20,
                                            .into_column = 2,
                                            .mask_row = 10,
                                            .mask_column = 1,
                                            .status = TZ_NO_VALUE};

typedef struct trial {
    tz_device_memory *slab, *raster, *mask;
    tz_convert_format format;
} trial;

static void refuse_place(const trial *t, tz_convert_entry entry, const char *text)
{
    tz_error err;
    const tz_convert_batch batch = {.slab = t->slab,
                                    .format_count = 1,
                                    .format_table = &t->format,
                                    .entries = &entry,
                                    .table = 128,
                                    .count = 1,
                                    .into = t->raster,
                                    .mask = t->mask};
    const tz_result result = tz_convert_launch(&batch, 0, &err);
    assert_int_equal(result, text ? TZ_ERR_ARG : TZ_OK);
    if (text)
        assert_non_null(strstr(err.message, text));
}

static void wrong_targets(const trial *t)
{
    tz_convert_entry entry = good_entry;
    entry.into = 1;
    refuse_place(t, entry, "not within the raster");
    entry.into = -1;
    refuse_place(t, entry, "not within the raster");
    entry = good_entry;
    entry.into_row = -20;
    refuse_place(t, entry, "not within the raster");
    entry.into_row = INT64_MAX;
    refuse_place(t, entry, "not within the raster");
    entry = good_entry;
    entry.into_column = INT64_MIN;
    refuse_place(t, entry, "not within the raster");
    entry.flags = TZ_CONVERT_MASK;
    refuse_place(t, entry, NULL);
    entry = good_entry;
    entry.mask = 1;
    refuse_place(t, entry, "not within the mask");
    entry.flags = TZ_CONVERT_INTO;
    refuse_place(t, entry, NULL);
    trial none = *t;
    none.mask = NULL;
    refuse_place(&none, good_entry, "not within the mask");
    none.raster = NULL;
    refuse_place(&none, good_entry, "not within the raster");
}

static void wrong_places(void **state)
{
    (void)state;
    tz_error err;
    uint8_t zeros[424] = {0};
    const tz_row_format words = {
        .dtype = TZ_DTYPE_UINT16, .bits = 16, .sample_format = 1, .samples = 1, .predictor = 1};
    const tz_conversion how = {.from = TZ_DTYPE_UINT16, .to = TZ_DTYPE_UINT16};
    trial t = {send(zeros, 424), send(zeros, 200), send(zeros, 100),
               tz_convert_format_make(&words, &how)};
    refuse_place(&t, good_entry, NULL);
    tz_convert_entry entry = good_entry;
    entry.from = 225;
    refuse_place(&t, entry, "not within the slab");
    entry.from = UINT64_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.first = 1;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.step = UINT32_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.from_row = UINT64_MAX;
    refuse_place(&t, entry, "not within the slab");
    entry = good_entry;
    entry.format = 1;
    refuse_place(&t, entry, "no such format");
    entry = good_entry;
    entry.status = 424;
    refuse_place(&t, entry, "status");
    entry = good_entry;
    entry.rows = entry.columns = UINT32_MAX;
    refuse_place(&t, entry, "too large");
    entry.rows = 0; /* nothing is read */
    refuse_place(&t, entry, NULL);
    wrong_targets(&t);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(t.slab);
    tz_device_memory_free(t.raster);
    tz_device_memory_free(t.mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(wrong_places),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
