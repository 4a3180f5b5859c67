/* SPDX-License-Identifier: Apache-2.0
 * The file that tiles go to: its sinks, and the tables of its tiles. A writer fills the tables as
 * tiles are delivered; an assembly of blocks fills them from the heads of the blocks. Both finish
 * and verify the file in the same way. */
#ifndef TZ_WRITE_OUTPUT_FILE_H
#define TZ_WRITE_OUTPUT_FILE_H

#include "io/sink.h"
#include "pixel/store.h"
#include "write/budget.h"
#include "write/write_report.h"

/* Tables of one level: the image's tiles, then the mask's. Before tz_output_file_finish the offset
 * of a tile is in the spool if tz_tile_is_spooled says so, otherwise in the file. */
typedef struct tz_tile_tables {
    uint64_t *offsets; /* 0: sparse */
    uint32_t *sizes;   /* 0: sparse */
    uint64_t *hashes;  /* of verified tiles */
} tz_tile_tables;

/* Owns tables and statistics. Everything else belongs to the writer or the assembly. */
typedef struct tz_output_file {
    const tz_output_pyramid *pyramid;
    const tz_budget *budget;
    const tz_context *ctx; /* of the current call */
    tz_write_report *report;
    tz_tile_tables levels[TZ_MAX_OUTPUT_LEVELS];
    tz_stats *stats; /* by band; NULL: not wanted */
    tz_sink *sink;
    tz_sink *spool;          /* of tiles whose offset in the file is not known yet; NULL: none */
    bool all_spooled;        /* the sink cannot insert bytes at the front */
    bool offsets_known;      /* offsets of all tiles were assigned before the tiles are made */
    uint64_t position;       /* after the last tile in the sink */
    uint64_t spool_position; /* and in the spool */
} tz_output_file;

/* The image at full resolution. */
static inline const tz_image *tz_output_file_image(const tz_output_file *file)
{
    return &file->pyramid->levels[0].image;
}

/* deliver.c: allocates the tables, and statistics if the image wants them; counts the tiles in the
 * report. Released by tz_output_file_deinit, also after a failure. */
tz_result tz_output_file_allocate(tz_output_file *file);
void tz_output_file_deinit(tz_output_file *file); /* zeroed state is fine */
bool tz_tile_is_spooled(const tz_output_file *file, uint32_t level, uint64_t tile_index);

/* finish.c: writes directories and header, and moves spooled tiles to their offsets. */
tz_result tz_output_file_finish(tz_output_file *file);
/* Assigns offsets to tiles whose sizes are all known. */
tz_result tz_output_file_assign_offsets(tz_output_file *file);

/* verify.c: reads the written file back. A sink that cannot be read is not verified. */
tz_result tz_output_file_verify(const tz_output_file *file);

#endif
