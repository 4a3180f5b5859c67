/* SPDX-License-Identifier: Apache-2.0
 * Images in memory whose pixels are known, uncompressed. */
#ifndef TESTS_SUPPORT_KNOWN_IMAGE_H
#define TESTS_SUPPORT_KNOWN_IMAGE_H

#include <terrazzo/terrazzo.h>

#include "support/plain_read.h"
#include "support/tiff_builder.h"

typedef struct image {
    tb *b;
    tz_file *file;
    const tz_info *info;
} image;

/* Returns the pixel that every directory has at a band, row and column. */
uint64_t pixel(uint32_t band, uint32_t row, uint32_t column, unsigned bits);

/* An unfinished file with one image, to be changed and given to open_filled. */
tb *make_image(unsigned format, tb_spec spec);
tz_file *open_filled(tb *b); /* finishes it, and fills all tiles but those of sparse directories */
void fill_tile(tb *b, int ifd, uint64_t tile);
image open_image(unsigned format, tb_spec spec);
image open_built(tb *b);
void close_image(image *i);

extern const tb_spec tiled; /* 50 x 41, tiles of 16 x 32, three bands of 16 bits */

/* Fail the test otherwise. read_fails wants the same of the plan. */
void read_ok(const plain_item *item, const tz_read_options *how, plain_report *report);
void read_fails(const plain_item *item, const tz_read_options *how, tz_result result,
                tz_cause cause);

#endif
