/* SPDX-License-Identifier: Apache-2.0
 * LZMA tiles. */
#include "codec_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return target_simple(&tz_decoder_lzma, data, size);
}
