/* SPDX-License-Identifier: Apache-2.0
 * Tiles that could not be read. Neighbouring blocks of rows try the same tile, so that each is
 * remembered by a bit. */
#include "damaged.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem.h"
#include "terminal.h"

static tz_result add_tile(damaged_tiles *d, const tz_file *file, const tz_tile_status *status,
                          tz_error *err)
{
    uint8_t **seen = &d->seen[status->mask];
    const tz_level *level = status->mask ? tz_file_get_mask(file, status->level)
                                         : tz_file_get_level(file, status->level);
    const uint8_t bit = (uint8_t)(1u << status->tile % 8);
    if (*seen == NULL)
        *seen = calloc((size_t)(level->tile_count / 8) + 1, 1);
    if (*seen == NULL)
        return problem_nomem(err, "the list of damaged tiles");
    if ((*seen)[status->tile / 8] & bit)
        return TZ_OK;
    (*seen)[status->tile / 8] |= bit;
    d->count++;
    if (d->first_count < DAMAGED_SHOWN)
        d->first[d->first_count++] = *status;
    return TZ_OK;
}

tz_result damaged_add(damaged_tiles *d, const tz_file *file, const tz_read_report *report,
                      tz_error *err)
{
    tz_result result = TZ_OK;
    if (report->tiles_failed == 0)
        return TZ_OK;
    for (uint64_t item = 0; item < report->item_count; item++) {
        const tz_tile_status *status;
        for (uint64_t i = 0;
             result == TZ_OK && (status = tz_read_report_get_tile(report, item, i)) != NULL; i++)
            if (status->result != TZ_OK)
                result = add_tile(d, file, status, err);
    }
    return result;
}

void damaged_free(damaged_tiles *d)
{
    free(d->seen[0]);
    free(d->seen[1]);
    *d = (damaged_tiles){0};
}

void damaged_warn(const damaged_tiles *d)
{
    for (uint32_t i = 0; i < d->first_count; i++) {
        const tz_tile_status *status = &d->first[i];
        char message[128];
        snprintf(message, sizeof message,
                 "%stile %" PRIu64 " of level %" PRIu32 " could not be read (%s, %s)",
                 status->mask ? "mask " : "", status->tile, status->level,
                 tz_result_name(status->result), tz_cause_name(status->cause));
        term_warning(message, 1);
    }
    if (d->count > d->first_count)
        term_warning("further tiles could not be read", d->count - d->first_count);
}

void damaged_write(json *j, const damaged_tiles *d)
{
    json_array(j, "damaged");
    for (uint32_t i = 0; i < d->first_count; i++) {
        const tz_tile_status *status = &d->first[i];
        json_object_row(j, NULL);
        json_uint(j, "level", status->level);
        json_bool(j, "of_mask", status->mask);
        json_uint(j, "tile", status->tile);
        json_text(j, "result", tz_result_name(status->result));
        json_text(j, "cause", tz_cause_name(status->cause));
        json_object_end(j);
    }
    json_array_end(j);
}
