/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 tiles; kind: bits 0-2 the number of samples less 1, bit 3 16 bits, bit 4 signed, bit 5
 * Aperio's YCbCr, bits 6-7 how often it is reduced. */
#include "codec_lossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = (uint16_t)((input.kind & 7) + 1),
                             .bits = input.kind & 8 ? 16 : 8,
                             .sample_format = input.kind & 16 ? 2 : 1,
                             .compression = input.kind & 32 ? 33003 : 34712,
                             .photometric = 2,
                             .decode_reduction = (uint8_t)(input.kind >> 6)};
    lossy_run(&tz_decoder_jp2, lossy_state(&tz_decoder_jp2), &format, &input);
    return 0;
}
