/* SPDX-License-Identifier: Apache-2.0
 * Deflate tiles. Where there is ISA-L: it takes nothing that libdeflate refuses, and makes the same
 * bytes. */
#include <libdeflate.h>

#include "codec/inflate_isal.h"
#include "codec_target.h"

static void compare_inflaters(const uint8_t *in, size_t in_size, size_t size)
{
    tz_isal *isal = tz_isal_open();
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    uint8_t *out = target_alloc(size), *expected = target_alloc(size);
    size_t used = 0, used_there = 0, made = 0;
    if (isal && tz_isal_inflate(isal, in, in_size, out, size, &used)) {
        enum libdeflate_result result = libdeflate_deflate_decompress_ex(
            decompressor, in, in_size, expected, size, &used_there, &made);
        target_check(result == LIBDEFLATE_SUCCESS && made == size && used == used_there);
        target_check(memcmp(out, expected, size) == 0);
    }
    free(out);
    free(expected);
    libdeflate_free_decompressor(decompressor);
    tz_isal_close(isal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > TARGET_HEAD + 2) {
        tz_tile_format format = target_format(&tz_decoder_deflate, data);
        compare_inflaters(data + TARGET_HEAD + 2, size - TARGET_HEAD - 2, tz_tile_bytes(&format));
    }
    return target_simple(&tz_decoder_deflate, data, size);
}
