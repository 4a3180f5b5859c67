/* SPDX-License-Identifier: Apache-2.0
 * Checks of tiles and the bytes around them: their positions, the leaders and trailers that GDAL
 * writes, their order in the file, and masks beside their images.
 *
 * Each check visits the tiles of the sample (see checker.c) with a function of its own. The
 * promises come from the ghost area: without one, or without the promise, a check does not apply. A
 * table may leave sizes to the leaders; complete_tile_span finds them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"
#include "validate/checker.h"

static tz_result visit_tiles_of_all_layers(tz_checker *checker, tz_tile_visitor visit, void *user)
{
    tz_checked_layer at = {0};
    tz_checker_note_sample(checker);
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at))
        TZ_TRY(tz_checker_visit_tiles(checker, &at, visit, user));
    return TZ_OK;
}

/* Layers of sidecars are left out, so that all offsets are in this file. */
static const tz_container *main_file(const tz_checker *checker)
{
    return &checker->file->containers[0];
}

/* ---- positions ---- */

/* Does the checks of a read, without the read. */
static tz_result visit_tile_span(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    tz_tile_span span = view->span;
    tz_warnings warnings = {0};
    tz_error err;
    (void)user;
    const tz_result result = tz_tile_check_span(checker->file, view->at->level, &view->at->layer,
                                                view->tile, &span, &warnings, &err);
    for (uint32_t i = 0; i < warnings.count; i++)
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_WARNING, &warnings.list[i]);
    tz_warnings_deinit(&warnings);
    return tz_checker_add_result(checker, result, &err);
}

tz_result tz_check_tile_spans(tz_checker *checker)
{
    return visit_tiles_of_all_layers(checker, visit_tile_span, NULL);
}

/* Adds one finding for each level that was cut off. */
tz_result tz_check_file_end(tz_checker *checker)
{
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        tz_error err;
        const tz_result result =
            tz_level_check_end(checker->file, at.level, at.layer.is_mask, &err);
        if (result != TZ_OK && err.cause == TZ_CAUSE_TRUNCATED)
            tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, &err);
        else if (!tz_is_file_defect(result)) /* tiff.tile-spans reports those */
            TZ_TRY(tz_checker_add_result(checker, result, &err));
    }
    return TZ_OK;
}

/* Completes a span whose size the table leaves to the leader or to the layout. */
static tz_result complete_tile_span(tz_checker *checker, const tz_checked_tile *view,
                                    tz_tile_span *span)
{
    tz_error err;
    *span = view->span;
    if (span->size != 0)
        return TZ_OK;
    const tz_result result = tz_tile_check_span(checker->file, view->at->level, &view->at->layer,
                                                view->tile, span, NULL, &err);
    return tz_is_file_defect(result) ? TZ_OK : tz_checker_add_result(checker, result, &err);
}

/* ---- leaders and trailers ---- */

/* Returns false, and marks the check as not applicable, if the ghost area does not promise what it
 * checks. */
static bool is_promised(tz_checker *checker, bool promised)
{
    const bool present = checker->file->ghost.present;
    if (!present || !promised)
        (void)tz_checker_skip(checker, present ? "the ghost area does not promise it"
                                               : "the file has no ghost area");
    return present && promised;
}

/* The leader is the size of the tile, little-endian in any file, so that one read of both needs no
 * table of sizes. */
static tz_result visit_leader(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    const uint64_t offset = view->span.offset;
    uint8_t bytes[4];
    (void)user;
    if (offset < 4 || !tz_inside(main_file(checker), offset - 4, 4))
        return TZ_OK; /* tiff.tile-spans reports it */
    TZ_TRY(tz_source_read(main_file(checker)->source, offset - 4, 4, bytes, &checker->ctx));
    const uint64_t size = tz_read_endian_u32(bytes, false);
    if (size != view->span.size && view->span.size != 0)
        TZ_ADD_FINDING(
            checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
            tz_expecting(tz_at_layer_tile(view->at, view->tile, offset - 4), view->span.size, size),
            "the size in the leader is not the tile's");
    return TZ_OK;
}

