/* SPDX-License-Identifier: Apache-2.0
 * Services for checks: findings, levels and masks by number, visits of tiles, and running one
 * check.
 *
 * A check keeps its first MAX_FINDINGS findings in the arena and counts the others. The quick look
 * of tz_file_get_cog_problems has no arena: its findings are only counted. Without the option
 * `full` a level with many tiles is judged by its first and last 64, which keeps the time of a
 * validation independent of the size of the file. */
#include "validate/checker.h"

#include <string.h>

#include "base/minmax.h"

enum { MAX_FINDINGS = 4, SPANS_AT_ONCE = 256, SAMPLE_TILES = 64 };

/* ---- findings ---- */

/* Counts findings; returns memory for one, or NULL if it is only counted. Running out of memory is
 * noted, and fails the validation when the check is done: checks need no error handling for it. */
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

/* A check that found something before it gave up keeps its outcome. */
tz_result tz_checker_skip(tz_checker *checker, const char *why)
{
    if (checker->check->count == 0)
        checker->check->outcome = TZ_CHECK_OUTCOME_NOT_APPLICABLE;
    checker->check->note = why;
    return TZ_OK;
}

bool tz_is_file_defect(tz_result result)
{
    return result == TZ_ERR_FORMAT || result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_LIMIT;
}

/* Hands an error to the caller of the validation. */
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
    tz_checker_add_finding(
        checker, result == TZ_ERR_FORMAT ? TZ_CHECK_OUTCOME_FAIL : TZ_CHECK_OUTCOME_WARNING, err);
    return TZ_OK;
}

/* ---- levels and masks ---- */

uint32_t tz_checker_layer_count(const tz_checker *checker)
{
    return 2 * checker->info->level_count;
}

bool tz_checker_layer(tz_checker *checker, uint32_t number, tz_checked_layer *out)
{
    const tz_context quiet = {.ifd = -1};
    const uint32_t index = number / 2;
    if (number % 2 && !checker->file->levels[index].has_mask)
        return false;
    out->number = number;
    out->level = index;
    out->ifd = checker->directories ? &checker->directories[number] : NULL;
    if (tz_file_layer(checker->file, index, number % 2 != 0, &quiet, &out->layer) != TZ_OK)
        return false;
    checker->ctx.ifd = out->layer.shape.ifd;
    return true;
}

bool tz_checker_next(tz_checker *checker, unsigned kinds, tz_checked_layer *at)
{
    while (at->next < tz_checker_layer_count(checker)) {
        const uint32_t number = at->next++;
        if ((kinds & (number % 2 ? TZ_LAYER_MASKS : TZ_LAYER_IMAGES)) &&
            tz_checker_layer(checker, number, at) &&
            !((kinds & TZ_LAYER_OWN) && at->layer.shape.sidecar))
            return true;
    }
    return false;
}

const tz_level *tz_checker_level(tz_checker *checker, uint32_t level)
{
    checker->ctx.ifd = checker->file->levels[level].ifd;
    return &checker->file->levels[level];
}

tz_location tz_at_level(const tz_level *shape, uint32_t level)
{
    tz_location location = tz_at_offset(shape->ifd_offset);
    location.level = (int32_t)level;
    return location;
}

tz_location tz_at_layer(const tz_checked_layer *at)
{
    tz_location location = tz_at_level(&at->layer.shape, at->level);
    location.mask = at->layer.is_mask;
    return location;
}

tz_location tz_at_layer_tile(const tz_checked_layer *at, uint64_t tile, uint64_t offset)
{
    return tz_at_tile(at->level, at->layer.is_mask, tile, offset);
}

const tz_ifd_entry *tz_checked_ifd_find(const tz_checked_ifd *directory, uint16_t tag)
{
    for (uint32_t i = 0; i < directory->count; i++)
        if (directory->entries[i].tag == tag)
            return &directory->entries[i];
    return NULL;
}

/* Values of up to 4 bytes (8 in a BigTIFF) are stored in their entry. */
bool tz_checked_ifd_holds(const tz_checked_ifd *directory, const tz_ifd_entry *entry)
{
    return entry->offset >= directory->start && entry->offset < directory->end;
}

uint64_t tz_checker_front_size(const tz_checker *checker)
{
    return tz_header_size(&checker->file->containers[0]) + (uint64_t)checker->file->ghost.size;
}

/* ---- tiles ---- */

uint64_t tz_checker_sample_size(const tz_checker *checker, uint64_t tiles)
{
    return checker->options->full || tiles <= 2 * SAMPLE_TILES ? tiles : 2 * SAMPLE_TILES;
}

/* The second range is empty if the first one has all tiles. */
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

/* The quick look must not fill the cache of the handle, which belongs to reads. A defective table
 * is a finding of one check only, tiff.tile-spans; the others need not repeat it. */
tz_result tz_checker_spans(tz_checker *checker, const tz_checked_layer *at, uint64_t first,
                           size_t count, tz_tile_span *out, bool *known)
{
    tz_error err;
    const tz_result result =
        checker->arena
            ? tz_layer_spans(checker->file, at->level, &at->layer, first, count, out, &err)
            : tz_file_get_tile_spans(out, checker->file, at->level, at->layer.is_mask, first, count,
                                     &err);
    *known = result == TZ_OK;
    if (result == TZ_OK)
        return TZ_OK;
    if (!checker->arena || !tz_is_file_defect(result))
        return return_error(checker, &err);
    if (checker->row->run == tz_check_tile_spans)
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, &err);
    return TZ_OK;
}

/* Tiles with neither offset nor size are sparse: they are read as nodata and occupy nothing. */
tz_result tz_checker_visit_tiles(tz_checker *checker, const tz_checked_layer *at,
                                 tz_tile_visitor visit, void *user)
{
    tz_tile_span spans[SPANS_AT_ONCE];
    if (!tz_layer_has_tables(&at->layer))
        return TZ_OK;
    for (unsigned range = 0; range < 2; range++) {
        uint64_t first, end;
        tz_checker_sample_range(checker, at->layer.shape.tile_count, range, &first, &end);
        while (first < end) {
            tz_checked_tile view = {.at = at};
            const size_t some = (size_t)tz_min(end - first, SPANS_AT_ONCE);
            bool known = false;
            TZ_TRY(tz_checker_progress(checker, some));
            TZ_TRY(tz_checker_spans(checker, at, first, some, spans, &known));
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

/* A check that visits tiles counts as all tiles of the sample, also if it skipped some or all: the
 * total was known before. */
tz_result tz_checker_run(tz_checker *checker, const tz_check_row *row, tz_check *check)
{
    const uint64_t passed =
        checker->done + (row->flags & TZ_SCANS_TILES ? checker->tiles_looked_at : 0);
    check->id = row->id;
    check->group = row->group;
    check->text = row->text;
    check->outcome = TZ_CHECK_OUTCOME_PASS;
    checker->row = row;
    checker->check = check;
    checker->findings = NULL;
    checker->no_memory = false;
    checker->ctx.ifd = -1;
    if (!checker->file && !(row->flags & TZ_RUNS_UNOPENED))
        return tz_checker_skip(checker, "the file could not be opened");
    TZ_TRY(row->run(checker));
    if (checker->no_memory)
        return tz_fail_nomem(&checker->ctx, MAX_FINDINGS * sizeof *checker->findings);
    if (row->flags & TZ_SCANS_TILES)
        checker->done = passed;
    return TZ_OK;
}
