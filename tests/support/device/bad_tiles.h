/* SPDX-License-Identifier: Apache-2.0
 * Files on disk, some of whose tiles a device cannot decode: every other one of these cannot be
 * decoded at all; those between have bytes after their end, which the CPU takes with a warning.
 * No two bad neighbours are of the same size. */
#ifndef TESTS_SUPPORT_DEVICE_BAD_TILES_H
#define TESTS_SUPPORT_DEVICE_BAD_TILES_H

#include "support/device/direct_case.h"
#include "support/tile_file.h"

/* Tiles in a row; and in all, with 1000 bad ones. */
enum { BAD_TILES_ACROSS = 40, BAD_TILES_MOST = 1080 };

typedef struct bad_tiles {
    direct_image image;
    uint32_t bad;       /* of its tiles */
    uint32_t sparse;    /* that are not in the file */
    uint64_t bad_bytes; /* stored */
} bad_tiles;

/* So many bad ones, spread evenly among those that are in the file; and good ones, enough to be
 * worth a direct read. Released by direct_drop(&f.image). */
bad_tiles bad_tiles_make(const tile_stream *stream, uint32_t bad);

bool bad_tiles_is_sparse(uint32_t tile);
/* Which of the bad ones a tile is; -1: it is none. */
int64_t bad_tiles_number(uint32_t bad, uint32_t tile);
/* Returns true if that tile cannot be decoded at all. */
bool bad_tiles_is_lost(int64_t number);

#endif
