/* SPDX-License-Identifier: Apache-2.0
 * Tiles that could not be read, of a command with --salvage. */
#ifndef CLI_DAMAGED_H
#define CLI_DAMAGED_H

#include <terrazzo/terrazzo.h>

#include "json.h"

enum { DAMAGED_SHOWN = 16 };

/* A tile counts once, however often it was tried. Zeroed state is empty. */
typedef struct damaged_tiles {
    tz_tile_status first[DAMAGED_SHOWN];
    uint32_t first_count;
    uint64_t count;
    uint8_t *seen[2]; /* a bit for each tile of the level, and of its mask; NULL: none was seen */
} damaged_tiles;

/* Adds the tiles of a read that failed. All reads must be of the same level. */
tz_result damaged_add(damaged_tiles *d, const tz_file *file, const tz_read_report *report,
                      tz_error *err);
void damaged_free(damaged_tiles *d);

/* Prints the first ones, and the number of others, on standard error. */
void damaged_warn(const damaged_tiles *d);
/* Writes the first ones as the array "damaged". */
void damaged_write(json *j, const damaged_tiles *d);

#endif
