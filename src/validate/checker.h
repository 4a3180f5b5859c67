/* SPDX-License-Identifier: Apache-2.0
 * A validation on its way: the file, the check that is being made, and what it found. A check is a
 * row of a table; it looks at one thing and reports with TZ_ADD_FINDING. What is wrong with the
 * file is a finding; a check fails only for reasons that are none of the file's doing. */
#ifndef TZ_VALIDATE_CHECKER_H
#define TZ_VALIDATE_CHECKER_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "tiff/file.h"

typedef struct tz_checker tz_checker;

typedef struct tz_check_row {
    const char *id;
    const char *group; /* as in tz_check */
    const char *text;
    tz_result (*run)(tz_checker *checker);
    uint32_t cog_problem; /* TZ_COG_ bit that its findings set; 0: none */
    bool scans;           /* it passes all tiles that are looked at */
    bool always;          /* it also judges a file that could not be opened */
} tz_check_row;

/* The checks of one class. */
typedef struct tz_check_list {
    const tz_check_row *rows;
    size_t count;
} tz_check_list;
extern const tz_check_list tz_tiff_checks;
extern const tz_check_list tz_geotiff_checks;
extern const tz_check_list tz_cog_checks;
extern const tz_check_list tz_gdal_checks;

/* The directory of a level or mask. */
typedef struct tz_checked_ifd {
    tz_ifd_entry *entries; /* NULL: none, or it is in a sidecar */
    uint32_t count;
    uint64_t start;
    uint64_t end;
} tz_checked_ifd;

struct tz_checker {
    const tz_file *file; /* NULL: it could not be opened, because of open_error */
    const tz_info *info;
    const tz_error *open_error;
    const tz_error *sidecar_error; /* why NAME.ovr, which is there, could not be opened; or NULL */
    const tz_validate_options *options;
    tz_context ctx;              /* err: of the call, for what is none of the file's doing */
    tz_arena *arena;             /* for findings; NULL: they are only counted */
    tz_checked_ifd *directories; /* of every number of tz_checker_layer; NULL where arena is */
    uint64_t tiles;              /* of all levels and masks whose tables can be used */
    uint64_t tiles_looked_at;
    uint64_t tiles_decoded;
    uint64_t done; /* of progress */
    uint64_t total;
    /* of the check at hand */
    const tz_check_row *row;
    tz_check *check;
    tz_error *findings;
    tz_context found; /* of the last finding */
    bool no_memory;
};

/* One more finding, of this weight: a context whose error is its place. Use TZ_ADD_FINDING. */
const tz_context *tz_checker_new_finding(tz_checker *checker, tz_check_outcome weight);
#define TZ_ADD_FINDING(checker, weight, cause, ...)                                                \
    ((void)tz_fail(tz_checker_new_finding((checker), (weight)), TZ_ERR_FORMAT, (cause),            \
                   __VA_ARGS__))

/* The same for an error or warning that is there already. */
void tz_checker_add_finding(tz_checker *checker, tz_check_outcome weight, const tz_error *found);

/* The check does not apply, and why. Returns TZ_OK. */
tz_result tz_checker_skip(tz_checker *checker, const char *why);

/* What is wrong with a file, rather than with the machine. */
bool tz_is_file_defect(tz_result result);

/* A call that returned result and filled *err: a defect becomes a finding, and a failure unless it
 * is the library's own shortcoming. */
tz_result tz_checker_add_result(tz_checker *checker, tz_result result, const tz_error *err);

/* Levels and masks by number, from 0 to tz_checker_layer_count: each level and then its mask. False
 * where there is none. Findings are then about its directory. */
uint32_t tz_checker_layer_count(const tz_checker *checker);
bool tz_checker_layer(tz_checker *checker, uint32_t number, tz_layer *out, uint32_t *level);
bool tz_checker_own_layer(tz_checker *checker, uint32_t number, tz_layer *out,
                          uint32_t *level); /* in the file itself, not a sidecar */

