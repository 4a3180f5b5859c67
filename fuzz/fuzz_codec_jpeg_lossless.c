/* SPDX-License-Identifier: Apache-2.0
 * Lossless JPEG tiles. The first split bytes are JPEGTables; kind: bits 0-1 the number of samples,
 * bit 2 the last strip of an image, bits 3-6 the bits of a sample less 1. */
#include "codec_lossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = (uint16_t)((input.kind & 3) + 1),
                             .bits = (uint16_t)((input.kind >> 3 & 15) + 1),
                             .sample_format = 1,
                             .compression = 7,
                             .photometric = 1,
                             .strip_height = input.kind & 4 ? 256 : 0};
    size_t tables = input.split < input.size ? input.split : input.size;
    uint8_t *copy = malloc(tables + 1); /* exactly its size, for the sanitizer */
    if (!copy)
        abort();
    memcpy(copy + 1, input.data, tables);
    if (tables > 0) {
        format.tables = copy + 1;
        format.tables_size = tables;
    }
    input.data += tables;
    input.size -= tables;
    lossy_run(&tz_decoder_jpeg, lossy_state(&tz_decoder_jpeg), &format, &input);
    free(copy);
    return 0;
}
