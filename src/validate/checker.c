/* SPDX-License-Identifier: Apache-2.0
 * Services for checks: findings, levels and masks by number, visits of tiles, and running one
 * check.
 *
 * A check keeps its first MAX_FINDINGS findings in the arena and counts the others. The quick look
 * of tz_cog_problems has no arena: its findings are only counted. Without the option `full` a level
 * with many tiles is judged by its first and last 64, which keeps the time of a validation
 * independent of the size of the file. */
#include "validate/checker.h"

#include <string.h>

#include "base/minmax.h"

enum { MAX_FINDINGS = 4, SPANS_AT_ONCE = 256, SAMPLE_TILES = 64 };

/* ---- findings ---- */

/* Counts findings; returns memory for one, or NULL if it is only counted. */
static tz_error *count_finding(tz_checker *checker, tz_check_outcome weight, uint64_t count)
{
    tz_check *check = checker->check;
    check->count += count;
    if (check->outcome < weight)
        check->outcome = weight;
    if (!checker->arena || check->finding_count == MAX_FINDINGS)
        return NULL;
    if (!checker->findings) {
        checker->findings = tz_arena_array(checker->arena, MAX_FINDINGS, sizeof *checker->findings);
        check->findings = checker->findings;
        checker->no_memory = checker->no_memory || !checker->findings;
    }
    return checker->findings ? &checker->findings[check->finding_count++] : NULL;
}

const tz_context *tz_checker_new_finding(tz_checker *checker, tz_check_outcome weight)
{
    checker->found = checker->ctx;
    checker->found.err = count_finding(checker, weight, 1);
    return &checker->found;
}

void tz_checker_add_finding(tz_checker *checker, tz_check_outcome weight, const tz_error *found)
{
    tz_error *slot = count_finding(checker, weight, found->count);
    if (slot)
        *slot = *found;
}

tz_result tz_checker_skip(tz_checker *checker, const char *why)
{
    if (checker->check->count == 0)
        checker->check->outcome = TZ_CHECK_NOT_APPLICABLE;
    checker->check->note = why;
    return TZ_OK;
}

bool tz_is_file_defect(tz_result result)
{
    return result == TZ_ERR_FORMAT || result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_LIMIT;
}

static tz_result return_error(const tz_checker *checker, const tz_error *err)
{
    if (checker->ctx.err)
        *checker->ctx.err = *err;
    return err->result;
}

tz_result tz_checker_add_result(tz_checker *checker, tz_result result, const tz_error *err)
{
    if (result == TZ_OK)
        return TZ_OK;
    if (!tz_is_file_defect(result) || !checker->arena)
        return return_error(checker, err);
    tz_checker_add_finding(checker, result == TZ_ERR_FORMAT ? TZ_CHECK_FAIL : TZ_CHECK_WARNING,
                           err);
    return TZ_OK;
}

/* ---- levels and masks ---- */

uint32_t tz_checker_layer_count(const tz_checker *checker)
{
    return 2 * checker->info->level_count;
}

bool tz_checker_layer(tz_checker *checker, uint32_t number, tz_layer *out, uint32_t *level)
{
    const tz_context quiet = {.ifd = -1};
    const uint32_t index = number / 2;
    *level = number % 2 ? TZ_MASK_OF(index) : index;
    if (number % 2 && !checker->info->levels[index].has_mask)
        return false;
    if (tz_file_layer(checker->file, *level, &quiet, out) != TZ_OK)
        return false;
    checker->ctx.ifd = out->shape.ifd;
    return true;
}

bool tz_checker_own_layer(tz_checker *checker, uint32_t number, tz_layer *out, uint32_t *level)
{
    return tz_checker_layer(checker, number, out, level) && !out->shape.sidecar;
}

const tz_ifd_entry *tz_checked_ifd_find(const tz_checked_ifd *directory, uint16_t tag)
{
    for (uint32_t i = 0; i < directory->count; i++)
        if (directory->entries[i].tag == tag)
            return &directory->entries[i];
    return NULL;
}