/* An entry of a directory; NULL when it has no such tag. */
const tz_ifd_entry *tz_checked_ifd_find(const tz_checked_ifd *directory, uint16_t tag);

/* Tiles in order, all or the first and last of a level. Sparse ones are left out. */
typedef struct tz_checked_tile {
    uint32_t level;
    const tz_layer *layer;
    uint64_t tile;
    tz_tile_span span;
} tz_checked_tile;
typedef tz_result (*tz_tile_visitor)(tz_checker *checker, const tz_checked_tile *view, void *user);
tz_result tz_checker_visit_tiles(tz_checker *checker, uint32_t level, const tz_layer *layer,
                                 tz_tile_visitor visit, void *user);
/* The span of single tiles; *known stays false when the table cannot tell. */
tz_result tz_checker_spans(tz_checker *checker, uint32_t level, const tz_layer *layer,
                           uint64_t first, size_t count, tz_tile_span *out, bool *known);
/* How many tiles of a level are looked at. */
uint64_t tz_checker_sample_size(const tz_checker *checker, uint64_t tiles);
/* The first of two ranges of tiles [*first, *end) that are looked at when part is 0, then 1. */
void tz_checker_sample_range(const tz_checker *checker, uint64_t tiles, unsigned range,
                             uint64_t *first, uint64_t *end);

/* Note of the check at hand that it sees not all tiles, if so. */
void tz_checker_note_sample(tz_checker *checker);

/* Ask whether to go on, with this many tiles done. */
tz_result tz_checker_progress(tz_checker *checker, uint64_t tiles);

/* Run one row; *check is filled. */
tz_result tz_checker_run(tz_checker *checker, const tz_check_row *row, tz_check *check);

/* open_warnings.c: the findings that opening has made already for the check at hand. */
tz_result tz_checker_add_open_warnings(tz_checker *checker);
/* Whether a warning is of an overview that was left out for its size: not less than the level
 * before it. */
bool tz_is_large_overview(const tz_error *warning);

/* check_gdal.c: from the smallest level to the largest, data must ascend. */
tz_result tz_check_level_data_order(tz_checker *checker, tz_check_outcome weight);
/* The end of the last directory; and where a level's first tile that is not sparse lies, TZ_NONE
 * when it has none. */
uint64_t tz_last_ifd_offset(const tz_info *info);
tz_result tz_first_tile_offset(tz_checker *checker, uint32_t level, uint64_t *offset);

/* check_tiles.c */
tz_result tz_check_tile_spans(tz_checker *checker);
tz_result tz_check_file_end(tz_checker *checker);
tz_result tz_check_leaders(tz_checker *checker);
tz_result tz_check_trailers(tz_checker *checker);
tz_result tz_check_block_order(tz_checker *checker);
tz_result tz_check_masks_adjacent(tz_checker *checker);

/* check_extents.c */
tz_result tz_check_overlap(tz_checker *checker);
tz_result tz_check_unused_bytes(tz_checker *checker);

/* check_pixels.c */
tz_result tz_check_pixels(tz_checker *checker);

/* check_geo_keys.c */
tz_result tz_check_key_directory(tz_checker *checker);
tz_result tz_check_short_key_values(tz_checker *checker);
tz_result tz_check_double_key_values(tz_checker *checker);
tz_result tz_check_ascii_key_values(tz_checker *checker);
tz_result tz_check_raster_type(tz_checker *checker);
tz_result tz_check_model_type(tz_checker *checker);
tz_result tz_check_crs_codes(tz_checker *checker);
tz_result tz_check_vertical_keys(tz_checker *checker);
tz_result tz_check_citation_keys(tz_checker *checker);
tz_result tz_check_unit_keys(tz_checker *checker);
tz_result tz_check_datum_keys(tz_checker *checker);
tz_result tz_check_projection_keys(tz_checker *checker);

#endif
