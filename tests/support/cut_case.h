/* SPDX-License-Identifier: Apache-2.0
 * Batches of tiles that a device cuts, made at random, and what should come out of them: what the
 * pieces of the cores give, called row by row. */
#ifndef TESTS_SUPPORT_CUT_CASE_H
#define TESTS_SUPPORT_CUT_CASE_H

#include "device/cut.h"

#define MOST_BANDS 5

typedef struct cut_case {
    tz_cut_batch batch;
    uint32_t width, height, bands; /* of the image */
    uint32_t across, down, planes;
    uint64_t rows_size, mask_size, slab_size;
    uint8_t *rows, *mask, *slab, *expected;
    tz_cut_tile *tiles;
    uint8_t bits[MOST_BANDS];
} cut_case;

uint32_t cut_below(uint32_t count);

/* Anything that there is; then, or on its own: strides for the bands and size of the image, and
 * the slab for the shape of the tiles. The batch points into the case, which stays where it is. */
void cut_case_random(cut_case *c);
void cut_case_strides(cut_case *c);
void cut_case_lay_out(cut_case *c);

/* Fill, run on PoCL, compare all bytes, and free the case. */
void cut_case_compare(cut_case *c);

#endif
