/* SPDX-License-Identifier: Apache-2.0
 * Pixels that a caller gives, or wants, of a window of a level: checked, and with strides. */
#ifndef TZ_WRITE_BLOCK_PIXELS_H
#define TZ_WRITE_BLOCK_PIXELS_H

#include "write/cog_plan.h"

typedef struct tz_block_pixels {
    tz_buffer pixels;
    tz_buffer mask; /* data NULL: the plan has none */
} tz_block_pixels;

/* what: "the source", for messages. */
tz_result tz_block_pixels_check(tz_block_pixels *out, const tz_cog_plan *plan,
                                const tz_window *window, const tz_buffer *pixels,
                                const tz_buffer *mask, const char *what, const tz_context *ctx);

#endif
