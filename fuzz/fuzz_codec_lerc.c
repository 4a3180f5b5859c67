/* SPDX-License-Identifier: Apache-2.0
 * LERC tiles; kind: bits 0-2 the type, bit 3 alpha, bits 4-5 deflate or zstd around it; split: the
 * number of samples, less 1, in bits 0-2. Unless bit 3 of split says otherwise, the checksums of
 * blobs are put right first, so that the fuzzer gets past them. */
#include "codec/lerc.h"
#include "codec_lossy.h"

static uint32_t fletcher32(const uint8_t *data, size_t size)
{
    uint64_t sum1 = 0xffff, sum2 = 0xffff;
    size_t words = size / 2;
    for (size_t i = 0; i < words; i++) {
        sum1 += (uint32_t)data[2 * i] << 8 | data[2 * i + 1];
        sum2 += sum1;
        if (i % 359 == 358 || i + 1 == words) {
            sum1 = (sum1 & 0xffff) + (sum1 >> 16);
            sum2 = (sum2 & 0xffff) + (sum2 >> 16);
        }
    }
    if (size & 1) {
        sum1 += (uint32_t)data[size - 1] << 8;
        sum2 += sum1;
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return (uint32_t)(sum2 << 16 | sum1);
}

static void fix_checksums(uint8_t *data, size_t size)
{
    while (size > 0) {
        tz_lerc_header header;
        tz_cursor cursor = tz_cursor_of(data, size);
        if (!tz_lerc_read_header(&header, &cursor) || header.size > size || header.size < 14)
            return;
        uint32_t sum = fletcher32(data + 14, header.size - 14);
        for (int i = 0; header.version >= 3 && i < 4; i++)
            data[10 + i] = (uint8_t)(sum >> (8 * i));
        data += header.size;
        size -= header.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t formats[TZ_LERC_TYPES] = {2, 1, 2, 1, 2, 1, 3, 3};
    lossy_input input;
    if (!lossy_begin(&input, data, size))
        return 0;
    uint32_t type = input.kind & 7;
    tz_tile_format format = {.width = input.width + 1u,
                             .height = input.height + 1u,
                             .samples = (uint16_t)((input.split & 7) + 1),
                             .bits = (uint16_t)(tz_lerc_type_size(type) * 8),
                             .sample_format = formats[type],
                             .compression = 34887,
                             .photometric = 1,
                             .lerc_compression = input.kind >> 4 & 3,
                             .alpha = input.kind & 8};
    uint8_t *copy = malloc(input.size + 1);
    if (!copy)
        abort();
    memcpy(copy, input.data, input.size);
    if (!(input.split & 8))
        fix_checksums(copy, input.size);
    input.data = copy;
    lossy_run(&tz_decoder_lerc, lossy_state(&tz_decoder_lerc), &format, &input);
    free(copy);
    return 0;
}
