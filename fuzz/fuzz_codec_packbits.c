/* SPDX-License-Identifier: Apache-2.0
 * PackBits tiles, beside the plainest decoder there is. */
#include "codec_target.h"

/* true: exactly size bytes came out. */
static bool decode_plainly(const uint8_t *in, size_t in_size, uint8_t *out, size_t size)
{
    size_t at = 0;
    size_t made = 0;
    while (made < size && at < in_size) {
        int head = (int8_t)in[at++];
        for (int i = 0; head >= 0 && i <= head; i++) {
            if (at == in_size || made == size)
                return false;
            out[made++] = in[at++];
        }
        for (int i = 0; head < 0 && head != -128 && i <= -head; i++) {
            if (at == in_size || made == size)
                return false;
            out[made++] = in[at];
        }
        at += head < 0 && head != -128;
    }
    return made == size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < TARGET_HEAD)
        return 0;
    tz_tile_format format = target_format(&tz_decoder_packbits, data);
    size_t tile = tz_tile_bytes(&format);
    uint8_t *rows;
    uint8_t *plain = target_alloc(tile);
    tz_result result =
        target_run(&tz_decoder_packbits, &format, data + TARGET_HEAD, size - TARGET_HEAD, &rows);
    bool decodes = decode_plainly(data + TARGET_HEAD, size - TARGET_HEAD, plain, tile);
    target_check(decodes == (result == TZ_OK));
    target_check(!decodes || memcmp(rows, plain, tile) == 0);
    free(plain);
    free(rows);
    return 0;
}