tz_result tz_check_leaders(tz_checker *checker)
{
    if (!is_promised(checker, checker->file->ghost.leaders))
        return TZ_OK;
    return visit_tiles_of_all_layers(checker, visit_leader, NULL);
}

/* The trailer repeats the last four bytes of the tile, so that a reader notices a tile that was
 * overwritten with another size. A tile of one to three bytes is filled up with zeros. */
static tz_result visit_trailer(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    const uint64_t size = view->span.size;
    const size_t tail = (size_t)tz_min(size, 4);
    uint8_t bytes[8];
    uint8_t last[4] = {0};
    uint64_t end = 0;
    (void)user;
    if (size == 0 || view->span.offset == 0 || !tz_add(view->span.offset, size, &end) ||
        end > main_file(checker)->size)
        return TZ_OK;
    const tz_location location = tz_at_layer_tile(view->at, view->tile, end);
    if (!tz_inside(main_file(checker), end, 4)) {
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, 4, main_file(checker)->size - end),
                       "the file ends within the trailer");
        return TZ_OK;
    }
    TZ_TRY(tz_source_read(main_file(checker)->source, end - tail, tail + 4, bytes, &checker->ctx));
    memcpy(last, bytes, tail);
    if (memcmp(last, bytes + tail, 4) != 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                       tz_expecting(location, tz_read_endian_u32(last, false),
                                    tz_read_endian_u32(bytes + tail, false)),
                       "the trailer does not repeat the tile's last bytes");
    return TZ_OK;
}

tz_result tz_check_trailers(tz_checker *checker)
{
    if (!is_promised(checker, checker->file->ghost.trailers))
        return TZ_OK;
    return visit_tiles_of_all_layers(checker, visit_trailer, NULL);
}

/* ---- the order of tiles ---- */

typedef struct last_tile {
    uint64_t offset;     /* of the tile before; 0: none */
    uint64_t band_tiles; /* not 0: each band has an order of its own */
} last_tile;

/* Compares with the tile before, sparse ones left out. One tile in a wrong position gives one
 * finding, not one for every tile after it: the next is compared with it. */
static void check_tile_order(tz_checker *checker, const tz_checked_layer *at, uint64_t tile,
                             uint64_t offset, last_tile *last)
{
    if (offset < last->offset)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_at_layer_tile(at, tile, offset), last->offset, offset),
                       "the tile lies before its predecessor");
    last->offset = offset;
}

static tz_result visit_tile_order(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    last_tile *last = user;
    if (last->band_tiles != 0 && view->tile % last->band_tiles == 0)
        last->offset = 0;
    if (view->span.offset != 0)
        check_tile_order(checker, view->at, view->tile, view->span.offset, last);
    return TZ_OK;
}

/* GDAL says BAND in the ghost area of either order, and TILE in its metadata. */
static bool is_tile_interleaved(const tz_checker *checker)
{
    const tz_metadata_item *item;
    if (checker->file->ghost.interleave == 2)
        return true;
    for (uint32_t i = 0; (item = tz_file_get_metadata(checker->file, i)); i++)
        if (strcmp(item->domain, "IMAGE_STRUCTURE") == 0 && strcmp(item->name, "INTERLEAVE") == 0)
            return strcmp(item->value, "TILE") == 0;
    return false;
}

/* Checks tiles stored by tile: all bands of one tile index, then those of the next. The table has
 * them band by band, so that spans are looked up one at a time. */
