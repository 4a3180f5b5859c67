/* SPDX-License-Identifier: Apache-2.0
 * Random batches of tiles for a device to extract, and the expected result: that of the functions
 * of the CPU, called row by row. */
#ifndef TESTS_SUPPORT_DEVICE_EXTRACT_CASE_H
#define TESTS_SUPPORT_DEVICE_EXTRACT_CASE_H

#include "device/ops/extract.h"

#define MOST_BANDS 5

typedef struct extract_case {
    tz_extract_batch batch;
    uint32_t width, height, bands; /* of the image */
    uint32_t across, down, planes;
    uint64_t rows_size, mask_size, slab_size;
    uint8_t *rows, *mask, *slab, *expected;
    tz_extract_tile *tiles;
    uint8_t bits[MOST_BANDS];
} extract_case;

uint32_t extract_below(uint32_t count);

/* Anything that there is; then, or on its own: strides for the bands and size of the image, and
 * the slab for the shape of the tiles. The batch points into the case, which stays where it is. */
void extract_case_random(extract_case *c);
void extract_case_strides(extract_case *c);
void extract_case_lay_out(extract_case *c);

/* Fill, run on PoCL, compare all bytes, and free the case. */
void extract_case_compare(extract_case *c);

#endif
