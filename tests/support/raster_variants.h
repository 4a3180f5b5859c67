/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a file in every way that they can come about. */
#ifndef TESTS_SUPPORT_RASTER_VARIANTS_H
#define TESTS_SUPPORT_RASTER_VARIANTS_H

#include "support/raster.h"

/* Returns true if this build has the codec. */
bool raster_can_write(tz_compression compression);

/* Options with tiles of 32 x 32. */
tz_write_options raster_small_tiles(tz_compression compression);

/* Fails when the bytes differ, and releases b. */
void raster_check_same(const tz_memory *a, tz_memory *b, const char *what);

/* Every way to give the rows, on several numbers of threads and with more or less memory, against
 * one thread that gets all rows at once, whose file must have the raster's pixels; nan: as in
 * raster_check. */
void raster_check_variants(const raster *r, tz_write_options options, double nan);

/* A third of them. */
void raster_check_some_variants(const raster *r, tz_write_options options, double nan);

#endif
