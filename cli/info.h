/* SPDX-License-Identifier: Apache-2.0
 * terrazzo info: one file, gathered once and shown as a page (info_page.c, info_tables.c) or as
 * JSON (info_gdal.c and info_domains.c with gdalinfo's keys, info_json.c with our own). */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include <terrazzo/terrazzo.h>

#include "common.h"
#include "crs_text.h"
#include "json.h"
#include "metadata.h"

extern const cli_command info_command;

typedef struct info_settings {
    common_settings common;
    bool tiles;
    bool tags;
    bool limits;
    bool no_crs;
} info_settings;

/* Problems that showed up after opening, beyond the warnings of tz_info. */
#define INFO_MAX_PROBLEMS 16
/* Levels whose stored sizes are cached; those of further levels are counted each time. */
#define INFO_KEPT_LEVELS 64

typedef struct info_file {
    const info_settings *settings;
    const char *path;
    tz_file *file;
    const tz_info *info;
    tz_crs *crs;   /* NULL: no PROJ, no CRS, or not understood */
    crs_axes axes; /* of crs */
    meta_list metadata;
    uint32_t cog_problems;
    bool cog_known;
    bool failed;
    unsigned problem_count;
    tz_error problems[INFO_MAX_PROBLEMS];
    bool fatal[INFO_MAX_PROBLEMS];
    struct info_stored {
        bool asked;
        bool known;
        uint64_t bytes;
        uint64_t sparse;
    } stored[INFO_KEPT_LEVELS][2]; /* of levels and their masks */
} info_file;

/* Keeps a problem for the list of warnings; fatal ones, and all in strict mode, fail the command.
 */
void info_problem(info_file *f, const tz_error *err, bool fatal);

void info_print_page(info_file *f);
/* Lists of levels, pages, bands, colours and metadata; then the tables of --tags and --tiles. */
void info_print_lists(info_file *f);
void info_print_details(info_file *f);
void info_write_json(json *j, info_file *f);
void info_write_terrazzo(json *j, info_file *f);
void info_write_metadata(json *j, info_file *f);
void info_write_band_metadata(json *j, const info_file *f, uint32_t band);
void info_write_statistics(json *j, const info_file *f, uint32_t band);
void info_write_error(json *j, const tz_error *err, const char *path);

/* Facts that page and JSON share (info_facts.c) ----------------------------------------------- */

bool info_is_cog(const info_file *f);
/* "DEFLATE", "LERC_ZSTD", "compression 12345"; buffer has TEXT_NUMBER bytes. */
const char *info_codec(const tz_level *level, char *buffer);
/* Returns the bytes of all pixels of a level, not compressed. */
double info_raw_size(const tz_level *level);
/* Counts stored bytes and missing tiles; false, with the problem kept, if the table cannot be read.
 */
bool info_stored_size(info_file *f, uint32_t level, bool mask, uint64_t *bytes, uint64_t *sparse);
/* Finds a level or its mask; NULL: there is none. */
const tz_level *info_level(const info_file *f, uint32_t level, bool mask);

/* Corners and centre in the order that gdalinfo has them. */
#define INFO_CORNERS 5
typedef struct info_corner {
    const char *key;  /* gdalinfo's */
    const char *name; /* for people */
    double x, y;      /* model coordinates, or pixels without a transform */
    double lon, lat;
    bool has_lonlat;
} info_corner;
void info_corners(const info_file *f, info_corner corners[INFO_CORNERS]);
void info_print_corners(const info_file *f, const info_corner corners[INFO_CORNERS]);
void info_print_gcps(const info_file *f);

/* Documents of other formats that a tag of level 0 may hold. */
#define INFO_EMBEDDED 4
typedef struct info_embedded {
    uint16_t tag;
    const char *key;  /* in JSON */
    const char *name; /* for people */
} info_embedded;
extern const info_embedded info_embedded_kinds[INFO_EMBEDDED];

/* Calls row for every tag of the directory at an offset; ends early when row returns false. */
void info_each_tag(info_file *f, uint64_t ifd_offset,
                   bool (*row)(void *user, info_file *f, const tz_tag *tag), void *user);

/* Calls row for every tile of all levels and masks, whose table is read 256 entries at a time. Ends
 * early when row returns false. */
typedef struct info_tile {
    uint32_t level;
    bool mask; /* of that level */
    uint64_t tile;
    uint32_t row, column;
    uint32_t band; /* 0 unless stored by band */
    tz_tile_span span;
} info_tile;
void info_each_tile(info_file *f, bool (*row)(void *user, const info_tile *tile), void *user);
bool info_by_band(const info_file *f, uint32_t level, bool mask);

#endif