static tz_result check_tile_interleaved_order(tz_checker *checker, const tz_checked_layer *at)
{
    const tz_level *shape = &at->layer.shape;
    const uint64_t tiles_per_band = (uint64_t)shape->tiles_across * shape->tiles_down;
    last_tile last = {0};
    if (!tz_layer_has_tables(&at->layer))
        return TZ_OK;
    for (unsigned range = 0; range < 2; range++) {
        uint64_t index, end;
        for (tz_checker_sample_range(checker, tiles_per_band, range, &index, &end); index < end;
             index++) {
            TZ_TRY(tz_checker_progress(checker, shape->samples));
            for (uint64_t band = 0; band < shape->samples; band++) {
                const uint64_t tile = band * tiles_per_band + index;
                tz_tile_span span = {0, 0};
                bool known = false;
                TZ_TRY(tz_checker_spans(checker, at, tile, 1, &span, &known));
                if (known && span.offset != 0)
                    check_tile_order(checker, at, tile, span.offset, &last);
            }
        }
    }
    return TZ_OK;
}

/* The metadata says which order separate planes have. Without an XML parser that is not known, and
 * only the order within each band is checked. */
tz_result tz_check_block_order(tz_checker *checker)
{
    if (!is_promised(checker, checker->file->ghost.row_major))
        return TZ_OK;
    const bool tile_interleaved = is_tile_interleaved(checker);
    const bool interleave_known = tz_build_feature("expat") || checker->file->ghost.interleave == 2;
    tz_checked_layer at = {0};
    tz_checker_note_sample(checker);
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        const bool separate = at.layer.tables.planar == TZ_PLANAR_SEPARATE;
        const tz_level *shape = &at.layer.shape;
        last_tile last = {0};
        if (separate && !interleave_known)
            last.band_tiles = (uint64_t)shape->tiles_across * shape->tiles_down;
        if (separate && tile_interleaved)
            TZ_TRY(check_tile_interleaved_order(checker, &at));
        else
            TZ_TRY(tz_checker_visit_tiles(checker, &at, visit_tile_order, &last));
    }
    return TZ_OK;
}

/* ---- masks beside their images ---- */

typedef struct mask_table {
    tz_checked_layer at;
    uint64_t between; /* bytes from the end of one tile to the next */
} mask_table;

/* Visits a tile of the image, and looks up the tile of the mask with the same index. */
static tz_result visit_mask_tile(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    const mask_table *mask = user;
    tz_tile_span span = {0, 0};
    tz_tile_span image;
    bool known = false;
    TZ_TRY(complete_tile_span(checker, view, &image));
    TZ_TRY(tz_checker_spans(checker, &mask->at, view->tile, 1, &span, &known));
    const uint64_t expected = tz_add_capped(tz_add_capped(image.offset, image.size), mask->between);
    if (known && span.offset != 0 && view->span.offset != 0 && span.offset != expected)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_at_layer_tile(&mask->at, view->tile, span.offset), expected,
                                    span.offset),
                       "the mask's tile does not follow that of the image");
    return TZ_OK;
}

/* With separate planes the mask follows the tiles of the first band. */
tz_result tz_check_masks_adjacent(tz_checker *checker)
{
    const tz_ghost *ghost = &checker->file->ghost;
    mask_table mask = {.between = (ghost->leaders ? 4u : 0u) + (ghost->trailers ? 4u : 0u)};
    tz_checked_layer at = {0};
    if (!is_promised(checker, ghost->mask_interleaved))
        return TZ_OK;
    tz_checker_note_sample(checker);
    while (tz_checker_next(checker, TZ_LAYER_IMAGES | TZ_LAYER_OWN, &at)) {
        const tz_level *shape = &mask.at.layer.shape;
        if (!tz_checker_layer(checker, at.number + 1, &mask.at) || shape->sidecar ||
            !tz_layer_has_tables(&mask.at.layer))
            continue;
        if (at.layer.shape.tile_width != shape->tile_width ||
            at.layer.shape.tile_height != shape->tile_height) {
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_LAYOUT, tz_at_layer(&mask.at),
                           "the mask has other tiles than its image");
            continue;
        }
        at.layer.shape.tile_count = shape->tile_count;
        TZ_TRY(tz_checker_visit_tiles(checker, &at, visit_mask_tile, &mask));
    }
    return TZ_OK;
}
