/* SPDX-License-Identifier: Apache-2.0
 * The state of a validation: the file, the current check, and its findings. A check is a row of a
 * table; it looks at one property and reports with TZ_ADD_FINDING. A defect of the file is a
 * finding; a check fails only for reasons outside of the file, such as memory or I/O. */
#ifndef TZ_VALIDATE_CHECKER_H
#define TZ_VALIDATE_CHECKER_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "tiff/file.h"

typedef struct tz_checker tz_checker;

/* ---- tables of checks ---- */

enum {
    TZ_SCANS_TILES = 1,  /* the check visits all tiles of the sample, which counts as progress */
    TZ_RUNS_UNOPENED = 2 /* the check also runs for a file that could not be opened */
};

typedef struct tz_check_row {
    const char *id;
    const char *group; /* as in tz_check */
    const char *text;
    tz_result (*run)(tz_checker *checker);
    uint32_t cog_problem; /* TZ_COG_ bit that its findings set; 0: none */
    uint16_t flags;       /* TZ_SCANS_TILES, TZ_RUNS_UNOPENED */
    uint16_t argument;    /* for run: a tag, an outcome or a tz_key_subject; 0: none */
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

/* ---- the state ---- */

/* The directory of a level or mask. */
typedef struct tz_checked_ifd {
    tz_ifd_entry *entries; /* NULL: none, or it is in a sidecar */
    uint32_t count;
    uint64_t start;
    uint64_t end;
} tz_checked_ifd;

struct tz_checker {
    const tz_file *file; /* NULL: it could not be opened; open_error says why */
    const tz_info *info;
    const tz_error *open_error;
    const tz_error *sidecar_error; /* why an existing NAME.ovr could not be opened; or NULL */
    const tz_validate_options *options;
    tz_context ctx;              /* err: that of the call, for failures outside of the file */
    tz_arena *arena;             /* for findings; NULL: they are only counted */
    tz_checked_ifd *directories; /* by number of tz_checker_layer; NULL if arena is */
    uint64_t tiles;              /* of all levels and masks whose tables can be used */
    uint64_t tiles_looked_at;
    uint64_t tiles_decoded;
    uint64_t done; /* progress, in tiles */
    uint64_t total;
    /* The current check. */
    const tz_check_row *row;
    tz_check *check;
    tz_error *findings;
    tz_context found; /* context of the last finding */
    bool no_memory;
};

/* Runs one row and fills *check. */
tz_result tz_checker_run(tz_checker *checker, const tz_check_row *row, tz_check *check);

/* Adds tiles to the progress; fails if the caller cancels. */
tz_result tz_checker_progress(tz_checker *checker, uint64_t tiles);

/* ---- findings ---- */

/* Adds a finding of this weight. Returns a context whose error it is. Use TZ_ADD_FINDING. */
const tz_context *tz_checker_new_finding(tz_checker *checker, tz_check_outcome weight);
#define TZ_ADD_FINDING(checker, weight, cause, ...)                                                \
    ((void)tz_fail(tz_checker_new_finding((checker), (weight)), TZ_ERR_FORMAT, (cause),            \
                   __VA_ARGS__))

/* Adds an existing error or warning as a finding. */
void tz_checker_add_finding(tz_checker *checker, tz_check_outcome weight, const tz_error *found);

/* Marks the check as not applicable, with the reason. Returns TZ_OK. */
tz_result tz_checker_skip(tz_checker *checker, const char *why);

/* True for results that a file causes, not the machine. */
bool tz_is_file_defect(tz_result result);

/* Handles the result of a call that filled *err: a defect of the file becomes a finding, which
 * fails the check unless the library lacks a feature or has a limit. Any other error is returned.
 */
tz_result tz_checker_add_result(tz_checker *checker, tz_result result, const tz_error *err);

/* ---- levels, masks and their directories ---- */

/* A level or a mask. Zeroed: before the first one. */
typedef struct tz_checked_layer {
    uint32_t next;   /* number of the next one; for tz_checker_next */
    uint32_t number; /* 2 * level, and 1 more for its mask */
    uint32_t level;  /* of the mask, if layer is one */
    tz_layer layer;
    const tz_checked_ifd *ifd; /* NULL in the quick look */
} tz_checked_layer;

enum { TZ_LAYER_IMAGES = 1, TZ_LAYER_MASKS = 2, TZ_LAYER_ALL = 3, TZ_LAYER_OWN = 4 };

/* Finds the next level or mask of these kinds, by number; with TZ_LAYER_OWN none that is in a
 * sidecar. Returns false after the last one. Later findings are about its directory. */
bool tz_checker_next(tz_checker *checker, unsigned kinds, tz_checked_layer *at);

/* Does the same for one number; false if there is no such mask. */
bool tz_checker_layer(tz_checker *checker, uint32_t number, tz_checked_layer *out);
uint32_t tz_checker_layer_count(const tz_checker *checker);

/* Returns a level; later findings are about its directory. */
const tz_level *tz_checker_level(tz_checker *checker, uint32_t level);

/* Return the location of the directory of a level, of that of a level or mask, and of a tile. */
tz_location tz_at_level(const tz_level *shape, uint32_t level);
tz_location tz_at_layer(const tz_checked_layer *at);
tz_location tz_at_layer_tile(const tz_checked_layer *at, uint64_t tile, uint64_t offset);

/* Finds an entry of a directory; NULL if it has no such tag. */
const tz_ifd_entry *tz_checked_ifd_find(const tz_checked_ifd *directory, uint16_t tag);

/* True if the values of an entry are in the entry itself or elsewhere in the directory. */
bool tz_checked_ifd_holds(const tz_checked_ifd *directory, const tz_ifd_entry *entry);

/* Returns the size of the header and the ghost area. */
uint64_t tz_checker_front_size(const tz_checker *checker);

/* ---- tiles ---- */

/* Visits tiles in order: all, or the first and last of a level. Sparse tiles are left out. */
typedef struct tz_checked_tile {
    const tz_checked_layer *at;
    uint64_t tile;
    tz_tile_span span;
} tz_checked_tile;
typedef tz_result (*tz_tile_visitor)(tz_checker *checker, const tz_checked_tile *view, void *user);
tz_result tz_checker_visit_tiles(tz_checker *checker, const tz_checked_layer *at,
                                 tz_tile_visitor visit, void *user);

/* Reads spans of tiles; *known is false if the table is defective. */
tz_result tz_checker_spans(tz_checker *checker, const tz_checked_layer *at, uint64_t first,
                           size_t count, tz_tile_span *out, bool *known);

/* Returns the number of tiles of a level that are visited. */
uint64_t tz_checker_sample_size(const tz_checker *checker, uint64_t tiles);
/* Returns one of the two ranges of tiles [*first, *end) that are visited; range is 0 or 1. */
void tz_checker_sample_range(const tz_checker *checker, uint64_t tiles, unsigned range,
                             uint64_t *first, uint64_t *end);

/* Notes at the current check that it does not visit all tiles, if so. */
void tz_checker_note_sample(tz_checker *checker);

/* ---- checks that rows of several tables share, by file ---- */

/* open_warnings.c: adds the findings that opening has made already for the current check. */
tz_result tz_checker_add_open_warnings(tz_checker *checker);
/* Adds a failure for each overview that was left out because it is not smaller than the level
 * before it. */
void tz_checker_add_large_overviews(tz_checker *checker);

/* check_gdal.c: checks that data ascends from the smallest level to the largest. The argument of
 * the row is the weight of findings. */
tz_result tz_check_level_data_order(tz_checker *checker);
/* Returns the offset of a level's first tile that is not sparse; TZ_NO_VALUE: none. */
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

/* Checks the keys of one subject, which is the argument of the row. */
typedef enum tz_key_subject {
    TZ_KEYS_RASTER_TYPE,
    TZ_KEYS_MODEL_TYPE,
    TZ_KEYS_CRS,
    TZ_KEYS_VERTICAL,
    TZ_KEYS_CITATIONS,
    TZ_KEYS_UNITS,
    TZ_KEYS_DATUM,
    TZ_KEYS_PROJECTION,
    TZ_KEY_SUBJECTS
} tz_key_subject;
tz_result tz_check_keys(tz_checker *checker);

#endif
