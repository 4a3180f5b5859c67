/* SPDX-License-Identifier: Apache-2.0
 * Fax tiles of every kind. */
#include "codec_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < TARGET_HEAD)
        return 0;
    tz_tile_format format = target_format(&tz_decoder_ccitt, data);
    format.bits = 1;
    format.compression = (uint16_t)(2 + data[3] % 3);
    format.fax_options = data[3] >> 2 & 7;
    format.fill_order = data[3] & 0x80 ? 2 : 1;
    uint8_t *rows;
    target_run(&tz_decoder_ccitt, &format, data + TARGET_HEAD, size - TARGET_HEAD, &rows);
    free(rows);
    return 0;
}
