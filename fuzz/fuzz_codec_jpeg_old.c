/* SPDX-License-Identifier: Apache-2.0
 * Tiles of old-style JPEG. The first split * 8 bytes are the headers; kind: bits 0-1 the number of
 * samples, bit 2 YCbCr, bit 3 the last strip of an image. */
#include "codec_lossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = (uint16_t)((input.kind & 3) + 1),
                             .bits = 8,
                             .sample_format = 1,
                             .compression = 6,
                             .photometric = input.kind & 4 ? 6 : 1,
                             .subsampling = {2, 2},
                             .strip_height = input.kind & 8 ? 256 : 0};
    size_t tables = (size_t)input.split * 8;
    tables = tables < input.size ? tables : input.size;
    uint8_t *copy = malloc(tables + 1); /* exactly its size, for the sanitizer */
    if (!copy)
        abort();
    memcpy(copy + 1, input.data, tables);
    format.tables = copy + 1;
    format.tables_size = tables;
    input.data += tables;
    input.size -= tables;
    lossy_run(&tz_decoder_jpeg, lossy_state(&tz_decoder_jpeg), &format, &input);
    free(copy);
    return 0;
}
