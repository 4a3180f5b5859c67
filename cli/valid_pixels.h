/* SPDX-License-Identifier: Apache-2.0
 * A mask, or an alpha band, of rows that were read: bytes that are 0 where a pixel is not valid. */
#ifndef CLI_VALID_PIXELS_H
#define CLI_VALID_PIXELS_H

#include "convert_plan.h"

void valid_fill(const tz_buffer *valid, uint8_t value);

/* Makes pixels valid of which any band but alpha is, by the masks of all bands; with within, pixels
 * that are 0 before stay 0. */
void valid_merge_bands(const tz_buffer *masks, uint32_t alpha, const tz_buffer *valid, bool within);

/* Makes pixels not valid that are under a tile which could not be read, and is not one of the mask.
 * window is the part of the image that was read. */
void valid_drop_damaged(const conversion *c, const tz_read_report *report, const tz_window *window,
                        const tz_buffer *valid);

/* Makes samples of size bytes, of which the first is set: 0, or the greatest value. */
void valid_spread_alpha(const tz_buffer *alpha, size_t size);

#endif