/* ---- tiles ---- */

uint64_t tz_checker_sample_size(const tz_checker *checker, uint64_t tiles)
{
    return checker->options->full || tiles <= 2 * SAMPLE_TILES ? tiles : 2 * SAMPLE_TILES;
}

void tz_checker_sample_range(const tz_checker *checker, uint64_t tiles, unsigned range,
                             uint64_t *first, uint64_t *end)
{
    const bool all = tz_checker_sample_size(checker, tiles) == tiles;
    *first = range == 0 ? 0 : all ? tiles : tiles - SAMPLE_TILES;
    *end = range == 0 && !all ? SAMPLE_TILES : tiles;
}

void tz_checker_note_sample(tz_checker *checker)
{
    if (checker->tiles_looked_at < checker->tiles)
        checker->check->note = "of the first and last 64 tiles of each level";
}

tz_result tz_checker_progress(tz_checker *checker, uint64_t tiles)
{
    checker->done += tiles;
    return tz_check_progress(&checker->ctx, &checker->options->progress,
                             tz_min(checker->done, checker->total), checker->total);
}

tz_result tz_checker_spans(tz_checker *checker, uint32_t level, const tz_layer *layer,
                           uint64_t first, size_t count, tz_tile_span *out, bool *known)
{
    tz_error err;
    /* The quick look must not fill the cache of the handle. */
    const tz_result result =
        checker->arena ? tz_layer_spans(checker->file, level, layer, first, count, out, &err)
                       : tz_tile_spans(checker->file, level, first, count, out, &err);
    *known = result == TZ_OK;
    if (result == TZ_OK)
        return TZ_OK;
    if (!checker->arena || !tz_is_file_defect(result))
        return return_error(checker, &err);
    if (checker->row->run == tz_check_tile_spans) /* the others need not repeat it */
        tz_checker_add_finding(checker, TZ_CHECK_FAIL, &err);
    return TZ_OK;
}

tz_result tz_checker_visit_tiles(tz_checker *checker, uint32_t level, const tz_layer *layer,
                                 tz_tile_visitor visit, void *user)
{
    tz_tile_span spans[SPANS_AT_ONCE];
    if (!tz_layer_has_tables(layer))
        return TZ_OK;
    for (unsigned range = 0; range < 2; range++) {
        uint64_t first, end;
        tz_checker_sample_range(checker, layer->shape.tile_count, range, &first, &end);
        while (first < end) {
            tz_checked_tile view = {.level = level, .layer = layer, .tile = first};
            const size_t some = (size_t)tz_min(end - first, SPANS_AT_ONCE);
            bool known = false;
            TZ_TRY(tz_checker_progress(checker, some));
            TZ_TRY(tz_checker_spans(checker, level, layer, first, some, spans, &known));
            for (size_t i = 0; known && i < some; i++) {
                view.tile = first + i;
                view.span = spans[i];
                if (view.span.offset != 0 || view.span.size != 0)
                    TZ_TRY(visit(checker, &view, user));
            }
            first += some;
        }
    }
    return TZ_OK;
}

/* ---- one check ---- */

tz_result tz_checker_run(tz_checker *checker, const tz_check_row *row, tz_check *check)
{
    const uint64_t passed = checker->done + (row->scans ? checker->tiles_looked_at : 0);
    check->id = row->id;
    check->group = row->group;
    check->text = row->text;
    check->outcome = TZ_CHECK_PASS;
    checker->row = row;
    checker->check = check;
    checker->findings = NULL;
    checker->no_memory = false;
    checker->ctx.ifd = -1;
    if (!checker->file && !row->always)
        return tz_checker_skip(checker, "the file could not be opened");
    TZ_TRY(row->run(checker));
    if (checker->no_memory)
        return tz_fail_nomem(&checker->ctx, MAX_FINDINGS * sizeof *checker->findings);
    if (row->scans)
        checker->done = passed;
    return TZ_OK;
}
