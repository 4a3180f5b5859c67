/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL tiles; kind: bits 0-2 the number of samples less 1, bits 3-4 the type. */
#include "codec_lossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t types[4][2] = {{8, 1}, {16, 1}, {16, 3}, {32, 3}};
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    const uint16_t *type = types[input.kind >> 3 & 3];
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = (uint16_t)((input.kind & 7) + 1),
                             .bits = type[0],
                             .sample_format = type[1],
                             .compression = 50002,
                             .photometric = 2};
    lossy_run(&tz_decoder_jxl, lossy_state(&tz_decoder_jxl), &format, &input);
    return 0;
}
