/* SPDX-License-Identifier: Apache-2.0
 * The pixels of a block: from a file of raw samples, or from the image, through all levels down to
 * the block's. */
#ifndef CLI_BLOCK_PIXELS_H
#define CLI_BLOCK_PIXELS_H

#include "convert_plan.h"

typedef struct block_pixels {
    tz_buffer pixels;
    tz_buffer mask; /* data NULL: none */
} block_pixels;

/* Allocates the pixels of a window of the plan. */
tz_result block_pixels_make(block_pixels *out, const tz_cog_plan_info *info,
                            const tz_window *window, tz_error *err);
void block_pixels_free(block_pixels *b); /* zeroed state is fine */

/* Reads samples without a header, in an order; those of the mask are in a file of their own. "-" is
 * standard input. */
tz_result block_read_raw(const block_pixels *into, const char *path, const char *mask_path,
                         raw_order order, tz_error *err);

/* Reads a window of a level of the plan from the image in a file. memory: bytes that the levels
 * between may take beside the window, about. */
tz_result block_read_image(const block_pixels *into, const tz_cog_plan *plan, uint32_t level,
                           const tz_window *window, const char *path, const tz_open_options *open,
                           uint64_t memory, uint32_t threads, tz_error *err);

#endif
