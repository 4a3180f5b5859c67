/* SPDX-License-Identifier: Apache-2.0
 * The converting kernel on devices without double precision: all work that tz_device_converts
 * leaves to them, with the same bytes. */
#define TZ_NO_F64

#include <stdlib.h>
#include <string.h>

#include "device/device_state.h"
#include "device/ops/convert_kernels.h"
#include "support/check.h"
#include "support/device/convert_job.h"

static void run(const convert_job *j, uint8_t *raster, uint8_t *mask)
{
    uint8_t *slab = malloc(j->slab_size);
    memcpy(slab, j->slab, j->slab_size);
    for (uint64_t group = 0; group < j->undo_count; group++) {
        for (uint32_t item = 0; item < TZ_UNPREDICT_MAX_ROWS; item++)
            tz_unpredict_work_item(slab, j->undo_at, group, item);
    }
    for (uint64_t group = 0; group < j->count; group++)
        tz_convert_work_item(slab, raster, mask, j->formats_at, j->table_at, group, 0, 1);
    free(slab);
}

static void integers_and_copies_need_none(void **state)
{
    (void)state;
    const tz_device device = {.info.fp64 = false};
    uint32_t placed = 0, left = 0;
    for (int round = 0; round < 20; round++) {
        convert_job j = convert_job_new(100);
        j.device = &device;
        for (uint32_t i = 0; i < j.count; i++) {
            convert_region *p = &j.pieces[i];
            p->row = convert_any_row();
            p->how.from = p->row.dtype;
            p->how.to = (tz_dtype)(1 + convert_below(PLACE_TYPES));
            p->rows = 1 + convert_below(5);
        }
        convert_job_finish(&j, true);
        for (uint32_t i = 0; i < j.count; i++)
            *(j.entries[i].flags ? &placed : &left) += 1;
        convert_job_compare(&j, run);
        convert_job_free(&j);
    }
    assert_true(placed > 300 && left > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_and_copies_need_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
