/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/inflate_isal.h"

#include <igzip_lib.h>

#include "base/mem.h"

struct tz_isal {
    struct inflate_state state;
};
_Static_assert(sizeof(tz_isal) <= TZ_ISAL_BYTES, "reads plan for no more");

tz_isal *tz_isal_open(void)
{
    tz_isal *isal = tz_alloc(sizeof *isal);
    if (isal)
        isal_inflate_init(&isal->state);
    return isal;
}

void tz_isal_close(tz_isal *isal)
{
    tz_free(isal);
}

bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out, size_t size,
                     size_t *used)
{
    struct inflate_state *state = &isal->state;
    if (in_size > UINT32_MAX || size > UINT32_MAX)
        return false;
    isal_inflate_reset(state);
    state->crc_flag = ISAL_DEFLATE;
    state->next_in = (uint8_t *)(uintptr_t)in; /* it only reads there */
    state->avail_in = (uint32_t)in_size;
    state->next_out = out;
    state->avail_out = (uint32_t)size;
    if (isal_inflate_stateless(state) != ISAL_DECOMP_OK ||
        state->block_state != ISAL_BLOCK_FINISH || state->total_out != size)
        return false;
    *used = (size_t)(state->next_in - in);
    return *used <= in_size;
}
