/* SPDX-License-Identifier: Apache-2.0
 * WebP tiles; kind: bit 0 alpha. */
#include "codec_lossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = input.kind & 1 ? 4 : 3,
                             .bits = 8,
                             .sample_format = 1,
                             .compression = 50001,
                             .photometric = 2};
    lossy_run(&tz_decoder_webp, lossy_state(&tz_decoder_webp), &format, &input);
    return 0;
}
